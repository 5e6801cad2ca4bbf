/* SPDX-License-Identifier: Apache-2.0 */
/* Makes and opens the state directory, and reads what is in it. */
#include "audit/store/store.h"

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
#include "audit/store/store_internal.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/dir_owner.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"

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
		return ward_err_set(err, -ENOENT,
			"cannot find the state directory: the user has no home directory; set "
			"XDG_STATE_HOME");
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

int ward_store_sync_dir(int fd)
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
	/* Root may rotate another user's key: what it makes is that user's. */
	ward_cleanup(ward_dir_owner_end) struct ward_dir_owner as = {0};
	int r = ward_dir_owner_begin(dir_fd, &as);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd =
		openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = getrandom(key, sizeof(key), 0) == (ssize_t)sizeof(key) ? 0 : -EIO;
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
	return r < 0 ? r : ward_store_sync_dir(dir_fd);
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

/* The entries of an open state directory. Takes the descriptor. */
static int open_contents(
	const char *path, int *dir, bool create, struct ward_store **ret, struct ward_err *err)
{
	ward_cleanup_fd int sessions =
		openat(*dir, "sessions", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (sessions < 0 && (create || errno != ENOENT))
		return ward_err_sys(err, -errno, "%s/sessions", path);
	ward_cleanup_fd int running =
		openat(*dir, "running", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	/* Readers of the system's writer get no access there. */
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

/* Why check_dir() refused the directory, and what to type. */
static int refused_dir(const char *path, int fd, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	struct stat st;
	if (fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "state directory %s", path);
	ward_shell_word(&word, path);
	const int r = ward_buf_error(&word);
	if (r < 0)
		return ward_err_sys(err, r, "state directory %s", path);
	if (st.st_uid == geteuid())
		return ward_err_set(err, -EPERM,
			"other users can write to the state directory %s (fix: chmod go-w %s)",
			path, ward_buf_str(&word));
	return ward_err_set(err, -EPERM,
		"state directory %s belongs to another user, uid %u (fix: run wardfs as that user, or set XDG_STATE_HOME to a directory of yours)",
		path, (unsigned)st.st_uid);
}

/* Why there is none to be had, and what to type where the place is the reason. */
static int no_dir(const char *path, bool create, int r, struct ward_err *err)
{
	if (r == -ENOENT && !create)
		return ward_err_set(err, r,
			"no session has run yet: there is no %s. 'wardfs run -- CMD' starts one",
			path);
	if (r != -EACCES && r != -EPERM && r != -EROFS && r != -ENOTDIR && r != -ELOOP &&
		r != -ENOENT)
		return ward_err_sys(err, r, "state directory %s", path);
	return ward_err_set(err, r,
		"state directory %s: %s (fix: set XDG_STATE_HOME to a directory of yours)", path,
		strerror(-r));
}

int ward_store_open(const char *path, bool create, struct ward_store **ret, struct ward_err *err)
{
	if (path[0] != '/')
		return ward_err_set(
			err, -EINVAL, "state directory %s: the path must be absolute", path);
	int r = create ? make_path(path) : 0;
	if (r < 0)
		return no_dir(path, create, r, err);
	ward_cleanup_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return no_dir(path, create, -errno, err);
	r = check_dir(dir, create);
	if (r == -EPERM)
		return refused_dir(path, dir, err);
	if (r == 0 && create)
		r = make_contents(dir);
	if (r < 0)
		return ward_err_sys(err, r, "state directory %s", path);
	return open_contents(path, &dir, create, ret, err);
}

int ward_store_is_ours(const char *path, struct ward_err *err)
{
	ward_cleanup_fd int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0 && errno == ENOENT)
		return 0;
	if (dir < 0)
		return no_dir(path, true, -errno, err);
	int r = check_dir(dir, true);
	if (r == -EPERM)
		return refused_dir(path, dir, err);
	return r < 0 ? ward_err_sys(err, r, "state directory %s", path) : 0;
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
			"state directory %s does not belong to the system's writer alone", path);
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

bool ward_store_index_ours(const struct ward_store *st)
{
	struct stat sb;
	return st->index || (fstat(st->dir_fd, &sb) == 0 && sb.st_uid == geteuid());
}

/* SQLite opens by path alone: that of the directory which is open, whatever leads to it. */
char *ward_store_index_path(const struct ward_store *st)
{
	ward_cleanup_free char *dir = NULL;
	char *path = NULL;
	if (st->index)
		return strdup(st->index);
	if (ward_fd_path(st->dir_fd, &dir) < 0)
		return NULL;
	return asprintf(&path, "%s/index.sqlite", dir) < 0 ? NULL : path;
}

int ward_store_dir(const struct ward_store *st)
{
	return st->dir_fd;
}

const char *ward_store_path(const struct ward_store *st)
{
	return st->path;
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

/* In another user's directory any file may have the name of one of ours. */
static bool has_second_name(const struct ward_store *st, int fd)
{
	struct stat dir, file;
	if (fstat(st->dir_fd, &dir) < 0 || fstat(fd, &file) < 0)
		return true;
	return dir.st_uid != geteuid() && file.st_nlink != 1;
}

/* Opens it for writing; makes it if it does not exist. */
static int open_in_state(
	struct ward_store *st, const char *name, int flags, int *ret_fd, struct ward_err *err)
{
	/* Reading a trail makes an entry in the ledger: root's in another user's, too. */
	struct ward_dir_owner as = {0};
	int fd = flags & O_RDWR ? ward_dir_owner_begin(st->dir_fd, &as) : 0;
	if (fd == 0)
		fd = flags & O_RDWR ? ward_fd_make_regular(st->dir_fd, name, flags, 0600)
				    : ward_fd_open_regular(st->dir_fd, name, flags);
	ward_dir_owner_end(&as);
	if (fd < 0)
		return ward_err_sys(err, fd, "%s/%s", st->path, name);
	if (flags & O_RDWR && has_second_name(st, fd)) {
		close(fd);
		return ward_err_set(err, -EMLINK,
			"%s/%s has a second name (hard link) in a directory of another user, so wardfs would write into another file",
			st->path, name);
	}
	*ret_fd = fd;
	return 0;
}

int ward_store_open_ledger(struct ward_store *st, int *ret_fd, struct ward_err *err)
{
	return open_in_state(st, "ledger.jsonl", O_RDONLY, ret_fd, err);
}

int ward_store_open_ledger_checkpoints(struct ward_store *st, int *ret_fd, struct ward_err *err)
{
	return open_in_state(st, "ledger.checkpoints", O_RDONLY, ret_fd, err);
}

int ward_store_open_cosigned(struct ward_store *st, int *ret_fd, struct ward_err *err)
{
	return open_in_state(st, "ledger.cosigned", O_RDONLY, ret_fd, err);
}

int ward_store_extend_cosigned(struct ward_store *st, int *ret_fd, struct ward_err *err)
{
	return open_in_state(st, "ledger.cosigned", O_RDWR | O_APPEND, ret_fd, err);
}

int ward_store_extend_ledger(
	struct ward_store *st, struct ward_ledger_files *ret, struct ward_err *err)
{
	struct ward_ledger_files f = WARD_LEDGER_FILES_INIT;
	int r = open_in_state(st, "ledger.jsonl", O_RDWR | O_APPEND, &f.fd, err);
	if (r == 0)
		r = open_in_state(st, "ledger.checkpoints", O_RDWR | O_APPEND, &f.notes_fd, err);
	if (r == 0)
		r = open_in_state(st, "ledger.tree", O_RDWR, &f.tree_fd, err);
	if (r < 0)
		ward_ledger_files_close(&f);
	else
		*ret = f;
	return r;
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
	r = ward_store_sync_dir(st->dir_fd);
	return r < 0 ? ward_err_sys(err, r, "%s", st->path) : 0;
}

/* --- once a day --- */

#define DAILY "pruned"

bool ward_store_daily(struct ward_store *st, uint64_t now_s, uint64_t every)
{
	struct stat sb;
	ward_cleanup_fd int fd = ward_fd_make_regular(st->dir_fd, DAILY, O_WRONLY, 0600);
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

/* --- once for each state directory --- */

#define SAID_MAX 4096

/* Does a line of `have` say it? */
static bool has_line(const struct ward_buf *have, const char *text, size_t len)
{
	const char *s = ward_buf_str(have);
	while (*s) {
		const size_t n = strcspn(s, "\n");
		if (n == len && memcmp(s, text, len) == 0)
			return true;
		s += n + (s[n] == '\n');
	}
	return false;
}

bool ward_store_is_news(struct ward_store *st, const char *said, const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf have = WARD_BUF_INIT;
	const size_t len = strlen(text);
	ward_cleanup_fd int fd = ward_fd_make_regular(st->dir_fd, said, O_RDWR, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return true;
	/* It starts over where it is full, or cannot be read. */
	if (ward_fd_read_all(fd, SAID_MAX, &have) < 0 || have.len + len + 1 > SAID_MAX)
		ward_buf_clear(&have);
	if (has_line(&have, text, len))
		return false;
	ward_buf_printf(&have, "%s\n", text);
	if (ward_buf_error(&have) < 0 || ftruncate(fd, 0) < 0 ||
		pwrite(fd, have.data, have.len, 0) != (ssize_t)have.len)
		(void)unlinkat(st->dir_fd, said, 0);
	return true;
}
