/* SPDX-License-Identifier: Apache-2.0 */
/* Follows the contents of a file from one apply to the next. */
#include "enforcer/cli/audit/audit_blame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/review/text_hunks.h"

/*
 * Where a line is from. A content between two that are known can be kept no more: then it is one of
 * the steps [first, step], or what the project had.
 */
struct mark {
	enum { MARK_PROJECT = 0, MARK_SESSION, MARK_UNKNOWN } kind;
	size_t first, step;
};

/* What the file had in it at a time. */
struct state {
	const char *digest; /* borrowed; "": nothing */
	bool known;	    /* its text, and marks */
	const char *text;   /* borrowed */
	size_t len;
	struct mark *lines; /* owned */
	size_t n;
};

struct blame {
	const struct audit_origin *o;
	struct ward_kept *kept; /* before and after of each step */
	size_t n_kept;
	struct state *v; /* as they came one after the other */
	size_t n;
	size_t last;   /* the last one that is known, from 1; 0: none */
	size_t first;  /* since then: the first step, */
	bool pending;  /* if there was any */
	size_t length; /* the longest name of a session */
};

static void blame_clear(struct blame *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->v[i].lines);
	ward_kept_clear(b->kept, b->n_kept);
	free(b->kept);
	free(b->v);
}

static size_t count_lines(const char *text, size_t len)
{
	size_t n = 0;
	for (const char *at = text, *end = text + len; at < end; n++) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		at = feed ? feed + 1 : end;
	}
	return n;
}

/* --- from one content to the next --- */

/* Lines that both have keep their marks; the others get this one. */
static int mark_lines(const struct state *from, struct state *to, struct mark new)
{
	ward_cleanup(ward_text_pair_clear) struct ward_text_pair p = {.v = NULL};
	size_t at = 0, k = 0;
	to->n = count_lines(to->text, to->len);
	to->lines = calloc(to->n ? to->n : 1, sizeof(*to->lines));
	int r = to->lines ? 0 : -ENOMEM;
	if (r == 0 && from)
		r = ward_text_pair_make(from->text, from->len, to->text, to->len, &p);
	for (size_t i = 0; r == 0 && i <= p.n; i++) {
		const size_t next = i < p.n ? p.v[i].b_line : from ? to->n : 0;
		for (; k < next; k++)
			to->lines[k] = from->lines[at++];
		const size_t end = i < p.n ? k + p.v[i].b_lines : to->n;
		for (; k < end; k++)
			to->lines[k] = new;
		at += i < p.n ? p.v[i].a_lines : 0;
	}
	return r;
}

static struct state *add_state(struct blame *b, const char *digest)
{
	struct state *s = &b->v[b->n++];
	*s = (struct state){.digest = digest};
	if (!*digest) {
		s->known = true;
		s->text = "";
	}
	for (size_t i = 0; i < b->n_kept && !s->known; i++)
		if (b->kept[i].found && strcmp(b->kept[i].digest, digest) == 0) {
			s->known = true;
			s->text = ward_buf_str(&b->kept[i].text);
			s->len = b->kept[i].text.len;
		}
	/* A link or a program has no lines: as if it was kept no more. */
	s->known = s->known && !ward_text_is_binary(s->text, s->len);
	return s;
}

/* The file becomes that; a line that is new then has the mark. */
static int become(struct blame *b, const char *digest, struct mark new)
{
	struct state *s = add_state(b, digest);
	const struct state *from = b->last ? &b->v[b->last - 1] : NULL;
	/* Nothing was there before: all of it is new. */
	const bool gap = b->pending || (!from && b->n > 1);
	if (!s->known) {
		if (new.kind == MARK_SESSION && !b->pending)
			b->first = new.step;
		b->pending = b->pending || new.kind == MARK_SESSION;
		return 0;
	}
	if (gap && new.kind == MARK_SESSION)
		new = (struct mark){MARK_UNKNOWN, b->pending ? b->first : new.step, new.step};
	else if (gap && b->pending)
		new = (struct mark){MARK_UNKNOWN, b->first, new.step};
	int r = mark_lines(from, s, new);
	b->last = b->n;
	b->pending = false;
	return r;
}

/* An undo brings back what was there before, with the marks that it had. */
static int become_again(struct blame *b, const char *digest, size_t step)
{
	for (size_t i = b->n; i-- > 0;) {
		const struct state *was = &b->v[i];
		if (strcmp(was->digest, digest) != 0 || !was->known)
			continue;
		struct state *s = add_state(b, digest);
		s->n = was->n;
		s->lines = calloc(s->n ? s->n : 1, sizeof(*s->lines));
		if (!s->lines)
			return -ENOMEM;
		memcpy(s->lines, was->lines, s->n * sizeof(*s->lines));
		b->last = b->n;
		b->pending = false;
		return 0;
	}
	return become(b, digest, (struct mark){MARK_PROJECT, 0, step});
}

/* Does the step leave the content as it is? */
static bool is_of_names(const struct audit_origin_step *s)
{
	return !*s->before && !*s->after && strcmp(s->change, "removed") != 0;
}

/* It went to another name, or came back. */
static int take_left(struct blame *b, size_t i)
{
	if (!b->o->v[i].undone)
		return become(b, "", (struct mark){MARK_SESSION, i, i});
	for (size_t k = b->n; k-- > 0;)
		if (*b->v[k].digest)
			return become_again(b, b->v[k].digest, i);
	return 0;
}

static int take_step(struct blame *b, size_t i)
{
	const struct audit_origin_step *s = &b->o->v[i];
	int r = 0;
	if (s->left)
		return take_left(b, i);
	if (is_of_names(s))
		return 0;
	/* Whoever changed it between two applies was no review. */
	if (!b->n || strcmp(b->v[b->n - 1].digest, s->before) != 0)
		r = become(b, s->before, (struct mark){MARK_PROJECT, 0, i});
	if (r < 0)
		return r;
	return s->undone ? become_again(b, s->after, i)
			 : become(b, s->after, (struct mark){MARK_SESSION, i, i});
}

/* --- what is kept --- */

static void want(struct blame *b, const char *digest)
{
	for (size_t i = 0; i < b->n_kept; i++)
		if (strcmp(b->kept[i].digest, digest) == 0)
			return;
	if (*digest)
		snprintf(b->kept[b->n_kept++].digest, WARD_REVIEW_DIGEST_SIZE, "%s", digest);
}

/* In the stores of the sessions that changed the file; one can be gone. */
static int find_kept(struct audit_cmd *c, struct blame *b, struct ward_err *err)
{
	int r = 0;
	for (unsigned pass = 0; pass < 2; pass++) {
		const char *last = "";
		for (size_t i = 0; r == 0 && i < b->o->n; i++) {
			const char *session = b->o->v[i].session;
			ward_cleanup_fd int dir = -1;
			struct ward_err why = WARD_ERR_INIT;
			if (strcmp(session, last) == 0 ||
				ward_reviews_open(ward_store_dir(c->store), session, &dir) < 0)
				continue;
			last = session;
			int found = pass ? ward_kept_find(dir, b->kept, b->n_kept, &why)
					 : ward_kept_sizes(dir, b->kept, b->n_kept, &why);
			/* A log that is damaged keeps nothing. */
			if (found == -ENOMEM)
				r = ward_err_sys(err, found, "contents");
		}
	}
	return r;
}

/* --- printed --- */

static bool same_mark(const struct mark *a, const struct mark *b)
{
	return a->kind == b->kind &&
	       (a->kind == MARK_PROJECT || (a->first == b->first && a->step == b->step));
}

static const char *word(const struct mark *m)
{
	switch (m->kind) {
	case MARK_PROJECT:
		break;
	case MARK_SESSION:
		return "session";
	case MARK_UNKNOWN:
		return "unknown";
	}
	return "project";
}

/* The sessions whose content is kept no more. */
static json_t *candidates(const struct blame *b, const struct mark *m)
{
	json_t *all = json_array();
	for (size_t i = m->first; i <= m->step; i++) {
		const struct audit_origin_step *s = &b->o->v[i];
		size_t k = m->first;
		while (k < i && strcmp(b->o->v[k].session, s->session) != 0)
			k++;
		if (k == i && !s->undone)
			json_array_append_new(all, json_string(s->session));
	}
	return all;
}

static json_t *range_json(const struct blame *b, const struct state *s, size_t from, size_t to)
{
	const struct mark *m = &s->lines[from];
	json_t *o = json_pack("{s:I, s:I, s:s}", "first", (json_int_t)from + 1, "last",
		(json_int_t)to, "from", word(m));
	if (m->kind == MARK_SESSION) {
		const struct audit_origin_step *of = &b->o->v[m->step];
		json_object_set_new(o, "session", json_string(of->session));
		json_object_set_new(o, "applied", json_string(of->time));
		json_object_set_new(o, "by", json_integer(of->by));
	} else if (m->kind == MARK_UNKNOWN) {
		json_object_set_new(o, "sessions", candidates(b, m));
	}
	return o;
}

static void print_json(const struct blame *b, const struct state *s)
{
	json_t *lines = json_array();
	for (size_t i = 0, k; i < s->n; i = k) {
		for (k = i + 1; k < s->n && same_mark(&s->lines[i], &s->lines[k]);)
			k++;
		json_array_append_new(lines, range_json(b, s, i, k));
	}
	ward_print_json(json_pack("{s:o, s:s, s:o}", "path", json_string(b->o->names[0].path),
		"sha256", s->digest, "lines", lines));
}

/* Several candidates are named once, behind the lines. */
static void print_unknown(const struct blame *b, const struct state *s)
{
	json_t *all = json_array();
	const json_t *v = NULL;
	size_t i, k;
	for (i = 0; i < s->n; i++) {
		json_t *of = s->lines[i].kind == MARK_UNKNOWN &&
					     (!i || !same_mark(&s->lines[i], &s->lines[i - 1]))
				     ? candidates(b, &s->lines[i])
				     : NULL;
		json_array_foreach(of, k, v)
		{
			size_t n = 0;
			while (n < json_array_size(all) && !json_equal(json_array_get(all, n), v))
				n++;
			if (n == json_array_size(all))
				json_array_append(all, (json_t *)v);
		}
		json_decref(of);
	}
	json_array_foreach(all, i, v) ward_outf(
		"?: of session %s or of the project: the content that would tell is not kept any "
		"more\n",
		json_string_value(v));
	json_decref(all);
}

static void print_text(const struct blame *b, const struct state *s)
{
	const char *at = s->text, *end = s->text + s->len;
	for (size_t i = 0; at < end; i++) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		const size_t len = (size_t)((feed ? feed : end) - at);
		const struct mark *m = &s->lines[i];
		const struct audit_origin_step *of = &b->o->v[m->step];
		const bool known = m->kind == MARK_SESSION;
		ward_outf("%-*s %10.10s %5zu  ", (int)b->length,
			known			  ? of->session
			: m->kind == MARK_UNKNOWN ? "?"
						  : "project",
			known ? of->time : "", i + 1);
		ward_out_lines(at, len);
		ward_outf("\n");
		at += len + (feed != NULL);
	}
	print_unknown(b, s);
}

/* --- all of it --- */

static int follow(struct blame *b, const char *digest, struct ward_err *err)
{
	int r = 0;
	b->length = sizeof("project") - 1;
	for (size_t i = 0; r == 0 && i < b->o->n; i++) {
		const size_t len = strlen(b->o->v[i].session);
		b->length = len > b->length ? len : b->length;
		r = take_step(b, i);
	}
	if (r == 0 && (!b->n || strcmp(b->v[b->n - 1].digest, digest) != 0))
		r = become(b, digest, (struct mark){MARK_PROJECT, 0, b->o->n ? b->o->n - 1 : 0});
	return r < 0 ? ward_err_sys(err, r, "lines") : 0;
}

int audit_blame_print(struct audit_cmd *c, const struct audit_origin *o, struct ward_err *err)
{
	ward_cleanup(blame_clear) struct blame b = {.o = o};
	ward_cleanup(ward_buf_clear) struct ward_buf now = WARD_BUF_INIT;
	char digest[WARD_REVIEW_DIGEST_SIZE];
	int r = o->n_names ? audit_origin_now(o, &now) : -ENOENT;
	if (r < 0 || ward_text_is_binary(ward_buf_str(&now), now.len))
		return ward_err_set(err, -ENODATA,
			"%s has no lines: --blame is of text files of the project around the current "
			"directory, up to 64 MiB",
			c->object);
	b.kept = calloc(2 * o->n + 1, sizeof(*b.kept));
	b.v = calloc(2 * o->n + 1, sizeof(*b.v));
	if (!b.kept || !b.v)
		return ward_err_sys(err, -ENOMEM, "lines");
	ward_part_digest(&now, digest);
	for (size_t i = 0; i < o->n; i++) {
		want(&b, o->v[i].before);
		want(&b, o->v[i].after);
	}
	r = find_kept(c, &b, err);
	want(&b, digest);
	for (size_t i = 0; i < b.n_kept; i++) {
		if (strcmp(b.kept[i].digest, digest) != 0)
			continue;
		ward_buf_clear(&b.kept[i].text);
		b.kept[i].text = now;
		b.kept[i].found = true;
		now = WARD_BUF_INIT;
	}
	if (r == 0)
		r = follow(&b, digest, err);
	if (r == 0 && c->json)
		print_json(&b, &b.v[b.n - 1]);
	else if (r == 0)
		print_text(&b, &b.v[b.n - 1]);
	return r;
}
