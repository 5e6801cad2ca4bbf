/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit verify: whether trails, proofs and attestations are what their writers wrote. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "audit/verify/attest.h"
#include "audit/verify/proof.h"
#include "audit/verify/verify_anchored.h"
#include "audit/verify/verify_grants.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/cut.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_keys.h"
#include "enforcer/cli/audit/audit_ledger_public.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_policies.h"
#include "enforcer/cli/audit/audit_bundle.h"
#include "enforcer/cli/audit/audit_tar.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verdicts.h"
#include "enforcer/cli/audit/audit_verified.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

/* What the ledger is called in verdicts, and the attestation in a bundle behind the session. */
#define LEDGER "ledger"
#define ATTESTATION "/attestation.json"

struct verify {
	struct audit_cmd *c;
	uint8_t root[WARD_KEY_BYTES];
	struct ward_ledger_view ledger;
	struct audit_verdicts verdicts;
	struct audit_verified_set before; /* --verified */
	bool resumed;			  /* the ledger was read from where that ended */
	struct ward_ledger_resume next;	  /* where it ended now */
	struct ward_buf now;		  /* its lines from now on */
	size_t unchanged;
	size_t ledger_kept; /* the ledger's checkpoints in --checkpoints, signed by its key */
	size_t ledger_foreign;
	struct ward_buf chain; /* of a bundle: rotations of the keys of its host */
};

static void report(struct verify *v, const char *name, const struct ward_verify_result *r)
{
	audit_verdicts_report(&v->verdicts, name, r);
}

/* The verdict on a source besides the trail or ledger; that on trail or ledger comes later. */
static int keep(struct verify *v, const char *name, const struct ward_verify_result *r,
	struct ward_err *err)
{
	return r->state == WARD_VERIFY_INTACT ? 0 : audit_verdicts_keep(&v->verdicts, name, r, err);
}

/* notes NULL: the checkpoints are not looked at. here: it is the one of a session of the store. */
static int verify_log(struct verify *v, struct ward_log *log, const char *name, bool here,
	const struct ward_checkpoint_list *notes, struct ward_err *err)
{
	struct ward_verify_result res = {0};
	int r = v->c->n_keys ? ward_verify_public(log, notes, v->c->keys, v->c->n_keys, &res, err)
			     : ward_verify_trail(log, name, v->root,
				       ward_ledger_view_find(&v->ledger, name), notes, &res, err);
	/* With public keys alone nothing is known of what came after the session. */
	if (r == 0 && here)
		r = audit_beside_verify(v->c->store, log, name,
			v->c->n_keys ? NULL : ward_ledger_view_find(&v->ledger, name), &res, err);
	if (r == 0)
		r = ward_verify_grants(log, &res, err);
	if (r == 0)
		report(v, name, &res);
	return r;
}

/* A missing file reads as an empty one. */
static int read_notes(
	int fd, const char *of, struct ward_checkpoint_list *ret, struct ward_err *err)
{
	*ret = (struct ward_checkpoint_list){0};
	int r = fd < 0 ? 0 : ward_checkpoint_list_read(fd, ret);
	return r < 0 ? ward_err_sys(err, r, "checkpoints of %s", of) : 0;
}

static int verify_session(struct verify *v, const char *name, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup_fd int notes_fd = -1;
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	/* The checkpoints first: they speak of no more than what the log then has. */
	int r = ward_store_open_checkpoints(v->c->store, name, &notes_fd, err);
	if (r == 0 || r == -ENOENT)
		r = read_notes(notes_fd, name, &notes, err);
	if (r == 0)
		r = ward_store_open_log(v->c->store, name, &log, err);
	bool empty = v->c->n_keys && notes.text.len == 0;
	uint64_t size = 1;
	if (r == 0 && !(empty && ward_log_size(log, &size) == 0 && size == 0))
		return verify_log(v, log, name, true, &notes, err);
	if (r != 0 && r != -ENOENT)
		return r;
	/* Without the ledger a checkpoint tells that there was something. */
	struct ward_verify_result res = {.state = WARD_VERIFY_MISSING};
	if (v->c->n_keys ? empty : !ward_ledger_view_find(&v->ledger, name))
		res.state = WARD_VERIFY_UNSTARTED;
	snprintf(res.text, sizeof(res.text), "the trail is missing");
	const struct ward_ledger_session *known = ward_ledger_view_find(&v->ledger, name);
	if (v->c->n_keys == 0 && known && known->lost) {
		snprintf(res.text, sizeof(res.text),
			"an earlier session had this name; its trail is missing");
	} else if (v->c->n_keys == 0 && known && known->removed) {
		ward_verify_say(&res, WARD_VERIFY_REMOVED, 0, "%s, by user %" PRIu64 "%s%s",
			known->removed_time, known->removed_by,
			known->removed_reason[0] ? ": " : "", known->removed_reason);
	} else if (v->c->n_keys == 0 && known && known->expired) {
		ward_verify_say(&res, WARD_VERIFY_EXPIRED, 0,
			"%s, kept as long as its policy wanted", known->expired_time);
	}
	report(v, name, &res);
	return 0;
}

/* Of many: one that cannot be read does not keep the others from being looked at. */
static int or_unread(struct verify *v, const char *name, int r, struct ward_err *err)
{
	struct ward_verify_result res = {0};
	if (r == 0 || r == -ENOMEM)
		return r;
	ward_verify_say(&res, WARD_VERIFY_UNREAD, 0, "%s", err->text);
	report(v, name, &res);
	*err = WARD_ERR_INIT;
	return 0;
}

static int verify_any(struct verify *v, const char *name, struct ward_err *err)
{
	return or_unread(v, name, verify_session(v, name, err), err);
}

/* --verified: unless it is as it was. What looks otherwise behind its verification than before it
 * was changed meanwhile: it is read again the next time. */
static int verify_known(struct verify *v, const struct ward_ledger_session *s, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf after = WARD_BUF_INIT;
	if (v->c->verified)
		audit_verified_line(v->c->store, s, &line);
	const bool same = line.len && audit_verified_has(&v->before, ward_buf_str(&line));
	int r = same ? 0 : verify_any(v, s->name, err);
	v->unchanged += same;
	if (r < 0 || line.len == 0 || (!same && v->verdicts.last != WARD_VERIFY_INTACT))
		return r;
	if (!same)
		audit_verified_line(v->c->store, s, &after);
	if (same || strcmp(ward_buf_str(&line), ward_buf_str(&after)) == 0)
		ward_buf_printf(&v->now, "%s\n", ward_buf_str(&line));
	r = ward_buf_error(&v->now);
	return r < 0 ? ward_err_sys(err, r, "%s", v->c->verified) : 0;
}

/* What was verified cannot have never been. */
static void report_forgotten(struct verify *v)
{
	char name[WARD_SESSION_NAME_MAX + 1];
	struct ward_verify_result res = {0};
	for (size_t i = 0; i < v->before.n; i++) {
		audit_verified_name(&v->before, i, name);
		if (ward_ledger_view_find(&v->ledger, name))
			continue;
		ward_verify_say(&res, WARD_VERIFY_MISSING, 0,
			"an earlier run verified it, and the ledger has no entry of it now: somebody "
			"cut the ledger");
		report(v, name, &res);
	}
}

static int keep_verified(struct verify *v, struct ward_err *err)
{
	char digest[WARD_VERIFIED_DIGEST_MAX];
	if (!v->resumed)
		report_forgotten(v);
	/* By a ledger that is not whole nothing is known to be. */
	if (v->ledger.result.state != WARD_VERIFY_INTACT)
		return 0;
	int r = audit_verified_rest(
		v->c->store, v->resumed ? &v->before.ledger : NULL, &v->now, &v->next, err);
	if (r == 0)
		r = audit_verified_write(v->c->verified, &v->next, &v->now, digest, err);
	if (r == 0)
		ward_sayf("%zu session%s unchanged since they were verified; %s now has SHA-256 %s",
			v->unchanged, v->unchanged == 1 ? " is" : "s are", v->c->verified, digest);
	return r;
}

/*
 * Every session of the ledger, then those that only have a directory. With public keys the ledger
 * counts if its own is among them.
 */
static int verify_all(struct verify *v, struct ward_err *err)
{
	struct ward_store_names names;
	if (v->c->n_keys == 0)
		report(v, LEDGER, &v->ledger.result);
	int r = v->c->n_keys && v->c->has_ledger_key ? audit_ledger_public(v->c, &v->verdicts, err)
						     : 0;
	if (r == 0)
		r = ward_store_list(v->c->store, &names, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < v->ledger.n; i++)
		r = verify_known(v, &v->ledger.v[i], err);
	for (size_t i = 0; r == 0 && i < names.n; i++)
		if (!ward_ledger_view_find(&v->ledger, names.v[i]) &&
			!(v->resumed && audit_verified_names(&v->before, names.v[i])))
			r = verify_any(v, names.v[i], err);
	ward_store_names_free(&names);
	return r == 0 && v->c->verified ? keep_verified(v, err) : r;
}

/* The checkpoints beside a trail elsewhere. *ret_fd -1: there are none. */
static int open_notes(struct verify *v, const char *path, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_free char *beside = NULL;
	const char *slash = strrchr(path, '/');
	if (asprintf(&beside, "%.*s/checkpoints", (int)(slash - path), path) < 0) {
		beside = NULL;
		return ward_err_sys(err, -ENOMEM, "checkpoints");
	}
	int r = ward_fd_open_named(beside, WARD_NAMED_FILE, ret_fd, err);
	if (r != -ENOENT || v->c->n_keys)
		return r;
	*err = WARD_ERR_INIT;
	return 0;
}

/* Is the ledger what its checkpoints say that were kept elsewhere? */
static int verify_kept_ledger(struct verify *v, struct ward_ledger_notes *n, struct ward_err *err)
{
	struct ward_verify_result res = {0};
	struct ward_tlog_key key;
	ward_cleanup_fd int fd = -1;
	ward_tlog_key_derive(v->root, &key);
	ward_anchored_own(n, &key.pub, &v->ledger_foreign);
	ward_chain_wipe(&key, sizeof(key));
	v->ledger_kept = n->n;
	int r = n->n ? ward_store_open_ledger(v->c->store, &fd, err) : 0;
	if (r == 0 || r == -ENOENT)
		r = ward_verify_anchored_ledger(fd, n, &res, err);
	return r < 0 ? r : keep(v, LEDGER, &res, err);
}

/* --witness: is the ledger what the witness cosigned? */
static int verify_cosigned(struct verify *v, struct ward_err *err)
{
	ward_cleanup(ward_ledger_notes_clear) struct ward_ledger_notes n = {0};
	struct ward_verify_result res = {0};
	struct ward_tlog_key key;
	ward_cleanup_fd int fd = -1;
	ward_cleanup_fd int ledger = -1;
	uint64_t time = 0;
	size_t bad = 0;
	if (!v->c->has_witness)
		return 0;
	if (v->c->n_keys)
		return ward_err_set(err, -EINVAL, "--witness verifies the ledger: leave --key out");
	int r = ward_store_open_cosigned(v->c->store, &fd, err);
	if (r < 0 && r != -ENOENT)
		return r;
	ward_tlog_key_derive(v->root, &key);
	r = ward_anchored_cosigned(fd, &key.pub, &v->c->witness, &n, &time, &bad, err);
	ward_chain_wipe(&key, sizeof(key));
	if (r == 0 && n.n > 0)
		r = ward_store_open_ledger(v->c->store, &ledger, err);
	if (r == 0 || r == -ENOENT)
		r = ward_verify_anchored_ledger(ledger, &n, &res, err);
	if (r < 0)
		return r;
	if (res.state == WARD_VERIFY_INTACT && bad > 0)
		ward_verify_say(&res, WARD_VERIFY_EDITED, 0, "%zu signatures do not verify", bad);
	else if (res.state == WARD_VERIFY_INTACT && n.n == 0)
		ward_verify_say(&res, WARD_VERIFY_MISSING, 0, "%s cosigned no checkpoint of it",
			v->c->witness.name);
	else if (res.state == WARD_VERIFY_INTACT)
		ward_anchored_say_cosigned(&v->c->witness, time, &res);
	report(v, "witness", &res);
	return 0;
}

/* All of --checkpoints. */
static int read_kept(struct verify *v, struct ward_checkpoint_list *ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_ledger_notes_clear) struct ward_ledger_notes ledger = {0};
	int r = ward_fd_open_named(v->c->checkpoints, WARD_NAMED_PIPE, &fd, err);
	if (r == 0)
		r = ward_anchored_read(fd, ret, &ledger, err);
	if (r < 0)
		return fd >= 0 ? ward_err_wrap(err, "%s", v->c->checkpoints) : r;
	/* With --key neither root key nor ledger is looked at. */
	return v->c->n_keys ? 0 : verify_kept_ledger(v, &ledger, err);
}

/* Leaves the session's own notes in the list. -ENODATA: there are none, and none of the ledger. */
static int keep_session(struct verify *v, const char *name, struct ward_checkpoint_list *notes,
	struct ward_err *err)
{
	size_t n = 0;
	for (size_t i = 0; i < notes->n; i++) {
		if (strcmp(notes->v[i].session, name) != 0)
			continue;
		notes->v[n] = notes->v[i];
		notes->offset[n++] = notes->offset[i];
	}
	notes->n = n;
	return n || v->ledger_kept ? 0
				   : ward_err_set(err, -ENODATA, "%s has no checkpoint of %s",
					     v->c->checkpoints, name);
}

/* Two of a session, the enrolled ones, the present one. */
#define OWN_KEYS (WARD_VERIFY_KEYS_MAX + 3)

/* What this host takes for signed without --key: the keys that the ledger names for the session,
 * those that were enrolled, and the present one. */
static size_t host_keys(struct verify *v, const char *session, struct ward_public_key ret[OWN_KEYS])
{
	uint8_t seed[WARD_KEY_BYTES];
	struct ward_signing_key key;
	size_t n = 0;
	const struct ward_ledger_session *s = ward_ledger_view_find(&v->ledger, session);
	for (; s && n < s->n_keys; n++)
		ret[n] = s->keys[n];
	n += ward_ledger_view_enrolled(&v->ledger, ret + n, WARD_VERIFY_KEYS_MAX);
	if (ward_store_read_seed(v->c->store, seed, NULL) < 0)
		return n;
	ward_signing_key_from_seed(seed, &key);
	ret[n++] = key.pub;
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(&key, sizeof(key));
	return n;
}

/* True if the file is a proof, which was then reported. Its keys: those given, else the ledger's.
 */
static bool verify_proof(struct verify *v, int fd)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_PROOFS_TEXT_MAX};
	char name[WARD_SESSION_NAME_MAX + 1] = "proof";
	struct ward_verify_result res = {0};
	const struct ward_public_key *keys = v->c->keys;
	size_t n_keys = v->c->n_keys;
	char head[64];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	/* What is longer is none. */
	bool pairs = n > 0 && ward_proof_pairs_are(head, (size_t)n);
	if (n < 0 || (!pairs && !ward_proof_is(head, (size_t)n)) ||
		ward_fd_read_all(fd, WARD_PROOFS_TEXT_MAX, &b) < 0)
		return false;
	if (pairs) {
		ward_cleanup(ward_buf_clear) struct ward_buf proofs = {.max = WARD_PROOFS_TEXT_MAX};
		pairs = ward_proof_pairs_take(b.data, b.len, &proofs);
		if (!pairs) {
			ward_verify_say(&res, WARD_VERIFY_EDITED, 0,
				"a line is not a record and its proof");
			report(v, name, &res);
			return true;
		}
		ward_buf_clear(&b);
		b = proofs;
		proofs = (struct ward_buf)WARD_BUF_INIT;
	}
	bool named = ward_proof_session(b.data, b.len, name);
	struct ward_public_key own[OWN_KEYS];
	if (named && !n_keys) {
		keys = own;
		n_keys = host_keys(v, name, own);
	}
	ward_proof_check(b.data, b.len, keys, n_keys, &res, NULL);
	report(v, name, &res);
	return true;
}

/* The same for a proof that an entry is in a ledger: of this host's key, or the one given. */
static bool verify_entry(struct verify *v, int fd)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_PROOF_TEXT_MAX};
	struct ward_verify_result res = {0};
	struct ward_tlog_key own = {.pub = v->c->ledger_key};
	char head[64];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	if (n < 0 || !ward_proof_is(head, (size_t)n) || lseek(fd, 0, SEEK_SET) < 0 ||
		ward_fd_read_all(fd, WARD_PROOF_TEXT_MAX, &b) < 0 ||
		!ward_proof_is_entry(ward_buf_str(&b), b.len) ||
		(v->c->n_keys && !v->c->has_ledger_key))
		return lseek(fd, 0, SEEK_SET) < 0;
	if (!v->c->has_ledger_key)
		ward_tlog_key_derive(v->root, &own);
	ward_proof_check_entry(b.data, b.len, &own.pub, &res);
	ward_chain_wipe(&own, sizeof(own));
	report(v, LEDGER, &res);
	return true;
}

/* The same for an attestation. It is named as its session is; in a bundle, beside its trail, as the
 * member. */
static bool verify_attestation(struct verify *v, int fd, struct ward_log *beside)
{
	json_t *says = NULL;
	char both[WARD_SESSION_NAME_MAX + 32];
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_ATTEST_MAX};
	char name[WARD_SESSION_NAME_MAX + 1] = "";
	struct ward_verify_result res = {0};
	struct ward_public_key own[OWN_KEYS];
	char head[64];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	if (n < 0 || !ward_attest_is(head, (size_t)n) ||
		ward_fd_read_all(fd, WARD_ATTEST_MAX, &b) < 0)
		return false;
	const struct ward_public_key *keys = v->c->keys;
	size_t n_keys = v->c->n_keys;
	if (n_keys == 0 && ward_attest_session(b.data, b.len, name)) {
		keys = own;
		n_keys = host_keys(v, name, own);
	}
	ward_attest_check(b.data, b.len, keys, n_keys, &res, name, &says);
	if (beside && !audit_verdicts_beside(&v->verdicts, &res))
		audit_bundle_attests(beside, says, &res);
	json_decref(says);
	snprintf(both, sizeof(both), "%s%s", name[0] ? name : "attestation",
		beside ? ATTESTATION : "");
	report(v, both, &res);
	return true;
}

/*
 * A trail elsewhere: its first line names the session. notes_fd -1: there are no
 * checkpoints.
 */
static int verify_foreign(struct verify *v, const char *path, struct ward_log *log, int notes_fd,
	struct ward_err *err)
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	struct ward_lines_line text = {0};
	struct ward_line l;
	char name[WARD_SESSION_NAME_MAX + 1];
	int r = ward_lines_open(&lines, log, 0);
	if (r == 0)
		r = ward_lines_next(&lines, &text);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	bool known = r == 1 && ward_line_parse(text.p, text.len, &l) == 0;
	r = v->c->checkpoints ? read_kept(v, &notes, err) : read_notes(notes_fd, path, &notes, err);
	if (r < 0)
		return r;
	if (known)
		snprintf(name, sizeof(name), "%.*s", (int)l.session_len, l.session);
	else if (v->c->n_keys && notes.n > 0)
		snprintf(name, sizeof(name), "%s", notes.v[0].session);
	else
		return ward_err_set(err, -EBADMSG,
			"%s: the first line is not a record, so the session is unknown", path);
	if (v->c->checkpoints && (r = keep_session(v, name, &notes, err)) < 0)
		return r;
	/* Of another host, whose key was enrolled: as with --key. */
	if (v->c->n_keys == 0 && notes.n > 0 && !ward_ledger_view_find(&v->ledger, name))
		audit_keys_enrolled(v->c, &v->ledger, ward_buf_str(&v->chain), notes.v[0].key_id);
	/* With the ledger's alone, what the ledger says of the trail is what counts. */
	bool seen = v->c->checkpoints ? notes.n > 0 : notes_fd >= 0;
	return verify_log(v, log, name, false, seen ? &notes : NULL, err);
}

/* A bundle as it came: its trail, and its attestation. Its keys came with the rest: they prove
 * nothing. */
static int verify_bundle(
	struct verify *v, const char *path, struct audit_tar *t, struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	struct ward_verify_result res = {0};
	if (t->checkpoints < 0 && v->c->n_keys && !v->c->checkpoints)
		return ward_err_set(err, -ENOENT, "%s contains no checkpoints", path);
	int r = ward_log_open_files(t->v, t->n, &log);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	r = audit_bundle_policies(t, log, &res, err);
	if (r == 0)
		r = keep(v, t->dir, &res, err);
	if (r == 0)
		r = audit_bundle_chain(v->c, t, &v->chain, &res, err);
	if (r == 0)
		r = keep(v, t->dir, &res, err);
	if (r == 0)
		r = verify_foreign(v, path, log, t->checkpoints, err);
	if (r == 0 && t->attestation >= 0 && !verify_attestation(v, t->attestation, log))
		r = ward_err_set(err, -EBADMSG, "%s: its attestation is not valid", path);
	return r;
}

static int verify_file(struct verify *v, const char *path, struct ward_err *err)
{
	ward_cleanup(audit_tar_clear) struct audit_tar tar = AUDIT_TAR_INIT;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup_fd int notes_fd = -1;
	ward_cleanup_fd int fd = -1;
	int r = ward_fd_open_named(path, WARD_NAMED_FILE, &fd, err);
	if (r == -EISDIR)
		return ward_err_set(err, r,
			"%s is a directory; give the trail in it: %s%strail.jsonl", path, path,
			path[strlen(path) - 1] == '/' ? "" : "/");
	if (r < 0)
		return r;
	r = audit_tar_read(fd, path, &tar, err);
	if (r != 0)
		return r < 0 ? r : verify_bundle(v, path, &tar, err);
	if (!strchr(path, '/'))
		return ward_err_set(err, -EBADMSG, "%s: no archive", path);
	if (verify_entry(v, fd))
		return 0;
	if (v->c->has_ledger_key && !v->c->n_keys)
		return ward_err_set(err, -EINVAL,
			"%s is not a proof of an entry, and the key of a ledger verifies nothing "
			"else",
			path);
	if (verify_proof(v, fd) || verify_attestation(v, fd, NULL))
		return 0;
	r = audit_trail_open_segments(path, fd, &log);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	r = v->c->checkpoints ? 0 : open_notes(v, path, &notes_fd, err);
	return r < 0 ? r : verify_foreign(v, path, log, notes_fd, err);
}

/* Checkpoints [from, to) of one session. */
static int verify_elsewhere(struct verify *v, const struct ward_checkpoint_list *notes, size_t from,
	size_t to, struct ward_err *err)
{
	const char *name = notes->v[from].session;
	const struct ward_ledger_session *known = ward_ledger_view_find(&v->ledger, name);
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	struct ward_verify_result res = {.state = WARD_VERIFY_MISSING};
	if (known && !known->lost && (known->removed || known->expired))
		return 0;
	int r = ward_store_open_log(v->c->store, name, &log, err);
	if (r == 0)
		r = ward_verify_anchored(log, notes, from, to, &res, err);
	if (r < 0 && r != -ENOENT)
		return r;
	if (!v->c->n_keys && (!known || !known->started)) {
		res.state = WARD_VERIFY_MISSING;
		snprintf(res.text, sizeof(res.text),
			"a checkpoint that was kept elsewhere is of it, and the ledger does not "
			"know it: its entries were cut off");
	} else if (r == -ENOENT) {
		snprintf(res.text, sizeof(res.text), "the trail is missing");
	}
	return keep(v, name, &res, err);
}

/* Is the note signed by a key that counts here: those given, else this host's? */
static bool counts(const struct verify *v, const struct ward_public_key *own,
	const struct ward_checkpoint *note, const char *text)
{
	for (size_t i = 0; i < v->c->n_keys; i++)
		if (ward_checkpoint_verify(note, text, &v->c->keys[i]))
			return true;
	return !v->c->n_keys && ward_anchored_ours(&v->ledger, own, note, text);
}

/* The present key's public half. False: there is none. */
static bool own_key(struct verify *v, struct ward_public_key *ret)
{
	struct ward_signing_key own = {0};
	uint8_t seed[WARD_KEY_BYTES];
	if (v->c->n_keys || ward_store_read_seed(v->c->store, seed, NULL) < 0)
		return false;
	ward_signing_key_from_seed(seed, &own);
	*ret = own.pub;
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(own.secret, sizeof(own.secret));
	return true;
}

/* --checkpoints with one session: is everything here that they say of it? */
static int verify_kept(struct verify *v, const char *name, struct ward_err *err)
{
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	struct ward_verify_result res = {.state = WARD_VERIFY_FOREIGN};
	struct ward_public_key own;
	size_t n = 0;
	int r = v->c->checkpoints ? read_kept(v, &notes, err) : -ENOENT;
	if (!v->c->checkpoints)
		return 0;
	if (r == 0)
		r = keep_session(v, name, &notes, err);
	if (r < 0)
		return r;
	bool has = own_key(v, &own);
	for (size_t i = 0; i < notes.n; i++)
		if (counts(v, has ? &own : NULL, &notes.v[i], notes.text.data + notes.offset[i]))
			notes.v[n++] = notes.v[i];
	if (n < notes.n || v->ledger_foreign > 0) {
		snprintf(res.text, sizeof(res.text),
			"%zu of %zu checkpoints of %s, and %zu of the ledger, are signed by keys "
			"that do not count here",
			notes.n - n, notes.n, name, v->ledger_foreign);
		r = keep(v, "checkpoints", &res, err);
	}
	return r == 0 && n ? verify_elsewhere(v, &notes, 0, n, err) : r;
}

static int verify_one(struct verify *v, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	/* A session that is gone is still known to the ledger. */
	int r = v->c->n_keys ? audit_trail_meant(v->c, &name, err)
			     : audit_trail_known(v->c, &name, err);
	if (r == 0 && v->c->n_keys) {
		r = verify_kept(v, name, err);
		return r < 0 ? r : verify_session(v, name, err);
	}
	if (r == 0)
		r = verify_kept(v, name, err);
	if (r < 0)
		return r;
	r = verify_session(v, name, err);
	/* The verdict rests on the ledger. */
	if (r == 0 && v->ledger.result.state != WARD_VERIFY_INTACT)
		report(v, LEDGER, &v->ledger.result);
	return r;
}

/* As or_unread(), of a source besides the trail itself. */
static int keep_unread(struct verify *v, const char *name, int r, struct ward_err *err)
{
	struct ward_verify_result res = {0};
	if (r == 0 || r == -ENOMEM)
		return r;
	ward_verify_say(&res, WARD_VERIFY_UNREAD, 0, "%s", err->text);
	*err = WARD_ERR_INIT;
	return keep(v, name, &res, err);
}

/* --all with checkpoints that were kept elsewhere: is everything here that they speak of? */
static int verify_anchored(struct verify *v, struct ward_err *err)
{
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	struct ward_verify_result res = {.state = WARD_VERIFY_FOREIGN};
	struct ward_public_key own;
	int r = read_kept(v, &notes, err);
	char first[WARD_KEY_NAME_MAX + 4] = ""; /* " (NAME)" */
	size_t foreign = v->ledger_foreign;
	const size_t all = notes.n + v->ledger_kept + v->ledger_foreign;
	bool has = r == 0 && own_key(v, &own);
	for (size_t i = 0, to = 0; r == 0 && i < notes.n; i = to) {
		size_t good = i;
		for (to = i; to < notes.n && strcmp(notes.v[to].session, notes.v[i].session) == 0;
			to++) {
			bool ours = ward_anchored_ours(&v->ledger, has ? &own : NULL, &notes.v[to],
				notes.text.data + notes.offset[to]);
			if (!ours && !*first)
				snprintf(first, sizeof(first), " (%s)", notes.v[to].key_name);
			foreign += !ours;
			if (!ours)
				continue;
			notes.v[good] = notes.v[to];
			good++;
		}
		if (good > i)
			r = keep_unread(v, notes.v[i].session,
				verify_elsewhere(v, &notes, i, good, err), err);
	}
	if (r == 0 && foreign > 0) {
		snprintf(res.text, sizeof(res.text),
			"keys of other hosts signed %zu of %zu, or of another state directory%s. If "
			"you have one, give the checkpoints of each by themselves, with --state",
			foreign, all, first);
		r = keep(v, "checkpoints", &res, err);
	}
	return r;
}

static int run_verify(struct audit_cmd *c, struct ward_err *err)
{
	struct verify v = {
		.c = c, .verdicts = {.json = c->json, .system = c->system, .all = json_array()}};
	/* Without a further key this host's own would judge. */
	const bool given = c->n_keys > 0;
	const bool entry = c->has_ledger_key && !c->n_keys;
	int r = c->n_keys || entry ? 0 : ward_store_read_key(c->store, v.root, err);
	if (entry && !audit_verb_is_file(c->session))
		r = ward_err_set(err, -EINVAL,
			"the key of a ledger verifies proofs of its entries: name a FILE");
	if (r == -EACCES && c->system)
		r = audit_keys_system(c, err);
	if (r == 0 && c->verified)
		r = audit_verified_read(c->verified, c->digest, &v.before, err);
	if (r == 0 && c->n_keys == 0 && !entry)
		r = audit_verified_ledger(
			c, v.root, &v.before, &v.now, &v.ledger, &v.next, &v.resumed, err);
	v.unchanged = v.resumed ? v.before.n : 0;
	if (r == 0 && c->all && c->checkpoints && c->n_keys)
		r = ward_err_set(err, -EINVAL,
			"--all with --checkpoints compares them with the ledger: leave --key out");
	if (r == 0 && c->all) {
		r = c->checkpoints ? verify_anchored(&v, err) : 0;
		if (r == 0)
			r = verify_all(&v, err);
		if (r == 0)
			r = verify_cosigned(&v, err);
	} else if (r == 0 && audit_verb_is_file(c->session)) {
		/* It says which keys count. */
		bool by_ledger =
			c->n_keys == 0 && !entry && v.ledger.result.state != WARD_VERIFY_INTACT;
		r = verify_file(&v, c->session, err);
		if (r == 0 && by_ledger)
			report(&v, LEDGER, &v.ledger.result);
	} else if (r == 0)
		r = verify_one(&v, err);
	if (r == 0)
		audit_verdicts_rest(&v.verdicts);
	if (r == 0 && c->json)
		ward_print_json(json_incref(v.verdicts.all));
	if (r == 0 && v.verdicts.unread)
		r = ward_err_set(err, -EIO, "%zu could not be read", v.verdicts.unread);
	if (r == 0 && given && v.verdicts.foreign)
		ward_say(
			"if the other host has rotated its key since, let it print the rotations with "
			"'wardfs audit key chain', and give both: --key KEY --key CHAIN");
	const bool bad = v.verdicts.bad;
	audit_verdicts_clear(&v.verdicts);
	ward_ledger_view_free(&v.ledger);
	audit_verified_free(&v.before);
	ward_ledger_resume_clear(&v.next);
	ward_buf_clear(&v.now);
	ward_buf_clear(&v.chain);
	ward_chain_wipe(v.root, sizeof(v.root));
	return r < 0 ? r : bad;
}

/* --- on the command line --- */

static const struct argp_option verify_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{"all", AUDIT_OPTION_ALL, NULL, 0,
		"Verify the ledger and all its sessions. With --key: all trails in the directory, and "
		"with the ledger's key also the ledger",
		0},
	{"key", AUDIT_OPTION_KEY, "KEY", 0,
		"Verify with checkpoints and public keys alone. KEY is a line that 'wardfs "
		"audit key show' prints, or a file of such lines; repeats",
		0},
	{"verified", AUDIT_OPTION_VERIFIED, "FILE", 0,
		"With --all: skip trails that FILE lists as intact and that have not changed "
		"since. wardfs creates and updates FILE",
		0},
	{"digest", AUDIT_OPTION_DIGEST, "SHA256", 0,
		"The SHA-256 of --verified FILE that the last run printed. If FILE has another "
		"one, verify fails",
		0},
	{"checkpoints", AUDIT_OPTION_CHECKPOINTS, "FILE", 0,
		"Compare with the checkpoints in FILE, which you kept elsewhere. With --all: "
		"for every session",
		0},
	{"witness", AUDIT_OPTION_WITNESS, "VKEY", 0,
		"With --all: also verify the checkpoints of the ledger that the witness with "
		"this key cosigned",
		0},
	{0},
};
const struct argp audit_verify_argp = {verify_options, audit_verb_parse, "[SESSION|FILE]",
	"Verifies that nobody changed a trail since wardfs wrote it. The answer is one of: "
	"intact, incomplete, gap, truncated, deleted, reordered, edited, missing, removed, "
	"expired, unstarted, foreign key. SESSION is a name, its unique beginning, or latest "
	"(the default). FILE, with a '/' or ending in .tar, is a trail in another place, a "
	"bundle, a proof or an attestation. wardfs takes keys and ledger from the state "
	"directory.\vExit status: 0; 1 a trail is not intact; 2 usage; 125 a trail cannot be "
	"read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb verify_verb = {
	.name = "verify",
	.argp = &audit_verify_argp,
	.words = "s",
	.run = run_verify,
};

int ward_audit_cmd_verify(int argc, char **argv)
{
	return audit_verb_call(&verify_verb, argc, argv);
}
