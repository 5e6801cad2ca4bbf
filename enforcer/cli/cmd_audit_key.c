/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit key, and the keys that verify is given */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

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
		if (!add_key(c, p, len))
			return false;
		p += len;
	}
	return n > 0;
}

static int present_key(struct audit_cmd *c, char ret[WARD_VKEY_MAX], struct ward_err *err)
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
		int r = present_key(c, keys[0], err);
		if (r == 0)
			print_keys(c, keys, 1);
		return r;
	}
	int r = ward_store_find(c->store, c->session, &name, err);
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

/* Sessions that run keep the key that they have. */
static int rotate(struct audit_cmd *c, struct ward_err *err)
{
	char keys[2][WARD_VKEY_MAX];
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup_fd int ledger = -1;
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = present_key(c, keys[0], err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &ledger, err);
	if (r == 0)
		r = ward_store_rotate_seed(c->store, err);
	if (r == 0)
		r = present_key(c, keys[1], err);
	if (r == 0)
		r = ward_ledger_rotate(ledger, root, keys[0], keys[1], err);
	ward_chain_wipe(root, sizeof(root));
	if (r == 0)
		print_keys(c, keys + 1, 1);
	return r;
}

int audit_cmd_key(struct audit_cmd *c, struct ward_err *err)
{
	if (strcmp(c->object, "show") == 0)
		return show(c, err);
	if (strcmp(c->object, "rotate") == 0 && !c->session)
		return rotate(c, err);
	ward_sayf("audit key: show [SESSION], or rotate");
	return 2;
}
