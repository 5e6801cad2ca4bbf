/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review compare: what two sessions staged. */
#include <errno.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/cli/review/review_record.h"
#include "enforcer/session/owner/as_owner.h"

struct pair {
	struct ward_review_meant a, b;
	bool names; /* no content */
	size_t n;   /* differences */
};

static void print(const struct pair *p, char side, const struct ward_change *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	(void)p;
	ward_escape(&path, c->path, strlen(c->path));
	ward_outf("%c %-8s %s\n", side, ward_change_word(c->kind), ward_buf_str(&path));
}

/* Line by line, escaped: a text steers no terminal. */
static void print_text(const struct ward_buf *text)
{
	const char *at = ward_buf_str(text), *end = at + text->len;
	while (at < end) {
		ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		const size_t len = (size_t)((feed ? feed : end) - at);
		ward_escape(&line, at, len);
		ward_outf("    %s\n", ward_buf_str(&line));
		at += len + (feed != NULL);
	}
}

static int both(struct pair *p, const struct ward_change *a, const struct ward_change *b,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	struct ward_as_owner as;
	print(p, '!', a);
	if (p->names)
		return 0;
	int r = ward_as_owner_begin(&p->a.place.id, &as, err);
	if (r < 0)
		return r;
	r = ward_changes_difference(p->a.dir_fd, a, p->b.dir_fd, b, &text);
	ward_as_owner_end(&as);
	if (r < 0)
		return ward_err_sys(err, r, "%s", a->path);
	print_text(&text);
	return 0;
}

static int compare(struct pair *p, struct ward_err *err)
{
	const struct ward_review_changes *a = &p->a.changes, *b = &p->b.changes;
	int r = 0;
	for (size_t i = 0; r == 0 && i < a->n; i++) {
		const struct ward_change *c = &a->v[i];
		const struct ward_change *d = ward_changes_find(b, c->root, c->path, c->kind);
		if (d && ward_changes_same(c, d))
			continue;
		p->n++;
		if (d)
			r = both(p, c, d, err);
		else
			print(p, '<', c);
	}
	for (size_t i = 0; r == 0 && i < b->n; i++) {
		const struct ward_change *d = &b->v[i];
		if (ward_changes_find(a, d->root, d->path, d->kind))
			continue;
		p->n++;
		print(p, '>', d);
	}
	return r;
}

/* That somebody looked, and at what. */
static void note(const struct ward_review_meant *m)
{
	struct ward_err err = WARD_ERR_INIT;
	const struct review_record w = {.verb = "show", .changes = m->changes.n};
	if (review_record(m, &w, &err) < 0)
		ward_sayf("could not record in the ledger that %s was looked at: %s", m->session,
			err.text);
}

static int same_trees(const struct pair *p, struct ward_err *err)
{
	const struct ward_review_changes *a = &p->a.changes, *b = &p->b.changes;
	bool same = a->n_roots == b->n_roots;
	for (size_t i = 0; same && i < a->n_roots; i++)
		same = strcmp(a->roots[i], b->roots[i]) == 0;
	return same ? 0
		    : ward_err_set(err, -EINVAL,
			      "the sessions %s and %s did not serve the same directories",
			      p->a.session, p->b.session);
}

int review_compare(const struct review_args *args, struct ward_err *err)
{
	struct pair p = {.names = args->name_status};
	ward_review_meant_init(&p.a);
	ward_review_meant_init(&p.b);
	int r = ward_review_meant_find(args->paths[0], false, &p.a, err);
	if (r == 0)
		r = ward_review_meant_find(args->paths[1], false, &p.b, err);
	if (r == 0)
		r = same_trees(&p, err);
	if (r == 0) {
		note(&p.a);
		note(&p.b);
		r = compare(&p, err);
	}
	if (r == 0 && !p.n)
		ward_outf("the two sessions staged the same\n");
	ward_review_meant_clear(&p.a);
	ward_review_meant_clear(&p.b);
	return r;
}
