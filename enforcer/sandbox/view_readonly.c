/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view `readonly`: everything that stands in / and in /etc, entry by entry, read-only, but for
 * homes and credentials. A list can only name what is known: the command also has no more rights
 * than its user, who is never root. view_hide.c covers what lies deeper.
 */
#include "enforcer/sandbox/view.h"

#include <dirent.h>
#include <errno.h>
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
	"maven",					 /* view.c */
	"security", "sudoers", "sudoers.d",		 /* who may become whom */
	"ssh",						 /* host keys */
	"wardfs",					 /* our own floor */
};
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
		ward_view_add(w, WARD_BLUEPRINT_BIND, path, path, 0,
			WARD_BLUEPRINT_OPTIONAL | WARD_BLUEPRINT_SHUT);
	}
}

int ward_view_all(struct ward_view_list *w, const char *dir, const char *const *but, size_t n,
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

int ward_view_whole(struct ward_view_list *w, struct ward_err *err)
{
	int r = ward_view_all(w, "", own, COUNT(own), err);
	if (r == 0)
		r = ward_view_all(w, "/etc", secrets, COUNT(secrets), err);
	if (r == 0)
		ward_view_add(w, WARD_BLUEPRINT_DIR, "/home", NULL, 0755, 0);
	return r;
}
