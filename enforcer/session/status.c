/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/status.h"

#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

static void set(json_t *o, const char *key, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_escape(&b, path, strlen(path));
	json_object_set_new(o, key, json_string(ward_buf_str(&b)));
}

void ward_status_add_trees(json_t *o, const struct ward_run_plan *p)
{
	json_t *list = json_array();
	for (size_t i = 0; i < p->n_trees; i++) {
		json_t *tree = json_object();
		set(tree, "path", p->trees[i].path);
		if (p->trees[i].source)
			set(tree, "source", p->trees[i].source);
		json_array_append_new(list, tree);
	}
	json_object_set_new(o, "trees", list);
}
