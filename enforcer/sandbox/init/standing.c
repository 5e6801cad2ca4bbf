/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do our mounts still stand? The kernel detaches what is mounted on a name that a file system calls
 * gone (fs/dcache.c, d_invalidate()), in silence: when somebody on the host removes or replaces the
 * directory, and when a lookup of it fails, which the command brings about by taking the right to
 * search from the directory above. What the mount covered would be served in its place. So pid 1
 * watches its table of mounts (proc_pid_mountinfo(5)), and all ends when one of ours is missing.
 *
 * A mount on the root's own tmpfs cannot be lost so; but a tree may also stand in a directory of
 * the host that the view shows.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

static bool watched(const struct ward_blueprint *p)
{
	bool any = p->n_trees > 0;
	for (size_t i = 0; i < p->n_entries && !any; i++)
		any = p->entries[i].kind == WARD_BLUEPRINT_COVER;
	return any;
}

/* With pread(2): the descriptor has no place of its own that would have to be set back. */
static int read_table(int fd, struct ward_buf *ret)
{
	char chunk[4096];
	ssize_t n = 0;
	while ((n = pread(fd, chunk, sizeof(chunk), (off_t)ret->len)) > 0)
		ward_buf_add(ret, chunk, (size_t)n);
	return n < 0 ? -errno : ward_buf_error(ret);
}

/* A line of the table: "ID PARENT DEVICE ROOT POINT OPTIONS … - TYPE SOURCE OPTIONS". */
struct mount {
	unsigned long id;
	const char *point; /* blanks and the like as \ooo */
	size_t len;
	bool ours; /* of our kind: the host may have such mounts, too */
};

/* The next mount in the table from *at on; false at its end. */
static bool next_mount(const char **at, struct mount *ret)
{
	const char *line = *at;
	const char *end = line + strcspn(line, "\n");
	if (*line == '\0')
		return false;
	*at = *end ? end + 1 : end;
	const char *point = line;
	for (int i = 0; i < 4; i++) {
		point += strcspn(point, " \n");
		point += *point == ' ';
	}
	/* Stands between the two parts alone. */
	const char *dash = strstr(line, " - ");
	const char *source = dash && dash < end ? dash + 3 + strcspn(dash + 3, " \n") : end;
	*ret = (struct mount){.id = strtoul(line, NULL, 10),
		.point = point,
		.len = strcspn(point, " \n"),
		.ours = strncmp(source, " wardfs ", 8) == 0};
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '7';
}

/* view: what stands before path, unless it is "/". */
static bool is_at(const struct mount *m, const char *path, const char *view)
{
	size_t i = view[1] ? strlen(view) : 0;
	if (i && (m->len < i || strncmp(m->point, view, i) != 0))
		return false;
	for (; i < m->len && *path; path++) {
		const char *s = m->point + i;
		bool octal = s[0] == '\\' && m->len - i >= 4 && is_digit(s[1]) && is_digit(s[2]) &&
			     is_digit(s[3]);
		int c = octal ? (s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0')
			      : (unsigned char)s[0];
		if (c != (unsigned char)*path)
			return false;
		i += octal ? 4 : 1;
	}
	return i == m->len && *path == '\0';
}

/* Of the blueprint, and one that could be lost without notice. */
static bool is_kept(const struct ward_init *in, const struct mount *m)
{
	const struct ward_blueprint *p = &in->blueprint;
	for (size_t i = 0; i < in->n_nested; i++)
		if (in->nested_ids[i] == m->id)
			return true;
	for (size_t i = 0; m->ours && i < p->n_entries; i++) {
		const struct ward_blueprint_entry *e = &p->entries[i];
		if ((e->kind == WARD_BLUEPRINT_TREE || e->kind == WARD_BLUEPRINT_TREE_AT ||
			    e->kind == WARD_BLUEPRINT_COVER) &&
			is_at(m, e->path, in->view))
			return true;
	}
	return false;
}

/* The ids of mounts to keep, into ret if that is not NULL; returns how many. */
static size_t list(const struct ward_init *in, const char *table, unsigned long *ret)
{
	struct mount m;
	size_t n = 0;
	while (next_mount(&table, &m))
		if (is_kept(in, &m)) {
			if (ret)
				ret[n] = m.id;
			n++;
		}
	return n;
}

static bool has(const unsigned long *ids, uint64_t id)
{
	while (*ids && *ids != id)
		ids++;
	return *ids != 0;
}

int ward_init_note_mounts(struct ward_init *in, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf table = WARD_BUF_INIT;
	if (!watched(&in->blueprint))
		return 0;
	/* A change after this is seen, and so is each before the table was read. */
	in->mount_table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (in->mount_table < 0)
		return ward_err_sys(err, -errno, "watch the mounts");
	int r = read_table(in->mount_table, &table);
	if (r < 0)
		return ward_err_sys(err, r, "watch the mounts");
	size_t n = list(in, ward_buf_str(&table), NULL);
	in->mount_ids = calloc(n + 1, sizeof(*in->mount_ids));
	if (!in->mount_ids)
		return ward_err_sys(err, -ENOMEM, "watch the mounts");
	list(in, ward_buf_str(&table), in->mount_ids);
	for (size_t i = 0; i < in->n_nested; i++)
		if (!has(in->mount_ids, in->nested_ids[i]))
			return ward_err_set(
				err, -EIO, "a mount of wardfs is missing from the table of mounts");
	return 0;
}

bool ward_init_mounts_stand(const struct ward_init *in)
{
	ward_cleanup(ward_buf_clear) struct ward_buf table = WARD_BUF_INIT;
	if (read_table(in->mount_table, &table) < 0)
		return false;
	for (const unsigned long *id = in->mount_ids; *id; id++) {
		const char *at = ward_buf_str(&table);
		bool there = false;
		struct mount m;
		while (!there && next_mount(&at, &m))
			there = m.id == *id;
		if (!there)
			return false;
	}
	return true;
}
