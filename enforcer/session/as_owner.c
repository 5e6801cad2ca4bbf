/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/as_owner.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

int ward_as_owner_begin(
	const struct ward_identity *id, struct ward_as_owner *ret, struct ward_err *err)
{
	struct ward_as_owner o = {.gid = getegid()};
	*ret = (struct ward_as_owner){0};
	if (!id->root || id->owner_uid == geteuid())
		return 0;
	o.n_groups = getgroups(0, NULL);
	o.groups = calloc((size_t)(o.n_groups > 0 ? o.n_groups : 1), sizeof(gid_t));
	if (!o.groups || o.n_groups < 0 || (o.n_groups = getgroups(o.n_groups, o.groups)) < 0 ||
		setgroups(id->n_groups, id->groups) < 0) {
		int r = -errno;
		free(o.groups);
		return ward_err_sys(err, r ? r : -ENOMEM, "the owner's groups");
	}
	o.active = true;
	setfsgid(id->owner_gid);
	setfsuid(id->owner_uid);
	/* The calls report no error; asking with an invalid id tells what is in force
	 * (setfsuid(2)). */
	if ((uid_t)setfsuid((uid_t)-1) != id->owner_uid ||
		(gid_t)setfsgid((gid_t)-1) != id->owner_gid) {
		ward_as_owner_end(&o);
		return ward_err_set(err, -EPERM, "cannot act as the owner");
	}
	*ret = o;
	return 0;
}

void ward_as_owner_end(struct ward_as_owner *o)
{
	if (!o->active)
		return;
	setfsuid(geteuid());
	setfsgid(o->gid);
	if ((uid_t)setfsuid((uid_t)-1) != geteuid() || (gid_t)setfsgid((gid_t)-1) != o->gid ||
		setgroups((size_t)o->n_groups, o->groups) < 0)
		abort();
	free(o->groups);
	*o = (struct ward_as_owner){0};
}
