/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the files of a devcontainer. An agent may have shaped the project: no name is followed. */
#include "enforcer/cli/policy/init_devcontainer.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/container/container.h"

#define PLACE ".devcontainer"
/* A new file has this name until it is whole. */
#define NEW "wardfs.new"

struct file {
	const char *name;
	const char *text;
};

/* The list of system calls for people: one object a line would be unreadable. */
static char *seccomp_text(void)
{
	json_t *o = json_loads(ward_devcontainer_seccomp, 0, NULL);
	char *text = o ? json_dumps(o, JSON_INDENT(1)) : NULL;
	json_decref(o);
	return text;
}

static const char *shipped(const char *name)
{
	for (const struct ward_embedded *e = ward_embedded_devcontainer; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return e->data;
	return "";
}

/* Root writes for the owner; the owner is who writes otherwise. */
static int give(int fd, const struct ward_policy_place *p)
{
	return geteuid() == 0 && fchown(fd, p->id.owner_uid, p->id.owner_gid) < 0 ? -errno : 0;
}

static int open_place(const struct ward_policy_place *p, int *ret, struct ward_err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const bool made = mkdirat(p->project.fd, PLACE, 0755) == 0;
	if (!made && errno != EEXIST)
		return ward_err_sys(err, -errno, "%s/" PLACE, p->project.path);
	ward_cleanup_fd int fd = openat(p->project.fd, PLACE, flags);
	int r = fd < 0 ? -errno : made ? give(fd, p) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "%s/" PLACE, p->project.path);
	*ret = ward_steal_fd(&fd);
	return 0;
}

static int write_one(
	const struct ward_policy_place *p, int dir, const struct file *f, struct ward_err *err)
{
	(void)unlinkat(dir, NEW, 0);
	ward_cleanup_fd int fd =
		openat(dir, NEW, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	int r = fd < 0 ? -errno : ward_fd_write_all(fd, f->text, strlen(f->text));
	if (r == 0)
		r = give(fd, p);
	if (r == 0 && renameat(dir, NEW, dir, f->name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, NEW, 0);
	return r < 0 ? ward_err_sys(err, r, "%s/" PLACE "/%s", p->project.path, f->name) : 0;
}

int init_devcontainer(
	const struct ward_policy_place *place, bool replace, bool dry, struct ward_err *err)
{
	ward_cleanup_free char *seccomp = seccomp_text();
	const struct file files[] = {{"wardfs-seccomp.json", seccomp},
		{"Dockerfile", shipped("Dockerfile")},
		{"devcontainer.json", shipped("devcontainer")}};
	const size_t n = sizeof(files) / sizeof(*files);
	ward_cleanup_fd int dir = -1;
	struct stat st;
	if (!seccomp)
		return ward_err_sys(err, -ENOMEM, PLACE);
	if (!place->in_project)
		return ward_err_set(
			err, -ENOENT, "no project here; fix: git init, or touch .wardfs.policy");
	for (size_t i = 0; i < n && dry; i++)
		ward_outf("%s/%s:\n%s\n", PLACE, files[i].name, files[i].text);
	if (dry)
		return 0;
	int r = open_place(place, &dir, err);
	for (size_t i = 0; i < n && r == 0 && !replace; i++)
		if (fstatat(dir, files[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			r = ward_err_set(err, -EEXIST,
				"%s/%s exists; fix: --force replaces what is there", PLACE,
				files[i].name);
	for (size_t i = 0; i < n && r == 0; i++)
		r = write_one(place, dir, &files[i], err);
	if (r == 0)
		ward_sayf("written: %s/" PLACE
			  ". Put wardfs.deb there, and have the editor open the "
			  "folder in its container",
			place->project.path);
	return r;
}
