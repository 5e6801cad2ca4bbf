/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit key, and the keys that verify is given */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/ledger.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"

/* A file of public keys is no longer. */
#define KEY_FILE_MAX 65536

static bool add_key(struct audit_cmd *c, const char *text, size_t len)
{
	if (c->n_keys == WARD_VERIFY_KEYS_MAX ||
		ward_public_key_parse(text, len, &c->keys[c->n_keys]) < 0)
		return false;
	c->n_keys++;
	return true;
}

/*
 * "FROM TO SIGNATURE": TO counts as FROM does. One that leads from a key that was not given is
 * passed over; one whose signature does not hold is no line of a file of keys.
 */
static bool add_rotation(struct audit_cmd *c, const char *line, size_t len)
{
	char from[WARD_VKEY_MAX];
	char to[WARD_VKEY_MAX];
	char signature[WARD_SIGNATURE_TEXT_MAX];
	char copy[WARD_ROTATION_MAX];
	int end = 0;
	struct ward_public_key k;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	if (len >= sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, line);
	if (sscanf(copy, "%79s %79s %91s%n", from, to, signature, &end) != 3 ||
		(size_t)end != len || ward_public_key_parse(from, strlen(from), &k) < 0)
		return false;
	ward_ledger_rotate_text(&text, from, to);
	if (!ward_public_key_check(&k, text.data, text.len, signature))
		return false;
	for (size_t i = 0; i < c->n_keys; i++)
		if (memcmp(c->keys[i].key, k.key, sizeof(k.key)) == 0)
			return add_key(c, to, strlen(to));
	return true;
}

bool audit_cmd_add_key(struct audit_cmd *c, const char *arg)
{
	if (ward_chain_setup() < 0)
		return false;
	if (add_key(c, arg, strlen(arg)))
		return true;
	ward_cleanup_fd int fd = open(arg, O_RDONLY | O_CLOEXEC);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (fd < 0 || ward_fd_read_all(fd, KEY_FILE_MAX, &b) < 0)
		return false;
	const char *p = ward_buf_str(&b);
	size_t n = 0;
	for (; *p; p += strspn(p, "\n"), n++) {
		size_t len = strcspn(p, "\n");
		if (memchr(p, ' ', len) ? !add_rotation(c, p, len) : !add_key(c, p, len))
			return false;
		p += len;
	}
	return n > 0;
}

int audit_cmd_system_keys(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = ward_store_open_public_keys(c->store, &fd, err);
	if (r < 0)
		return r;
	r = ward_fd_read_all(fd, WARD_STORE_KEYS_MAX, &b);
	if (r < 0)
		return ward_err_sys(err, r, "public keys");
	for (const char *p = ward_buf_str(&b); *p;) {
		size_t len = strcspn(p, "\n");
		(void)add_key(c, p, len);
		p += len + (p[len] == '\n');
	}
	if (c->n_keys == 0)
		return ward_err_set(err, -ENOENT, "there is no public key yet");
	ward_sayf(
		"the root key is the system's: trails are verified by their checkpoints and the "
		"public keys beside them; root verifies the rest (wardfs audit verify --owner %u)",
		(unsigned)c->owner);
	return 0;
}

int audit_cmd_present_key(struct audit_cmd *c, char ret[WARD_VKEY_MAX], struct ward_err *err)
{
	uint8_t seed[WARD_KEY_BYTES];
	struct ward_signing_key key;
	int r = ward_store_read_seed(c->store, seed, err);
	if (r < 0)
		return r;
	ward_signing_key_from_seed(seed, &key);
	ward_public_key_print(&key.pub, ret);
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(&key, sizeof(key));
	return 0;
}

static void print_keys(const struct audit_cmd *c, char (*keys)[WARD_VKEY_MAX], size_t n)
{
	json_t *all = json_array();
	for (size_t i = 0; i < n; i++) {
		if (c->json)
			json_array_append_new(all, json_string(keys[i]));
		else
			puts(keys[i]);
	}
	if (c->json) {
		json_dumpf(all, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(all);
}

/* The keys of a session, as the ledger has them; without a session the present one. */
static int show(struct audit_cmd *c, struct ward_err *err)
{
	char keys[2][WARD_VKEY_MAX];
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup_free char *name = NULL;
	if (!c->session) {
		int r = audit_cmd_present_key(c, keys[0], err);
		if (r == 0)
			print_keys(c, keys, 1);
		return r;
	}
	int r = ward_store_find(c->store, c->session, &name, err);
	/* The ledger names the keys of trails that are gone, too. */
	if (r == -ENOENT) {
		name = strdup(c->session);
		r = name ? 0 : ward_err_sys(err, -ENOMEM, "session");
	}
	if (r == 0)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_cmd_ledger(c, root, &ledger, err);
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

/* The old key says so itself: whoever trusts it can trust the new one. */
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
static int rotate(struct audit_cmd *c, struct ward_err *err)
{
	char keys[2][WARD_VKEY_MAX];
	char signature[WARD_SIGNATURE_TEXT_MAX];
	uint8_t root[WARD_KEY_BYTES];
	uint8_t seed[WARD_KEY_BYTES];
	ward_cleanup_fd int ledger = -1;
	/* Of two at a time the second one's key follows the first one's. */
	int r = ward_store_lock(c->store, err);
	if (r == 0)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = ward_store_read_seed(c->store, seed, err);
	if (r == 0)
		r = audit_cmd_present_key(c, keys[0], err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &ledger, err);
	if (r == 0)
		r = ward_store_rotate_seed(c->store, err);
	if (r == 0)
		r = audit_cmd_present_key(c, keys[1], err);
	if (r == 0 && (r = sign_rotation(seed, keys[0], keys[1], signature)) < 0)
		(void)ward_err_sys(err, r, "key");
	if (r == 0)
		r = ward_ledger_rotate(ledger, root, keys[0], keys[1], signature, err);
	ward_chain_wipe(root, sizeof(root));
	ward_chain_wipe(seed, sizeof(seed));
	if (r == 0)
		print_keys(c, keys + 1, 1);
	return r;
}

/* Of another host: from now on it is taken; or of whatever host, and is not any more. */
static int note_key(struct audit_cmd *c, const char *kind, struct ward_err *err)
{
	char present[WARD_VKEY_MAX];
	uint8_t root[WARD_KEY_BYTES];
	struct ward_public_key k;
	ward_cleanup_fd int ledger = -1;
	bool revoke = strcmp(kind, "revoke") == 0;
	if (!c->session || ward_public_key_parse(c->session, strlen(c->session), &k) < 0) {
		ward_sayf(
			"audit key %s: a public key is needed, as 'wardfs audit key show' prints it",
			kind);
		return 2;
	}
	int r = audit_cmd_present_key(c, present, err);
	if (r == 0 && strcmp(present, c->session) == 0)
		return ward_err_set(err, -EINVAL,
			revoke ? "this is the key that the host signs with: wardfs audit key rotate "
				 "first"
			       : "this is the key that the host signs with");
	if (r == 0)
		r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &ledger, err);
	if (r == 0)
		r = ward_ledger_key(ledger, root, kind, c->session, getuid(), err);
	ward_chain_wipe(root, sizeof(root));
	return r;
}

/* What the ledger says of keys: those of other hosts, the revoked, and what gave way to what. */
static int list(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	char text[WARD_VKEY_MAX];
	json_t *all = json_array();
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_cmd_ledger(c, root, &v, err);
	ward_chain_wipe(root, sizeof(root));
	for (size_t i = 0; r == 0 && i < v.n_host_keys; i++) {
		ward_public_key_print(&v.host_keys[i], text);
		const char *until = v.host_keys[i].until;
		if (c->json)
			json_array_append_new(
				all, json_pack("{s:s, s:b, s:s?}", "key", text, "enrolled",
					     v.enrolled[i], "revoked", until[0] ? until : NULL));
		else
			printf("%s %s%s\n", text, until[0] ? "revoked " : "enrolled", until);
	}
	if (r == 0 && c->json)
		ward_print_json(json_incref(all));
	json_decref(all);
	ward_ledger_view_free(&v);
	return r;
}

/* For who has an earlier key: a file for --key that leads from it to the present one. */
static int chain(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_cmd_ledger(c, root, &v, err);
	ward_chain_wipe(root, sizeof(root));
	for (size_t i = 0; r == 0 && i < v.n_rotations; i++)
		puts(v.rotations[i]);
	ward_ledger_view_free(&v);
	return r;
}

int audit_cmd_key(struct audit_cmd *c, struct ward_err *err)
{
	if (strcmp(c->object, "show") == 0)
		return show(c, err);
	if (strcmp(c->object, "rotate") == 0 && c->system)
		return ward_err_set(err, -EPERM,
			"a key that root made is none that the system's writer can read: as its user, "
			"wardfs audit key rotate --state %s",
			ward_store_path(c->store));
	if (strcmp(c->object, "rotate") == 0 && !c->session)
		return rotate(c, err);
	if (strcmp(c->object, "enroll") == 0 || strcmp(c->object, "revoke") == 0)
		return note_key(c, c->object, err);
	if (strcmp(c->object, "list") == 0 && !c->session)
		return list(c, err);
	if (strcmp(c->object, "chain") == 0 && !c->session)
		return chain(c, err);
	ward_sayf("audit key: show [SESSION], rotate, chain, list, enroll KEY, or revoke KEY");
	return 2;
}
