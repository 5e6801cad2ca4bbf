/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for a file in what reviews did. */
#include "enforcer/cli/audit/audit_origin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/verify/verify_reviews.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_trail.h"

/* Of a file review.N, and of a file of the project that is compared. */
#define FILE_MAX ((size_t)64 << 20)
#define INSIDE "/workspace"

struct looking {
	struct audit_cmd *c;
	struct audit_origin *o;
};

void audit_origin_clear(struct audit_origin *o)
{
	for (size_t i = 0; i < o->n_names; i++)
		free(o->names[i].path);
	ward_here_clear(&o->here);
	free(o->v);
	*o = (struct audit_origin){.v = NULL};
}

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

/* As the command saw it; NULL: there is no memory. */
static char *inside(const char *path, const char *project)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT, r = WARD_BUF_INIT;
	const size_t n = strlen(project);
	audit_trail_path(path, &b);
	const char *s = ward_buf_str(&b);
	if (strncmp(s, project, n) != 0 || s[n] != '/')
		return strdup(s);
	ward_buf_printf(&r, INSIDE "%s", s + n);
	return ward_buf_error(&r) < 0 ? NULL : strdup(ward_buf_str(&r));
}

/* Which name of the file the line has in these members; n_names: none, at that time. */
static size_t find_name(const struct audit_origin *o, const json_t *line, const char *time,
	const char *tree, const char *path)
{
	const json_t *of = json_object_get(line, tree);
	const char *top = of ? text_of(line, tree) : INSIDE, *name = text_of(line, path);
	const size_t n = strcmp(top, "/") ? strlen(top) : 0;
	size_t i = 0;
	for (; i < o->n_names; i++) {
		const struct audit_origin_name *is = &o->names[i];
		if (*name && *top && strncmp(is->path, top, n) == 0 && is->path[n] == '/' &&
			strcmp(is->path + n + 1, name) == 0 &&
			(!*is->until || strcmp(time, is->until) <= 0))
			break;
	}
	return i;
}

/* The file had another name before: changes of that are its own, too. */
static int note_name(struct audit_origin *o, const json_t *line, const char *time)
{
	const json_t *of = json_object_get(line, "from_tree");
	const char *top = of ? text_of(line, "from_tree") : INSIDE;
	char *path = NULL;
	if (find_name(o, line, time, "from_tree", "from") < o->n_names || !*top ||
		o->n_names == AUDIT_ORIGIN_NAMES)
		return 0;
	if (asprintf(&path, "%s/%s", strcmp(top, "/") ? top : "", text_of(line, "from")) < 0)
		return -ENOMEM;
	o->names[o->n_names].path = path;
	snprintf(o->names[o->n_names++].until, sizeof(o->names[0].until), "%s", time);
	return 0;
}

/* What came, and where a file was renamed from there. */
static int take_line(
	struct audit_origin *o, const char *session, const json_t *entry, const json_t *line)
{
	const bool undone = strcmp(text_of(entry, "verb"), "undone") == 0;
	const char *time = text_of(entry, "time");
	const bool here = find_name(o, line, time, "tree", "path") < o->n_names;
	if (strcmp(text_of(line, "end"), undone ? "undone" : "applied") != 0 ||
		(!here && find_name(o, line, time, "from_tree", "from") == o->n_names))
		return 0;
	struct audit_origin_step *v = reallocarray(o->v, o->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	o->v = v;
	v = &v[o->n++];
	*v = (struct audit_origin_step){.undone = undone,
		.left = !here && strcmp(text_of(line, "change"), "renamed") == 0,
		.by = json_integer_value(json_object_get(entry, "by"))};
	snprintf(v->time, sizeof(v->time), "%s", time);
	snprintf(v->session, sizeof(v->session), "%s", session);
	snprintf(v->change, sizeof(v->change), "%s", text_of(line, "change"));
	snprintf(v->before, sizeof(v->before), "%s", text_of(line, "before"));
	snprintf(v->after, sizeof(v->after), "%s", text_of(line, "after"));
	snprintf(v->part, sizeof(v->part), "%s", text_of(line, "part"));
	return here && !undone && o->follows && strcmp(v->change, "renamed") == 0
		       ? note_name(o, line, time)
		       : 0;
}

static int take_file(struct audit_origin *l, const char *session, int dir, const json_t *entry)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = FILE_MAX + 1};
	int r = ward_review_file_read(dir, entry, FILE_MAX, &text);
	/* `audit verify` says what is wrong with it. */
	if (r < 0 || !text.len)
		return r == -ENOMEM ? r : 0;
	for (char *save = NULL, *line = strtok_r(text.data, "\n", &save); line && r == 0;
		line = strtok_r(NULL, "\n", &save)) {
		/* Most lines are of other files. */
		if (!strstr(line, "path"))
			continue;
		json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
		r = take_line(l, session, entry, o);
		json_decref(o);
	}
	return r;
}

static int take_session(struct looking *l, const struct ward_ledger_session *s)
{
	const json_t *entry = NULL;
	struct ward_err ignored = WARD_ERR_INIT;
	ward_cleanup_fd int dir = -1;
	size_t i;
	int r = 0;
	if (!s->review_entries || !audit_trail_of_project(l->c, s->name, l->o->here.project) ||
		ward_store_open_session(l->c->store, s->name, &dir, &ignored) < 0)
		return 0;
	json_array_foreach(s->review_entries, i, entry)
	{
		const char *verb = text_of(entry, "verb");
		if (r == 0 && (!strcmp(verb, "applied") || !strcmp(verb, "undone")))
			r = take_file(l->o, s->name, dir, entry);
	}
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct audit_origin_step *x = a, *y = b;
	return strcmp(x->time, y->time);
}

int audit_origin_now(const struct audit_origin *o, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf project = WARD_BUF_INIT, path = WARD_BUF_INIT;
	const char *now = o->names[0].path;
	/* Where another tree is on the host is for the policy to say. */
	if (strncmp(now, INSIDE "/", sizeof(INSIDE)) != 0)
		return -EXDEV;
	const char *rest = now + sizeof(INSIDE);
	if (ward_unescape(&project, o->here.project, strlen(o->here.project)) < 0 ||
		ward_unescape(&path, rest, strlen(rest)) < 0)
		return -EINVAL;
	ward_cleanup_fd int top =
		open(ward_buf_str(&project), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_fd int fd = top < 0 ? -errno : ward_fd_open_beneath(top, ward_buf_str(&path));
	ret->max = FILE_MAX + 1;
	return fd < 0 ? fd : ward_fd_read_all(fd, FILE_MAX, ret);
}

void audit_origin_print(const struct audit_origin *o)
{
	char now[WARD_REVIEW_DIGEST_SIZE] = "";
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	const struct audit_origin_step *last = NULL;
	if (!o->n)
		return;
	if (audit_origin_now(o, &text) == 0)
		ward_part_digest(&text, now);
	ward_outf("reviewed:\n");
	for (size_t i = 0; i < o->n; i++) {
		const struct audit_origin_step *s = &o->v[i];
		ward_outf("  %s %s from session %s by user %" JSON_INTEGER_FORMAT
			  ": %.12s -> %.12s%s%s%s\n",
			s->time, s->undone ? "undone" : "applied", s->session, s->by,
			*s->before ? s->before : "nothing", *s->after ? s->after : "nothing",
			*s->part ? " (" : "", s->part, *s->part ? ")" : "");
		/* What an undo puts back is most often what an earlier session had put there. */
		if (*now && strcmp(s->after, now) == 0 && (!last || !s->undone))
			last = s;
	}
	const bool here = strncmp(o->names[0].path, INSIDE "/", sizeof(INSIDE)) == 0;
	if (last && !last->undone && *last->part)
		ward_outf("  the file has the content that came of session %s, %s (sha256 %s)\n",
			last->session,
			strcmp(last->part, "merged") ? "some hunks of what it staged"
						     : "merged with what the host changed",
			now);
	else if (last && !last->undone)
		ward_outf("  the file has the content that session %s staged (sha256 %s)\n",
			last->session, now);
	else if (last)
		ward_outf("  the file has the content of before session %s (sha256 %s)\n",
			last->session, now);
	else if (here)
		ward_outf("  the file has content that no review put there%s%s%s\n",
			*now ? " (sha256 " : "", now, *now ? ")" : "");
}

static int look(struct looking *l, const struct ward_ledger_view *ledger, struct ward_err *err)
{
	size_t names;
	int r = 0;
	/* Once more for names that the file had before. */
	do {
		names = l->o->n_names;
		l->o->n = 0;
		for (size_t i = 0; r == 0 && i < ledger->n; i++)
			if ((r = take_session(l, &ledger->v[i])) < 0)
				(void)ward_err_sys(err, r, "reviews of %s", ledger->v[i].name);
	} while (r == 0 && l->o->n_names > names);
	if (l->o->n)
		qsort(l->o->v, l->o->n, sizeof(*l->o->v), by_time);
	return r;
}

int audit_origin_find(struct audit_cmd *c, const char *path, bool follows, struct audit_origin *ret,
	struct ward_err *err)
{
	struct looking l = {.c = c, .o = ret};
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	*ret = (struct audit_origin){.follows = follows};
	ward_here_find(&ret->here);
	ret->names[0].path = ret->here.project ? inside(path, ret->here.project) : NULL;
	if (!ret->names[0].path)
		return 0;
	ret->n_names = 1;
	int r = ward_store_read_key(c->store, root, err);
	/* Trails of the system's writer: no key, and no reviews. */
	if (r < 0)
		return 0;
	r = audit_ledger_read(c, root, &ledger, err);
	ward_chain_wipe(root, sizeof(root));
	if (r == 0)
		r = look(&l, &ledger, err);
	ward_ledger_view_free(&ledger);
	return r;
}
