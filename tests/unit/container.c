/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of each engine of mode docker. Cases start the others; kata needs a
 * host with virtual machines, so its command line is only compared here.
 */
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/container/container.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static void compare(char *const *argv, const char *want)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	for (size_t i = 0; argv[i]; i++)
		ward_buf_printf(&line, "%s%s", i ? " " : "", argv[i]);
	ck_assert_str_eq(ward_buf_str(&line), want);
}

/* No rights, no name or network but the session's, nothing that outlives it; whose it is. */
#define HELD                                                                                       \
	"--rm --name session --read-only --cap-drop=ALL --cap-add=SETFCAP "                        \
	"--security-opt=no-new-privileges --security-opt=seccomp=/bundle/seccomp.json "            \
	"--network=host --log-driver=none --label wardfs.session=s "

static const struct row {
	const char *word, *program, *run, *exec; /* exec NULL: pid 1 starts what is joined */
	uint32_t how;				 /* not 0: it writes config.json itself */
} rows[] = {
	{"runc", "/usr/sbin/runc",
		"/engine/runc --root /state/runc --log /state/log --log-format json run --detach "
		"--no-new-keyring --preserve-fds=N --bundle /bundle session",
		NULL},
	{"crun", "/usr/bin/crun",
		"/engine/crun --cgroup-manager=disabled --root /state/crun --log /state/log "
		"--log-format json run --detach --no-new-keyring --preserve-fds=N --bundle /bundle "
		"session",
		NULL},
	{"kata", "/opt/kata/bin/kata-runtime",
		"/engine/kata-runtime --root /state/kata --log /state/log --log-format json run "
		"--bundle /bundle session",
		"/engine/kata-runtime --root /state/kata --log /state/log --log-format json exec "
		"--user 0:0"},
	{"podman", "/usr/bin/podman",
		"/engine/podman --root /state/podman --runroot /run/podman --tmpdir /run/libpod "
		"--storage-driver=vfs run " HELD
		"--cgroups=disabled --pid=private --ipc=none --uts=host --userns=host --no-hosts "
		"--dns=none --passwd=false --read-only-tmpfs=false --volume=/view/dev:/dev:rw,rbind "
		"--volume=/view/sys:/sys:ro,rbind --volume=/view/etc/hostname:/etc/hostname:ro "
		"--volume=/view/sys/fs/cgroup:/sys/fs/cgroup:ro "
		"--security-opt=mask=/proc/acpi:/proc/fs:/proc/kcore:/proc/key-users:/proc/keys:"
		"/proc/kmsg:/proc/latency_stats:/proc/locks:/proc/sched_debug:/proc/scsi:"
		"/proc/sysrq-trigger:/proc/timer_list:/proc/vmallocinfo "
		"--volume=/wardfs-init:/wardfs-init:ro --rootfs /view /wardfs-init call",
		NULL, WARD_SANDBOX_ENGINE_NESTED},
	{"docker", "/usr/bin/docker",
		"/bin/sh /bundle/docker-start " HELD "--ipc=none --uts=host "
		"--mount=type=bind,source=/wardfs-init,target=/wardfs-init,readonly",
		NULL, WARD_SANDBOX_ENGINE_ZERO},
};

START_TEST(command_line)
{
	const struct row *row = &rows[_i];
	struct ward_err err = WARD_ERR_INIT;
	struct ward_container *c = NULL;
	char program[64], want[2048];
	const struct ward_sandbox_spec spec = {
		.session = "s", .agent_uid = 1000, .agent_gid = 1000};
	snprintf(program, sizeof(program), "%s", row->program);
	const struct ward_engine_found f = {
		.engine = ward_engine_find(row->word), .program = program};
	ck_assert_ptr_nonnull(f.engine);
	ck_assert_ptr_eq(f.engine, ward_engine_find(row->program));
	ck_assert_int_eq(ward_container_make(&f, &spec, &c, &err), 0);
	/* How many descriptors are handed on, the sandbox says. */
	const char *n = strstr(row->run, "=N");
	if (n)
		snprintf(want, sizeof(want), "%.*s=%zu%s", (int)(n - row->run), row->run,
			ward_sandbox_engine_fds(0, false, false), n + 2);
	else
		snprintf(want, sizeof(want), "%s", row->run);
	compare(c->engine.argv, want);
	ck_assert_int_eq(ward_engine_own_kernel(f.engine), row->exec != NULL);
	ck_assert_int_eq(c->engine.exec_argv != NULL, row->exec != NULL);
	if (row->exec)
		compare(c->engine.exec_argv, row->exec);
	ck_assert_uint_eq(c->engine.how, row->how);
	ck_assert_int_eq(ward_engine_needs_root(f.engine), row->how == WARD_SANDBOX_ENGINE_ZERO);
	ck_assert_str_eq(c->engine.files[0].name, row->how ? "seccomp.json" : "config.json");
	json_t *o = json_loads(c->engine.files[0].text, 0, NULL);
	ck_assert_ptr_nonnull(o);
	if (row->how) {
		ck_assert_str_eq(
			json_string_value(json_object_get(o, "defaultAction")), "SCMP_ACT_ERRNO");
		json_decref(o);
		ward_container_free(c);
		return;
	}
	/* A kernel of its own needs no list of calls, and no map of ids. */
	const json_t *l = json_object_get(o, "linux");
	ck_assert_int_eq(json_object_get(l, "seccomp") != NULL, row->exec == NULL);
	ck_assert_int_eq(json_object_get(l, "uidMappings") != NULL, row->exec == NULL);
	json_decref(o);
	ward_container_free(c);
}
END_TEST

#define RUNSC                                                                                      \
	"/engine/runsc --root /state/runsc --log /state/log --log-format json --rootless "         \
	"--ignore-cgroups --platform="
#define SHARED " --network=host --file-access=shared --file-access-mounts=shared "

/* Pretending ones: what they do when they are asked for their flags, and what they are told then.
 * line NULL: nothing is, since the answer fails with `why`. */
static const struct {
	const char *script, *platform, *line, *why;
} runscs[] = {
	/* As in Debian 12: the list is on the error output, and the other words mislead. */
	{"[ \"$*\" = flags ] && cat >&2 <<E\n"
	 "  -overlay2 value\n    	wrap mounts with overlayfs.\n"
	 "  -platform string\n    	which platform: ptrace (default), kvm.\n"
	 "  -platform_device_path string\n    	not of systrap, directfs\nE\n",
		"ptrace", RUNSC "ptrace" SHARED, NULL},
	{"[ \"$*\" = flags ] && cat <<E\n  -directfs\n    	access files directly\n"
	 "  -overlay2 value\n    	wrap mounts. (default root:self)\n"
	 "  -platform string\n    	which platform: systrap (default), ptrace, kvm.\nE\n",
		"systrap", RUNSC "systrap" SHARED "--overlay2=none --directfs=false ", NULL},
	/* In between: systrap without the others. No variable and no directory of ours. */
	{"[ -z \"$HOME\" ] && [ \"$PWD\" = / ] && echo '  -platform string systrap'\n", "systrap",
		RUNSC "systrap" SHARED, NULL},
	{"exit 3\n", NULL, NULL, "Exec format error"},
	{"exec head -c 999999 /dev/zero\n", NULL, NULL, "File too large"},
	{"sleep 999\n", NULL, NULL, "timed out"},
};

/* The newest platform that this one offers; one that does not answer is not started. */
START_TEST(platform)
{
	char *dir = scratch_make(), program[512];
	struct ward_err err = WARD_ERR_INIT;
	struct ward_container *c = NULL;
	const struct ward_sandbox_spec spec = {
		.session = "s", .owner_uid = geteuid(), .owner_gid = getegid()};
	snprintf(program, sizeof(program), "%s/runsc", dir);
	FILE *f = fopen(program, "we");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "#!/bin/sh\n%s", runscs[_i].script);
	ck_assert_int_eq(fchmod(fileno(f), 0755), 0);
	ck_assert_int_eq(fclose(f), 0);
	const struct ward_engine_found found = {
		.engine = ward_engine_find("runsc"), .program = program};
	int r = ward_container_make(&found, &spec, &c, &err);
	if (runscs[_i].line) {
		char want[512];
		ck_assert_msg(r == 0, "%s", err.text);
		ck_assert_str_eq(c->engine.platform, runscs[_i].platform);
		snprintf(want, sizeof(want), "%srun --bundle /bundle session", runscs[_i].line);
		compare(c->engine.argv, want);
		snprintf(want, sizeof(want), "%sexec --user 0:0", runscs[_i].line);
		compare(c->engine.exec_argv, want);
		ck_assert(ward_engine_own_kernel(found.engine));
		ward_container_free(c);
	} else {
		ck_assert_int_eq(r, -ENOTSUP);
		ck_assert_ptr_nonnull(strstr(err.text, "does not say what it offers"));
		ck_assert_msg(strstr(err.text, runscs[_i].why) != NULL, "%s", err.text);
	}
	scratch_remove(dir);
}
END_TEST

/* What the owner can change, root executes as the owner; another file is not executed. */
START_TEST(asked_as_the_owner)
{
	ward_cleanup(ward_buf_clear) struct ward_buf said = WARD_BUF_INIT;
	struct ward_engine_question q = {
		.program = "/usr/bin/id", .word = "-u", .uid = 4711, .gid = 4711};
	ck_assert_int_eq(ward_engine_ask(&q, &said), 0);
	ck_assert_str_eq(ward_buf_str(&said), geteuid() == 0 ? "4711\n" : ward_buf_str(&said));
	ward_buf_clear(&said);
	q.uid = q.gid = 0;
	ck_assert_int_eq(ward_engine_ask(&q, &said), 0);
	ck_assert_str_eq(ward_buf_str(&said), geteuid() == 0 ? "0\n" : ward_buf_str(&said));
	q.ino = 1;
	ck_assert_int_eq(ward_engine_ask(&q, &said), -ESTALE);
}
END_TEST

/* Those that nobody may start say why, also where the program is there; the others say nothing. */
START_TEST(not_started)
{
	static const char *const never[] = {"kata", "/bin/kata-runtime"};
	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++) {
		ward_cleanup(ward_engine_found_clear) struct ward_engine_found f =
			WARD_ENGINE_FOUND_INIT;
		struct ward_err err = WARD_ERR_INIT;
		ck_assert_int_eq(ward_engine_look(never[i], 0, &f, &err), -ENOTSUP);
		ck_assert_ptr_nonnull(strstr(err.text, "is not supported"));
		ck_assert_ptr_nonnull(
			strstr(err.text, ward_engine_why_not(ward_engine_find(never[i]))));
	}
	ck_assert_ptr_null(ward_engine_why_not(ward_engine_find("runc")));
	ck_assert_ptr_null(ward_engine_find("rkt"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("container");
	TCase *t = tcase_create("engines");
	tcase_add_loop_test(t, command_line, 0, sizeof(rows) / sizeof(*rows));
	tcase_add_loop_test(t, platform, 0, sizeof(runscs) / sizeof(*runscs));
	tcase_add_test(t, asked_as_the_owner);
	tcase_add_test(t, not_started);
	tcase_set_timeout(t, 120);
	suite_add_tcase(s, t);
	return suite_run(s);
}
