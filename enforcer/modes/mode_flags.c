/* SPDX-License-Identifier: Apache-2.0 */
/* What the modes with a runtime put a command line together with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/modes/operations.h"

static int put(struct ward_mode_flag **list, size_t *n, const char *text, const char *from)
{
	struct ward_mode_flag *v = reallocarray(*list, *n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	*list = v;
	v[*n] = (struct ward_mode_flag){strdup(text), strdup(from)};
	if (!v[*n].text || !v[*n].from) {
		free(v[*n].text);
		free(v[*n].from);
		return -ENOMEM;
	}
	++*n;
	return 0;
}

int ward_mode_put_flag(struct ward_mode_command *c, const char *text, const char *from)
{
	return put(&c->flags, &c->n_flags, text, from);
}

int ward_mode_put_reached(struct ward_mode_command *c, const char *path, const char *from)
{
	for (size_t i = 0; i < c->n_reaches; i++)
		if (strcmp(c->reaches[i].text, path) == 0)
			return 0;
	return put(&c->reaches, &c->n_reaches, path, from);
}
