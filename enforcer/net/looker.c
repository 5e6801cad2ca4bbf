/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/net/looker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"

/* Where the child's end of the channel is, and the namespace that it joins. */
enum { CHANNEL = 3, USER = 4 };
/* Processes and descriptors that are looked at for one question: some milliseconds. */
#define PROCESSES_MAX 512U
#define LINKS_MAX 8192U
#define ANSWER_MS 1000

struct looker {
	DIR *proc;
	pid_t pid1;
	pid_t last; /* who had the socket that was found last: often the next one too */
	pid_t found[PROCESSES_MAX];
	size_t n;
	size_t links;
};

static int load_filter(void)
{
	static const int allowed[] = {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(openat),
		SCMP_SYS(getdents64), SCMP_SYS(readlinkat), SCMP_SYS(read), SCMP_SYS(fstat),
		SCMP_SYS(newfstatat), SCMP_SYS(fcntl), SCMP_SYS(lseek), SCMP_SYS(close),
		SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
		SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn),
		SCMP_SYS(restart_syscall)};
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int r = ctx ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < sizeof(allowed) / sizeof(*allowed); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (r == 0)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
			SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0)
		r = seccomp_load(ctx);
	seccomp_release(ctx);
	return r;
}

static int keep_caps(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	uint32_t set = 1U << CAP_SYS_PTRACE | 1U << CAP_DAC_READ_SEARCH;
	struct __user_cap_data_struct data[2] = {{.effective = set, .permitted = set}, {0}};
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

static DIR *open_dir(const struct looker *l, const char *path)
{
	int fd = openat(dirfd(l->proc), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !d)
		close(fd);
	return d;
}

/* The beginning of a small file, with a NUL. */
static ssize_t read_file(const struct looker *l, const char *path, char *ret, size_t size)
{
	ward_cleanup_fd int fd = openat(dirfd(l->proc), path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret, size - 1);
	ret[n < 0 ? 0 : n] = 0;
	return n;
}

static bool has_socket(struct looker *l, pid_t pid, const char *want)
{
	char path[64], link[64];
	snprintf(path, sizeof(path), "%d/fd", pid);
	ward_cleanup_dir DIR *d = open_dir(l, path);
	for (struct dirent *e; d && l->links < LINKS_MAX && (e = readdir(d));) {
		if (e->d_name[0] == '.')
			continue;
		l->links++;
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);
		if (n > 0) {
			link[n] = 0;
			if (strcmp(link, want) == 0)
				return true;
		}
	}
	return false;
}

/* The children that one thread has made. */
static void add_children(struct looker *l, pid_t pid, const char *thread)
{
	char path[320], text[8192];
	snprintf(path, sizeof(path), "%d/task/%.20s/children", pid, thread);
	if (read_file(l, path, text, sizeof(text)) <= 0)
		return;
	char *end;
	for (char *s = text; l->n < PROCESSES_MAX; s = end) {
		long child = strtol(s, &end, 10);
		if (end == s || child <= 0)
			return;
		/* Cut in the middle: it may be half a number. */
		if (*end)
			l->found[l->n++] = (pid_t)child;
	}
}

static void list_processes(struct looker *l)
{
	char path[64];
	l->n = 0;
	l->found[l->n++] = l->pid1;
	for (size_t i = 0; i < l->n; i++) {
		snprintf(path, sizeof(path), "%d/task", l->found[i]);
		ward_cleanup_dir DIR *d = open_dir(l, path);
		for (struct dirent *e; d && l->n < PROCESSES_MAX && (e = readdir(d));)
			if (e->d_name[0] != '.')
				add_children(l, l->found[i], e->d_name);
	}
}

static pid_t find(struct looker *l, uint32_t inode)
{
	char want[64];
	snprintf(want, sizeof(want), "socket:[%u]", inode);
	l->links = 0;
	/* Numbers of processes are used again; that of a socket says that it is the same one. */
	if (l->last && has_socket(l, l->last, want))
		return l->last;
	list_processes(l);
	/* What was started last is what talks, mostly. */
	for (size_t i = l->n; i-- > 0;)
		if (has_socket(l, l->found[i], want))
			return l->last = l->found[i];
	return 0;
}

static void serve(struct looker *l)
{
	static char data[64];
	for (;;) {
		struct ward_msg_reader r;
		char path[64], comm[WARD_COMM_SIZE + 1] = "";
		ssize_t n = ward_msg_recv(CHANNEL, data, sizeof(data), NULL, NULL);
		if (n <= 0)
			return;
		ward_msg_reader_init(&r, data, (size_t)n);
		uint32_t inode = ward_msg_get_u32(&r);
		if (r.type != WARD_LOOKER_REQUEST || ward_msg_done(&r) < 0)
			return;
		pid_t pid = find(l, inode);
		snprintf(path, sizeof(path), "%d/comm", pid);
		if (pid)
			(void)read_file(l, path, comm, sizeof(comm));
		comm[strcspn(comm, "\n")] = 0;
		ward_cleanup(ward_msg_clear) struct ward_msg m;
		ward_msg_init(&m, WARD_LOOKER_ANSWER);
		ward_msg_put_u32(&m, (uint32_t)pid);
		ward_msg_put_str(&m, comm);
		if (ward_msg_send(CHANNEL, &m, NULL, 0) < 0)
			return;
	}
}

static void child(int channel, int user_fd, pid_t pid1)
{
	static struct looker l;
	/* Out of the way of the two numbers first. */
	int a = fcntl(channel, F_DUPFD_CLOEXEC, 16), b = fcntl(user_fd, F_DUPFD_CLOEXEC, 16);
	if (a < 0 || b < 0 || dup3(a, CHANNEL, O_CLOEXEC) < 0 || dup3(b, USER, O_CLOEXEC) < 0 ||
		close_range(USER + 1, ~0U, 0) < 0 || setns(USER, CLONE_NEWUSER) < 0)
		return;
	close(USER);
	l.pid1 = pid1;
	l.proc = opendir("/proc");
	if (!l.proc || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || keep_caps() < 0)
		return;
	/* Sanitizers map and trace as they like. meson defines WARD_SANITIZED. */
	if (WARD_SANITIZED || load_filter() == 0)
		serve(&l);
}

int ward_looker_make(int user_fd, pid_t pid1, int *ret_channel, struct ward_err *err)
{
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	pid_t pid = fork();
	if (pid == 0) {
		child(pair[1], user_fd, pid1);
		_exit(0);
	}
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return ward_err_sys(err, -errno, "fork");
	}
	*ret_channel = pair[0];
	return 0;
}

int ward_looker_ask(int channel, uint32_t inode, pid_t *ret_pid, char ret_comm[WARD_COMM_SIZE])
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	struct pollfd p = {.fd = channel, .events = POLLIN};
	struct ward_msg_reader r;
	char data[128];
	ward_msg_init(&m, WARD_LOOKER_REQUEST);
	ward_msg_put_u32(&m, inode);
	if (ward_msg_send(channel, &m, NULL, 0) < 0 || poll(&p, 1, ANSWER_MS) != 1)
		return -EPIPE;
	ssize_t n = ward_msg_recv(channel, data, sizeof(data), NULL, NULL);
	if (n <= 0)
		return -EPIPE;
	ward_msg_reader_init(&r, data, (size_t)n);
	uint32_t pid = ward_msg_get_u32(&r);
	ward_cleanup_free char *comm = ward_msg_get_str(&r);
	if (r.type != WARD_LOOKER_ANSWER || ward_msg_done(&r) < 0 || !comm)
		return -EPIPE;
	if (pid == 0)
		return -ESRCH;
	*ret_pid = (pid_t)pid;
	snprintf(ret_comm, WARD_COMM_SIZE, "%s", comm);
	return 0;
}
