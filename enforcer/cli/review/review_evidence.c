/* SPDX-License-Identifier: Apache-2.0 */
/* Reads checks and signatures, and says whether they suffice. */
#include "enforcer/cli/review/review_evidence.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/verify/signed_change.h"
#include "audit/verify/verify.h"
#include "audit/verify/verify_reviews.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

void review_evidence_clear(struct review_evidence *e)
{
	json_decref(e->checks);
	json_decref(e->signatures);
	*e = (struct review_evidence){.checks = NULL};
}

/* The ledger, as verified with the root key. */
struct known {
	struct ward_ledger_view view;
	uint8_t root[WARD_KEY_BYTES];
};

static void known_clear(struct known *k)
{
	ward_ledger_view_free(&k->view);
	ward_chain_wipe(k->root, sizeof(k->root));
}

static int know(const struct ward_review_meant *m, struct known *k, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1, notes = -1;
	int r = ward_chain_setup() < 0 ? ward_err_set(err, -EIO, "libsodium cannot be used") : 0;
	if (r == 0)
		r = ward_store_read_key(m->store, k->root, err);
	if (r == 0)
		r = ward_store_open_ledger(m->store, &fd, err);
	if (r == 0)
		r = ward_store_open_ledger_checkpoints(m->store, &notes, err);
	if (r == 0 || r == -ENOENT)
		r = ward_verify_ledger(fd, notes, k->root, &k->view, err);
	if (r == 0 && k->view.result.state != WARD_VERIFY_INTACT)
		r = ward_err_set(err, -EBADMSG,
			"the ledger is not intact (%s), so no check and no signature counts: wardfs "
			"audit verify --all",
			ward_verify_state_name(k->view.result.state));
	return r;
}

/* --- a check's trail --- */

static int trail_of(const struct ward_review_meant *m, const struct known *k, const char *session,
	char ret[65], struct ward_err *err)
{
	const struct ward_ledger_session *s = ward_ledger_view_find(&k->view, session);
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	struct ward_verify_result v = {0};
	ward_cleanup_fd int fd = -1;
	int r = ward_store_open_log(m->store, session, &log, err);
	if (r == 0)
		r = ward_store_open_checkpoints(m->store, session, &fd, err);
	if (r == 0 && (r = ward_checkpoint_list_read(fd, &notes)) < 0)
		r = ward_err_sys(err, r, "checkpoints of %s", session);
	if (r == 0)
		r = ward_verify_trail(log, session, k->root, s, &notes, &v, err);
	if (r < 0)
		return r;
	if (v.state != WARD_VERIFY_INTACT || !s || !s->has_checkpoint)
		return ward_err_set(err, -EBADMSG, "the trail of session %s is not intact: %s",
			session, ward_verify_state_name(v.state));
	for (size_t i = 0; i < WARD_HASH_BYTES; i++)
		snprintf(ret + 2 * i, 3, "%02x", s->checkpoint.root[i]);
	return 0;
}

int review_evidence_trail(
	const struct ward_review_meant *m, const char *session, char ret[65], struct ward_err *err)
{
	ward_cleanup(known_clear) struct known k = {0};
	int r = know(m, &k, err);
	return r < 0 ? r : trail_of(m, &k, session, ret, err);
}

/* --- files review.N --- */

static const char *text_of(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

/* The text that a genuine entry names, with the digest that it gives. */
static int read_file(const struct ward_review_meant *m, const json_t *entry, struct ward_buf *ret,
	struct ward_err *err)
{
	const int n = (int)json_integer_value(json_object_get(entry, "file"));
	ward_cleanup_fd int dir = -1;
	int r = ward_store_open_session(m->store, m->session, &dir, err);
	if (r < 0)
		return r;
	r = ward_review_file_read(dir, entry, REVIEW_EVIDENCE_MAX, ret);
	if (r == -EBADMSG)
		return ward_err_set(err, r,
			"review.%d of session %s is not the file that the ledger knows", n,
			m->session);
	return r < 0 ? ward_err_sys(err, r, "review.%d of session %s", n, m->session) : 0;
}

/* An earlier one of the same command does not count any more. */
static void drop_check(json_t *checks, const json_t *command)
{
	size_t i;
	const json_t *v = NULL;
	json_array_foreach(checks, i, v)
	{
		if (json_equal(json_object_get(v, "command"), command)) {
			json_array_remove(checks, i);
			break;
		}
	}
}

static int take_check(const struct ward_review_meant *m, const struct known *k, const char *text,
	size_t len, struct review_evidence *e, struct ward_err *err)
{
	char root[65];
	json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	const char *session = text_of(o, "session");
	int r = 0;
	if (!json_is_array(json_object_get(o, "command")) ||
		!json_is_integer(json_object_get(o, "result")) || !*session ||
		strcmp(text_of(o, "manifest"), m->digest) != 0)
		r = ward_err_set(err, -EBADMSG, "a check cannot be understood");
	if (r == 0)
		r = trail_of(m, k, session, root, err);
	if (r == 0 && strcmp(root, text_of(o, "trail")) != 0)
		r = ward_err_set(err, -EBADMSG,
			"the trail of session %s is not the one of the check", session);
	drop_check(e->checks, json_object_get(o, "command"));
	/* Nor does a signature say at which step: the manifest does. */
	(void)json_object_del(o, "step");
	if (r == 0)
		(void)json_object_del(o, "manifest");
	if (r < 0)
		json_decref(o);
	else
		r = json_array_append_new(e->checks, o) < 0 ? -ENOMEM : 0;
	return r;
}

static int take(const struct ward_review_meant *m, const struct known *k, const json_t *entry,
	struct review_evidence *e, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const bool checked = strcmp(text_of(entry, "verb"), "checked") == 0;
	int r = read_file(m, entry, &b, err);
	/* It may have been a later one of any command, and have failed. */
	if (r < 0 && checked)
		json_array_clear(e->checks);
	if (r == 0 && checked)
		r = take_check(m, k, ward_buf_str(&b), b.len, e, err);
	else if (r == 0 &&
		 json_array_append_new(e->signatures, json_stringn(ward_buf_str(&b), b.len)) < 0)
		r = ward_err_set(err, -EBADMSG, "a signature cannot be understood");
	return r;
}

int review_evidence_read(
	const struct ward_review_meant *m, struct review_evidence *e, struct ward_err *err)
{
	ward_cleanup(known_clear) struct known k = {0};
	*e = (struct review_evidence){.checks = json_array(), .signatures = json_array()};
	if (!e->checks || !e->signatures)
		return ward_err_sys(err, -ENOMEM, "checks");
	int r = know(m, &k, err);
	const struct ward_ledger_session *s =
		r == 0 ? ward_ledger_view_find(&k.view, m->session) : NULL;
	const json_t *entry = NULL;
	size_t i;
	json_array_foreach(s ? s->review_entries : NULL, i, entry)
	{
		const char *verb = text_of(entry, "verb");
		struct ward_err why = WARD_ERR_INIT;
		if ((strcmp(verb, "checked") != 0 && strcmp(verb, "signed") != 0) ||
			strcmp(text_of(entry, "manifest"), m->digest) != 0)
			continue;
		int taken = take(m, &k, entry, e, &why);
		if (taken == -ENOMEM)
			return ward_err_sys(err, taken, "checks");
		if (taken < 0)
			snprintf(e->broken, sizeof(e->broken), "%s", why.text);
	}
	return r;
}

/* --- do they suffice? --- */

void review_evidence_command(struct ward_buf *b, const json_t *check)
{
	const json_t *word = NULL;
	size_t i;
	json_array_foreach(json_object_get(check, "command"), i, word)
	{
		if (i)
			ward_buf_putc(b, ' ');
		ward_shell_word(b, json_string_value(word) ? json_string_value(word) : "?");
	}
}

static bool is_good(const json_t *check)
{
	return json_integer_value(json_object_get(check, "result")) == 0;
}

/* The check of this command; NULL: one that succeeded, else the last. */
static const json_t *find_check(const json_t *checks, const char *command)
{
	const json_t *v = NULL, *found = NULL;
	size_t i;
	json_array_foreach(checks, i, v)
	{
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		review_evidence_command(&b, v);
		if (command ? strcmp(ward_buf_str(&b), command) == 0 : !found || !is_good(found))
			found = v;
	}
	return found;
}

static int need_check(const struct review_evidence *e, const char *command, struct ward_err *err)
{
	const json_t *c = find_check(e->checks, command);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (c && is_good(c))
		return 0;
	if (c) {
		review_evidence_command(&b, c);
		return ward_err_set(err, -EPERM,
			"the check of '%.200s' ended with status %d: nothing is applied",
			ward_buf_str(&b), (int)json_integer_value(json_object_get(c, "result")));
	}
	return ward_err_set(err, -EPERM,
		"no check of%s%.200s%s exactly these changes counts%s%s: wardfs review check -- %.200s",
		command ? " '" : "", command ? command : "", command ? "' on" : "",
		*e->broken ? ": " : "", e->broken, command ? command : "CMD");
}

static bool has_check(const json_t *checks, const json_t *check)
{
	const json_t *v = NULL;
	size_t i;
	json_array_foreach(checks, i, v) if (json_equal(v, check)) return true;
	return false;
}

/* What the signature says of checks is so, and it has those that are needed. */
static bool covers(const struct review_args *a, const struct ward_review_meant *m,
	const struct review_evidence *e, const json_t *says)
{
	const struct ward_settings *s = ward_policy_settings(m->place.policy);
	const json_t *checks = json_object_get(says, "checks"), *v = NULL;
	size_t i;
	json_array_foreach(checks, i, v) if (!has_check(e->checks, v)) return false;
	for (i = 0; i < a->n_checks; i++)
		if (!has_check(checks, find_check(e->checks, a->checks[i])))
			return false;
	const json_t *one = find_check(checks, NULL);
	return (one && is_good(one)) || !(a->require_check || s->review_require_check);
}

int review_evidence_signed(const struct review_args *a, const struct ward_review_meant *m,
	const struct review_evidence *e, struct ward_err *err)
{
	const struct ward_settings *s = ward_policy_settings(m->place.policy);
	const size_t want = s->approvers_needed ? (size_t)s->approvers_needed : 1;
	struct ward_approver_key by[WARD_APPROVERS_MAX];
	struct ward_err why = WARD_ERR_INIT;
	const json_t *v = NULL;
	size_t n = 0, i;
	json_array_foreach(e->signatures, i, v)
	{
		ward_cleanup(ward_signed_change_clear) struct ward_signed_change c = {.says = NULL};
		int r = ward_signed_change_read(
			json_string_value(v), json_string_length(v), &c, &why);
		if (r == 0)
			r = ward_signed_change_fits(&c, m->session, m->digest, s, &why);
		if (r == 0 && !covers(a, m, e, c.says))
			r = ward_err_set(&why, -EPERM,
				"%s signed other checks than those that count", c.key.name);
		bool again = r < 0 || n == WARD_APPROVERS_MAX;
		/* One key under two names is one signer. */
		for (size_t k = 0; k < n && !again; k++)
			again = memcmp(by[k].key, c.key.key, sizeof(c.key.key)) == 0;
		if (!again)
			by[n++] = c.key;
	}
	if (n >= want)
		return 0;
	return ward_err_set(err, -EPERM,
		"%zu of %zu signatures of approvers came%s%.200s: wardfs review sign --key KEY", n,
		want, why.code ? ": " : "", why.code ? why.text : "");
}

int review_evidence_allows(
	const struct review_args *a, const struct ward_review_meant *m, struct ward_err *err)
{
	const struct ward_settings *s = ward_policy_settings(m->place.policy);
	const bool check = a->require_check || s->review_require_check;
	const bool sign = a->require_sign || s->review_require_sign;
	ward_cleanup(review_evidence_clear) struct review_evidence e = {.checks = NULL};
	if (!check && !sign)
		return 0;
	if (a->interactive || a->merge)
		return ward_err_set(err, -EPERM,
			"--interactive and --merge apply content that was neither checked nor signed, "
			"and %s is required",
			check ? "a check" : "a signature");
	int r = review_evidence_read(m, &e, err);
	for (size_t i = 0; r == 0 && i < a->n_checks; i++)
		r = need_check(&e, a->checks[i], err);
	if (r == 0 && check && !a->n_checks)
		r = need_check(&e, NULL, err);
	return r == 0 && sign ? review_evidence_signed(a, m, &e, err) : r;
}
