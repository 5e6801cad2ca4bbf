/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit show, tail, file, process: records as people read them. */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/index.h"
#include "audit/query/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/cli/audit/audit_blame.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_origin.h"
#include "enforcer/cli/audit/audit_print.h"
#include "enforcer/cli/audit/audit_proofs.h"
#include "enforcer/cli/audit/audit_select.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

/* --follow: how often the log is looked at. */
#define FOLLOW_MS 250

/* --- show --- */

/* A walk that prints what is asked for. */
struct show {
	struct audit_cmd *c;
	const struct ward_file_names *names; /* NULL: by filter alone */
	bool ended;			     /* a session.end came by */
	bool indexed;			     /* not every line was looked at */
	uint64_t shown;			     /* records printed */
	/* tail: offsets of the last records that are asked for, a ring */
	uint64_t *last;
	uint64_t n_last, seen, offset;
};

static bool asked_for(const struct show *s, const json_t *rec)
{
	return !rec || (ward_filter_match(&s->c->filter.f, rec) &&
			       (!s->names || ward_file_names_match(s->names, rec)));
}

static void note_end(struct show *s, const json_t *rec)
{
	s->ended |= ward_query_kind(rec) == WARD_EVENT_SESSION_END;
}

/* tail, the first time: where the last ones begin. */
static int note_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct show *s = ctx;
	note_end(s, rec);
	if (asked_for(s, rec))
		s->last[s->seen++ % s->n_last] = s->offset;
	s->offset += len + 1;
	return 0;
}

static int show_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct show *s = ctx;
	note_end(s, rec);
	if (!asked_for(s, rec))
		return 0;
	s->shown++;
	if (!s->c->json)
		audit_print_record(s->c, rec);
	else
		audit_print_line(line, len, rec);
	return ward_out_failed() ? -EIO : 0;
}

/* Prints what there is, and with --follow what comes until the session ends. */
static int walk(struct show *s, struct ward_log *log, struct ward_err *err)
{
	uint64_t offset = s->offset;
	for (;;) {
		int r = ward_query_walk_from(log, &offset, true, show_record, s, err);
		if (r == 0 && ward_out_flush() < 0)
			r = ward_err_sys(err, -EIO, "stdout");
		if (r == 0 && ward_actors_error(s->c->filter.f.actors) < 0)
			r = ward_err_sys(err, -ENOMEM, "processes");
		if (r < 0 || !s->c->follow || s->ended)
			return r;
		(void)poll(NULL, 0, FOLLOW_MS);
	}
}

/* Renames and links, with the index where it is there and of this trail. */
static int find_names(struct audit_cmd *c, const char *name, struct ward_log *log, const char *path,
	struct ward_file_names **ret, struct ward_err *err)
{
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines lines = {0};
	int r = c->no_index ? -ENODATA
			    : ward_index_find(c->store, name, log, &c->filter.f, NULL,
				      WARD_INDEX_MOVES, &lines, err);
	if (r < 0 && r != -ENODATA)
		return r;
	return ward_file_names_find_in(log, &lines, path, ret, err);
}

/* What the index knows is printed; s->offset becomes where it ends, 0 without one. */
static int show_indexed(
	struct show *s, const char *name, struct ward_log *log, struct ward_err *err)
{
	ward_cleanup(ward_query_lines_clear) struct ward_query_lines lines = {0};
	const struct ward_filter *f = &s->c->filter.f;
	if (s->c->no_index || (!s->names && ward_filter_empty(f)))
		return 0;
	int r = ward_index_find(
		s->c->store, name, log, f, s->names, WARD_INDEX_MATCHES, &lines, err);
	if (r == 0)
		r = ward_query_walk_at(log, &lines, show_record, s, err);
	if (r == 0) {
		s->offset = lines.end;
		s->indexed = true;
	}
	return r == -ENODATA ? 0 : r;
}

/* asked: about a file or a process, where no record is no success, as with grep(1). */
static int show(struct audit_cmd *c, bool asked, bool file, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	struct ward_file_names *names = NULL;
	struct show s = {.c = c};
	ward_cleanup(audit_origin_clear) struct audit_origin origin = {.v = NULL};
	if (c->proof && c->follow)
		return ward_err_set(err, -EINVAL,
			"--proof needs a checkpoint, which new records do not have yet: leave "
			"--follow out");
	if (c->proof)
		return audit_proofs_show(c, file ? c->object : NULL, asked, err);
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0 && file) {
		audit_trail_path(c->object, &path);
		r = find_names(c, name, log, ward_buf_str(&path), &names, err);
		s.names = names;
	}
	if (r == 0)
		r = audit_select_prepare(c, name, log, err);
	if (r == 0)
		r = show_indexed(&s, name, log, err);
	if (r == 0)
		r = walk(&s, log, err);
	if (r == 0)
		audit_print_names(names);
	if (r == 0 && file && !c->json)
		r = audit_origin_find(c, c->object, false, &origin, err);
	if (r == 0)
		audit_origin_print(&origin);
	ward_file_names_free(names);
	if (r == 0 && s.shown == 0 && file && !origin.n)
		ward_sayf("session %s has no record of %s (write the path as the command sees it "
			  "inside)",
			name, ward_buf_str(&path));
	else if (r == 0 && s.shown == 0 && !origin.n)
		ward_sayf("session %s has no such record", name);
	if (r == 0)
		r = audit_select_warn(c, name, log, s.indexed);
	return r != 0 ? r : asked && s.shown == 0 && !origin.n;
}

static int run_show(struct audit_cmd *c, struct ward_err *err)
{
	return show(c, false, false, err);
}

static int run_tail(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	struct show s = {.c = c, .n_last = c->lines ? c->lines : 10};
	ward_cleanup_free uint64_t *last = calloc(s.n_last, sizeof(*last));
	int r = last ? audit_trail_open(c, &name, &log, err) : ward_err_sys(err, -ENOMEM, "tail");
	if (r == 0)
		r = audit_select_prepare(c, name, log, err);
	if (r == 0) {
		s.last = last;
		r = ward_query_walk(log, true, note_record, &s, err);
	}
	if (r < 0)
		return r;
	/* The oldest of those that were kept; none: what comes. */
	if (s.seen > 0)
		s.offset = last[s.seen < s.n_last ? 0 : s.seen % s.n_last];
	r = walk(&s, log, err);
	if (r == 0)
		r = audit_trail_warn(c, name, log);
	return r;
}

static int blame(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup(audit_origin_clear) struct audit_origin origin = {.v = NULL};
	if (c->session || c->proof)
		return ward_err_set(err, -EINVAL,
			"--blame is of all sessions of the project: it takes neither a session nor "
			"--proof");
	int r = audit_origin_find(c, c->object, true, &origin, err);
	return r < 0 ? r : audit_blame_print(c, &origin, err);
}

static int run_file(struct audit_cmd *c, struct ward_err *err)
{
	if (c->blame)
		return blame(c, err);
	return show(c, true, true, err);
}

static int run_process(struct audit_cmd *c, struct ward_err *err)
{
	if (ward_quantity_whole(c->object, 1, INT32_MAX, &c->filter.f.pid, NULL) < 0)
		return ward_err_set(err, -EINVAL, "%s is not a process number", c->object);
	return show(c, true, false, err);
}

/* --- on the command line --- */

static const struct argp_option show_options[] = {
	{"json", 'j', NULL, 0, "The trail's own lines", 0},
	{"verbose", 'v', NULL, 0, "Long details whole", 0},
	{"follow", 'f', NULL, 0, "Print new records too, until the session ends", 0},
	{"proof", AUDIT_OPTION_PROOF, NULL, 0,
		"Print the records as proofs, which 'wardfs audit verify' takes as a FILE. With "
		"--json: each record beside its proof",
		0},
	{0},
};
const struct argp audit_show_argp = {show_options, audit_verb_parse, "[SESSION]",
	"Prints the records of a session. SESSION is a name, its unique beginning, or latest "
	"(the default).\vExit status: 0; 1 the trail was changed, or a later one is missing; 2 usage; 125 the trail cannot be read.",
	audit_options_asked, NULL, NULL};
static const struct audit_verb show_verb = {
	.name = "show",
	.argp = &audit_show_argp,
	.words = "s",
	.run = run_show,
};

int ward_audit_cmd_show(int argc, char **argv)
{
	return audit_verb_call(&show_verb, argc, argv);
}

static const struct argp_option tail_options[] = {
	{"json", 'j', NULL, 0, "The trail's own lines", 0},
	{"verbose", 'v', NULL, 0, "Long details whole", 0},
	{"follow", 'f', NULL, 0, "Print new records too, until the session ends", 0},
	{"lines", AUDIT_OPTION_LINES, "N", 0, "The number of records (default: 10)", 0},
	{0},
};
const struct argp audit_tail_argp = {tail_options, audit_verb_parse, "[SESSION]",
	"Prints the last records of a session. SESSION is a name, its unique beginning, or "
	"latest (the default).\vExit status: 0; 1 the trail was changed, or a later one is missing; 2 usage; 125 the trail cannot be read.",
	audit_options_filtered, NULL, NULL};
static const struct audit_verb tail_verb = {
	.name = "tail",
	.argp = &audit_tail_argp,
	.words = "s",
	.run = run_tail,
};

int ward_audit_cmd_tail(int argc, char **argv)
{
	return audit_verb_call(&tail_verb, argc, argv);
}

static const struct argp_option file_options[] = {
	{"json", 'j', NULL, 0, "The trail's own lines", 0},
	{"blame", AUDIT_OPTION_BLAME, NULL, 0,
		"The lines of the file instead, each with the session whose applied changes it is "
		"of. With --json: one object",
		0},
	{"verbose", 'v', NULL, 0, "Long details whole", 0},
	{"proof", AUDIT_OPTION_PROOF, NULL, 0,
		"Print the records as proofs, which 'wardfs audit verify' takes as a FILE. With "
		"--json: each record beside its proof",
		0},
	{0},
};
const struct argp audit_file_argp = {file_options, audit_verb_parse, "PATH [SESSION]",
	"Prints the records of one file, under all names that it had through renames and links. "
	"Then it prints what reviews of all sessions applied to the file, and which session its "
	"content now is from. "
	"PATH is a path inside, or relative to the project. SESSION is a name, its unique "
	"beginning, or latest (the default).\vExit status: 0; 1 no such record, or the trail was changed; 2 usage; 125 "
	"the trail cannot be read.",
	audit_options_asked, NULL, NULL};
static const struct audit_verb file_verb = {
	.name = "file",
	.argp = &audit_file_argp,
	.words = "os",
	.need = 1,
	.lacks = "PATH is missing",
	.run = run_file,
};

int ward_audit_cmd_file(int argc, char **argv)
{
	return audit_verb_call(&file_verb, argc, argv);
}

static const struct argp_option process_options[] = {
	{"json", 'j', NULL, 0, "The trail's own lines", 0},
	{"verbose", 'v', NULL, 0, "Long details whole", 0},
	{"proof", AUDIT_OPTION_PROOF, NULL, 0,
		"Print the records as proofs, which 'wardfs audit verify' takes as a FILE. With "
		"--json: each record beside its proof",
		0},
	{0},
};
const struct argp audit_process_argp = {process_options, audit_verb_parse, "PID [SESSION]",
	"Prints the records of a process and its threads, or of one thread. SESSION is a name, "
	"its unique beginning, or latest (the default).\vExit status: 0; 1 no such record, or the trail was changed; 2 "
	"usage; 125 the trail cannot be read.",
	audit_options_process, NULL, NULL};
static const struct audit_verb process_verb = {
	.name = "process",
	.argp = &audit_process_argp,
	.words = "os",
	.need = 1,
	.lacks = "PID, the process number, is missing",
	.of_process = true,
	.run = run_process,
};

int ward_audit_cmd_process(int argc, char **argv)
{
	return audit_verb_call(&process_verb, argc, argv);
}
