/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the ACLs that new files inherit. */
#include "fs/ops/inherited_acl.h"

#include <linux/xattr.h>
#include <string.h>

#include "fs/kernel/backing.h"
#include "fs/quota/quota.h"
#include "fs/resolve/resolve_node.h"

void ward_inherited_begin(
	struct ward_op *op, struct ward_node *parent, bool dir, struct ward_inherited *ret)
{
	struct ward_quotas *q = op->tree->fs->quotas;
	struct ward_dirref ref;
	ssize_t n;

	*ret = (struct ward_inherited){.held = NULL};
	if (!ward_quotas_any(q))
		return;
	ward_quota_inherit_lock(q, false);
	ret->held = q;
	/* Where the directory cannot be reached nothing is made either. */
	if (ward_resolve_dir(op->tree, parent, &ref) < 0)
		return;
	n = ward_backing_getxattr(ref.fd, XATTR_NAME_POSIX_ACL_DEFAULT, NULL, 0);
	ward_dirref_put(op->tree, &ref);
	if (n <= 0)
		return;
	ret->bytes = (uint64_t)n + strlen(XATTR_NAME_POSIX_ACL_ACCESS);
	if (dir)
		ret->bytes += (uint64_t)n + strlen(XATTR_NAME_POSIX_ACL_DEFAULT);
}

void ward_inherited_end(struct ward_inherited *in)
{
	if (in->held)
		ward_quota_inherit_unlock(in->held);
	in->held = NULL;
}
