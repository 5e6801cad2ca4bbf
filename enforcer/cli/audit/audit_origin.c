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
#include "enforcer/cli/base/here.h"
#include "enforcer/review/review.h"

/* Of a file review.N, and of a file of the project that is compared. */
#define FILE_MAX ((size_t)64 << 20)
#define INSIDE "/workspace"

/* One change of the file. */
struct step {
	char time[40], session[WARD_SESSION_NAME_MAX + 1];
	char before[WARD_REVIEW_DIGEST_SIZE], after[WARD_REVIEW_DIGEST_SIZE];
	const char *verb;
	char part[16]; /* other content came than what is staged; "": that itself */
	json_int_t by;
};

struct looking {
	struct audit_cmd *c;
	const char *project; /* escaped */
	char *path;	     /* as the command saw it, escaped */
	struct step *v;
	size_t n;
};

static void looking_clear(struct looking *l)
{
	free(l->path);
	free(l->v);
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

/* Does the line name the path that is looked for? tree: the member that has its tree. */
static bool is_path(const struct looking *l, const json_t *o, const char *tree, const char *path)
{
	const json_t *of = json_object_get(o, tree);
	const char *top = of ? text_of(o, tree) : INSIDE, *name = text_of(o, path);
	const size_t n = strcmp(top, "/") ? strlen(top) : 0;
	return *name && *top && strncmp(l->path, top, n) == 0 && l->path[n] == '/' &&
	       strcmp(l->path + n + 1, name) == 0;
}

/* What came, and where a file was renamed from there. */
static int take_line(struct looking *l, const char *session, const json_t *entry, const json_t *o)
{
	const bool undone = strcmp(text_of(entry, "verb"), "undone") == 0;
	if (strcmp(text_of(o, "end"), undone ? "undone" : "applied") != 0 ||
		(!is_path(l, o, "tree", "path") && !is_path(l, o, "from_tree", "from")))
		return 0;
	struct step *v = reallocarray(l->v, l->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	v = &v[l->n++];
	*v = (struct step){.verb = undone ? "undone" : "applied",
		.by = json_integer_value(json_object_get(entry, "by"))};
	snprintf(v->time, sizeof(v->time), "%s", text_of(entry, "time"));
	snprintf(v->session, sizeof(v->session), "%s", session);
	snprintf(v->before, sizeof(v->before), "%s", text_of(o, "before"));
	snprintf(v->after, sizeof(v->after), "%s", text_of(o, "after"));
	snprintf(v->part, sizeof(v->part), "%s", text_of(o, "part"));
	return 0;
}

static int take_file(struct looking *l, const char *session, int dir, const json_t *entry)
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
	if (!s->review_entries || !audit_trail_of_project(l->c, s->name, l->project) ||
		ward_store_open_session(l->c->store, s->name, &dir, &ignored) < 0)
		return 0;
	json_array_foreach(s->review_entries, i, entry)
	{
		const char *verb = text_of(entry, "verb");
		if (r == 0 && (!strcmp(verb, "applied") || !strcmp(verb, "undone")))
			r = take_file(l, s->name, dir, entry);
	}
	return r;
}

static int by_time(const void *a, const void *b)
{
	return strcmp(((const struct step *)a)->time, ((const struct step *)b)->time);
}

/* What the file has now; "": it is none, or too large to be compared. */
static void digest_now(const struct looking *l, char ret[WARD_REVIEW_DIGEST_SIZE])
{
	ward_cleanup(ward_buf_clear) struct ward_buf project = WARD_BUF_INIT, path = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = FILE_MAX + 1};
	ret[0] = '\0';
	/* Where another tree is on the host is for the policy to say. */
	if (strncmp(l->path, INSIDE "/", sizeof(INSIDE)) != 0)
		return;
	const char *rest = l->path + sizeof(INSIDE);
	if (ward_unescape(&project, l->project, strlen(l->project)) < 0 ||
		ward_unescape(&path, rest, strlen(rest)) < 0)
		return;
	ward_cleanup_fd int top =
		open(ward_buf_str(&project), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_fd int fd = top < 0 ? -1 : ward_fd_open_beneath(top, ward_buf_str(&path));
	if (fd >= 0 && ward_fd_read_all(fd, FILE_MAX, &text) == 0)
		ward_part_digest(&text, ret);
}

static void print(const struct looking *l)
{
	char now[WARD_REVIEW_DIGEST_SIZE];
	const struct step *last = NULL;
	digest_now(l, now);
	ward_outf("reviewed:\n");
	for (size_t i = 0; i < l->n; i++) {
		const struct step *s = &l->v[i];
		ward_outf("  %s %s from session %s by user %" JSON_INTEGER_FORMAT
			  ": %.12s -> %.12s%s%s%s\n",
			s->time, s->verb, s->session, s->by, *s->before ? s->before : "nothing",
			*s->after ? s->after : "nothing", *s->part ? " (" : "", s->part,
			*s->part ? ")" : "");
		/* What an undo puts back is most often what an earlier session had put there. */
		if (*now && strcmp(s->after, now) == 0 &&
			(!last || strcmp(s->verb, "applied") == 0))
			last = s;
	}
	const bool here = strncmp(l->path, INSIDE "/", sizeof(INSIDE)) == 0;
	if (last && strcmp(last->verb, "applied") == 0 && *last->part)
		ward_outf("  the file has the content that came of session %s, %s (sha256 %s)\n",
			last->session,
			strcmp(last->part, "merged") ? "some hunks of what it staged"
						     : "merged with what the host changed",
			now);
	else if (last && strcmp(last->verb, "applied") == 0)
		ward_outf("  the file has the content that session %s staged (sha256 %s)\n",
			last->session, now);
	else if (last)
		ward_outf("  the file has the content of before session %s (sha256 %s)\n",
			last->session, now);
	else if (here)
		ward_outf("  the file has content that no review put there%s%s%s\n",
			*now ? " (sha256 " : "", now, *now ? ")" : "");
}

int audit_origin_print(struct audit_cmd *c, const char *path, size_t *ret_n, struct ward_err *err)
{
	ward_cleanup(ward_here_clear) struct ward_here here = {0};
	ward_cleanup(looking_clear) struct looking l = {.c = c};
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	*ret_n = 0;
	ward_here_find(&here);
	l.project = here.project;
	l.path = here.project ? inside(path, here.project) : NULL;
	if (!l.path)
		return 0;
	int r = ward_store_read_key(c->store, root, err);
	/* Trails of the system's writer: no key, and no reviews. */
	if (r < 0)
		return 0;
	r = audit_ledger_read(c, root, &ledger, err);
	ward_chain_wipe(root, sizeof(root));
	for (size_t i = 0; r == 0 && i < ledger.n; i++)
		if ((r = take_session(&l, &ledger.v[i])) < 0)
			(void)ward_err_sys(err, r, "reviews of %s", ledger.v[i].name);
	ward_ledger_view_free(&ledger);
	if (r == 0 && l.n) {
		qsort(l.v, l.n, sizeof(*l.v), by_time);
		print(&l);
	}
	*ret_n = l.n;
	return r;
}
