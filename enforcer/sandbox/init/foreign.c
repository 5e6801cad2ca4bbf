/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs-init in a container with a kernel of its own; relay.c says how it speaks to us. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/init/init.h"
#include "enforcer/sandbox/sandbox.h"

#define TALK WARD_SANDBOX_ENGINE_TALK
#define PLAN WARD_SANDBOX_ENGINE_PLAN

/*
 * ward_init_drop() without what that kernel does not have: ambient capabilities and secure bits. A
 * user other than 0 gets none from execve(2) either.
 */
static int drop(struct ward_err *err)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) > 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap) < 0)
			return ward_err_sys(err, -errno, "drop capability %lu", cap);
	if (syscall(SYS_capset, &head, none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return ward_err_sys(err, -errno, "drop all capabilities");
	return 0;
}

static int read_plan(struct ward_init *in, struct ward_err *err)
{
	struct stat st;
	struct ward_init_handed h;
	ward_cleanup_fd int fd = open(PLAN "/blueprint", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "read the blueprint");
	if (st.st_size <= 0 || (size_t)st.st_size > WARD_BLUEPRINT_BYTES_MAX)
		return ward_err_set(err, -EBADMSG, "the blueprint has a wrong size");
	/* Stays mapped: the filters point into it. */
	void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	int r = data == MAP_FAILED
			? -errno
			: ward_blueprint_decode(data, (size_t)st.st_size, &in->blueprint);
	if (r == 0)
		r = ward_init_talk_get(PLAN, "handed", &h, sizeof(h)) == 1 ? 0 : -EBADMSG;
	if (r < 0)
		return ward_err_sys(err, r, "the blueprint cannot be understood");
	in->mounted = h.mounted;
	in->unshared = h.unshared;
	in->outside = h.outside;
	in->umask = h.umask;
	ward_init_forget_outer(&in->blueprint);
	/* The relay has the terminal; here it is the descriptors that it lies on. */
	in->blueprint.tty_slots = 0;
	/* That kernel knows files by the one id that the engine maps: as those of its user 0. */
	r = ward_init_own_id(in, err);
	return r < 0 ? r : drop(err);
}

static int report_failed(int code, const char *text)
{
	struct ward_init_report r = {.kind = WARD_INIT_CANNOT, .step = WARD_INIT_SETUP};
	r.error = -code;
	snprintf(r.text, sizeof(r.text), "%s", text);
	(void)!ward_init_talk_put(TALK, "report", &r, sizeof(r));
	return 125;
}

/* What the child says, as files; then what becomes of it. */
static int relay_reports(struct ward_init *in)
{
	struct ward_init_report r = {.kind = WARD_INIT_REPORT_NONE};
	char go = 0;
	int none = -1;
	if (ward_init_hear_report(in->child, &r, &none) != (ssize_t)sizeof(r))
		return report_failed(-EIO, "the command could not be started");
	if (ward_init_talk_put(TALK, "report", &r, sizeof(r)) < 0 || r.kind != WARD_INIT_TRIED)
		return 125;
	while (ward_init_talk_get(TALK, "go", &go, 1) == 0)
		ward_init_talk_pause();
	if (go != 1 || send(in->child, &go, 1, MSG_NOSIGNAL) != 1)
		return 125;
	if (ward_init_hear_report(in->child, &r, &none) != (ssize_t)sizeof(r))
		r = (struct ward_init_report){.kind = WARD_INIT_REPORT_NONE};
	return ward_init_talk_put(TALK, "done", &r, sizeof(r)) < 0 || r.kind == WARD_INIT_CANNOT
		       ? 125
		       : 0;
}

int ward_init_foreign_inside(struct ward_init *in)
{
	struct ward_err err = WARD_ERR_INIT;
	int status = 0;
	int r = read_plan(in, &err);
	if (r == 0)
		r = ward_init_command(in, &err);
	if (r < 0)
		return report_failed(r, err.text);
	r = relay_reports(in);
	/* Every orphan is ours; with us all of them end. */
	for (pid_t pid = 0; r == 0 && pid != in->command;) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno != EINTR)
			return 125;
	}
	return r ? r : WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/*
 * argv: the program, EXEC, the directory, then the command. Confined as the first one is. Where it
 * cannot be, the status alone says so: its standard error is the command's.
 */
int ward_init_foreign_command(struct ward_init *in, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	extern char **environ;
	int r = read_plan(in, &err);
	if (r == 0 && chdir(argv[2]) < 0)
		r = ward_err_sys(&err, -errno, "enter %s", argv[2]);
	if (r == 0)
		r = ward_init_confine_again(in, &err);
	if (r == 0) {
		struct ward_blueprint p = {.argv = argv + 3, .envp = environ};
		while (environ[p.n_envp])
			p.n_envp++;
		r = ward_init_execute(&p, NULL);
		return r == -ENOENT ? 127 : 126;
	}
	return 125;
}
