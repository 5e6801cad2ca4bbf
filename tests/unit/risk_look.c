/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the gatherers of enforcer/risk find: in policies, and of programs. Each attempt to look
 * better than one is stands beside its control.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/risk/package.h"
#include "enforcer/risk/risk.h"
#include "tests/support/policies.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

#define HEAD "[policy]\nversion = 1\n"
#define OTHER 65534

/* --- policies --- */

static struct ward_risk_facts of_policy(const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_risk_facts f = WARD_RISK_FACTS_INIT;
	ward_buf_printf(&b, HEAD "%s", text);
	struct ward_policy *p = policy_of(ward_buf_str(&b));
	ck_assert_int_eq(ward_risk_look_policy(p, "/data/u", WARD_TRUST_HIGH, &f, NULL), 0);
	ward_policy_unref(p);
	return f;
}

/* What one member is under each of two policies. */
#define TELLS(member, yes, no)                                                                     \
	do {                                                                                       \
		struct ward_risk_facts y = of_policy(yes), n = of_policy(no);                      \
		ck_assert_msg(y.member && !n.member, #member ": %u, %u", (unsigned)y.member,       \
			(unsigned)n.member);                                                       \
		ward_risk_facts_clear(&y);                                                         \
		ward_risk_facts_clear(&n);                                                         \
	} while (0)

#define WRITE "[files]\nwrite = /workspace\n"
#define READ "[files]\nread = /workspace\n"
/* A list of secrets by name, which forgets what lies in directories. */
#define NAMED                                                                                      \
	READ "[guard]\nsecret = .env*\nsecret = .netrc\nsecret = .git-credentials\n"               \
	     "secret = id_*\nsecret = *.key\n"
#define HOME_TREE(source) "[tree /h]\nsource = " source "\nat = none\n[files]\nread = /h\n[guard]\n"
#define ALLOW "[network]\nmode = allowlist\nallow = "

START_TEST(facts_of_policies)
{
	TELLS(writes_project, WRITE, "[files]\nread = /workspace\nwrite = /workspace/src\n");
	TELLS(writes_part, "[files]\nread = /workspace\nwrite = /workspace/src\n", READ);
	TELLS(writes_beyond, "[tree /data]\nsource = /data\n[files]\nwrite = /data\n",
		"[tree /data]\nsource = tmpfs:1M\n[files]\nwrite = /data\n");
	TELLS(host_executes, WRITE,
		WRITE "[guard]\nread = /workspace/.*\nread = /workspace/CLAUDE*\n" READ);
	TELLS(people_run, WRITE, READ);
	TELLS(reads_secrets, READ, READ "[guard]\nsecret = .*\nsecret = id_*\nsecret = *.key\n");
	/* A home holds more than the names at its top. */
	TELLS(reads_secrets, NAMED HOME_TREE("~"), NAMED HOME_TREE("~") "hide = /h/.*\n");
	TELLS(reads_secrets, NAMED HOME_TREE("/data/u/"), NAMED HOME_TREE("/data/u/src"));
	TELLS(reads_secrets, NAMED HOME_TREE("/data"), NAMED HOME_TREE("/data") "hide = /h/u/.*\n");
	TELLS(reads_secrets, NAMED HOME_TREE("/root"), NAMED HOME_TREE("/root/src"));
	TELLS(reads_secrets, NAMED "[system]\nread = /data/u\n",
		NAMED "[system]\nread = /data/ux\n");
	TELLS(reads_secrets, NAMED "[system]\nread = /data\n",
		NAMED "[system]\nread = /data/u/src\n");
	TELLS(runs_written, WRITE, WRITE "[guard]\nnoexec = /workspace\n");
	TELLS(any_program, READ, READ "[process]\nexec = /usr/bin/true\n");
	TELLS(any_program, READ, READ "[process]\nseccomp = no-exec\n");
	TELLS(shows_host, READ "[system]\nview = readonly\n", READ);
	TELLS(anti_patterns, READ "[system]\nread = ~/\n", READ);
	TELLS(passes_secrets, "[env]\npass = GITHUB_TOKEN\n", "[env]\npass = EDITOR\n");
	TELLS(passes_secrets, "[env]\npass = *\n", "[env]\npass = LC_*\n");
	TELLS(passes_secrets, "[env]\nset = API_KEY=x\n", "[env]\nset = KEYBOARD=x\n");
	TELLS(hosts, ALLOW "example.org\n", "[network]\nmode = none\nallow = example.org\n");
	TELLS(wildcards, ALLOW "*.example.org\n", ALLOW "example.org\n");
	TELLS(wildcards, ALLOW "192.0.2.0/24\n", ALLOW "192.0.2.1/32\n");
	TELLS(open_hosts, ALLOW "GitHub.com:443\n", ALLOW "github.com.example.org\n");
	TELLS(open_hosts, ALLOW "*\n", ALLOW "*.example.org\n");
	TELLS(open_hosts, ALLOW "quay.io\n", ALLOW "example.org/udp\n");
	TELLS(ways, ALLOW "example.org\npublish = 8080\n", ALLOW "example.org\n");
	TELLS(limits_where_available, "[limits]\nrequire = where-available\n", "");
}
END_TEST

START_TEST(limits_and_what_is_behind)
{
	struct ward_risk_facts f = of_policy(WRITE
		"[limits]\nwall = 2h\ncpu-time = 10m\nmemory = 1G\ncpus = 1.5\n"
		"[quota /workspace]\ngrowth = 1G\n[agent]\ntools = files, mail\nbudget = 3 EUR\n");
	ck_assert_uint_eq(f.time_ns, UINT64_C(600000000000));
	ck_assert_uint_eq(f.memory, UINT64_C(1) << 30);
	ck_assert_uint_eq(f.cpus, 15);
	ck_assert_uint_eq(f.growth, UINT64_C(1) << 30);
	ck_assert_uint_eq(f.budget, 300);
	ck_assert_uint_eq(f.tools, 1U << WARD_TOOL_FILES | 1U << WARD_TOOL_MAIL);
	ck_assert_str_eq(f.behind[WARD_RISK_WRITES_PROJECT], "f:4  [files] write = /workspace");
	ck_assert_str_eq(f.behind[WARD_RISK_TOOL_MAIL], "f:13 tools = files, mail");
	ward_risk_facts_clear(&f);
	f = of_policy(WRITE);
	ck_assert_uint_eq(f.growth, WARD_UNLIMITED);
	ck_assert_uint_eq(f.time_ns, WARD_UNLIMITED);
	ward_risk_facts_clear(&f);
	/* A command that is never idle runs for ever. */
	f = of_policy(WRITE "[limits]\nidle = 10m\n");
	ck_assert_uint_eq(f.time_ns, WARD_UNLIMITED);
	ward_risk_facts_clear(&f);
	/* A command that can write nothing fills no disk. */
	f = of_policy(READ);
	ck_assert_uint_eq(f.growth, 0);
	/* The facts behind a row are bounded. */
	for (unsigned i = 0; i < 1000; i++)
		ward_risk_behind(&f, WARD_RISK_LIFTS, "/workspace/%u", i);
	ck_assert_uint_le(strlen(f.behind[WARD_RISK_LIFTS]), 2 * WARD_RISK_BEHIND_MAX);
	ward_risk_facts_clear(&f);
}
END_TEST

/* --- packages --- */

static void put(const char *dir, const char *name, const char *text, mode_t mode)
{
	char path[400];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ward_fd_write_all(fd, text, strlen(text)), 0);
	ck_assert_int_eq(fchmod(fd, mode), 0);
}

static char *sub(const char *dir, const char *name, mode_t mode)
{
	char *path = NULL;
	ck_assert_int_gt(asprintf(&path, "%s/%s", dir, name), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
	return path;
}

static void package_is(const char *dir, const char *path, const char *want)
{
	ward_cleanup_free char *got = NULL;
	ck_assert_int_eq(ward_package_find(dir, path, &got), 0);
	ck_assert_msg(want ? got && strcmp(got, want) == 0 : !got, "%s: %s", path, got ? got : "-");
}

START_TEST(lists_of_packages)
{
	char *top = scratch_make();
	if (geteuid() == 0) {
		ward_cleanup_free char *info = sub(top, "info", 0755);
		put(info, "tool.list", "/.\n/usr\n/usr/bin\n/usr/bin/tool\n", 0644);
		put(info, "libx:amd64.list", "/usr/lib/x/helper", 0644);
		put(info, "old.list", "/bin/old\n", 0644);
		put(info, "tool.md5sums", "/usr/bin/sums\n", 0644);
		package_is(info, "/usr/bin/tool", "tool");
		package_is(info, "/usr/lib/x/helper", "libx");
		package_is(info, "/usr/bin/old", "old");
		package_is(info, "/usr/bin/too", NULL);
		package_is(info, "/usr/bin/tool2", NULL);
		package_is(info, "/bin/tool", NULL);
		package_is(info, "/opt/usr/bin/tool", NULL);
		package_is(info, "/usr/bin/sums", NULL);
		/* A list that another user could have written, then only such lists. */
		put(info, "forged.list", "/usr/bin/forged\n", 0644);
		package_is(info, "/usr/bin/forged", "forged");
		put(info, "forged.list", "/usr/bin/forged\n", 0666);
		package_is(info, "/usr/bin/forged", NULL);
		ck_assert_int_eq(chmod(info, 0777), 0);
		package_is(info, "/usr/bin/tool", NULL);
		ck_assert_int_eq(chmod(info, 0755), 0);
		ck_assert_int_eq(chown(info, OTHER, OTHER), 0);
		package_is(info, "/usr/bin/tool", NULL);
	}
	package_is("/nowhere", "/usr/bin/tool", NULL);
	scratch_remove(top);
}
END_TEST

/* --- programs --- */

struct place {
	char *top, *project, *home, *info;
	const char *written[1];
	const struct ward_strings *signers;
};

static void place_make(struct place *p)
{
	p->top = scratch_make();
	ck_assert_int_eq(chmod(p->top, 0755), 0);
	p->project = sub(p->top, "project", 0755);
	p->home = sub(p->top, "home", 0755);
	p->info = sub(p->top, "info", 0755);
	p->written[0] = p->project;
	p->signers = NULL;
}

static void place_free(struct place *p)
{
	free(p->project);
	free(p->home);
	free(p->info);
	scratch_remove(p->top);
}

/* The facts of a command, by words with a space between them. */
static struct ward_risk_facts of_command(struct place *p, const char *words)
{
	static char text[1024];
	char *argv[16] = {NULL};
	struct ward_risk_facts f = WARD_RISK_FACTS_INIT;
	struct ward_err err = WARD_ERR_INIT;
	size_t n = 0;
	snprintf(text, sizeof(text), "%s", words);
	for (char *s = strtok(text, " "); s && n < 15; s = strtok(NULL, " "))
		argv[n++] = s;
	struct ward_risk_command c = {.argv = argv,
		.path = "/usr/bin:/bin",
		.cwd = p->project,
		.home = p->home,
		.owner = geteuid(),
		.written = p->written,
		.n_written = 1,
		.packages = p->info,
		.signers = p->signers};
	clock_gettime(CLOCK_REALTIME, &c.now);
	int r = ward_risk_look_program(&c, &f, &err);
	ck_assert_msg(r == 0, "%s: %s", words, err.text);
	return f;
}

static void origin_is(struct place *p, enum ward_origin want, const char *fmt, const char *arg)
{
	char words[1024];
	snprintf(words, sizeof(words), fmt, arg);
	struct ward_risk_facts f = of_command(p, words);
	ck_assert_msg(f.origin == want, "%s: %d instead of %d", words, f.origin, want);
	ward_risk_facts_clear(&f);
}

/* Does this host have the program that a command begins with? */
static bool there(const char *words)
{
	char path[100];
	snprintf(path, sizeof(path), "/usr/bin/%.*s", (int)strcspn(words, " "), words);
	return access(path, X_OK) == 0;
}

START_TEST(where_programs_come_from)
{
	struct place p;
	char path[400];
	char to[400];
	place_make(&p);
	put(p.project, "x.py", "print(1)\n", 0644);
	put(p.project, "run", "#!/bin/sh\n", 0755);
	put(p.home, "got", "#!/bin/sh\n", 0755);
	ward_cleanup_free char *cargo = sub(p.home, ".cargo", 0755);
	ward_cleanup_free char *bin = sub(cargo, "bin", 0755);
	put(bin, "rg", "#!/bin/sh\n", 0755);
	origin_is(&p, WARD_ORIGIN_UNKNOWN, "no-such-program-%s", "x");
	origin_is(&p, WARD_ORIGIN_PROJECT, "%s", "./run");
	origin_is(&p, WARD_ORIGIN_PROJECT, "%s/run", p.project);
	origin_is(&p, WARD_ORIGIN_MANAGER, "%s/rg", bin);
	/* Interpreters, and what starts commands, count with what they run. */
	origin_is(&p, WARD_ORIGIN_PROJECT, "%s", "sh x.py");
	origin_is(&p, WARD_ORIGIN_PROJECT, "%s", "env A=1 nice -n 5 sh x.py");
	origin_is(&p, WARD_ORIGIN_PROJECT, "%s", "timeout 5 ./run");
	/* An option may take what looks like the command. Others run a file besides the text. */
	static const char *const hidden[] = {"env -u ls ./run", "env -S./run",
		"env --split-string=./run ls", "env LD_PRELOAD=./run ls", "time -o ls ./run",
		"xargs ./run", "find . -exec ./run ;",
		"sh --rcfile=./run -c :", "perl -I. -Mx -e 1", "perl -c x.py", "perl -e 1 -I. -Mx",
		"nice a=b ls", "env ZDOTDIR=. ls", "env HOME=. ls", "make", "env make all",
		"git -c alias.x=!./run x", "python3 -m pytest"};
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (there(hidden[i]))
			origin_is(&p, WARD_ORIGIN_PROJECT, "%s", hidden[i]);
	/* The control: options that take nothing, or a number, hide nothing. */
	static const char *const plain[] = {"ls", "env -i A=B ls", "nice -n 5 ls", "nice -n5 ls",
		"timeout -k 3 --foreground 5 ls", "find . -name x", "sh -eu -c :", "perl -lw -e 1",
		"git status"};
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (there(plain[i])) {
			struct ward_risk_facts none = of_command(&p, plain[i]);
			ck_assert_msg(none.origin != WARD_ORIGIN_PROJECT && !none.unresolved, "%s",
				plain[i]);
			ward_risk_facts_clear(&none);
		}
	/* The control: a text of the caller's is no file. */
	struct ward_risk_facts sh = of_command(&p, "sh"), text = of_command(&p, "sh -c ./run");
	ck_assert_int_eq(sh.origin, text.origin);
	ck_assert_int_ne(sh.origin, WARD_ORIGIN_PROJECT);
	ward_risk_facts_clear(&sh);
	ward_risk_facts_clear(&text);
	/* A link that a session can change leads anywhere. */
	snprintf(path, sizeof(path), "%s/linked", p.project);
	snprintf(to, sizeof(to), "%s/rg", bin);
	ck_assert_int_eq(symlink(to, path), 0);
	origin_is(&p, WARD_ORIGIN_PROJECT, "%s", "./linked");
	snprintf(path, sizeof(path), "%s/linked", p.home);
	ck_assert_int_eq(symlink(to, path), 0);
	origin_is(&p, WARD_ORIGIN_MANAGER, "%s/linked", p.home);
	/* A pipe in the place of a program is not opened. */
	snprintf(path, sizeof(path), "%s/pipe", p.project);
	ck_assert_int_eq(mkfifo(path, 0755), 0);
	origin_is(&p, WARD_ORIGIN_PROJECT, "%s", "./pipe");
	place_free(&p);
}
END_TEST

/* A program that copies itself to where trusted ones lie, and lists that say it belongs there. */
START_TEST(copies_do_not_gain)
{
	struct place p;
	char list[500];
	place_make(&p);
	ward_cleanup_free char *usr = sub(p.project, "usr", 0755);
	ward_cleanup_free char *bin = sub(usr, "bin", 0755);
	put(bin, "git", "#!/bin/sh\n", 0755);
	origin_is(&p, WARD_ORIGIN_PROJECT, "%s/git", bin);
	if (geteuid() == 0) {
		ward_cleanup_free char *system = sub(p.top, "system", 0755);
		put(system, "git", "#!/bin/sh\n", 0755);
		snprintf(list, sizeof(list), "%s/git\n%s/git\n", system, bin);
		origin_is(&p, WARD_ORIGIN_SYSTEM, "%s/git", system);
		put(p.info, "git.list", list, 0644);
		origin_is(&p, WARD_ORIGIN_PACKAGE, "%s/git", system);
		origin_is(&p, WARD_ORIGIN_PROJECT, "%s/git", bin);
		/* Another user's directory on the way. */
		ck_assert_int_eq(chown(system, OTHER, OTHER), 0);
		origin_is(&p, WARD_ORIGIN_DOWNLOAD, "%s/git", system);
		ck_assert_int_eq(chown(system, 0, 0), 0);
		ck_assert_int_eq(chmod(system, 0777), 0);
		origin_is(&p, WARD_ORIGIN_DOWNLOAD, "%s/git", system);
	}
	place_free(&p);
}
END_TEST

START_TEST(who_can_replace_and_how_old)
{
	struct place p;
	char words[400];
	place_make(&p);
	put(p.home, "got", "#!/bin/sh\n", 0755);
	snprintf(words, sizeof(words), "%s/got", p.home);
	struct ward_risk_facts f = of_command(&p, words);
	ck_assert(!f.others_write);
	ck_assert_int_eq(f.age, WARD_AGE_DAY);
	ck_assert(f.program.has_digest);
	ck_assert_uint_eq(f.program.digest[0], 0xa8);
	ward_risk_facts_clear(&f);
	/* Times that a program can set do not count. */
	const struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	ck_assert_int_eq(utimensat(AT_FDCWD, words, old, 0), 0);
	f = of_command(&p, words);
	ck_assert_int_eq(f.age, WARD_AGE_DAY);
	ward_risk_facts_clear(&f);
	ck_assert_int_eq(chmod(p.home, 0777), 0);
	f = of_command(&p, words);
	ck_assert(f.others_write);
	ward_risk_facts_clear(&f);
	ck_assert_int_eq(chmod(p.home, 0755), 0);
	/* One that is large is not read. */
	ck_assert_int_eq(truncate(words, (off_t)WARD_RISK_DIGEST_MAX + 1), 0);
	f = of_command(&p, words);
	ck_assert(!f.program.has_digest);
	ward_risk_facts_clear(&f);
	f = of_command(&p, "npx something");
	ck_assert(f.fetched);
	ward_risk_facts_clear(&f);
	f = of_command(&p, "npm exec something");
	ck_assert(f.fetched);
	ward_risk_facts_clear(&f);
	f = of_command(&p, "npm test");
	ck_assert(!f.fetched);
	ward_risk_facts_clear(&f);
	place_free(&p);
}
END_TEST

/* --- who made it --- */

static void made_is(struct place *p, const char *path, const char *want)
{
	struct ward_risk_facts f = of_command(p, path);
	const char *got = f.program.made_by;
	ck_assert_msg(want ? got && strcmp(got, want) == 0 : !got, "%s: %s", path, got ? got : "-");
	ward_risk_facts_clear(&f);
}

/* Makes each directory of a path beneath top. */
static char *deep(const char *top, const char *path)
{
	ward_cleanup_free char *copy = strdup(path);
	char *at = strdup(top);
	for (char *s = strtok(copy, "/"); s; s = strtok(NULL, "/")) {
		char *next = NULL;
		ck_assert_int_gt(asprintf(&next, "%s/%s", at, s), 0);
		ck_assert(mkdir(next, 0755) == 0 || errno == EEXIST);
		free(at);
		at = next;
	}
	return at;
}

START_TEST(who_made_it)
{
	struct place p;
	char path[600];
	place_make(&p);
	/* npm, with a scope; one that calls itself otherwise; one that a session wrote. */
	ward_cleanup_free char *npm = deep(p.home, "lib/node_modules/@s/tool/dist");
	put(npm, "cli.js", "", 0755);
	snprintf(path, sizeof(path), "%s/cli.js", npm);
	made_is(&p, path, NULL);
	ward_cleanup_free char *package = deep(p.home, "lib/node_modules/@s/tool");
	put(package, "package.json", "{\"name\": \"@s/tool\", \"version\": \"1.2.3\"}", 0644);
	made_is(&p, path, "npm @s/tool 1.2.3");
	struct ward_risk_facts f = of_command(&p, path);
	ck_assert_int_eq(f.origin, WARD_ORIGIN_MANAGER);
	ck_assert_msg(strstr(f.behind[WARD_RISK_FROM_MANAGER], "(npm @s/tool 1.2.3, 0 days ago)"),
		"%s", f.behind[WARD_RISK_FROM_MANAGER]);
	ward_risk_facts_clear(&f);
	put(package, "package.json", "{\"name\": \"@s/git\", \"version\": \"1.2.3\"}", 0644);
	made_is(&p, path, NULL);
	put(package, "package.json", "{\"name\": \"@s/tool\", \"version\": \"1\\n2\"}", 0644);
	made_is(&p, path, NULL);
	put(package, "package.json", "[", 0644);
	made_is(&p, path, NULL);
	ward_cleanup_free char *theirs = deep(p.project, "node_modules/tool");
	put(theirs, "cli.js", "", 0755);
	put(theirs, "package.json", "{\"name\": \"tool\", \"version\": \"1.2.3\"}", 0644);
	snprintf(path, sizeof(path), "%s/cli.js", theirs);
	made_is(&p, path, NULL);
	/* A venv: what RECORD has, and what it does not have. */
	ward_cleanup_free char *bin = deep(p.home, "venv/bin");
	ward_cleanup_free char *venv = deep(p.home, "venv");
	ward_cleanup_free char *dist =
		deep(p.home, "venv/lib/python3.11/site-packages/a_b-4.5.dist-info");
	put(bin, "ab", "", 0755);
	put(bin, "b", "", 0755);
	put(dist, "RECORD", "a_b.py,,\n../../../bin/ab,sha256=x,1\n", 0644);
	snprintf(path, sizeof(path), "%s/ab", bin);
	made_is(&p, path, "pip a_b 4.5");
	put(venv, "pyvenv.cfg", "home = /usr/bin\n", 0644);
	made_is(&p, path, "venv a_b 4.5");
	origin_is(&p, WARD_ORIGIN_MANAGER, "%s", path);
	snprintf(path, sizeof(path), "%s/b", bin);
	made_is(&p, path, NULL);
	origin_is(&p, geteuid() ? WARD_ORIGIN_DOWNLOAD : WARD_ORIGIN_SYSTEM, "%s", path);
	/* pipx */
	put(venv, "pipx_metadata.json",
		"{\"main_package\": {\"package\": \"bee\", \"package_version\": \"6\", \"apps\": [\"b\"]}}",
		0644);
	made_is(&p, path, "pipx bee 6");
	/* A link in the place of what a manager wrote. */
	char from[600];
	char to[600];
	snprintf(from, sizeof(from), "%s/pipx_metadata.json", venv);
	snprintf(to, sizeof(to), "%s/real.json", venv);
	ck_assert_int_eq(rename(from, to), 0);
	ck_assert_int_eq(symlink(to, from), 0);
	made_is(&p, path, NULL);
	/* cargo */
	ward_cleanup_free char *cargo = deep(p.home, ".cargo");
	ward_cleanup_free char *cargo_bin = deep(p.home, ".cargo/bin");
	put(cargo_bin, "rg", "", 0755);
	put(cargo, ".crates2.json",
		"{\"installs\": {\"ripgrep 14.1.0 (registry+https://example.org)\": {\"bins\": [\"rg\"]}}}",
		0644);
	snprintf(path, sizeof(path), "%s/rg", cargo_bin);
	made_is(&p, path, "cargo ripgrep 14.1.0");
	place_free(&p);
}
END_TEST

/* --- signatures --- */

struct signed_by {
	uint8_t id[8], pub[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
	char text[64];
	char *v[1];
	struct ward_strings signers;
};

static void key_make(struct signed_by *k)
{
	uint8_t all[42] = "Ed";
	ck_assert_int_ge(sodium_init(), 0);
	crypto_sign_keypair(k->pub, k->secret);
	memcpy(k->id, "12345678", 8);
	memcpy(all + 2, k->id, 8);
	memcpy(all + 10, k->pub, 32);
	sodium_bin2base64(
		k->text, sizeof(k->text), all, sizeof(all), sodium_base64_VARIANT_ORIGINAL);
	k->v[0] = k->text;
	k->signers = (struct ward_strings){.v = k->v, .n = 1};
}

/* minisign's form of it: hashed, with a signed comment. */
static void sign(const struct signed_by *k, const char *text, char ret[400])
{
	uint8_t digest[64], all[74] = "ED", both[64 + 7], comment[64];
	char first[120], second[120];
	crypto_generichash(digest, sizeof(digest), (const uint8_t *)text, strlen(text), NULL, 0);
	memcpy(all + 2, k->id, 8);
	crypto_sign_detached(all + 10, NULL, digest, sizeof(digest), k->secret);
	memcpy(both, all + 10, 64);
	memcpy(both + 64, "comment", 7);
	crypto_sign_detached(comment, NULL, both, sizeof(both), k->secret);
	sodium_bin2base64(first, sizeof(first), all, sizeof(all), sodium_base64_VARIANT_ORIGINAL);
	sodium_bin2base64(
		second, sizeof(second), comment, sizeof(comment), sodium_base64_VARIANT_ORIGINAL);
	snprintf(ret, 400, "untrusted comment: x\n%s\ntrusted comment: comment\n%s\n", first,
		second);
}

static enum ward_signed_state state_of(struct place *p, const char *path, enum ward_origin *ret)
{
	struct ward_risk_facts f = of_command(p, path);
	enum ward_signed_state s = f.program.sign.state;
	ck_assert_int_eq(f.bad_signature, s == WARD_SIGNED_BAD);
	*ret = f.origin;
	ward_risk_facts_clear(&f);
	return s;
}

/* No bit of the signature, of its key or of the program can be another. */
START_TEST(each_bit_of_a_signature_counts)
{
	static const char text[] = "#!/bin/sh\n";
	struct place p;
	struct signed_by k;
	char good[400];
	char path[400];
	enum ward_origin origin = WARD_ORIGIN_NONE;
	place_make(&p);
	key_make(&k);
	sign(&k, text, good);
	put(p.home, "tool", text, 0755);
	put(p.home, "tool.minisig", good, 0644);
	snprintf(path, sizeof(path), "%s/tool", p.home);
	ck_assert_int_eq(state_of(&p, path, &origin), WARD_SIGNED_NONE);
	ck_assert_int_ne(origin, WARD_ORIGIN_SIGNED);
	p.signers = &k.signers;
	ck_assert_int_eq(state_of(&p, path, &origin), WARD_SIGNED_GOOD);
	ck_assert_int_eq(origin, WARD_ORIGIN_SIGNED);
	/* The text of the untrusted comment is nobody's. */
	const size_t from = strlen("untrusted comment: x");
	for (size_t i = 0; i < strlen(good); i++) {
		char other[400];
		snprintf(other, sizeof(other), "%s", good);
		other[i] ^= 1;
		put(p.home, "tool.minisig", other, 0644);
		enum ward_signed_state s = state_of(&p, path, &origin);
		ck_assert_msg(s == WARD_SIGNED_BAD || s == WARD_SIGNED_FOREIGN ||
				      (i == from - 1 && s == WARD_SIGNED_GOOD),
			"byte %zu: %s", i, ward_signed_word(s));
		ck_assert(s == WARD_SIGNED_GOOD || origin != WARD_ORIGIN_SIGNED);
	}
	/* Each shorter one. */
	for (size_t n = 0; n < strlen(good); n++) {
		char other[400];
		snprintf(other, sizeof(other), "%.*s", (int)n, good);
		put(p.home, "tool.minisig", other, 0644);
		ck_assert_int_eq(state_of(&p, path, &origin), WARD_SIGNED_BAD);
	}
	put(p.home, "tool.minisig", good, 0644);
	ck_assert_int_eq(state_of(&p, path, &origin), WARD_SIGNED_GOOD);
	for (size_t i = 0; i < strlen(text); i++) {
		char other[sizeof(text)];
		memcpy(other, text, sizeof(text));
		other[i] ^= 1;
		put(p.home, "tool", other, 0755);
		ck_assert_int_eq(state_of(&p, path, &origin), WARD_SIGNED_BAD);
	}
	put(p.home, "tool", "", 0755);
	ck_assert_int_eq(state_of(&p, path, &origin), WARD_SIGNED_BAD);
	/* In the project the same bytes are worth nothing. */
	put(p.project, "tool", text, 0755);
	put(p.project, "tool.minisig", good, 0644);
	ck_assert_int_eq(state_of(&p, "./tool", &origin), WARD_SIGNED_GOOD);
	ck_assert_int_eq(origin, WARD_ORIGIN_PROJECT);
	place_free(&p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("risk_look");
	TCase *t = tcase_create("all");
	tcase_add_test(t, facts_of_policies);
	tcase_add_test(t, limits_and_what_is_behind);
	tcase_add_test(t, lists_of_packages);
	tcase_add_test(t, where_programs_come_from);
	tcase_add_test(t, copies_do_not_gain);
	tcase_add_test(t, who_can_replace_and_how_old);
	tcase_add_test(t, who_made_it);
	tcase_add_test(t, each_bit_of_a_signature_counts);
	suite_add_tcase(s, t);
	return suite_run(s);
}
