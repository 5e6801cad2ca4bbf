/* SPDX-License-Identifier: Apache-2.0 */
/* Making, marking, taking over and removing the directories of sessions. */
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

#include "audit/log/chain.h"
#include "audit/log/segments.h"
#include "audit/store/store.h"
#include "audit/store/store_internal.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Numbers that a taken name can get. */
#define NAME_TRIES 100000
/* A mark: the word of sync and a boot's id. */
#define MARK_MAX 256
/* A mark is made again where another start takes it for a leftover at that very moment. */
#define MARK_TRIES 100

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
	/* An access control list that allows reading the one allows reading the other. */
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

/* The key to write with. -EPERM: others can read the key, so it proves nothing. */
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
	r = ward_store_extend_ledger(st, &s->ledger, NULL);
	if (r < 0)
		return r;
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
		r = ward_store_sync_dir(s->dir_fd);
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
		r = ward_store_sync_dir(st->sessions_fd);
	return r < 0 ? ward_err_sys(err, r, "%s/sessions/%s", st->path, session) : 0;
}

void ward_store_session_close(struct ward_store_session *s)
{
	const int fds[] = {s->dir_fd, s->log_fd, s->key_fd, s->sign_fd, s->checkpoints_fd};
	ward_ledger_files_close(&s->ledger);
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

/* The files of a session without a record. */
static void discard_unborn(struct ward_store *st, const char *session)
{
	struct ward_store_session s = WARD_STORE_SESSION_INIT;
	snprintf(s.name, sizeof(s.name), "%s", session);
	s.dir_fd = openat(st->sessions_fd, s.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s.dir_fd >= 0)
		s.log_fd = ward_fd_open_regular(s.dir_fd, "trail.jsonl", O_RDONLY);
	ward_store_discard_session(st, &s);
}

/* A mark that is nobody's: a start was killed. */
static void sweep_mark(struct ward_store *st, const char *name, const char *session)
{
	struct stat mine;
	struct stat there;
	ward_cleanup_fd int fd = ward_fd_open_regular(st->running_fd, name, O_RDWR);
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
	ward_cleanup_fd int policy = ward_fd_open_regular(s->dir_fd, "policy", O_RDONLY);
	const int fds[] = {policy, mark_fd, s->dir_fd, st->sessions_fd, st->dir_fd};
	int r = policy < 0 ? policy : 0;
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds) && r == 0; i++)
		r = ward_store_sync_dir(fds[i]);
	if (r == 0 && renameat(st->running_fd, fresh, st->running_fd, s->name) < 0)
		r = -errno;
	if (r == 0)
		r = ward_store_sync_dir(st->running_fd);
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
	ward_cleanup_fd int fd = ward_fd_open_regular(st->running_fd, session, O_RDWR);
	if (fd < 0)
		errno = -fd;
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
