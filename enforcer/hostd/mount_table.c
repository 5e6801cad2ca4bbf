/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which mounts have a file system that registered files may lie on. */
#include "enforcer/hostd/mount_table.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A host with more mounts gets no passthrough. */
#define TABLE_MAX ((size_t)16 << 20)

/* File systems of the kernel itself: none waits for a program or a server. */
static const char *const types[] = {
	"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "tmpfs", "xfs", "zfs"};

int ward_mount_table_open(struct ward_mount_table *ret)
{
	int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	*ret = (struct ward_mount_table){.fd = fd};
	return 0;
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELD…] - TYPE SOURCE SUPER": no field has a space. */
static bool is_listed(const char *line, uint32_t *ret_id)
{
	const char *dash = strstr(line, " - ");
	unsigned id;

	if (!dash || sscanf(line, "%u", &id) != 1)
		return false;
	dash += 3;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		const size_t n = strlen(types[i]);

		if (strncmp(dash, types[i], n) == 0 && dash[n] == ' ') {
			*ret_id = id;
			return true;
		}
	}
	return false;
}

static int read_table(struct ward_mount_table *t)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = {.max = TABLE_MAX};
	char *line, *rest = NULL;
	int r;

	t->n = 0;
	if (lseek(t->fd, 0, SEEK_SET) < 0)
		return -errno;
	r = ward_fd_read_all(t->fd, TABLE_MAX, &text);
	if (r < 0)
		return r;
	for (line = strtok_r((char *)ward_buf_str(&text), "\n", &rest); line;
		line = strtok_r(NULL, "\n", &rest)) {
		uint32_t id;
		uint32_t *more;

		if (!is_listed(line, &id))
			continue;
		more = reallocarray(t->ids, t->n + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->ids = more;
		t->ids[t->n++] = id;
	}
	t->read = true;
	return 0;
}

bool ward_mount_table_has(struct ward_mount_table *t, uint32_t id)
{
	/* POLLERR and POLLPRI: something was mounted or unmounted (proc_pid_mounts(5)). */
	struct pollfd p = {.fd = t->fd, .events = POLLPRI};

	if (!t->read || poll(&p, 1, 0) != 0) {
		t->read = false;
		if (read_table(t) < 0)
			return false;
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->ids[i] == id)
			return true;
	return false;
}
