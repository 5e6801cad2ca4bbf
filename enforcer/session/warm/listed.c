/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the sessions that wait, prepared. */
#include "enforcer/session/warm/listed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/session/owner/session_place.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

#define PLACE ".warm"
#define LOCK "lock"
/* Of a directory full of leftovers this many names are looked at. */
#define LOOK_MAX 1024
#define NAP_US 2000
/* GROUP, a dot, WHOLE, a dot */
#define PREFIX (2 * WARD_WARM_NAMED + 2)

/* Only we can write to it. make: also where it is missing. */
static int open_place(const char *runtime, bool make)
{
	/* The first run on this host may not have come to it yet (ward_control_listen()). */
	if (make && mkdir(runtime, 0700) < 0 && errno != EEXIST)
		return -errno;
	ward_cleanup_fd int base = open(runtime, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (base < 0 || fstat(base, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return -EPERM;
	if (make && mkdirat(base, PLACE, 0700) < 0 && errno != EEXIST)
		return -errno;
	ward_cleanup_fd int fd =
		openat(base, PLACE, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid != geteuid() || st.st_mode & 077 ? -EPERM : ward_steal_fd(&fd);
}

/* The session of a name of ours, or NULL. */
static const char *session_of(const char *name)
{
	const bool ours = strlen(name) > PREFIX &&
			  strspn(name, "0123456789abcdef") == WARD_WARM_NAMED &&
			  name[WARD_WARM_NAMED] == '.' && name[PREFIX - 1] == '.';
	return ours && ward_session_name_ok(name + PREFIX) ? name + PREFIX : NULL;
}

static int each(int place, const struct ward_warm_key *key, ward_warm_visit *visit, void *user)
{
	int copy = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *de = NULL;
	int r = 0;
	if (!d && copy >= 0)
		close(copy);
	for (size_t i = 0; d && r == 0 && i < LOOK_MAX && (de = readdir(d)); i++) {
		struct ward_warm_entry e = {.session = session_of(de->d_name)};
		if (!e.session)
			continue;
		e.group = key && memcmp(de->d_name, key->group, WARD_WARM_NAMED) == 0;
		e.whole = e.group && memcmp(de->d_name + WARD_WARM_NAMED + 1, key->whole,
					     WARD_WARM_NAMED) == 0;
		r = visit(user, &e);
	}
	return r;
}

int ward_warm_each(
	const char *runtime, const struct ward_warm_key *key, ward_warm_visit *visit, void *user)
{
	ward_cleanup_fd int place = open_place(runtime, false);
	return place < 0 ? 0 : each(place, key, visit, user);
}

int ward_warm_list(const char *runtime, const struct ward_warm_key *key, const char *session,
	struct ward_err *err)
{
	char name[NAME_MAX + 1];
	ward_cleanup_fd int place = open_place(runtime, true);
	if (place < 0)
		return ward_err_sys(err, place, "%s/" PLACE, runtime);
	int n = snprintf(name, sizeof(name), "%.*s.%.*s.%s", WARD_WARM_NAMED, key->group,
		WARD_WARM_NAMED, key->whole, session);
	if (n < 0 || (size_t)n >= sizeof(name))
		return ward_err_sys(err, -ENAMETOOLONG, "%s", session);
	ward_cleanup_fd int fd =
		openat(place, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return fd < 0 ? ward_err_sys(err, -errno, "%s/" PLACE "/%s", runtime, name) : 0;
}

struct forgotten {
	int place;
	const char *session;
};

static int forget(void *user, const struct ward_warm_entry *e)
{
	const struct forgotten *f = user;
	if (strcmp(e->session, f->session) == 0)
		(void)unlinkat(f->place, e->session - PREFIX, 0);
	return 0;
}

void ward_warm_forget(const char *runtime, const char *session)
{
	ward_cleanup_fd int place = open_place(runtime, false);
	struct forgotten f = {place, session};
	if (place >= 0)
		(void)each(place, NULL, forget, &f);
}

int ward_warm_lock(const char *runtime, int ms, int *ret, struct ward_err *err)
{
	ward_cleanup_fd int place = open_place(runtime, true);
	if (place < 0)
		return ward_err_sys(err, place, "%s/" PLACE, runtime);
	ward_cleanup_fd int fd =
		openat(place, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s/" PLACE "/" LOCK, runtime);
	const uint64_t until = ward_clock_mono_ns() + (uint64_t)ms * 1000000;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK || ward_clock_mono_ns() >= until)
			return ward_err_sys(err, -errno, "%s/" PLACE "/" LOCK, runtime);
		usleep(NAP_US);
	}
	*ret = ward_steal_fd(&fd);
	return 0;
}
