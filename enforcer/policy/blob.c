/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy's sources as a blob, which travels to the helpers and into the trail, and back.
 *
 * The blob is a message (ipc/msg.h) of type WARD_POLICY_BLOB: u32 n, then n times u32 kind,
 * str file, bytes text.
 */
#include "enforcer/policy/diff.h"
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"

/* "WPOL", so that no other message is taken for one. */
#define WARD_POLICY_BLOB 0x4c4f5057U

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

static int decode(const void *blob, size_t len, unsigned parts, struct ward_policy **ret,
	struct ward_err *err)
{
	struct ward_msg_reader rd;
	ward_msg_reader_init(&rd, blob, len);
	struct ward_source_text t[WARD_SOURCE_COUNT_] = {0};
	char *files[WARD_SOURCE_COUNT_] = {NULL};
	uint32_t n = ward_msg_get_u32(&rd);
	bool ok = rd.type == WARD_POLICY_BLOB && n < WARD_SOURCE_COUNT_;
	int r = 0;
	for (uint32_t i = 0; ok && r == 0 && i < n; i++) {
		size_t n_file = 0;
		uint32_t kind = ward_msg_get_u32(&rd);
		const char *file = ward_msg_get_bytes(&rd, &n_file);
		t[i].text = ward_msg_get_bytes(&rd, &t[i].len);
		ok = kind < WARD_SOURCE_COUNT_ && !memchr(file, 0, n_file);
		t[i].kind = ok ? (enum ward_source_kind)kind : WARD_SOURCE_NONE;
		files[i] = strndup(file, n_file);
		t[i].file = files[i];
		if (!files[i])
			r = -ENOMEM;
	}
	if (r == 0 && (!ok || ward_msg_done(&rd) < 0))
		r = -EBADMSG;
	if (r < 0)
		ward_err_set(err, r, r == -ENOMEM ? "out of memory" : "not a policy");
	else
		r = ward_policy_compile_parts(t, n, parts, ret, err);
	for (size_t i = 0; i < WARD_SOURCE_COUNT_; i++)
		free(files[i]);
	return r;
}

int ward_policy_decode(const void *blob, size_t len, struct ward_policy **ret, struct ward_err *err)
{
	return decode(blob, len, WARD_POLICY_PATHS | WARD_POLICY_DIGEST, ret, err);
}

int ward_policy_decode_folded(
	const void *blob, size_t len, struct ward_policy **ret, struct ward_err *err)
{
	return decode(blob, len, WARD_POLICY_PATHS | WARD_POLICY_FOLD_ALL, ret, err);
}

int ward_policy_decode_network(
	const void *blob, size_t len, struct ward_policy **ret, struct ward_err *err)
{
	return decode(blob, len, WARD_POLICY_DIGEST, ret, err);
}

int ward_policy_widened(const struct ward_policy *p, const char *pattern, uint32_t rights,
	struct ward_policy **ret, struct ward_err *err)
{
	const enum ward_verb verb =
		rights & (WARD_RIGHT_WRITE | WARD_RIGHT_REMOVE | WARD_RIGHT_ATTR) ? WARD_VERB_WRITE
		: rights & (WARD_RIGHT_APPEND | WARD_RIGHT_CREATE)		  ? WARD_VERB_APPEND
										  : WARD_VERB_READ;
	struct ward_source_text t[WARD_SOURCE_COUNT_] = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	size_t base = p->n_sources;
	if (strpbrk(pattern, "\n\r") || p->n_sources > WARD_SOURCE_COUNT_)
		return ward_err_set(err, -EINVAL, "not a pattern");
	for (size_t i = 0; i < p->n_sources; i++) {
		t[i] = (struct ward_source_text){.kind = p->sources[i].kind,
			.file = p->sources[i].file,
			.text = p->sources[i].text,
			.len = p->sources[i].len};
		/* The profile, unless something stands on it. */
		if (t[i].kind == WARD_SOURCE_BASE ||
			(t[i].kind == WARD_SOURCE_PROFILE && base == p->n_sources))
			base = i;
	}
	if (base == p->n_sources)
		return ward_err_set(err, -EINVAL, "the policy has no base");
	ward_buf_add(&text, t[base].text, t[base].len);
	ward_buf_printf(&text, "\n[files]\n%s = %s\n", ward_verb_name(verb), pattern);
	if (ward_buf_error(&text) < 0)
		return ward_err_sys(err, -ENOMEM, "policy");
	t[base].text = text.data;
	t[base].len = text.len;
	return ward_policy_compile_parts(
		t, p->n_sources, WARD_POLICY_PATHS | WARD_POLICY_DIGEST, ret, err);
}
