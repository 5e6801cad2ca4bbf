/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/segments.h"
#include "audit/store_internal.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Numbers that a taken name can get. */
#define NAME_TRIES 100000
/* A mark: the word of sync and a boot's id. */
#define MARK_MAX 256
/* A mark is made again where another start takes it for a leftover at that very moment. */
#define MARK_TRIES 100

int ward_store_default_path(uid_t uid, const char *xdg_state_home, const char *home,
	char **ret_path, struct ward_err *err)
{
	char *path = NULL;
	int n = 0;
	if (xdg_state_home && xdg_state_home[0] == '/')
		n = asprintf(&path, "%s/wardfs", xdg_state_home);
	else if (uid == 0)
		n = asprintf(&path, "/var/lib/wardfs");
	else if (home && home[0] == '/')
		n = asprintf(&path, "%s/.local/state/wardfs", home);
	else
		return ward_err_set(err, -ENOENT, "state directory: no home directory is known");
	if (n < 0)
		return ward_err_sys(err, -ENOMEM, "state directory");
	*ret_path = path;
	return 0;
}

/* --- the directory --- */

/* mkdir -p with 0700. */
static int make_path(const char *path)
{
	ward_cleanup_free char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	for (char *p = copy + 1;; p++) {
		if (*p != '/' && *p != '\0')
			continue;
		char keep = *p;
		*p = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return -errno;
		if (keep == '\0')
			return 0;
		*p = keep;
	}
}

static int sync_dir(int fd)
{
	return fsync(fd) < 0 ? -errno : 0;
}

/* An open directory that only the process' uid can change, or -EPERM. Root may read any. */
static int check_dir(int fd, bool create)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	bool ours = st.st_uid == geteuid() || (geteuid() == 0 && !create);
	return !ours || st.st_mode & 022 ? -EPERM : 0;
}

/* A fresh key in a file of its own, to disk. */
static int make_secret(int dir_fd, char name[static 32])
{
	uint8_t key[WARD_KEY_BYTES];
	uint64_t unique = 0;
	if (getrandom(&unique, sizeof(unique), 0) != (ssize_t)sizeof(unique))
		return -EIO;
	snprintf(name, 32, "key.%016llx", (unsigned long long)unique);
	ward_cleanup_fd int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	int r = getrandom(key, sizeof(key), 0) == (ssize_t)sizeof(key) ? 0 : -EIO;
	if (r == 0)
		r = ward_fd_write_all(fd, key, sizeof(key));
	ward_chain_wipe(key, sizeof(key));
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir_fd, name, 0);
	return r;
}

/* A key appears whole or not at all, and once: link(2) fails where it is already there. */
static int make_key(int dir_fd, const char *as)
{
	struct stat st;
	if (fstatat(dir_fd, as, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	if (errno != ENOENT)
		return -errno;
	char name[32];
	int r = make_secret(dir_fd, name);
	if (r < 0)
		return r;
	if (linkat(dir_fd, name, dir_fd, as, 0) < 0 && errno != EEXIST)
		r = -errno;
	(void)unlinkat(dir_fd, name, 0);
	return r < 0 ? r : sync_dir(dir_fd);
}

static int make_contents(int dir_fd)
{
	if (mkdirat(dir_fd, "sessions", 0700) < 0 && errno != EEXIST)
		return -errno;
	if (mkdirat(dir_fd, "running", 0700) < 0 && errno != EEXIST)
		return -errno;
	int r = make_key(dir_fd, "key");
	return r < 0 ? r : make_key(dir_fd, "signing.key");
}

/* What is in an open state directory, which is taken. */
static int open_contents(
	const char *path, int *dir, bool create, struct ward_store **ret, struct ward_err *err)
{
	ward_cleanup_fd int sessions =
		openat(*dir, "sessions", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sessions < 0 && (create || errno != ENOENT))
		return ward_err_sys(err, -errno, "%s/sessions", path);
	ward_cleanup_fd int running =
		openat(*dir, "running", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Whom the system's writer lets read has no business in there. */
	if (running < 0 && (create || (errno != ENOENT && errno != EACCES)))
		return ward_err_sys(err, -errno, "%s/running", path);
	struct ward_store *st = calloc(1, sizeof(*st));
	if (!st || !(st->path = strdup(path))) {
		free(st);
		return ward_err_sys(err, -ENOMEM, "state directory");
	}
	st->dir_fd = ward_steal_fd(dir);
	st->sessions_fd = ward_steal_fd(&sessions);
	st->running_fd = ward_steal_fd(&running);
	*ret = st;
	return 0;
}

int ward_store_open(const char *path, bool create, struct ward_store **ret, struct ward_err *err)
{
	if (path[0] != '/')
		return ward_err_set(err, -EINVAL, "state directory %s: not absolute", path);
	int r = create ? make_path(path) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "state directory %s", path);
	ward_cleanup_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return ward_err_sys(err, -errno, "state directory %s", path);
	r = check_dir(dir, create);
	if (r == -EPERM)
		return ward_err_set(err, r,
			"state directory %s: belongs to another user or can be written by others",
			path);
	if (r == 0 && create)
		r = make_contents(dir);
	if (r < 0)
		return ward_err_sys(err, r, "state directory %s", path);
	return open_contents(path, &dir, create, ret, err);
}

int ward_store_open_system(
	const char *top, uid_t uid, struct ward_store **ret, struct ward_err *err)
{
	char name[16];
	struct stat above;
	struct stat here;
	ward_cleanup_free char *path = NULL;
	snprintf(name, sizeof(name), "%u", (unsigned)uid);
	if (asprintf(&path, "%s/%s", top, name) < 0) {
		path = NULL;
		return ward_err_sys(err, -ENOMEM, "state directory");
	}
	ward_cleanup_fd int at = open(top, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0 || fstat(at, &above) < 0)
		return ward_err_sys(err, -errno, "state directory %s", top);
	ward_cleanup_fd int dir = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 || fstat(dir, &here) < 0)
		return ward_err_sys(err, -errno, "state directory %s", path);
	if (here.st_uid != above.st_uid || here.st_uid == uid ||
		(here.st_mode | above.st_mode) & 022)
		return ward_err_set(err, -EPERM,
			"state directory %s: is not the system's writer's alone", path);
	return open_contents(path, &dir, false, ret, err);
}

void ward_store_close(struct ward_store *st)
{
	if (!st)
		return;
	close(st->dir_fd);
	if (st->sessions_fd >= 0)
		close(st->sessions_fd);
	if (st->running_fd >= 0)
		close(st->running_fd);
	free(st->path);
	free(st->index);
	free(st);
}

int ward_store_place_index(
	struct ward_store *st, const char *dir, bool make, uid_t owner, struct ward_err *err)
{
	int r = make ? make_path(dir) : 0;
	if (r < 0)
		return ward_err_sys(err, r, "%s", dir);
	if (r == 0 && asprintf(&st->index, "%s/system-%u.sqlite", dir, (unsigned)owner) < 0) {
		st->index = NULL;
		r = ward_err_sys(err, -ENOMEM, "index");
	}
	return r;
}

char *ward_store_index_path(const struct ward_store *st)
{
	char *path = NULL;
	if (st->index)
		return strdup(st->index);
	return asprintf(&path, "%s/index.sqlite", st->path) < 0 ? NULL : path;
}

const char *ward_store_path(const struct ward_store *st)
{
	return st->path;
}

/* --- making a session --- */

int ward_store_session_id(char ret[WARD_SESSION_ID_MAX], struct ward_err *err)
{
	static const char alphabet[] = "0123456789abcdefghjkmnpqrstvwxyz"; /* no i l o u */
	uint8_t rnd[6];
	if (getrandom(rnd, sizeof(rnd), 0) != (ssize_t)sizeof(rnd))
		return ward_err_sys(err, -EIO, "getrandom");
	time_t now = time(NULL);
	struct tm tm;
	gmtime_r(&now, &tm);
	size_t n = strftime(ret, WARD_SESSION_ID_MAX, "%Y%m%dT%H%M%SZ-", &tm);
	for (size_t i = 0; i < sizeof(rnd); i++)
		ret[n++] = alphabet[rnd[i] & 31];
	ret[n] = '\0';
	return 0;
}

/* Makes sessions/NAME under the first free name. fresh: nobody had it before. */
static int make_session_dir(struct ward_store *st, const char *name, bool fresh,
	char ret_name[WARD_SESSION_NAME_MAX + 1])
{
	struct stat above;
	ward_cleanup_free bool *taken = calloc(NAME_TRIES + 1, sizeof(*taken));
	int r = !taken ? -ENOMEM : fresh ? 0 : ward_store_taken(st, name, taken, NAME_TRIES);
	if (r < 0)
		return r;
	if (fstat(st->sessions_fd, &above) < 0)
		return -errno;
	/* Whom an access control list lets read the one may read the other. */
	const mode_t mode = 0700 | (above.st_mode & 050);
	for (int i = 1; i <= NAME_TRIES; i++) {
		char try[WARD_SESSION_NAME_MAX + 16];
		if (i == 1)
			snprintf(try, sizeof(try), "%s", name);
		else
			snprintf(try, sizeof(try), "%s.%d", name, i);
		if (!ward_session_name_valid(try, strlen(try)))
			return -ENAMETOOLONG;
		/* A trail that is gone keeps its name, or this one could stand for it. */
		if (taken[i])
			continue;
		if (mkdirat(st->sessions_fd, try, mode) == 0) {
			memcpy(ret_name, try, strlen(try) + 1);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int write_file(int dir_fd, const char *name, const void *data, size_t len)
{
	mode_t mode = 0;
	int r = ward_segment_mode(dir_fd, &mode);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	return ward_fd_write_all(fd, data, len);
}

/* To write with: a key that others can read is none. -EPERM. */
static int open_secret(struct ward_store *st, const char *name, int *ret)
{
	struct stat sb;
	ward_cleanup_fd int fd = ward_fd_open_regular(st->dir_fd, name, O_RDONLY);
	if (fd < 0)
		return fd;
	if (fstat(fd, &sb) < 0)
		return -errno;
	if (sb.st_mode & 077)
		return -EPERM;
	*ret = ward_steal_fd(&fd);
	return 0;
}

/* excl: O_EXCL for a new session, 0 for one that is there. */
static int open_files(struct ward_store *st, struct ward_store_session *s, int excl)
{
	const int log = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
	s->dir_fd =
		openat(st->sessions_fd, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->dir_fd < 0)
		return -errno;
	mode_t mode = 0;
	int r = ward_segment_mode(s->dir_fd, &mode);
	if (r == 0 && excl) {
		s->log_fd = openat(s->dir_fd, "trail.jsonl", log | excl, mode);
		s->segment = 1;
	} else if (r == 0) {
		r = ward_segment_last(s->dir_fd, &s->log_fd, &s->segment);
	}
	if (r < 0)
		return r;
	if (s->log_fd < 0)
		return -errno;
	s->ledger_fd = openat(st->dir_fd, "ledger.jsonl", log, 0600);
	if (s->ledger_fd < 0)
		return -errno;
	s->checkpoints_fd = openat(s->dir_fd, "checkpoints", log | excl, mode);
	if (s->checkpoints_fd < 0)
		return -errno;
	r = open_secret(st, "signing.key", &s->sign_fd);
	return r < 0 ? r : open_secret(st, "key", &s->key_fd);
}

int ward_store_create_session(struct ward_store *st, const char *name, const void *policy,
	size_t len, struct ward_store_session *ret, struct ward_err *err)
{
	char id[WARD_SESSION_ID_MAX];
	const bool fresh = !name;
	int r = fresh ? ward_store_session_id(id, err) : 0;
	if (r < 0)
		return r;
	if (fresh)
		name = id;
	/* "latest" has a meaning of its own for those who read. */
	if (!ward_session_name_valid(name, strlen(name)) || strcmp(name, "latest") == 0)
		return ward_err_set(err, -EINVAL,
			"session name: 1 to %u letters, digits, '.', '_' or '-', not beginning "
			"with '.' or '-', and not \"latest\"",
			WARD_SESSION_NAME_MAX);
	struct ward_store_session s = WARD_STORE_SESSION_INIT;
	r = make_session_dir(st, name, fresh, s.name);
	if (r < 0)
		return ward_err_sys(err, r, "%s/sessions/%s", st->path, name);
	r = open_files(st, &s, O_EXCL);
	if (r == 0)
		r = write_file(s.dir_fd, "policy", policy, len);
	if (r < 0) {
		if (r == -EPERM)
			(void)ward_err_set(err, r,
				"%s: key or signing.key can be read by others (chmod 600)",
				st->path);
		else
			(void)ward_err_sys(err, r, "%s/sessions/%s", st->path, s.name);
		ward_store_discard_session(st, &s);
		return r;
	}
	*ret = s;
	return 0;
}

int ward_store_add_policy(struct ward_store_session *s, unsigned n, const void *policy, size_t len,
	struct ward_err *err)
{
	char name[32];
	snprintf(name, sizeof(name), "policy.%u", n);
	int r = write_file(s->dir_fd, name, policy, len);
	if (r == 0)
		r = sync_dir(s->dir_fd);
	if (r < 0)
		(void)unlinkat(s->dir_fd, name, 0);
	return r < 0 ? ward_err_sys(err, r, "%s of session %s", name, s->name) : 0;
}

void ward_store_drop_policy(struct ward_store_session *s, unsigned n)
{
	char name[32];
	snprintf(name, sizeof(name), "policy.%u", n);
	(void)unlinkat(s->dir_fd, name, 0);
}

void ward_store_discard_session(struct ward_store *st, struct ward_store_session *s)
{
	struct stat sb;
	bool empty = s->log_fd < 0 || (fstat(s->log_fd, &sb) == 0 && sb.st_size == 0);
	if (empty && s->dir_fd >= 0) {
		(void)unlinkat(s->dir_fd, "trail.jsonl", 0);
		(void)unlinkat(s->dir_fd, "checkpoints", 0);
		(void)unlinkat(s->dir_fd, "policy", 0);
	}
	/* Of a directory that holds anything else nothing is removed. */
	if (empty)
		(void)unlinkat(st->sessions_fd, s->name, AT_REMOVEDIR);
	ward_store_session_close(s);
}

static int remove_files(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		int r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	for (struct dirent *e = NULL; errno = 0, (e = readdir(d));) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(dir_fd, e->d_name, 0) < 0)
			return -errno;
	}
	return -errno;
}

int ward_store_remove_session(struct ward_store *st, const char *session, struct ward_err *err)
{
	if (!ward_session_name_valid(session, strlen(session)) || st->sessions_fd < 0)
		return ward_err_set(err, -ENOENT, "no such session");
	ward_cleanup_fd int dir =
		openat(st->sessions_fd, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	int r = dir < 0 ? -errno : ward_log_open(dir, &log);
	if (r == 0 && ward_log_has_writer(log))
		r = -EBUSY;
	if (r == -ENOENT && dir >= 0)
		r = 0;
	if (r == 0)
		r = remove_files(dir);
	if (r == 0 && unlinkat(st->sessions_fd, session, AT_REMOVEDIR) < 0)
		r = -errno;
	if (r == 0)
		r = sync_dir(st->sessions_fd);
	return r < 0 ? ward_err_sys(err, r, "%s/sessions/%s", st->path, session) : 0;
}

void ward_store_session_close(struct ward_store_session *s)
{
	const int fds[] = {
		s->dir_fd, s->log_fd, s->ledger_fd, s->key_fd, s->sign_fd, s->checkpoints_fd};
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*s = WARD_STORE_SESSION_INIT;
}

/* --- sessions that have not ended --- */

#define FRESH_MARK ".new.%s"
/* Not locked yet: says nothing of the session, which may be alive. */
#define EARLY_MARK ".own.%s"
#define MARK_NAME_MAX (WARD_SESSION_NAME_MAX + sizeof(FRESH_MARK))

int ward_store_mark(struct ward_store *st, const char *session, const char *text, int *ret_fd,
	struct ward_err *err)
{
	char early[MARK_NAME_MAX];
	char fresh[MARK_NAME_MAX];
	(void)snprintf(early, sizeof(early), EARLY_MARK, session);
	(void)snprintf(fresh, sizeof(fresh), FRESH_MARK, session);
	for (int i = 0; i < MARK_TRIES; i++) {
		struct stat sb = {0};
		ward_cleanup_fd int fd = openat(st->running_fd, early,
			O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
		int r = fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &sb) < 0 ? -errno : 0;
		/* Another start swept between our open and our lock. */
		if (r == 0 && sb.st_nlink == 0)
			continue;
		if (r == 0)
			r = ward_fd_write_all(fd, text, strlen(text));
		/* Locked before it has its name: another start takes one that is not for the mark
		 * of a start that was killed, and the session away. */
		if (r == 0 && renameat(st->running_fd, early, st->running_fd, fresh) < 0)
			r = -errno;
		if (r < 0)
			return ward_err_sys(err, r, "%s/running/%s", st->path, session);
		*ret_fd = ward_steal_fd(&fd);
		return 0;
	}
	return ward_err_sys(err, -EBUSY, "%s/running/%s", st->path, session);
}

/* A session that was made and has not one record: what there is of it. */
static void discard_unborn(struct ward_store *st, const char *session)
{
	struct ward_store_session s = WARD_STORE_SESSION_INIT;
	snprintf(s.name, sizeof(s.name), "%s", session);
	s.dir_fd = openat(st->sessions_fd, s.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s.dir_fd >= 0)
		s.log_fd = openat(s.dir_fd, "trail.jsonl", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ward_store_discard_session(st, &s);
}

/* A mark that is nobody's: a start was killed. */
static void sweep_mark(struct ward_store *st, const char *name, const char *session)
{
	struct stat mine;
	struct stat there;
	ward_cleanup_fd int fd = openat(st->running_fd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	/* Held: it is starting. Another name: it has started, and was killed then. */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &mine) < 0 ||
		fstatat(st->running_fd, name, &there, AT_SYMLINK_NOFOLLOW) < 0 ||
		mine.st_ino != there.st_ino)
		return;
	if (session)
		discard_unborn(st, session);
	(void)unlinkat(st->running_fd, name, 0);
}

void ward_store_sweep(struct ward_store *st)
{
	const size_t head = sizeof(FRESH_MARK) - sizeof("%s");
	int copy = openat(st->running_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_dir DIR *d = copy < 0 ? NULL : fdopendir(copy);
	if (!d && copy >= 0)
		close(copy);
	for (struct dirent *e = NULL; d && (e = readdir(d));) {
		const char *session = e->d_name + head;
		const bool fresh = strncmp(e->d_name, FRESH_MARK, head) == 0;
		if ((fresh || strncmp(e->d_name, EARLY_MARK, head) == 0) &&
			ward_session_name_valid(session, strlen(session)))
			sweep_mark(st, e->d_name, fresh ? session : NULL);
	}
}

int ward_store_sync(struct ward_store *st, const struct ward_store_session *s, int mark_fd,
	struct ward_err *err)
{
	char fresh[MARK_NAME_MAX];
	(void)snprintf(fresh, sizeof(fresh), FRESH_MARK, s->name);
	ward_cleanup_fd int policy = openat(s->dir_fd, "policy", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	const int fds[] = {policy, mark_fd, s->dir_fd, st->sessions_fd, st->dir_fd};
	int r = policy < 0 ? -errno : 0;
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds) && r == 0; i++)
		r = sync_dir(fds[i]);
	if (r == 0 && renameat(st->running_fd, fresh, st->running_fd, s->name) < 0)
		r = -errno;
	if (r == 0)
		r = sync_dir(st->running_fd);
	if (r < 0)
		(void)unlinkat(st->running_fd, fresh, 0);
	return r < 0 ? ward_err_sys(err, r, "%s/sessions/%s", st->path, s->name) : 0;
}

int ward_store_unmark(struct ward_store *st, const char *session)
{
	char fresh[MARK_NAME_MAX];
	/* One that never got its name is nobody's either. */
	(void)snprintf(fresh, sizeof(fresh), FRESH_MARK, session);
	(void)unlinkat(st->running_fd, fresh, 0);
	(void)snprintf(fresh, sizeof(fresh), EARLY_MARK, session);
	(void)unlinkat(st->running_fd, fresh, 0);
	return unlinkat(st->running_fd, session, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int ward_store_take_mark(struct ward_store *st, const char *session, int *ret_fd,
	struct ward_buf *ret_text, struct ward_err *err)
{
	struct stat sb = {0};
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int fd =
		openat(st->running_fd, session, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	int r = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &sb) < 0 ? -errno : 0;
	if (r == 0 && sb.st_nlink == 0)
		r = -ENOENT; /* somebody else was there before */
	if (r < 0)
		return ward_err_sys(err, r, "%s/running/%s", st->path, session);
	/* A writer outlives its supervisor until it has written the end. */
	r = ward_store_open_log(st, session, &log, err);
	if (r < 0)
		return r;
	if (ward_log_has_writer(log))
		return ward_err_sys(err, -EWOULDBLOCK, "%s: log", session);
	r = ward_fd_read_all(fd, MARK_MAX, &text);
	if (r < 0)
		return ward_err_sys(err, r, "%s/running/%s", st->path, session);
	*ret_text = text;
	text = WARD_BUF_INIT;
	*ret_fd = ward_steal_fd(&fd);
	return 0;
}

int ward_store_reopen_session(struct ward_store *st, const char *session,
	struct ward_store_session *ret, struct ward_err *err)
{
	struct ward_store_session s = WARD_STORE_SESSION_INIT;
	if (!ward_session_name_valid(session, strlen(session)))
		return ward_err_set(err, -ENOENT, "no session of that name");
	snprintf(s.name, sizeof(s.name), "%s", session);
	int r = open_files(st, &s, 0);
	if (r < 0) {
		ward_store_session_close(&s);
		return ward_err_sys(err, r, "%s/sessions/%s", st->path, session);
	}
	*ret = s;
	return 0;
}

int ward_store_last_segment(struct ward_store_session *s, struct ward_err *err)
{
	int fd = -1;
	int r = ward_segment_last(s->dir_fd, &fd, &s->segment);
	if (r < 0)
		return ward_err_sys(err, r, "trail of %s", s->name);
	if (s->log_fd >= 0)
		close(s->log_fd);
	s->log_fd = fd;
	return 0;
}

/* --- reading --- */

int ward_store_open_session(
	struct ward_store *st, const char *session, int *ret_fd, struct ward_err *err)
{
	if (!ward_session_name_valid(session, strlen(session)) || st->sessions_fd < 0)
		return ward_err_set(err, -ENOENT, "no such session");
	int fd = openat(st->sessions_fd, session, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s/sessions/%s", st->path, session);
	*ret_fd = fd;
	return 0;
}

static int open_in_session(struct ward_store *st, const char *session, const char *name,
	int *ret_fd, struct ward_err *err)
{
	ward_cleanup_fd int dir = -1;
	int r = ward_store_open_session(st, session, &dir, err);
	if (r < 0)
		return r;
	int fd = ward_fd_open_regular(dir, name, O_RDONLY);
	if (fd < 0)
		return ward_err_sys(err, fd, "%s/sessions/%s/%s", st->path, session, name);
	*ret_fd = fd;
	return 0;
}

int ward_store_open_log(
	struct ward_store *st, const char *session, struct ward_log **ret, struct ward_err *err)
{
	ward_cleanup_fd int dir = -1;
	int r = ward_store_open_session(st, session, &dir, err);
	if (r < 0)
		return r;
	r = ward_log_open(dir, ret);
	return r < 0 ? ward_err_sys(err, r, "%s/sessions/%s/trail.jsonl", st->path, session) : 0;
}

int ward_store_open_checkpoints(
	struct ward_store *st, const char *session, int *ret_fd, struct ward_err *err)
{
	return open_in_session(st, session, "checkpoints", ret_fd, err);
}

int ward_store_open_policy(
	struct ward_store *st, const char *session, int *ret_fd, struct ward_err *err)
{
	return open_in_session(st, session, "policy", ret_fd, err);
}

int ward_store_open_ledger(struct ward_store *st, int *ret_fd, struct ward_err *err)
{
	int fd = ward_fd_open_regular(st->dir_fd, "ledger.jsonl", O_RDONLY);
	if (fd < 0)
		return ward_err_sys(err, fd, "%s/ledger.jsonl", st->path);
	*ret_fd = fd;
	return 0;
}

int ward_store_extend_ledger(struct ward_store *st, int *ret_fd, struct ward_err *err)
{
	int fd = openat(st->dir_fd, "ledger.jsonl",
		O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s/ledger.jsonl", st->path);
	*ret_fd = fd;
	return 0;
}

static int read_secret(
	struct ward_store *st, const char *name, uint8_t ret[WARD_KEY_BYTES], struct ward_err *err)
{
	ward_cleanup_fd int fd = ward_fd_open_regular(st->dir_fd, name, O_RDONLY);
	if (fd < 0)
		return ward_err_sys(err, fd, "%s/%s", st->path, name);
	uint8_t key[WARD_KEY_BYTES + 1];
	ssize_t n = read(fd, key, sizeof(key));
	if (n == (ssize_t)WARD_KEY_BYTES)
		memcpy(ret, key, WARD_KEY_BYTES);
	ward_chain_wipe(key, sizeof(key));
	if (n != (ssize_t)WARD_KEY_BYTES)
		return ward_err_set(err, -EINVAL, "%s/%s: not a key", st->path, name);
	return 0;
}

int ward_store_read_key(struct ward_store *st, uint8_t ret[WARD_KEY_BYTES], struct ward_err *err)
{
	return read_secret(st, "key", ret, err);
}

int ward_store_read_seed(struct ward_store *st, uint8_t ret[WARD_KEY_BYTES], struct ward_err *err)
{
	return read_secret(st, "signing.key", ret, err);
}

int ward_store_lock(struct ward_store *st, struct ward_err *err)
{
	/* The one that nobody else may open, and so lock. */
	while (flock(st->running_fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return ward_err_sys(err, -errno, "%s: lock", st->path);
	return 0;
}

int ward_store_rotate_seed(struct ward_store *st, struct ward_err *err)
{
	char name[32];
	int r = make_secret(st->dir_fd, name);
	if (r < 0)
		return ward_err_sys(err, r, "%s/signing.key", st->path);
	if (renameat(st->dir_fd, name, st->dir_fd, "signing.key") < 0) {
		r = -errno;
		(void)unlinkat(st->dir_fd, name, 0);
		return ward_err_sys(err, r, "%s/signing.key", st->path);
	}
	r = sync_dir(st->dir_fd);
	return r < 0 ? ward_err_sys(err, r, "%s", st->path) : 0;
}

/* --- once a day --- */

#define DAILY "pruned"

bool ward_store_daily(struct ward_store *st, uint64_t now_s, uint64_t every)
{
	struct stat sb;
	ward_cleanup_fd int fd =
		openat(st->dir_fd, DAILY, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &sb) < 0)
		return false;
	uint64_t last = (uint64_t)sb.st_mtim.tv_sec;
	/* A byte is in it once it was; without one it is as new. */
	if (sb.st_size > 0 && last <= now_s && now_s - last < every)
		return false;
	return pwrite(fd, "\n", 1, 0) == 1 && futimens(fd, NULL) == 0;
}

void ward_store_daily_again(struct ward_store *st)
{
	(void)unlinkat(st->dir_fd, DAILY, 0);
}
