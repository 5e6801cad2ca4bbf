/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the policies and approvals in a bundle with its trail. */
#include "enforcer/cli/audit/audit_bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <sodium.h>
#include <string.h>

#include "audit/log/lines.h"
#include "audit/query/approvals.h"
#include "audit/query/query.h"
#include "audit/verify/verify_policies.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/audit/audit_keys.h"
#include "enforcer/cli/audit/audit_policies.h"

#define TEXTS "policy.txt"

static int open_member(void *ctx, const char *name)
{
	const struct audit_tar *t = ctx;
	for (size_t i = 0; i < t->n_texts; i++) {
		if (strcmp(t->texts[i].name, name) != 0)
			continue;
		const int fd = fcntl(t->texts[i].fd, F_DUPFD_CLOEXEC, 3);
		if (fd >= 0 && lseek(fd, 0, SEEK_SET) == 0)
			return fd;
		const int r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	return -ENOENT;
}

/* The text that people read. */
static int compare_texts(const struct audit_tar *t, struct ward_log *log,
	struct ward_verify_result *ret, struct ward_err *err)
{
	ward_cleanup(ward_policy_texts_clear) struct ward_policy_texts texts = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf want = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf have = WARD_BUF_INIT;
	struct ward_err none = WARD_ERR_INIT;
	int r = audit_policies_read(log, t->dir, &texts, &none);
	ward_cleanup_fd int fd = open_member((void *)(uintptr_t)t, TEXTS);
	/* The trail has no such text, or none whose digest is right: no file can be that text. */
	if (r == -ENODATA && fd == -ENOENT)
		return 0;
	if (r == 0 && fd == -ENOENT) {
		ward_verify_say(ret, WARD_VERIFY_DELETED, 0,
			"the file " TEXTS ", a copy of what the records have, is missing");
		return 0;
	}
	if (r == 0)
		audit_policies_write(&texts, &want);
	size_t had = 1; /* policy.txt */
	for (size_t i = 0; r == 0 && i < texts.n; i++)
		had += texts.v[i].loaded;
	if (r == 0 && t->n_texts > had) {
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"it has files of %zu policies, and the records of %zu", t->n_texts - 1,
			had - 1);
		return 0;
	}
	if (r < 0 && r != -ENODATA && r != -EBADMSG)
		return ward_err_set(err, r, "%s", none.text);
	if (fd < 0 || ward_buf_error(&want) < 0)
		return ward_err_sys(err, fd < 0 ? fd : -ENOMEM, TEXTS);
	if (r < 0 || ward_fd_read_all(fd, want.len, &have) < 0 || have.len != want.len ||
		memcmp(ward_buf_str(&have), ward_buf_str(&want), want.len) != 0)
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the file " TEXTS " is not the policies that the records have");
	return 0;
}

int audit_bundle_approvals(struct ward_log *log, char **ret, struct ward_err *err)
{
	json_t *rows = NULL;
	char *text = NULL;
	int r = ward_approvals_read(log, NULL, &rows, err);
	if (r == 0 && json_array_size(rows) && !(text = ward_approvals_text(rows)))
		r = ward_err_sys(err, -ENOMEM, "approvals");
	json_decref(rows);
	if (r == 0)
		*ret = text;
	return r;
}

static int compare_approvals(const struct audit_tar *t, struct ward_log *log,
	struct ward_verify_result *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf have = WARD_BUF_INIT;
	ward_cleanup_free char *want = NULL;
	if (t->approvals < 0)
		return 0;
	int r = audit_bundle_approvals(log, &want, err);
	if (r < 0)
		return r;
	const size_t len = want ? strlen(want) : 0;
	if (ward_fd_read_all(t->approvals, len, &have) < 0 || have.len != len ||
		memcmp(ward_buf_str(&have), want ? want : "", len) != 0)
		ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
			"the file approvals.json is not what the records have");
	return 0;
}

int audit_bundle_policies(const struct audit_tar *t, struct ward_log *log,
	struct ward_verify_result *ret, struct ward_err *err)
{
	const struct ward_policy_files files = {open_member, (void *)(uintptr_t)t};
	*ret = (struct ward_verify_result){.state = WARD_VERIFY_INTACT};
	int r = ward_verify_policies(log, &files, ret, err);
	if (r == 0 && ret->state == WARD_VERIFY_INTACT)
		r = compare_texts(t, log, ret, err);
	return r == 0 && ret->state == WARD_VERIFY_INTACT ? compare_approvals(t, log, ret, err) : r;
}

int audit_bundle_chain(struct audit_cmd *c, const struct audit_tar *t, struct ward_buf *ret_chain,
	struct ward_verify_result *ret, struct ward_err *err)
{
	const size_t given = c->n_keys;
	*ret = (struct ward_verify_result){.state = WARD_VERIFY_INTACT};
	if (t->chain < 0)
		return 0;
	int r = ward_fd_read_all(t->chain, AUDIT_KEYS_FILE_MAX, ret_chain);
	if (r < 0)
		return ward_err_sys(err, r, "key.chain");
	if (audit_keys_lead(c, ward_buf_str(ret_chain)))
		return 0;
	c->n_keys = given;
	ward_buf_clear(ret_chain);
	ward_verify_say(ret, WARD_VERIFY_EDITED, 0,
		"the file key.chain has a line that the key before did not sign");
	return 0;
}

/* SHA-256 of the first n lines. False: there are fewer, or they cannot be read. */
static bool digest_of(struct ward_log *log, json_int_t n, char ret[2 * SHA256_DIGEST_SIZE + 1])
{
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	uint8_t sum[SHA256_DIGEST_SIZE];
	struct ward_lines_line text = {0};
	struct sha256_ctx c;
	sha256_init(&c);
	bool good = ward_lines_open(&lines, log, 0) == 0;
	for (; good && n > 0; n--) {
		good = ward_lines_next(&lines, &text) == 1 && text.whole;
		if (!good)
			break;
		sha256_update(&c, text.len, (const uint8_t *)text.p);
		sha256_update(&c, 1, (const uint8_t *)"\n");
	}
	sha256_digest(&c, sizeof(sum), sum);
	(void)sodium_bin2hex(ret, 2 * sizeof(sum) + 1, sum, sizeof(sum));
	return good;
}

void audit_bundle_attests(struct ward_log *log, const json_t *says, struct ward_verify_result *res)
{
	const json_t *subject = json_array_get(json_object_get(says, "subject"), 0);
	const json_t *verify = json_object_get(json_object_get(says, "predicate"), "verify");
	const char *want = ward_query_text(json_object_get(subject, "digest"), "sha256");
	char have[2 * SHA256_DIGEST_SIZE + 1];
	if (!says || res->state == WARD_VERIFY_EDITED || res->state == WARD_VERIFY_FOREIGN)
		return;
	if (!want ||
		!digest_of(log, json_integer_value(json_object_get(verify, "records")), have) ||
		strcmp(want, have) != 0)
		ward_verify_say(res, WARD_VERIFY_EDITED, 0,
			"it attests another trail than the one in this bundle");
}
