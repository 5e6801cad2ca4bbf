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
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_keys.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

struct verify {
	struct audit_cmd *c;
	uint8_t root[WARD_KEY_BYTES];
	struct ward_ledger_view ledger;
	json_t *all;
	bool bad; /* something is not intact */
	size_t unread;
};

static void report(struct verify *v, const char *name, const struct ward_verify_result *r)
{
	const char *state = ward_verify_state_name(r->state);
	if (r->state != WARD_VERIFY_INTACT && r->state != WARD_VERIFY_UNSTARTED &&
		r->state != WARD_VERIFY_REMOVED && r->state != WARD_VERIFY_EXPIRED)
		v->bad = true;
	if (v->c->json) {
		json_array_append_new(v->all,
			json_pack("{s:s, s:s, s:I, s:o, s:b, s:s}", "name", name, "state", state,
				"records", (json_int_t)r->records, "first_bad",
				r->first_bad ? json_integer((json_int_t)r->first_bad) : json_null(),
				"running", r->running, "text", r->text));
		return;
	}
	ward_outf("%s: %s", name, state);
	if (r->first_bad)
		ward_outf(" at record %" PRIu64, r->first_bad);
	ward_outf("%s%s (%" PRIu64 " records good)\n", r->text[0] ? ": " : "", r->text, r->records);
}

/* notes NULL: the checkpoints are not looked at. */
static int verify_log(struct verify *v, struct ward_log *log, const char *name,
	const struct ward_checkpoint_list *notes, struct ward_err *err)
{
	struct ward_verify_result res = {0};
	int r = 0;
	if (v->c->n_keys)
		r = ward_verify_public(log, notes, v->c->keys, v->c->n_keys, &res, err);
	else
		r = ward_verify_trail(log, name, v->root, ward_ledger_view_find(&v->ledger, name),
			notes, &res, err);
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
		return verify_log(v, log, name, &notes, err);
	if (r != 0 && r != -ENOENT)
		return r;
	/* Without the ledger a checkpoint tells that there was something. */
	struct ward_verify_result res = {.state = WARD_VERIFY_MISSING};
	if (v->c->n_keys ? empty : !ward_ledger_view_find(&v->ledger, name))
		res.state = WARD_VERIFY_UNSTARTED;
	snprintf(res.text, sizeof(res.text), "the trail is not there");
	const struct ward_ledger_session *known = ward_ledger_view_find(&v->ledger, name);
	if (v->c->n_keys == 0 && known && known->lost) {
		snprintf(res.text, sizeof(res.text),
			"an earlier session had this name; its trail is not there");
	} else if (v->c->n_keys == 0 && known && known->removed) {
		res.state = WARD_VERIFY_REMOVED;
		snprintf(res.text, sizeof(res.text), "%s, by user %" PRIu64, known->removed_time,
			known->removed_by);
	} else if (v->c->n_keys == 0 && known && known->expired) {
		res.state = WARD_VERIFY_EXPIRED;
		snprintf(res.text, sizeof(res.text), "%s, kept as long as its policy wanted",
			known->expired_time);
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
	v->unread++;
	*err = WARD_ERR_INIT;
	return 0;
}

static int verify_any(struct verify *v, const char *name, struct ward_err *err)
{
	return or_unread(v, name, verify_session(v, name, err), err);
}

/*
 * Every session of the ledger, then those that only have a directory. With public keys the ledger
 * says nothing: those that have a directory.
 */
static int verify_all(struct verify *v, struct ward_err *err)
{
	struct ward_store_names names;
	if (v->c->n_keys == 0)
		report(v, "ledger", &v->ledger.result);
	int r = ward_store_list(v->c->store, &names, err);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < v->ledger.n; i++)
		r = verify_any(v, v->ledger.v[i].name, err);
	for (size_t i = 0; r == 0 && i < names.n; i++)
		if (!ward_ledger_view_find(&v->ledger, names.v[i]))
			r = verify_any(v, names.v[i], err);
	ward_store_names_free(&names);
	return r;
}

/* The checkpoints of a trail elsewhere. *ret_fd -1: there are none beside it. */
static int open_notes(struct verify *v, const char *path, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_free char *beside = NULL;
	const char *slash = strrchr(path, '/');
	if (asprintf(&beside, "%.*s/checkpoints", (int)(slash - path), path) < 0) {
		beside = NULL;
		return ward_err_sys(err, -ENOMEM, "checkpoints");
	}
	const char *name = v->c->checkpoints ? v->c->checkpoints : beside;
	*ret_fd = open(name, O_RDONLY | O_CLOEXEC);
	if (*ret_fd < 0 && (errno != ENOENT || v->c->checkpoints || v->c->n_keys))
		return ward_err_sys(err, -errno, "%s", name);
	return 0;
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

/* The same for an attestation. */
static bool verify_attestation(struct verify *v, int fd)
{
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
	ward_attest_check(b.data, b.len, keys, n_keys, &res, name, NULL);
	report(v, name[0] ? name : "attestation", &res);
	return true;
}

/* A first segment stands for those beside it too. */
static int open_segments(const char *path, int fd, struct ward_log **ret)
{
	const char *name = strrchr(path, '/') + 1;
	ward_cleanup_free char *dir = strndup(path, (size_t)(name - path));
	if (!dir)
		return -ENOMEM;
	if (strcmp(name, "trail.jsonl") != 0 && strcmp(name, "trail.jsonl.zst") != 0)
		return ward_log_open_file(fd, ret);
	ward_cleanup_fd int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir_fd < 0 ? -errno : ward_log_open(dir_fd, ret);
}

/* A trail elsewhere: its first line says of which session it is. */
static int verify_file(struct verify *v, const char *path, struct ward_err *err)
{
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (verify_proof(v, fd) || verify_attestation(v, fd))
		return 0;
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	struct ward_line l;
	char name[WARD_SESSION_NAME_MAX + 1];
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	int r = open_segments(path, fd, &log);
	if (r == 0)
		r = ward_lines_open(&lines, log, 0);
	if (r == 0)
		r = ward_lines_next(&lines, &text);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	ward_cleanup_fd int notes_fd = -1;
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	bool known = r == 1 && ward_line_parse(text.p, text.len, &l) == 0;
	r = open_notes(v, path, &notes_fd, err);
	if (r == 0)
		r = read_notes(notes_fd, path, &notes, err);
	if (r < 0)
		return r;
	if (known)
		snprintf(name, sizeof(name), "%.*s", (int)l.session_len, l.session);
	else if (v->c->n_keys && notes.n > 0)
		snprintf(name, sizeof(name), "%s", notes.v[0].session);
	else
		return ward_err_set(err, -EBADMSG,
			"%s: its first line is no record, so its session is not known", path);
	/* Of another host, whose key was enrolled: as with --key. */
	if (v->c->n_keys == 0 && notes.n > 0 && !ward_ledger_view_find(&v->ledger, name)) {
		struct ward_public_key *keys = v->c->keys;
		size_t n = ward_ledger_view_enrolled(&v->ledger, keys, WARD_VERIFY_KEYS_MAX);
		for (size_t i = 0; i < n && v->c->n_keys == 0; i++)
			if (memcmp(keys[i].id, notes.v[0].key_id, sizeof(keys[i].id)) == 0)
				v->c->n_keys = n;
	}
	return verify_log(v, log, name, notes_fd < 0 ? NULL : &notes, err);
}

static int verify_one(struct verify *v, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	/* A session that is gone is still known to the ledger. */
	int r = ward_store_find(v->c->store, v->c->session, &name, err);
	if (r == 0 && v->c->n_keys)
		return verify_session(v, name, err);
	if (r == -ENOENT && v->c->session && ward_ledger_view_find(&v->ledger, v->c->session)) {
		name = strdup(v->c->session);
		r = name ? 0 : -ENOMEM;
	}
	if (r < 0)
		return r;
	r = verify_session(v, name, err);
	/* The verdict rests on the ledger. */
	if (r == 0 && v->ledger.result.state != WARD_VERIFY_INTACT)
		report(v, "ledger", &v->ledger.result);
	return r;
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
	if (!known || !known->started) {
		res.state = WARD_VERIFY_MISSING;
		snprintf(res.text, sizeof(res.text),
			"a checkpoint that was kept elsewhere is of it, and the ledger does not "
			"know it: its entries were cut off");
	} else if (r == -ENOENT) {
		snprintf(res.text, sizeof(res.text), "the trail is not there");
	}
	if (res.state != WARD_VERIFY_INTACT)
		report(v, name, &res);
	return 0;
}

/* --all with checkpoints that were kept elsewhere: is everything here that they speak of? */
static int verify_anchored(struct verify *v, struct ward_err *err)
{
	ward_cleanup_fd int fd = open(v->c->checkpoints, O_RDONLY | O_CLOEXEC);
	ward_cleanup(ward_checkpoint_list_clear) struct ward_checkpoint_list notes = {0};
	struct ward_verify_result res = {.state = WARD_VERIFY_FOREIGN};
	struct ward_signing_key own = {0};
	uint8_t seed[WARD_KEY_BYTES];
	size_t foreign = 0;
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", v->c->checkpoints);
	int r = ward_anchored_read(fd, &notes, err);
	bool has = r == 0 && ward_store_read_seed(v->c->store, seed, NULL) == 0;
	if (has)
		ward_signing_key_from_seed(seed, &own);
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(own.secret, sizeof(own.secret));
	for (size_t i = 0, to = 0; r == 0 && i < notes.n; i = to) {
		size_t good = i;
		for (to = i; to < notes.n && strcmp(notes.v[to].session, notes.v[i].session) == 0;
			to++) {
			bool ours = ward_anchored_ours(&v->ledger, has ? &own.pub : NULL,
				&notes.v[to], notes.text.data + notes.offset[to]);
			foreign += !ours;
			if (!ours)
				continue;
			notes.v[good] = notes.v[to];
			good++;
		}
		if (good > i)
			r = or_unread(v, notes.v[i].session,
				verify_elsewhere(v, &notes, i, good, err), err);
	}
	if (r == 0 && foreign > 0) {
		snprintf(res.text, sizeof(res.text),
			"%zu of %zu are signed by keys that are none of this host's", foreign,
			notes.n);
		report(v, "checkpoints", &res);
	}
	return r;
}

static int run_verify(struct audit_cmd *c, struct ward_err *err)
{
	struct verify v = {.c = c, .all = json_array()};
	int r = c->n_keys ? 0 : ward_store_read_key(c->store, v.root, err);
	if (r == -EACCES && c->system)
		r = audit_keys_system(c, err);
	if (r == 0 && c->n_keys == 0)
		r = audit_ledger_read(c, v.root, &v.ledger, err);
	if (r == 0 && c->all && c->checkpoints && c->n_keys)
		r = ward_err_set(err, -EINVAL,
			"--all with --checkpoints compares them with the ledger: not with --key");
	if (r == 0 && c->all) {
		r = verify_all(&v, err);
		if (r == 0 && c->checkpoints)
			r = verify_anchored(&v, err);
	} else if (r == 0 && c->session && strchr(c->session, '/'))
		r = verify_file(&v, c->session, err);
	else if (r == 0)
		r = verify_one(&v, err);
	if (r == 0 && c->json)
		ward_print_json(json_incref(v.all));
	if (r == 0 && v.unread)
		r = ward_err_set(err, -EIO, "%zu could not be read", v.unread);
	json_decref(v.all);
	ward_ledger_view_free(&v.ledger);
	ward_chain_wipe(v.root, sizeof(v.root));
	return r < 0 ? r : v.bad;
}

/* --- on the command line --- */

static const struct argp_option verify_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{"all", AUDIT_OPTION_ALL, NULL, 0,
		"The ledger and all its sessions; with --key: all that are in the directory", 0},
	{"key", AUDIT_OPTION_KEY, "KEY", 0,
		"Verify with the checkpoints and public keys alone: KEY is what audit key show prints, or a "
		"file of such lines; repeats",
		0},
	{"checkpoints", AUDIT_OPTION_CHECKPOINTS, "FILE", 0,
		"Those of FILE (default: the file checkpoints beside the trail); with --all: any that were "
		"kept elsewhere, against what is here",
		0},
	{0},
};
const struct argp audit_verify_argp = {verify_options, audit_verb_parse, "[SESSION|FILE]",
	"Tells whether a trail is what its writer wrote: intact, or incomplete, gap, "
	"truncated, deleted, reordered, edited, missing, removed, expired, unstarted, "
	"foreign key. SESSION is a name, its unique beginning, or latest (the default). "
	"FILE, with a '/', is a trail elsewhere, a proof or an attestation; key and ledger "
	"are those of the state directory.\vExit status: 0, 1 if a trail is not intact, 2 "
	"for wrong use, 125 if one could not be read.",
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
