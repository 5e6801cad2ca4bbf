/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the files that sending needs. */
#include "enforcer/cli/audit/export_files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/base/plain.h"

#define HEADERS_MAX 16384

int ward_export_file_open(
	const char *path, enum ward_export_file what, int *ret_fd, struct ward_err *err)
{
	ward_cleanup_fd int dir = -1;
	const char *name = NULL;
	struct stat st;
	int r = ward_patient_reach(path, err);
	if (r == 0)
		r = ward_plain_above(path, &dir, &name, err);
	if (r < 0)
		return r;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (S_ISLNK(st.st_mode))
		return ward_err_set(err, -ELOOP,
			"%s is a symbolic link, which is not followed; give the path that it leads "
			"to",
			path);
	ward_cleanup_fd int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	if (fd == -EINVAL)
		return ward_err_set(err, -EINVAL, "%s is not a regular file", path);
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, fd < 0 ? fd : -errno, "%s", path);
	/* Who owns it can change it at any time: whom to trust, and what is shown. */
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return ward_err_set(err, -EACCES,
			"%s belongs to another user (uid %u), who can change it; copy it to a file "
			"of your own once you know what it holds",
			path, (unsigned)st.st_uid);
	if (st.st_mode & S_IWOTH)
		return ward_err_set(err, -EACCES,
			"%s can be written by everybody; chmod o-w it once you know what it holds",
			path);
	if (what == WARD_EXPORT_SECRET && st.st_mode & S_IRWXO)
		return ward_err_set(
			err, -EACCES, "%s is a secret that everybody can read; chmod o= it", path);
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

/* A token of RFC 9110, and none of those that the request has. */
static bool name_fits(const char *p, size_t n)
{
	static const char *const own[] = {"Host", "Content-Length", "Content-Type", "Connection",
		"Transfer-Encoding", "User-Agent", "Expect", "Content-Encoding"};
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)p[i]) && !strchr("!#$%&'*+-.^_`|~", p[i]))
			return false;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (n == strlen(own[i]) && strncasecmp(p, own[i], n) == 0)
			return false;
	return n > 0;
}

static bool value_fits(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)p[i] < ' ' && p[i] != '\t') || p[i] == 0x7f)
			return false;
	return true;
}

int ward_export_headers(const char *path, struct ward_buf *b, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = ward_export_file_open(path, WARD_EXPORT_SECRET, &fd, err);
	if (r < 0)
		return r;
	r = ward_fd_read_all(fd, HEADERS_MAX, &text);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	unsigned number = 1;
	for (const char *p = text.data, *end = p + text.len; p && p < end; number++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		size_t n = (size_t)((nl ? nl : end) - p);
		const char *next = p + n + 1;
		n -= n > 0 && p[n - 1] == '\r';
		const char *colon = memchr(p, ':', n);
		if (n > 0 && (!colon || !name_fits(p, (size_t)(colon - p)) ||
				     !value_fits(colon, (size_t)(p + n - colon))))
			return ward_err_set(err, -EINVAL,
				"%s:%u: this line is no header that can be added (Name: value)",
				path, number);
		if (n > 0) {
			ward_buf_add(b, p, n);
			ward_buf_puts(b, "\r\n");
		}
		p = next;
	}
	r = ward_buf_error(b);
	return r < 0 ? ward_err_sys(err, r, "%s", path) : 0;
}
