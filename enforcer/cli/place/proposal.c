/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out whether the owner has accepted what a repository asks for. */
#include "enforcer/cli/place/proposal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/session/owner/as_owner.h"

#define BEGINS "; " WARD_PROPOSAL_FILE " "
#define ACCEPTED BEGINS "accepted sha256:"
#define DECLINED BEGINS "declined sha256:"
#define ENDS BEGINS "ends\n"

/* Where a line begins with this text; NULL: none does. */
static const char *find_line(const char *text, const char *begin)
{
	const size_t n = strlen(begin);
	for (const char *s = text; s && *s; s = strchr(s, '\n')) {
		s += *s == '\n';
		if (strncmp(s, begin, n) == 0)
			return s;
	}
	return NULL;
}

void ward_proposal_find_block(const struct ward_buf *owners, struct ward_proposal_block *ret)
{
	const char *text = ward_buf_str(owners);
	*ret = (struct ward_proposal_block){0};
	const char *from = find_line(text, ACCEPTED);
	const char *declined = find_line(text, DECLINED);
	if (!from || (declined && declined < from)) {
		ret->declined = declined != NULL;
		from = declined;
	}
	const char *end = from ? find_line(from, ENDS) : NULL;
	const char *hex = from ? from + strlen(ACCEPTED) : NULL;
	if (!end || strspn(hex, "0123456789abcdef") != WARD_PROPOSAL_DIGEST_SIZE - 1) {
		ret->declined = false;
		return;
	}
	memcpy(ret->digest, hex, WARD_PROPOSAL_DIGEST_SIZE - 1);
	ret->from = (size_t)(from - text);
	ret->to = (size_t)(end - text) + strlen(ENDS);
}

void ward_proposal_put_block(
	struct ward_buf *text, const char *digest, bool declined, const struct ward_buf *lines)
{
	if (text->len && text->data[text->len - 1] != '\n')
		ward_buf_putc(text, '\n');
	ward_buf_printf(text, "%s%s\n", declined ? DECLINED : ACCEPTED, digest);
	ward_buf_add(text, lines->data, lines->len);
	ward_buf_puts(text, ENDS);
}

int ward_proposal_read(const struct ward_identity *id, int project, struct ward_buf *ret,
	char digest[WARD_PROPOSAL_DIGEST_SIZE], struct ward_err *err)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	struct ward_as_owner owner;
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd = ward_fd_open_beneath(project, WARD_PROPOSAL_FILE);
	r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_PROPOSAL_MAX, ret);
	ward_as_owner_end(&owner);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return ward_err_set(err, r,
			WARD_PROPOSAL_FILE " of this repository was not read: %s",
			r == -EFBIG	? "it is larger than 64 KiB"
			: r == -ELOOP	? "it is a symbolic link"
			: r == -EINVAL	? "it is no regular file"
			: r == -ENOTDIR ? "no directory is there"
					: strerror(-r));
	crypto_hash_sha256(hash, (const unsigned char *)ward_buf_str(ret), ret->len);
	sodium_bin2hex(digest, WARD_PROPOSAL_DIGEST_SIZE, hash, sizeof(hash));
	return 1;
}

enum ward_proposal_state ward_proposal_compare(const struct ward_buf *owners, const char *digest)
{
	struct ward_proposal_block b;
	ward_proposal_find_block(owners, &b);
	if (b.from == b.to)
		return WARD_PROPOSAL_NEW;
	if (strcmp(b.digest, digest) != 0)
		return WARD_PROPOSAL_CHANGED;
	return b.declined ? WARD_PROPOSAL_DECLINED : WARD_PROPOSAL_ACCEPTED;
}

void ward_proposal_say(const struct ward_identity *id, int project, const char *owner_file)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf owners = WARD_BUF_INIT;
	char digest[WARD_PROPOSAL_DIGEST_SIZE];
	struct ward_err err = WARD_ERR_INIT;
	int r = ward_proposal_read(id, project, &text, digest, &err);
	if (r < 0)
		ward_say(err.text);
	if (r <= 0 || (owner_file && ward_owner_file_get(owner_file, id, &owners, &err) < 0))
		return;
	switch (ward_proposal_compare(&owners, digest)) {
	case WARD_PROPOSAL_NEW:
		ward_say("this repository asks for rights in " WARD_PROPOSAL_FILE
			 ", and you have not accepted them: 'wardfs init' shows them and asks you");
		return;
	case WARD_PROPOSAL_CHANGED:
		ward_say(WARD_PROPOSAL_FILE
			" has changed since you answered it. The changes are not in force: 'wardfs init' shows them and asks you");
		return;
	case WARD_PROPOSAL_NONE:
	case WARD_PROPOSAL_ACCEPTED:
	case WARD_PROPOSAL_DECLINED:
		return;
	}
}
