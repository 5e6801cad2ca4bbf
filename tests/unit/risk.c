/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conf/risk.table row by row: each has a case here, in which the fact holds, and one in which it
 * does not. Then what a policy may change of the points, and which mode is picked.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/risk/risk.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"

/* Facts that cost nothing. */
static struct ward_risk_facts quiet(void)
{
	return (struct ward_risk_facts){.tools = 1U << WARD_TOOL_FILES,
		.budget = 1000,
		.trust = WARD_TRUST_HIGH,
		.net = WARD_NET_NONE,
		.sni = WARD_SNI_REQUIRE,
		.time_ns = WARD_RISK_DAY_NS,
		.memory = UINT64_C(1) << 30,
		.host_memory = UINT64_C(4) << 30,
		.cpus = 10,
		.growth = UINT64_C(1) << 30,
		.processes = 512,
		.origin = WARD_ORIGIN_PACKAGE,
		.age = WARD_AGE_OLD,
		.named = true,
		.seen = true};
}

/* CASE(row, how often it then counts, what makes it hold, what is near and does not). */
#define CASES                                                                                      \
	CASE(WRITES_PART, 1, f->writes_part = true, f->writes_part = false)                        \
	CASE(WRITES_PROJECT, 1, f->writes_project = true, f->writes_project = false)               \
	CASE(WRITES_BEYOND, 2, f->writes_beyond = 7, f->writes_beyond = 0)                         \
	CASE(HOST_EXECUTES, 1, f->host_executes = true, f->host_executes = false)                  \
	CASE(PEOPLE_RUN, 1, f->people_run = true, f->people_run = false)                           \
	CASE(READS_SECRETS, 1, f->reads_secrets = true, f->reads_secrets = false)                  \
	CASE(LIFTS, 2, f->lifts = 3, f->lifts = 0)                                                 \
	CASE(PASSES_SECRETS, 1, f->passes_secrets = 1, f->passes_secrets = 0)                      \
	CASE(SHOWS_HOST, 1, f->shows_host = true, f->shows_host = false)                           \
	CASE(RUNS_WRITTEN, 1, f->runs_written = true, f->runs_written = false)                     \
	CASE(ANY_PROGRAM, 1, f->any_program = true, f->any_program = false)                        \
	CASE(ANTI_PATTERN, 4, f->anti_patterns = 9, f->anti_patterns = 0)                          \
	CASE(TOOLS_UNSAID, 1, f->tools = 0, f->tools = 1U << WARD_TOOL_SEARCH)                     \
	CASE(TOOL_TERMINAL, 1, f->tools = 1U << WARD_TOOL_TERMINAL, f->tools = 1)                  \
	CASE(TOOL_BROWSER, 1, f->tools = 1U << WARD_TOOL_BROWSER, f->tools = 1)                    \
	CASE(TOOL_DESKTOP, 1, f->tools = 1U << WARD_TOOL_DESKTOP, f->tools = 1)                    \
	CASE(TOOL_MAIL, 1, f->tools = 1U << WARD_TOOL_MAIL, f->tools = 1)                          \
	CASE(TOOL_PAYMENTS, 1, f->tools = 1U << WARD_TOOL_PAYMENTS, f->tools = 1)                  \
	CASE(NO_BUDGET, 1, f->budget = WARD_UNLIMITED, f->budget = 0)                              \
	CASE(LARGE_BUDGET, 1, f->budget = 10001, f->budget = 10000)                                \
	CASE(TRUST_LOW, 1, f->trust = WARD_TRUST_LOW, f->trust = WARD_TRUST_HIGH)                  \
	CASE(TRUST_MEDIUM, 1, f->trust = WARD_TRUST_MEDIUM, f->trust = WARD_TRUST_HIGH)            \
	CASE(FEW_HOSTS, 1, (f->net = WARD_NET_ALLOWLIST, f->hosts = 5),                            \
		(f->net = WARD_NET_NONE, f->hosts = 5))                                            \
	CASE(MANY_HOSTS, 1, (f->net = WARD_NET_ALLOWLIST, f->hosts = 6),                           \
		(f->net = WARD_NET_NONE, f->hosts = 6))                                            \
	CASE(WILDCARDS, 2, f->wildcards = 3, f->wildcards = 0)                                     \
	CASE(OPEN_HOSTS, 1, f->open_hosts = 1, f->open_hosts = 0)                                  \
	CASE(WAYS, 3, f->ways = 4, f->ways = 0)                                                    \
	CASE(LOOSE_NAMES, 1, (f->net = WARD_NET_ALLOWLIST, f->sni = WARD_SNI_LOG),                 \
		(f->net = WARD_NET_NONE, f->sni = WARD_SNI_LOG))                                   \
	CASE(PROXY, 1, f->net = WARD_NET_PROXY, f->net = WARD_NET_ALLOWLIST)                       \
	CASE(HOST_NETWORK, 1, f->net = WARD_NET_HOST, f->net = WARD_NET_ALLOWLIST)                 \
	CASE(NO_TIME, 1, f->time_ns = WARD_UNLIMITED, f->time_ns = 1)                              \
	CASE(LONG_TIME, 1, f->time_ns = WARD_RISK_DAY_NS + 1, f->time_ns = WARD_RISK_DAY_NS)       \
	CASE(NO_MEMORY, 1, f->memory = WARD_UNLIMITED, f->memory = 1)                              \
	CASE(LARGE_MEMORY, 1, f->memory = f->host_memory, f->memory = f->host_memory / 2)          \
	CASE(NO_CPUS, 1, f->cpus = WARD_UNLIMITED, f->cpus = 1)                                    \
	CASE(NO_GROWTH, 1, f->growth = WARD_UNLIMITED, f->growth = 0)                              \
	CASE(MANY_PROCESSES, 1, f->processes = 4097, f->processes = 4096)                          \
	CASE(LOOSE_LIMITS, 1, f->limits_where_available = true, f->limits_where_available = false) \
	CASE(FROM_UNKNOWN, 1, f->origin = WARD_ORIGIN_UNKNOWN, f->origin = WARD_ORIGIN_NONE)       \
	CASE(FROM_SYSTEM, 1, f->origin = WARD_ORIGIN_SYSTEM, f->origin = WARD_ORIGIN_PACKAGE)      \
	CASE(FROM_MANAGER, 1, f->origin = WARD_ORIGIN_MANAGER, f->origin = WARD_ORIGIN_PACKAGE)    \
	CASE(FROM_DOWNLOAD, 1, f->origin = WARD_ORIGIN_DOWNLOAD, f->origin = WARD_ORIGIN_PACKAGE)  \
	CASE(FROM_PROJECT, 1, f->origin = WARD_ORIGIN_PROJECT, f->origin = WARD_ORIGIN_PACKAGE)    \
	CASE(FETCHED, 1, f->fetched = true, f->fetched = false)                                    \
	CASE(OTHERS_WRITE, 1, f->others_write = true, f->others_write = false)                     \
	CASE(BAD_SIGNATURE, 1, f->bad_signature = true, f->bad_signature = false)                  \
	CASE(AGE_DAY, 1, f->age = WARD_AGE_DAY, f->age = WARD_AGE_OLD)                             \
	CASE(AGE_WEEK, 1, f->age = WARD_AGE_WEEK, f->age = WARD_AGE_OLD)                           \
	CASE(AGE_MONTH, 1, f->age = WARD_AGE_MONTH, f->age = WARD_AGE_OLD)                         \
	CASE(NEVER_SEEN, 1, f->seen = false, (f->seen = false, f->named = false))                  \
	CASE(PAST_REFUSED, 1, f->past_refused = 99, f->past_refused = 0)                           \
	CASE(PAST_REFUSED_OFTEN, 1, f->past_refused = 100, f->past_refused = 0)                    \
	CASE(PAST_LIMITS, 1, f->past_limits = 3, f->past_limits = 0)                               \
	CASE(PAST_PROBES, 1, f->past_probes = 1, f->past_probes = 0)                               \
	CASE(PAST_CUT, 1, f->past_cut = 2, f->past_cut = 0)                                        \
	CASE(PAST_GONE, 1, f->past_gone = 2, f->past_gone = 0)                                     \
	CASE(PAST_LOOSE, 1, f->past_loose = 1, f->past_loose = 0)                                  \
	CASE(PAST_EXECUTED, 1, f->past_executed = 1, f->past_executed = 0)

#define CASE(id, count, holds, not_so)                                                             \
	static void holds_##id(struct ward_risk_facts *f)                                          \
	{                                                                                          \
		(void)(holds);                                                                     \
	}                                                                                          \
	static void not_##id(struct ward_risk_facts *f)                                            \
	{                                                                                          \
		(void)(not_so);                                                                    \
	}
CASES
#undef CASE

static const struct {
	unsigned count;
	void (*holds)(struct ward_risk_facts *f);
	void (*not_so)(struct ward_risk_facts *f);
} cases[WARD_RISK_ROWS] = {
#define CASE(id, count, holds, not_so) [WARD_RISK_##id] = {count, holds_##id, not_##id},
	CASES
#undef CASE
};

START_TEST(quiet_facts_cost_nothing)
{
	struct ward_risk_report r;
	struct ward_risk_facts f = quiet();
	ward_risk_score(&f, NULL, &r);
	ck_assert_uint_eq(r.points, 0);
}
END_TEST

START_TEST(each_row_counts_and_no_other)
{
	for (unsigned i = 0; i < WARD_RISK_ROWS; i++) {
		enum ward_risk_row row = (enum ward_risk_row)i;
		struct ward_risk_report r;
		struct ward_risk_facts f = quiet();
		ck_assert_msg(cases[i].holds, "%s has no test", ward_risk_word(row));
		ck_assert_uint_gt(ward_risk_points(row), 0);
		ck_assert_uint_gt(strlen(ward_risk_sentence(row)), 8);
		cases[i].holds(&f);
		ward_risk_score(&f, NULL, &r);
		ck_assert_msg(r.rows[i].count == cases[i].count, "%s: counts %u times",
			ward_risk_word(row), r.rows[i].count);
		ck_assert_uint_eq(r.rows[i].points, cases[i].count * ward_risk_points(row));
		ck_assert_msg(
			r.points == r.rows[i].points, "%s: others count, too", ward_risk_word(row));
		f = quiet();
		cases[i].not_so(&f);
		ward_risk_score(&f, NULL, &r);
		ck_assert_msg(
			r.rows[i].points == 0, "%s: counts without a cause", ward_risk_word(row));
	}
}
END_TEST

/* A line of a policy: 0, or -EINVAL with this in the message. */
static void line(const char *text, const char *wrong)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ward_buf_printf(&b, HEAD "%s\n", text);
	const struct ward_source_text s = {WARD_SOURCE_BASE, "f", b.data, b.len};
	int r = ward_policy_compile(&s, 1, &p, &err);
	ck_assert_msg(r == (wrong ? -EINVAL : 0), "%s: %d %s", text, r, err.text);
	ck_assert_msg(!wrong || strstr(err.text, wrong), "%s: %s", text, err.text);
	ward_policy_unref(p);
}

START_TEST(a_policy_only_raises)
{
	line("[auto]\npoints = no-time 7", NULL);
	line("[auto]\npoints = no-time 6", "can raise that, not lower it");
	line("[auto]\npoints = no-tine 9", "did you mean 'no-time'");
	line("[auto]\npoints = no-time", "a word and a number");
	line("[auto]\npoints = no-time 1001", "1000");
	line("[auto]\nfrom = restricted 25", NULL);
	line("[auto]\nfrom = restricted 26", "can lower that number, not raise it");
	line("[auto]\nfrom = deno 900", NULL);
	line("[auto]\nfrom = auto 3", "not a mode of its own");
	line("[auto]\nleast = none", NULL);
	line("[auto]\nleast = auto", "not a mode of its own");
	line("[agent]\ntools = files, browser", NULL);
	line("[agent]\ntools = files browser", "a comma");
	line("[agent]\ntools = rockets", "not one of");
	line("[agent]\nbudget = 12.50 EUR", NULL);
	line("[agent]\nbudget = 12.5", "an amount");
	line("[agent]\nbudget = a lot", "an amount");
	struct ward_policy *p = policy_of(HEAD "[auto]\npoints = no-time 20\npoints = no-time 9\n"
					       "from = restricted 12\n");
	const struct ward_settings *s = ward_policy_settings(p);
	struct ward_risk_facts f = quiet();
	struct ward_risk_report r;
	f.time_ns = WARD_UNLIMITED;
	ward_risk_score(&f, s, &r);
	ck_assert_uint_eq(r.points, 20);
	ck_assert_uint_eq(ward_risk_threshold(ward_mode_find("restricted"), s), 12);
	ck_assert_uint_eq(ward_risk_threshold(ward_mode_find("restricted"), NULL), 25);
	ck_assert_uint_eq(ward_risk_threshold(ward_mode_find("deno"), s), WARD_RISK_NEVER);
	ward_policy_unref(p);
}
END_TEST

/* struct ward_risk_wish; user: the host. */
static int suits(void *user, const struct ward_mode *m, struct ward_err *why)
{
	ward_cleanup(ward_mode_found_clear) struct ward_mode_found found = WARD_RUNTIME_FOUND_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	return ward_mode_look(m, user, &found, &text, why);
}

/* What is picked for so many points, under this policy and floor; "" for none. */
static const char *picked(
	unsigned points, const char *policy, const char *floor, bool trusted, char *const *argv)
{
	static char passed[2048];
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_risk_choice_clear) struct ward_risk_choice c = {.mode = NULL};
	struct ward_policy *p = NULL;
	struct ward_auto_ask ask;
	ward_buf_printf(&b, HEAD "%s", policy);
	ck_assert_int_eq(
		ward_policy_compile(
			(struct ward_source_text[]){{WARD_SOURCE_BASE, "f", b.data, b.len},
				{WARD_SOURCE_FLOOR, "g", floor, floor ? strlen(floor) : 0}},
			floor ? 2 : 1, &p, NULL),
		0);
	ward_policy_auto(p, &ask);
	struct ward_mode_host h = {.policy = p, .argv = argv};
	const struct ward_risk_wish w = {.settings = ward_policy_settings(p),
		.floor = ask.floor,
		.trusted = trusted,
		.programs = ward_policy_has_programs(p),
		.suits = suits,
		.user = &h};
	ck_assert_int_eq(ward_risk_choose(points, &w, &c, NULL), 0);
	snprintf(passed, sizeof(passed), "refused: %s", c.passed ? c.passed : "");
	const char *word = c.mode ? c.mode->word : passed;
	ward_policy_unref(p);
	return word;
}

#define PROCESS "[auto]\nleast = process\n"
#define NONE "trust = high\n[auto]\nleast = none\n"

START_TEST(the_weakest_that_suffices)
{
	static char name[] = "true";
	char *const argv[] = {name, NULL};
	ck_assert_str_eq(picked(0, "", NULL, true, argv), "restricted");
	ck_assert_str_eq(picked(99, "", NULL, true, argv), "restricted");
	ck_assert_str_eq(picked(0, PROCESS, NULL, true, argv), "process");
	ck_assert_str_eq(picked(24, PROCESS, NULL, true, argv), "process");
	ck_assert_str_eq(picked(25, PROCESS, NULL, true, argv), "restricted");
	ck_assert_str_eq(
		picked(20, PROCESS "from = restricted 20\n", NULL, true, argv), "restricted");
	/* A rule that a weaker mode cannot carry out does not exclude that mode. */
	ck_assert_str_eq(
		picked(0, PROCESS "[network]\nmode = allowlist\n", NULL, true, argv), "restricted");
	ck_assert_str_eq(
		picked(0, PROCESS "[process]\nseccomp = strict\n", NULL, true, argv), "restricted");
	ck_assert_str_eq(picked(0, PROCESS "[process]\nexec = /usr/bin/true\n", NULL, true, argv),
		"restricted");
	ck_assert_str_eq(
		picked(0, PROCESS "[home]\nmode = project\n", NULL, true, argv), "restricted");
}
END_TEST

START_TEST(none_takes_two_words)
{
	static char name[] = "true";
	char *const argv[] = {name, NULL};
	ck_assert_str_eq(picked(0, NONE, NULL, true, argv), "none");
	ck_assert_str_eq(picked(10, NONE, NULL, true, argv), "process");
	ck_assert_str_eq(picked(0, NONE, NULL, false, argv), "process");
	ck_assert_str_eq(picked(0, "[auto]\nleast = none\n", NULL, true, argv), "process");
	/* The floor takes either away. */
	ck_assert_str_eq(picked(0, NONE, HEAD "trust = medium\n", true, argv), "process");
	ck_assert_str_eq(
		picked(0, NONE, HEAD "[auto]\nleast = restricted\n", true, argv), "restricted");
	ck_assert_str_eq(picked(0, NONE, HEAD "mode = restricted\n", true, argv), "restricted");
	ck_assert_str_eq(picked(0, PROCESS, HEAD "[auto]\nleast = none\n", true, argv), "process");
	ck_assert_str_eq(picked(10, PROCESS, HEAD "[auto]\nfrom = restricted 10\n", true, argv),
		"restricted");
}
END_TEST

START_TEST(what_is_lacking_is_never_replaced_by_less)
{
	static char name[] = "true";
	char *const argv[] = {name, NULL};
	/* Whether an engine is here is asked for a command alone: that is the session's question.
	 */
	const char *said = picked(100, "[container]\nengine = kata\n", NULL, true, argv);
	ck_assert_msg(strncmp(said, "refused: docker: ", 17) == 0, "%s", said);
	ck_assert_msg(strstr(said, "deno: the policy asks for an engine"), "%s", said);
	ck_assert_msg(strstr(said, "wasm: "), "%s", said);
	/* However few the points are: a policy that names an engine gets that one or nothing. */
	said = picked(0, "[container]\nengine = kata\n", NULL, true, argv);
	ck_assert_msg(strncmp(said, "refused: restricted: the policy asks for an engine", 50) == 0,
		"%s", said);
	/* An image needs a mode with images. The control is above: process suffices. */
	ck_assert_str_eq(
		picked(0, PROCESS "[system]\nimage = /srv\n", NULL, true, argv), "restricted");
	said = picked(0, "[auto]\nleast = docker\n[container]\nengine = kata\n", NULL, true, argv);
	ck_assert_msg(strncmp(said, "refused: docker: ", 17) == 0, "%s", said);
}
END_TEST

START_TEST(who_asks)
{
	static const struct {
		const char *profile, *base, *run, *floor;
		bool asked;
	} all[] = {{NULL, "mode = auto\n", NULL, NULL, true}, {NULL, "", NULL, NULL, false},
		{NULL, "", NULL, "mode = auto\n", false},
		{NULL, "mode = auto\n", "mode = process\n", NULL, true},
		{NULL, "mode = auto\n", NULL, "mode = restricted\n", true},
		{"mode = auto\n", "extends = x\n", NULL, NULL, true},
		{"mode = auto\n", "extends = x\nmode = process\n", NULL, NULL, false}};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const char *const texts[] = {all[i].profile, all[i].base, all[i].run, all[i].floor};
		static const enum ward_source_kind kinds[] = {
			WARD_SOURCE_PROFILE, WARD_SOURCE_BASE, WARD_SOURCE_RUN, WARD_SOURCE_FLOOR};
		struct ward_buf b[4] = {{0}};
		struct ward_source_text s[4];
		struct ward_policy *p = NULL;
		struct ward_auto_ask ask;
		size_t n = 0;
		for (size_t k = 0; k < 4; k++) {
			if (!texts[k])
				continue;
			ward_buf_printf(&b[k], HEAD "%s", texts[k]);
			s[n++] = (struct ward_source_text){kinds[k], "f", b[k].data, b[k].len};
		}
		ck_assert_int_eq(ward_policy_compile(s, n, &p, NULL), 0);
		ward_policy_auto(p, &ask);
		ck_assert_msg(ask.asked == all[i].asked, "case %zu", i);
		ward_policy_unref(p);
		for (size_t k = 0; k < 4; k++)
			ward_buf_clear(&b[k]);
	}
}
END_TEST

START_TEST(the_line_tells_the_largest)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_risk_facts f = quiet();
	struct ward_risk_report r;
	f.host_executes = true;
	f.time_ns = WARD_UNLIMITED;
	f.age = WARD_AGE_MONTH;
	ward_risk_score(&f, NULL, &r);
	const struct ward_risk_choice c = {.mode = ward_mode_find("restricted")};
	ward_risk_line(&r, &c, &b);
	ck_assert_str_eq(ward_buf_str(&b),
		"29 points → restricted: writes files that this host executes (+20), has no time "
		"limit (+7), changed less than a month ago (+2)");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("risk");
	TCase *t = tcase_create("all");
	tcase_add_test(t, quiet_facts_cost_nothing);
	tcase_add_test(t, each_row_counts_and_no_other);
	tcase_add_test(t, a_policy_only_raises);
	tcase_add_test(t, the_weakest_that_suffices);
	tcase_add_test(t, none_takes_two_words);
	tcase_add_test(t, what_is_lacking_is_never_replaced_by_less);
	tcase_add_test(t, who_asks);
	tcase_add_test(t, the_line_tells_the_largest);
	suite_add_tcase(s, t);
	return suite_run(s);
}
