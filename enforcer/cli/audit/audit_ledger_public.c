/* SPDX-License-Identifier: Apache-2.0 */
/* Verifies the copy of a ledger with the ledger's public key. */
#include "enforcer/cli/audit/audit_ledger_public.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/lines.h"
#include "audit/store/store.h"
#include "audit/verify/verify_anchored.h"
#include "enforcer/base/cleanup.h"

/* As cmd_audit_verify.c names it. */
#define LEDGER "ledger"

/* {NAME: {"kind": the last one that says what became of the trail, "time"}} */
static int take_entry(json_t *sessions, const char *line, size_t len)
{
	static const char *const kinds[] = {"start", "removed", "expired"};
	json_t *o = json_loadb(line, len, 0, NULL);
	const char *name = json_string_value(json_object_get(o, "session"));
	const char *kind = json_string_value(json_object_get(o, "kind"));
	const char *time = json_string_value(json_object_get(o, "time"));
	int r = 0;
	for (size_t i = 0; name && kind && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kind, kinds[i]) == 0)
			r = json_object_set_new(sessions, name,
				json_pack("{s:s, s:s}", "kind", kind, "time", time ? time : "?"));
	json_decref(o);
	return r < 0 ? -ENOMEM : 0;
}

/* The first n entries. */
static int read_entries(int fd, uint64_t n, json_t *sessions, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	int r = ward_log_open_file(fd, &log);
	if (r == 0)
		r = ward_lines_open(&lines, log, 0);
	for (uint64_t i = 0; r == 0 && i < n && (r = ward_lines_next(&lines, &text)) == 1; i++)
		r = text.whole ? take_entry(sessions, text.p, text.len) : 0;
	return r < 0 ? ward_err_sys(err, r, LEDGER) : 0;
}

static void report_gone(struct audit_verdicts *v, const char *name, const json_t *entry)
{
	struct ward_verify_result res = {.state = WARD_VERIFY_MISSING};
	const char *kind = json_string_value(json_object_get(entry, "kind"));
	const char *time = json_string_value(json_object_get(entry, "time"));
	if (strcmp(kind, "removed") == 0)
		ward_verify_say(&res, WARD_VERIFY_REMOVED, 0, "%s, by the ledger", time);
	else if (strcmp(kind, "expired") == 0)
		ward_verify_say(&res, WARD_VERIFY_EXPIRED, 0, "%s, by the ledger", time);
	else
		ward_verify_say(&res, WARD_VERIFY_MISSING, 0,
			"the trail is missing; the ledger has its start at %s", time);
	audit_verdicts_report(v, name, &res);
}

static int report_all_gone(
	struct audit_cmd *c, json_t *sessions, struct audit_verdicts *v, struct ward_err *err)
{
	struct ward_store_names names;
	const char *name = NULL;
	json_t *entry = NULL;
	int r = ward_store_list(c->store, &names, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n; i++)
		json_object_del(sessions, names.v[i]);
	ward_store_names_free(&names);
	json_object_foreach(sessions, name, entry) report_gone(v, name, entry);
	return 0;
}

int audit_ledger_public(struct audit_cmd *c, struct audit_verdicts *v, struct ward_err *err)
{
	ward_cleanup(ward_ledger_notes_clear) struct ward_ledger_notes notes = {0};
	struct ward_verify_result res = {.state = WARD_VERIFY_MISSING};
	ward_cleanup_fd int fd = -1;
	ward_cleanup_fd int notes_fd = -1;
	size_t foreign = 0;
	int r = ward_store_open_ledger_checkpoints(c->store, &notes_fd, err);
	if (r == 0 && (r = ward_ledger_notes_read(notes_fd, &notes)) < 0)
		r = ward_err_sys(err, r, "checkpoints of the ledger");
	if (r < 0 && r != -ENOENT)
		return r;
	ward_anchored_own(&notes, &c->ledger_key, &foreign);
	r = ward_store_open_ledger(c->store, &fd, err);
	if (r < 0 && r != -ENOENT)
		return r;
	r = 0;
	if (fd < 0)
		ward_verify_say(&res, WARD_VERIFY_MISSING, 0, "there is no ledger");
	else if (notes.n == 0)
		ward_verify_say(&res, foreign ? WARD_VERIFY_FOREIGN : WARD_VERIFY_MISSING, 0,
			"no checkpoint of it is signed by this key");
	else
		r = ward_verify_anchored_ledger(fd, &notes, &res, err);
	if (r < 0)
		return r;
	audit_verdicts_report(v, LEDGER, &res);
	json_t *sessions = json_object();
	if (!sessions)
		return ward_err_sys(err, -ENOMEM, LEDGER);
	/* Only what a checkpoint covers. */
	if (notes.n > 0 && fd >= 0)
		r = read_entries(fd, notes.matched, sessions, err);
	if (r == 0)
		r = report_all_gone(c, sessions, v, err);
	json_decref(sessions);
	return r;
}
