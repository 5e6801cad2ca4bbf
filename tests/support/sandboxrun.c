/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandboxrun [OPTION]... -- CMD...: one sandbox without the rest of a session, for tests. Exit code
 * as `wardfs run`: the command's, 128+signal, 125, 126, 127; 124 when a lifeline closed.
 *
 *   --init PROGRAM         wardfs-init (default: beside this program's build, $WARD_BUILD)
 *   --uid N --gid N        the command's ids as root (default 1000); the owner is the same
 *   --owner N              another owner (uid and gid), as root
 *   --group N              a supplementary group, repeats
 *   --bind HOST[=INSIDE]   seen read-only, repeats
 *   --tree PATH[=AT]       a FUSE mount that nobody serves, repeats
 *   --home PATH --cwd PATH --tmp BYTES --processes N --files N --core
 *   --env NAME=VALUE       repeats; only these
 *   --pty                  the command's terminal is a pty; this program copies
 *   --lifeline             standard input of this program is a lifeline (the command gets null)
 *   --facts                prints what was applied to standard error
 *   --pid FILE             writes the host pid of pid 1
 *   --outside DIR --socket NAME --hidden PATH --write PATH    what probes are made with
 *   --seccomp LIST         default, strict, no-exec
 *   --probes               prints a line a probe to standard error
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/policy/settings.h"
#include "enforcer/sandbox/sandbox.h"

#define LIST_MAX 64

struct options {
	struct ward_sandbox_spec spec;
	struct ward_sandbox_bind binds[LIST_MAX];
	struct ward_sandbox_tree trees[WARD_TREES_MAX];
	char *env[LIST_MAX + 1];
	size_t n_env;
	gid_t groups[LIST_MAX];
	char init[4096];
	int lifeline;
	bool facts;
	bool probes;
	const char *pid_file;
};

static void die(const char *text)
{
	fprintf(stderr, "sandboxrun: %s\n", text);
	exit(2);
}

static void split(char *arg, const char **first, const char **second)
{
	char *eq = strchr(arg, '=');
	if (eq)
		*eq++ = '\0';
	*first = arg;
	*second = eq;
}

enum {
	OPT_INIT = 1,
	OPT_UID,
	OPT_GID,
	OPT_OWNER,
	OPT_GROUP,
	OPT_BIND,
	OPT_TREE,
	OPT_HOME,
	OPT_CWD,
	OPT_TMP,
	OPT_PROCESSES,
	OPT_FILES,
	OPT_CORE,
	OPT_ENV,
	OPT_PTY,
	OPT_LIFELINE,
	OPT_FACTS,
	OPT_PID,
	OPT_OUTSIDE,
	OPT_SOCKET,
	OPT_HIDDEN,
	OPT_WRITE,
	OPT_PROBES,
	OPT_SECCOMP,
};

static const struct option long_options[] = {{"init", 1, NULL, OPT_INIT}, {"uid", 1, NULL, OPT_UID},
	{"gid", 1, NULL, OPT_GID}, {"owner", 1, NULL, OPT_OWNER}, {"group", 1, NULL, OPT_GROUP},
	{"bind", 1, NULL, OPT_BIND}, {"tree", 1, NULL, OPT_TREE}, {"home", 1, NULL, OPT_HOME},
	{"cwd", 1, NULL, OPT_CWD}, {"tmp", 1, NULL, OPT_TMP}, {"processes", 1, NULL, OPT_PROCESSES},
	{"files", 1, NULL, OPT_FILES}, {"core", 0, NULL, OPT_CORE}, {"env", 1, NULL, OPT_ENV},
	{"pty", 0, NULL, OPT_PTY}, {"lifeline", 0, NULL, OPT_LIFELINE},
	{"facts", 0, NULL, OPT_FACTS}, {"pid", 1, NULL, OPT_PID}, {"outside", 1, NULL, OPT_OUTSIDE},
	{"socket", 1, NULL, OPT_SOCKET}, {"hidden", 1, NULL, OPT_HIDDEN},
	{"seccomp", 1, NULL, OPT_SECCOMP}, {"write", 1, NULL, OPT_WRITE},
	{"probes", 0, NULL, OPT_PROBES}, {NULL, 0, NULL, 0}};

static void take_probe_option(struct options *o, int c, const char *arg)
{
	switch (c) {
	case OPT_OUTSIDE:
		o->spec.probe_outside = arg;
		break;
	case OPT_SOCKET:
		o->spec.probe_socket = arg;
		break;
	case OPT_HIDDEN:
		o->spec.probe_hidden = arg;
		break;
	case OPT_WRITE:
		o->spec.probe_write = arg;
		break;
	case OPT_SECCOMP:
		o->spec.seccomp = WARD_SECCOMP_NO_EXEC;
		while (strcmp(ward_seccomp_name(o->spec.seccomp), arg) != 0)
			if (o->spec.seccomp++ == WARD_SECCOMP_DEFAULT)
				die("no such list");
		break;
	case OPT_PROBES:
		o->probes = true;
		break;
	default:
		exit(2);
	}
}

static void take_option(struct options *o, int c, char *arg)
{
	struct ward_sandbox_spec *s = &o->spec;
	if ((c == OPT_BIND && s->n_reads == LIST_MAX) || (c == OPT_ENV && o->n_env == LIST_MAX) ||
		(c == OPT_TREE && s->n_trees == WARD_TREES_MAX) ||
		(c == OPT_GROUP && s->n_groups == LIST_MAX))
		die("too many");
	switch (c) {
	case OPT_INIT:
		snprintf(o->init, sizeof(o->init), "%s", arg);
		break;
	case OPT_UID:
		s->agent_uid = s->owner_uid = (uid_t)atol(arg);
		break;
	case OPT_GID:
		s->agent_gid = s->owner_gid = (gid_t)atol(arg);
		break;
	case OPT_OWNER:
		s->owner_uid = (uid_t)atol(arg);
		s->owner_gid = (gid_t)atol(arg);
		break;
	case OPT_GROUP:
		o->groups[s->n_groups++] = (gid_t)atol(arg);
		break;
	case OPT_BIND:
		split(arg, &o->binds[s->n_reads].host, &o->binds[s->n_reads].inside);
		s->n_reads++;
		break;
	case OPT_TREE:
		split(arg, &o->trees[s->n_trees].path, &o->trees[s->n_trees].at);
		s->n_trees++;
		break;
	case OPT_HOME:
		s->home = arg;
		break;
	case OPT_CWD:
		s->cwd = arg;
		break;
	case OPT_TMP:
		s->tmp_bytes = strtoull(arg, NULL, 10);
		break;
	case OPT_PROCESSES:
		s->processes = strtoull(arg, NULL, 10);
		break;
	case OPT_FILES:
		s->open_files = strtoull(arg, NULL, 10);
		break;
	case OPT_CORE:
		s->core = true;
		break;
	case OPT_ENV:
		o->env[o->n_env++] = arg;
		break;
	case OPT_PTY:
		s->pty = true;
		break;
	case OPT_LIFELINE:
		o->lifeline = 0;
		s->lifelines = &o->lifeline;
		s->n_lifelines = 1;
		break;
	case OPT_FACTS:
		o->facts = true;
		break;
	case OPT_PID:
		o->pid_file = arg;
		break;
	default:
		take_probe_option(o, c, arg);
	}
}

static void copy(int from, int to, short *events)
{
	char data[4096];
	ssize_t n = read(from, data, sizeof(data));
	if (n <= 0) {
		*events = 0;
		return;
	}
	for (ssize_t done = 0; done < n;) {
		ssize_t w = write(to, data + done, (size_t)(n - done));
		if (w < 0)
			return;
		done += w;
	}
}

static void drain_pty(int pty)
{
	short events = POLLIN;
	if (pty < 0 || fcntl(pty, F_SETFL, O_NONBLOCK) < 0)
		return;
	while (events)
		copy(pty, 1, &events);
}

/* Lines on standard error tell a test what happened; "!NAME" on our input is a signal to send. */
static int watch(struct ward_sandbox *sb, int input)
{
	struct pollfd fds[3] = {{.fd = ward_sandbox_fd(sb), .events = POLLIN},
		{.fd = ward_sandbox_pty(sb), .events = POLLIN}, {.fd = input, .events = POLLIN}};
	for (;;) {
		struct ward_sandbox_event ev;
		for (int i = 1; i < 3; i++)
			if (fds[i].events == 0)
				fds[i].fd = -1;
		if (poll(fds, 3, -1) < 0) {
			/* revents are those of the last time */
			if (errno == EINTR)
				continue;
			return 125;
		}
		if (fds[1].revents)
			copy(fds[1].fd, 1, &fds[1].events);
		if (fds[2].revents)
			copy(0, ward_sandbox_pty(sb), &fds[2].events);
		if (!fds[0].revents || ward_sandbox_next(sb, &ev) < 0)
			continue;
		switch (ev.kind) {
		case WARD_SANDBOX_EXEC_STARTED:
		case WARD_SANDBOX_EXEC_FAILED:
		case WARD_SANDBOX_EXEC_EXITED:
		case WARD_SANDBOX_EXEC_SIGNALED:
		case WARD_SANDBOX_NOTHING:
			break;
		case WARD_SANDBOX_STOPPED:
			fprintf(stderr, "sandboxrun: stopped %d\n", ev.value);
			if (ward_sandbox_signal(sb, SIGCONT) < 0)
				return 125;
			break;
		case WARD_SANDBOX_EXITED:
			drain_pty(ward_sandbox_pty(sb));
			return ev.value;
		case WARD_SANDBOX_SIGNALED:
			drain_pty(ward_sandbox_pty(sb));
			return 128 + ev.value;
		case WARD_SANDBOX_LIFELINE:
			fprintf(stderr, "sandboxrun: lifeline %d closed\n", ev.value);
			return 124;
		case WARD_SANDBOX_UNMOUNTED:
			fprintf(stderr, "sandboxrun: a mount is gone\n");
			return 125;
		case WARD_SANDBOX_GONE:
			fprintf(stderr, "sandboxrun: pid 1 is gone\n");
			return 125;
		}
	}
}

static void tell(const struct options *o, const struct ward_sandbox *sb)
{
	if (o->facts) {
		struct ward_sandbox_facts f;
		ward_sandbox_get_facts(sb, &f);
		fprintf(stderr, "landlock %u groups_kept %d keyring %d userns_closed %d\n",
			f.landlock_abi, f.groups_kept, f.keyring, f.userns_closed);
	}
	if (o->pid_file) {
		FILE *f = fopen(o->pid_file, "we");
		if (!f)
			die("cannot write the pid file");
		fprintf(f, "%d\n", (int)ward_sandbox_pid(sb));
		if (fclose(f) != 0)
			die("cannot write the pid file");
	}
}

static int probe(const struct options *o, struct ward_sandbox *sb, struct ward_err *err)
{
	struct ward_probe_result v[WARD_PROBE_COUNT_] = {{WARD_PROBE_NONE, false, 0, 0}};
	enum ward_probe_verdict verdicts[WARD_PROBE_COUNT_] = {WARD_PROBE_FAILED};
	int r = ward_sandbox_probe(sb, v, verdicts, err);
	for (int i = 1; o->probes && i < WARD_PROBE_COUNT_; i++)
		fprintf(stderr, "probe %s: %s (%d, control %d)\n",
			ward_probe_name((enum ward_probe)i), ward_probe_verdict_name(verdicts[i]),
			v[i].attempt, v[i].control);
	return r;
}

static int run(struct options *o)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_sandbox *sb = NULL;
	int r = ward_sandbox_create(&o->spec, &sb, &err);
	if (r < 0) {
		fprintf(stderr, "sandboxrun: %s\n", err.text);
		return 125;
	}
	tell(o, sb);
	r = probe(o, sb, &err);
	if (r == 0)
		r = ward_sandbox_start(sb, &err);
	if (r < 0) {
		fprintf(stderr, "sandboxrun: %s\n", err.text);
		r = r == -ENOENT ? 127 : r == -EACCES || r == -ENOEXEC ? 126 : 125;
	} else {
		r = watch(sb, o->spec.pty ? 0 : -1);
	}
	ward_sandbox_free(sb);
	return r;
}

int main(int argc, char **argv)
{
	static char path[] = "PATH=/usr/bin:/bin";
	static struct options o;
	struct ward_sandbox_spec *s = &o.spec;
	s->layers = WARD_LAYERS_ALL;
	s->root = geteuid() == 0;
	s->agent_uid = s->owner_uid = s->root ? 1000 : geteuid();
	s->agent_gid = s->owner_gid = s->root ? 1000 : getegid();
	s->groups = o.groups;
	s->user_name = "agent";
	s->seccomp = WARD_SECCOMP_DEFAULT;
	s->hostname = "sandbox";
	s->cwd = "/";
	s->reads = o.binds;
	s->trees = o.trees;
	s->tmp_bytes = s->processes = s->open_files = s->file_size = WARD_UNLIMITED;
	s->envp = o.env;
	const char *build = getenv("WARD_BUILD");
	snprintf(o.init, sizeof(o.init), "%s/wardfs-init", build ? build : "");
	for (int c = 0; (c = getopt_long(argc, argv, "+", long_options, NULL)) != -1;)
		take_option(&o, c, optarg);
	if (o.n_env == 0)
		o.env[o.n_env++] = path;
	s->init_program = o.init;
	s->argv = argv + optind;
	s->winsize = (struct winsize){.ws_row = 24, .ws_col = 80};
	for (int i = 0; i < 3; i++)
		s->stdio[i] = s->pty ? -1 : i;
	if (s->n_lifelines)
		s->stdio[0] = -1;
	return run(&o);
}
