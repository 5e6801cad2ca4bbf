/* SPDX-License-Identifier: Apache-2.0 */
/* Signs answers, and reads signed ones. */
#include "enforcer/cli/policy/approve_sign.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/verify/sshsig.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/policy/approve_show.h"
#include "enforcer/cli/run/token_file.h"
#include "enforcer/session/control/control.h"

static int say(const struct ward_err *err)
{
	ward_say(err->text);
	return err->code == -EINVAL ? 2 : 1;
}

/* --- the question --- */

/*
 * The text is shown on a terminal, and where it comes from is not known: it is as wardfs writes it,
 * with every control character escaped.
 */
static bool is_plain(const json_t *v)
{
	ward_cleanup(ward_buf_clear) struct ward_buf raw = WARD_BUF_INIT, again = WARD_BUF_INIT;
	const char *s = json_string_value(v);
	const size_t n = json_string_length(v);
	if (!s || ward_unescape(&raw, s, n) < 0)
		return false;
	ward_escape(&again, raw.data, raw.len);
	return ward_buf_error(&raw) == 0 && ward_buf_error(&again) == 0 && again.len == n &&
	       memcmp(ward_buf_str(&again), s, n) == 0;
}

static bool members_plain(json_t *o)
{
	const char *name = NULL;
	const json_t *v = NULL;
	json_object_foreach(o, name, v) if (json_is_object(v) || json_is_array(v) ||
					    (json_is_string(v) && !is_plain(v))) return false;
	return true;
}

/* Lists are of texts, or of paths that joined the question. */
static bool all_plain(json_t *o)
{
	const char *name = NULL;
	json_t *v = NULL, *one = NULL;
	size_t i = 0;
	json_object_foreach(o, name, v)
	{
		if (json_is_object(v) || (json_is_string(v) && !is_plain(v)))
			return false;
		json_array_foreach(v, i, one) if (json_is_object(one)
							  ? !members_plain(one)
							  : !is_plain(one)) return false;
	}
	return true;
}

/* Removes the members that the person did not see. False: the digest is not that of the rest. */
static bool take_digest(json_t *o, char ret[65])
{
	static const char *const others[] = {
		"digest", "digests", "waits", "left", "approvers", "signed"};
	json_t *shown = json_copy(o);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		json_object_del(shown, others[i]);
	const bool ok = shown && ward_shown_digest(shown, ret) == 0 &&
			strcmp(ward_approve_member(o, "digest"), ret) == 0;
	json_decref(shown);
	return ok;
}

static int read_text(const char *path, size_t max, struct ward_buf *ret, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	const bool in = strcmp(path, "-") == 0;
	int r = in ? 0 : ward_fd_open_named(path, WARD_NAMED_PIPE, &fd, err);
	if (r < 0)
		return r;
	r = ward_fd_read_all(in ? STDIN_FILENO : fd, max, ret);
	return r < 0 ? ward_err_sys(err, r, "%s", in ? "stdin" : path) : 0;
}

/* *ret: the question, of an array of one too. */
static int read_question(const char *path, json_t **ret, char digest[65], struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = read_text(path, WARD_CONTROL_MAX, &b, err);
	if (r < 0)
		return r;
	json_t *o = json_loadb(ward_buf_str(&b), b.len, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_array(o) && json_array_size(o) == 1) {
		json_t *one = json_incref(json_array_get(o, 0));
		json_decref(o);
		o = one;
	}
	if (!json_is_object(o) || !*ward_approve_member(o, "question") || !all_plain(o))
		r = ward_err_set(err, -EBADMSG,
			"%s: this is not one question as 'wardfs approve --json QUESTION' prints it",
			path);
	else if (!take_digest(o, digest))
		r = ward_err_set(err, -EBADMSG,
			"%s: the digest is not that of the question: it was changed on its way",
			path);
	if (r == 0)
		*ret = o;
	else
		json_decref(o);
	return r;
}

/* --- signing --- */

static int write_out(const char *path, const struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup(ward_output_drop) struct ward_output out = WARD_OUTPUT_INIT;
	int r = ward_output_begin(path, 0644, false, &out, err);
	if (r == 0 && (r = ward_fd_write_all(out.fd, b->data, b->len)) < 0)
		ward_err_sys(err, r, "%s", path);
	return r == 0 ? ward_output_finish(&out, err) : r;
}

static int sign_with(const char *path, struct ward_buf *b, struct ward_err *err)
{
	struct ward_signing_key key;
	int r = ward_token_key_read(path, &key, err);
	if (r == 0 && (r = ward_signed_answer_sign(b, &key)) < 0)
		ward_err_sys(err, r, "answer");
	ward_chain_wipe(&key, sizeof(key));
	return r;
}

static void show(const struct ward_approve_sign *s, const struct ward_signed_words *w)
{
	char until[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(w->until_s * WARD_NS_PER_SEC, until);
	ward_outf("    %s  %s", s->key ? "you sign: " : "to sign:  ", w->answer);
	if (w->seconds)
		ward_outf(" %llu s", (unsigned long long)w->seconds);
	if (w->pattern)
		ward_outf(" %s", w->pattern);
	ward_outf(", good until %.19sZ\n", until);
}

int ward_approve_sign(const struct ward_approve_sign *s)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_signed_words w = s->words;
	struct ward_err err = WARD_ERR_INIT;
	char digest[65];
	json_t *q = NULL;
	int r = ward_chain_setup() < 0 ? ward_err_set(&err, -EIO, "libsodium cannot be used")
				       : read_question(s->question, &q, digest, &err);
	if (r < 0)
		return say(&err);
	ward_approve_show(q);
	if (w.answer) {
		w.until_s = ward_clock_real_ns() / WARD_NS_PER_SEC + s->valid_s;
		r = ward_signed_answer_text(q, digest, &w, &b, &err);
		if (r == 0 && s->key)
			r = sign_with(s->key, &b, &err);
		if (r == 0)
			r = write_out(s->output, &b, &err);
		if (r == 0)
			show(s, &w);
	}
	json_decref(q);
	return r < 0 ? say(&err) : 0;
}

/* --- handing in --- */

/* Two lines, and nothing behind them. */
static bool has_signature(const struct ward_buf *b)
{
	const char *text = ward_buf_str(b), *nl = strchr(text, '\n');
	nl = nl ? strchr(nl + 1, '\n') : NULL;
	return nl && nl[1];
}

bool ward_approve_signed_file(const char *path, json_t *list)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT, beside = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	int r = read_text(path, WARD_SIGNED_ANSWER_MAX, &b, &err);
	if (r == 0 && !has_signature(&b)) {
		ward_buf_printf(&name, "%s.sig", path);
		r = ward_buf_error(&name) < 0
			    ? ward_err_sys(&err, -ENOMEM, "%s", path)
			    : read_text(ward_buf_str(&name), WARD_SIGNED_ANSWER_MAX, &beside, &err);
		if (r == 0)
			ward_buf_add(&b, beside.data, beside.len);
	}
	if (r == 0 && json_array_append_new(list, json_stringn(ward_buf_str(&b), b.len)) < 0)
		r = ward_err_set(&err, -EBADMSG, "%s: this is not an answer of wardfs", path);
	if (r < 0)
		ward_say(err.text);
	return r == 0;
}
