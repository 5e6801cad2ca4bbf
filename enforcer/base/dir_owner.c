/* SPDX-License-Identifier: Apache-2.0 */
/* Makes files with the ids of the directory that they lie in. */
#include "enforcer/base/dir_owner.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

int ward_dir_owner_begin(int dir_fd, struct ward_dir_owner *ret)
{
	struct stat st;
	*ret = (struct ward_dir_owner){0};
	if (geteuid() != 0)
		return 0;
	if (fstat(dir_fd, &st) < 0)
		return -errno;
	if (st.st_uid == 0)
		return 0;
	/* An invalid id changes nothing and tells what is in force (setfsuid(2)). */
	struct ward_dir_owner o = {.active = true,
		.uid = (uid_t)setfsuid((uid_t)-1),
		.gid = (gid_t)setfsgid((gid_t)-1)};
	if (st.st_uid == o.uid)
		return 0;
	setfsgid(st.st_gid);
	setfsuid(st.st_uid);
	/* The calls report no error. */
	if ((uid_t)setfsuid((uid_t)-1) != st.st_uid || (gid_t)setfsgid((gid_t)-1) != st.st_gid) {
		ward_dir_owner_end(&o);
		return -EPERM;
	}
	*ret = o;
	return 0;
}

void ward_dir_owner_end(struct ward_dir_owner *o)
{
	if (!o->active)
		return;
	setfsuid(o->uid);
	setfsgid(o->gid);
	if ((uid_t)setfsuid((uid_t)-1) != o->uid || (gid_t)setfsgid((gid_t)-1) != o->gid)
		abort();
	o->active = false;
}
