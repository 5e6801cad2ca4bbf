/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a git configuration: read to an end, names well formed, no more told than was there;
 * a reader that stops early has seen the same.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/policy/gitconfig.h"
#include "tests/fuzz/fuzz.h"

struct seen {
	size_t n, stop;
	size_t bytes;
};

static int on_entry(void *user, const char *name, const char *sub, const char *value)
{
	fuzz_insist(strlen(sub) < 1 << 20);
	struct seen *s = user;
	const char *dot = strchr(name, '.');
	fuzz_insist(dot && dot > name && dot[1] && !strchr(dot + 1, '.'));
	for (const char *c = name; *c; c++)
		fuzz_insist((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-' ||
			    *c == '.');
	s->bytes += strlen(name) + strlen(value);
	return ++s->n == s->stop ? -ECANCELED : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seen all = {0}, some = {.stop = 2};
	fuzz_insist(ward_git_config_read((const char *)data, size, on_entry, &all) == 0);
	/* a section's name counts again at each of its entries, and an entry takes a byte */
	fuzz_insist(all.n <= size && all.bytes <= size * (size + 1));
	int r = ward_git_config_read((const char *)data, size, on_entry, &some);
	fuzz_insist(r == (all.n >= 2 ? -ECANCELED : 0) && some.n == (all.n < 2 ? all.n : 2));
	return 0;
}
