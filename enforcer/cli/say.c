/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/cli/say.h"

#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

void ward_say(const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	while (*text) {
		/* A backslash stays single: paths in messages are copied and used. */
		size_t n = strcspn(text, "\n\\");
		ward_escape(&b, text, n);
		text += n;
		if (*text)
			ward_buf_putc(&b, *text++);
	}
	fprintf(stderr, "wardfs: %s\n", ward_buf_str(&b));
}
