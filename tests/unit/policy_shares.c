/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of the host in a policy: what they come to, how they merge with sizes, and whose word a
 * limit is. And the size of the host itself, by control groups that a test makes up.
 */
#include <check.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/host_size.h"
#include "enforcer/base/quantity.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/policy.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"
#define G (UINT64_C(1) << 30)
#define M (UINT64_C(1) << 20)
/* 16 GiB, eight CPUs. */
#define HOST "memory 17179869184\ncpus 80\n"

struct texts {
	const char *profile, *base, *floor, *project, *host;
	const char *base_file; /* NULL: "b" */
};

static int compile(const struct texts *t, struct ward_policy **ret, struct ward_err *err)
{
	const struct ward_source_text all[] = {
		{WARD_SOURCE_PROFILE, "medium", t->profile, t->profile ? strlen(t->profile) : 0},
		{WARD_SOURCE_BASE, t->base_file ? t->base_file : "b", t->base,
			t->base ? strlen(t->base) : 0},
		{WARD_SOURCE_FLOOR, "f", t->floor, t->floor ? strlen(t->floor) : 0},
		{WARD_SOURCE_PROJECT, "p", t->project, t->project ? strlen(t->project) : 0},
		{WARD_SOURCE_HOST, "host", t->host, t->host ? strlen(t->host) : 0},
	};
	struct ward_source_text v[5];
	size_t n = 0;
	for (size_t i = 0; i < 5; i++)
		if (all[i].text)
			v[n++] = all[i];
	return ward_policy_compile(v, n, ret, err);
}

static struct ward_policy *compiled(const struct texts *t)
{
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(compile(t, &p, &err) == 0, "%s", err.text);
	return p;
}

START_TEST(what_shares_come_to)
{
	static const struct {
		const char *line, *host;
		uint64_t memory, cpus;
	} t[] = {
		{"memory = 75%", HOST, 12 * G, WARD_UNLIMITED},
		{"memory = 100%", HOST, 16 * G, WARD_UNLIMITED},
		/* whole megabytes, and one at least */
		{"memory = 33.3%", HOST, 5455 * M, WARD_UNLIMITED},
		{"memory = 0.1%", "memory 4096\ncpus 10\n", M, WARD_UNLIMITED},
		{"cpus = 50%", HOST, WARD_UNLIMITED, 40},
		{"cpus = 1%", "memory 4096\ncpus 10\n", WARD_UNLIMITED, 1},
		{"cpus = all-1", HOST, WARD_UNLIMITED, 70},
		{"cpus = all-6", HOST, WARD_UNLIMITED, 20},
		{"cpus = all-4096", HOST, WARD_UNLIMITED, 20},
		{"cpus = all-1", "memory 4096\ncpus 30\n", WARD_UNLIMITED, 20},
		{"cpus = all-1", "memory 4096\ncpus 25\n", WARD_UNLIMITED, 20},
		/* all of them limit nothing */
		{"cpus = all-1", "memory 4096\ncpus 20\n", WARD_UNLIMITED, WARD_UNLIMITED},
		{"cpus = all-1", "memory 4096\ncpus 10\n", WARD_UNLIMITED, WARD_UNLIMITED},
		{"cpus = 100%", HOST, WARD_UNLIMITED, WARD_UNLIMITED},
		/* a number is what it says, whatever there is */
		{"cpus = 90", HOST, WARD_UNLIMITED, 900},
		{"memory = none\ncpus = none", HOST, WARD_UNLIMITED, WARD_UNLIMITED},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		char text[200];
		snprintf(text, sizeof(text), HEAD "[limits]\n%s\n", t[i].line);
		struct ward_policy *p = compiled(&(struct texts){.base = text, .host = t[i].host});
		const struct ward_settings *s = ward_policy_settings(p);
		ck_assert_msg(s->memory == t[i].memory && s->cpus == t[i].cpus,
			"%s of %s: %llu %llu", t[i].line, t[i].host, (unsigned long long)s->memory,
			(unsigned long long)s->cpus);
		ward_policy_unref(p);
	}
	struct ward_policy *p = compiled(&(struct texts){
		.base = HEAD "[tree /workspace]\nsource = tmpfs:25%\n[limits]\ntmp = 12.5%\n",
		.host = HOST});
	ck_assert_uint_eq(ward_policy_settings(p)->trees[0].tmpfs_size, 4 * G);
	ck_assert_uint_eq(ward_policy_settings(p)->tmp_bytes, 2 * G);
	ward_policy_unref(p);
}
END_TEST

START_TEST(time_for_each_cpu)
{
	static const struct {
		const char *line, *host;
		uint64_t seconds;
	} t[] = {
		{"cpu-time = 90", HOST, 90},
		{"cpu-time = 10m/cpu", HOST, 4800},
		{"cpu-time = 1h30m/cpu", "memory 4096\ncpus 10\n", 5400},
		{"cpu-time = 90/cpu", "memory 4096\ncpus 25\n", 225},
		{"cpu-time = 8589934591/cpu", HOST, WARD_QUANTITY_MAX / 1000000000},
		{"cpu-time = 2d/cpu", NULL, WARD_QUANTITY_MAX / 1000000000},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		char text[200];
		snprintf(text, sizeof(text), HEAD "[limits]\n%s\n", t[i].line);
		struct ward_policy *p = compiled(&(struct texts){.base = text, .host = t[i].host});
		const uint64_t ns = ward_policy_settings(p)->cpu_time_ns;
		ck_assert_msg(ns / 1000000000 == t[i].seconds, "%s of %s: %llu", t[i].line,
			t[i].host ? t[i].host : "?", (unsigned long long)ns);
		ward_policy_unref(p);
	}
	/* The smaller one holds, by what they come to. */
	struct ward_policy *p =
		compiled(&(struct texts){.base = HEAD "[limits]\ncpu-time = 1h/cpu\n",
			.floor = HEAD "[limits]\ncpu-time = 7h\n",
			.host = HOST});
	ck_assert_uint_eq(ward_policy_settings(p)->cpu_time_ns, 25200 * UINT64_C(1000000000));
	ward_policy_unref(p);
}
END_TEST

START_TEST(what_is_no_share)
{
	static const char *const bad[] = {"memory = 0%", "memory = 0.0%", "memory = 101%",
		"memory = 100.1%", "memory = 1000000000%", "memory = 99999999999999999999999%",
		"memory = 12.55%", "memory = .5%", "memory = 5.%", "memory = 75 %", "memory = %",
		"memory = -5%", "memory = 75%%", "memory = 75%G", "memory = all-1", "tmp = none",
		"cpus = 0%", "cpus = 101%", "cpus = all", "cpus = all-", "cpus = all-0",
		"cpus = all-4097", "cpus = all-99999999999999999999", "cpus = all-1x",
		"cpus = all+1", "wall = 75%", "wall = 2d/cpu", "cpu-time = 2d/cpus",
		"cpu-time = /cpu", "cpu-time = 2d /cpu", "cpu-time = 2d/cpu/cpu",
		"cpu-time = none/cpu",
		"cpu-time = 11111111111111111111111111111111111111111111111111111111111111111/cpu",
		"processes = 50%", "processes = none", "file = 5%", "open-files = none"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ward_err err = WARD_ERR_INIT;
		struct ward_policy *p = NULL;
		char text[200];
		snprintf(text, sizeof(text), HEAD "[limits]\n%s\n", bad[i]);
		int r = compile(&(struct texts){.base = text, .host = HOST}, &p, &err);
		ck_assert_msg(r == -EINVAL && strncmp(err.text, "b:4: ", 5) == 0, "%s: %d %s",
			bad[i], r, err.text);
	}
	static const char *const hosts[] = {"", "memory 1\n", "cpus 1\nmemory 1\n",
		"memory 0\ncpus 10\n", "memory 4096\ncpus 0\n", "memory 4096\ncpus 10",
		"memory 4096\ncpus 10\nmore\n", "memory 99999999999999999999\ncpus 10\n",
		"memory 4096\ncpus 99999999999\n", "memory -1\ncpus 10\n", "memory 4096 cpus 10\n"};
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		struct ward_policy *p = NULL;
		ck_assert_msg(compile(&(struct texts){.base = HEAD, .host = hosts[i]}, &p, NULL) ==
				      -EINVAL,
			"'%s' is a host", hosts[i]);
	}
}
END_TEST

START_TEST(shares_merge_by_what_they_come_to)
{
	static const struct {
		const char *base, *floor, *project;
		uint64_t memory;
	} t[] = {
		{"75%", "8G", NULL, 8 * G},
		{"75%", "14G", NULL, 12 * G},
		{"14G", "75%", NULL, 12 * G},
		{"4G", "75%", NULL, 4 * G},
		{"75%", "50%", NULL, 8 * G},
		{"50%", "75%", "25%", 4 * G},
		{"none", "75%", NULL, 12 * G},
		{"4G", "none", "none", 4 * G},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		char base[99], floor[99], project[99];
		snprintf(base, sizeof(base), HEAD "[limits]\nmemory = %s\n", t[i].base);
		snprintf(floor, sizeof(floor), HEAD "[limits]\nmemory = %s\n", t[i].floor);
		snprintf(project, sizeof(project), HEAD "[limits]\nmemory = %s\n",
			t[i].project ? t[i].project : "");
		struct ward_policy *p = compiled(&(struct texts){.base = base,
			.floor = floor,
			.project = t[i].project ? project : NULL,
			.host = HOST});
		ck_assert_msg(ward_policy_settings(p)->memory == t[i].memory, "%s and %s: %llu",
			t[i].base, t[i].floor, (unsigned long long)ward_policy_settings(p)->memory);
		ward_policy_unref(p);
	}
	/* without a host any size is less than any share */
	struct ward_policy *p = compiled(&(struct texts){.base = HEAD "[limits]\nmemory = 1%\n",
		.floor = HEAD "[limits]\nmemory = 1000T\n"});
	ck_assert_uint_eq(ward_policy_settings(p)->memory, 1000 * 1024 * G);
	ward_policy_unref(p);
}
END_TEST

/* The text says both; the digest is of the share, and the blob brings the host along. */
START_TEST(shown_and_sent)
{
	static const char base[] = HEAD "[limits]\ncpus = all-1\nmemory = 75%\n";
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	struct ward_policy *p = compiled(&(struct texts){.base = base, .host = HOST});
	struct ward_policy *q = compiled(&(struct texts){.base = base});
	ck_assert_int_eq(ward_policy_show(p, &text), 0);
	ck_assert_ptr_nonnull(
		strstr(ward_buf_str(&text), "memory = 75%   ; 12288M of 16384M here\n"));
	ck_assert_ptr_nonnull(strstr(ward_buf_str(&text), "cpus = all-1   ; 7.0 of 8.0 here\n"));
	ck_assert_str_eq(ward_policy_digest(p), ward_policy_digest(q));
	ward_policy_unref(q);
	q = compiled(&(struct texts){.base = ward_buf_str(&text), .host = HOST});
	ck_assert_str_eq(ward_policy_digest(p), ward_policy_digest(q));
	ward_policy_unref(q);
	ck_assert_int_eq(ward_policy_encode(p, &blob), 0);
	ck_assert_int_eq(ward_policy_decode(blob.data, blob.len, &q, NULL), 0);
	ck_assert_uint_eq(ward_policy_settings(q)->memory, 12 * G);
	ck_assert_uint_eq(ward_policy_settings(q)->cpus, 70);
	ward_policy_unref(q);
	ward_policy_unref(p);
}
END_TEST

static bool shipped(const struct texts *t)
{
	struct ward_policy *p = compiled(t);
	struct ward_said said;
	ck_assert(WARD_SAID(p, memory, &said));
	ck_assert(said.share && strcmp(said.value, "1%") == 0);
	ward_policy_unref(p);
	return said.shipped;
}

/* A default is what a shipped profile says, and nobody else. */
START_TEST(whose_word_it_is)
{
	static const char says[] = HEAD "[limits]\nmemory = 1%\n";
	static const char more[] = HEAD "[limits]\nmemory = 90%\n";
	char base[200];
	snprintf(base, sizeof(base), HEAD "extends = medium\n");
	ck_assert(shipped(&(struct texts){.profile = says, .base = base}));
	ck_assert(shipped(&(struct texts){.base = says, .base_file = "medium"}));
	ck_assert(!shipped(&(struct texts){.base = says}));
	ck_assert(!shipped(&(struct texts){.base = says, .base_file = "/srv/medium"}));
	/* It holds, and others ask for a limit as well: theirs is no default. */
	ck_assert(!shipped(&(struct texts){.profile = says, .base = base, .floor = more}));
	ck_assert(!shipped(&(struct texts){.profile = says, .base = base, .project = more}));
	snprintf(base, sizeof(base), HEAD "extends = medium\n[limits]\nmemory = 1%%\n");
	ck_assert(!shipped(&(struct texts){.profile = more, .base = base}));

	struct ward_said said;
	struct ward_policy *p = compiled(&(struct texts){.base = HEAD});
	ck_assert(!WARD_SAID(p, memory, &said));
	ck_assert_uint_eq(said.number, WARD_UNLIMITED);
	ward_policy_unref(p);
}
END_TEST

/* --- the host --- */

static void put(const char *top, const char *path, const char *text)
{
	char full[400];
	snprintf(full, sizeof(full), "%s/%s", top, path);
	for (char *s = full + strlen(top) + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = '\0';
		ck_assert(mkdir(full, 0700) == 0 || errno == EEXIST);
	}
	FILE *f = fopen(full, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void bounded(const char *top, const char *groups, uint64_t memory, uint64_t cpus)
{
	struct ward_host_size s = {.memory = 16 * G, .cpus = 80};
	ward_host_size_bound(&s, groups, top);
	ck_assert_msg(s.memory == memory && s.cpus == cpus, "%s: %llu %llu", groups,
		(unsigned long long)s.memory, (unsigned long long)s.cpus);
}

START_TEST(groups_bound_the_host)
{
	char *top = scratch_make();
	put(top, "memory.max", "max\n");
	put(top, "a/memory.max", "8589934592\n");
	put(top, "a/cpu.max", "max 100000\n");
	put(top, "a/b/memory.max", "12884901888\n");
	put(top, "a/b/cpu.max", "250000 100000\n");
	/* the least of all above counts */
	bounded(top, "0::/a/b\n", 8 * G, 25);
	bounded(top, "0::/a\n", 8 * G, 80);
	bounded(top, "0::/\n", 16 * G, 80);
	bounded(top, "", 16 * G, 80);
	/* the path may be the host's: then what is mounted here counts, and what is there of it */
	bounded(top, "0::/elsewhere/x\n", 16 * G, 80);
	bounded(top, "0::/a/gone/x\n", 8 * G, 80);
	bounded(top, "0::/../../a\n", 16 * G, 80);
	bounded(top, "nonsense\n0:\n::\n0::a/b\n", 16 * G, 80);
	/* version 1, by one controller and by two together, beside version 2 without any */
	put(top, "memory/c/memory.limit_in_bytes", "4294967296\n");
	put(top, "memory/memory.limit_in_bytes", "9223372036854771712\n");
	put(top, "cpu,cpuacct/c/cpu.cfs_quota_us", "50000\n");
	put(top, "cpu,cpuacct/c/cpu.cfs_period_us", "100000\n");
	put(top, "cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
	put(top, "cpu,cpuacct/cpu.cfs_period_us", "100000\n");
	bounded(top, "4:memory:/c\n2:cpu,cpuacct:/c\n0::/\n", 4 * G, 5);
	bounded(top, "4:memory:/\n2:cpu,cpuacct:/\n", 16 * G, 80);
	put(top, "cpu/d/cpu.cfs_quota_us", "150000\n");
	put(top, "cpu/d/cpu.cfs_period_us", "50000\n");
	bounded(top, "2:cpuacct,cpu:/d\n", 16 * G, 30);
	/* what nobody can live with is the least that is said */
	put(top, "none/memory.max", "0\n");
	put(top, "none/cpu.max", "1 100000\n");
	bounded(top, "0::/none\n", 4096, 1);
	put(top, "odd/memory.max", "99999999999999999999999999\n");
	put(top, "odd/cpu.max", "5 0\n");
	bounded(top, "0::/odd\n", 16 * G, 80);
	scratch_remove(top);
}
END_TEST

START_TEST(this_host)
{
	const struct ward_host_size s = ward_host_size();
	ck_assert_uint_ge(s.memory, 4096);
	ck_assert_uint_ge(s.cpus, 1);
	struct ward_policy *p = NULL;
	struct ward_source_text t;
	ck_assert_int_eq(ward_policy_load_alone("medium", &p, NULL), 0);
	ck_assert(ward_policy_source(p, WARD_SOURCE_HOST, &t));
	ward_policy_unref(p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_shares");
	TCase *t = tcase_create("all");
	tcase_add_test(t, what_shares_come_to);
	tcase_add_test(t, time_for_each_cpu);
	tcase_add_test(t, what_is_no_share);
	tcase_add_test(t, shares_merge_by_what_they_come_to);
	tcase_add_test(t, shown_and_sent);
	tcase_add_test(t, whose_word_it_is);
	tcase_add_test(t, groups_bound_the_host);
	tcase_add_test(t, this_host);
	suite_add_tcase(s, t);
	return suite_run(s);
}
