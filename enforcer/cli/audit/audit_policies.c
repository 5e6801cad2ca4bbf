/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the policies of a session, checks their digests, and writes them one behind the other. */
#include "enforcer/cli/audit/audit_policies.h"

#include <errno.h>
#include <inttypes.h>

#include "audit/verify/verify_policies.h"
#include "audit/verify/verify_reviews.h"
#include "enforcer/base/cleanup.h"

int audit_policies_read(struct ward_log *log, const char *session, struct ward_policy_texts *ret,
	struct ward_err *err)
{
	int r = ward_policy_texts_read(log, false, ret, err);
	if (r < 0)
		return r;
	if (ret->n == 0)
		return ward_err_set(err, -ENODATA, "the trail of %s has no policy", session);
	for (size_t i = 0; i < ret->n; i++) {
		const struct ward_policy_text *t = &ret->v[i];
		if (!t->loaded)
			continue;
		if (!t->meaning.len)
			return ward_err_set(err, -ENODATA,
				"the trail of %s has only the sources of its policy: wardfs 0.1 "
				"wrote it",
				session);
		if (!ward_policy_text_good(t))
			return ward_err_set(err, -EBADMSG,
				"%s: the policy of record %" PRIu64
				" is not the text whose digest is %s",
				session, t->seq, t->digest ? t->digest : "missing");
	}
	return 0;
}

void audit_policies_write(const struct ward_policy_texts *t, struct ward_buf *ret)
{
	bool more = false;
	for (size_t i = 0; i < t->n; i++) {
		const struct ward_policy_text *p = &t->v[i];
		if (!p->loaded)
			continue;
		ward_buf_printf(ret, "%s; in force from %s, record %" PRIu64 "%s%s%s, sha256 %s\n",
			more ? "\n" : "", p->since ? p->since : "?", p->seq,
			p->by ? " (a reload by " : "", p->by ? p->by : "", p->by ? ")" : "",
			p->digest ? p->digest : "?");
		ward_buf_add(ret, p->meaning.data, p->meaning.len);
		more = true;
	}
}

int audit_beside_verify(struct ward_store *store, struct ward_log *log, const char *session,
	const struct ward_ledger_session *known, struct ward_verify_result *ret,
	struct ward_err *err)
{
	ward_cleanup_fd int dir = -1;
	const struct ward_policy_files files = {ward_policy_files_in, &dir};
	int r = ward_store_open_session(store, session, &dir, err);
	r = r < 0 ? r : ward_verify_policies(log, &files, ret, err);
	return r < 0 ? r : ward_verify_reviews(dir, known, ret, err);
}
