/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view `readonly`: everything that stands in / and in /etc, entry by entry, read-only, but for
 * homes, credentials and sockets. A list can only name what is known: the command also has no more
 * rights than its user, who is never root.
 */
#include "enforcer/sandbox/view.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"

/* Ours, whatever the host has there; homes and root's home stay empty. */
static const char *const own[] = {
	"dev", "etc", "home", "lost+found", "proc", "root", "run", "sys", "tmp"};

/* Credentials in /etc, mostly closed to others than root already. */
static const char *const secrets[] = {
	"NetworkManager",				 /* passwords of networks */
	"credstore", "credstore.encrypted",		 /* systemd.exec(5) */
	"docker",					 /* keys of registries and of the daemon */
	"gshadow", "gshadow-", "shadow", "shadow-",	 /* passwords */
	"krb5.keytab", "kubernetes", "letsencrypt",	 /* keys */
	"openvpn", "ppp", "wireguard", "wpa_supplicant", /* keys of networks */
	"security", "sudoers", "sudoers.d",		 /* who may become whom */
	"ssh",						 /* host keys */
	"wardfs",					 /* our own floor */
};
/* The same elsewhere. */
static const char *const secret_places[] = {
	"/etc/ssl/private", /* keys of services */
	"/var/backups",	    /* copies of /etc/shadow */
	"/var/lib/NetworkManager",
	"/var/lib/docker",
	"/var/lib/containerd",
	"/var/lib/dbus/machine-id", /* meant to be secret: machine-id(5) */
	"/var/lib/private",
	"/var/lib/sss",
	"/var/lib/systemd/credential.secret",
	"/var/lib/wardfs", /* trails and their keys */
	"/var/mail",
	"/var/spool/cron",
	"/var/spool/mail",
};

/* Accounts of people, as login.defs(5) has it by default. */
#define PEOPLE_FIRST 1000
#define PEOPLE_LAST 60000
/* So many sockets of a host are looked at; a host with more is refused, not shown in part. */
#define SOCKETS_MAX 8192

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool listed(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static void show(struct ward_view_list *w, const char *dir, const char *name)
{
	char path[600], target[4096];
	struct stat st;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (lstat(path, &st) < 0 || ward_view_find(w, path))
		return;
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlink(path, target, sizeof(target) - 1);
		if (n <= 0)
			return;
		target[n] = '\0';
		ward_view_add(w, WARD_BLUEPRINT_LINK, path, target, 0, 0);
	} else if (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode)) {
		ward_view_add(w, WARD_BLUEPRINT_BIND, path, path, 0, WARD_BLUEPRINT_OPTIONAL);
	}
}

static int show_all(struct ward_view_list *w, const char *dir, const char *const *but, size_t n,
	struct ward_err *err)
{
	const struct dirent *e = NULL;
	ward_cleanup_dir DIR *d = opendir(*dir ? dir : "/");
	if (!d)
		return ward_err_sys(err, -errno, "list %s", *dir ? dir : "/");
	while ((e = readdir(d)))
		if (e->d_name[0] != '.' && !listed(but, n, e->d_name))
			show(w, dir, e->d_name);
	return 0;
}

/* True if path lies in something that is shown, and is nothing of ours. */
static bool is_shown(const struct ward_view_list *w, const char *path)
{
	bool shown = false;
	for (size_t i = 0; i < w->n; i++) {
		const struct ward_blueprint_entry *e = &w->v[i];
		if (!ward_blueprint_path_below(path, e->path))
			continue;
		if (e->kind != WARD_BLUEPRINT_BIND && strcmp(e->path, "/") != 0)
			return false;
		shown = true;
	}
	return shown;
}

/* Hides what is there; nothing below a link: what it leads to is hidden or shown by its own name.
 */
static void cover(struct ward_view_list *w, const char *path)
{
	struct stat st;
	if (!ward_blueprint_path_ok(path) || lstat(path, &st) < 0 || !is_shown(w, path))
		return;
	if (S_ISDIR(st.st_mode))
		ward_view_add(w, WARD_BLUEPRINT_COVER, path, NULL, 0, 0);
	else if (!S_ISLNK(st.st_mode))
		ward_view_add(w, WARD_BLUEPRINT_BIND, path, "/dev/null", 0, 0);
}

static void cover_homes(struct ward_view_list *w)
{
	const struct passwd *pw = NULL;
	setpwent();
	while ((pw = getpwent()))
		if (pw->pw_uid == 0 || (pw->pw_uid >= PEOPLE_FIRST && pw->pw_uid <= PEOPLE_LAST))
			cover(w, pw->pw_dir);
	endpwent();
}

/* A socket that is seen can be talked to, read-only or not. proc(5): /proc/net/unix */
static int cover_sockets(struct ward_view_list *w, struct ward_err *err)
{
	char line[512];
	size_t n = 0;
	ward_cleanup_file FILE *f = fopen("/proc/net/unix", "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *path = strchr(line, '/');
		if (!path || path[-1] != ' ')
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (++n > SOCKETS_MAX)
			return ward_err_set(err, -E2BIG, "too many sockets to hide");
		if (!ward_view_find(w, path))
			cover(w, path);
	}
	return 0;
}

int ward_view_whole(const char *const *covers, struct ward_view_list *w, struct ward_err *err)
{
	int r = show_all(w, "", own, COUNT(own), err);
	if (r == 0)
		r = show_all(w, "/etc", secrets, COUNT(secrets), err);
	if (r < 0)
		return r;
	ward_view_add(w, WARD_BLUEPRINT_DIR, "/home", NULL, 0755, 0);
	for (size_t i = 0; i < COUNT(secret_places); i++)
		cover(w, secret_places[i]);
	for (size_t i = 0; covers && covers[i]; i++)
		cover(w, covers[i]);
	cover_homes(w);
	return cover_sockets(w, err);
}
