/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the table of mounts, and tells where in its file system a file lies. */
#include "enforcer/base/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A host with 100,000 mounts, the kernel's limit for a namespace (fs.mount-max), has less. */
#define TABLE_MAX ((size_t)64 << 20)

static uint64_t device(uint64_t high, uint64_t low)
{
	return high << 32 | low;
}

static bool is_octal(const char *s)
{
	return s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
	       s[3] >= '0' && s[3] <= '7';
}

/* The next field, whose blanks stand as \ooo; *s moves behind it. */
static char *field(const char **s)
{
	*s += strspn(*s, " ");
	size_t n = strcspn(*s, " \n");
	char *copy = malloc(n + 1);
	size_t k = 0;
	for (size_t i = 0; copy && i < n; i++) {
		const char *at = *s + i;
		bool octal = n - i >= 4 && is_octal(at);
		copy[k++] =
			octal ? (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + at[3] - '0') : *at;
		i += octal ? 3 : 0;
	}
	if (copy)
		copy[k] = '\0';
	*s += n;
	return copy;
}

static void clear_mount(struct ward_mount_line *m)
{
	free(m->root);
	free(m->point);
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS…" */
static int parse(const char *line, struct ward_mount_line *ret)
{
	char *end = NULL;
	struct ward_mount_line m = {.id = strtoull(line, &end, 10)};
	(void)strtoull(end, &end, 10);
	uint64_t high = strtoull(end, &end, 10);
	if (*end != ':')
		return -EBADMSG;
	m.dev = device(high, strtoull(end + 1, &end, 10));
	const char *s = end;
	m.root = field(&s);
	m.point = field(&s);
	if (!m.root || !m.point) {
		clear_mount(&m);
		return -ENOMEM;
	}
	*ret = m;
	return 0;
}

static int parse_all(const char *s, struct ward_mounts *m)
{
	size_t lines = 0;
	for (const char *at = s; (at = strchr(at, '\n')); at++)
		lines++;
	m->v = calloc(lines + 1, sizeof(*m->v));
	if (!m->v)
		return -ENOMEM;
	int r = 0;
	for (; *s && r == 0; s += strcspn(s, "\n"), s += *s == '\n') {
		r = parse(s, &m->v[m->n]);
		m->n += r == 0;
	}
	return r;
}

int ward_mounts_read(struct ward_mounts *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf table = WARD_BUF_INIT;
	ward_cleanup_fd int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	struct ward_mounts m = {0};
	int r = fd < 0 ? -errno : ward_fd_read_all(fd, TABLE_MAX, &table);
	if (r == 0)
		r = parse_all(ward_buf_str(&table), &m);
	if (r < 0) {
		ward_mounts_clear(&m);
		return ward_err_sys(err, r, "read the table of mounts");
	}
	*ret = m;
	return 0;
}

void ward_mounts_clear(struct ward_mounts *m)
{
	for (size_t i = 0; i < m->n; i++)
		clear_mount(&m->v[i]);
	free(m->v);
	*m = (struct ward_mounts){0};
}

/* What of path lies beneath dir, without a slash in front; NULL: it does not. */
static const char *beneath(const char *path, const char *dir)
{
	size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);
	if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	return path + n + (path[n] == '/');
}

/* By its number; a kernel before 5.8 does not tell one, then by its place, the last that fits. */
static const struct ward_mount_line *find(
	const struct ward_mounts *m, uint64_t id, const char *name)
{
	const struct ward_mount_line *best = NULL;
	for (size_t i = 0; i < m->n; i++) {
		const struct ward_mount_line *v = &m->v[i];
		if (id ? v->id == id : beneath(name, v->point) != NULL)
			if (id || !best || strlen(v->point) >= strlen(best->point))
				best = v;
	}
	return best;
}

const char *ward_mounts_point(const struct ward_mounts *m, const char *path)
{
	const struct ward_mount_line *at = find(m, 0, path);
	return at ? at->point : NULL;
}

static int join(const char *dir, const char *rest, char **ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, dir);
	if (*rest)
		ward_buf_printf(&b, "%s%s", strcmp(dir, "/") == 0 ? "" : "/", rest);
	*ret = ward_buf_steal(&b);
	return *ret ? 0 : -ENOMEM;
}

int ward_spot_find(const struct ward_mounts *m, int fd, struct ward_spot *ret)
{
	ward_cleanup_free char *name = NULL;
	struct statx stx;
	struct stat st;
	int r = ward_fd_path(fd, &name);
	if (r < 0)
		return r;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0 || fstat(fd, &st) < 0)
		return -errno;
	const struct ward_mount_line *at =
		find(m, stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : 0, name);
	const char *rest = at ? beneath(name, at->point) : NULL;
	struct ward_spot s = {.dev = device(major(st.st_dev), minor(st.st_dev))};
	if (rest)
		s.dev = at->dev;
	r = rest ? join(at->root, rest, &s.path) : join(name, "", &s.path);
	if (r == 0)
		*ret = s;
	return r;
}

int ward_spot_of_name(const struct ward_mounts *m, const char *name, struct ward_spot *ret)
{
	const struct ward_mount_line *at = find(m, 0, name);
	const char *rest = at ? beneath(name, at->point) : NULL;
	struct ward_spot s = {.dev = at ? at->dev : 0};
	int r = join(rest ? at->root : name, rest ? rest : "", &s.path);
	if (r == 0)
		*ret = s;
	return r;
}

int ward_spot_of_mount(const struct ward_mount_line *m, struct ward_spot *ret)
{
	struct ward_spot s = {.dev = m->dev};
	int r = join(m->root, "", &s.path);
	if (r == 0)
		*ret = s;
	return r;
}

void ward_spot_clear(struct ward_spot *s)
{
	free(s->path);
	*s = (struct ward_spot){0};
}

const char *ward_spot_beneath(const struct ward_spot *s, const struct ward_spot *above)
{
	return s->dev == above->dev ? beneath(s->path, above->path) : NULL;
}
