/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy means, as text and as a digest; and its sources as a blob.
 *
 * The meaning leaves out comments, spacing, files and lines. One line for each thing that holds:
 *
 *   wardfs policy 1
 *   set [section instance] key = value        in the order of the table of keys
 *   guard verb pattern                        sorted: guards know no order
 *   base|floor|project verb pattern           in order
 *
 * The blob is a message (ipc/msg.h) of type WARD_POLICY_BLOB: u32 n, then n times u32 kind,
 * str file, bytes text.
 */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"

/* "WPOL", so that no other message is taken for one. */
#define WARD_POLICY_BLOB 0x4c4f5057U

static int cmp_guards(const void *a, const void *b)
{
	const struct ward_rule *x = *(const struct ward_rule *const *)a;
	const struct ward_rule *y = *(const struct ward_rule *const *)b;
	if (x->verb != y->verb)
		return x->verb < y->verb ? -1 : 1;
	return strcmp(x->pattern, y->pattern);
}

static int put_guards(const struct ward_policy *p, struct ward_buf *b)
{
	ward_cleanup_free const struct ward_rule **v = calloc(p->n_rules + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	size_t n = 0;
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].guard)
			v[n++] = &p->rules[i];
	qsort(v, n, sizeof(*v), cmp_guards);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || cmp_guards(&v[i], &v[i - 1]) != 0)
			ward_buf_printf(
				b, "guard %s %s\n", ward_verb_name(v[i]->verb), v[i]->pattern);
	return 0;
}

int ward_policy_digest_fill(struct ward_policy *p, struct ward_err *err)
{
	static const char *const groups[] = {"base", "floor", "project"};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, "wardfs policy 1\n");
	for (size_t i = 0; i < p->n_trees; i++)
		ward_buf_printf(&b, "tree %s\n", p->trees[i]);
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (e->key->type == WARD_TYPE_VERSION || e->key->type == WARD_TYPE_EXTENDS ||
			e->key->type == WARD_TYPE_EXPECT)
			continue;
		ward_buf_printf(&b, "set [%s %s] %s = %s\n", e->key->section, e->instance,
			e->key->name, e->value);
	}
	int r = put_guards(p, &b);
	for (size_t i = 0; i < p->n_rules; i++)
		if (!p->rules[i].guard)
			ward_buf_printf(&b, "%s %s %s\n", groups[ward_rule_group(&p->rules[i])],
				ward_verb_name(p->rules[i].verb), p->rules[i].pattern);
	size_t len = b.len;
	p->meaning = r == 0 ? ward_buf_steal(&b) : NULL;
	if (!p->meaning)
		return ward_err_set(err, -ENOMEM, "out of memory");
	unsigned char hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256(hash, (const unsigned char *)p->meaning, len);
	sodium_bin2hex(p->digest, sizeof(p->digest), hash, sizeof(hash));
	return 0;
}

int ward_policy_encode(const struct ward_policy *p, struct ward_buf *ret_blob)
{
	struct ward_msg m;
	ward_msg_init(&m, WARD_POLICY_BLOB);
	ward_msg_put_u32(&m, (uint32_t)p->n_sources);
	for (size_t i = 0; i < p->n_sources; i++) {
		ward_msg_put_u32(&m, p->sources[i].kind);
		ward_msg_put_str(&m, p->sources[i].file);
		ward_msg_put_bytes(&m, p->sources[i].text, p->sources[i].len);
	}
	int r = ward_buf_error(&m.buf);
	if (r == 0) {
		ward_buf_add(ret_blob, m.buf.data, m.buf.len);
		r = ward_buf_error(ret_blob);
	}
	ward_msg_clear(&m);
	return r;
}

int ward_policy_decode(const void *blob, size_t len, struct ward_policy **ret, struct ward_err *err)
{
	struct ward_msg_reader rd;
	ward_msg_reader_init(&rd, blob, len);
	struct ward_source_text t[WARD_SOURCE_COUNT_] = {0};
	char *files[WARD_SOURCE_COUNT_] = {NULL};
	uint32_t n = ward_msg_get_u32(&rd);
	bool ok = rd.type == WARD_POLICY_BLOB && n < WARD_SOURCE_COUNT_;
	for (uint32_t i = 0; ok && i < n; i++) {
		uint32_t kind = ward_msg_get_u32(&rd);
		files[i] = ward_msg_get_str(&rd);
		t[i].text = ward_msg_get_bytes(&rd, &t[i].len);
		t[i].file = files[i];
		ok = files[i] && kind < WARD_SOURCE_COUNT_;
		t[i].kind = ok ? (enum ward_source_kind)kind : WARD_SOURCE_NONE;
	}
	int r = ok && ward_msg_done(&rd) == 0 ? 0 : -EBADMSG;
	if (r < 0)
		ward_err_set(err, r, "not a policy");
	else
		r = ward_policy_compile(t, n, ret, err);
	for (size_t i = 0; i < WARD_SOURCE_COUNT_; i++)
		free(files[i]);
	return r;
}
