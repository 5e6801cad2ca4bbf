/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/wasm/host/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* At 65536 pages wasm2c's size is 0 (uint32_t). */
#define PAGES_MAX 65535
/* What an engine needs before it runs a line. */
#define PAGES_MIN 32

int ward_wasm_options(char ***argv, struct ward_wasm_options *ret)
{
	char **v = *argv + (**argv ? 1 : 0);
	for (; v[0] && v[1]; v += 2) {
		int r = 0;
		if (strcmp(v[0], "--tree") == 0)
			r = ward_preopens_add(&ret->files, v[1]);
		else if (strcmp(v[0], "--memory") == 0)
			ret->memory = strtoull(v[1], NULL, 10);
		else
			break;
		/* A home or a tree that the session does not have. */
		if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -EACCES)
			return r;
	}
	*argv = v;
	return ward_preopens_probe(&ret->files);
}

uint32_t ward_wasm_pages(uint64_t memory)
{
	uint64_t pages = memory / 4 * 3 >> 16;
	return !memory || pages > PAGES_MAX ? PAGES_MAX
	       : pages < PAGES_MIN	    ? PAGES_MIN
					    : (uint32_t)pages;
}
