/* SPDX-License-Identifier: Apache-2.0 */
/* Who may read a store of the system's writer: access control lists, acl(5). */
#include "audit/store_internal.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "enforcer/base/cleanup.h"

#define UNNAMED ((uint32_t)ACL_UNDEFINED_ID)

/* As linux/posix_acl_xattr.h has it: a head, then entries in the order of their tags. */
struct acl {
	struct posix_acl_xattr_header head;
	struct posix_acl_xattr_entry v[5];
};

static struct posix_acl_xattr_entry entry(unsigned tag, unsigned perm, uint32_t id)
{
	return (struct posix_acl_xattr_entry){
		.e_tag = htole16(tag), .e_perm = htole16(perm), .e_id = htole32(id)};
}

/* Everything is ours; uid may do `may` at most. name: of the attribute. */
static int set(int fd, const char *name, uid_t uid, unsigned ours, unsigned may)
{
	struct acl a = {.head = {.a_version = htole32(POSIX_ACL_XATTR_VERSION)},
		.v = {entry(ACL_USER_OBJ, ours, UNNAMED), entry(ACL_USER, may, uid),
			entry(ACL_GROUP_OBJ, 0, UNNAMED), entry(ACL_MASK, may, UNNAMED),
			entry(ACL_OTHER, 0, UNNAMED)}};
	return fsetxattr(fd, name, &a, sizeof(a), 0) < 0 ? -errno : 0;
}

int ward_store_let_read(struct ward_store *st, uid_t uid, struct ward_err *err)
{
	const unsigned all = ACL_READ | ACL_WRITE | ACL_EXECUTE;
	const unsigned look = ACL_READ | ACL_EXECUTE;
	ward_cleanup_fd int ledger = -1;
	int r = ward_store_extend_ledger(st, &ledger, err);
	if (r < 0)
		return r;
	/* In the order in which they are reached: nothing is open before it is closed for others.
	 */
	r = set(ledger, XATTR_NAME_POSIX_ACL_ACCESS, uid, ACL_READ | ACL_WRITE, ACL_READ);
	if (r == 0)
		r = set(st->sessions_fd, XATTR_NAME_POSIX_ACL_DEFAULT, uid, all, look);
	if (r == 0)
		r = set(st->sessions_fd, XATTR_NAME_POSIX_ACL_ACCESS, uid, all, look);
	if (r == 0)
		r = set(st->dir_fd, XATTR_NAME_POSIX_ACL_ACCESS, uid, all, look);
	return r < 0 ? ward_err_sys(err, r, "%s: access control list", ward_store_path(st)) : 0;
}
