/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit list: sessions, and how many of their records are asked for. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/query/index.h"
#include "audit/query/index_about.h"
#include "audit/query/query.h"
#include "audit/query/session_ends.h"
#include "audit/verify/verify.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_about.h"
#include "enforcer/cli/audit/audit_filter.h"
#include "enforcer/cli/audit/audit_index.h"
#include "enforcer/cli/audit/audit_labels.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_left_out.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_select.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/here.h"
#include "enforcer/cli/base/say.h"

/* Long texts are cut; --json has them whole. */
#define PROJECT_COLUMNS 16
#define COMMAND_COLUMNS 32

/* A list as it is made. */
struct list {
	struct audit_cmd *c;
	bool asked;	 /* records are asked for: those sessions alone that have some */
	uint64_t absent; /* sessions without a trail to look into */
	uint64_t unread; /* sessions whose trail could not be read */
	struct audit_left_out left;
	struct ward_index_counts counts;
	struct ward_index_abouts abouts; /* of the index: those trails need not be opened */
	size_t hint;
	struct ward_store_names names; /* of directories, once many sessions had none */
	unsigned missed;
	struct ward_here here;
	bool own;	    /* only sessions of this project */
	uint64_t elsewhere; /* those of others, which are left out */
	uint64_t limit;	    /* no more rows than that, the newest; 0: all */
	uint64_t older;	    /* sessions that it leaves out */
	bool partial;	    /* the index does not have each session that ended */
	bool newest_only;   /* the index is asked about the rows alone */
	bool headed;
	bool counted; /* the index answered for a session, and no line of its trail was read */
	json_t *all;
};

/* So many sessions are on some screens; what a person looks for is mostly among the newest. */
#define LIMIT 100
/* The list opens so many trails. */
#define OPENED_MAX 64
/* Past so many look-ups by name, reading the whole directory is cheaper. */
#define MISSED_MAX 64

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* False: the session certainly has no directory. */
static bool may_be_there(struct list *l, const char *session)
{
	struct ward_err none = WARD_ERR_INIT;
	if (l->missed <= MISSED_MAX && ++l->missed > MISSED_MAX &&
		ward_store_list(l->c->store, &l->names, &none) < 0)
		l->missed = 0;
	return l->missed <= MISSED_MAX || (l->names.n && bsearch(&session, l->names.v, l->names.n,
								 sizeof(*l->names.v), by_text));
}

static const struct ward_index_about *known_of(struct list *l, const char *session)
{
	return ward_index_abouts_find(&l->abouts, session, &l->hint);
}

/* As the first and the last record have it. */
static void ends_of(const struct ward_index_about *a, struct ward_session_ends *ret)
{
	ret->start = json_pack("{s:{s:O?, s:O?, s:O?}}", "detail", "mode", a->mode, "project",
		a->project, "argv", a->command);
	char started[WARD_CLOCK_TEXT_MAX];
	ward_clock_format((uint64_t)a->started, started);
	if (a->started > 0)
		json_object_set_new(ret->start, "time", json_string(started));
	ret->end = json_object();
	if (a->has_status)
		json_object_set_new(ret->end, "status", json_integer(a->status));
	if (a->has_signal)
		json_object_set_new(ret->end, "signal", json_integer(a->signal));
}

/* Is the trail there? Its ends, where they can be read, are the caller's to clear. */
static bool look(struct list *l, const char *session, struct ward_session_ends *ret)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	struct ward_err none = WARD_ERR_INIT;
	const struct ward_index_about *a = known_of(l, session);
	*ret = (struct ward_session_ends){0};
	if (a) {
		ends_of(a, ret);
		return true;
	}
	if (!may_be_there(l, session) || ward_store_open_log(l->c->store, session, &log, NULL) < 0)
		return false;
	(void)!ward_session_ends_read(log, ret, &none);
	return true;
}

static bool labels_match(struct list *l, const char *session)
{
	const struct ward_index_about *a = audit_labels_asked(l->c) ? known_of(l, session) : NULL;
	return a ? a->wanted : audit_labels_match(l->c, session);
}

static int count(void *ctx, const char *line, size_t len, const json_t *record)
{
	(void)line, (void)len, (void)record;
	++*(uint64_t *)ctx;
	return 0;
}

/* How many of its records are asked for; -ENOENT: there is no trail. */
static int count_matching(struct list *l, const char *session, uint64_t *ret, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(audit_selected_clear) struct audit_selected s = {0};
	uint64_t n = 0;
	int r = may_be_there(l, session) ? ward_store_open_log(l->c->store, session, &log, err)
					 : -ENOENT;
	if (r == 0)
		r = audit_select(l->c, session, log, &s, err);
	if (r == 0)
		r = ward_select_walk(log, s.sel, count, &n, err);
	if (r == 0)
		*ret = n;
	return r;
}

/*
 * Is this one to be listed? Where records are asked for, *ret is how many there are. One that
 * cannot be read is reported, and the others are still read.
 */
static bool wanted(struct list *l, const char *session, uint64_t *ret)
{
	struct ward_err err = WARD_ERR_INIT;
	if (!l->asked)
		return labels_match(l, session);
	uint64_t n = 0;
	if (ward_index_counts_find(&l->counts, session, &n) && (l->counts.exact || n == 0)) {
		l->counted = true;
		*ret = n;
		return n > 0 && labels_match(l, session);
	}
	if (!labels_match(l, session))
		return false;
	int r = count_matching(l, session, ret, &err);
	l->absent += r == -ENOENT;
	if (r < 0 && r != -ENOENT) {
		l->unread++;
		ward_sayf("%s was not looked into: %s", session, err.text);
	}
	return r == 0 && *ret > 0;
}

static void put(struct list *l, json_t *o, const struct ward_session_ends *e, uint64_t matching)
{
	audit_about_json(o, e);
	if (l->asked)
		json_object_set_new(o, "matching", json_integer((json_int_t)matching));
	json_array_append_new(l->all, o);
}

/* Of another project. If its project is unknown and nobody removed the trail, the list shows it. */
static bool is_elsewhere(struct list *l, const struct ward_session_ends *e, bool unexpected)
{
	const char *project = ward_query_text(json_object_get(e->start, "detail"), "project");
	const bool other =
		l->own && (project ? strcmp(project, l->here.project) != 0 : !unexpected);
	l->elsewhere += other;
	return other;
}

static json_t *session_json(const struct ward_ledger_session *s, bool there)
{
	/* The ledger says, signed, that it was to go. */
	const char *gone = there ? NULL : s->removed ? "removed" : s->expired ? "expired" : NULL;
	const char *when = s->removed ? s->removed_time : s->expired_time;
	bool by = gone && s->removed;
	return json_pack("{s:s, s:s, s:s?, s:o, s:s?, s:b, s:s?, s:s?, s:o, s:s?, s:s?}", "session",
		s->name, "start", s->start_time, "end", s->ended ? s->end_time : NULL, "records",
		s->ended ? json_integer((json_int_t)s->records) : json_null(), "verdict",
		s->ended ? (s->complete ? "complete" : "incomplete") : NULL, "trail", there, "gone",
		gone, "gone_time", gone ? when : NULL, "gone_by",
		by ? json_integer((json_int_t)s->removed_by) : json_null(), "gone_reason",
		by ? s->removed_reason : NULL, "held", s->held ? s->held_reason : NULL);
}

static void print_header(struct list *l)
{
	if (!l->headed && !l->c->json)
		ward_outf("%-30s %-20s %10s  %s%-9s  %-10s  %-*s  %-*s  %s\n", "SESSION", "START",
			"RECORDS", l->asked ? "  MATCHING  " : "", "EXIT", "MODE", PROJECT_COLUMNS,
			"PROJECT", COMMAND_COLUMNS, "COMMAND", "END");
	l->headed = true;
}

/* start, records: as they are printed; "-" is not known. end: what the ledger says of it. */
struct row {
	const char *session, *start, *records, *end;
	uint64_t matching;
};

static void print_row(struct list *l, const struct row *r, const struct ward_session_ends *e)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf command = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf columns = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf project = WARD_BUF_INIT;
	const char *mode = ward_query_text(json_object_get(e->start, "detail"), "mode");
	char status[32];
	audit_about_exit(e, status, sizeof(status));
	audit_about_command(e, &command);
	audit_about_path(e, "project", &path);
	const char *slash = path.len ? strrchr(ward_buf_str(&path), '/') : NULL;
	ward_shown(&project, slash && slash[1] ? slash + 1 : path.len ? ward_buf_str(&path) : "-");
	audit_about_column(&columns, ward_buf_str(&project), PROJECT_COLUMNS);
	ward_buf_puts(&columns, "  ");
	audit_about_column(&columns, command.len ? ward_buf_str(&command) : "-", COMMAND_COLUMNS);
	print_header(l);
	ward_outf("%-30s %-20s %10s  ", r->session, r->start, r->records);
	if (l->asked)
		ward_outf("%10" PRIu64 "  ", r->matching);
	ward_outf(
		"%-9s  %-10s  %s  %s\n", status, mode ? mode : "-", ward_buf_str(&columns), r->end);
}

static void print_session(struct list *l, const struct ward_ledger_session *s, bool there,
	const struct ward_session_ends *e, uint64_t matching)
{
	ward_cleanup(ward_buf_clear) struct ward_buf end = WARD_BUF_INIT;
	char records[24] = "-", start[32];
	snprintf(start, sizeof(start), "%.19sZ", s->start_time);
	if (!there)
		audit_ledger_gone_text(s, &end);
	if (!there && end.len == 0)
		ward_buf_puts(&end, "trail missing");
	else if (there)
		ward_buf_puts(&end, !s->ended	  ? "no end"
				    : s->complete ? "ended"
				    : s->cause[0] ? "incomplete: "
						  : "incomplete");
	if (there && s->ended && !s->complete)
		ward_buf_puts(&end, s->cause);
	if (s->lost)
		ward_buf_puts(&end, "; an earlier trail of this name is missing");
	if (s->held)
		ward_buf_printf(&end, "; on hold: %s", s->held_reason);
	if (s->ended)
		snprintf(records, sizeof(records), "%" PRIu64, s->records);
	const struct row r = {s->name, start, records, ward_buf_str(&end), matching};
	print_row(l, &r, e);
}

/* From which on rows are printed: as many as were asked for, and those before are counted. */
static size_t first_row(struct list *l, const struct ward_ledger_view *v)
{
	size_t from = v->n;
	uint64_t rows = 0;
	l->older = l->limit > 0 ? v->left_out : 0;
	for (size_t i = v->n; l->limit > 0 && i-- > 0;) {
		ward_cleanup(ward_session_ends_clear) struct ward_session_ends e = {0};
		const uint64_t had = l->elsewhere;
		/* Of all projects each is a row. */
		if (l->own) {
			(void)look(l, v->v[i].name, &e);
			if (is_elsewhere(l, &e, !v->v[i].removed && !v->v[i].expired)) {
				/* Behind `from` they are counted again. */
				l->elsewhere = rows < l->limit ? had : l->elsewhere;
				continue;
			}
		}
		if (rows++ < l->limit)
			from = i;
		else
			l->older++;
	}
	/* Fewer than were asked for: all. */
	return l->limit > 0 && rows >= l->limit ? from : 0;
}

static void list_ledger(struct list *l, const struct ward_ledger_view *v)
{
	print_header(l);
	for (size_t i = first_row(l, v); i < v->n; i++) {
		ward_cleanup(ward_session_ends_clear) struct ward_session_ends e = {0};
		uint64_t matching = 0;
		if (!wanted(l, v->v[i].name, &matching))
			continue;
		bool there = look(l, v->v[i].name, &e) || l->asked;
		if (is_elsewhere(l, &e, !v->v[i].removed && !v->v[i].expired))
			continue;
		if (l->c->json)
			put(l, session_json(&v->v[i], there), &e, matching);
		else
			print_session(l, &v->v[i], there, &e, matching);
	}
}

/*
 * Of the system's writer, for whom they are about: the ledger's macs are not theirs to check. And
 * what is asked for may lie in trails that the ledger does not know (it was cut, or is another).
 */
static void list_some(
	struct list *l, const struct ward_store_names *names, const struct ward_ledger_view *known)
{
	for (size_t i = 0; i < names->n; i++) {
		ward_cleanup(ward_session_ends_clear) struct ward_session_ends e = {0};
		uint64_t matching = 0;
		char start[32] = "-";
		if ((known && ward_ledger_view_find(known, names->v[i])) ||
			!wanted(l, names->v[i], &matching))
			continue;
		(void)look(l, names->v[i], &e);
		if (is_elsewhere(l, &e, true))
			continue;
		if (l->c->json) {
			put(l, json_pack("{s:s}", "session", names->v[i]), &e, matching);
			continue;
		}
		if (ward_query_text(e.start, "time"))
			snprintf(start, sizeof(start), "%.19sZ", ward_query_text(e.start, "time"));
		const struct row row = {
			names->v[i], start, "-", known ? "not in the ledger" : "-", matching};
		print_row(l, &row, &e);
	}
}

static int list_names(struct list *l, const struct ward_ledger_view *known, struct ward_err *err)
{
	struct ward_store_names names = {0};
	/* What the index saw end has an entry in the ledger. */
	if (known && l->abouts.complete) {
		list_some(l, &l->abouts.open, known);
		return 0;
	}
	int r = ward_store_list(l->c->store, &names, err);
	if (r == 0)
		list_some(l, &names, known);
	ward_store_names_free(&names);
	return r;
}

/* By the index: of the sessions that the ledger knows, those without a directory. */
static void count_absent(struct list *l, const struct ward_ledger_view *known)
{
	uint64_t there = l->counts.sessions;
	if (!l->counts.complete || !l->abouts.complete)
		return;
	for (size_t i = 0; i < l->abouts.open.n; i++)
		there -= there > 0 && !ward_ledger_view_find(known, l->abouts.open.v[i]);
	const uint64_t all = known->n + known->left_out;
	l->absent = all > there ? all - there : 0;
}

/* The sessions in the index; without an index, the trails are opened. NULL: all sessions. */
static int ask_abouts(
	struct list *l, bool fill, const struct ward_store_names *names, struct ward_err *err)
{
	ward_index_abouts_clear(&l->abouts);
	const struct audit_cmd *c = l->c;
	struct ward_index_wanted wanted = audit_labels_wanted(c);
	wanted.only = !l->asked && !l->partial && audit_labels_asked(c);
	int r = names ? ward_index_about_some(c->store, &wanted, names, &l->abouts, err)
		      : ward_index_about_all(c->store, fill ? &wanted : NULL, &l->abouts, err);
	if (r != -ENODATA)
		return r;
	ward_index_abouts_clear(&l->abouts);
	return 0;
}

/* Of the newest ones in v. */
static int ask_newest(struct list *l, const struct ward_ledger_view *v, struct ward_err *err)
{
	struct ward_store_names names = {.v = calloc(v->n ? v->n : 1, sizeof(char *))};
	if (!names.v)
		return ward_err_sys(err, -ENOMEM, "list");
	while (names.n < v->n && names.n < l->limit) {
		const size_t i = v->n - 1 - names.n;
		names.v[names.n++] = (char *)(uintptr_t)v->v[i].name; /* borrowed */
	}
	int r = ask_abouts(l, true, &names, err);
	free(names.v);
	return r;
}

/* Of those that have records that are asked for, where the index says so of all sessions. */
static int ask_counted(struct list *l, struct ward_err *err)
{
	const struct ward_index_counts *k = &l->counts;
	/* The trails of a few are opened sooner. */
	const bool fill = k->n > OPENED_MAX || audit_labels_asked(l->c);
	if (!fill || !k->complete)
		return ask_abouts(l, fill, NULL, err);
	struct ward_store_names names = {.v = calloc(k->n + 1, sizeof(char *))};
	if (!names.v)
		return ward_err_sys(err, -ENOMEM, "list");
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].n > 0)
			names.v[names.n++] = k->v[i].name; /* borrowed */
	int r = ask_abouts(l, true, &names, err);
	free(names.v);
	return r;
}

static bool take_name(struct ward_ledger_view *names, const char *name)
{
	return ward_ledger_view_take(names, name, strlen(name)) != NULL;
}

static bool take_names(struct ward_ledger_view *names, const struct ward_store_names *from)
{
	for (size_t i = 0; i < from->n; i++)
		if (!take_name(names, from->v[i]))
			return false;
	return true;
}

/*
 * Which sessions of the ledger can have a row: the newest ones; or, where the index is complete,
 * those that match by the index, and those that it knows nothing about. False: any of them can.
 * Where labels are asked for, the sessions whose trails may be gone are among them.
 */
static bool needed(
	const struct list *l, struct ward_ledger_seen_only *only, struct ward_ledger_view *names)
{
	/* Of another project can be any of them. */
	if (l->limit > 0 && !l->own) {
		only->newest = l->limit;
		return true;
	}
	if (!l->asked && l->abouts.only) {
		only->unsettled = true;
		for (size_t i = 0; i < l->abouts.n; i++)
			if (!take_name(names, l->abouts.v[i].name))
				return false;
		return take_names(names, &l->abouts.open);
	}
	if (!l->asked || !l->counts.complete || !l->abouts.complete)
		return false;
	for (size_t i = 0; i < l->counts.n; i++)
		if (l->counts.v[i].n > 0 && !take_name(names, l->counts.v[i].name))
			return false;
	return take_names(names, &l->counts.unknown) && take_names(names, &l->abouts.open);
}

static int read_ledger(struct list *l, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, struct ward_err *err)
{
	ward_cleanup(ward_ledger_view_free) struct ward_ledger_view names = {0};
	struct ward_ledger_seen_only only = {.names = &names};
	const bool some = needed(l, &only, &names);
	int r = audit_ledger_list(l->c, root, some ? &only : NULL, ret, err);
	if (r < 0 || !l->abouts.only || audit_left_out_none(l->c, ret))
		return r;
	/* One that it does not have can have the labels. */
	l->partial = true;
	ward_ledger_view_free(ret);
	r = ask_abouts(l, true, NULL, err);
	return r == 0 ? audit_ledger_list(l->c, root, NULL, ret, err) : r;
}

static int list(struct list *l, struct ward_err *err)
{
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(l->c->store, root, err);
	if (r == -EACCES && l->c->system) {
		r = list_names(l, NULL, err);
		if (r == 0)
			ward_say(
				"the trails that are there; only root can read what the ledger says "
				"of them");
		return r;
	}
	if (r == 0)
		r = read_ledger(l, root, &v, err);
	ward_chain_wipe(root, sizeof(root));
	if (r == 0 && l->newest_only)
		r = ask_newest(l, &v, err);
	/* Labels and logins are in the trail. */
	if (r == 0 && !l->asked && audit_labels_asked(l->c))
		r = audit_left_out_indexed(l->c, false, &v, &l->left, err);
	if (r < 0) {
		ward_ledger_view_free(&v);
		return r;
	}
	list_ledger(l, &v);
	if (l->asked)
		r = list_names(l, &v, err);
	if (l->asked)
		count_absent(l, &v);
	if (v.result.state != WARD_VERIFY_INTACT)
		ward_sayf("the ledger is not intact: %s: %s",
			ward_verify_state_name(v.result.state), v.result.text);
	ward_ledger_view_free(&v);
	return r;
}

/*
 * Brings the index up to date, where that is ours to do, and asks it. Where records are asked for,
 * reading all trails once for it takes as long as reading them for the answer. Else none is read
 * for it.
 */
static int ask_index(struct list *l, struct ward_err *err)
{
	struct ward_index_result res = {.light = !l->asked};
	struct ward_err none = WARD_ERR_INIT;
	if (l->asked)
		(void)!audit_index_update(l->c, false, &res, &none);
	else
		(void)!ward_index_update(l->c->store, false, &res, &none);
	l->newest_only = l->limit > 0 && !l->own;
	if (!l->asked)
		return l->newest_only ? 0 : ask_abouts(l, true, NULL, err);
	none = WARD_ERR_INIT;
	int r = ward_index_count(l->c->store, &l->c->filter.f, &l->counts, &none);
	if (r == -ENODATA) {
		ward_index_counts_clear(&l->counts);
		return 0;
	}
	*err = none;
	return r < 0 ? r : ask_counted(l, err);
}

/*
 * Who stands in a project and asks for a list means that project. A question about records or
 * labels, JSON, and another store are of the whole host.
 */
static void find_own(struct list *l)
{
	const struct audit_cmd *c = l->c;
	if (c->all || c->json || c->state || c->system || l->asked || audit_labels_asked(c))
		return;
	ward_here_find(&l->here);
	l->own = l->here.marked && l->here.project;
}

/* What is not in the list. */
static void say_elsewhere(const struct list *l)
{
	if (l->older)
		ward_sayf("%" PRIu64
			  " older session%s %s not listed: 'wardfs audit list --limit all'",
			l->older, ward_s(l->older), l->older == 1 ? "is" : "are");
	if (l->elsewhere)
		ward_sayf(
			"%" PRIu64
			" more session%s, of other projects or without a trail: 'wardfs audit list --all'",
			l->elsewhere, ward_s(l->elsewhere));
}

static int run_list(struct audit_cmd *c, struct ward_err *err)
{
	struct list l = {.c = c, .asked = !ward_filter_empty(&c->filter.f), .all = json_array()};
	find_own(&l);
	/* Output for programs, and an answer to a filter, is complete. */
	if (!c->json && !l.asked && !audit_labels_asked(c))
		l.limit = c->limit == AUDIT_LIMIT_ALL ? 0 : c->limit ? c->limit : LIMIT;
	/* All trails are read for it, and the ledger says that. */
	if (l.asked)
		audit_ledger_note_question(c, ward_buf_str(&c->filter.said));
	int r = c->no_index ? 0 : ask_index(&l, err);
	if (r == 0)
		r = list(&l, err);
	if (r == 0 && c->json)
		ward_print_json(json_incref(l.all));
	json_decref(l.all);
	if (r == 0 && ward_out_flush() < 0)
		r = ward_err_sys(err, -EIO, "stdout");
	if (r == 0 && l.asked)
		ward_sayf(
			"%sthese trails were not verified; 'wardfs audit verify --all' verifies them",
			l.counted ? "counted by the index (--no-index reads every line): " : "");
	if (l.absent > 0)
		ward_sayf("%" PRIu64 " session%s without a trail any more to look into", l.absent,
			ward_s(l.absent));
	if (r == 0 && l.unread > 0)
		r = ward_err_set(err, -EIO, "%" PRIu64 " trail%s could not be read", l.unread,
			ward_s(l.unread));
	if (r == 0)
		r = audit_left_out_say(&l.left, err);
	if (r == 0)
		say_elsewhere(&l);
	ward_here_clear(&l.here);
	audit_left_out_clear(&l.left);
	ward_index_counts_clear(&l.counts);
	ward_index_abouts_clear(&l.abouts);
	ward_store_names_free(&l.names);
	return r;
}

/* --- on the command line --- */

static const struct argp_option list_options[] = {
	{"all", AUDIT_OPTION_ALL, NULL, 0, "The sessions of all projects, as outside of any", 0},
	{"json", 'j', NULL, 0, "One JSON array of objects, of all projects", 0},
	{"limit", AUDIT_OPTION_LIMIT, "N", 0,
		"The newest N sessions, or all; 100 by default. With --json or a filter, all", 0},
	{"no-index", AUDIT_OPTION_NO_INDEX, NULL, 0,
		"Read the trails, even if the index is up to date", 0},
	{0},
};
const struct argp audit_list_argp = {list_options, audit_verb_parse, NULL,
	"Lists the sessions of this project in the ledger: how each ended, its mode and "
	"command; outside of any project, all. With a filter, lists the sessions of all projects "
	"that have matching records, and how many.\vExit status: "
	"0; 2 usage; 125 a trail cannot be read.",
	audit_options_listed, NULL, NULL};
static const struct audit_verb list_verb = {
	.name = "list",
	.lists = true,
	.fills = true,
	.argp = &audit_list_argp,
	.words = "",
	.run = run_list,
};

int ward_audit_cmd_list(int argc, char **argv)
{
	return audit_verb_call(&list_verb, argc, argv);
}
