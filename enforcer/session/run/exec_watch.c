/* SPDX-License-Identifier: Apache-2.0 */
/* Records each execve(2) inside before the kernel goes on with it. */
#include "enforcer/session/run/exec_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/policy/explain.h"
#include "enforcer/sandbox/exec_table.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/run/end_lines.h"
#include "enforcer/session/run/exec_files.h"
#include "enforcer/session/run/exec_memory.h"
#include "enforcer/session/run/exec_path.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* linux/seccomp.h, 6.6 */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1UL
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif

/* Of the arguments this much is recorded; the rest is said to be missing ("cut"). */
#define ARGV_BYTES 6144
#define ARGV_ITEMS 512
/* The thread answers within microseconds; nobody waits longer for one that cannot. */
#define STOP_MS 2000

struct ward_exec_watch {
	struct ward_guard *guard;
	const struct ward_run_plan *plan;
	struct ward_exec_files *files;
	_Atomic(const char *) hint; /* ward_exec_watch_hint() */
	const struct ward_sandbox *sandbox;
	char *init; /* path of wardfs-init, without links */
	int listener;
	int stop; /* eventfd */
	bool no_argv;
	struct ward_commands *commands; /* or NULL */
	pid_t process, parent;		/* of the call at hand */
	int unread;			/* what it would start could not be read: the answer */
	size_t argv_len;		/* of what was read */
	int root;			/* of who told, borrowed; -1: it was read */
	pthread_t thread;
	struct ward_exec_memory memory; /* of who calls */
	struct ward_event ev;
	char path[PATH_MAX + PATH_MAX + 1];
	char argv[ARGV_BYTES];
	struct ward_exec_told told;
};

/* --- what the caller asks for --- */

/* UNREAD: there is more that could not be read. LONG: more than is recorded. */
enum peeked { PEEKED_UNREAD = 0, PEEKED_LONG, PEEKED_WHOLE };

/* Arguments as a list of events (audit/event.h). */
static enum peeked peek_argv(struct ward_exec_watch *x, uint64_t addr, size_t *ret_len)
{
	uint64_t pointers[ARGV_ITEMS];
	enum peeked is = PEEKED_UNREAD;
	size_t len = 0;
	*ret_len = 0;
	if (!addr)
		return PEEKED_WHOLE;
	size_t n = ward_exec_memory_read(&x->memory, addr, pointers, sizeof(pointers)) /
		   sizeof(*pointers);
	if (n == ARGV_ITEMS)
		is = PEEKED_LONG;
	for (size_t i = 0; i < n; i++) {
		size_t have = 0;
		if (pointers[i] == 0 || len == sizeof(x->argv)) {
			is = pointers[i] == 0 ? PEEKED_WHOLE : PEEKED_LONG;
			break;
		}
		if (ward_exec_memory_string(
			    &x->memory, pointers[i], x->argv + len, sizeof(x->argv) - len, &have)) {
			len += have;
			continue;
		}
		/* The beginning of one that is too long says more than nothing. */
		is = have > 0 && len + have == sizeof(x->argv) ? PEEKED_LONG : PEEKED_UNREAD;
		if (is == PEEKED_LONG) {
			len += have;
			x->argv[len - 1] = '\0';
		}
		break;
	}
	*ret_len = len;
	return is;
}

static size_t link_of(pid_t pid, const char *what, char *to, size_t size)
{
	char name[64];
	snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, what);
	ssize_t n = readlink(name, to, size);
	if (n >= 0 && (size_t)n >= size)
		errno = ENAMETOOLONG;
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

/* name behind the directory that stands in x->path with this length; 0: none. */
static size_t join(struct ward_exec_watch *x, size_t len, const char *name)
{
	if (len > 0 && name[0] == '\0')
		return len; /* AT_EMPTY_PATH: the descriptor itself */
	if (len > 0 && x->path[len - 1] != '/')
		x->path[len++] = '/';
	/* "./prog" is the prog of the directory. */
	const char *rest = strncmp(name, "./", 2) == 0 && len > 0 ? name + 2 : name;
	memcpy(x->path + len, rest, strlen(rest));
	return len + strlen(rest);
}

/*
 * The path that is asked for, with the directory that it starts from; not resolved. 0: it could not
 * be read, and x->unread is what the kernel would answer, as far as can be told.
 */
static size_t path_of(struct ward_exec_watch *x, const struct seccomp_notif *req, pid_t pid)
{
	bool at = req->data.nr == SYS_execveat;
	uint64_t addr = req->data.args[at ? 1 : 0];
	int dir = at ? (int)req->data.args[0] : AT_FDCWD;
	char name[PATH_MAX];
	char what[32] = "cwd";
	size_t len = 0;
	size_t n = ward_exec_memory_string(&x->memory, addr, name, sizeof(name), &len);
	if (n == 0) {
		x->unread = len == sizeof(name) ? -ENAMETOOLONG : -EFAULT;
		return 0;
	}
	if (dir != AT_FDCWD)
		snprintf(what, sizeof(what), "fd/%d", dir);
	len = 0;
	if (name[0] != '/' && (len = link_of(pid, what, x->path, PATH_MAX)) == 0) {
		x->unread = dir != AT_FDCWD && errno == ENOENT ? -EBADF : -EFAULT;
		return 0;
	}
	return join(x, len, name);
}

/* --- what wardfs-init says that it asks for --- */

/*
 * Not of a process that can be read, nor of one that has the pid of one that died. The kernel
 * rounds the time of a start down.
 */
static bool hear_told(struct ward_exec_watch *x, pid_t inner, uint64_t started_ns)
{
	return x->memory.closed && ward_sandbox_told(x->sandbox, inner, &x->told, &x->root) == 0 &&
	       started_ns > 0 && x->told.when_ns >= started_ns;
}

static size_t told_path(struct ward_exec_watch *x)
{
	size_t len = x->told.path[0] == '/' ? 0 : strlen(x->told.cwd);
	memcpy(x->path, x->told.cwd, len);
	return join(x, len, x->told.path);
}

/* As peek_argv(). */
static enum peeked told_argv(struct ward_exec_watch *x, size_t *ret_len)
{
	size_t items = 0, len = 0;
	bool whole = !x->told.cut;
	while (len < x->told.argv_len && len < sizeof(x->argv) && items++ < ARGV_ITEMS)
		len += strlen(x->told.argv + len) + 1;
	whole = whole && len == x->told.argv_len && len <= sizeof(x->argv);
	len = len < sizeof(x->argv) ? len : sizeof(x->argv);
	memcpy(x->argv, x->told.argv, len);
	if (len > 0)
		x->argv[len - 1] = '\0';
	*ret_len = len;
	return whole ? PEEKED_WHOLE : PEEKED_LONG;
}

/* --- who asks --- */

struct caller {
	pid_t process; /* the thread's */
	pid_t inner;   /* the thread itself, as it knows itself */
	pid_t parent;
	uint64_t started_ns;
	uint64_t uid, gid;
	char comm[16];
	size_t comm_len;
};

static ssize_t read_proc(pid_t pid, const char *what, char *buf, size_t size)
{
	char name[64];
	snprintf(name, sizeof(name), "/proc/%d/%s", (int)pid, what);
	ward_cleanup_fd int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (n >= 0)
		buf[n] = '\0';
	return n;
}

static uint64_t number_after(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	return p ? strtoull(p + strlen(key), NULL, 10) : 0;
}

/* The last number of that line. */
static pid_t last_of(const char *text, const char *key)
{
	const char *p = strstr(text, key);
	size_t len = p ? strcspn(p + 1, "\n") + 1 : 0;
	while (len > 0 && p[len - 1] >= '0' && p[len - 1] <= '9')
		len--;
	return p ? (pid_t)strtoul(p + len, NULL, 10) : 0;
}

static void find_caller(pid_t tid, struct caller *ret)
{
	char buf[4096];
	struct caller c = {.process = tid};
	if (read_proc(tid, "status", buf, sizeof(buf)) > 0) {
		uint64_t process = number_after(buf, "\nTgid:");
		c.process = process ? (pid_t)process : tid;
		c.parent = (pid_t)number_after(buf, "\nPPid:");
		c.inner = last_of(buf, "\nNSpid:");
		c.uid = number_after(buf, "\nUid:");
		c.gid = number_after(buf, "\nGid:");
	}
	/* proc(5): the name is in the first and last parentheses, then fields 3, 4, …; 22 is it. */
	if (read_proc(c.process, "stat", buf, sizeof(buf)) > 0) {
		const char *from = strchr(buf, '(');
		const char *p = strrchr(buf, ')');
		if (from && p && p > from) {
			c.comm_len = (size_t)(p - from - 1);
			c.comm_len = c.comm_len < sizeof(c.comm) ? c.comm_len : sizeof(c.comm) - 1;
			memcpy(c.comm, from + 1, c.comm_len);
		}
		for (int field = 2; p && field < 22; field++)
			p = strchr(p + 1, ' ');
		if (p)
			c.started_ns = strtoull(p + 1, NULL, 10) *
				       (WARD_NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	}
	*ret = c;
}

/* --- one call --- */

/* Programs that begin with what no program inside can do. */
static void note_hint(struct ward_exec_watch *x, const char *argv0)
{
	static const struct {
		const char *program, *hint;
	} programs[] = {
		{"bwrap", ward_note_nested},
		{"firejail", ward_note_nested},
		{"nsjail", ward_note_nested},
		{"codex-linux-sandbox", ward_note_nested},
		{"strace", ward_note_tracer},
		{"ltrace", ward_note_tracer},
		{"gdb", ward_note_tracer},
		{"lldb", ward_note_tracer},
		{"rr", ward_note_tracer},
	};
	const char *slash = strrchr(argv0, '/');
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (strcmp(slash ? slash + 1 : argv0, programs[i].program) == 0)
			x->hint = programs[i].hint;
}

const char *ward_exec_watch_hint(const struct ward_exec_watch *x)
{
	return x ? x->hint : NULL;
}

/* Returns the length of the path. */
static size_t fill(struct ward_exec_watch *x, const struct seccomp_notif *req)
{
	pid_t tid = (pid_t)req->pid;
	struct caller c = {0};
	char link[PATH_MAX];
	size_t len = 0, path = 0;
	find_caller(tid, &c);
	ward_exec_memory_open(&x->memory, x->plan, tid);
	ward_event_begin(&x->ev, WARD_EVENT_EXEC);
	ward_event_u64(&x->ev, WARD_TAG_PID, (uint64_t)c.process);
	ward_event_u64(&x->ev, WARD_TAG_UID, c.uid);
	if (c.comm_len > 0)
		ward_event_bytes(&x->ev, WARD_TAG_COMM, c.comm, c.comm_len);
	ward_event_text(&x->ev, WARD_TAG_ACTION, "exec");
	x->unread = 0;
	path = path_of(x, req, tid);
	x->root = -1;
	const bool told = path == 0 && hear_told(x, c.inner, c.started_ns);
	if (told)
		path = told_path(x);
	if (path > 0)
		ward_event_bytes(&x->ev, WARD_TAG_PATH, x->path, path);
	else
		x->ev.head.flags |= WARD_EVENT_CUT;
	if (path > 0)
		x->unread = 0;
	ward_event_u64(&x->ev, WARD_TAG_GID, c.gid);
	ward_event_u64(&x->ev, WARD_TAG_PARENT, (uint64_t)c.parent);
	if (c.started_ns)
		ward_event_u64(&x->ev, WARD_TAG_STARTED, c.started_ns);
	len = link_of(tid, "exe", link, sizeof(link));
	if (told)
		ward_event_text(&x->ev, WARD_TAG_EXE, x->init);
	else if (len > 0)
		ward_event_bytes(&x->ev, WARD_TAG_EXE, link, len);
	x->process = c.process;
	x->parent = c.parent;
	x->argv_len = 0;
	if (!x->no_argv || x->commands) {
		uint64_t argv = req->data.args[req->data.nr == SYS_execveat ? 2 : 1];
		enum peeked is =
			told ? told_argv(x, &x->argv_len) : peek_argv(x, argv, &x->argv_len);
		if (is != PEEKED_WHOLE && !x->no_argv)
			x->ev.head.flags |= WARD_EVENT_CUT;
		if (x->unread == 0 && is == PEEKED_UNREAD)
			x->unread = -EFAULT;
	}
	/* Two cases are known, and stay without: with log = io a page that nobody has fetched;
	 * without root a process that is closed to us and has not told us (hear_told()).
	 */
	if (x->memory.left || x->memory.closed)
		x->unread = 0;
	if (!x->no_argv) {
		len = x->argv_len;
		ward_event_list(&x->ev, WARD_TAG_ARGV, x->argv, len);
		if (len > 0 && memchr(x->argv, '\0', len))
			note_hint(x, x->argv);
	}
	len = link_of(tid, "cwd", link, sizeof(link));
	if (told)
		ward_event_text(&x->ev, WARD_TAG_CWD, x->told.cwd);
	else if (len > 0)
		ward_event_bytes(&x->ev, WARD_TAG_CWD, link, len);
	ward_event_text(&x->ev, WARD_TAG_HOW, "observed");
	ward_exec_memory_close(&x->memory);
	return path;
}

/* Does [process] exec refuse this path outside of what the guard decides by name? */
static bool unlisted(const struct ward_exec_watch *x, const char *path)
{
	const struct ward_run_plan *p = x->plan;
	for (size_t i = 0; i < p->n_trees; i++) {
		const struct ward_run_plan_tree *t = &p->trees[i];
		if (ward_path_beneath(path, t->path) || (t->at && ward_path_beneath(path, t->at)))
			return ward_programs_listed(p->policy, t->path) == WARD_SANDBOX_LISTED_NOT;
	}
	return !ward_programs_have(&p->programs, path) &&
	       ward_programs_listed(p->policy, path) != WARD_SANDBOX_LISTED;
}

/*
 * A program that [process] exec does not list: the kernel refuses it (Landlock, noexec mounts), and
 * tells nobody. Seen beside it, as the record of the call.
 */
static int note_unlisted(struct ward_exec_watch *x, const char *path)
{
	if (!unlisted(x, path))
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_rule_place(ward_policy_first_program(x->plan->policy), &place);
	ward_event_text(&x->ev, WARD_TAG_RULE, ward_buf_str(&place));
	ward_event_text(&x->ev, WARD_TAG_RULE_TEXT, "[process] exec: not listed");
	ward_event_u64(&x->ev, WARD_TAG_VERDICT, WARD_VERDICT_DENY);
	ward_event_u64(&x->ev, WARD_TAG_ERRNO, EACCES);
	x->ev.head.kind = WARD_EVENT_DENY;
	return ward_guard_put(x->guard, &x->ev);
}

/*
 * Which file it is, with the rights of the command; not in a tree, where the kernel is about to
 * look and the guard decides. Returns its path as it is called inside, "" where it is not known.
 */
static const char *note_file(struct ward_exec_watch *x, pid_t tid, size_t len, char to[PATH_MAX])
{
	char name[64];
	ward_cleanup_fd int fd = -1;
	x->path[len] = '\0';
	snprintf(name, sizeof(name), "/proc/%d/root", (int)tid);
	ward_cleanup_fd int root = x->root >= 0 ? fcntl(x->root, F_DUPFD_CLOEXEC, 3)
						: open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (len == 0 || root < 0 || ward_exec_rights_take(&x->plan->id) < 0)
		return "";
	bool found = ward_exec_path_follow(x->plan, tid, root, x->path, to, &fd);
	if (found && fd >= 0)
		ward_exec_files_seen(x->files, fd, to, &x->ev);
	ward_exec_rights_drop(&x->plan->id);
	return found ? to : "";
}

/* Takes a call and answers it. -ENOENT: its caller died meanwhile. */
static int serve(struct ward_exec_watch *x)
{
	struct seccomp_notif req = {0};
	if (ioctl(x->listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0)
		return -errno;
	struct seccomp_notif_resp resp = {.id = req.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
	char path[PATH_MAX];
	bool listed = ward_policy_has_programs(x->plan->policy);
	size_t len = fill(x, &req);
	const char *file = note_file(x, (pid_t)req.pid, len, path);
	/* What was read is the caller's only if it still waits: its number may be another's by now.
	 */
	if (ioctl(x->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &req.id) < 0)
		return -errno;
	ward_commands_started(x->commands, x->process, x->parent, x->argv, x->argv_len);
	int put = ward_guard_put(x->guard, &x->ev);
	if (put == 0 && listed && *file)
		put = note_unlisted(x, file);
	/* The kernel could read it where we cannot: then nobody would know what runs. */
	if (put < 0 || x->unread < 0)
		resp = (struct seccomp_notif_resp){
			.id = req.id, .error = put < 0 ? -EIO : x->unread};
	return ioctl(x->listener, SECCOMP_IOCTL_NOTIF_SEND, &resp) < 0 ? -errno : 0;
}

static void *run(void *arg)
{
	struct ward_exec_watch *x = arg;
	for (;;) {
		struct pollfd p[] = {
			{.fd = x->listener, .events = POLLIN}, {.fd = x->stop, .events = POLLIN}};
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return NULL;
		/* POLLHUP: nobody is left who could call. */
		if (p[1].revents || p[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return NULL;
		if (p[0].revents & POLLIN)
			(void)serve(x);
	}
}

int ward_exec_watch_start(struct ward_guard *g, const struct ward_run_plan *plan,
	const struct ward_sandbox *sandbox, struct ward_commands *commands,
	struct ward_exec_watch **ret, struct ward_err *err)
{
	sigset_t all;
	sigset_t old;
	struct ward_exec_watch *x = calloc(1, sizeof(*x));
	if (!x)
		return ward_err_sys(err, -ENOMEM, "records of programs");
	x->guard = g;
	x->sandbox = sandbox;
	x->listener = ward_sandbox_execs_fd(sandbox);
	x->plan = plan;
	x->commands = commands;
	x->no_argv = ward_word_said(plan->settings->redact, WARD_REDACT_ARGV);
	x->stop = eventfd(0, EFD_CLOEXEC);
	/* Linux 6.6: the caller runs again at once, where we ran. Without it, a moment later. */
	(void)ioctl(x->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	/* Signals are the main thread's. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int r = x->stop < 0 ? -errno : ward_exec_files_new(g, &plan->id, &x->files, err);
	if (r == 0)
		r = ward_helper_program("wardfs-init", &x->init, err);
	if (r == 0)
		r = -pthread_create(&x->thread, NULL, run, x);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (r < 0) {
		if (x->stop >= 0)
			close(x->stop);
		ward_exec_files_free(x->files);
		free(x->init);
		free(x);
		return ward_err_sys(err, r, "records of programs");
	}
	*ret = x;
	return 0;
}

bool ward_exec_watch_stop(struct ward_exec_watch *x)
{
	const uint64_t one = 1;
	struct timespec until;
	if (!x)
		return true;
	/* An eventfd takes a one. */
	(void)!write(x->stop, &one, sizeof(one));
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_MS / 1000;
	/* It uses x and the ring until it ends; if it does not, the process' end is near anyway. */
	if (pthread_clockjoin_np(x->thread, NULL, CLOCK_MONOTONIC, &until) != 0)
		return false;
	close(x->stop);
	ward_exec_files_free(x->files);
	free(x->init);
	free(x);
	return true;
}
