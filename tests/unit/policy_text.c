/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a policy: what is read, what is refused and how, what the settings become. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/policy.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"

static int compile_kind(enum ward_source_kind kind, const char *text, size_t len,
	struct ward_policy **ret, struct ward_err *err)
{
	static const char all[] = HEAD "[files]\nwrite = /\n";
	struct ward_source_text s[2] = {
		{.kind = WARD_SOURCE_BASE, .file = "base", .text = all, .len = sizeof(all) - 1},
		{.kind = kind, .file = "f", .text = text, .len = len},
	};
	bool base = kind == WARD_SOURCE_BASE;
	return ward_policy_compile(s + base, base ? 1 : 2, ret, err);
}

/* The text is refused with exactly this message, wherever it stands. */
static void refused_as(
	enum ward_source_kind kind, const char *text, size_t len, const char *message)
{
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	int r = compile_kind(kind, text, len, &p, &err);
	ck_assert_msg(r == -EINVAL, "accepted: %s", text);
	ck_assert_ptr_null(p);
	ck_assert_str_eq(err.text, message);
}

static void refused(const char *text, const char *message)
{
	refused_as(WARD_SOURCE_BASE, text, strlen(text), message);
}

START_TEST(lines_that_fit_nothing)
{
	refused("[policy]\nversion = 1\nnonsense\n",
		"f:3: neither a [section], nor key = value, nor a comment");
	refused("version = 1\n", "f:1: a key before the first section");
	refused("[policy]\n version = 1\n",
		"f:2: an indented line: every line begins in the first column");
	refused("[policy]\n\tversion = 1\n",
		"f:2: an indented line: every line begins in the first column");
	refused("[policy]\nversion = 1\n[files]\nhide = a\n  b\n",
		"f:5: an indented line: every line begins in the first column");
	refused("[policy]\nversion: 1\n", "f:2: ':' after the key: write '='");
	refused("[policy]\nversion =\n", "f:2: a key without a value");
	refused("[policy]\nversion = ; 1\n", "f:2: a key without a value");
	refused("[policy]\nversion =;1\n", "f:2: a value that begins with ';' (in a pattern: \\;)");
	refused("[policy]\n= 1\n", "f:2: a line without a key");
	refused("[policy\n", "f:1: a section without its ']'");
	refused("[policy] x\n", "f:1: text after the ']' of a section");
	refused("[]\n", "f:1: a section without a name");
	refused("[policy]\nversion = 1\r\r\n",
		"f:2: a control character (in a name, '?' stands for any byte)");
	refused("[policy]\nversion = 1\n[files]\nhide = a\x1b\n",
		"f:4: a control character (in a name, '?' stands for any byte)");
	refused_as(WARD_SOURCE_BASE, "[policy]\nversion = 1\n[files]\nhide = a\0b\n", 40,
		"f:4: a NUL byte");
	refused("", "f:1: the version is missing: a policy begins with [policy] and version = 1");
	refused("[policy]\nversion = 2\n", "f:2: version: unknown version '2': write 1");
}
END_TEST

START_TEST(lines_that_fit)
{
	struct ward_policy *p =
		policy_of("\xef\xbb\xbf; a comment\r\n# another\r\n\r\n[policy] ; c\r\n"
			  "version = 1 ; one\r\nname=x;y\r\n   \n[files]\nwrite=/w;x");
	ck_assert_str_eq(ward_policy_settings(p)->name, "x;y");
	const struct ward_state *s = NULL;
	ck_assert_int_eq(ward_policy_walk(p, "/w;x", 4, &s), 0);
	ck_assert_uint_eq(ward_policy_rights(p, s), WARD_RIGHTS_ALL);
	ward_policy_state_put(p, s);
	ward_policy_unref(p);
}
END_TEST

START_TEST(long_lines)
{
	/* over inih's 199 bytes, and in force to the last byte */
	char path[4001], text[20000];
	for (size_t i = 0; i < 4000; i++)
		path[i] = i % 200 ? 'x' : '/';
	path[4000] = 0;
	snprintf(text, sizeof(text), HEAD "[files]\nwrite = %s ; comment\n", path);
	struct ward_policy *p = policy_of(text);
	const struct ward_state *s = NULL;
	ck_assert_int_eq(ward_policy_walk(p, path, 4000, &s), 0);
	ck_assert_uint_eq(ward_policy_rights(p, s), WARD_RIGHTS_ALL);
	ward_policy_state_put(p, s);
	ck_assert_int_eq(ward_policy_walk(p, path, 3999, &s), 0);
	ck_assert_uint_eq(ward_policy_rights(p, s), 0);
	ward_policy_state_put(p, s);
	ward_policy_unref(p);

	memset(text, 'a', 9000);
	memcpy(text, HEAD, strlen(HEAD));
	text[9000] = 0;
	refused(text, "f:3: the line is longer than 8448 bytes");
	snprintf(text, sizeof(text), HEAD "%s = x\n",
		"a-key-that-is-much-longer-than-any-key-that-there-is-here");
	refused(text, "f:3: no key is as long as this one");
}
END_TEST

START_TEST(a_file_that_is_too_long)
{
	size_t len = (size_t)10 << 20;
	char *text = malloc(len);
	ck_assert_ptr_nonnull(text);
	memset(text, '\n', len);
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_int_eq(compile_kind(WARD_SOURCE_BASE, text, len, &p, &err), -EINVAL);
	ck_assert_str_eq(err.text, "f:4194305: the file is longer than 4 MiB");
	/* a million sections */
	len = 0;
	while (len < 4000000)
		len += (size_t)sprintf(text + len, "[files]\n");
	err = WARD_ERR_INIT;
	ck_assert_int_eq(compile_kind(WARD_SOURCE_BASE, text, len, &p, &err), -EINVAL);
	ck_assert_str_eq(err.text,
		"f:1: the version is missing: a policy begins with [policy] and version = 1");
	/* of one that is long enough, each names its line */
	len = (size_t)sprintf(text, HEAD);
	while (len < 4190000)
		len += (size_t)sprintf(text + len, "[env]\n");
	err = WARD_ERR_INIT;
	ck_assert_int_eq(compile_kind(WARD_SOURCE_BASE, text, len, &p, &err), 0);
	ward_policy_unref(p);
	len += (size_t)sprintf(text + len, "[evn]\n");
	ck_assert_int_eq(compile_kind(WARD_SOURCE_BASE, text, len, &p, &err), -EINVAL);
	ck_assert_str_eq(err.text, "f:698333: no section [evn]: did you mean [env]?");
	while (len < 6000100)
		len += (size_t)sprintf(text + len, "[env]\n");
	ck_assert_int_eq(compile_kind(WARD_SOURCE_BASE, text, len, &p, &err), -EINVAL);
	free(text);
}
END_TEST

/* Compiled, or refused with an error that has a line of the text. */
static bool survives(enum ward_source_kind kind, const char *text, size_t len)
{
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	unsigned line = 0, lines = 1;
	int r = compile_kind(kind, text, len, &p, &err);
	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	ck_assert(r == 0 || r == -EINVAL);
	ck_assert((r == 0) == (p != NULL));
	if (r < 0)
		ck_assert_msg(sscanf(err.text, "f:%u: ", &line) == 1 && line >= 1 && line <= lines,
			"%s", err.text);
	ward_policy_unref(p);
	return r == 0;
}

START_TEST(whatever_bytes)
{
	static const enum ward_source_kind kinds[] = {
		WARD_SOURCE_BASE, WARD_SOURCE_FLOOR, WARD_SOURCE_PROJECT, WARD_SOURCE_RUN};
	static const char *const pieces[] = {"[policy]\n", "version = 1\n", "[files]\n",
		"[guard]\n", "hide = *.pem\n", "write = /workspace/**/a*b?[x-z]\n", "[tree /t]\n",
		"source = .\n", "[limits]\n", "wall = 1h\n", "[network]\n", "allow = x.org:443\n",
		"[quota /workspace]\n", "growth = 1G\n", "fold = yes\n", "extends = medium\n",
		"; c\n", "\r\n", "[test]\n", "expect = read /x deny\n", "=", "[", "]", "\\", ";",
		" ", "\t", "**", "\xff"};
	size_t compiled = 0, refusals = 0;
	for (unsigned round = 0; round < SUITE_ROUNDS(20000U); round++) {
		char text[600];
		size_t len = 0;
		if (rnd(4))
			len = (size_t)sprintf(text, HEAD);
		for (unsigned i = rnd(12); i > 0; i--)
			len += (size_t)sprintf(
				text + len, "%s", pieces[rnd(sizeof(pieces) / sizeof(pieces[0]))]);
		/* some bytes as they come, NUL among them */
		for (unsigned i = rnd(3) ? 0 : rnd(4); i > 0 && len; i--)
			text[rnd((unsigned)len)] = (char)rnd(256);
		if (survives(kinds[rnd(4)], text, len))
			compiled++;
		else
			refusals++;
	}
	ck_assert_uint_gt(compiled, SUITE_ROUNDS(500U));
	ck_assert_uint_gt(refusals, SUITE_ROUNDS(5000U));
	for (unsigned round = 0; round < SUITE_ROUNDS(2000U); round++) {
		char text[200];
		size_t len = rnd(sizeof(text));
		for (size_t i = 0; i < len; i++)
			text[i] = (char)rnd(256);
		(void)survives(kinds[rnd(4)], text, len);
	}
}
END_TEST

START_TEST(patterns_that_are_too_long_together)
{
	/* 128 names each: the 8193rd is one too many for 2^20 positions */
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, HEAD "[files]\n");
	for (unsigned i = 0; i < 8200; i++) {
		ward_buf_puts(&b, "hide = ");
		for (unsigned k = 0; k < 128; k++)
			ward_buf_puts(&b, "/a");
		ward_buf_puts(&b, "\n");
	}
	refused_as(WARD_SOURCE_BASE, ward_buf_str(&b), b.len,
		"f:8196: the patterns up to here are too long together");
}
END_TEST

START_TEST(spellings)
{
	refused("[polcy]\n", "f:1: no section [polcy]: did you mean [policy]?");
	refused("[nonsense]\n", "f:1: no section [nonsense]");
	refused(HEAD "[files]\nhid = x\n", "f:4: no key 'hid' in [files]: did you mean 'hide'?");
	refused(HEAD "[limits]\nprocesess = 1\n",
		"f:4: no key 'procesess' in [limits]: did you mean 'processes'?");
	refused(HEAD "[files]\nmemory = 4G\n",
		"f:4: no key 'memory' in [files]: it belongs to [limits]");
	refused(HEAD "[files]\nqqqqqq = 4G\n", "f:4: no key 'qqqqqq' in [files]");
	refused(HEAD "[guard]\nwrite = x\n",
		"f:4: no key 'write' in [guard]: a guard only takes away; 'write' belongs to "
		"[files]");
	refused(HEAD "[tree]\n", "f:3: write [tree PATH], such as [tree /workspace]");
	refused(HEAD "[tree workspace]\n",
		"f:3: 'workspace' is not an absolute path (without '.', '..', '//' and a '/' at "
		"the end)");
	refused(HEAD "[tree /a/../b]\n",
		"f:3: '/a/../b' is not an absolute path (without '.', '..', '//' and a '/' at "
		"the end)");
	refused(HEAD "[limits x]\n", "f:3: [limits] takes no 'x'");
}
END_TEST

START_TEST(values)
{
	refused(HEAD "[limits]\nmemory = 4X\n",
		"f:4: memory: '4X' is not a size ('X' is no unit): write 512, 64K, 10M or 4G");
	refused(HEAD "[limits]\nmemory = 99999999999999999999\n",
		"f:4: memory: '99999999999999999999' is not a size (too large): write 512, 64K, "
		"10M or 4G");
	/* 2^64, which no 64 bits hold */
	refused(HEAD "[limits]\nmemory = 18446744073709551616\n",
		"f:4: memory: '18446744073709551616' is not a size (too large): write 512, 64K, "
		"10M or "
		"4G");
	refused(HEAD "[limits]\nprocesses = 1K\n",
		"f:4: processes: '1K' is not a count ('K' is no unit): write 200 or 200k");
	refused(HEAD "[limits]\nwall = 30m1h\n",
		"f:4: wall: '30m1h' is not a time ('h' stands behind 'm'): write 90, 30s, 10m or "
		"1h30m");
	refused(HEAD "[limits]\ncore = true\n", "f:4: core: 'true' is not one of: no, yes");
	refused(HEAD "[limits]\ncpus = 0\n", "f:4: cpus: '0': write a number such as 2 or 1.5");
	refused(HEAD "[network]\nmode = open\n",
		"f:4: mode: 'open' is not one of: none, allowlist, proxy, host");
	refused(HEAD "[network]\nallow = http://x\n",
		"f:4: allow: 'http://x' is not a destination: write example.org:443, "
		"*.example.org or "
		"10.1.0.0/16:80,443");
	/* ports are compared as text: this line would deny nothing */
	refused(HEAD "[network]\ndeny = x.org:0443\n",
		"f:4: deny: 'x.org:0443' is not a destination: write example.org:443, "
		"*.example.org or "
		"10.1.0.0/16:80,443");
	refused(HEAD "[network]\npublish = 0\n", "f:4: publish: '0': write 8080 or 8080:80");
	refused(HEAD "[env]\nset = 1X=2\n", "f:4: set: '1X=2': write NAME=VALUE");
	refused(HEAD "[limits]\nwall = 1\nwall = 2\n", "f:5: wall was already set in line 4");
	refused(HEAD "[tree /x]\n", "f:3: [tree /x] has no source");
	refused(HEAD "[test]\nexpect = read /x maybe\n",
		"f:4: expect: write ACTION PATH [PATH2] VERDICT, the verdict one of: allow, deny, "
		"hide, ask");
	refused(HEAD "[policy]\nextends = nobody\n", "f:4: extends: 'nobody' was not loaded");
}
END_TEST

START_TEST(patterns)
{
	refused(HEAD "[files]\nhide = *.{pem,key}\n",
		"f:4: hide: braces do not mean alternatives here: write one rule for each (for the character write \\{)");
	refused(HEAD "[files]\nhide = !x\n",
		"f:4: hide: '!' does not negate here: the last rule that matches decides (for the character write \\!)");
	refused(HEAD "[files]\nhide = a**b\n",
		"f:4: hide: '**' stands for whole names: write **/*.c, or one '*' within a name");
	refused(HEAD "[files]\nhide = [a\n",
		"f:4: hide: '[' without a ']' in the same name (for the character itself write \\[)");
	refused(HEAD "[files]\nhide = [z-a]\n", "f:4: hide: the range z-a runs backwards");
	refused(HEAD "[files]\nhide = [[:alpha:]]\n",
		"f:4: hide: named classes such as [[:alpha:]] do not exist here: write [a-z]");
	refused(HEAD "[files]\nhide = ../x\n",
		"f:4: hide: '..' is not a name in a path: patterns are written from the root "
		"(/workspace/x) or match at every depth (x)");
	refused(HEAD "[files]\nhide = a//b\n", "f:4: hide: an empty name ('//')");
	refused(HEAD "[files]\nhide = ~/x\n",
		"f:4: hide: patterns name paths inside, and '~' is a path of the host (for the character write \\~)");
	refused(HEAD "[files]\nhide = a\\\n",
		"f:4: hide: the pattern ends in a backslash (a blank at the end of a name is [ ])");
	refused(HEAD "[files]\nhide = a\\n\n",
		"f:4: hide: '\\n' means nothing: write a backslash only before punctuation ('\\\\' is a backslash)");
}
END_TEST

START_TEST(project_and_floor_hold_less)
{
	static const char tree[] = HEAD "[tree /x]\nsource = /\n";
	refused_as(WARD_SOURCE_PROJECT, tree, sizeof(tree) - 1,
		"f:3: a project file cannot contain [tree]: it only takes away (allowed: [guard] "
		"[files] "
		"[quota] [limits] [network] deny [test])");
	static const char *const sections[] = {"home", "system", "env", "process", "audit"};
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		char text[64];
		struct ward_policy *p = NULL;
		snprintf(text, sizeof(text), HEAD "[%s]\n", sections[i]);
		ck_assert_int_eq(
			compile_kind(WARD_SOURCE_PROJECT, text, strlen(text), &p, NULL), -EINVAL);
		ck_assert_int_eq(compile_kind(WARD_SOURCE_BASE, text, strlen(text), &p, NULL), 0);
		ward_policy_unref(p);
	}
	static const char allow[] = HEAD "[network]\nallow = x.org\n";
	refused_as(WARD_SOURCE_PROJECT, allow, sizeof(allow) - 1,
		"f:4: a project file cannot set allow in [network]");
	static const char name[] = HEAD "name = x\n";
	refused_as(WARD_SOURCE_PROJECT, name, sizeof(name) - 1,
		"f:3: a project file cannot set name in [policy]");
	static const char env[] = HEAD "[env]\npass = X\n";
	refused_as(WARD_SOURCE_FLOOR, env, sizeof(env) - 1,
		"f:4: the floor cannot set pass in [env]: only the base may");
	static const char fine[] =
		HEAD "[guard]\nhide = a\n[files]\nhide = b\n[quota /workspace]\n"
		     "growth = 1G\n[limits]\nwall = 1h\n[network]\ndeny = x.org\n"
		     "[test]\nexpect = read /workspace/a hide\n";
	struct ward_policy *p = NULL;
	ck_assert_int_eq(compile_kind(WARD_SOURCE_PROJECT, fine, sizeof(fine) - 1, &p, NULL), 0);
	ward_policy_unref(p);
}
END_TEST

START_TEST(defaults)
{
	struct ward_policy *p = policy_of(HEAD);
	const struct ward_settings *s = ward_policy_settings(p);
	ck_assert_str_eq(s->mode->word, "restricted");
	ck_assert_uint_eq(s->n_trees, 1);
	ck_assert_str_eq(s->trees[0].path, "/workspace");
	ck_assert_str_eq(s->trees[0].source, ".");
	ck_assert_str_eq(s->trees[0].at, "same");
	ck_assert_int_eq(s->trees[0].hardlinks, WARD_HARDLINKS_READ);
	ck_assert_uint_eq(s->processes, 512);
	ck_assert_uint_eq(s->open_files, 4096);
	ck_assert_uint_eq(s->file_size, WARD_UNLIMITED);
	ck_assert_uint_eq(s->wall_ns, WARD_UNLIMITED);
	ck_assert_uint_eq(s->tmp_bytes, UINT64_C(1) << 30);
	ck_assert(!s->core);
	ck_assert_int_eq(s->home, WARD_HOME_TMPFS);
	ck_assert_int_eq(s->view, WARD_VIEW_MINIMAL);
	ck_assert(s->terminal);
	ck_assert_int_eq(s->net, WARD_NET_NONE);
	ck_assert_int_eq(s->log, WARD_LOG_OPENS);
	ck_assert_int_eq(s->on_failure, WARD_ON_FAILURE_DENY);
	ck_assert_uint_eq(s->env_pass.n, 6);
	ck_assert_str_eq(s->env_pass.v[0], "PATH");
	ck_assert_uint_eq(s->unavailable.n, 0);
	ck_assert_str_eq(s->name, "f");
	ward_policy_unref(p);
}
END_TEST

START_TEST(settings_are_filled)
{
	struct ward_policy *p = policy_of(HEAD
		"name = mine\n[tree /workspace]\nsource = sub\nhardlinks = allow\nat = /elsewhere\n"
		"[tree /mem]\nsource = tmpfs:64M\n[limits]\nprocesses = 2k\nopen-files = 99\n"
		"file = 1G\nwall = 1h30m\ntmp = 512K\ncore = yes\n[home]\nmode = project\nsize = "
		"3M\n"
		"[system]\nread = /opt/x\n[env]\npass = FOO_*\nset = A=b c\n[process]\nterminal "
		"= no\n"
		"[audit]\nlog = denials\non-failure = stop\n");
	const struct ward_settings *s = ward_policy_settings(p);
	ck_assert_str_eq(s->name, "mine");
	ck_assert_uint_eq(s->n_trees, 2);
	ck_assert_str_eq(s->trees[0].path, "/mem");
	ck_assert_ptr_null(s->trees[0].source);
	ck_assert_uint_eq(s->trees[0].tmpfs_size, 64 << 20);
	ck_assert_str_eq(s->trees[0].at, "none");
	ck_assert_str_eq(s->trees[1].source, "sub");
	ck_assert_str_eq(s->trees[1].at, "/elsewhere");
	ck_assert_int_eq(s->trees[1].hardlinks, WARD_HARDLINKS_ALLOW);
	ck_assert_uint_eq(s->processes, 2000);
	ck_assert_uint_eq(s->open_files, 99);
	ck_assert_uint_eq(s->file_size, 1 << 30);
	ck_assert_uint_eq(s->wall_ns, UINT64_C(5400000000000));
	ck_assert_uint_eq(s->tmp_bytes, 512 << 10);
	ck_assert(s->core);
	ck_assert_int_eq(s->home, WARD_HOME_PROJECT);
	ck_assert_uint_eq(s->home_size, 3 << 20);
	ck_assert_str_eq(s->system_read.v[0], "/opt/x");
	ck_assert_str_eq(s->env_pass.v[6], "FOO_*");
	ck_assert_str_eq(s->env_set.v[0], "A=b c");
	ck_assert(!s->terminal);
	ck_assert_int_eq(s->log, WARD_LOG_DENIALS);
	ck_assert_int_eq(s->on_failure, WARD_ON_FAILURE_STOP);
	ck_assert_uint_eq(s->unavailable.n, 0);
	ward_policy_unref(p);
}
END_TEST

START_TEST(quotas)
{
	struct ward_policy *p = policy_of(HEAD "[tree /workspace]\nsource = .\n[tree /data/a]\n"
					       "source = /srv\n[quota /workspace/b]\ngrowth = 10M\n"
					       "[quota /workspace]\ngrowth = 1G\nfiles = 2k\n"
					       "file = 512\nrate = 30M/m\nchurn = 100/h\n"
					       "[quota /data]\nfiles = 0\n");
	const struct ward_settings *s = ward_policy_settings(p);
	const struct ward_quota_limit *l;

	ck_assert_uint_eq(s->n_quotas, 3);
	ck_assert_str_eq(s->quotas[0].path, "/data");
	ck_assert_uint_eq(s->quotas[0].limits[WARD_QUOTA_FILES].value, 0);
	ck_assert_uint_eq(s->quotas[0].limits[WARD_QUOTA_GROWTH].value, WARD_UNLIMITED);
	ck_assert_str_eq(s->quotas[1].path, "/workspace");
	l = s->quotas[1].limits;
	ck_assert_uint_eq(l[WARD_QUOTA_GROWTH].value, 1 << 30);
	ck_assert_str_eq(l[WARD_QUOTA_GROWTH].text, "growth = 1G");
	ck_assert_str_eq(l[WARD_QUOTA_GROWTH].place, "f:10");
	ck_assert_uint_eq(l[WARD_QUOTA_FILES].value, 2000);
	ck_assert_uint_eq(l[WARD_QUOTA_FILE].value, 512);
	ck_assert_uint_eq(l[WARD_QUOTA_RATE].value, 30 << 20);
	ck_assert_uint_eq(l[WARD_QUOTA_RATE].per_s, 60);
	ck_assert_uint_eq(l[WARD_QUOTA_CHURN].value, 100);
	ck_assert_uint_eq(l[WARD_QUOTA_CHURN].per_s, 3600);
	ck_assert_str_eq(s->quotas[2].path, "/workspace/b");
	ck_assert_uint_eq(s->unavailable.n, 0);
	ward_policy_unref(p);

	static const char nowhere[] = HEAD "[quota /tmp]\ngrowth = 1G\n";
	refused_as(WARD_SOURCE_BASE, nowhere, sizeof(nowhere) - 1,
		"f:4: [quota /tmp]: no tree is at this path, so nothing would be counted; "
		"[limits] tmp "
		"bounds /tmp");
	ck_assert_int_eq(
		compile_kind(WARD_SOURCE_FLOOR, nowhere, sizeof(nowhere) - 1, &p, NULL), 0);
	ck_assert_uint_eq(ward_policy_settings(p)->n_quotas, 0);
	ward_policy_unref(p);
	static const char still[] = HEAD "[quota /workspace]\nrate = 0/s\n";
	refused_as(WARD_SOURCE_BASE, still, sizeof(still) - 1,
		"f:4: rate = 0/s would make every write wait forever; to refuse growth, write growth = 0");
}
END_TEST

/* The smaller holds, wherever it stands, and a quota that one source alone has holds too. */
START_TEST(quotas_of_several_sources)
{
	static const char base[] = HEAD "[quota /workspace]\ngrowth = 1G\nfiles = 5\n";
	static const char floor[] =
		HEAD "[quota /workspace]\ngrowth = 2G\nfiles = 4\nchurn = 9/m\n";
	static const char project[] = HEAD "[quota /workspace/x]\ngrowth = 1M\n";
	const struct ward_source_text v[] = {
		{.kind = WARD_SOURCE_BASE, .file = "b", .text = base, .len = sizeof(base) - 1},
		{.kind = WARD_SOURCE_FLOOR, .file = "f", .text = floor, .len = sizeof(floor) - 1},
		{.kind = WARD_SOURCE_PROJECT,
			.file = "p",
			.text = project,
			.len = sizeof(project) - 1},
	};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_policy *p = NULL;
	const struct ward_quota_limit *l;

	ck_assert_msg(ward_policy_compile(v, 3, &p, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(ward_policy_settings(p)->n_quotas, 2);
	l = ward_policy_settings(p)->quotas[0].limits;
	ck_assert_uint_eq(l[WARD_QUOTA_GROWTH].value, 1 << 30);
	ck_assert_str_eq(l[WARD_QUOTA_GROWTH].place, "b:4");
	ck_assert_uint_eq(l[WARD_QUOTA_FILES].value, 4);
	ck_assert_str_eq(l[WARD_QUOTA_FILES].place, "f:5");
	ck_assert_uint_eq(l[WARD_QUOTA_CHURN].value, 9);
	l = ward_policy_settings(p)->quotas[1].limits;
	ck_assert_uint_eq(l[WARD_QUOTA_GROWTH].value, 1 << 20);
	ward_policy_unref(p);
}
END_TEST

START_TEST(what_is_not_there_yet_is_named)
{
	struct ward_policy *p = policy_of(HEAD
		"[limits]\nper-command = 4m\nrequire = yes\n[container]\nrm = "
		"no\n[home]\nmode = project\n[network]\n"
		"mode = host\n[audit]\nlog = io\nsync = batch\ncheckpoint = 10s\nrotate = 256M\n"
		"keep = 1d\n");
	const struct ward_strings *u = &ward_policy_settings(p)->unavailable;
	static const char *const want[] = {"f:7: [container] rm = no"};
	/* line numbers as above: the text is one statement a line */
	ck_assert_uint_eq(u->n, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < u->n; i++) {
		const char *w = strchr(want[i], '['), *g = strchr(u->v[i], '[');
		ck_assert_str_eq(g, w);
	}
	ck_assert_str_eq(u->v[0], want[0]);
	ward_policy_unref(p);
}
END_TEST

START_TEST(of_several_checkpoints_the_smallest_holds)
{
	struct ward_policy *p = policy_of(HEAD "[audit]\ncheckpoint = 5k\ncheckpoint = 1m\n"
					       "checkpoint = 30\ncheckpoint = 2s\n");
	const struct ward_settings *s = ward_policy_settings(p);
	ck_assert_uint_eq(s->checkpoint_records, 30);
	ck_assert_uint_eq(s->checkpoint_ms, 2000);
	ck_assert_uint_eq(s->unavailable.n, 0);
	ward_policy_unref(p);
}
END_TEST

/* Of several all count, of one source and of two: what one wants out of the trail stays out. */
START_TEST(whatever_is_redacted_stays_so)
{
	static const struct {
		const char *base, *floor;
		bool argv, sni;
	} v[] = {{"", "", false, false}, {"redact = argv\n", "", true, false},
		{"redact = argv\nredact = sni\n", "", true, true},
		{"redact = argv\n", "redact = sni\n", true, true},
		{"redact = sni\n", "redact = argv\n", true, true},
		{"redact = none\n", "redact = sni\nredact = argv\n", true, true},
		{"redact = sni\n", "redact = none\n", false, true}};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		char base[128];
		char floor[128];
		int n = snprintf(base, sizeof(base), HEAD "[audit]\n%s", v[i].base);
		int m = snprintf(floor, sizeof(floor), HEAD "[audit]\n%s", v[i].floor);
		const struct ward_source_text s[] = {{WARD_SOURCE_BASE, "b", base, (size_t)n},
			{WARD_SOURCE_FLOOR, "f", floor, (size_t)m}};
		struct ward_policy *p = NULL;
		struct ward_err err = WARD_ERR_INIT;
		ck_assert_msg(ward_policy_compile(s, 2, &p, &err) == 0, "%zu: %s", i, err.text);
		const struct ward_word_set said = ward_policy_settings(p)->redact;
		ck_assert_msg(ward_word_said(said, WARD_REDACT_ARGV) == v[i].argv, "%zu: argv", i);
		ck_assert_msg(ward_word_said(said, WARD_REDACT_SNI) == v[i].sni, "%zu: sni", i);
		ward_policy_unref(p);
	}
}
END_TEST

/* The floor's stand in front and stay; each is one; `none` counts where nobody names another. */
START_TEST(anchors_add_up)
{
	static const struct {
		const char *base, *floor, *all;
		size_t floors;
	} v[] = {{"", "", "", 0}, {"anchor = none\n", "", "none ", 0},
		{"anchor = none\n", "anchor = exec:/x\n", "exec:/x ", 1},
		{"", "anchor = none\n", "none ", 0},
		{"anchor = syslog\n", "anchor = none\n", "syslog ", 0},
		{"anchor = none\nanchor = syslog\n", "", "syslog ", 0},
		{"anchor = syslog\nanchor = exec:/x\n", "anchor = exec:/x\nanchor = file:/y\n",
			"exec:/x file:/y syslog ", 2}};
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		char base[128];
		char floor[128];
		char all[128] = "";
		int n = snprintf(base, sizeof(base), HEAD "[audit]\n%s", v[i].base);
		int m = snprintf(floor, sizeof(floor), HEAD "[audit]\n%s", v[i].floor);
		const struct ward_source_text s[] = {{WARD_SOURCE_BASE, "b", base, (size_t)n},
			{WARD_SOURCE_FLOOR, "f", floor, (size_t)m}};
		struct ward_policy *p = NULL;
		struct ward_err err = WARD_ERR_INIT;
		ck_assert_msg(ward_policy_compile(s, 2, &p, &err) == 0, "%zu: %s", i, err.text);
		const struct ward_settings *set = ward_policy_settings(p);
		for (size_t k = 0, at = 0; k < set->anchors.n; k++)
			at += (size_t)snprintf(
				all + at, sizeof(all) - at, "%s ", set->anchors.v[k]);
		ck_assert_msg(strcmp(all, v[i].all) == 0, "%zu: %s", i, all);
		ck_assert_uint_eq(set->anchors_floor, v[i].floors);
		ward_policy_unref(p);
	}
}
END_TEST

START_TEST(merging)
{
	static const char base[] = HEAD "[limits]\nwall = 1h\nprocesses = 100\n[audit]\n"
					"log = denials\n[process]\nterminal = yes\n";
	static const char floor[] =
		HEAD "[limits]\nwall = 2h\nprocesses = 50\nfile = 1G\n"
		     "[audit]\nlog = opens\n[process]\nterminal = no\n"
		     "[tree /workspace]\nhardlinks = deny\n[tree /none]\nhardlinks = deny\n";
	static const char project[] = HEAD "[limits]\nwall = 30m\nfile = 2G\n";
	const struct ward_source_text s[] = {
		{WARD_SOURCE_PROJECT, "p", project, sizeof(project) - 1},
		{WARD_SOURCE_BASE, "b", base, sizeof(base) - 1},
		{WARD_SOURCE_FLOOR, "fl", floor, sizeof(floor) - 1},
	};
	struct ward_policy *p = NULL;
	ck_assert_int_eq(ward_policy_compile(s, 3, &p, NULL), 0);
	const struct ward_settings *set = ward_policy_settings(p);
	ck_assert_uint_eq(set->wall_ns, UINT64_C(1800000000000));
	ck_assert_uint_eq(set->processes, 50);
	ck_assert_uint_eq(set->file_size, 1 << 30);
	ck_assert_int_eq(set->log, WARD_LOG_OPENS);
	ck_assert(!set->terminal);
	ck_assert_uint_eq(set->n_trees, 1);
	ck_assert_int_eq(set->trees[0].hardlinks, WARD_HARDLINKS_DENY);
	ward_policy_unref(p);
}
END_TEST

/* The output of `show` loads again and means the same. */
START_TEST(show_loads_again)
{
	static const char base[] =
		HEAD "[tree /b]\nsource = /x/y\n[guard]\ndeny = .env\n"
		     "read = .git/hooks\n[files]\nwrite = /workspace\ndeny = *.key\n"
		     "read = pub.key\nask = /workspace/q\nnoexec = *.sh\n[env]\nset = A=b\n";
	static const char fold[] = HEAD "[guard]\nfold = yes\ndeny = .env\n[files]\nwrite = /\n";
	static const char floor[] =
		HEAD "[files]\nwrite = /workspace\nhide = *.pem\n[limits]\nwall=1h\n";
	static const char mixed[] = HEAD "[files]\nhide = *.pem\nread = /workspace/pub.pem\n";
	const char *bases[] = {base, fold}, *others[] = {NULL, floor, mixed};
	for (size_t i = 0; i < (size_t)2 * 3 * 3; i++) {
		const char *f = others[i / 2 % 3], *j = others[i / 6];
		/* a project file sets no settings of the floor's kind here */
		struct ward_source_text s[3] = {
			{WARD_SOURCE_BASE, "b", bases[i % 2], strlen(bases[i % 2])}};
		size_t n = 1;
		if (f)
			s[n++] = (struct ward_source_text){WARD_SOURCE_FLOOR, "f", f, strlen(f)};
		if (j)
			s[n++] = (struct ward_source_text){WARD_SOURCE_PROJECT, "p", j, strlen(j)};
		struct ward_policy *p = NULL, *q = NULL;
		struct ward_err err = WARD_ERR_INIT;
		ck_assert_int_eq(ward_policy_compile(s, n, &p, NULL), 0);
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ck_assert_int_eq(ward_policy_show(p, &b), 0);
		const struct ward_source_text again = {
			WARD_SOURCE_BASE, "b", ward_buf_str(&b), b.len};
		ck_assert_msg(
			ward_policy_compile(&again, 1, &q, &err) == 0, "%s\n%s", err.text, b.data);
		ck_assert_msg(
			strcmp(ward_policy_digest(p), ward_policy_digest(q)) == 0, "%s", b.data);
		ward_policy_unref(p);
		ward_policy_unref(q);
	}
}
END_TEST

START_TEST(names_of_the_owners_files)
{
	static const struct {
		const char *path, *name;
	} t[] = {
		{"/home/user/proj", "home-user-proj.policy"},
		{"/home/user-proj", "home-user\\x2dproj.policy"},
		{"/a b/.c", "a\\x20b-.c.policy"},
		{"/.hidden", "\\x2ehidden.policy"},
		{"/", "-.policy"},
	};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ck_assert_int_eq(ward_project_file_name(t[i].path, &b), 0);
		ck_assert_str_eq(ward_buf_str(&b), t[i].name);
		ward_buf_clear(&b);
		ck_assert_int_eq(ward_project_file_path(t[i].name, &b), 0);
		ck_assert_str_eq(ward_buf_str(&b), t[i].path);
	}
	static const char *const none[] = {"", ".policy", "x", "x.polic", "a\\x2.policy",
		"a\\xgg.policy", "a\\x00.policy", "a\\.policy", "long-ab.policy"};
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf other = WARD_BUF_INIT;
		ck_assert_msg(ward_project_file_path(none[i], &other) == -EINVAL, "%s", none[i]);
	}
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ck_assert_int_eq(ward_project_file_name("rel", &b), -EINVAL);
	char path[400];
	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = 0;
	ck_assert_int_eq(ward_project_file_name(path, &b), 0);
	ck_assert_uint_lt(b.len, 256);
}
END_TEST

START_TEST(quoted_paths_match_themselves_alone)
{
	static const char *const paths[] = {"/workspace/a*b", "/w/[x]", "/w/a?", "/w/a\\b",
		"/w/{a}", "/w/!a", "/w/a ;b", "/w/ ", "/w/a ", "/w/#x", "/w/;x", "/w/~",
		"/w/\xff\xfe"};
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_buf_puts(&b, HEAD "[files]\nread = ");
		ward_pattern_quote(&b, paths[i], strlen(paths[i]));
		ward_buf_puts(&b, "\n");
		struct ward_policy *p = policy_of(ward_buf_str(&b));
		const struct ward_state *s = NULL;
		ck_assert_int_eq(ward_policy_walk(p, paths[i], strlen(paths[i]), &s), 0);
		ck_assert_msg(ward_policy_rights(p, s), "%s", paths[i]);
		ward_policy_state_put(p, s);
		char other[32];
		snprintf(other, sizeof(other), "%sx", paths[i]);
		ck_assert_int_eq(ward_policy_walk(p, other, strlen(other), &s), 0);
		ck_assert_uint_eq(ward_policy_rights(p, s), 0);
		ward_policy_state_put(p, s);
		ward_policy_unref(p);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_text");
	TCase *t = tcase_create("all");
	tcase_set_timeout(t, 280);
	tcase_add_test(t, lines_that_fit_nothing);
	tcase_add_test(t, lines_that_fit);
	tcase_add_test(t, long_lines);
	tcase_add_test(t, a_file_that_is_too_long);
	tcase_add_test(t, whatever_bytes);
	tcase_add_test(t, patterns_that_are_too_long_together);
	tcase_add_test(t, spellings);
	tcase_add_test(t, values);
	tcase_add_test(t, patterns);
	tcase_add_test(t, project_and_floor_hold_less);
	tcase_add_test(t, defaults);
	tcase_add_test(t, settings_are_filled);
	tcase_add_test(t, quotas);
	tcase_add_test(t, quotas_of_several_sources);
	tcase_add_test(t, what_is_not_there_yet_is_named);
	tcase_add_test(t, of_several_checkpoints_the_smallest_holds);
	tcase_add_test(t, whatever_is_redacted_stays_so);
	tcase_add_test(t, anchors_add_up);
	tcase_add_test(t, merging);
	tcase_add_test(t, show_loads_again);
	tcase_add_test(t, names_of_the_owners_files);
	tcase_add_test(t, quoted_paths_match_themselves_alone);
	suite_add_tcase(s, t);
	return suite_run(s);
}
