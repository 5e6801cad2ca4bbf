/* SPDX-License-Identifier: Apache-2.0 */
/* The list of entries that the files of the view fill: adds, finds and frees. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/sandbox/view.h"

void ward_view_add(struct ward_view_list *w, enum ward_blueprint_kind kind, const char *path,
	const char *text, uint32_t mode, uint32_t flags)
{
	if (w->error)
		return;
	if (w->n == w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 128;
		struct ward_blueprint_entry *v = cap <= WARD_BLUEPRINT_ENTRIES_MAX
							 ? reallocarray(w->v, cap, sizeof(*v))
							 : NULL;
		if (!v) {
			w->error = cap <= WARD_BLUEPRINT_ENTRIES_MAX ? -ENOMEM : -E2BIG;
			return;
		}
		w->v = v;
		w->cap = cap;
	}
	struct ward_blueprint_entry e = {.kind = kind, .flags = flags, .mode = mode};
	e.path = strdup(path);
	e.text = strdup(text ? text : "");
	w->v[w->n++] = e;
	if (!e.path || !e.text)
		w->error = -ENOMEM;
}

struct ward_blueprint_entry *ward_view_find(const struct ward_view_list *w, const char *path)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i].path, path) == 0)
			return &w->v[i];
	return NULL;
}

void ward_view_clear(struct ward_view_list *view)
{
	for (size_t i = 0; i < view->n; i++) {
		free(view->v[i].path);
		free(view->v[i].text);
	}
	free(view->v);
	for (size_t i = 0; i < view->n_programs; i++)
		free(view->programs[i]);
	free(view->programs);
	*view = (struct ward_view_list){0};
}
