/* SPDX-License-Identifier: Apache-2.0 */
/* What the modes with a runtime put a command line together with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/modes/operations.h"

int ward_mode_put_flag(struct ward_mode_command *c, const char *text, const char *from)
{
	struct ward_mode_flag *v = reallocarray(c->flags, c->n_flags + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	c->flags = v;
	v[c->n_flags] = (struct ward_mode_flag){strdup(text), strdup(from)};
	if (!v[c->n_flags].text || !v[c->n_flags].from) {
		free(v[c->n_flags].text);
		free(v[c->n_flags].from);
		return -ENOMEM;
	}
	c->n_flags++;
	return 0;
}
