/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replayer: makes the operations by which programs inside hear of changes that the host made
 * (enforcer/ipc/replay.h). pid 1 forks it, with the command's ids and no
 * capability; it never becomes another program, is not dumpable, and a filter leaves it the few
 * calls that it makes. wardfs-fs knows it by its pid and lets nothing that it asks for change
 * anything, so a process that could speak for it would gain nothing.
 *
 * It may be held up: by a program inside that holds the lock of a directory, or stops it. Then
 * nothing is replayed; nobody waits for it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/dent.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/ipc/replay.h"
#include "enforcer/sandbox/init/init.h"

/* Where its socket stands once all else is closed. */
#define SOCK 3
/* Looked through for watches in one round; beyond, whatever changes may be watched. */
#define DESCRIPTORS_MAX 65536U

/* --- who watches what --- */

struct watched {
	uint64_t inodes[WARD_REPLAY_INODES];
	size_t n;
	unsigned descriptors;
	bool all;
	bool closes; /* somebody waits for IN_CLOSE_WRITE */
};

static void add_inode(struct watched *w, uint64_t inode)
{
	for (size_t i = w->n; i > 0 && w->n - i < 8; i--)
		if (w->inodes[i - 1] == inode)
			return;
	if (w->n == WARD_REPLAY_INODES)
		w->all = true;
	else
		w->inodes[w->n++] = inode;
}

/* Lines "inotify wd:1 ino:2c sdev:2f mask:fce …", numbers in hexadecimal (proc_pid_fdinfo(5)). */
static void add_line(struct watched *w, const char *line)
{
	const char *ino = strncmp(line, "inotify ", 8) == 0 ? strstr(line, " ino:") : NULL;
	const char *mask = ino ? strstr(ino, " mask:") : NULL;
	if (ino)
		add_inode(w, strtoull(ino + 5, NULL, 16));
	if (mask && strtoul(mask + 6, NULL, 16) & IN_CLOSE_WRITE)
		w->closes = true;
}

static void read_watches(struct watched *w, int dir, const char *name)
{
	char buf[4096];
	size_t have = 0;
	ssize_t n = 0;
	ward_cleanup_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	while (fd >= 0 && !w->all && (n = read(fd, buf + have, sizeof(buf) - 1 - have)) > 0) {
		char *line = buf;
		buf[have + (size_t)n] = '\0';
		for (char *end; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			add_line(w, line);
		}
		have = strlen(line);
		memmove(buf, line, have);
		if (have == sizeof(buf) - 1)
			return; /* no such line is that long */
	}
}

/* Calls fn for each entry whose name is a number. */
static void each_number(
	int dir, void (*fn)(struct watched *w, int dir, const char *name), struct watched *w)
{
	char buf[8192] __attribute__((aligned(8)));
	long n = 0;
	while ((n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n && !w->all;) {
			const struct ward_dent *d = (const void *)(buf + at);
			at += d->reclen;
			if (d->name[0] >= '1' && d->name[0] <= '9')
				fn(w, dir, d->name);
			else if (d->name[0] == '0')
				fn(w, dir, d->name);
		}
}

/* dir: /proc/PID/fd */
static void look_at_descriptor(struct watched *w, int dir, const char *name)
{
	char target[32];
	if (++w->descriptors > DESCRIPTORS_MAX) {
		w->all = true;
		return;
	}
	ssize_t n = readlinkat(dir, name, target, sizeof(target));
	if (n == 18 && memcmp(target, "anon_inode:inotify", 18) == 0) {
		char info[32] = "../fdinfo/";
		strncat(info, name, sizeof(info) - strlen(info) - 1);
		read_watches(w, dir, info);
	} else if (n >= 21 && memcmp(target, "anon_inode:[fanotify]", 21) == 0) {
		w->all = true; /* of whole file systems */
	}
}

static void look_at_process(struct watched *w, int proc, const char *name)
{
	char path[32] = "";
	strncat(path, name, sizeof(path) - 8);
	strcat(path, "/fd");
	/* That of another user or of a process that hides is not opened. */
	ward_cleanup_fd int fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		each_number(fd, look_at_descriptor, w);
}

static int answer_watched(void)
{
	static struct watched w;
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_cleanup_fd int proc = openat(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	w.n = 0;
	w.descriptors = 0;
	w.all = proc < 0;
	w.closes = false;
	if (proc >= 0)
		each_number(proc, look_at_process, &w);
	ward_msg_init(&m, WARD_REPLAY_WATCHED);
	ward_msg_put_u32(&m, w.all);
	ward_msg_put_u32(&m, w.all || w.closes);
	ward_msg_put_bytes(&m, w.inodes, w.all ? 0 : w.n * sizeof(w.inodes[0]));
	return ward_msg_send(SOCK, &m, NULL, 0);
}

/* --- the operations --- */

/* A directory of a tree: what stands on the way is the agent's to exchange, so no links. */
static int open_dir(const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/*
 * Whatever stands there by now: nothing is waited for, and wardfs-fs opens nothing. The kernel
 * calls it open for a moment, so that a program inside that executes this very file then gets
 * ETXTBSY, as it does while the host writes.
 */
static int close_written(int dir, const char *name)
{
	const struct open_how how = {
		.flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV};
	ward_cleanup_fd int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	return fd < 0 ? -1 : 0;
}

static int create(int dir, const char *name, uint32_t type)
{
	if (type == S_IFDIR)
		return mkdirat(dir, name, 0700);
	if (type == S_IFLNK)
		return symlinkat("-", dir, name);
	return mknodat(dir, name, type | 0600, 0);
}

/*
 * The kernel may have it that the name is absent, as somebody inside looked meanwhile, and would
 * not ask. A creation always asks: wardfs-fs says that there is something to remove.
 */
static int remove_name(int dir, const char *name, uint32_t type)
{
	(void)mknodat(dir, name, S_IFREG | 0600, 0);
	return unlinkat(dir, name, type == S_IFDIR ? AT_REMOVEDIR : 0);
}

static int make(int dir, uint32_t kind, uint32_t type, const char *name)
{
	/* What time it is does not matter: wardfs-fs sets none. */
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1}};
	switch ((enum ward_replay_kind)kind) {
	case WARD_REPLAY_NONE:
	case WARD_REPLAY_KINDS_:
		break;
	case WARD_REPLAY_REMOVE:
		return remove_name(dir, name, type);
	case WARD_REPLAY_CREATE:
		return create(dir, name, type);
	case WARD_REPLAY_ATTRIB:
		times[0] = times[1];
		return utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW);
	case WARD_REPLAY_MODIFY:
		return utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW);
	case WARD_REPLAY_CLOSE:
		return close_written(dir, name);
	}
	return -1;
}

static int answer_made(struct ward_msg_reader *r)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	uint32_t n = ward_msg_get_u32(r);
	uint32_t made = 0;
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		uint32_t kind = ward_msg_get_u32(r);
		uint32_t type = ward_msg_get_u32(r);
		ward_cleanup_free char *path = ward_msg_get_str(r);
		ward_cleanup_free char *name = ward_msg_get_str(r);
		if (!path || !name || path[0] != '/' || !*name || strchr(name, '/'))
			return -EBADMSG;
		ward_cleanup_fd int dir = open_dir(path);
		made += dir >= 0 && make(dir, kind, type, name) == 0;
	}
	if (ward_msg_done(r) < 0)
		return -EBADMSG;
	ward_msg_init(&m, WARD_REPLAY_MADE);
	ward_msg_put_u32(&m, made);
	return ward_msg_send(SOCK, &m, NULL, 0);
}

/* --- its life --- */

/* One request; false: wardfs-fs is gone, or says nonsense. */
static bool serve(void)
{
	static char data[WARD_MSG_MAX];
	struct ward_msg_reader r;
	size_t none = 0;
	ssize_t len = ward_msg_recv(SOCK, data, sizeof(data), NULL, &none);
	if (len <= 0)
		return false;
	ward_msg_reader_init(&r, data, (size_t)len);
	if (r.type == WARD_REPLAY_ASK && ward_msg_done(&r) == 0)
		return answer_watched() == 0;
	return r.type == WARD_REPLAY_MAKE && answer_made(&r) == 0;
}

static _Noreturn void live(const struct ward_init *in)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	/* Nothing of the command's, of pid 1's or of the supervisor's. */
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int i = 0; i < 3; i++)
		if (null < 0 || dup2(null, i) < 0)
			_exit(125);
	if (dup3(WARD_INIT_FD_REPLAY, SOCK, O_CLOEXEC) < 0 || close_range(SOCK + 1, ~0U, 0) < 0 ||
		prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || chdir("/") < 0 ||
		ward_init_filter(in->blueprint.replay_filter, in->blueprint.replay_filter_len) < 0)
		_exit(125);
	ward_msg_init(&m, WARD_REPLAY_HELLO);
	if (ward_msg_send(SOCK, &m, NULL, 0) == 0)
		while (serve())
			continue;
	_exit(0);
}

int ward_init_replayer(struct ward_init *in, struct ward_err *err)
{
	if (!(in->blueprint.flags & WARD_BLUEPRINT_REPLAY))
		return 0;
	pid_t pid = fork();
	if (pid < 0)
		return ward_err_sys(err, -errno, "fork");
	if (pid == 0)
		live(in);
	close(WARD_INIT_FD_REPLAY);
	return 0;
}
