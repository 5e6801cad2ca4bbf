/* SPDX-License-Identifier: Apache-2.0 */
/* Acting on files with the owner's rights. */
#include "enforcer/session/owner/as_owner.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/*
 * Of this thread alone, as the ids: setgroups(3) has every thread take part, and one that waits for
 * a file whose server does not answer never would.
 */
static int set_groups(size_t n, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, n, groups);
}

int ward_as_owner_begin(
	const struct ward_identity *id, struct ward_as_owner *ret, struct ward_err *err)
{
	/* An invalid id changes nothing and tells what is in force (setfsuid(2)). */
	struct ward_as_owner o = {
		.uid = (uid_t)setfsuid((uid_t)-1), .gid = (gid_t)setfsgid((gid_t)-1)};
	*ret = (struct ward_as_owner){0};
	/* The last question: the caller acts as the owner already. */
	if (!id->root || id->owner_uid == geteuid() || o.uid == id->owner_uid)
		return 0;
	o.n_groups = getgroups(0, NULL);
	o.groups = calloc((size_t)(o.n_groups > 0 ? o.n_groups : 1), sizeof(gid_t));
	if (!o.groups || o.n_groups < 0 || (o.n_groups = getgroups(o.n_groups, o.groups)) < 0 ||
		set_groups(id->n_groups, id->groups) < 0) {
		int r = -errno;
		free(o.groups);
		return ward_err_sys(err, r ? r : -ENOMEM, "the owner's groups");
	}
	o.active = true;
	setfsgid(id->owner_gid);
	setfsuid(id->owner_uid);
	/* The calls report no error. */
	if ((uid_t)setfsuid((uid_t)-1) != id->owner_uid ||
		(gid_t)setfsgid((gid_t)-1) != id->owner_gid) {
		ward_as_owner_end(&o);
		return ward_err_set(err, -EPERM, "cannot act as the owner");
	}
	*ret = o;
	return 0;
}

int ward_as_caller_begin(struct ward_as_owner *ret, struct ward_err *err)
{
	struct ward_as_owner o = {
		.uid = (uid_t)setfsuid((uid_t)-1), .gid = (gid_t)setfsgid((gid_t)-1)};
	*ret = (struct ward_as_owner){0};
	if (o.uid == geteuid())
		return 0;
	o.n_groups = getgroups(0, NULL);
	o.groups = calloc((size_t)(o.n_groups > 0 ? o.n_groups : 1), sizeof(gid_t));
	if (!o.groups || o.n_groups < 0 || (o.n_groups = getgroups(o.n_groups, o.groups)) < 0) {
		int r = o.groups ? -errno : -ENOMEM;
		free(o.groups);
		return ward_err_sys(err, r, "the owner's groups");
	}
	o.active = true;
	setfsgid(getegid());
	setfsuid(geteuid());
	*ret = o;
	return 0;
}

void ward_as_owner_end(struct ward_as_owner *o)
{
	if (!o->active)
		return;
	setfsuid(o->uid);
	setfsgid(o->gid);
	if ((uid_t)setfsuid((uid_t)-1) != o->uid || (gid_t)setfsgid((gid_t)-1) != o->gid ||
		set_groups((size_t)o->n_groups, o->groups) < 0)
		abort();
	free(o->groups);
	*o = (struct ward_as_owner){0};
}
