/* SPDX-License-Identifier: Apache-2.0 */
/* [quota P]: from merged keys to limits, and what the check says about them. */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/quantity.h"
#include "enforcer/policy/explain.h"

/* Is path dir, or beneath it? Both are normalised. */
static bool lies_in(const char *path, const char *dir)
{
	const size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

static bool has_tree(const struct ward_policy *p, const char *path)
{
	for (size_t i = 0; i < p->n_trees; i++)
		if (lies_in(path, p->trees[i]) || lies_in(p->trees[i], path))
			return true;
	return false;
}

static int no_memory(struct ward_err *err)
{
	return ward_err_set(err, -ENOMEM, "out of memory");
}

static size_t depth(const char *path)
{
	size_t n = 0;
	for (; *path; path++)
		n += *path == '/';
	return n;
}

static int add_quota(struct ward_settings *s, const char *path, struct ward_err *err)
{
	struct ward_quota *v = reallocarray(s->quotas, s->n_quotas + 1, sizeof(*v));
	if (!v)
		return no_memory(err);
	s->quotas = v;
	struct ward_quota *q = &v[s->n_quotas];
	*q = (struct ward_quota){.path = strdup(path)};
	s->n_quotas++;
	return q->path ? 0 : no_memory(err);
}

int ward_quota_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err)
{
	struct ward_quota_limit *l = base;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	const struct ward_entry *e = ward_entry_of(p, k, instance);
	const bool size = k->type == WARD_KEY_TYPE_SIZE_RATE;
	l->value = WARD_UNLIMITED;
	if (!e || e->number == WARD_UNLIMITED)
		return 0;
	l->value = e->number;
	if (size || k->type == WARD_KEY_TYPE_COUNT_RATE) {
		int r = ward_quantity_rate(e->value, size, &l->value, &l->per_s, err);
		if (r < 0)
			return r;
	}
	if (size && l->value == 0)
		return ward_err_set(err, -EINVAL,
			WARD_PLACE_FMT
			": rate = %s would make every write wait forever; to refuse growth, write growth = 0",
			WARD_PLACE(e->file, e->line), e->value);
	ward_buf_printf(&text, "%s = %s", k->name, e->value);
	ward_buf_printf(&place, WARD_PLACE_FMT, WARD_PLACE(e->file, e->line));
	l->text = ward_buf_steal(&text);
	l->place = ward_buf_steal(&place);
	return l->text && l->place ? 0 : no_memory(err);
}

static int cmp_quotas(const void *a, const void *b)
{
	return strcmp(((const struct ward_quota *)a)->path, ((const struct ward_quota *)b)->path);
}

static int settle_entry(struct ward_policy *p, const struct ward_entry *e, struct ward_err *err)
{
	struct ward_settings *s = &p->settings;
	size_t at = 0;
	if (!has_tree(p, e->instance)) {
		/* the floor may speak of trees that this policy does not have */
		if (e->source == WARD_SOURCE_FLOOR)
			return 0;
		return ward_err_set(err, -EINVAL,
			WARD_PLACE_FMT
			": [quota %s]: no tree is at this path, so nothing would be counted%s",
			WARD_PLACE(e->file, e->line), e->instance,
			lies_in(e->instance, "/tmp") ? "; [limits] tmp bounds /tmp" : "");
	}
	if (depth(e->instance) > WARD_QUOTA_DEPTH_MAX)
		return ward_err_set(err, -EINVAL,
			WARD_PLACE_FMT ": [quota]: the path has more than %d names",
			WARD_PLACE(e->file, e->line), WARD_QUOTA_DEPTH_MAX);
	while (at < s->n_quotas && strcmp(s->quotas[at].path, e->instance) != 0)
		at++;
	return at < s->n_quotas ? 0 : add_quota(s, e->instance, err);
}

int ward_quotas_settle(struct ward_policy *p, struct ward_err *err)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (!ward_key_in(e->key, WARD_SECTION_QUOTA))
			continue;
		int r = settle_entry(p, e, err);
		if (r < 0)
			return r;
	}
	if (p->settings.n_quotas)
		qsort(p->settings.quotas, p->settings.n_quotas, sizeof(struct ward_quota),
			cmp_quotas);
	return 0;
}

const struct ward_quota *ward_explain_quota(const struct ward_policy *p, const char *path, size_t i)
{
	const struct ward_settings *s = &p->settings;
	/* sorted by path: the outer ones come first */
	for (size_t k = 0; k < s->n_quotas; k++)
		if (lies_in(path, s->quotas[k].path) && i-- == 0)
			return &s->quotas[k];
	return NULL;
}

void ward_quotas_clear(struct ward_settings *s)
{
	for (size_t i = 0; i < s->n_quotas; i++) {
		free(s->quotas[i].path);
		for (size_t k = 0; k < WARD_QUOTA_KEYS_; k++) {
			free(s->quotas[i].limits[k].text);
			free(s->quotas[i].limits[k].place);
		}
	}
	free(s->review_size.text);
	free(s->review_size.place);
	s->review_size = (struct ward_quota_limit){.value = WARD_UNLIMITED};
	free(s->quotas);
	s->quotas = NULL;
	s->n_quotas = 0;
}
