/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit key: the keys that sign checkpoints, of this host and of others. */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/write/ledger.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_keys.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/verbs.h"

#define NEEDS_KEY "a public key is needed, as 'wardfs audit key show' prints it"

static void print_keys(const struct audit_cmd *c, char (*keys)[WARD_VKEY_MAX], size_t n)
{
	json_t *all = json_array();
	for (size_t i = 0; i < n; i++) {
		if (c->json)
			json_array_append_new(all, json_string(keys[i]));
		else
			ward_outf("%s\n", keys[i]);
	}
	if (c->json)
		ward_print_json(json_incref(all));
	json_decref(all);
}

/* The key for a witness: that of the ledger's checkpoints. Its name is the log's origin. */
static int show_ledger(struct audit_cmd *c, struct ward_err *err)
{
	uint8_t root[WARD_KEY_BYTES];
	struct ward_tlog_key key;
	char text[WARD_NOTE_VKEY_MAX];
	int r = ward_store_read_key(c->store, root, err);
	if (r < 0)
		return r;
	ward_tlog_key_derive(root, &key);
	ward_chain_wipe(root, sizeof(root));
	ward_note_key_print(&key.pub, text);
	ward_chain_wipe(&key, sizeof(key));
	if (c->json)
		ward_print_json(json_pack("[s]", text));
	else
		ward_outf("%s\n", text);
	return 0;
}

/* The keys of a session, as the ledger has them; without a session the present one. */
static int run_show(struct audit_cmd *c, struct ward_err *err)
{
	char keys[2][WARD_VKEY_MAX];
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup_free char *name = NULL;
	if (c->ledger)
		return show_ledger(c, err);
	if (!c->session) {
		int r = audit_keys_present(c, keys[0], err);
		if (r == 0)
			print_keys(c, keys, 1);
		return r;
	}
	int r = audit_trail_meant(c, &name, err);
	/* The ledger names the keys of trails that are gone, too. */
	if (r == -ENOENT) {
		name = strdup(c->session);
		r = name ? 0 : ward_err_sys(err, -ENOMEM, "session");
	}
	if (r == 0)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, &ledger, err);
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		return r;
	const struct ward_ledger_session *s = ward_ledger_view_find(&ledger, name);
	for (size_t i = 0; s && i < s->n_keys; i++)
		ward_public_key_print(&s->keys[i], keys[i]);
	if (s && s->n_keys > 0)
		print_keys(c, keys, s->n_keys);
	else
		r = ward_err_set(err, -ENOENT, "the ledger names no key of %s", name);
	ward_ledger_view_free(&ledger);
	return r;
}

/* The old key says so itself: a verifier that trusts it can trust the new one. */
static int sign_rotation(const uint8_t seed[WARD_KEY_BYTES], const char *from, const char *to,
	char ret[WARD_SIGNATURE_TEXT_MAX])
{
	struct ward_signing_key key;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_ledger_rotate_text(&text, from, to);
	int r = ward_buf_error(&text);
	if (r < 0)
		return r;
	ward_signing_key_from_seed(seed, &key);
	ward_signing_key_sign(&key, text.data, text.len, ret);
	ward_chain_wipe(&key, sizeof(key));
	return 0;
}

/* Sessions that run keep the key that they have. */
static int run_rotate(struct audit_cmd *c, struct ward_err *err)
{
	char keys[2][WARD_VKEY_MAX];
	char signature[WARD_SIGNATURE_TEXT_MAX];
	uint8_t root[WARD_KEY_BYTES];
	uint8_t seed[WARD_KEY_BYTES];
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files ledger =
		WARD_LEDGER_FILES_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (c->system)
		return ward_err_set(err, -EPERM,
			"the system's writer cannot read a key that root makes; as its user, "
			"run: wardfs audit key rotate --state %s",
			ward_shell_quoted(&word, ward_store_path(c->store)));
	/* Of two at a time the second one's key follows the first one's. */
	int r = ward_store_lock(c->store, err);
	if (r == 0)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = ward_store_read_seed(c->store, seed, err);
	if (r == 0)
		r = audit_keys_present(c, keys[0], err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &ledger, err);
	if (r == 0)
		r = ward_store_rotate_seed(c->store, err);
	if (r == 0)
		r = audit_keys_present(c, keys[1], err);
	if (r == 0 && (r = sign_rotation(seed, keys[0], keys[1], signature)) < 0)
		(void)ward_err_sys(err, r, "key");
	if (r == 0)
		r = ward_ledger_rotate(&ledger, root, keys[0], keys[1], signature, err);
	ward_chain_wipe(root, sizeof(root));
	ward_chain_wipe(seed, sizeof(seed));
	if (r == 0)
		print_keys(c, keys + 1, 1);
	return r;
}

/* The new entry of the ledger: the key is valid, or no longer valid. */
static int note_key(struct audit_cmd *c, const char *kind, struct ward_err *err)
{
	char present[WARD_VKEY_MAX];
	uint8_t root[WARD_KEY_BYTES];
	struct ward_public_key k;
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files ledger =
		WARD_LEDGER_FILES_INIT;
	if (ward_public_key_parse(c->object, strlen(c->object), &k) < 0) {
		(void)audit_options_wrong(c, NEEDS_KEY, "");
		return 2;
	}
	int r = audit_keys_present(c, present, err);
	if (r == 0 && strcmp(present, c->object) == 0)
		return ward_err_set(err, -EINVAL, "this is the key that the host signs with%s",
			strcmp(kind, "revoke") == 0 ? ": wardfs audit key rotate first" : "");
	if (r == 0)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &ledger, err);
	if (r == 0)
		r = ward_ledger_key(&ledger, root, kind, c->object, getuid(), err);
	ward_chain_wipe(root, sizeof(root));
	return r;
}

static int run_enroll(struct audit_cmd *c, struct ward_err *err)
{
	return note_key(c, "enroll", err);
}

static int run_revoke(struct audit_cmd *c, struct ward_err *err)
{
	return note_key(c, "revoke", err);
}

/* What the ledger says of keys: those of other hosts, the revoked, and what gave way to what. */
static int run_list(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	char text[WARD_VKEY_MAX];
	json_t *all = json_array();
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, &v, err);
	ward_chain_wipe(root, sizeof(root));
	for (size_t i = 0; r == 0 && i < v.n_host_keys; i++) {
		ward_public_key_print(&v.host_keys[i], text);
		const char *until = v.host_keys[i].until;
		if (c->json)
			json_array_append_new(
				all, json_pack("{s:s, s:b, s:s?}", "key", text, "enrolled",
					     v.enrolled[i], "revoked", until[0] ? until : NULL));
		else
			ward_outf("%s %s%s\n", text, until[0] ? "revoked " : "enrolled", until);
	}
	if (r == 0 && c->json)
		ward_print_json(json_incref(all));
	json_decref(all);
	ward_ledger_view_free(&v);
	return r;
}

/* For who has an earlier key: a file for --key that leads from it to the present one. */
static int run_chain(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, &v, err);
	ward_chain_wipe(root, sizeof(root));
	for (size_t i = 0; r == 0 && i < v.n_rotations; i++)
		ward_outf("%s\n", v.rotations[i]);
	ward_ledger_view_free(&v);
	return r;
}

/* --- on the command line --- */

static const struct argp_option key_show_options[] = {
	{"json", 'j', NULL, 0, "One JSON array", 0},
	{"ledger", AUDIT_OPTION_LEDGER, NULL, 0,
		"Print the key that signs the ledger's checkpoints, for a witness", 0},
	{0},
};
static const struct argp audit_key_show_argp = {key_show_options, audit_verb_parse, "[SESSION]",
	"Prints the public key that verifies checkpoints: the current key, or the keys of a "
	"session.\vExit status: 0; 2 usage; 125 the key cannot be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb key_show_verb = {
	.name = "key show",
	.argp = &audit_key_show_argp,
	.words = "s",
	.run = run_show,
};

static int call_show(int argc, char **argv)
{
	return audit_verb_call(&key_show_verb, argc, argv);
}

static const struct argp_option key_rotate_options[] = {
	{"json", 'j', NULL, 0, "One JSON array", 0},
	{0},
};
static const struct argp audit_key_rotate_argp = {key_rotate_options, audit_verb_parse, NULL,
	"Replaces the signing key with a new one, and prints its public key. The ledger records "
	"the change, signed by the previous key.\vExit status: 0; 2 usage; 125 the key cannot "
	"be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb key_rotate_verb = {
	.name = "key rotate",
	.argp = &audit_key_rotate_argp,
	.words = "",
	.run = run_rotate,
};

static int call_rotate(int argc, char **argv)
{
	return audit_verb_call(&key_rotate_verb, argc, argv);
}

static const struct argp audit_key_chain_argp = {NULL, audit_verb_parse, NULL,
	"Prints a chain of signatures from earlier keys to the current key, as a file for "
	"verify --key.\vExit status: 0; 2 usage; 125 the key cannot be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb key_chain_verb = {
	.name = "key chain",
	.argp = &audit_key_chain_argp,
	.words = "",
	.run = run_chain,
};

static int call_chain(int argc, char **argv)
{
	return audit_verb_call(&key_chain_verb, argc, argv);
}

static const struct argp_option key_list_options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects", 0},
	{0},
};
static const struct argp audit_key_list_argp = {key_list_options, audit_verb_parse, NULL,
	"Lists enrolled keys of other hosts, and revoked keys.\vExit status: 0; 2 usage; 125 "
	"the ledger cannot be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb key_list_verb = {
	.name = "key list",
	.argp = &audit_key_list_argp,
	.words = "",
	.run = run_list,
};

static int call_list(int argc, char **argv)
{
	return audit_verb_call(&key_list_verb, argc, argv);
}

static const struct argp audit_key_enroll_argp = {NULL, audit_verb_parse, "KEY",
	"From now on trails, proofs and attestations of another host that are signed with "
	"KEY are taken without --key. KEY is what wardfs audit key show prints there.\vExit "
	"status: 0, 2 for wrong use, 125 if it could not be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb key_enroll_verb = {
	.name = "key enroll",
	.argp = &audit_key_enroll_argp,
	.words = "o",
	.need = 1,
	.lacks = NEEDS_KEY,
	.run = run_enroll,
};

static int call_enroll(int argc, char **argv)
{
	return audit_verb_call(&key_enroll_verb, argc, argv);
}

static const struct argp audit_key_revoke_argp = {NULL, audit_verb_parse, "KEY",
	"From now on what KEY signs counts for nothing; what was signed before stays as it "
	"was.\vExit status: 0, 2 for wrong use, 125 if it could not be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb key_revoke_verb = {
	.name = "key revoke",
	.argp = &audit_key_revoke_argp,
	.words = "o",
	.need = 1,
	.lacks = NEEDS_KEY,
	.run = run_revoke,
};

static int call_revoke(int argc, char **argv)
{
	return audit_verb_call(&key_revoke_verb, argc, argv);
}

int ward_audit_cmd_key(int argc, char **argv)
{
	static const struct ward_cli_verb verbs[] = {
		{"show", call_show, "wardfs audit key show",
			"print the current public key, or those of a session",
			&audit_key_show_argp},
		{"rotate", call_rotate, "wardfs audit key rotate",
			"replace the current key with a new one", &audit_key_rotate_argp},
		{"chain", call_chain, "wardfs audit key chain",
			"print the chain from earlier keys to the current key",
			&audit_key_chain_argp},
		{"list", call_list, "wardfs audit key list", "list enrolled and revoked keys",
			&audit_key_list_argp},
		{"enroll", call_enroll, "wardfs audit key enroll",
			"trust the signatures of another host's key", &audit_key_enroll_argp},
		{"revoke", call_revoke, "wardfs audit key revoke",
			"distrust what a key signs from now on", &audit_key_revoke_argp},
	};
	static const struct ward_cli_verbs all = {"wardfs audit key",
		"Manages the keys that sign checkpoints.\n", verbs, sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
