/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attempts of ../probe.h, by the process that becomes the command. Each stores the errno of the
 * attempt and of its control and judges nothing: that is the supervisor's.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"

/* A name that no program makes: gone again, or never there. */
#define NAME "/.wardfs-probe"
/* A tmpfs of the session that no tree can cover (view.c, reserved[]). */
#define CONTROL_NAME "/dev/shm" NAME

static int32_t errno_of(long result)
{
	return result < 0 ? errno : 0;
}

static void set(struct ward_init_report *r, enum ward_probe p, int32_t attempt, int32_t control)
{
	r->results[p] = (struct ward_probe_result){
		.probe = p, .made = true, .attempt = attempt, .control = control};
}

/* Process 0 is nobody's number: ESRCH, unless a filter answers first. */
static int32_t ptrace_nobody(void)
{
	return errno_of(ptrace(PTRACE_ATTACH, 0, NULL, NULL));
}

/* The type is copied first (fs/namespace.c, SYSCALL_DEFINE5(mount)): EFAULT. */
static int32_t mount_nothing(void)
{
	return errno_of(syscall(SYS_mount, 1UL, 1UL, 1UL, 0UL, 0UL));
}

int32_t ward_init_probe_open(const char *path)
{
	ward_cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return errno_of(fd);
}

void ward_init_probe_unconfined(const struct ward_init *in, struct ward_init_report *r)
{
	for (int p = 0; p < WARD_PROBE_COUNT_; p++)
		r->results[p] = (struct ward_probe_result){.probe = (enum ward_probe)p};
	/* Its control is the mount of /proc by pid 1; it ends where that fails. */
	if (in->blueprint.layers & WARD_LAYER_PID)
		set(r, WARD_PROBE_CAPABILITIES, errno_of(mount("wardfs", "/tmp", "tmpfs", 0, NULL)),
			in->mounted);
	/* Another kernel would make one: it has no such limit, and its namespaces lead nowhere. */
	if (in->blueprint.layers & WARD_LAYER_HOST &&
		!(in->blueprint.flags & WARD_BLUEPRINT_FOREIGN))
		set(r, WARD_PROBE_USERNS, errno_of(unshare(CLONE_NEWUSER)), in->unshared);
}

void ward_init_probe_unfiltered(const struct ward_init *in, struct ward_init_report *r)
{
	if (in->landlock >= 6)
		set(r, WARD_PROBE_LANDLOCK, errno_of(kill(1, 0)), errno_of(kill(getpid(), 0)));
	if (in->blueprint.layers & WARD_LAYER_SECCOMP) {
		set(r, WARD_PROBE_PTRACE, 0, ptrace_nobody());
		set(r, WARD_PROBE_MOUNT, 0, mount_nothing());
	}
}

static int unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

/* name: without the NUL byte that abstract names begin with. */
static int32_t connect_abstract(const char *name)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	size_t n = strnlen(name, sizeof(sa.sun_path) - 1);
	ward_cleanup_fd int fd = unix_socket();
	memcpy(sa.sun_path + 1, name, n);
	return fd < 0 ? errno
		      : errno_of(connect(fd, (struct sockaddr *)&sa,
				(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)));
}

/* A name that the kernel chooses (unix(7), autobind), listened on and connected to. */
static int32_t connect_own(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(sa);
	ward_cleanup_fd int listener = unix_socket();
	ward_cleanup_fd int fd = unix_socket();
	int r = bind(listener, (struct sockaddr *)&sa, sizeof(sa.sun_family));
	/* A kernel that does not choose one (gVisor): nobody else is there yet. */
	if (r < 0 && errno == EINVAL) {
		memcpy(sa.sun_path, "\0wardfs-probe", 14);
		r = bind(listener, (struct sockaddr *)&sa, sizeof(sa.sun_family) + 14);
	}
	if (listener < 0 || fd < 0 || r < 0 || listen(listener, 1) < 0 ||
		getsockname(listener, (struct sockaddr *)&sa, &len) < 0)
		return errno;
	return errno_of(connect(fd, (struct sockaddr *)&sa, len));
}

/* The control of both that ask the guard: the directory that the name is in. */
static int32_t look_at_parent(const char *path)
{
	struct stat st;
	char dir[4096];
	const char *name = strrchr(path, '/');
	snprintf(dir, sizeof(dir), "%.*s", (int)(name - path), path);
	return errno_of(lstat(dir, &st));
}

static int32_t look_at(const char *path)
{
	struct stat st;
	return errno_of(lstat(path, &st));
}

static int32_t make_and_remove(const char *path)
{
	int32_t code = errno_of(mkdir(path, 0700));
	if (code == 0)
		rmdir(path);
	return code;
}

/* Where a directory would be made: /usr, unless a tree lies there; /etc is always ours. */
static int32_t make_readonly(const struct ward_blueprint *p)
{
	const char *path = "/etc" NAME;
	for (size_t i = 0; i < p->n_entries; i++)
		if (p->entries[i].kind == WARD_BLUEPRINT_BIND &&
			strcmp(p->entries[i].path, "/usr") == 0)
			path = "/usr" NAME;
	return make_and_remove(path);
}

void ward_init_probe_filtered(const struct ward_init *in, struct ward_init_report *r)
{
	const struct ward_blueprint *p = &in->blueprint;
	if (p->layers & WARD_LAYER_SECCOMP) {
		set(r, WARD_PROBE_PTRACE, ptrace_nobody(), r->results[WARD_PROBE_PTRACE].control);
		set(r, WARD_PROBE_MOUNT, mount_nothing(), r->results[WARD_PROBE_MOUNT].control);
	}
	if (p->layers & WARD_LAYER_VIEW) {
		if (p->probe_outside[0] != '\0')
			set(r, WARD_PROBE_OUTSIDE, ward_init_probe_open(p->probe_outside),
				in->outside);
		set(r, WARD_PROBE_READONLY, make_readonly(p), make_and_remove(CONTROL_NAME));
	}
	if (p->layers & WARD_LAYER_NET && p->probe_socket[0] != '\0')
		set(r, WARD_PROBE_CONNECT, connect_abstract(p->probe_socket), connect_own());
	if (p->probe_hidden[0] != '\0')
		set(r, WARD_PROBE_HIDDEN, look_at(p->probe_hidden),
			look_at_parent(p->probe_hidden));
	if (p->probe_write[0] != '\0')
		set(r, WARD_PROBE_WRITE, make_and_remove(p->probe_write),
			look_at_parent(p->probe_write));
}
