/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests at the control socket: which there are, who may ask, what comes with them. Each refusal
 * has its control, and is one: no handler was called, no descriptor is left open.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/control/control_verbs.h"
#include "enforcer/session/owner/exit_status.h"
#include "tests/support/suite.h"

#define EVERYBODY                                                                                  \
	(WARD_CONTROL_ROOT | WARD_CONTROL_STARTER | WARD_CONTROL_OWNER | WARD_CONTROL_CHOOSER)

/* What the handlers saw. */
struct seen {
	const char *called;
	size_t n_fds;
	uint32_t what;
	int taken; /* a descriptor that a handler kept */
	bool take;
};

static void see(struct seen *s, const char *name, struct ward_control_request *q)
{
	ck_assert_ptr_null(s->called);
	s->called = name;
	s->n_fds = q->n_fds;
	s->what = q->what;
	if (s->take) {
		s->taken = q->fds[0];
		q->fds[0] = -1;
	}
	ward_control_reply(q, json_pack("{s:b}", "ok", 1));
}

static void on_status(void *arg, struct ward_control_request *q)
{
	see(arg, "status", q);
}

static void on_exec(void *arg, struct ward_control_request *q)
{
	see(arg, "exec", q);
}

static void on_reload(void *arg, struct ward_control_request *q)
{
	see(arg, "reload", q);
}

static void on_ask_fs(void *arg, struct ward_control_request *q)
{
	see(arg, "ask_fs", q);
}

/* A session that takes some of them. */
static const struct ward_control_handlers handlers = {
	.status = on_status, .exec = on_exec, .reload = on_reload, .ask_fs = on_ask_fs};

/* The answer to body, with n descriptors; afterwards none is open except one that was taken.
 */
static json_t *ask(const char *body, size_t n, unsigned who, struct seen *ret)
{
	int ends[2];
	int fds[WARD_CONTROL_FDS_MAX];
	ward_cleanup_free char *answer = NULL;
	size_t none = 0;
	json_t *o = json_loads(body, 0, NULL);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	struct ward_control_request q = {.client = ends[1], .body = o, .n_fds = n};
	for (size_t i = 0; i < n; i++)
		fds[i] = q.fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ward_control_hand_over(&q, who, &handlers, ret);
	json_decref(o);
	for (size_t i = 0; i < n; i++) {
		bool kept = ret->called && ret->take && i == 0;
		ck_assert_int_eq(fcntl(fds[i], F_GETFD) >= 0, kept);
	}
	ck_assert_int_lt(fcntl(ends[1], F_GETFD), 0);
	ck_assert_int_eq(ward_control_hear(ends[0], &answer, NULL, &none), 0);
	close(ends[0]);
	o = json_loads(answer, 0, NULL);
	ck_assert(json_is_object(o));
	return o;
}

static void answers(const char *body, size_t n, const char *handler)
{
	struct seen s = {.taken = -1};
	json_t *o = ask(body, n, EVERYBODY, &s);
	ck_assert_msg(s.called && strcmp(s.called, handler) == 0, "%s: %s called", body,
		s.called ? s.called : "nobody");
	ck_assert_uint_eq(s.n_fds, n);
	ck_assert(json_is_true(json_object_get(o, "ok")));
	json_decref(o);
}

static void refuses(const char *body, size_t n, unsigned who, int status, const char *why)
{
	struct seen s = {.taken = -1};
	json_t *o = ask(body, n, who, &s);
	const char *error = json_string_value(json_object_get(o, "error"));
	ck_assert_msg(!s.called, "%s: %s was called", body, s.called);
	ck_assert(json_is_false(json_object_get(o, "ok")));
	ck_assert_int_eq(json_integer_value(json_object_get(o, "status")), status);
	ck_assert_msg(error && strstr(error, why), "%s: %s", body, error ? error : "-");
	json_decref(o);
}

START_TEST(refuses_what_it_does_not_know)
{
	answers("{\"verb\":\"status\"}", 0, "status");
	answers("{\"verb\":\"status\",\"more\":1}", 0, "status");
	refuses("{\"verb\":\"stat\"}", 0, EVERYBODY, WARD_EXIT_SETUP, "does not take");
	refuses("{\"verb\":\"statuses\"}", 0, EVERYBODY, WARD_EXIT_SETUP, "does not take");
	refuses("{\"verb\":\"\"}", 0, EVERYBODY, WARD_EXIT_SETUP, "does not take");
	refuses("{\"verb\":7}", 0, EVERYBODY, WARD_EXIT_USAGE, "understood");
	refuses("{}", 0, EVERYBODY, WARD_EXIT_USAGE, "understood");
	refuses("[\"status\"]", 0, EVERYBODY, WARD_EXIT_USAGE, "understood");
	refuses("nonsense", 0, EVERYBODY, WARD_EXIT_USAGE, "understood");
	/* In the table, and not of this kind of session. */
	ck_assert_ptr_nonnull(ward_control_verb("umount"));
	refuses("{\"verb\":\"umount\"}", 0, EVERYBODY, WARD_EXIT_SETUP, "does not take");
}
END_TEST

START_TEST(refuses_another_number_of_descriptors)
{
	answers("{\"verb\":\"exec\"}", 3, "exec");
	answers("{\"verb\":\"reload\"}", 1, "reload");
	const size_t wrong[] = {0, 1, 2, 4};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		refuses("{\"verb\":\"exec\"}", wrong[i], EVERYBODY, WARD_EXIT_USAGE,
			"needs 3 descriptors");
	refuses("{\"verb\":\"reload\"}", 0, EVERYBODY, WARD_EXIT_USAGE, "needs 1 descriptors");
	refuses("{\"verb\":\"reload\"}", 2, EVERYBODY, WARD_EXIT_USAGE, "needs 1 descriptors");
	refuses("{\"verb\":\"status\"}", 1, EVERYBODY, WARD_EXIT_USAGE, "and 1 arrived");
}
END_TEST

START_TEST(refuses_who_may_not_ask)
{
	struct ward_err err = WARD_ERR_INIT;
	const uid_t us = geteuid(), owner = us + 1, stranger = us + 2;
	const struct ward_control_users users = {.owner = owner, .chooser = us};
	ck_assert_uint_ne(ward_control_who(us, &users) & WARD_CONTROL_STARTER, 0);
	ck_assert_uint_ne(ward_control_who(us, &users) & WARD_CONTROL_CHOOSER, 0);
	ck_assert_uint_ne(ward_control_who(0, &users) & WARD_CONTROL_ROOT, 0);
	ck_assert_uint_eq(ward_control_who(owner, &users), WARD_CONTROL_OWNER);
	ck_assert_uint_eq(ward_control_who(stranger, &users), 0);
	refuses("{\"verb\":\"status\"}", 0, ward_control_who(stranger, &users), WARD_EXIT_SETUP,
		"is not allowed to request 'status'");
	answers("{\"verb\":\"status\"}", 0, "status");
	/* A policy that root gave is root's to exchange; the owner's own is the owner's. */
	const struct ward_control_users own = {.owner = owner, .chooser = owner};
	const struct ward_control_verb *reload = ward_control_verb("reload");
	ck_assert_int_eq(ward_control_check(reload, ward_control_who(owner, &own), 1, &err), 0);
	ck_assert_int_eq(ward_control_check(reload, ward_control_who(0, &users), 1, &err), 0);
	refuses("{\"verb\":\"reload\"}", 1, ward_control_who(owner, &users), WARD_EXIT_SETUP,
		"root gave this session its policy");
	ck_assert_int_eq(ward_control_check(ward_control_verb("kill"),
				 ward_control_who(owner, &users), 0, &err),
		0);
	/* Rows as there may be: for some of those who are let in; and zero, for nobody. */
	const struct ward_control_verb root = {.word = "root", .who = WARD_CONTROL_ROOT};
	const struct ward_control_verb nobody = {.word = "nobody"};
	ck_assert_int_eq(ward_control_check(&root, WARD_CONTROL_ROOT, 0, &err), 0);
	ck_assert_int_eq(ward_control_check(&root, EVERYBODY, 0, &err), 0);
	ck_assert_int_eq(
		ward_control_check(&root, WARD_CONTROL_OWNER | WARD_CONTROL_STARTER, 0, &err),
		-EPERM);
	ck_assert_int_eq(ward_control_check(&nobody, EVERYBODY, 0, &err), -EPERM);
	/* A caller who may not ask does not learn the rest of the request. */
	ck_assert_int_eq(ward_control_check(&root, WARD_CONTROL_OWNER, 1, &err), -EPERM);
	ck_assert_int_eq(ward_control_check(&root, WARD_CONTROL_ROOT, 1, &err), -EINVAL);
}
END_TEST

START_TEST(each_word_has_its_row)
{
	static const struct {
		const char *word;
		size_t fds;
		size_t handler;
		uint32_t what;
	} rows[] = {
		{"status", 0, offsetof(struct ward_control_handlers, status), 0},
		{"kill", 0, offsetof(struct ward_control_handlers, kill), 0},
		{"exec", 3, offsetof(struct ward_control_handlers, exec), 0},
		{"attach", 0, offsetof(struct ward_control_handlers, attach), 0},
		{"reload", 1, offsetof(struct ward_control_handlers, reload), 0},
		{"umount", 0, offsetof(struct ward_control_handlers, umount), 0},
		{"io", 0, offsetof(struct ward_control_handlers, ask_fs), WARD_FS_QUERY_IO},
		{"quota", 0, offsetof(struct ward_control_handlers, ask_fs), WARD_FS_QUERY_QUOTA},
		{"watch", 0, offsetof(struct ward_control_handlers, ask_fs), WARD_FS_QUERY_WATCH},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct ward_control_verb *v = ward_control_verb(rows[i].word);
		ck_assert_ptr_nonnull(v);
		ck_assert_uint_eq(v->fds, rows[i].fds);
		ck_assert_uint_eq(v->handler, rows[i].handler);
		ck_assert_uint_eq(v->what, rows[i].what);
		/* The user who chose the policy exchanges it; the rest is everybody's. */
		unsigned owners = v->who & WARD_CONTROL_OWNER;
		ck_assert_int_eq(owners == 0, strcmp(v->word, "reload") == 0);
		ck_assert_uint_eq(v->who & WARD_CONTROL_ROOT, WARD_CONTROL_ROOT);
	}
	/* The inodes that go bad are the supervisor's to ask for alone. */
	ck_assert_ptr_null(ward_control_verb("retired"));
	ck_assert_ptr_null(ward_control_verb(NULL));
	struct seen s = {.taken = -1};
	json_decref(ask("{\"verb\":\"quota\"}", 0, EVERYBODY, &s));
	ck_assert_str_eq(s.called, "ask_fs");
	ck_assert_uint_eq(s.what, WARD_FS_QUERY_QUOTA);
}
END_TEST

START_TEST(a_handler_keeps_what_it_takes)
{
	struct seen s = {.taken = -1, .take = true};
	json_decref(ask("{\"verb\":\"reload\"}", 1, EVERYBODY, &s));
	ck_assert_int_ge(fcntl(s.taken, F_GETFD), 0);
	close(s.taken);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("control_verbs");
	TCase *t = tcase_create("requests");
	tcase_add_test(t, refuses_what_it_does_not_know);
	tcase_add_test(t, refuses_another_number_of_descriptors);
	tcase_add_test(t, refuses_who_may_not_ask);
	tcase_add_test(t, each_word_has_its_row);
	tcase_add_test(t, a_handler_keeps_what_it_takes);
	suite_add_tcase(s, t);
	return suite_run(s);
}
