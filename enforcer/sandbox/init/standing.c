/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do our mounts still stand? The kernel detaches what is mounted on a name that a file system calls
 * gone (fs/dcache.c, d_invalidate()), in silence: when somebody on the host removes or replaces the
 * directory, and when a lookup of it fails, which the command brings about by taking the right to
 * search from the directory above. What the mount covered would be served in its place. So pid 1
 * watches its table of mounts (proc_pid_mountinfo(5)), and all ends when one of ours is missing.
 *
 * Mounts on the root's own tmpfs cannot be lost so: without others nothing is watched.
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

static bool watched(const struct ward_plan *p)
{
	bool any = !(p->layers & WARD_LAYER_VIEW);
	for (size_t i = 0; i < p->n_entries && !any; i++)
		any = p->entries[i].flags & WARD_PLAN_NESTED ||
		      p->entries[i].kind == WARD_PLAN_COVER;
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

/* The next mount of ours in the table from *at on: its number, 0 at the end. */
static unsigned long next_of_ours(const char **at)
{
	while (**at) {
		const char *line = *at;
		const char *end = line + strcspn(line, "\n");
		/* Blanks within a field are octal: this stands between the two parts alone. */
		const char *dash = strstr(line, " - ");
		*at = *end ? end + 1 : end;
		if (!dash || dash >= end)
			continue;
		/* TYPE SOURCE OPTIONS */
		const char *source = dash + 3 + strcspn(dash + 3, " \n");
		if (strncmp(source, " wardfs ", 8) == 0)
			return strtoul(line, NULL, 10);
	}
	return 0;
}

int ward_init_note_mounts(struct ward_init *in, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf table = WARD_BUF_INIT;
	if (!watched(&in->plan))
		return 0;
	/* A change after this is seen, and so is each before the table was read. */
	in->mount_table = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (in->mount_table < 0)
		return ward_err_sys(err, -errno, "watch the mounts");
	int r = read_table(in->mount_table, &table);
	if (r < 0)
		return ward_err_sys(err, r, "watch the mounts");
	size_t n = 0;
	for (const char *at = ward_buf_str(&table); next_of_ours(&at);)
		n++;
	in->mount_ids = calloc(n + 1, sizeof(*in->mount_ids));
	if (!in->mount_ids)
		return ward_err_sys(err, -ENOMEM, "watch the mounts");
	n = 0;
	for (const char *at = ward_buf_str(&table); (in->mount_ids[n] = next_of_ours(&at));)
		n++;
	return n > 0 ? 0 : ward_err_set(err, -EIO, "the table of mounts has none of ours");
}

bool ward_init_mounts_stand(const struct ward_init *in)
{
	ward_cleanup(ward_buf_clear) struct ward_buf table = WARD_BUF_INIT;
	if (read_table(in->mount_table, &table) < 0)
		return false;
	for (const unsigned long *id = in->mount_ids; *id; id++) {
		bool there = false;
		unsigned long found = 0;
		for (const char *at = ward_buf_str(&table); !there && (found = next_of_ours(&at));)
			there = found == *id;
		if (!there)
			return false;
	}
	return true;
}
