/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attack NAME [ARG]...: one attempt to leave a sandbox. Exit code 0 and "done" if the attempt
 * succeeded, 1 and the name of the errno if it was refused, 2 if the attempt itself is wrong. The
 * same attempt is made where it is allowed: a test that finds it refused there proves nothing.
 */
/* Before <linux/vm_sockets.h>, which does not include it everywhere. */
#include <sys/socket.h>

#include <linux/vm_sockets.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Every attempt returns 0 or -1 with errno, as a system call. */
typedef int (*attempt)(char **argv);

static int try_mount(char **argv)
{
	return mount("none", argv[0], "tmpfs", 0, NULL);
}

static int try_umount(char **argv)
{
	return umount2(argv[0], MNT_DETACH);
}

static int try_remount(char **argv)
{
	return mount(NULL, argv[0], NULL, MS_REMOUNT | MS_BIND, NULL);
}

static int try_setattr(char **argv)
{
	struct mount_attr attr = {.attr_clr = MOUNT_ATTR_RDONLY};
	return mount_setattr(AT_FDCWD, argv[0], 0, &attr, sizeof(attr));
}

static int try_open_tree(char **argv)
{
	return open_tree(AT_FDCWD, argv[0], OPEN_TREE_CLONE);
}

static int try_chroot(char **argv)
{
	return chroot(argv[0]);
}

static int try_unshare(char **argv)
{
	return unshare((int)strtoul(argv[0], NULL, 0));
}

static int try_clone(char **argv)
{
	unsigned long flags = strtoul(argv[0], NULL, 0);
	long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0UL);
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return pid < 0 ? -1 : 0;
}

static int try_clone3(char **argv)
{
	struct clone_args args = {.flags = strtoul(argv[0], NULL, 0), .exit_signal = SIGCHLD};
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid((pid_t)pid, NULL, 0);
	return pid < 0 ? -1 : 0;
}

static int try_setns(char **argv)
{
	int fd = open(argv[0], O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -1 : setns(fd, 0);
}

static int try_ptrace(char **argv)
{
	pid_t pid = (pid_t)atol(argv[0]);
	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0)
		return -1;
	return 0;
}

static int try_read_memory(char **argv)
{
	char byte;
	struct iovec mine = {&byte, 1}, theirs = {(void *)(uintptr_t)0x1000, 1};
	ssize_t n = process_vm_readv((pid_t)atol(argv[0]), &mine, 1, &theirs, 1, 0);
	/* EFAULT: it was allowed to look, there was nothing at the address. */
	return n >= 0 || errno == EFAULT ? 0 : -1;
}

static int try_write_memory(char **argv)
{
	char byte = 0;
	struct iovec mine = {&byte, 1}, theirs = {(void *)(uintptr_t)0x1000, 1};
	ssize_t n = process_vm_writev((pid_t)atol(argv[0]), &mine, 1, &theirs, 1, 0);
	return n >= 0 || errno == EFAULT ? 0 : -1;
}

/* argv: pid, a descriptor of it */
static int try_take_fd(char **argv)
{
	int pidfd = (int)syscall(SYS_pidfd_open, atol(argv[0]), 0);
	if (pidfd < 0)
		return -1;
	return (int)syscall(SYS_pidfd_getfd, pidfd, atoi(argv[1]), 0);
}

/* To take back what was given up. */
static int try_capset(char **argv)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct all[2] = {{1U << CAP_CHOWN, 1U << CAP_CHOWN, 0}, {0, 0, 0}};
	(void)argv;
	return (int)syscall(SYS_capset, &head, all);
}

static int try_move_mount(char **argv)
{
	return move_mount(AT_FDCWD, argv[0], AT_FDCWD, argv[1], 0);
}

static int try_fsopen(char **argv)
{
	return fsopen(argv[0], 0);
}

static int try_pivot_root(char **argv)
{
	return (int)syscall(SYS_pivot_root, argv[0], argv[0]);
}

static int try_kill(char **argv)
{
	return kill((pid_t)atol(argv[0]), atoi(argv[1]));
}

static int try_mknod(char **argv)
{
	mode_t type = strcmp(argv[1], "char") == 0    ? S_IFCHR
		      : strcmp(argv[1], "block") == 0 ? S_IFBLK
						      : S_IFIFO;
	/* 1:3 is null, 7:0 the first loop device. */
	return mknod(argv[0], type | 0600, type == S_IFBLK ? 0x700 : 0x103);
}

static int try_open(char **argv)
{
	int flags = strchr(argv[1], 'w') ? O_WRONLY | O_CREAT : O_RDONLY;
	return open(argv[0], flags | O_CLOEXEC, 0600);
}

static int try_key(char **argv)
{
	(void)argv;
	/* KEY_SPEC_PROCESS_KEYRING: goes with the process. */
	return (int)syscall(SYS_add_key, "user", "wardfs-test", "x", 1, -2);
}

static int try_fanotify(char **argv)
{
	(void)argv;
	return fanotify_init(FAN_CLASS_NOTIF, O_RDONLY);
}

static int try_handle(char **argv)
{
	union {
		struct file_handle h;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = {.h.handle_bytes = MAX_HANDLE_SZ};
	int id;
	if (name_to_handle_at(AT_FDCWD, argv[0], &u.h, &id, 0) < 0)
		return -1;
	int at = open(argv[0], O_RDONLY | O_CLOEXEC);
	return at < 0 ? -1 : open_by_handle_at(at, &u.h, O_RDONLY);
}

/* A terminal of one's own: the ioctl is what is refused, not the terminal. */
static int try_tiocsti(char **argv)
{
	unsigned long request = TIOCSTI;
	if (argv[0] && strcmp(argv[0], "linux") == 0)
		request = TIOCLINUX;
	if (argv[0] && strcmp(argv[0], "discipline") == 0)
		request = TIOCSETD;
	if (argv[0] && strcmp(argv[0], "high") == 0)
		request |= 1UL << 32; /* the kernel looks at the low half alone */
	setsid();
	int master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		exit(2);
	int tty = open(ptsname(master), O_RDWR);
	if (tty < 0)
		exit(2);
	const int n_tty = 0; /* the discipline that it has: any other needs a module */
	const void *arg = request == TIOCSETD ? (const void *)&n_tty : "x";
	int r = (int)syscall(SYS_ioctl, tty, request, arg);
	/* A pty is no console: who hears that reached the kernel. */
	return request == TIOCLINUX && r < 0 && errno == ENOTTY ? 0 : r;
}

/* To the present time: a process that may write to a file may do that. */
static int try_touch(char **argv)
{
	return utimensat(AT_FDCWD, argv[0], NULL, 0);
}

static int try_socket(char **argv)
{
	return socket(atoi(argv[0]), atoi(argv[1]), atoi(argv[2]));
}

static int try_abstract(char **argv)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", argv[0]);
	return connect(fd, (struct sockaddr *)&a,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[0])));
}

/* Listens on an abstract name, says "ready", and stays until its input ends. */
static int try_listen(char **argv)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char byte;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "%s", argv[0]);
	if (bind(fd, (struct sockaddr *)&a,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[0]))) <
			0 ||
		listen(fd, 1) < 0)
		return -1;
	puts("ready");
	(void)fflush(stdout);
	while (read(0, &byte, 1) > 0)
		continue;
	return 0;
}

static int try_connect(char **argv)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))};
	inet_pton(AF_INET, argv[0], &a.sin_addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	return connect(fd, (struct sockaddr *)&a, sizeof(a));
}

/* Binds, listens on the loopback and connects to itself. */
static int try_loopback(char **argv)
{
	(void)argv;
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int server = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(server, (struct sockaddr *)&a, len) < 0 || listen(server, 1) < 0 ||
		getsockname(server, (struct sockaddr *)&a, &len) < 0)
		return -1;
	return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&a, len);
}

static int try_personality(char **argv)
{
	return personality(strtoul(argv[0], NULL, 0));
}

static int try_setuid(char **argv)
{
	return setuid((uid_t)atol(argv[0]));
}

static int try_hostname(char **argv)
{
	return sethostname(argv[0], strlen(argv[0]));
}

/* A system call that no kernel has yet. */
static int try_unknown(char **argv)
{
	(void)argv;
	return (int)syscall(1000);
}

/* As many children as asked for, alive at the same time. */
static int try_children(char **argv)
{
	long n = atol(argv[0]);
	pid_t group = 0;
	int result = 0, code = 0;
	for (long i = 0; i < n && result == 0; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			pause();
			_exit(0);
		}
		if (pid < 0) {
			code = errno;
			result = -1;
			break;
		}
		setpgid(pid, group);
		if (group == 0)
			group = pid;
	}
	if (group > 0)
		kill(-group, SIGKILL);
	while (wait(NULL) > 0)
		continue;
	errno = code;
	return result;
}

/* argv: file, bytes */
static int try_fill(char **argv)
{
	static char block[65536];
	unsigned long long left = strtoull(argv[1], NULL, 10);
	int fd = open(argv[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	while (left > 0) {
		size_t n = left < sizeof(block) ? (size_t)left : sizeof(block);
		ssize_t w = write(fd, block, n);
		if (w < 0)
			return -1;
		left -= (unsigned long long)w;
	}
	return close(fd);
}

/* argv: scheduler|affinity|nice|group|limit|io, pid: makes a process slow, or asks what it has. */
static int try_slow(char **argv)
{
	pid_t pid = (pid_t)atol(argv[1]);
	struct sched_param param = {0};
	struct rlimit cpu;
	cpu_set_t cpus;
	if (strcmp(argv[0], "scheduler") == 0)
		return sched_setscheduler(pid, SCHED_IDLE, &param);
	if (strcmp(argv[0], "nice") == 0)
		return setpriority(PRIO_PROCESS, (id_t)pid, 19);
	/* All of a group that it joins. */
	if (strcmp(argv[0], "group") == 0)
		return setpgid(0, pid) < 0 ? -1 : setpriority(PRIO_PGRP, 0, 19);
	if (strcmp(argv[0], "user") == 0)
		return setpriority(PRIO_USER, 0, 19);
	if (strcmp(argv[0], "io") == 0)
		return (int)syscall(SYS_ioprio_set, 1, pid, 3 << 13);
	if (strcmp(argv[0], "limit") == 0)
		return prlimit(pid, RLIMIT_CPU, NULL, &cpu);
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	return sched_setaffinity(pid, sizeof(cpus), &cpus);
}

/* A set of Landlock's rules about these rights. */
static int try_ruleset(char **argv)
{
	unsigned long long files = strtoull(argv[0], NULL, 0);
	return (int)syscall(SYS_landlock_create_ruleset, &files, sizeof(files), 0);
}

/*
 * argv: bytes, as the soft limit. A call that answers and changes nothing has not succeeded. Twice:
 * by the call of setrlimit(2) and by that of prlimit(2), which libraries make for it.
 */
static int try_core_limit(char **argv)
{
	struct rlimit was, now;
	if (getrlimit(RLIMIT_CORE, &was) < 0)
		return -1;
	struct rlimit want = {strtoull(argv[0], NULL, 10), was.rlim_max};
	if (want.rlim_cur > want.rlim_max)
		want.rlim_max = want.rlim_cur;
	if (syscall(SYS_setrlimit, RLIMIT_CORE, &want) < 0)
		return -1;
	if (syscall(SYS_prlimit64, 0, RLIMIT_CORE, &want, NULL) < 0 ||
		getrlimit(RLIMIT_CORE, &now) < 0)
		return -1;
	errno = EPERM;
	if (now.rlim_cur != want.rlim_cur)
		return -1;
	return (int)syscall(SYS_prlimit64, 0, RLIMIT_CORE, &was, &now);
}

/* argv: a file, read or write: fcntl(2) then holds up every open of it, also on the host. */
static int try_lease(char **argv)
{
	int fd = open(argv[0], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		exit(2);
	return fcntl(fd, F_SETLEASE, strcmp(argv[1], "write") == 0 ? F_WRLCK : F_RDLCK);
}

/*
 * argv: a way to the pages that the host keeps for programs that ask for large ones. Of a size that
 * no machine has, 8 KiB: the kernel says so, which counts as done, and takes none.
 */
static int try_huge_pages(char **argv)
{
	const int shift = 26, size = 13;
	int r = 0;
	if (strcmp(argv[0], "file") == 0)
		r = memfd_create("attack", MFD_HUGETLB | (unsigned)size << shift);
	else if (strcmp(argv[0], "segment") == 0)
		r = shmget(IPC_PRIVATE, 1 << size, SHM_HUGETLB | 0600 | size << shift);
	else if (mmap(NULL, 1 << size, PROT_READ,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | size << shift, -1,
			 0) == MAP_FAILED)
		r = -1;
	return r < 0 && (errno == EINVAL || errno == ENODEV) ? 0 : r;
}

/* argv: how many requests; of all that may be under way on the machine. */
static int try_aio(char **argv)
{
	unsigned long context = 0;
	return (int)syscall(SYS_io_setup, strtoul(argv[0], NULL, 10), &context);
}

/* argv: a pressure stall file. The kernel watches the machine for a process that writes there. */
static int try_pressure(char **argv)
{
	static const char trigger[] = "some 150000 2000000";
	int fd = open(argv[0], O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 || write(fd, trigger, sizeof(trigger)) < 0 ? -1 : 0;
}

static const struct {
	const char *name;
	int args;
	attempt run;
} attempts[] = {{"mount", 1, try_mount}, {"umount", 1, try_umount}, {"remount", 1, try_remount},
	{"setattr", 1, try_setattr}, {"open-tree", 1, try_open_tree}, {"chroot", 1, try_chroot},
	{"unshare", 1, try_unshare}, {"clone", 1, try_clone}, {"clone3", 1, try_clone3},
	{"setns", 1, try_setns}, {"ptrace", 1, try_ptrace}, {"read-memory", 1, try_read_memory},
	{"kill", 2, try_kill}, {"mknod", 2, try_mknod}, {"open", 2, try_open}, {"key", 0, try_key},
	{"fanotify", 0, try_fanotify}, {"handle", 1, try_handle}, {"tiocsti", 0, try_tiocsti},
	{"socket", 3, try_socket}, {"abstract", 1, try_abstract}, {"listen", 1, try_listen},
	{"connect", 2, try_connect}, {"loopback", 0, try_loopback},
	{"personality", 1, try_personality}, {"setuid", 1, try_setuid},
	{"hostname", 1, try_hostname}, {"unknown", 0, try_unknown}, {"children", 1, try_children},
	{"fill", 2, try_fill}, {"core-limit", 1, try_core_limit}, {"slow", 2, try_slow},
	{"write-memory", 1, try_write_memory}, {"take-fd", 2, try_take_fd},
	{"capset", 0, try_capset}, {"move-mount", 2, try_move_mount}, {"fsopen", 1, try_fsopen},
	{"pivot-root", 1, try_pivot_root}, {"ruleset", 1, try_ruleset}, {"lease", 2, try_lease},
	{"huge-pages", 1, try_huge_pages}, {"aio", 1, try_aio}, {"pressure", 1, try_pressure},
	{"touch", 1, try_touch}};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(attempts) / sizeof(attempts[0]); i++) {
		if (strcmp(argv[1], attempts[i].name) != 0)
			continue;
		if (argc < 2 + attempts[i].args)
			return 2;
		if (attempts[i].run(argv + 2) < 0) {
			puts(strerrorname_np(errno));
			return 1;
		}
		puts("done");
		return 0;
	}
	return 2;
}
