/* SPDX-License-Identifier: Apache-2.0 */
/* Public keys: those that verify is given, and those of the host. */
#include "enforcer/cli/audit/audit_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/write/ledger.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/base/say.h"

static bool add_key(struct audit_cmd *c, const char *text, size_t len)
{
	if (c->n_keys == WARD_VERIFY_KEYS_MAX ||
		ward_public_key_parse(text, len, &c->keys[c->n_keys]) < 0)
		return false;
	c->n_keys++;
	return true;
}

static bool has_key(const struct audit_cmd *c, const struct ward_public_key *k)
{
	for (size_t i = 0; i < c->n_keys; i++)
		if (memcmp(c->keys[i].key, k->key, sizeof(k->key)) == 0)
			return true;
	return false;
}

/*
 * "FROM TO SIGNATURE", where the signature is FROM's. False: another one, which is no line of a
 * file of keys.
 */
static bool read_rotation(
	const char *line, size_t len, struct ward_public_key *ret_from, char to[WARD_VKEY_MAX])
{
	char from[WARD_VKEY_MAX];
	char signature[WARD_SIGNATURE_TEXT_MAX];
	char copy[WARD_ROTATION_MAX];
	int end = 0;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	if (len >= sizeof(copy))
		return false;
	snprintf(copy, sizeof(copy), "%.*s", (int)len, line);
	if (sscanf(copy, "%79s %79s %91s%n", from, to, signature, &end) != 3 ||
		(size_t)end != len || ward_public_key_parse(from, strlen(from), ret_from) < 0)
		return false;
	ward_ledger_rotate_text(&text, from, to);
	return ward_public_key_check(ret_from, text.data, text.len, signature);
}

/* TO counts as FROM does. One that leads from a key that was not given is passed over. */
static bool add_rotation(struct audit_cmd *c, const char *line, size_t len)
{
	char to[WARD_VKEY_MAX];
	struct ward_public_key k;
	if (!read_rotation(line, len, &k, to))
		return false;
	if (!has_key(c, &k))
		return true;
	if (ward_public_key_parse(to, strlen(to), &k) < 0)
		return false;
	/* A file can be given, and lie in the bundle. */
	return has_key(c, &k) || add_key(c, to, strlen(to));
}

/* Keys and rotations come in any order: as long as one of them leads to another key. */
static bool follow_rotations(struct audit_cmd *c)
{
	for (size_t had = SIZE_MAX; had != c->n_keys;) {
		had = c->n_keys;
		for (const char *p = ward_buf_str(&c->rotations); *p; p += strspn(p, "\n")) {
			const size_t len = strcspn(p, "\n");
			if (!add_rotation(c, p, len))
				return false;
			p += len;
		}
	}
	return true;
}

static bool keep_rotation(struct audit_cmd *c, const char *arg, const char *line, size_t len)
{
	char to[WARD_VKEY_MAX];
	struct ward_public_key from;
	if (!read_rotation(line, len, &from, to))
		return false;
	ward_buf_add(&c->rotations, line, len);
	ward_buf_putc(&c->rotations, '\n');
	c->rotations_of = arg;
	return ward_buf_error(&c->rotations) == 0;
}

/* The one key of a ledger. */
static bool take_ledger(struct audit_cmd *c, const char *text, size_t len)
{
	if (c->has_ledger_key || ward_note_key_parse(text, len, &c->ledger_key) < 0 ||
		c->ledger_key.type != WARD_NOTE_ED25519)
		return false;
	c->has_ledger_key = true;
	return true;
}

bool audit_keys_take(struct audit_cmd *c, const char *arg)
{
	if (ward_chain_setup() < 0)
		return false;
	if (add_key(c, arg, strlen(arg)))
		return follow_rotations(c);
	if (take_ledger(c, arg, strlen(arg)))
		return true;
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (ward_fd_open_named(arg, WARD_NAMED_PIPE, &fd, NULL) < 0 ||
		ward_fd_read_all(fd, AUDIT_KEYS_FILE_MAX, &b) < 0)
		return false;
	const char *p = ward_buf_str(&b);
	size_t n = 0;
	for (; *p; p += strspn(p, "\n"), n++) {
		size_t len = strcspn(p, "\n");
		if (memchr(p, ' ', len) ? !keep_rotation(c, arg, p, len)
					: !add_key(c, p, len) && !take_ledger(c, p, len))
			return false;
		p += len;
	}
	return n > 0 && follow_rotations(c);
}

const char *audit_keys_lacking(const struct audit_cmd *c)
{
	return c->n_keys == 0 ? c->rotations_of : NULL;
}

bool audit_keys_lead(struct audit_cmd *c, const char *rotations)
{
	for (const char *p = rotations; *p && c->n_keys < WARD_VERIFY_KEYS_MAX;
		p += strspn(p, "\n")) {
		const size_t len = strcspn(p, "\n");
		if (!add_rotation(c, p, len))
			return false;
		p += len;
	}
	return true;
}

void audit_keys_enrolled(struct audit_cmd *c, const struct ward_ledger_view *v,
	const char *rotations, const uint8_t id[4])
{
	c->n_keys = ward_ledger_view_enrolled(v, c->keys, WARD_VERIFY_KEYS_MAX);
	if (!audit_keys_lead(c, rotations))
		c->n_keys = 0;
	for (size_t i = 0; i < c->n_keys; i++)
		if (memcmp(c->keys[i].id, id, sizeof(c->keys[i].id)) == 0)
			return;
	c->n_keys = 0;
}

int audit_keys_system(struct audit_cmd *c, struct ward_err *err)
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

int audit_keys_present(struct audit_cmd *c, char ret[WARD_VKEY_MAX], struct ward_err *err)
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
