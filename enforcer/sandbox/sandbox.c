/* SPDX-License-Identifier: Apache-2.0 */
/* Starts wardfs-init and talks to it, from the blueprint to the end. */
#include "enforcer/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/limit.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/sandbox/exec_table.h"
#include "enforcer/sandbox/filters.h"
#include "enforcer/sandbox/groups.h"
#include "enforcer/sandbox/internal.h"
#include "enforcer/sandbox/maps.h"
#include "enforcer/sandbox/view.h"

/*
 * Milliseconds that wardfs-init may keep silent while it sets up: it waits for nothing but the
 * kernel, so this only ends a wait that would never end.
 */
#define SETUP_WAIT_MS 60000
/* Milliseconds for wardfs-init to end what descends from it, where no pid namespace does. */
#define END_WAIT_MS 10000
#define STUCK_MS 20000 /* the death of all inside */
/* Linux's MAX_ERRNO (include/linux/err.h): no error has a higher number. */
#define ERRNO_MAX 4095
/* Exit status of what could not become wardfs-init for want of descriptors. It says no more. */
#define NOT_INHERITED 124

struct ward_sandbox {
	uint32_t layers; /* set of enum ward_layer */
	struct ward_groups cgroups;
	int tasks[WARD_SANDBOX_JOIN_MAX]; /* of these, what stage 0 enters by itself */
	size_t n_tasks;
	bool root;
	uid_t owner_uid, agent_uid;
	gid_t owner_gid, agent_gid;
	gid_t *groups;
	size_t n_groups;
	int control;
	int fuse[WARD_TREES_MAX];
	size_t n_trees;
	int pty;
	int ns[2];    /* user and network namespace; -1: none, or let go of */
	pid_t stage0; /* 0: reaped */
	pid_t pid;    /* 0: not there yet */
	int pidfd;
	int execs; /* listener, -1: none */
	bool listen_execs;
	bool tells; /* what it executes itself: told, inside */
	struct ward_exec_table *told;
	int inside;	    /* O_PATH of its root; -1 */
	uint32_t no_probes; /* of an engine */
	bool zero;	    /* the command's id is 0 in the sandbox's user namespace */
	bool wants_pty, keep;
	bool wants_wire;
	bool probed;  /* all probes held */
	bool started; /* the command was executed */
	bool reaped;
	bool stuck; /* it was left: what is inside waits for a file system that does not answer */
	bool over;  /* the last event was handed out */
	struct ward_sandbox_facts facts;
};

/* --- the blueprint --- */

static size_t count_strings(char *const *v)
{
	size_t n = 0;
	while (v && v[n])
		n++;
	return n;
}

static int make_blueprint(const struct ward_sandbox_spec *s, const struct ward_sandbox *sb,
	int *ret_fd, struct ward_err *err)
{
	ward_cleanup(ward_view_clear) struct ward_view_list view = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf bytes = WARD_BUF_INIT;
	uint32_t layers = sb->layers;
	if (s->net == WARD_SANDBOX_NET_HOST)
		layers &= ~(uint32_t)WARD_LAYER_NET;
	bool filtered = layers & WARD_LAYER_SECCOMP;
	const struct ward_seccomp_filter none = {NULL, 0};
	const struct ward_seccomp_filter filter =
		filtered ? ward_seccomp_command(s->seccomp) : none;
	const struct ward_seccomp_filter init_filter = filtered ? ward_seccomp_init() : none;
	const struct ward_seccomp_filter replay_filter = s->replay ? ward_seccomp_replay() : none;
	const struct ward_seccomp_filter execs = sb->listen_execs ? ward_seccomp_execs() : none;
	int r = ward_view_build(s, layers, &view, err);
	if (r < 0)
		return r;
	struct ward_blueprint p = {
		.flags = ward_sandbox_flags(s, filtered) | (sb->tells ? WARD_BLUEPRINT_TELLS : 0),
		.layers = layers,
		.owner_uid = s->owner_uid,
		.owner_gid = s->owner_gid,
		.agent_uid = s->agent_uid,
		.agent_gid = s->agent_gid,
		.groups = sb->groups,
		.n_groups = sb->n_groups,
		/* Only encoded: the blueprint does not change or free any of these. */
		.hostname = (char *)(uintptr_t)s->hostname,
		.tmp_bytes = s->tmp_bytes,
		.processes = s->processes,
		.open_files = s->open_files,
		.file_size = s->file_size,
		.core_bytes = s->core ? WARD_UNLIMITED : 0,
		.data_bytes = s->data_bytes ? s->data_bytes : WARD_UNLIMITED,
		.cpu_seconds = s->cpu_seconds ? s->cpu_seconds : WARD_UNLIMITED,
		.rows = s->winsize.ws_row,
		.cols = s->winsize.ws_col,
		.n_lifelines = (uint32_t)s->n_lifelines,
		.n_tasks = (uint32_t)sb->n_tasks,
		.n_trees = (uint32_t)(s->n_trees + s->single_files),
		.entries = view.v,
		.n_entries = view.n,
		.programs = view.programs,
		.n_programs = view.n_programs,
		.argv = (char **)(uintptr_t)s->argv,
		.n_argv = count_strings(s->argv),
		.envp = (char **)(uintptr_t)s->envp,
		.n_envp = count_strings(s->envp),
		.engine = s->engine ? (char **)(uintptr_t)s->engine->argv : NULL,
		.n_engine = s->engine ? count_strings(s->engine->argv) : 0,
		.engine_exec = s->engine ? (char **)(uintptr_t)s->engine->exec_argv : NULL,
		.n_engine_exec = s->engine ? count_strings(s->engine->exec_argv) : 0,
		.cwd = (char *)(uintptr_t)s->cwd,
		.probe_outside = (char *)(uintptr_t)s->probe_outside,
		.probe_socket = (char *)(uintptr_t)s->probe_socket,
		.probe_hidden = (char *)(uintptr_t)s->probe_hidden,
		.probe_write = (char *)(uintptr_t)s->probe_write,
		.filter = filter.bpf,
		.filter_len = filter.len,
		.init_filter = init_filter.bpf,
		.init_filter_len = init_filter.len,
		.exec_filter = execs.bpf,
		.exec_filter_len = execs.len,
		.replay_filter = replay_filter.bpf,
		.replay_filter_len = replay_filter.len,
	};
	for (unsigned i = 0; i < 3; i++)
		if (s->pty && s->stdio[i] < 0)
			p.tty_slots |= 1U << i;
	r = ward_blueprint_encode(&p, &bytes);
	if (r < 0)
		return ward_err_sys(err, r, "describe the sandbox");
	return ward_fd_sealed("wardfs-blueprint", bytes.data, bytes.len, ret_fd, err);
}

/* --- starting wardfs-init --- */

/* Between vfork and exec: nothing of our memory is changed but this stack. */
static _Noreturn void become_init(const char *program, const int *from, const int *to, size_t n)
{
	char name[] = "wardfs-init";
	char *argv[] = {name, NULL};
	char *envp[] = {NULL};
	/* Read by died(): nothing else may be run or written here. */
	if (ward_fd_inherit(from, to, n) < 0)
		_exit(NOT_INHERITED);
	execve(program, argv, envp);
	_exit(errno == ENOENT ? 127 : 126);
}

static pid_t start_init(const struct ward_sandbox_spec *s, struct ward_sandbox *sb, const int *from,
	const int *to, size_t n)
{
	pid_t pid = ward_groups_fork(&sb->cgroups);
	if (pid < 0)
		pid = vfork();
	if (pid == 0)
		become_init(s->init_program, from, to, n);
	return pid;
}

static int spawn(const struct ward_sandbox_spec *s, struct ward_sandbox *sb, int control,
	int blueprint, int told, struct ward_err *err)
{
	int from[WARD_INIT_FDS_MAX], to[WARD_INIT_FDS_MAX];
	size_t n = 0;
	ward_cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return ward_err_sys(err, -errno, "open /dev/null");
	for (int i = 0; i < 3; i++) {
		from[n] = s->stdio[i] >= 0 ? s->stdio[i] : null;
		to[n++] = i;
	}
	from[n] = control;
	to[n++] = WARD_INIT_FD_CONTROL;
	from[n] = blueprint;
	to[n++] = WARD_INIT_FD_BLUEPRINT;
	for (size_t i = 0; i < s->n_lifelines; i++) {
		from[n] = s->lifelines[i];
		to[n++] = WARD_INIT_FD_LIFELINES + (int)i;
	}
	if (told >= 0) {
		from[n] = told;
		to[n++] = WARD_INIT_FD_EXECS;
	}
	if (s->replay) {
		from[n] = *s->replay;
		to[n++] = WARD_INIT_FD_REPLAY;
	}
	for (size_t i = 0; i < sb->n_tasks; i++) {
		from[n] = sb->tasks[i];
		to[n++] = WARD_INIT_FD_TASKS + (int)i;
	}
	pid_t pid = start_init(s, sb, from, to, n);
	if (pid < 0)
		return ward_err_sys(err, -errno, "fork");
	sb->stage0 = pid;
	return 0;
}

static int wait_pid(pid_t pid)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	return status;
}

static int reap_stage0(struct ward_sandbox *sb)
{
	if (sb->stage0 == 0)
		return 0;
	int status = wait_pid(sb->stage0);
	sb->stage0 = 0;
	return status;
}

/* FAILED {errno, step, text}; the codes that mean "the command" come from its execution alone. */
static int failed(struct ward_msg_reader *r, struct ward_err *err)
{
	uint32_t number = ward_msg_get_u32(r);
	uint32_t step = ward_msg_get_u32(r);
	ward_cleanup_free char *text = ward_msg_get_str(r);
	if (ward_msg_done(r) < 0 || number == 0 || number > ERRNO_MAX)
		return ward_err_set(err, -EBADMSG, "wardfs-init sent nonsense");
	int code = -(int)number;
	if (step != WARD_INIT_EXEC_STEP &&
		(code == -ENOENT || code == -EACCES || code == -ENOEXEC || code == -EINVAL))
		code = -EIO;
	return ward_err_set(err, code, "%s", text);
}

/*
 * If an end is closed with something unread, the other gets ECONNRESET, once and before the earlier
 * messages.
 */
static ssize_t hear(const struct ward_sandbox *sb, void *data, size_t size, int *fds, size_t *n_fds)
{
	size_t room = n_fds ? *n_fds : 0;
	ssize_t n = ward_msg_recv(sb->control, data, size, fds, n_fds);
	if (n == -ECONNRESET) {
		if (n_fds)
			*n_fds = room;
		n = ward_msg_recv(sb->control, data, size, fds, n_fds);
	}
	return n;
}

/* FAILED or EVENT, where another message was expected. */
static int unexpected(struct ward_msg_reader *r, struct ward_err *err)
{
	if (r->type == WARD_INIT_FAILED)
		return failed(r, err);
	/* Before the command was executed only a lifeline, or a mount, can be the reason of one. */
	if (r->type == WARD_INIT_EVENT)
		return ward_msg_get_u32(r) == WARD_SANDBOX_UNMOUNTED
			       ? ward_err_set(err, -EIO, "a mount of the session disappeared")
			       : ward_err_set(err, -EIO, "a helper of the session ended");
	return ward_err_set(err, -EBADMSG, "wardfs-init sent nonsense");
}

/* wardfs-init closed the channel: its last word says why, else how it ended. */
static int died(struct ward_sandbox *sb, struct ward_err *err)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	struct pollfd pfd = {.fd = sb->control, .events = POLLIN};
	ssize_t n = 0;
	while (poll(&pfd, 1, 0) > 0 && (n = hear(sb, data, sizeof(data), NULL, NULL)) > 0) {
		ward_msg_reader_init(&r, data, (size_t)n);
		if (r.type == WARD_INIT_FAILED || r.type == WARD_INIT_EVENT)
			return unexpected(&r, err);
	}
	int status = reap_stage0(sb);
	if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) == NOT_INHERITED)
		return ward_err_set(err, -EMFILE,
			"wardfs-init cannot get its descriptors, because the limit of open files is too low; raise it (ulimit -n)");
	if (status > 0 && WIFEXITED(status) && WEXITSTATUS(status) >= 126)
		return ward_err_set(err, -EIO,
			"cannot execute wardfs-init; install all of wardfs (meson install)");
	if (status == 0 && sb->pid > 0 && !sb->reaped) {
		status = wait_pid(sb->pid);
		sb->reaped = true;
	}
	if (status > 0 && WIFSIGNALED(status))
		return ward_err_set(err, -EIO, "signal %d killed wardfs-init", WTERMSIG(status));
	return ward_err_set(err, -EIO, "wardfs-init ended unexpectedly, with status %d",
		status >= 0 ? WEXITSTATUS(status) : status);
}

/*
 * The next message, which must be of this type. data backs the reader. fds, *n_fds as
 * ward_msg_recv().
 */
static int expect(struct ward_sandbox *sb, enum ward_init_type type, char *data, size_t size,
	struct ward_msg_reader *ret, int *fds, size_t *n_fds, struct ward_err *err)
{
	struct pollfd pfd = {.fd = sb->control, .events = POLLIN};
	int ready = 0;
	do {
		ready = poll(&pfd, 1, SETUP_WAIT_MS);
	} while (ready < 0 && errno == EINTR);
	if (ready == 0)
		return ward_err_set(err, -ETIMEDOUT, "wardfs-init does not answer");
	ssize_t n = hear(sb, data, size, fds, n_fds);
	if (n == 0)
		return died(sb, err);
	if (n < 0)
		return ward_err_sys(err, (int)n, "hear from wardfs-init");
	ward_msg_reader_init(ret, data, (size_t)n);
	if (ret->type == (uint32_t)type && !ret->bad)
		return 0;
	for (size_t i = 0; n_fds && i < *n_fds; i++)
		close(fds[i]);
	if (n_fds)
		*n_fds = 0;
	return unexpected(ret, err);
}

static int hear_staged(struct ward_sandbox *sb, struct ward_err *err)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	int fds[WARD_TREES_MAX + 1];
	size_t n = WARD_TREES_MAX + 1;
	int code = expect(sb, WARD_INIT_STAGED, data, sizeof(data), &r, fds, &n, err);
	if (code < 0)
		return code;
	for (size_t i = 0; i < n; i++)
		*(i < sb->n_trees ? &sb->fuse[i] : &sb->inside) = fds[i];
	sb->pid = (pid_t)ward_msg_get_u32(&r);
	if (ward_msg_done(&r) < 0 || n != sb->n_trees + sb->tells || sb->pid <= 0)
		return ward_err_set(err, -EBADMSG, "wardfs-init sent nonsense");
	/* Our child and not waited for by anyone else: the number cannot have been reused. */
	sb->pidfd = pidfd_open(sb->pid, 0);
	if (sb->pidfd < 0)
		return ward_err_sys(err, -errno, "pidfd_open");
	int status = reap_stage0(sb);
	return status == 0 ? 0 : ward_err_set(err, -EIO, "wardfs-init ended with %d", status);
}

/* --- talking --- */

static int tell(struct ward_sandbox *sb, enum ward_init_type type)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, type);
	return ward_msg_send(sb->control, &m, NULL, 0);
}

static int give_maps(struct ward_sandbox *sb, struct ward_err *err)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	if (!sb->root)
		return 0;
	int code = expect(sb, WARD_INIT_MAPS, data, sizeof(data), &r, NULL, NULL, err);
	if (code < 0)
		return code;
	code = ward_maps_write(
		sb->pid, sb->agent_uid, sb->agent_gid, sb->zero, sb->groups, sb->n_groups, err);
	if (code < 0)
		return code;
	code = tell(sb, WARD_INIT_MAPPED);
	return code == -EPIPE || code == -ECONNRESET ? died(sb, err)
	       : code < 0			     ? ward_err_sys(err, code, "tell wardfs-init")
						     : 0;
}

static int hear_namespaces(struct ward_sandbox *sb, struct ward_err *err)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	int fds[2] = {-1, -1};
	size_t n = 2;
	int code = expect(sb, WARD_INIT_NAMESPACES, data, sizeof(data), &r, fds, &n, err);
	if (code < 0)
		return code;
	for (size_t i = 0; i < n; i++)
		sb->ns[i] = fds[i];
	return ward_msg_done(&r) < 0 || n != 2
		       ? ward_err_set(err, -EBADMSG, "wardfs-init sent nonsense")
		       : 0;
}

static int hear_ready(struct ward_sandbox *sb, bool pty, struct ward_err *err)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	size_t n = 1;
	int code = expect(sb, WARD_INIT_READY, data, sizeof(data), &r, &sb->pty, &n, err);
	if (code < 0)
		return code;
	if (n == 0)
		sb->pty = -1;
	sb->facts.landlock_abi = ward_msg_get_u32(&r);
	uint32_t applied = ward_msg_get_u32(&r);
	if (ward_msg_done(&r) < 0 || n != (pty ? 1U : 0U))
		return ward_err_set(err, -EBADMSG, "wardfs-init sent nonsense");
	sb->facts.groups_kept = applied & WARD_INIT_GROUPS_KEPT;
	sb->facts.keyring = applied & WARD_INIT_KEYRING;
	sb->facts.userns_closed = applied & WARD_INIT_NO_USERNS;
	sb->facts.sockets_shut = applied & WARD_INIT_SHUT;
	return 0;
}

/* --- the interface --- */

static int build(const struct ward_sandbox_spec *s, struct ward_sandbox *sb, struct ward_err *err)
{
	int ends[2];
	ward_cleanup_fd int blueprint = -1;
	ward_cleanup_fd int told = -1;
	if (ward_sandbox_groups(s, &sb->groups, &sb->n_groups) < 0)
		return ward_err_sys(err, -ENOMEM, "groups");
	int r = make_blueprint(s, sb, &blueprint, err);
	if (r == 0 && sb->tells)
		r = ward_exec_table_new(&sb->told, &told, err);
	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return ward_err_sys(err, -errno, "socketpair");
	sb->control = ends[0];
	r = spawn(s, sb, ends[1], blueprint, told, err);
	/* From here only wardfs-init holds that end: its death is our end of file. */
	close(ends[1]);
	return r;
}

static int joined(int r, struct ward_err *err)
{
	return r < 0 ? ward_err_sys(err, r, "join the session's control group") : 0;
}

int ward_sandbox_staged(struct ward_sandbox *sb, struct ward_err *err)
{
	int r = hear_staged(sb, err);
	return r < 0 ? r : joined(ward_groups_begin(&sb->cgroups, sb->pid), err);
}

int ward_sandbox_mapped(struct ward_sandbox *sb, struct ward_err *err)
{
	int r = give_maps(sb, err);
	return r == 0 && sb->wants_wire ? hear_namespaces(sb, err) : r;
}

int ward_sandbox_ready(struct ward_sandbox *sb, struct ward_err *err)
{
	return hear_ready(sb, sb->wants_pty, err);
}

int ward_sandbox_create(
	const struct ward_sandbox_spec *spec, struct ward_sandbox **ret, struct ward_err *err)
{
	struct ward_sandbox *sb = NULL;
	int r = ward_sandbox_begin(spec, &sb, err);
	if (r == 0)
		r = ward_sandbox_staged(sb, err);
	if (r == 0)
		r = ward_sandbox_mapped(sb, err);
	if (r == 0)
		r = ward_sandbox_ready(sb, err);
	if (r < 0)
		ward_sandbox_free(sb);
	else
		*ret = sb;
	return r;
}

int ward_sandbox_begin(
	const struct ward_sandbox_spec *spec, struct ward_sandbox **ret, struct ward_err *err)
{
	int r = ward_sandbox_spec_check(spec, err);
	if (r < 0)
		return r;
	struct ward_sandbox *sb = calloc(1, sizeof(*sb));
	if (!sb)
		return ward_err_sys(err, -ENOMEM, "sandbox");
	sb->control = sb->pty = sb->pidfd = sb->execs = sb->inside = sb->ns[0] = sb->ns[1] = -1;
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		sb->fuse[i] = -1;
	sb->layers = spec->layers;
	sb->n_trees = spec->n_trees + spec->single_files;
	ward_groups_init(&sb->cgroups, spec);
	sb->n_tasks = ward_groups_tasks(&sb->cgroups, sb->tasks);
	sb->root = spec->root;
	sb->wants_pty = spec->pty;
	sb->keep = spec->keep;
	/* One listener is all that a tree of processes can have, and no-exec is one by itself. */
	sb->listen_execs = spec->listen_execs && sb->layers & WARD_LAYER_SECCOMP &&
			   spec->seccomp != WARD_SECCOMP_NO_EXEC &&
			   !(spec->engine && spec->engine->exec_argv);
	/* Root reads what it executes, and in a container its owner does. */
	sb->tells = sb->listen_execs && !sb->root && !spec->engine;
	sb->no_probes = spec->engine ? spec->engine->no_probes : 0;
	sb->facts.platform = spec->engine ? spec->engine->platform : NULL;
	sb->zero = spec->engine && spec->engine->how & WARD_SANDBOX_ENGINE_ZERO;
	sb->wants_wire = spec->net == WARD_SANDBOX_NET_WIRE;
	sb->agent_uid = spec->agent_uid;
	sb->agent_gid = spec->agent_gid;
	r = build(spec, sb, err);
	if (r < 0) {
		ward_sandbox_free(sb);
		return r;
	}
	*ret = sb;
	return 0;
}

int ward_sandbox_fuse_fd(const struct ward_sandbox *sb, size_t i)
{
	return i < sb->n_trees ? sb->fuse[i] : -1;
}

void ward_sandbox_forget_fuse(struct ward_sandbox *sb)
{
	for (size_t i = 0; i < WARD_TREES_MAX; i++) {
		if (sb->fuse[i] >= 0)
			close(sb->fuse[i]);
		sb->fuse[i] = -1;
	}
}

/* Sends {}; -EPIPE and the like mean that wardfs-init is gone. */
static int ask(struct ward_sandbox *sb, enum ward_init_type type, struct ward_err *err)
{
	int code = tell(sb, type);
	if (code == -EPIPE || code == -ECONNRESET)
		return died(sb, err);
	return code < 0 ? ward_err_sys(err, code, "tell wardfs-init") : 0;
}

static int hear_probed(struct ward_sandbox *sb, struct ward_probe_result *ret, struct ward_err *err)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	struct ward_probe_result v[WARD_PROBE_COUNT_] = {{WARD_PROBE_NONE, false, 0, 0}};
	int listener = -1;
	size_t n = 1;
	int code = expect(sb, WARD_INIT_PROBED, data, sizeof(data), &r, &listener, &n, err);
	if (code < 0)
		return code;
	if (n > 0)
		sb->execs = listener;
	if (n != sb->listen_execs)
		return ward_err_set(err, -EBADMSG, "wardfs-init sent nonsense");
	for (int i = WARD_PROBE_NONE + 1; i < WARD_PROBE_COUNT_; i++) {
		/* In the order of their numbers, none left out. */
		v[i].probe =
			ward_msg_get_u32(&r) == (uint32_t)i ? (enum ward_probe)i : WARD_PROBE_NONE;
		v[i].made = ward_msg_get_u32(&r) == 1;
		v[i].attempt = (int32_t)ward_msg_get_u32(&r);
		v[i].control = (int32_t)ward_msg_get_u32(&r);
	}
	if (ward_msg_done(&r) < 0)
		return ward_err_set(err, -EBADMSG, "wardfs-init sent nonsense");
	memcpy(ret, v, sizeof(v));
	return 0;
}

int ward_sandbox_probe(struct ward_sandbox *sb, struct ward_probe_result ret[WARD_PROBE_COUNT_],
	enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_], struct ward_err *err)
{
	struct ward_probe_result v[WARD_PROBE_COUNT_] = {{WARD_PROBE_NONE, false, 0, 0}};
	int code = joined(ward_groups_finish(&sb->cgroups), err);
	if (code == 0)
		code = ask(sb, WARD_INIT_PROBE, err);
	if (code == 0)
		code = hear_probed(sb, v, err);
	if (code < 0)
		return code;
	enum ward_probe first = WARD_PROBE_NONE;
	for (int i = WARD_PROBE_NONE + 1; i < WARD_PROBE_COUNT_; i++) {
		ret[i] = v[i];
		/* Of another kernel's layers it says nothing. */
		if (sb->no_probes & UINT32_C(1) << i)
			ret[i] = v[i] = (struct ward_probe_result){.probe = (enum ward_probe)i};
		bool applies = ward_probe_applies((enum ward_probe)i, sb->layers) &&
			       !(sb->no_probes & UINT32_C(1) << i);
		ret_verdicts[i] =
			applies || v[i].made ? ward_probe_judge(&v[i]) : WARD_PROBE_SKIPPED;
		if (ret_verdicts[i] != WARD_PROBE_HELD && ret_verdicts[i] != WARD_PROBE_SKIPPED &&
			first == WARD_PROBE_NONE)
			first = (enum ward_probe)i;
	}
	ret[0] = v[0];
	ret_verdicts[0] = WARD_PROBE_SKIPPED;
	sb->probed = first == WARD_PROBE_NONE;
	return sb->probed ? 0 : ward_probe_explain(&v[first], err);
}

void ward_sandbox_namespaces(const struct ward_sandbox *sb, int *ret_user, int *ret_net)
{
	*ret_user = sb->ns[0];
	*ret_net = sb->ns[1];
}

void ward_sandbox_forget_namespaces(struct ward_sandbox *sb)
{
	for (int i = 0; i < 2; i++) {
		if (sb->ns[i] >= 0)
			close(sb->ns[i]);
		sb->ns[i] = -1;
	}
}

int ward_sandbox_start(struct ward_sandbox *sb, struct ward_err *err)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	if (!sb->probed)
		return ward_err_set(err, -EPERM, "the sandbox was not probed");
	int code = ask(sb, WARD_INIT_GO, err);
	if (code < 0)
		return code;
	code = expect(sb, WARD_INIT_STARTED, data, sizeof(data), &r, NULL, NULL, err);
	sb->started = code == 0;
	return code;
}

bool ward_sandbox_is_started(const struct ward_sandbox *sb)
{
	return sb->started && !sb->over;
}

bool ward_sandbox_listens(const struct ward_sandbox *sb)
{
	return sb->listen_execs;
}

int ward_sandbox_execs_fd(const struct ward_sandbox *sb)
{
	return sb->execs;
}

int ward_sandbox_told(
	const struct ward_sandbox *sb, pid_t pid, struct ward_exec_told *ret, int *ret_root)
{
	if (!ward_exec_table_take(sb->told, pid, ret))
		return -ENOENT;
	*ret_root = sb->inside;
	return 0;
}

int ward_sandbox_fd(const struct ward_sandbox *sb)
{
	return sb->control;
}

int ward_sandbox_next(struct ward_sandbox *sb, struct ward_sandbox_event *ret)
{
	char data[2 * WARD_ERR_TEXT_MAX];
	struct ward_msg_reader r;
	struct pollfd pfd = {.fd = sb->control, .events = POLLIN};
	ward_cleanup_fd int fd = -1;
	size_t n_fds = 1;
	*ret = (struct ward_sandbox_event){.kind = WARD_SANDBOX_NOTHING, .fd = -1};
	if (sb->over || poll(&pfd, 1, 0) <= 0)
		return 0;
	ssize_t n = hear(sb, data, sizeof(data), &fd, &n_fds);
	if (n_fds == 0)
		fd = -1; /* none, or closed again */
	if (n == 0) {
		sb->over = true;
		ret->kind = WARD_SANDBOX_GONE;
		return 0;
	}
	if (n < 0)
		return (int)n;
	ward_msg_reader_init(&r, data, (size_t)n);
	if (r.type == WARD_INIT_EXEC_STARTED || r.type == WARD_INIT_EXEC_FAILED ||
		r.type == WARD_INIT_EXEC_ENDED) {
		int code = ward_sandbox_hear_exec(&r, fd, ret);
		if (code == 0 && ret->fd >= 0)
			fd = -1; /* the caller's now */
		return code;
	}
	uint32_t kind = ward_msg_get_u32(&r);
	int value = (int)ward_msg_get_u32(&r);
	if (r.type != WARD_INIT_EVENT || ward_msg_done(&r) < 0 || kind < WARD_SANDBOX_STOPPED ||
		kind > WARD_SANDBOX_UNMOUNTED)
		return -EBADMSG;
	ret->kind = (enum ward_sandbox_event_kind)kind;
	ret->value = value;
	bool ended = ret->kind == WARD_SANDBOX_EXITED || ret->kind == WARD_SANDBOX_SIGNALED;
	sb->over = ret->kind != WARD_SANDBOX_STOPPED && !(ended && sb->keep);
	return 0;
}

int ward_sandbox_pty(const struct ward_sandbox *sb)
{
	return sb->pty;
}

pid_t ward_sandbox_pid(const struct ward_sandbox *sb)
{
	return sb->pid;
}

void ward_sandbox_get_facts(const struct ward_sandbox *sb, struct ward_sandbox_facts *ret)
{
	*ret = sb->facts;
}

int ward_sandbox_signal(struct ward_sandbox *sb, int sig)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	if (sig < 1 || sig > 64)
		return -EINVAL;
	if (!sb->started)
		return -ESRCH;
	ward_msg_init(&m, WARD_INIT_SIGNAL);
	ward_msg_put_u32(&m, (uint32_t)sig);
	int r = ward_msg_send(sb->control, &m, NULL, 0);
	return r == -EPIPE || r == -ECONNRESET ? -ESRCH : r;
}

static bool ended(const struct ward_sandbox *sb, int ms)
{
	struct pollfd end = {.fd = sb->pidfd, .events = POLLIN};
	return sb->pidfd < 0 || poll(&end, 1, ms) != 0;
}

void ward_sandbox_kill(struct ward_sandbox *sb)
{
	(void)!ward_groups_finish(&sb->cgroups);
	if (sb->stage0 > 0) {
		kill(sb->stage0, SIGKILL);
		reap_stage0(sb);
	}
	if (sb->pid == 0 || sb->reaped)
		return;
	/* Its death alone would end nobody else: it gets the time to do it itself. */
	if (!(sb->layers & WARD_LAYER_PID) && shutdown(sb->control, SHUT_RDWR) == 0)
		(void)ended(sb, END_WAIT_MS);
	if (sb->pidfd >= 0)
		pidfd_send_signal(sb->pidfd, SIGKILL, NULL, 0);
	else
		kill(sb->pid, SIGKILL);
	/* The kernel lets pid 1 be reaped only after every other process inside is gone. */
	sb->stuck = !ended(sb, STUCK_MS);
	if (!sb->stuck)
		wait_pid(sb->pid);
	sb->reaped = true;
}

bool ward_sandbox_stuck(const struct ward_sandbox *sb)
{
	return sb && sb->stuck;
}

void ward_sandbox_free(struct ward_sandbox *sb)
{
	if (!sb)
		return;
	ward_sandbox_kill(sb);
	ward_sandbox_forget_fuse(sb);
	ward_sandbox_forget_namespaces(sb);
	const int fds[] = {sb->control, sb->pty, sb->pidfd, sb->execs, sb->inside}; /* -1: none */
	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		(void)close(fds[i]);
	ward_exec_table_unmap(sb->told);
	free(sb->groups);
	free(sb);
}
