/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps how far an export came. */
#include "enforcer/cli/audit/export_cursor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/output.h"

/* "SESSION SEQ\n", padded with spaces: written in one piece, always over the last one. */
#define CURSOR_BYTES 128

int ward_export_cursor_open(const char *path, const char *session, struct ward_export_cursor *c,
	uint64_t *ret_seq, struct ward_err *err)
{
	char text[CURSOR_BYTES + 1] = "";
	c->fd = -1;
	snprintf(c->session, sizeof(c->session), "%s", session);
	if (!path)
		return 0;
	int r = ward_output_keep(path, 0600, &c->fd, err);
	if (r < 0)
		return r;
	struct stat st;
	if (fstat(c->fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	/* Who can write it has records passed over. */
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & S_IWOTH)
		return ward_err_set(err, -EACCES,
			"%s: others can write this cursor, and have records passed over; name a file "
			"of your own, or chmod o-w it",
			path);
	ssize_t n = pread(c->fd, text, CURSOR_BYTES, 0);
	if (n < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (n == 0)
		return 0;
	const size_t len = strlen(c->session);
	const char *number = text + len + 1;
	if (strncmp(text, c->session, len) != 0 || text[len] != ' ')
		return ward_err_set(err, -EINVAL,
			"%s: this cursor belongs to another session, or is not a cursor", path);
	if (!ward_quantity_digits(&number, ret_seq))
		return ward_err_set(err, -EINVAL, "%s: no cursor", path);
	return 0;
}

int ward_export_cursor_write(const struct ward_export_cursor *c, uint64_t seq)
{
	char text[CURSOR_BYTES + 1];
	if (c->fd < 0)
		return 0;
	int n = snprintf(text, sizeof(text), "%s %" PRIu64, c->session, seq);
	if (n < 0 || n >= CURSOR_BYTES)
		return -EINVAL;
	memset(text + n, ' ', (size_t)(CURSOR_BYTES - n));
	text[CURSOR_BYTES - 1] = '\n';
	ssize_t w = pwrite(c->fd, text, CURSOR_BYTES, 0);
	return w == CURSOR_BYTES ? 0 : w < 0 ? -errno : -EIO;
}

int ward_export_cursor_close(struct ward_export_cursor *c)
{
	if (c->fd < 0)
		return 0;
	int r = fsync(c->fd) < 0 ? -errno : 0;
	close(c->fd);
	c->fd = -1;
	return r;
}
