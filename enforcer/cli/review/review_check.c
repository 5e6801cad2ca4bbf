/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review check: a command on staged changes, in a session that cannot change them. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/cli/review/review_evidence.h"
#include "enforcer/cli/review/review_record.h"
#include "enforcer/cli/run/run_once.h"

/* A policy with all its sources. */
#define POLICY_MAX ((size_t)64 << 20)

/* Of session.start. */
static int take_digest(void *arg, const char *line, size_t len, const json_t *record)
{
	char *ret = arg;
	const char *policy = ward_query_text(record, "policy");
	(void)line;
	(void)len;
	if (ward_query_kind(record) == WARD_EVENT_SESSION_START && policy)
		snprintf(ret, WARD_POLICY_DIGEST_MAX, "%s", policy);
	return 1;
}

/* The file lies beside the trail, and is the owner's: is it what the trail says was in force? */
static int compare_with_trail(
	const struct ward_review_meant *m, const struct ward_policy *p, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	char digest[WARD_POLICY_DIGEST_MAX] = "";
	int r = ward_store_open_log(m->store, m->session, &log, err);
	if (r == 0)
		r = ward_query_walk(log, true, take_digest, digest, err);
	if (r < 0)
		return r;
	return strcmp(digest, ward_policy_digest(p)) == 0
		       ? 0
		       : ward_err_set(err, -EBADMSG, "it is not the one that the trail names");
}

/* What the policy of the session began with; floor and project file are today's. */
static int policy_of(const struct ward_review_meant *m, struct ward_base *ret, struct ward_err *err)
{
	static const enum ward_source_kind kinds[] = {WARD_SOURCE_BASE, WARD_SOURCE_PROFILE};
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = POLICY_MAX};
	struct ward_policy *p = NULL;
	ward_cleanup_fd int fd = -1;
	int r = ward_store_open_policy(m->store, m->session, &fd, err);
	if (r == 0 && (r = ward_fd_read_all(fd, POLICY_MAX, &b)) < 0)
		r = ward_err_sys(err, r, "the policy of session %s", m->session);
	if (r == 0)
		r = ward_policy_decode(b.data, b.len, &p, err);
	if (r == 0)
		r = compare_with_trail(m, p, err);
	for (size_t i = 0; r == 0 && i < 2; i++) {
		struct ward_source_text s;
		if (!ward_policy_source(p, kinds[i], &s))
			continue;
		ward_buf_add(&ret->text[i], s.text, s.len);
		ward_buf_puts(&ret->file[i], s.file);
		r = ward_buf_error(&ret->text[i]) < 0 || ward_buf_error(&ret->file[i]) < 0
			    ? ward_err_sys(err, -ENOMEM, "policy")
			    : 0;
	}
	ward_policy_unref(p);
	return r < 0 ? ward_err_wrap(err, "the policy of session %s (give --policy)", m->session)
		     : 0;
}

/* Is it still what the check began with? */
static int check_same(const struct ward_review_meant *m, struct ward_err *err)
{
	ward_cleanup(ward_review_meant_clear) struct ward_review_meant now = {.dir_fd = -1};
	ward_review_meant_init(&now);
	ward_cleanup_free char *name = ward_review_meant_name(m);
	int r = name ? ward_review_meant_find(name, false, &now, err)
		     : ward_err_sys(err, -ENOMEM, "check");
	if (r == 0 && strcmp(now.digest, m->digest) != 0)
		r = ward_err_set(err, -ESTALE,
			"what session %s staged has changed during the check, which counts for nothing",
			name);
	return r;
}

static int record(struct ward_review_meant *m, char *const *argv, int status, const char *session,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf lines = {.max = REVIEW_EVIDENCE_MAX};
	char root[65];
	json_t *command = json_array();
	int r = check_same(m, err);
	if (r == 0)
		r = review_evidence_trail(m, session, root, err);
	for (size_t i = 0; argv[i]; i++)
		json_array_append_new(command, ward_json_text(argv[i]));
	json_t *o = r < 0 ? NULL
			  : json_pack("{s:s, s:O, s:i, s:s, s:s}", "manifest", m->digest, "command",
				    command, "result", status, "session", session, "trail", root);
	json_decref(command);
	if (o && m->step)
		json_object_set_new(o, "step", ward_json_text(m->step));
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(o);
	if (r < 0)
		return r;
	if (text)
		ward_buf_printf(&lines, "%s\n", text);
	if (!text || ward_buf_error(&lines) < 0)
		return ward_err_sys(err, -E2BIG, "the record of the check");
	const struct review_record w = {.verb = "checked",
		.changes = m->changes.n,
		.left = status ? 1 : 0,
		.lines = &lines};
	return review_record(m, &w, err);
}

/* The session begins where the staged one was, and is thrown away. Returns its exit status. */
static int run(const struct review_args *a, const struct ward_review_meant *m,
	const struct ward_base *base, const char *from, char ran[WARD_SESSION_NAME_MAX + 1])
{
	char of[WARD_SESSION_NAME_MAX + 32], what[WARD_REVIEW_DIGEST_SIZE + 32];
	const char *labels[] = {of, what};
	snprintf(of, sizeof(of), "review.check=%s", m->session);
	snprintf(what, sizeof(what), "review.manifest=%s", m->digest);
	const struct ward_run_options o = {.verb = "review",
		.say = ward_say,
		.policy = a->policy,
		.base = a->policy ? NULL : base,
		.from = from,
		.discard = true,
		.labels = {labels, 2},
		.argv = a->command,
		.ran = ran};
	return ward_run_once(&o, a->argv);
}

int review_check(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	ward_cleanup(ward_base_clear) struct ward_base base = WARD_BASE_INIT;
	char ran[WARD_SESSION_NAME_MAX + 1] = "";
	if (m->discarded)
		return ward_err_set(
			err, -ENOENT, "what session %s staged has been discarded", m->session);
	if (m->changes.n_discarded)
		return ward_err_set(err, -EINVAL,
			"'review discard PATH' took changes out of session %s, and a session that goes on "
			"from it would still have them: apply what you want of it without a check",
			m->session);
	int r = a->policy ? 0 : policy_of(m, &base, err);
	if (r < 0)
		return r;
	ward_cleanup_free char *name = ward_review_meant_name(m);
	if (!name)
		return ward_err_sys(err, -ENOMEM, "check");
	const int status = run(a, m, &base, name, ran);
	if (!*ran)
		return status;
	r = record(m, a->command, status, ran, err);
	if (r == 0)
		ward_sayf("checked in session %s, status %d; manifest %s", ran, status, m->digest);
	return r < 0 ? r : status;
}
