/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no view shows, wherever it lies: homes, credentials, state of wardfs. Each place is found by
 * its file system and inode, not by the text of its path. So every name that the mounts of the host
 * give it is hidden.
 */
#include "enforcer/sandbox/view.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Credentials in directories that a view shows. */
static const char *const secret_places[] = {
	"/etc/gradle/gradle.properties", /* passwords of repositories */
	"/etc/pki/CA/private",		 /* keys of services */
	"/etc/pki/consumer", "/etc/pki/entitlement", "/etc/pki/private", "/etc/pki/tls/private",
	"/etc/ssl/private", "/var/backups", /* copies of /etc/shadow */
	"/var/lib/NetworkManager", "/var/lib/containerd", "/var/lib/dbus/machine-id",
	"/var/lib/docker", "/var/lib/private", "/var/lib/sss", "/var/lib/systemd/credential.secret",
	"/var/lib/wardfs", /* trails and their keys */
	"/var/mail", "/var/spool/cron", "/var/spool/mail"};

/* The sandbox has its own: what the host's lead to is not shown elsewhere either. */
static const char *const own_homes[] = {"/home", "/root"};
static const char *const own_places[] = {"/dev", "/proc", "/run", "/sys", "/tmp"};

/* Accounts of people, as login.defs(5) has it by default. */
#define PEOPLE_FIRST 1000
#define PEOPLE_LAST 60000

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct ward_blueprint_entry *deepest(const struct ward_view_list *w, const char *path)
{
	const struct ward_blueprint_entry *best = NULL;
	for (size_t i = 0; i < w->n; i++)
		if (ward_blueprint_path_below(path, w->v[i].path) &&
			(!best || strlen(w->v[i].path) >= strlen(best->path)))
			best = &w->v[i];
	return best;
}

/* This entry itself shows the path to hide. */
static void replace(struct ward_view_list *w, struct ward_blueprint_entry *e, bool dir)
{
	char *text = strdup(dir ? "" : "/dev/null");
	if (!text) {
		w->error = -ENOMEM;
		return;
	}
	free(e->text);
	e->text = text;
	e->kind = dir ? WARD_BLUEPRINT_COVER : WARD_BLUEPRINT_BIND;
	e->flags = WARD_BLUEPRINT_HIDES;
}

int ward_view_cover(struct ward_view_list *w, size_t entry, const char *inside, mode_t type)
{
	bool dir = S_ISDIR(type);
	struct ward_blueprint_entry *e = &w->v[entry];
	if (S_ISLNK(type) || !ward_blueprint_path_ok(inside) || deepest(w, inside) != e)
		return w->error;
	if (strcmp(inside, e->path) == 0)
		replace(w, e, dir);
	else
		ward_view_add(w, dir ? WARD_BLUEPRINT_COVER : WARD_BLUEPRINT_BIND, inside,
			dir ? NULL : "/dev/null", 0, WARD_BLUEPRINT_HIDES);
	return w->error;
}

/* One name on the host: wherever the view shows it. */
static int cover_name(void *user, const char *path, mode_t type)
{
	struct ward_view_list *w = user;
	int r = 0;
	for (size_t i = 0, n = w->n; i < n && r == 0; i++) {
		const struct ward_blueprint_entry *e = &w->v[i];
		if (!(e->flags & WARD_BLUEPRINT_SHUT) || strcmp(e->path, e->text) != 0)
			continue;
		/* As a hidden directory lies above what is shown of it. */
		if (ward_blueprint_path_below(path, e->path))
			r = ward_view_cover(w, i, path, type);
		else if (S_ISDIR(type) && ward_blueprint_path_below(e->path, path))
			r = ward_view_cover(w, i, e->path, type);
	}
	return r;
}

/* parts: also mounts that show something of it. Where the caller may not look, nobody inside may.
 */
static int hide(struct ward_view_list *w, const struct ward_view_mounts *m, const char *path,
	bool parts, struct ward_err *err)
{
	if (!path || path[0] != '/')
		return 0;
	ward_cleanup_fd int fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0 && ward_view_unreachable(errno))
		return 0;
	int r = fd < 0 ? -errno : ward_view_names(m, fd, parts, cover_name, w);
	if (r == -ENOSYS || r == -EPERM)
		return ward_err_sys(err, r,
			"hide %s: openat2(2) is refused or missing; fix: Linux 5.6 or later, and in a "
			"container a seccomp profile that passes it",
			path);
	return r < 0 ? ward_err_sys(err, r, "hide %s", path) : 0;
}

static int hide_people(
	struct ward_view_list *w, const struct ward_view_mounts *m, struct ward_err *err)
{
	const struct passwd *pw = NULL;
	int r = 0;
	setpwent();
	while (r == 0 && (pw = getpwent()))
		if (pw->pw_uid == 0 || (pw->pw_uid >= PEOPLE_FIRST && pw->pw_uid <= PEOPLE_LAST))
			r = hide(w, m, pw->pw_dir, true, err);
	endpwent();
	return r;
}

int ward_view_hide(const struct ward_sandbox_spec *spec, const struct ward_view_mounts *m,
	struct ward_view_list *w, struct ward_err *err)
{
	bool whole = spec->whole;
	int r = 0;
	for (size_t i = 0; i < COUNT(secret_places) && r == 0; i++)
		r = hide(w, m, secret_places[i], true, err);
	for (size_t i = 0; spec->covers && spec->covers[i] && r == 0; i++)
		r = hide(w, m, spec->covers[i], true, err);
	/* In the minimal view, tools may well be mounted from a home. */
	for (size_t i = 0; i < COUNT(own_homes) && r == 0; i++)
		r = hide(w, m, own_homes[i], whole, err);
	if (r == 0)
		r = hide(w, m, spec->home, whole, err);
	for (size_t i = 0; whole && i < COUNT(own_places) && r == 0; i++)
		r = hide(w, m, own_places[i], false, err);
	return r == 0 && whole ? hide_people(w, m, err) : r;
}
