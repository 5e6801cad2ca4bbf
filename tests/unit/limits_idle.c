/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The idle clock of a shipped profile: CPU time and somebody at the terminal put it off; one of the
 * owner's is put off by neither. No time passes here: the clock says when it would end the session.
 */
#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/session/limits/limits_internal.h"
#include "tests/support/suite.h"

#define TEXT "[policy]\nversion = 1\n[limits]\nidle = 1h\n"

static struct ward_policy *policy_in(const char *file)
{
	const struct ward_source_text t = {WARD_SOURCE_BASE, file, TEXT, strlen(TEXT)};
	struct ward_policy *p = NULL;
	ck_assert_int_eq(ward_policy_compile(&t, 1, &p, NULL), 0);
	return p;
}

static struct ward_limits *limits_of(const struct ward_policy *p)
{
	char name[64];
	struct ward_limits *l = NULL;
	struct ward_err err = WARD_ERR_INIT;
	snprintf(name, sizeof(name), "unit-idle-%d", (int)getpid());
	const struct ward_limits_spec spec = {.settings = ward_policy_settings(p),
		.policy = p,
		.mode = ward_mode_find("process"),
		.session = name,
		.root = geteuid() == 0};
	ck_assert_msg(ward_limits_open(&spec, &l, &err) == 0, "%s", err.text);
	ward_limits_start(l, 0);
	/* the other looks have a trail to write to */
	l->look_at = WARD_UNLIMITED;
	return l;
}

/* One look; true: the end was put off. */
static bool put_off(struct ward_limits *l, bool attended)
{
	struct ward_limit_hit hit;
	const uint64_t before = ward_limits_due(l);
	l->rang = true;
	ck_assert_int_eq(ward_limits_check(l, NULL, 0, attended, &hit), 0);
	ck_assert_ptr_null(hit.name);
	ck_assert_uint_ge(ward_limits_due(l), before);
	return ward_limits_due(l) > before;
}

/* A process in the groups of the session that computes for some milliseconds of CPU time. */
static void compute(const struct ward_limits *l)
{
	int status = 0;
	const pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	for (size_t i = 0; pid == 0 && ward_cgroup_path(l->cg, i); i++) {
		char path[4200];
		snprintf(path, sizeof(path), "%s/cgroup.procs", ward_cgroup_path(l->cg, i));
		ward_cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "0", 1) != 1)
			_exit(1);
	}
	struct timespec used = {0};
	while (pid == 0 && used.tv_sec == 0 && used.tv_nsec < 50000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(of_a_profile)
{
	struct ward_policy *p = policy_in("medium");
	struct ward_limits *l = limits_of(p);
	json_t *not_held = json_array();
	ward_limits_not_held(l, not_held);
	ck_assert(ward_limits_idle_is_default(p));
	if (ward_cgroup_has(l->cg, WARD_CGROUP_CPUACCT)) {
		ck_assert_uint_eq(json_array_size(not_held), 0);
		ck_assert(!put_off(l, false));
		compute(l);
		ck_assert(put_off(l, false));
		ck_assert(!put_off(l, false));
	} else {
		ck_assert_str_eq(json_string_value(json_array_get(not_held, 0)), "idle");
	}
	ck_assert(put_off(l, true));
	json_decref(not_held);
	ward_limits_close(l);
	ward_policy_unref(p);
}
END_TEST

START_TEST(of_the_owner)
{
	struct ward_policy *p = policy_in("/etc/medium");
	struct ward_limits *l = limits_of(p);
	ck_assert(!ward_limits_idle_is_default(p));
	if (ward_cgroup_has(l->cg, WARD_CGROUP_CPUACCT))
		compute(l);
	ck_assert(!put_off(l, false));
	ck_assert(!put_off(l, true));
	ward_limits_close(l);
	ward_policy_unref(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("limits_idle");
	TCase *t = tcase_create("all");
	tcase_add_test(t, of_a_profile);
	tcase_add_test(t, of_the_owner);
	suite_add_tcase(s, t);
	return suite_run(s);
}
