/* SPDX-License-Identifier: Apache-2.0 */
/* Looks for a runtime of the session's owner. */
#include "enforcer/modes/find.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

/* All looks together. */
#define SEARCH_NS (3 * WARD_PATIENT_NS)

void ward_find_begin(struct ward_find *f, ward_patient_fn look)
{
	*f = (struct ward_find){.began_ns = ward_clock_mono_ns(), .look = look};
}

/* A server that went away may stand in the way. */
static bool look_at(struct ward_find *f, const char *name)
{
	const uint64_t left = ward_clock_left_ns(f->began_ns, SEARCH_NS);
	struct ward_patient_found found = {.fd = -1};
	if (!left)
		return false;
	int r = ward_patient(
		f->look, AT_FDCWD, name, left < WARD_PATIENT_NS ? left : WARD_PATIENT_NS, &found);
	if (r == -ETIMEDOUT)
		snprintf(f->silent, sizeof(f->silent), "%s", name);
	if (r < 0)
		return false;
	f->found = (struct ward_mode_found){.program = strdup(found.text), .name = strdup(name)};
	if (!f->found.program || !f->found.name)
		ward_mode_found_clear(&f->found);
	return f->found.program;
}

bool ward_find_in_path(struct ward_find *f, const char *path, const char *suffix)
{
	char name[PATH_MAX];
	for (const char *p = path; p && *p; p += strspn(p, ":")) {
		size_t n = strcspn(p, ":");
		int len =
			*p == '/' ? snprintf(name, sizeof(name), "%.*s%s", (int)n, p, suffix) : -1;
		if (len > 0 && (size_t)len < sizeof(name) && look_at(f, name))
			return true;
		p += n;
	}
	return false;
}

bool ward_find_in(struct ward_find *f, const char *dir, const char *const *names)
{
	char name[PATH_MAX];
	for (; dir && *names; names++) {
		int n = snprintf(name, sizeof(name), "%s/%s", dir, *names);
		if (n > 0 && (size_t)n < sizeof(name) && look_at(f, name))
			return true;
	}
	return false;
}

bool ward_find_lies_in(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	return strncmp(path, dir, n) == 0 && path[n] == '/';
}

int ward_find_look_program(int at, const char *name, struct ward_patient_found *ret)
{
	struct stat st;
	char head[4];
	(void)at;
	if (!realpath(name, ret->text))
		return -errno;
	/* O_NONBLOCK: the name may be a pipe's. */
	ward_cleanup_fd int fd = open(ret->text, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !(st.st_mode & 0111) ||
		pread(fd, head, sizeof(head), 0) != sizeof(head) || memcmp(head, "\177ELF", 4) != 0)
		return -ENOENT;
	return 0;
}
