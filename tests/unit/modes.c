/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of modes, and what a mode costs: this file registers two of its own, one of them runs a
 * command, and touches nothing else. The policy knows their words, the row decides the layers, and
 * each step goes through the operations.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/operations.h"
#include "enforcer/policy/settings.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

/* --- a mode of our own: the walls with a pid namespace, a wrapper around the command --- */

#define OURS (WARD_LAYER_PID | WARD_LAYER_NET | WARD_LAYER_KEYRING)

/* Which operations were called, in order. */
static char called[256];
/* The reason that makes it unusable on "this host". */
static const char *missing;

static void note(const char *operation)
{
	size_t n = strlen(called);
	snprintf(called + n, sizeof(called) - n, "%s%s", n ? " " : "", operation);
}

static int our_usable(const struct ward_mode *m, struct ward_err *err)
{
	if (missing)
		return ward_err_set(err, -ENOTSUP, "%s", missing);
	return ward_walls_usable(m, err);
}

static int our_prepare(
	struct ward_confined *c, struct ward_sandbox_spec *spec, struct ward_err *err)
{
	static char shell[] = "/bin/sh", option[] = "-c", name[] = "wrapper";
	static char script[] = "echo wrapped; exec \"$@\"";
	size_t n = 0;
	while (spec->argv[n])
		n++;
	char **argv = calloc(n + 5, sizeof(*argv));
	if (!argv)
		return ward_err_sys(err, -ENOMEM, "mode");
	note("prepare");
	argv[0] = shell;
	argv[1] = option;
	argv[2] = script;
	argv[3] = name;
	memcpy(argv + 4, spec->argv, n * sizeof(*argv));
	c->own = argv;
	spec->argv = argv;
	/* The row's layers hold all the same. */
	spec->layers = WARD_LAYER_NET;
	return 0;
}

static int our_begin(
	struct ward_confined *c, const struct ward_sandbox_spec *spec, struct ward_err *err)
{
	note("begin");
	return ward_walls_begin(c, spec, err);
}

static int our_reach(struct ward_confined *c, enum ward_stage stage, struct ward_err *err)
{
	static const char *const stages[] = {"staged", "mapped", "ready"};
	note(stages[stage]);
	return ward_walls_reach(c, stage, err);
}

static int our_probe(struct ward_confined *c, struct ward_probe_result ret[WARD_PROBE_COUNT_],
	enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_], struct ward_err *err)
{
	note("probe");
	return ward_walls_probe(c, ret, ret_verdicts, err);
}

static int our_start(struct ward_confined *c, struct ward_err *err)
{
	note("start");
	return ward_walls_start(c, err);
}

/* Only what there is to tell is noted: how often one asks depends on the machine. */
static int our_next(struct ward_confined *c, struct ward_sandbox_event *ret)
{
	int r = ward_walls_next(c, ret);
	if (r == 0 && ret->kind != WARD_SANDBOX_NOTHING)
		note("next");
	return r;
}

static int our_exec(struct ward_confined *c, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err)
{
	note("exec");
	return ward_walls_exec(c, id, e, err);
}

static int our_signal(struct ward_confined *c, uint32_t id, int sig)
{
	note("signal");
	return ward_walls_signal(c, id, sig);
}

static void our_stop(struct ward_confined *c)
{
	note("stop");
	ward_walls_stop(c);
}

static void our_free(struct ward_confined *c)
{
	note("free");
	free(c->own);
	ward_walls_free(c);
}

static const struct ward_mode_ops ours = {.usable = our_usable,
	.prepare = our_prepare,
	.begin = our_begin,
	.reach = our_reach,
	.probe = our_probe,
	.start = our_start,
	.next = our_next,
	.exec = our_exec,
	.signal = our_signal,
	.stop = our_stop,
	.free = our_free};

/* One that says it is ready, and lacks an operation. */
static const struct ward_mode_ops lacking = {.usable = our_usable,
	.prepare = our_prepare,
	.begin = our_begin,
	.reach = our_reach,
	.probe = our_probe,
	.start = our_start,
	.next = our_next,
	.exec = our_exec,
	.signal = our_signal,
	.free = our_free};

/* --- the tables that this program is linked with: wardfs' own, with ours in front --- */

#define WARD_MODE(name, w, ...) {.word = w, __VA_ARGS__},
const struct ward_mode ward_modes[] = {
	{.word = "lacking", .strictness = 91, .ready = true, .layers = OURS},
	{.word = "wrapped",
		.old = "enveloped",
		.strictness = 90,
		.ready = true,
		.guarantees = WARD_GUARANTEE_BIT(WARD_GUARANTEE_PROCESSES),
		.layers = OURS},
#include "enforcer/modes/table/modes.def"
	{.word = NULL}};
#undef WARD_MODE

#define WARD_MODE(name, w, ...) w,
const char *const ward_mode_words[] = {"lacking", "wrapped",
#include "enforcer/modes/table/modes.def"
	NULL};
#undef WARD_MODE

#define WARD_MODE(name, ...) extern const struct ward_mode_ops ward_mode_ops_##name;
#include "enforcer/modes/table/modes.def"
#undef WARD_MODE

#define WARD_MODE(name, ...) &ward_mode_ops_##name,
const struct ward_mode_ops *const ward_mode_operations[] = {&lacking, &ours,
#include "enforcer/modes/table/modes.def"
	NULL};
#undef WARD_MODE

/* --- what it runs in --- */

/* build/wardfs-init, from build/tests/unit/unit_modes. */
static const char *init_program(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);
	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	for (int i = 0; i < 3; i++) {
		char *slash = strrchr(path, '/');
		ck_assert_ptr_nonnull(slash);
		*slash = '\0';
	}
	strcat(path, "/wardfs-init");
	return path;
}

static struct ward_sandbox_spec spec_of(char *const *argv, char *const *envp, int out)
{
	const bool root = geteuid() == 0;
	const uid_t uid = root ? 65534 : geteuid();
	const gid_t gid = root ? 65534 : getegid();
	return (struct ward_sandbox_spec){.init_program = init_program(),
		.root = root,
		.owner_uid = uid,
		.owner_gid = gid,
		.agent_uid = uid,
		.agent_gid = gid,
		.user_name = "agent",
		.hostname = "modes",
		.tmp_bytes = WARD_UNLIMITED,
		.processes = WARD_UNLIMITED,
		.open_files = 64,
		.file_size = WARD_UNLIMITED,
		.seccomp = WARD_SECCOMP_DEFAULT,
		.argv = argv,
		.envp = envp,
		.cwd = "/",
		.stdio = {-1, out, -1}};
}

/* The next event but NOTHING. */
static struct ward_sandbox_event next_event(struct ward_confined *c)
{
	struct ward_sandbox_event ev = {.kind = WARD_SANDBOX_NOTHING};
	struct pollfd p = {.fd = ward_sandbox_fd(ward_mode_sandbox(c)), .events = POLLIN};
	while (ev.kind == WARD_SANDBOX_NOTHING) {
		ck_assert_int_eq(poll(&p, 1, 60000), 1);
		ck_assert_int_eq(ward_mode_next(c, &ev), 0);
	}
	return ev;
}

/* As the session does it, up to the command's start. */
static struct ward_confined *started(const char *word, const struct ward_sandbox_spec *spec)
{
	struct ward_probe_result probes[WARD_PROBE_COUNT_];
	enum ward_probe_verdict verdicts[WARD_PROBE_COUNT_];
	struct ward_err err = WARD_ERR_INIT;
	struct ward_confined *c = NULL;
	const struct ward_mode *m = ward_mode_find(word);
	ck_assert_ptr_nonnull(m);
	ck_assert_msg(ward_mode_create(m, spec, &c, &err) == 0, "%s", err.text);
	ck_assert_msg(ward_mode_probe(c, probes, verdicts, &err) == 0, "%s", err.text);
	ck_assert_msg(ward_mode_start(c, &err) == 0, "%s", err.text);
	return c;
}

static void read_all(int fd, char *ret, size_t size)
{
	size_t n = 0;
	ssize_t r = 0;
	while (n < size - 1 && (r = read(fd, ret + n, size - 1 - n)) > 0)
		n += (size_t)r;
	ret[n] = '\0';
}

/* --- tests --- */

START_TEST(rows_and_operations_belong_together)
{
	size_t n = 0;
	for (; ward_modes[n].word; n++) {
		const struct ward_mode *m = &ward_modes[n];
		const struct ward_mode_ops *o = ward_mode_operations[n];
		struct ward_err err = WARD_ERR_INIT;
		ck_assert_str_eq(ward_mode_words[n], m->word);
		ck_assert_ptr_nonnull(o);
		ck_assert_ptr_nonnull(o->usable);
		ck_assert_ptr_eq(ward_mode_find(m->word), m);
		ck_assert_ptr_eq(ward_mode_at(n), m);
		ck_assert(!m->old || ward_mode_find(m->old) == m);
		ck_assert_msg(n == 0 || m->strictness < m[-1].strictness,
			"%s stands at the wrong place", m->word);
		ck_assert_uint_eq(m->layers & ~WARD_LAYERS_ALL, 0);
		ck_assert_uint_eq(
			m->takes & ~(WARD_TAKES_ALL | WARD_TAKES_IMAGE | WARD_TAKES_PYTHON |
					   WARD_TAKES_ENGINE | WARD_TAKES_WARM),
			0);
		if (m->ready && m->strictness > 0) {
			ck_assert_uint_ne(m->layers, 0);
			continue;
		}
		/* A mode that picks another mode runs nothing itself. */
		if (m->ready) {
			const struct ward_sandbox_spec spec = {.root = false};
			struct ward_confined *c = NULL;
			ck_assert_uint_eq(m->guarantees | m->layers | m->takes, 0);
			ck_assert_int_eq(ward_mode_usable(m, &err), 0);
			ck_assert_int_eq(ward_mode_begin(m, &spec, &c, &err), -ENOTSUP);
			continue;
		}
		/* A word alone promises nothing, and says why it cannot run. */
		ck_assert_uint_eq(m->guarantees | m->layers | m->takes, 0);
		ck_assert_int_eq(ward_mode_usable(m, &err), -ENOTSUP);
		ck_assert_int_gt(strlen(err.text), 10);
	}
	ck_assert_ptr_null(ward_mode_words[n]);
	ck_assert_ptr_null(ward_mode_operations[n]);
	ck_assert_ptr_null(ward_mode_find("elsewhere"));
	ck_assert(!ward_mode_at(n)->ready && !ward_mode_at(UINT64_MAX)->ready);
	ck_assert_ptr_nonnull(ward_mode_find(WARD_DEFAULT_MODE));
}
END_TEST

START_TEST(lists_for_messages)
{
	char text[160], cut[12];
	/* The weakest wall first, what picks one last. */
	ward_mode_list(false, " or ", text, sizeof(text));
	ck_assert_msg(strncmp(text, "none, process, ", 15) == 0, "%s", text);
	ck_assert_msg(strstr(text, ", wrapped, lacking or auto"), "%s", text);
	ck_assert_msg(strstr(text, "docker, "), "%s", text);
	/* A mode that cannot run is not offered. */
	ward_mode_list(true, " or ", text, sizeof(text));
	for (const struct ward_mode *m = ward_modes; m->word; m++)
		ck_assert_msg(!strstr(text, m->word) == !m->ready, "%s: %s", m->word, text);
	ward_mode_list(true, " or ", cut, sizeof(cut));
	ck_assert_str_eq(cut, "none, proce");
}
END_TEST

/* The word that holds, of the base and of a floor. */
static const char *merged(const char *base, const char *floor)
{
	char texts[2][64];
	struct ward_err err = WARD_ERR_INIT;
	struct ward_policy *p = NULL;
	snprintf(texts[0], sizeof(texts[0]), "[policy]\nversion = 1\nmode = %s\n", base);
	snprintf(texts[1], sizeof(texts[1]), "[policy]\nversion = 1\nmode = %s\n", floor);
	const struct ward_source_text s[] = {{WARD_SOURCE_BASE, "b", texts[0], strlen(texts[0])},
		{WARD_SOURCE_FLOOR, "f", texts[1], strlen(texts[1])}};
	ck_assert_msg(ward_policy_compile(s, 2, &p, &err) == 0, "%s", err.text);
	const char *word = ward_policy_settings(p)->mode->word;
	ward_policy_unref(p);
	return word;
}

START_TEST(the_policy_knows_the_word)
{
	struct ward_policy *p = policy_of("[policy]\nversion = 1\nmode = wrapped\n");
	const struct ward_settings *s = ward_policy_settings(p);
	ck_assert_ptr_eq(s->mode, ward_mode_find("wrapped"));
	ck_assert_uint_eq(s->unavailable.n, 0);
	ward_policy_unref(p);
	p = policy_of("[policy]\nversion = 1\nmode = docker\n");
	s = ward_policy_settings(p);
	ck_assert_uint_eq(s->unavailable.n, ward_mode_find("docker")->ready ? 0 : 1);
	ward_policy_unref(p);
	p = policy_of("[policy]\nversion = 1\n");
	ck_assert_str_eq(ward_policy_settings(p)->mode->word, WARD_DEFAULT_MODE);
	ward_policy_unref(p);
	/* A floor takes away only: the stricter one holds. */
	ck_assert_str_eq(merged("restricted", "wrapped"), "wrapped");
	ck_assert_str_eq(merged("wrapped", "restricted"), "wrapped");
	ck_assert_str_eq(merged("none", "process"), "process");
	/* An older word is the command line's alone. */
	static const char old[] = "[policy]\nversion = 1\nmode = enveloped\n";
	const struct ward_source_text t = {WARD_SOURCE_BASE, "f", old, sizeof(old) - 1};
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_int_eq(ward_policy_compile(&t, 1, &p, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "is not one of: lacking, wrapped, "));
}
END_TEST

START_TEST(a_command_runs_in_it)
{
	static char sh[] = "sh", option[] = "-c", path[] = "PATH=/usr/bin:/bin";
	static char script[] = "trap 'echo asked; exit 7' USR1\n"
			       "readlink /proc/self/ns/pid\n"
			       "while :; do sleep 0.1; done";
	char *argv[] = {sh, option, script, NULL}, *envp[] = {path, NULL};
	char out[256] = "", ns[64] = "";
	int ends[2];
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	struct ward_sandbox_spec spec = spec_of(argv, envp, ends[1]);
	struct ward_confined *c = started("wrapped", &spec);
	close(ends[1]);
	/* Its first two lines: it runs, wrapped, and the pid namespace of the row is there. */
	for (size_t n = 0, lines = 0; lines < 2; n++) {
		ck_assert_int_eq(read(ends[0], out + n, 1), 1);
		lines += out[n] == '\n';
	}
	ck_assert_int_gt(readlink("/proc/self/ns/pid", ns, sizeof(ns) - 1), 0);
	ck_assert_msg(strncmp(out, "wrapped\npid:[", 13) == 0, "%s", out);
	ck_assert_msg(!strstr(out, ns), "in the namespace of the host: %s", out);
	ck_assert_str_eq(called, "prepare begin staged mapped ready probe start");

	/* One more beside it. */
	struct ward_err err = WARD_ERR_INIT;
	static char no[] = "false";
	char *more[] = {no, NULL};
	ward_cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct ward_sandbox_exec e = {
		.argv = more, .envp = envp, .cwd = "/", .stdio = {null, null, null}};
	ck_assert_msg(ward_mode_exec(c, 1, &e, &err) == 0, "%s", err.text);
	struct ward_sandbox_event ev = next_event(c);
	ck_assert_int_eq(ev.kind, WARD_SANDBOX_EXEC_STARTED);
	ev = next_event(c);
	ck_assert_int_eq(ev.kind, WARD_SANDBOX_EXEC_EXITED);
	ck_assert_int_eq(ev.value, 1);

	ck_assert_int_eq(ward_mode_signal(c, 0, SIGUSR1), 0);
	ev = next_event(c);
	ck_assert_int_eq(ev.kind, WARD_SANDBOX_EXITED);
	ck_assert_int_eq(ev.value, 7);
	ward_mode_free(c);
	read_all(ends[0], out, sizeof(out));
	ck_assert_str_eq(out, "asked\n");
	close(ends[0]);
	ck_assert_str_eq(called,
		"prepare begin staged mapped ready probe start exec next next signal next "
		"stop free");
}
END_TEST

START_TEST(its_end_is_the_end_of_all)
{
	static char sh[] = "sh", option[] = "-c", path[] = "PATH=/usr/bin:/bin";
	static char script[] = "setsid sleep 1000 & sleep 1000";
	char *argv[] = {sh, option, script, NULL}, *envp[] = {path, NULL};
	char out[64];
	int ends[2];
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	struct ward_sandbox_spec spec = spec_of(argv, envp, ends[1]);
	struct ward_confined *c = started("wrapped", &spec);
	close(ends[1]);
	ward_mode_stop(c);
	/* The pipe ends with the last process that has it. */
	read_all(ends[0], out, sizeof(out));
	close(ends[0]);
	ward_mode_free(c);
}
END_TEST

/* A refusal before anything was prepared, whose text has this. */
static void refused(const char *word, const char *text)
{
	static char yes[] = "true", path[] = "PATH=/usr/bin:/bin";
	char *argv[] = {yes, NULL}, *envp[] = {path, NULL};
	struct ward_sandbox_spec spec = spec_of(argv, envp, -1);
	struct ward_err err = WARD_ERR_INIT;
	struct ward_confined *c = NULL;
	called[0] = '\0';
	ck_assert_int_eq(ward_mode_create(ward_mode_find(word), &spec, &c, &err), -ENOTSUP);
	ck_assert_ptr_null(c);
	ck_assert_str_eq(called, "");
	ck_assert_msg(strstr(err.text, text), "%s", err.text);
}

START_TEST(what_cannot_run_is_refused)
{
	static char yes[] = "true", path[] = "PATH=/usr/bin:/bin";
	char *argv[] = {yes, NULL}, *envp[] = {path, NULL};
	struct ward_sandbox_spec spec = spec_of(argv, envp, -1);
	for (const struct ward_mode *m = ward_modes; m->word; m++)
		if (!m->ready)
			refused(m->word, m->word);
	refused("lacking", "no way to run a command");
	missing = "this host has no wrapper";
	refused("wrapped", "mode 'wrapped': this host has no wrapper");
	/* The control: the same where nothing is missing. */
	missing = NULL;
	struct ward_confined *c = started("wrapped", &spec);
	struct ward_sandbox_event ev = next_event(c);
	ck_assert_int_eq(ev.kind, WARD_SANDBOX_EXITED);
	ck_assert_int_eq(ev.value, 0);
	ward_mode_free(c);
}
END_TEST

/* What every mode needs of a host. */
static bool user_namespaces(void)
{
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(unshare(CLONE_NEWUSER) == 0 ? 0 : 1);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

int main(void)
{
	if (!user_namespaces()) {
		puts("no user namespace can be made here");
		return 77;
	}
	Suite *s = suite_create("modes");
	TCase *t = tcase_create("table");
	tcase_add_test(t, rows_and_operations_belong_together);
	tcase_add_test(t, lists_for_messages);
	tcase_add_test(t, the_policy_knows_the_word);
	suite_add_tcase(s, t);
	t = tcase_create("running");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_command_runs_in_it);
	tcase_add_test(t, its_end_is_the_end_of_all);
	tcase_add_test(t, what_cannot_run_is_refused);
	suite_add_tcase(s, t);
	return suite_run(s);
}
