/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads dpkg's lists: dir/PACKAGE[:ARCH].list has a path a line (deb(5), dpkg-query(1)). dpkg
 * itself is not run.
 */
#include "enforcer/risk/package.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define DPKG_INFO "/var/lib/dpkg/info"
#define SUFFIX ".list"
#define NAMES_MAX 50000U
#define BYTES_MAX ((size_t)64 << 20)
#define LIST_MAX ((size_t)8 << 20)

struct names {
	char **v;
	size_t n, cap;
};

static void names_clear(struct names *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i]);
	free(s->v);
	*s = (struct names){.v = NULL};
}

static bool of_root_alone(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_uid == 0 && !(st.st_mode & 022);
}

static bool is_list(const char *name)
{
	size_t n = strlen(name);
	return n > strlen(SUFFIX) && strcmp(name + n - strlen(SUFFIX), SUFFIX) == 0;
}

static int read_names(int dir, struct names *ret)
{
	ward_cleanup_dir DIR *d = NULL;
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (copy < 0 || !(d = fdopendir(copy))) {
		int r = -errno;
		if (copy >= 0)
			close(copy);
		return r;
	}
	for (const struct dirent *e; (e = readdir(d)) && ret->n < NAMES_MAX;) {
		if (!is_list(e->d_name))
			continue;
		if (ret->n == ret->cap) {
			size_t cap = ret->cap ? 2 * ret->cap : 1024;
			char **more = reallocarray(ret->v, cap, sizeof(*more));
			if (!more)
				return -ENOMEM;
			ret->v = more;
			ret->cap = cap;
		}
		if (!(ret->v[ret->n] = strdup(e->d_name)))
			return -ENOMEM;
		ret->n++;
	}
	return 0;
}

/*
 * Is this path a line of the text? A package may still call /usr/bin/x by the name that it had
 * before /bin was a link: skip bytes in front may be missing.
 */
static bool has_line(const struct ward_buf *text, const char *path, size_t skip)
{
	const char *tail = path + skip;
	size_t n = strlen(tail);
	const char *end = text->data + text->len;
	for (const char *s = text->data; s && s < end; s++) {
		s = memmem(s, (size_t)(end - s), tail, n);
		if (!s)
			return false;
		if (s + n < end && s[n] != '\n')
			continue;
		const char *from = s;
		if ((size_t)(s - text->data) >= skip && memcmp(s - skip, path, skip) == 0)
			from = s - skip;
		if (from == text->data || from[-1] == '\n' || s == text->data || s[-1] == '\n')
			return true;
	}
	return false;
}

/* What is looked for, and what it may still cost. */
struct search {
	int dir;
	const char *path;
	size_t skip;
	size_t left;
	struct ward_buf text; /* of one list after the other */
};

/* 1: the list has the path; 0. */
static int listed(struct search *s, const char *name)
{
	ward_cleanup_fd int fd = ward_fd_open_regular(s->dir, name, O_RDONLY);
	if (fd < 0 || !of_root_alone(fd))
		return 0;
	s->text.len = 0;
	int r = ward_fd_read_all(fd, s->left < LIST_MAX ? s->left : LIST_MAX, &s->text);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	s->left -= s->text.len;
	return s->text.len && has_line(&s->text, s->path, s->skip);
}

/* Of packages, those that are asked first. */
static bool is_likely(const char *list, const char *base)
{
	return strncmp(list, base, strlen(base)) == 0 || strcmp(list, "coreutils" SUFFIX) == 0;
}

/* "PACKAGE" of "PACKAGE[:ARCH].list". */
static char *package_of(const char *list)
{
	size_t n = strlen(list) - strlen(SUFFIX);
	size_t arch = strcspn(list, ":");
	return strndup(list, arch < n ? arch : n);
}

static int search(struct search *s, const struct names *names, char **ret)
{
	const char *base = strrchr(s->path, '/') + 1;
	for (int likely = 1; likely >= 0; likely--) {
		for (size_t i = 0; i < names->n; i++) {
			if (is_likely(names->v[i], base) != likely)
				continue;
			int r = listed(s, names->v[i]);
			if (r < 0)
				return r;
			if (r == 0)
				continue;
			*ret = package_of(names->v[i]);
			return *ret ? 0 : -ENOMEM;
		}
	}
	return 0;
}

int ward_package_find(const char *dir, const char *path, char **ret)
{
	static const char *const merged[] = {"/usr/bin/", "/usr/sbin/", "/usr/lib/"};
	ward_cleanup(names_clear) struct names names = {.v = NULL};
	ward_cleanup_fd int fd =
		open(dir ? dir : DPKG_INFO, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	*ret = NULL;
	if (fd < 0 || !strrchr(path, '/') || !of_root_alone(fd))
		return 0;
	struct search s = {.dir = fd, .path = path, .left = BYTES_MAX};
	for (size_t i = 0; i < sizeof(merged) / sizeof(merged[0]); i++)
		if (strncmp(path, merged[i], strlen(merged[i])) == 0)
			s.skip = strlen("/usr");
	int r = read_names(fd, &names);
	if (r == 0)
		r = search(&s, &names, ret);
	ward_buf_clear(&s.text);
	/* Lists that cannot be read have nothing. */
	return r == -ENOMEM ? r : 0;
}
