/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, finds, locks and clears kept homes. */
#include "enforcer/session/home/home.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "conf/embedded.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/limit.h"
#include "enforcer/base/quantity.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/chosen.h"

#define HOMES WARD_CHOSEN_HOMES
/* Who starts beside others waits while one of them cleans up; both are short. */
#define LOCK_TRIES 400
#define LOCK_WAIT_NS 25000000L

void ward_home_clear(struct ward_kept_home *h)
{
	free(h->dir);
	free(h->source);
	if (h->lock >= 0)
		close(h->lock);
	if (h->home >= 0)
		close(h->home);
	if (h->at >= 0)
		close(h->at);
	*h = WARD_HOME_INIT;
}

int ward_home_look(const char *state, uid_t uid, const char *project, int project_fd,
	struct ward_kept_home *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
	ward_cleanup(ward_home_clear) struct ward_kept_home h = WARD_HOME_INIT;
	ward_chosen_home_dir(&dir, state, uid, project);
	h.dir = ward_buf_steal(&dir);
	if (!h.dir || asprintf(&h.source, "%s/home", h.dir) < 0)
		return ward_err_sys(err, -ENOMEM, "the kept home");
	int r = ward_home_bound_text(project_fd, h.bound);
	if (r < 0)
		return ward_err_sys(err, r, "%s", project);
	/* Else a new one; opening it reports anything else that is wrong. */
	ward_cleanup_fd int at = open(h.dir, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at >= 0)
		h.home = openat(at, "home", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	h.other = ward_home_bound_other(at, h.bound);
	ward_home_used_read(at, &h.used);
	*ret = h;
	h = WARD_HOME_INIT;
	return 0;
}

static int used(struct ward_kept_home *h, uint64_t limit, struct ward_err *err)
{
	struct ward_home_size size = {0, 0};
	if (ward_home_used_believe(&h->used, limit))
		return 0;
	int r = h->home < 0 ? 0 : ward_home_measure(h->home, &size, err);
	if (r == 0)
		ward_home_used_counted(&h->used, size.bytes);
	return r;
}

int ward_home_text(struct ward_kept_home *h, const struct ward_policy *p,
	const struct ward_mode *mode, struct ward_buf *b, struct ward_err *err)
{
	const struct ward_settings *s = ward_policy_settings(p);
	if (s->home != WARD_HOME_PROJECT || !(mode->takes & WARD_TAKES_HOME))
		return 0;
	for (size_t i = 0; i < s->n_trees; i++)
		if (ward_path_beneath(s->trees[i].path, WARD_HOME_PATH) ||
			ward_path_beneath(WARD_HOME_PATH, s->trees[i].path))
			return ward_err_set(err, -EINVAL,
				"[tree %s] conflicts with [home] mode = project: the kept home "
				"is at " WARD_HOME_PATH,
				s->trees[i].path);
	/* A path stands as it is in source =: no quoting exists there. */
	if (strpbrk(h->source, "];#~\\\n"))
		return ward_err_set(err, -EINVAL,
			"the state directory %s cannot hold a kept home: a policy cannot name a "
			"path "
			"with ']', ';', '#', '~' or '\\' in it; set XDG_STATE_HOME, or [home] "
			"mode = tmpfs",
			h->source);
	ward_buf_printf(b,
		"[tree " WARD_HOME_PATH
		"]\nsource = %s\nat = none\n[files]\nwrite = " WARD_HOME_PATH "\n",
		h->source);
	if (s->home_size == WARD_UNLIMITED)
		return 0;
	int r = used(h, s->home_size, err);
	uint64_t n = h->used.bytes;
	n = n < s->home_size ? s->home_size - n : 0;
	const bool whole = n && n % (UINT64_C(1) << 30) == 0; /* people read it */
	ward_buf_printf(b, "[quota " WARD_HOME_PATH "]\ngrowth = %" PRIu64 "%s\n",
		whole ? n >> 30 : n, whole ? "G" : "");
	return r;
}

/* --- making and locking --- */

/* A directory of ours beneath at; made where it is missing. */
static int sub(int at, const char *name, int *ret)
{
	struct stat st;
	if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
		return -errno;
	ward_cleanup_fd int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	/* Only we can have made it: the state directory is ours alone. */
	if (st.st_uid != geteuid() || st.st_mode & 022)
		return -EPERM;
	*ret = ward_steal_fd(&fd);
	return 0;
}

/* Is the lock still the one that the name stands for? Who cleared the home took it away. */
static bool same_file(int fd, int dir, const char *name)
{
	struct stat a, b;
	return fstat(fd, &a) == 0 && fstatat(dir, name, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int open_lock(int dir)
{
	return ward_fd_make_regular(dir, "lock", O_RDWR, 0600);
}

/* homes/UID/NAME-HASH, with its lock: whole (*ret_alone) if nobody else has it, else shared. */
static int take(struct ward_kept_home *h, int state, int *ret_dir, bool *ret_alone)
{
	const struct timespec wait = {.tv_nsec = LOCK_WAIT_NS};
	const char *name = strrchr(h->dir, '/') + 1;
	const char *uid = memrchr(h->dir, '/', (size_t)(name - 1 - h->dir));
	char number[16];
	snprintf(number, sizeof(number), "%.*s", (int)(name - 1 - uid - 1), uid + 1);
	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		ward_cleanup_fd int homes = -1;
		ward_cleanup_fd int user = -1;
		ward_cleanup_fd int dir = -1;
		ward_cleanup_fd int lock = -1;
		int r = sub(state, HOMES, &homes);
		if (r == 0)
			r = sub(homes, number, &user);
		if (r == 0)
			r = sub(user, name, &dir);
		if (r == 0 && (lock = open_lock(dir)) < 0)
			r = lock;
		/* It went away under us. */
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return r;
		*ret_alone = flock(lock, LOCK_EX | LOCK_NB) == 0;
		if ((*ret_alone || flock(lock, LOCK_SH | LOCK_NB) == 0) &&
			same_file(lock, dir, "lock")) {
			h->lock = ward_steal_fd(&lock);
			*ret_dir = ward_steal_fd(&dir);
			return 0;
		}
		nanosleep(&wait, NULL);
	}
	return -EBUSY;
}

static int write_project(int dir, const char *project)
{
	ward_cleanup_fd int fd =
		openat(dir, "project", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	int r = ward_fd_write_all(fd, project, strlen(project));
	if (r < 0)
		(void)unlinkat(dir, "project", 0);
	return r;
}

/* Before there is a home/: what another start has written stays. */
static int write_before(int dir, const char *project, const struct ward_known *known)
{
	ward_cleanup(ward_buf_clear) struct ward_buf list = WARD_BUF_INIT;
	struct stat st;
	if (fstatat(dir, "home", &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
		return 0;
	for (size_t i = 0; i < known->n_marked; i++) {
		const char *rel = ward_known_beneath(known->marked[i], project);
		if (rel && *rel && list.len + strlen(rel) < WARD_CHOSEN_BEFORE_MAX)
			ward_buf_add(&list, rel, strlen(rel) + 1);
	}
	if (ward_buf_error(&list) < 0)
		return -ENOMEM;
	ward_cleanup_fd int fd = openat(dir, WARD_CHOSEN_BEFORE,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	int r = ward_fd_write_all(fd, list.data, list.len);
	if (r < 0)
		(void)unlinkat(dir, WARD_CHOSEN_BEFORE, 0);
	return r;
}

/* home/: the owner's, and nobody else's. */
static int open_home(int dir, const struct ward_identity *id, int *ret)
{
	struct stat st;
	bool made = mkdirat(dir, "home", 0700) == 0;
	if (!made && errno != EEXIST)
		return -errno;
	ward_cleanup_fd int fd = openat(dir, "home", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (made && id->root && fchownat(fd, "", id->owner_uid, id->owner_gid, AT_EMPTY_PATH) < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* The command may have changed the directory's mode, but not its owner. */
	if (st.st_uid != id->owner_uid)
		return -EPERM;
	char self[64];
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if ((st.st_mode & 07777) != 0700 && chmod(self, 0700) < 0)
		return -errno;
	*ret = ward_steal_fd(&fd);
	return 0;
}

/* The first name of path does not exist: most do not, and a walk to each takes ten calls. */
static bool lacks(int backing, const char *path)
{
	char first[128];
	struct stat st;
	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(path, "/"), path);
	return !strchr(first, '*') && fstatat(backing, first, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	       errno == ENOENT;
}

static int drop(int backing, struct ward_err *err)
{
	const char *list = NULL;
	for (size_t i = 0; ward_embedded_lists[i].name; i++)
		if (strcmp(ward_embedded_lists[i].name, "home-dropped") == 0)
			list = ward_embedded_lists[i].data;
	while (list && *list) {
		char path[128];
		size_t n = strcspn(list, " \n");
		if (n > 0 && n < sizeof(path) && *list != '#') {
			memcpy(path, list, n);
			path[n] = '\0';
			int r = lacks(backing, path) ? 0 : ward_home_remove(backing, path, err);
			if (r < 0)
				return ward_err_wrap(err, "the kept home");
		}
		list += strcspn(list, "\n");
		list += *list == '\n';
	}
	return 0;
}

/* Makes what is missing, and takes the lock. *ret_backing, *ret_dir: the caller's. */
static int make(struct ward_kept_home *h, const struct ward_identity *id, const char *state,
	const char *project, const struct ward_known *known, int *ret_backing, int *ret_dir,
	bool *ret_alone, struct ward_err *err)
{
	struct ward_store *store = NULL;
	ward_cleanup_fd int dir = -1;
	/* Refuses a state directory that others can write to. */
	int r = ward_store_open(state, true, &store, err);
	/* The host's cannot be made: nothing that was asked for is wrong. */
	if (r == -ENOENT)
		r = -EIO;
	ward_store_close(store);
	if (r < 0)
		return r;
	ward_cleanup_fd int top = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = top < 0 ? -errno : take(h, top, &dir, ret_alone);
	if (r == -EBUSY)
		return ward_err_set(
			err, r, "another wardfs is clearing the kept home %s; try again", h->dir);
	if (r == 0)
		r = write_project(dir, project);
	if (r == 0)
		r = ward_home_bound_write(dir, h->bound, false);
	if (r == 0 && ward_home_bound_other(dir, h->bound))
		r = -EBUSY;
	if (r == 0)
		r = write_before(dir, project, known);
	if (r == 0)
		r = open_home(dir, id, ret_backing);
	if (r < 0)
		return ward_err_sys(err, r, "the kept home %s", h->dir);
	*ret_dir = ward_steal_fd(&dir);
	return 0;
}

int ward_home_mark(const struct ward_identity *id, const char *state,
	const struct ward_project *project, const struct ward_known *known, struct ward_err *err)
{
	ward_cleanup(ward_home_clear) struct ward_kept_home h = WARD_HOME_INIT;
	ward_cleanup_fd int backing = -1;
	ward_cleanup_fd int dir = -1;
	bool alone = false;
	/* No session removes a project file, or what the owner has. */
	if (project->by == WARD_PROJECT_BY_POLICY || project->by == WARD_PROJECT_BY_BEFORE ||
		project->by == WARD_PROJECT_BY_FILE)
		return 0;
	int r = ward_home_look(state, id->owner_uid, project->path, project->fd, &h, err);
	/* It is there already, if only for another directory of this path. */
	if (r < 0 || h.other || h.home >= 0)
		return r;
	return make(&h, id, state, project->path, known, &backing, &dir, &alone, err);
}

int ward_home_open(struct ward_kept_home *h, const struct ward_identity *id, const char *state,
	const char *project, const struct ward_known *known, int *ret_backing, struct ward_err *err)
{
	bool alone = false;
	ward_cleanup_fd int backing = -1;
	ward_cleanup_fd int dir = -1;
	int r = make(h, id, state, project, known, &backing, &dir, &alone, err);
	if (r < 0)
		return r;
	r = ward_home_used_begin(dir, alone, &h->used);
	if (r < 0)
		return ward_err_sys(err, r, "the kept home %s", h->dir);
	h->at = ward_steal_fd(&dir);
	if (alone) {
		struct ward_as_owner as;
		r = ward_as_owner_begin(id, &as, err);
		if (r == 0)
			r = drop(backing, err);
		ward_as_owner_end(&as);
		/* Not atomic (flock(2)): who waits to clear it may come first. */
		if (r == 0 && (flock(h->lock, LOCK_SH | LOCK_NB) < 0 ||
				      !same_file(h->lock, h->at, "lock")))
			r = ward_err_set(err, -EBUSY,
				"another wardfs is clearing the kept home %s; try again", h->dir);
	}
	if (r == 0)
		*ret_backing = ward_steal_fd(&backing);
	return r;
}

void ward_home_ended(struct ward_kept_home *h, uint64_t added)
{
	/* A session in between makes a line of its own (flock(2): not atomic). */
	if (h->at >= 0 && h->lock >= 0 && flock(h->lock, LOCK_EX | LOCK_NB) == 0)
		ward_home_used_end(h->at, added, &h->used);
	(void)flock(h->lock, LOCK_UN);
}

/* The directory of rel, made as far as it is missing; -ENOTDIR where something else stands. */
static int make_above(int backing, const char *rel, const char **ret_name, int *ret)
{
	ward_cleanup_fd int at = fcntl(backing, F_DUPFD_CLOEXEC, 3);
	for (const char *slash; at >= 0 && (slash = strchr(rel, '/')); rel = slash + 1) {
		char name[256];
		size_t n = (size_t)(slash - rel);
		if (n == 0 || n >= sizeof(name))
			return -EINVAL;
		memcpy(name, rel, n);
		name[n] = '\0';
		if (mkdirat(at, name, 0755) < 0 && errno != EEXIST)
			return -errno;
		int next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			return -errno;
		close(at);
		at = next;
	}
	if (at < 0)
		return -errno;
	*ret_name = rel;
	*ret = ward_steal_fd(&at);
	return 0;
}

static int make_link(int backing, const char *rel, const char *target)
{
	char now[4096];
	const char *name = rel;
	ward_cleanup_fd int at = -1;
	int r = make_above(backing, rel, &name, &at);
	/* The command's own: it goes without the tool chain. */
	if (r == -ENOTDIR || r == -ELOOP || r == -EACCES)
		return 0;
	if (r < 0)
		return r;
	ssize_t n = readlinkat(at, name, now, sizeof(now) - 1);
	if (n >= 0) {
		now[n] = '\0';
		if (strcmp(now, target) == 0)
			return 0;
		(void)unlinkat(at, name, 0);
	}
	return symlinkat(target, at, name) < 0 && errno != EEXIST && errno != EACCES ? -errno : 0;
}

int ward_home_link(int backing, const struct ward_identity *id, const char *rel, const char *target,
	struct ward_err *err)
{
	struct ward_as_owner as;
	int r = ward_as_owner_begin(id, &as, err);
	if (r < 0)
		return r;
	r = make_link(backing, rel, target);
	ward_as_owner_end(&as);
	return r < 0 ? ward_err_sys(err, r, "the kept home: %s", rel) : 0;
}

/* --- all of them --- */

static int visit_one(const char *state, int user, uid_t uid, const char *name,
	ward_home_visit *visit, void *arg, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf project = WARD_BUF_INIT;
	ward_cleanup_free char *path = NULL;
	ward_cleanup_fd int dir =
		openat(user, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
			       ? 0
			       : ward_err_sys(err, -errno, "%s", name);
	ward_cleanup_fd int text = ward_fd_open_regular(dir, "project", O_RDONLY);
	if (text >= 0 && ward_fd_read_all(text, 65536, &project) < 0)
		ward_buf_clear(&project);
	if (asprintf(&path, "%s/" HOMES "/%u/%s/home", state, (unsigned)uid, name) < 0)
		return ward_err_sys(err, -ENOMEM, "homes");
	ward_cleanup_fd int home =
		openat(dir, "home", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup_fd int lock = ward_fd_open_regular(dir, "lock", O_RDWR);
	bool busy = lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0;
	/* Only a look: a session that starts meanwhile shall not wait for us. */
	if (lock >= 0 && !busy)
		(void)flock(lock, LOCK_UN);
	const struct ward_home_entry e = {.name = name,
		.project = ward_buf_str(&project),
		.path = path,
		.uid = uid,
		.busy = busy,
		.dir = dir,
		.home = home,
		.above = user};
	return visit(arg, &e, err);
}

static int cmp_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int no_dots(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int visit_user(const char *state, int homes, const char *name, ward_home_visit *visit,
	void *arg, struct ward_err *err)
{
	struct dirent **v = NULL;
	uint64_t uid = 0;
	ward_cleanup_fd int user =
		openat(homes, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (user < 0 || ward_quantity_whole(name, 0, UINT32_MAX, &uid, NULL) < 0)
		return 0;
	int n = scandirat(user, ".", &v, no_dots, cmp_names);
	int r = n < 0 ? ward_err_sys(err, -errno, "homes") : 0;
	for (int i = 0; i < n; i++) {
		if (r == 0)
			r = visit_one(state, user, (uid_t)uid, v[i]->d_name, visit, arg, err);
		free(v[i]);
	}
	free(v);
	return r;
}

int ward_home_each(const char *state, ward_home_visit *visit, void *user, struct ward_err *err)
{
	struct dirent **v = NULL;
	ward_cleanup_fd int top = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_fd int homes =
		top < 0 ? -1 : openat(top, HOMES, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (homes < 0)
		return errno == ENOENT ? 0 : ward_err_sys(err, -errno, "%s/" HOMES, state);
	int n = scandirat(homes, ".", &v, no_dots, cmp_names);
	int r = n < 0 ? ward_err_sys(err, -errno, "%s/" HOMES, state) : 0;
	for (int i = 0; i < n; i++) {
		if (r == 0)
			r = visit_user(state, homes, v[i]->d_name, visit, user, err);
		free(v[i]);
	}
	free(v);
	return r;
}

int ward_home_delete(const struct ward_home_entry *e, ward_home_progress *progress, void *user,
	struct ward_err *err)
{
	ward_cleanup_fd int lock = open_lock(e->dir);
	if (lock < 0)
		return ward_err_sys(err, lock, "%s", e->path);
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return ward_err_set(err, -EBUSY,
			"did not clear the home of %s, because a session of that project is running ('wardfs ps' names it)",
			e->project);
	if (!same_file(lock, e->dir, "lock"))
		return 0; /* somebody else was faster */
	/* As root with the owner's rights alone: no more than the owner could. */
	struct stat st;
	if (e->home >= 0 && fstat(e->home, &st) == 0) {
		const struct ward_identity id = {
			.root = geteuid() == 0, .owner_uid = st.st_uid, .owner_gid = st.st_gid};
		struct ward_as_owner as = {0};
		int r = ward_as_owner_begin(&id, &as, err);
		if (r == 0)
			r = ward_home_empty(e->home, progress, user, err);
		ward_as_owner_end(&as);
		if (r < 0)
			return r;
	}
	if (unlinkat(e->dir, "home", AT_REMOVEDIR) < 0 && errno != ENOENT)
		return ward_err_sys(err, -errno, "%s", e->path);
	(void)unlinkat(e->dir, "project", 0);
	(void)unlinkat(e->dir, "bound", 0);
	(void)unlinkat(e->dir, WARD_CHOSEN_BEFORE, 0);
	(void)unlinkat(e->dir, "used", 0);
	(void)unlinkat(e->dir, "lock", 0);
	return unlinkat(e->above, e->name, AT_REMOVEDIR) < 0 && errno != ENOENT
		       ? ward_err_sys(err, -errno, "%s", e->name)
		       : 0;
}

int ward_home_bind(const struct ward_home_entry *e, struct ward_err *err)
{
	char bound[WARD_HOME_BOUND_MAX];
	ward_cleanup_fd int fd = open(e->project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : ward_home_bound_text(fd, bound);
	if (r == 0)
		r = ward_home_bound_write(e->dir, bound, true);
	return r < 0 ? ward_err_sys(err, r, "%s", e->project) : 0;
}
