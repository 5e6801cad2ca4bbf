/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review, review diff: what is staged, and what was applied of it. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/clock.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/cli/review/review_record.h"
#include "enforcer/session/owner/as_owner.h"

static char letter(const struct ward_change *c)
{
	switch (c->kind) {
	case WARD_CHANGE_NONE:
		return '?';
	case WARD_CHANGE_ADDED:
	case WARD_CHANGE_LINKED:
		return 'A';
	case WARD_CHANGE_MODIFIED:
	case WARD_CHANGE_MODE:
		return 'M';
	case WARD_CHANGE_REMOVED:
		return 'D';
	case WARD_CHANGE_RENAMED:
		return 'R';
	}
	return '?';
}

static void print_path(const struct ward_change *c)
{
	if (c->from)
		ward_outf("%s -> %s%s", c->from, c->path, S_ISDIR(c->type) ? "/" : "");
	else
		ward_outf("%s%s", c->path, S_ISDIR(c->type) ? "/" : "");
}

const struct ward_done **review_applied_marks(const struct ward_review_meant *m)
{
	const struct ward_done **is = calloc(m->changes.n ? m->changes.n : 1, sizeof(*is));
	for (size_t i = 0; is && i < m->applied.n; i++) {
		const struct ward_done *d = &m->applied.v[i];
		const struct ward_change *c =
			d->off || d->undone
				? NULL
				: ward_changes_find(&m->changes, d->c.root, d->c.path, d->c.kind);
		if (c)
			is[c - m->changes.v] = d;
	}
	return is;
}

static const char *applied_text(
	const struct ward_applied *a, const struct ward_done *d, const struct ward_change *c)
{
	if (d && !a->steps[d->step].ended_s)
		return "   (may be applied)";
	switch (d ? d->part : WARD_PART_NONE) {
	case WARD_PART_NONE:
		/* As it was at a step, or at the end. */
		if (d && *c->content && strcmp(d->c.content, c->content) != 0)
			return "   (applied with other content)";
		break;
	case WARD_PART_HUNKS:
		return "   (applied in part)";
	case WARD_PART_MERGED:
		return "   (merged)";
	}
	return d ? "   (applied)" : "";
}

static void show_steps(const struct ward_applied *a)
{
	for (size_t k = 0; k < a->n_steps; k++) {
		const struct ward_step *s = &a->steps[k];
		char begun[WARD_CLOCK_TEXT_MAX], until[WARD_CLOCK_TEXT_MAX];
		size_t done = 0, undone = 0;
		for (size_t i = 0; i < a->n; i++) {
			bool of = a->v[i].step == k && !a->v[i].off;
			done += of;
			undone += of && a->v[i].undone;
		}
		if (!done)
			continue;
		ward_clock_format(s->begun_ns, begun);
		ward_clock_format(s->until_s * WARD_NS_PER_SEC, until);
		if (!s->ended_s) {
			ward_outf(
				"an apply of %.19sZ by user %u did not end: up to %zu changes are in "
				"the project. 'wardfs review apply' does the rest, 'wardfs review "
				"undo' takes them back\n",
				begun, s->uid, done);
			continue;
		}
		ward_outf("applied %.19sZ by user %u: %zu", begun, s->uid, done);
		if (undone)
			ward_outf(", undone %zu", undone);
		ward_outf(
			undone < done ? "; wardfs review undo takes it back, until %.10s\n" : "\n",
			until);
	}
}

/* That somebody looked, and at what. */
static void note(const struct ward_review_meant *m, const char *verb)
{
	struct ward_err err = WARD_ERR_INIT;
	const struct review_record w = {.verb = verb, .changes = m->changes.n};
	if (review_record(m, &w, &err) < 0)
		ward_sayf("could not record in the ledger that %s was looked at: %s", m->session,
			err.text);
}

/* What needs a look first. */
int review_show(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	(void)a;
	ward_cleanup_free char *line = ward_changes_line(&m->changes),
			       *name = ward_review_meant_name(m);
	ward_cleanup_free const struct ward_done **applied = review_applied_marks(m);
	if (!line || !name || !applied)
		return ward_err_sys(err, -ENOMEM, "review");
	note(m, "show");
	ward_outf("session %s: %s\n", name, m->discarded ? "discarded" : line);
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < m->changes.n; i++) {
			const struct ward_change *c = &m->changes.v[i];
			const char *flag = ward_review_flag(m, c);
			if ((*flag != 0) != (pass == 0))
				continue;
			ward_outf("%c %c ", *flag ? '!' : ' ', letter(c));
			print_path(c);
			if (*flag)
				ward_outf("   (%s)", flag);
			if (*c->attributes)
				ward_outf("   (with attributes)");
			ward_outf("%s\n", applied_text(&m->applied, applied[i], c));
		}
	if (!m->discarded)
		ward_outf("manifest %s\n", m->digest);
	show_steps(&m->applied);
	return 0;
}

static json_t *change_json(const struct ward_review_meant *m, const struct ward_change *c)
{
	const char *flag = ward_review_flag(m, c);
	char mode[16];
	snprintf(mode, sizeof(mode), "%06o", (unsigned)(c->type | c->mode));
	json_t *o = json_pack("{s:s, s:o, s:s, s:I}", "kind", ward_change_word(c->kind), "path",
		ward_json_text(c->path), "mode", mode, "size", (json_int_t)c->size);
	if (c->from)
		json_object_set_new(o, "from", ward_json_text(c->from));
	if (c->has_base)
		json_object_set_new(o, "old_size", json_integer((json_int_t)c->base.size));
	if (*c->attributes)
		json_object_set_new(o, "attributes", json_string(c->attributes));
	if (*flag)
		json_object_set_new(o, "flag", json_string(flag));
	return o;
}

static void list(const struct review_args *a, const struct ward_review_meant *m)
{
	json_t *all = a->json ? json_array() : NULL;
	bool itself;
	for (size_t i = 0; i < m->changes.n; i++) {
		const struct ward_change *c = &m->changes.v[i];
		if (!review_is_meant(a, c, &itself))
			continue;
		if (a->json) {
			json_array_append_new(all, change_json(m, c));
			continue;
		}
		if (a->name_status)
			ward_outf("%c\t", letter(c));
		print_path(c);
		if (a->stat && S_ISREG(c->type))
			ward_outf(" | %llu -> %llu bytes",
				(unsigned long long)(c->has_base ? c->base.size : 0),
				(unsigned long long)(c->kind == WARD_CHANGE_REMOVED ? 0 : c->size));
		ward_outf("\n");
	}
	if (a->json)
		ward_print_json(json_pack("{s:s, s:s, s:o}", "session", m->session, "manifest",
			m->digest, "changes", all));
}

/* Line by line; what stands in the lines is the agent's. */
void review_show_patch(const struct ward_buf *text, bool color)
{
	const char *at = ward_buf_str(text), *end = at + text->len;
	while (at < end) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		const size_t len = (size_t)((feed ? feed : end) - at);
		if (color && *at == '+')
			ward_outf("\033[32m");
		else if (color && *at == '-')
			ward_outf("\033[31m");
		else if (color && *at == '@')
			ward_outf("\033[36m");
		else if (color && *at == 'd')
			ward_outf("\033[1m");
		ward_out_lines(at, len);
		ward_outf(color ? "\033[0m\n" : "\n");
		at += len + (feed != NULL);
	}
}

bool review_has_colors(void)
{
	const char *no_color = secure_getenv("NO_COLOR");
	return isatty(1) && !(no_color && *no_color);
}

static int put_changes(const struct review_args *a, struct ward_review_meant *m,
	struct ward_patch *p, struct ward_buf *all, struct ward_err *err)
{
	const bool color = review_has_colors();
	bool itself;
	for (size_t i = 0; i < m->changes.n; i++) {
		const struct ward_change *c = &m->changes.v[i];
		ward_cleanup(ward_buf_clear) struct ward_buf one = {.max = REVIEW_PATCH_MAX};
		if (!review_is_meant(a, c, &itself))
			continue;
		int r = ward_patch_put(p, c, p->exact ? all : &one);
		if (r == -ESTALE && !p->exact) {
			print_path(c);
			ward_outf(": the project's file has changed since the session saw it\n");
		} else if (r < 0) {
			return r == -ESTALE
				       ? ward_err_set(err, r,
						 "%s: the project's file has changed since the "
						 "session saw it",
						 c->path)
				       : ward_err_sys(err, r, "%s", c->path);
		} else if (!p->exact) {
			review_show_patch(&one, color);
		}
	}
	return 0;
}

/* The whole patch, or nothing of it. */
static int diff(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf all = {.max = REVIEW_PATCH_MAX};
	struct ward_patch p = {.dir_fd = m->dir_fd,
		.changes = &m->changes,
		.applied = &m->applied,
		.exact = a->patch};
	struct ward_as_owner as;
	memcpy(p.roots, m->roots, sizeof(p.roots));
	if (a->patch && isatty(1))
		return ward_err_set(err, -EINVAL,
			"--patch writes what the agent wrote, as it is: direct it to a file (without "
			"--patch it is shown)");
	int r = ward_as_owner_begin(&m->place.id, &as, err);
	if (r < 0)
		return r;
	r = put_changes(a, m, &p, &all, err);
	ward_as_owner_end(&as);
	if (r == 0)
		ward_out_bytes(ward_buf_str(&all), all.len);
	if (r == 0 && p.n_left)
		ward_sayf("%zu %s in the patch: git has no word for them", p.n_left,
			p.n_left == 1 ? "change is not" : "changes are not");
	return r;
}

int review_diff(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	note(m, "diff");
	if (!a->json && !a->stat && !a->name_status)
		return diff(a, m, err);
	list(a, m);
	return 0;
}
