/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review sign: this change, tested so, by whom. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/verify/signed_change.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/cli/review/review_evidence.h"
#include "enforcer/cli/review/review_record.h"
#include "enforcer/cli/run/token_file.h"

static int read_named(const char *path, struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	int r = ward_fd_open_named(path, WARD_NAMED_PIPE, &fd, err);
	if (r == 0 && (r = ward_fd_read_all(fd, WARD_SIGNED_CHANGE_MAX, b)) < 0)
		r = ward_err_sys(err, r, "%s", path);
	return r;
}

/* Two lines and a signature; of two lines alone that of PATH.sig, as ssh-keygen(1) writes it. */
static int read_signed(const char *path, struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	int r = read_named(path, b, err);
	if (r < 0)
		return r;
	const char *nl = strchr(ward_buf_str(b), '\n');
	nl = nl ? strchr(nl + 1, '\n') : NULL;
	if (!nl || nl[1])
		return 0;
	ward_buf_printf(&name, "%s.sig", path);
	return ward_buf_error(&name) < 0 ? ward_err_sys(err, -ENOMEM, "%s", path)
					 : read_named(ward_buf_str(&name), b, err);
}

static int sign_with(const char *path, struct ward_buf *b, struct ward_err *err)
{
	struct ward_signing_key key;
	int r = ward_token_key_read(path, &key, err);
	if (r == 0 && (r = ward_signed_text_sign(b, &key)) < 0)
		ward_err_sys(err, r, "signature");
	ward_chain_wipe(&key, sizeof(key));
	return r;
}

/* What is signed, before it is. */
static void show(const struct ward_review_meant *m, const struct review_evidence *e)
{
	const json_t *v = NULL;
	size_t i;
	ward_cleanup_free char *name = ward_review_meant_name(m);
	ward_outf("session %s, manifest %s\n", name ? name : m->session, m->digest);
	json_array_foreach(e->checks, i, v)
	{
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		review_evidence_command(&b, v);
		ward_outf("    check '%s': status %d, session %s\n", ward_buf_str(&b),
			(int)json_integer_value(json_object_get(v, "result")),
			json_string_value(json_object_get(v, "session")));
	}
	if (!json_array_size(e->checks))
		ward_outf("    no check\n");
	if (*e->broken)
		ward_sayf("does not count: %s", e->broken);
}

/* Takes a signature only from whom the policy names, to what is staged now. */
static int take(struct ward_review_meant *m, struct ward_buf *b, struct ward_err *err)
{
	const struct ward_settings *s = ward_policy_settings(m->place.policy);
	ward_cleanup(ward_signed_change_clear) struct ward_signed_change c = {.says = NULL};
	const struct review_record w = {.verb = "signed", .changes = m->changes.n, .lines = b};
	int r = ward_signed_change_read(ward_buf_str(b), b->len, &c, err);
	if (r == 0)
		r = ward_signed_change_fits(&c, m->session, m->digest, s, err);
	if (r == 0)
		r = review_record(m, &w, err);
	if (r == 0)
		ward_outf("signed by %s\n", c.key.name);
	return r;
}

int review_sign(const struct review_args *a, struct ward_review_meant *m, struct ward_err *err)
{
	ward_cleanup(review_evidence_clear) struct review_evidence e = {.checks = NULL};
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_SIGNED_CHANGE_MAX};
	if (m->discarded)
		return ward_err_set(
			err, -ENOENT, "what session %s staged has been discarded", m->session);
	int r = review_evidence_read(m, &e, err);
	if (r < 0)
		return r;
	if (a->signed_file) {
		r = read_signed(a->signed_file, &b, err);
	} else {
		show(m, &e);
		r = ward_signed_change_text(m->session, m->digest, e.checks, &b, err);
	}
	if (r == 0 && a->output)
		return ward_output_write(a->output, false, &b, err);
	if (r == 0 && a->key)
		r = sign_with(a->key, &b, err);
	if (r == 0)
		r = take(m, &b, err);
	/* As a refusal of apply. */
	if (r == -EPERM || r == -EBADMSG || r == -EKEYREJECTED) {
		ward_say(err->text);
		return 1;
	}
	return r;
}
