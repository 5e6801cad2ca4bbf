/* SPDX-License-Identifier: Apache-2.0 */
/* Signs two lines of text, and takes signed ones apart. */
#include "audit/verify/signed_text.h"

#include <errno.h>
#include <string.h>

#include "audit/verify/sshsig.h"

#define SIGNATURE "signature "
#define SIGNATURE_LEN (sizeof(SIGNATURE) - 1)

int ward_signed_text_sign(struct ward_buf *b, const struct ward_signing_key *key)
{
	char sig[WARD_SIGNATURE_TEXT_MAX], name[WARD_VKEY_MAX];
	ward_signing_key_sign(key, b->data, b->len, sig);
	ward_public_key_print(&key->pub, name);
	ward_buf_printf(b, SIGNATURE "%s %s\n", name, sig);
	return ward_buf_error(b);
}

/* "KEY BASE64\n" */
static int check_line(const struct ward_signed_kind *kind, const char *line, size_t len,
	const char *over, size_t over_len, struct ward_approver_key *ret, struct ward_err *err)
{
	char key[WARD_VKEY_MAX], sig[WARD_SIGNATURE_TEXT_MAX];
	struct ward_public_key k;
	const char *space = memchr(line, ' ', len);
	const size_t n = space ? (size_t)(space - line) : 0;
	const size_t n_sig = space ? len - n - 2 : 0;
	if (!space || n >= sizeof(key) || len < n + 2 || line[len - 1] != '\n' ||
		n_sig >= sizeof(sig) || ward_public_key_parse(line, n, &k) < 0)
		return ward_err_set(
			err, -EBADMSG, "the %s's signature cannot be understood", kind->what);
	memcpy(key, line, n);
	key[n] = '\0';
	memcpy(sig, space + 1, n_sig);
	sig[n_sig] = '\0';
	if (!ward_public_key_check(&k, over, over_len, sig))
		return ward_err_set(
			err, -EKEYREJECTED, "the %s's signature does not fit", kind->what);
	return ward_approver_key_parse(key, ret, err);
}

int ward_signed_text_read(const struct ward_signed_kind *kind, const char *text, size_t len,
	json_t **ret_says, struct ward_approver_key *ret_key, struct ward_err *err)
{
	struct ward_approver_key key;
	const size_t head = strlen(kind->head);
	const char *line = text + head;
	if (len > kind->max || len < head || memcmp(text, kind->head, head) != 0)
		return ward_err_set(err, -EBADMSG, "this is not a signed %s of wardfs", kind->what);
	const char *nl = memchr(line, '\n', len - head);
	const char *end = text + len, *sig = nl ? nl + 1 : end;
	const size_t n = (size_t)(sig - text), left = (size_t)(end - sig);
	if (sig == end)
		return ward_err_set(err, -EBADMSG, "the %s has no signature", kind->what);
	const bool ours = left > SIGNATURE_LEN + 1 && memcmp(sig, SIGNATURE, SIGNATURE_LEN) == 0;
	int r = ours ? check_line(
			       kind, sig + SIGNATURE_LEN, left - SIGNATURE_LEN, text, n, &key, err)
		     : ward_sshsig_check(sig, left, kind->space, text, n, &key, err);
	if (r < 0)
		return r;
	json_t *o = json_loadb(line, (size_t)(nl - line), JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(o) || !kind->complete(o)) {
		json_decref(o);
		return ward_err_set(
			err, -EBADMSG, "the signed %s cannot be understood", kind->what);
	}
	*ret_says = o;
	*ret_key = key;
	return 0;
}

int ward_signed_text_known(const struct ward_signed_kind *kind, const struct ward_approver_key *key,
	const struct ward_settings *s, struct ward_err *err)
{
	for (size_t i = 0; i < s->approvers.n; i++) {
		struct ward_approver_key k;
		struct ward_err ignored = WARD_ERR_INIT;
		if (ward_approver_key_parse(s->approvers.v[i], &k, &ignored) == 0 &&
			ward_approver_key_equal(&k, key))
			return 0;
	}
	return ward_err_set(err, -EPERM,
		"no '[approvals] approver' of the policy or the floor names the key %s, which signed "
		"the %s",
		key->name, kind->what);
}
