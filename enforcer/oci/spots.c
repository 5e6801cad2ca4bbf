/* SPDX-License-Identifier: Apache-2.0 */
/* Follows destinations beneath the root file system of a container, as its runtime does. */
#include "enforcer/oci/spots.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/known.h"

/* Those of Linux (path_resolution(7)). */
#define LINKS_MAX 40
#define FUSE "fuse.wardfs"
/* As id of a mount it is none. */
#define GUARDS_MAX 256

/* A mount of config.json that is in place when the next one is followed. */
struct placed {
	const char *spot;
	int fd; /* what shows there; -1: nothing that has links */
};

struct follower {
	int root;
	const struct placed *placed;
	size_t n_placed;
};

/* O_PATH of a path of the container that has no links in it; or a negative errno. */
static int look(const struct follower *f, const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	const char *rest = path + 1;
	int base = f->root;
	/* The last one that was mounted covers the others. */
	for (size_t i = f->n_placed; i-- > 0;) {
		const struct placed *p = &f->placed[i];
		const size_t n = strlen(p->spot);
		if (strcmp(p->spot, path) == 0)
			return -ENOENT; /* a mount is no link */
		if (!ward_known_beneath(path, p->spot))
			continue;
		base = p->fd;
		rest = path + n + 1;
		break;
	}
	return base < 0 ? -ENOENT : ward_fd_openat2(base, rest, &how);
}

/* 1: it is a link, with its target; 0: it is none, or nothing is there; or a negative errno. */
static int read_link(const struct follower *f, const char *path, char ret[PATH_MAX])
{
	struct stat st;
	ward_cleanup_fd int fd = look(f, path);
	if (fd < 0 && fd != -ENOENT && fd != -ENOTDIR && fd != -ELOOP)
		return fd;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISLNK(st.st_mode))
		return 0;
	const ssize_t n = readlinkat(fd, "", ret, PATH_MAX - 1);
	if (n <= 0)
		return n < 0 ? -errno : -ENOENT;
	ret[n] = '\0';
	return 1;
}

/* Takes the first component off *left into ret; false: none is left. */
static bool take(const char **left, char ret[NAME_MAX + 1])
{
	*left += strspn(*left, "/");
	const size_t n = strcspn(*left, "/");
	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(ret, *left, n);
	ret[n] = '\0';
	*left += n;
	return true;
}

static int follow(const struct follower *f, const char *destination, char ret[PATH_MAX])
{
	char left[2 * PATH_MAX], target[PATH_MAX], name[NAME_MAX + 1];
	const char *at = left;
	size_t len = 0;
	unsigned links = 0;
	if (snprintf(left, sizeof(left), "%s", destination) >= (int)sizeof(left))
		return -ENAMETOOLONG;
	ret[0] = '\0';
	while (take(&at, name)) {
		if (strcmp(name, ".") == 0)
			continue;
		if (strcmp(name, "..") == 0) {
			while (len > 0 && ret[--len] != '/')
				;
			ret[len] = '\0';
			continue;
		}
		const size_t before = len;
		if (len + strlen(name) + 2 > PATH_MAX)
			return -ENAMETOOLONG;
		len += (size_t)snprintf(ret + len, PATH_MAX - len, "/%s", name);
		int r = read_link(f, ret, target);
		if (r < 0)
			return r;
		if (r == 0)
			continue;
		if (++links > LINKS_MAX)
			return -ELOOP;
		/* The target, then what was left. */
		char next[2 * PATH_MAX];
		if (snprintf(next, sizeof(next), "%s/%s", target, at) >= (int)sizeof(next))
			return -ENAMETOOLONG;
		memcpy(left, next, sizeof(left));
		at = left;
		len = target[0] == '/' ? 0 : before;
		ret[len] = '\0';
	}
	if (len == 0)
		(void)snprintf(ret, PATH_MAX, "/");
	return *at ? -ENAMETOOLONG : 0;
}

static struct ward_oci_volume *volume_of(struct ward_oci_container *c, const json_t *mount)
{
	for (size_t i = 0; i < c->n_volumes; i++)
		if (c->volumes[i].mount == mount)
			return &c->volumes[i];
	return NULL;
}

int ward_oci_spots_find(struct ward_oci_container *c, struct ward_err *err)
{
	json_t *mounts = json_object_get(c->config, "mounts");
	const size_t n = json_array_size(mounts);
	struct placed *placed = calloc(n + 1, sizeof(*placed));
	char **others = calloc(n + 1, sizeof(*others));
	const char *root =
		json_string_value(json_object_get(json_object_get(c->config, "root"), "path"));
	ward_cleanup_fd int fd =
		root ? openat(c->bundle_fd, root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	struct follower f = {.root = fd, .placed = placed};
	int r = !placed || !others ? -ENOMEM : fd < 0 ? -EINVAL : 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		char spot[PATH_MAX];
		const json_t *mount = json_array_get(mounts, i);
		const char *to = json_string_value(json_object_get(mount, "destination"));
		struct ward_oci_volume *v = volume_of(c, mount);
		r = to ? follow(&f, to, spot) : -EINVAL;
		if (r == 0 && !(others[i] = strdup(spot)))
			r = -ENOMEM;
		if (r < 0) {
			(void)ward_err_sys(err, r == -ENOMEM ? r : -EINVAL,
				"a mount at '%s': its links cannot be followed", to ? to : "");
			break;
		}
		placed[f.n_placed++] = (struct placed){others[i], v ? v->fd : -1};
		if (v && !(v->spot = strdup(spot)))
			r = ward_err_sys(err, -ENOMEM, "%s", to);
	}
	for (size_t i = 0; others && i < n; i++)
		free(others[i]);
	free(others);
	free(placed);
	return r < 0 && !err->text[0] ? ward_err_sys(err, r, "the mounts of config.json") : r;
}

/* --- afterwards --- */

/* The ids of the mount and of what it lies on; whether it is a guard of ours. */
static bool parse(char *line, unsigned long *ret_id, unsigned long *ret_on, bool *ret_guard)
{
	char *end = NULL;
	*ret_id = strtoul(line, &end, 10);
	*ret_on = strtoul(end, &end, 10);
	const char *type = strstr(line, " - ");
	*ret_guard = type && strncmp(type + 3, FUSE " ", sizeof(FUSE)) == 0;
	return type && *ret_id && *ret_on;
}

static int check_table(FILE *table, struct ward_err *err)
{
	unsigned long guards[GUARDS_MAX];
	size_t n = 0;
	for (int round = 0; round < 2; round++) {
		ward_cleanup_free char *line = NULL;
		size_t max = 0;
		rewind(table);
		while (getline(&line, &max, table) > 0) {
			unsigned long id = 0;
			unsigned long on = 0;
			bool guard = false;
			if (!parse(line, &id, &on, &guard))
				return ward_err_set(err, -EBADMSG, "mountinfo: bad line");
			if (round == 0 && guard && n < GUARDS_MAX)
				guards[n++] = id;
			for (size_t i = 0; round == 1 && !guard && i < n; i++)
				if (guards[i] == on)
					return ward_err_set(err, -EPERM,
						"a mount lies over a guarded volume: a link of the "
						"image or of a volume changed meanwhile");
		}
	}
	return ferror(table) ? ward_err_sys(err, -EIO, "mountinfo") : 0;
}

int ward_oci_spots_check(pid_t pid, struct ward_err *err)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	ward_cleanup_file FILE *table = fopen(path, "re");
	return table ? check_table(table, err) : ward_err_sys(err, -errno, "%s", path);
}
