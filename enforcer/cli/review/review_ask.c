/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about changes: each by itself, hunk by hunk, or as a unit. */
#include "enforcer/cli/review/review_ask.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/review/text_hunks.h"

/* Of a unit: names that are shown. */
#define NAMES_SHOWN 20U

struct asking {
	struct ward_review_meant *m;
	struct ward_apply *ap;
	bool *wanted;
	struct ward_part *parts;
	struct ward_patch patch;
	uint32_t *unit;		       /* owned */
	bool *asked;		       /* of each unit; owned */
	const struct ward_done **done; /* owned */
	char *line;		       /* owned; the last answer */
	size_t room;
	bool quit;
};

/* --- answers --- */

/* The next line without its end; NULL: there is none. */
static const char *next_line(struct asking *q)
{
	if (ward_out_flush() < 0)
		return NULL;
	ssize_t n = getline(&q->line, &q->room, stdin);
	if (n < 0)
		return NULL;
	if (n > 0 && q->line[n - 1] == '\n')
		q->line[n - 1] = '\0';
	return q->line;
}

static void help(const char *allowed)
{
	static const char *const texts[] = {"y - apply this", "n - do not apply this",
		"q - apply neither this nor anything after it",
		"a - apply this and all later hunks of the file",
		"d - apply neither this nor any later hunk of the file",
		"s - split this into smaller hunks"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (strchr(allowed, texts[i][0]))
			ward_outf("%s\n", texts[i]);
}

/* One of the letters of `allowed`. */
static char ask(struct asking *q, const char *what, const char *allowed)
{
	for (;;) {
		ward_outf("%s [", what);
		for (const char *c = allowed; *c; c++)
			ward_outf("%c,", *c);
		ward_outf("?]? ");
		const char *answer = next_line(q);
		if (!answer) {
			ward_outf("\n");
			q->quit = true;
			return 'q';
		}
		if (answer[0] && !answer[1] && strchr(allowed, answer[0])) {
			q->quit = answer[0] == 'q';
			return answer[0];
		}
		help(allowed);
	}
}

/* What this host may execute, or what leads out, needs a word of its own. */
static bool confirm(struct asking *q, const struct ward_change *c)
{
	const char *flag = ward_review_flag(q->m, c);
	if (!*flag)
		return true;
	ward_outf("! %s: %s. Type \"yes\" to apply it: ", c->path, flag);
	const char *answer = next_line(q);
	if (!answer) {
		ward_outf("\n");
		q->quit = true;
	}
	return answer && strcmp(answer, "yes") == 0;
}

/* --- one change --- */

static void refuse(struct asking *q, size_t i, enum ward_apply_end end, const char *why)
{
	q->wanted[i] = false;
	q->ap->ends[i] = end;
	snprintf(q->ap->why[i], sizeof(q->ap->why[i]), "%s", why);
}

static void gone_on(struct asking *q, size_t i, int r)
{
	if (r == -ESTALE)
		refuse(q, i, WARD_APPLY_CONFLICT, "the project's file has changed since");
	else if (r == -EBADMSG)
		refuse(q, i, WARD_APPLY_FAILED,
			"what is staged has changed since it was looked at");
	else
		refuse(q, i, WARD_APPLY_FAILED, strerror(-r));
}

/* Shown whole, and taken whole. */
static void ask_whole(struct asking *q, size_t i)
{
	const struct ward_change *c = &q->m->changes.v[i];
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = REVIEW_PATCH_MAX};
	int r = ward_patch_put(&q->patch, c, &text);
	if (r < 0) {
		gone_on(q, i, r);
		return;
	}
	review_show_patch(&text, review_has_colors());
	const char answer = ask(q, "Apply this change", "ynq");
	q->wanted[i] = answer == 'y' && confirm(q, c);
}

/* Which of the changes of a text are taken. False: somebody ended it; `taken` is what it is. */
static void ask_hunks(struct asking *q, const struct ward_text_pair *p, bool *taken)
{
	size_t n = 0, nth = 0, single = 0;
	char what[64];
	for (size_t i = 0; i < p->n; i = ward_text_hunk_end(p, i))
		n++;
	for (size_t from = 0, to; from < p->n && !q->quit; from = to) {
		ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = REVIEW_PATCH_MAX};
		to = from < single ? from + 1 : ward_text_hunk_end(p, from);
		ward_text_hunk_put(p, from, to, &text);
		review_show_patch(&text, review_has_colors());
		snprintf(what, sizeof(what), "(%zu/%zu) Apply this hunk", nth + 1, n);
		const char answer = ask(q, what, to - from > 1 ? "ynqads" : "ynqad");
		if (answer == 's') {
			single = to;
			n += to - from - 1;
			to = from;
			continue;
		}
		if (answer == 'a')
			to = p->n;
		for (size_t i = from; (answer == 'y' || answer == 'a') && i < to; i++)
			taken[i] = true;
		if (answer == 'd')
			return;
		nth++;
	}
}

/* A text that changes: permissions, then hunks. */
static int ask_text(struct asking *q, size_t i, const struct ward_text_pair *p)
{
	const struct ward_change *c = &q->m->changes.v[i];
	ward_cleanup(ward_buf_clear) struct ward_buf bytes = {.max = 2 * WARD_TEXT_DIFF_MAX};
	ward_cleanup_free bool *taken = calloc(p->n ? p->n : 1, sizeof(*taken));
	mode_t mode = c->mode;
	size_t n = 0;
	if (!taken)
		return -ENOMEM;
	ward_outf("--- %s\n", c->path);
	if (c->mode != c->base.mode) {
		ward_outf("permissions %04o, then %04o\n", c->base.mode, (unsigned)c->mode);
		if (ask(q, "Apply these permissions", "ynq") != 'y')
			mode = c->base.mode;
	}
	if (!q->quit)
		ask_hunks(q, p, taken);
	for (size_t k = 0; k < p->n; k++)
		n += taken[k];
	q->wanted[i] = (n || mode != c->base.mode) && confirm(q, c);
	if (!q->wanted[i] || (n == p->n && mode == c->mode))
		return 0;
	int r = ward_text_take(p, taken, &bytes);
	return r < 0 ? r
		     : ward_part_write(
			       q->m->dir_fd, c, WARD_PART_HUNKS, mode, &bytes, &q->parts[i]);
}

static void ask_modified(struct asking *q, size_t i)
{
	const struct ward_change *c = &q->m->changes.v[i];
	ward_cleanup(ward_buf_clear) struct ward_buf old = {.max = WARD_TEXT_DIFF_MAX + 2};
	ward_cleanup(ward_buf_clear) struct ward_buf new = {.max = WARD_TEXT_DIFF_MAX + 2};
	char digest[WARD_REVIEW_DIGEST_SIZE];
	struct ward_text_pair p;
	int r = c->size > WARD_TEXT_DIFF_MAX || c->base.size > WARD_TEXT_DIFF_MAX
			? -EFBIG
			: ward_patch_texts(&q->patch, c, &old, &new);
	if (r == -EFBIG || (r == 0 && (ward_text_is_binary(ward_buf_str(&old), old.len) ||
					      ward_text_is_binary(ward_buf_str(&new), new.len)))) {
		ask_whole(q, i);
		return;
	}
	if (r == 0) {
		ward_part_digest(&new, digest);
		r = strcmp(digest, c->content) == 0 ? 0 : -EBADMSG;
	}
	if (r == 0)
		r = ward_text_pair_make(
			ward_buf_str(&old), old.len, ward_buf_str(&new), new.len, &p);
	if (r == 0) {
		r = ask_text(q, i, &p);
		ward_text_pair_clear(&p);
	}
	if (r < 0)
		gone_on(q, i, r);
}

static bool is_whole(const struct asking *q, size_t i)
{
	return q->done[i] && q->done[i]->part != WARD_PART_HUNKS;
}

/* All that goes together is one question. */
static void ask_unit(struct asking *q, size_t first)
{
	const struct ward_review_changes *c = &q->m->changes;
	bool left = false, yes = false;
	size_t n = 0;
	for (size_t i = first; i < c->n; i++)
		left = left || (q->wanted[i] && q->unit[i] == q->unit[first] && !is_whole(q, i));
	for (size_t i = first; left && i < c->n; i++)
		if (q->wanted[i] && q->unit[i] == q->unit[first] && n++ < NAMES_SHOWN)
			ward_outf("%s: %s\n", ward_change_word(c->v[i].kind), c->v[i].path);
	if (n > NAMES_SHOWN)
		ward_outf("and %zu more\n", n - NAMES_SHOWN);
	if (left)
		yes = ask(q, "These go together. Apply them", "ynq") == 'y';
	for (size_t i = first; i < c->n; i++)
		if (q->unit[i] == q->unit[first])
			q->wanted[i] = q->wanted[i] && yes;
	q->asked[q->unit[first]] = true;
}

static void ask_all(struct asking *q)
{
	const struct ward_review_changes *c = &q->m->changes;
	for (size_t i = 0; i < c->n; i++) {
		if (!q->wanted[i] || (q->unit[i] && q->asked[q->unit[i]]))
			continue;
		/* What is applied needs no answer. */
		if (q->quit || (!q->unit[i] && is_whole(q, i)))
			q->wanted[i] = false;
		else if (q->unit[i])
			ask_unit(q, i);
		else if (c->v[i].kind == WARD_CHANGE_MODIFIED && S_ISREG(c->v[i].type))
			ask_modified(q, i);
		else
			ask_whole(q, i);
	}
}

int review_ask(struct ward_review_meant *m, struct ward_apply *ap, bool *wanted,
	struct ward_part *parts, struct ward_err *err)
{
	struct asking q = {.m = m,
		.ap = ap,
		.wanted = wanted,
		.parts = parts,
		.patch = {.dir_fd = m->dir_fd, .changes = &m->changes, .applied = &m->applied}};
	memcpy(q.patch.roots, m->roots, sizeof(q.patch.roots));
	q.unit = calloc(m->changes.n ? m->changes.n : 1, sizeof(*q.unit));
	q.asked = calloc(m->changes.n + 1, sizeof(*q.asked));
	q.done = review_applied_marks(m);
	int r = q.unit && q.asked && q.done ? ward_units_find(&m->changes, ap->outside, q.unit)
					    : -ENOMEM;
	ward_outf("session %s, manifest %s\n", m->session, m->digest);
	if (r == 0)
		ask_all(&q);
	free(q.unit);
	free(q.asked);
	free(q.done);
	free(q.line);
	return r < 0 ? ward_err_sys(err, r, "apply") : 0;
}
