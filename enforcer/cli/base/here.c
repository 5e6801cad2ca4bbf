/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the project around the current directory, for what "latest" means. */
#include "enforcer/cli/base/here.h"

#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/session/owner/project.h"

void ward_here_find(struct ward_here *ret)
{
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_project p = {.fd = -1};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	*ret = (struct ward_here){0};
	if (ward_project_find(NULL, WARD_PROJECT_OWNERS, &p, &ignored) == 0) {
		ward_escape(&b, p.path, strlen(p.path));
		ret->marked = p.by != WARD_PROJECT_BY_NOTHING;
		ret->project = ward_buf_steal(&b);
	}
	ward_project_clear(&p);
}

void ward_here_clear(struct ward_here *h)
{
	free(h->project);
	*h = (struct ward_here){0};
}
