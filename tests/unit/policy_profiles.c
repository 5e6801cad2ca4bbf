/* SPDX-License-Identifier: Apache-2.0 */
/* What the shipped profiles permit and refuse, and how sources are found on disk. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/load.h"
#include "tests/support/suite.h"

#define DAY_NS UINT64_C(86400000000000)

static char top[] = "/tmp/ward-policy-XXXXXX";
static char project[64], config[64], floor_file[64];

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ward_cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ward_fd_write_all(fd, text, strlen(text)), 0);
}

static void make(const char *dir, const char *name)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void setup(void)
{
	strcpy(top + sizeof(top) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	make(top, "project");
	make(top, "config");
	snprintf(project, sizeof(project), "%s/project", top);
	snprintf(config, sizeof(config), "%s/config", top);
	snprintf(floor_file, sizeof(floor_file), "%s/floor.policy", top);
}

static void teardown(void)
{
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", top);
	ck_assert_int_eq(system(command), 0);
}

static struct ward_policy *load(const char *policy, struct ward_err *err)
{
	ward_cleanup_fd int fd = open(project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct ward_load l = {.policy = policy,
		.config_home = config,
		.tree_fd = fd,
		.tree_path = project,
		.floor = floor_file};
	struct ward_policy *p = NULL;
	*err = WARD_ERR_INIT;
	int r = ward_policy_load(&l, &p, err);
	ck_assert_int_eq(r, p ? 0 : err->code);
	return p;
}

static struct ward_policy *loaded(const char *policy)
{
	struct ward_err err;
	struct ward_policy *p = load(policy, &err);
	ck_assert_msg(p != NULL, "%s", err.text);
	return p;
}

static bool can_of(
	const struct ward_policy *p, uint32_t want, const char *path, enum ward_fact fact)
{
	const struct ward_state *s = NULL;
	ck_assert_int_eq(ward_policy_walk(p, path, strlen(path), &s), 0);
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = want, .state = s, .fact = fact};
	struct ward_decision d = ward_policy_decide(p, &req, NULL);
	ward_policy_state_put(p, s);
	return d.verdict == WARD_VERDICT_ALLOW;
}

static bool can(const struct ward_policy *p, uint32_t want, const char *path)
{
	return can_of(p, want, path, WARD_FACT_THERE);
}

static void writable(const struct ward_policy *p, const char *const *paths)
{
	for (; *paths; paths++)
		ck_assert_msg(can(p, WARD_RIGHTS_ALL, *paths), "%s cannot be written", *paths);
}

/* Readable, but not to be written. */
static void readable(const struct ward_policy *p, const char *const *paths)
{
	for (; *paths; paths++) {
		ck_assert_msg(can(p, WARD_RIGHT_READ, *paths), "%s cannot be read", *paths);
		ck_assert_msg(!can(p, WARD_RIGHT_WRITE, *paths), "%s can be written", *paths);
		ck_assert_msg(!can(p, WARD_RIGHT_CREATE, *paths), "%s can be made", *paths);
		ck_assert_msg(!can(p, WARD_RIGHT_REMOVE, *paths), "%s can be removed", *paths);
	}
}

static void denied(const struct ward_policy *p, const char *const *paths)
{
	for (; *paths; paths++) {
		ck_assert_msg(can(p, WARD_RIGHT_STAT, *paths), "%s is hidden", *paths);
		ck_assert_msg(!can(p, WARD_RIGHT_READ, *paths), "%s can be read", *paths);
		ck_assert_msg(!can(p, WARD_RIGHT_CREATE, *paths), "%s can be made", *paths);
	}
}

/* Files from before the session are hidden, and refused if git has them. */
static void secret(const struct ward_policy *p, const char *const *paths, uint32_t else_)
{
	for (; *paths; paths++) {
		ck_assert_msg(!can(p, WARD_RIGHT_STAT, *paths), "%s is visible", *paths);
		ck_assert_msg(can_of(p, WARD_RIGHT_STAT, *paths, WARD_FACT_DIFFERS),
			"%s is hidden where it differs", *paths);
		ck_assert_msg(!can_of(p, WARD_RIGHT_READ, *paths, WARD_FACT_DIFFERS),
			"%s can be read where it differs", *paths);
		ck_assert_msg(can_of(p, else_, *paths, WARD_FACT_COMMITTED),
			"%s cannot be used where it is committed", *paths);
		ck_assert_msg(can_of(p, else_, *paths, WARD_FACT_OWN),
			"%s cannot be used where it is the session's", *paths);
	}
}

static void hidden(const struct ward_policy *p, const char *const *paths)
{
	for (; *paths; paths++)
		ck_assert_msg(!can(p, WARD_RIGHT_STAT, *paths), "%s is visible", *paths);
}

static const char *const work[] = {"/workspace/src/a.c", "/workspace", "/workspace/.git/index",
	"/workspace/.git/HEAD", "/workspace/.git/objects/aa/bb",
	"/workspace/.git/rebase-merge/git-rebase-todo", "/workspace/.git/sequencer/todo",
	"/workspace/.git/worktrees/new/commondir", "/workspace/.gitignore",
	"/workspace/.github/workflows/ci.yml", "/workspace/AGENTS.md",
	"/workspace/node_modules/.bin/x", "/workspace/node_modules/p/test/key.pem",
	"/workspace/.venv/lib/python3/site-packages/certifi/cacert.pem", "/workspace/.env.example",
	"/workspace/.env.sample", "/workspace/.env.template", "/workspace/.env.example.tmp",
	"/workspace/.env.sample~", "/workspace/.env.template.de", "/workspace/.environment",
	"/workspace/env", "/workspace/x.env.md", "/workspace/sub/.vscode/tasks.json",
	"/workspace/environment", "/workspace/keys.c", "/workspace/sub/.npmrc",
	"/workspace/sub/.yarnrc.yml", "/workspace/.aws/task-definition.json",
	"/workspace/.azure/config.json", "/workspace/.config/gh/config.yml",
	"/workspace/.docker/Dockerfile", "/workspace/.kube/config.d/a", "/workspace/auth.json",
	"/workspace/.dev.vars2", NULL};
static const char *const secrets[] = {"/workspace/.env", "/workspace/a/b/.env",
	"/workspace/.env.local", "/workspace/.env.production", "/workspace/.env.test",
	"/workspace/.env.staging", "/workspace/.env.e2e", "/workspace/.env.", "/workspace/.env.e",
	"/workspace/.env.ex", "/workspace/.env.extra", "/workspace/.env.exam",
	"/workspace/.env.exampl", "/workspace/.env.examplx", "/workspace/.env.s",
	"/workspace/.env.sandbox", "/workspace/.env.sampl", "/workspace/.env.t",
	"/workspace/.env.te", "/workspace/.env.team", "/workspace/.env.temp",
	"/workspace/.env.templat", "/workspace/.env.Example", "/workspace/.env~",
	"/workspace/.env.swp", "/workspace/..env.swp", "/workspace/..env.local.swp",
	"/workspace/.env.local~", "/workspace/#.env#", "/workspace/.ENV", "/workspace/.Env.local",
	"/workspace/.ENV.EXAMPLE", "/workspace/tls/server.pem", "/workspace/tls/server.key",
	"/workspace/id_rsa", "/workspace/deploy/id_ed25519", "/workspace/.netrc",
	"/workspace/.git-credentials", "/workspace/.aws/credentials",
	"/workspace/a/.aws/sso/cache/x.json", "/workspace/.azure/msal_token_cache.bin",
	"/workspace/sub/.cargo/credentials.toml", "/workspace/.config/gcloud/access_tokens.db",
	"/workspace/gcp/application_default_credentials.json", "/workspace/.config/gh/hosts.yml",
	"/workspace/.config/git/credentials", "/workspace/.docker/config.json",
	"/workspace/a/b/.kube/config", "/workspace/.dev.vars", "/workspace/.dev.vars.production",
	"/workspace/.streamlit/secrets.toml", "/workspace/.terraform.d/credentials.tfrc.json",
	NULL};
static const char *const executed[] = {"/workspace/.vscode/tasks.json", "/workspace/.vscode",
	"/workspace/.envrc", "/workspace/.husky/pre-commit", "/workspace/.cargo/config.toml",
	"/workspace/.mcp.json", "/workspace/.npmrc", "/workspace/.wardfs.policy",
	"/workspace/.gemini/settings.json", "/workspace/.opencode/plugin",
	"/workspace/opencode.json", "/workspace/.aider.conf.yml", NULL};
static const char *const git[] = {"/workspace/.git/hooks/pre-commit", "/workspace/.git/hooks",
	"/workspace/.git/config", "/workspace/.git/config.worktree", "/workspace/.git/commondir",
	"/workspace/.git/info/attributes", NULL};

/* Everything but execution. */
static void rights_of_data(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = NULL;
	ck_assert_int_eq(ward_policy_walk(p, path, strlen(path), &s), 0);
	ck_assert_uint_eq(ward_policy_rights(p, s), WARD_RIGHTS_ALL & ~(uint32_t)WARD_RIGHT_EXEC);
	ward_policy_state_put(p, s);
}

START_TEST(medium_guards_the_project)
{
	struct ward_policy *p = loaded("medium");
	writable(p, work);
	secret(p, secrets, WARD_RIGHTS_ALL);
	readable(p, executed);
	/* no repository yet: git init must be able to make one */
	writable(p, git);
	hidden(p, (const char *const[]){"/etc/passwd", "/host-home/x", "/other", NULL});
	ck_assert_uint_eq(ward_policy_settings(p)->unavailable.n, 0);
	ck_assert_uint_eq(ward_policy_settings(p)->processes, 2048);
	ck_assert_uint_eq(ward_policy_settings(p)->wall_ns, UINT64_C(43200000000000));
	ck_assert_uint_ne(ward_policy_settings(p)->memory, WARD_UNLIMITED);
	ck_assert_int_eq(ward_policy_settings(p)->net, WARD_NET_NONE);
	ward_policy_unref(p);
}
END_TEST

START_TEST(medium_guards_repositories_that_are_there)
{
	make(project, ".git");
	put(project, ".git/HEAD", "ref: refs/heads/main\n");
	put(project, ".git/config", "");
	make(project, ".git/worktrees");
	make(project, ".git/worktrees/old*");
	put(project, ".git/worktrees/old*/HEAD", "");
	make(project, ".git/modules");
	make(project, ".git/modules/group");
	make(project, ".git/modules/group/lib");
	put(project, ".git/modules/group/lib/HEAD", "");
	struct ward_policy *p = loaded("medium");
	writable(p, work);
	readable(p, git);
	readable(p, (const char *const[]){"/workspace/.git/worktrees/old*/commondir",
			    "/workspace/.git/worktrees/old*/gitdir",
			    "/workspace/.git/modules/group/lib/config",
			    "/workspace/.git/modules/group/lib/hooks/post-checkout", NULL});
	writable(p,
		(const char *const[]){"/workspace/.git/worktrees/older/commondir",
			"/workspace/.git/modules/group/new/config",
			"/workspace/.git/modules/group/lib/HEAD",
			"/workspace/.git/refs/heads/config", "/workspace/clone/.git/config", NULL});
	/* also without its HEAD: a session before may have taken it away */
	char head[96];
	snprintf(head, sizeof(head), "%s/.git/HEAD", project);
	ck_assert_int_eq(unlink(head), 0);
	ward_policy_unref(p);
	p = loaded("medium");
	readable(p, git);
	/* nor can the top become a repository of its own beside it */
	readable(p, (const char *const[]){"/workspace/HEAD", NULL});
	writable(p, (const char *const[]){"/workspace/objects/a", "/workspace/refs/a",
			    "/workspace/config", "/workspace/sub/HEAD", NULL});
	put(project, "HEAD", "a file of the project");
	make(project, "refs");
	ward_policy_unref(p);
	p = loaded("medium");
	readable(p, (const char *const[]){
			    "/workspace/HEAD", "/workspace/commondir", "/workspace/objects", NULL});
	writable(p, (const char *const[]){"/workspace/refs/a", "/workspace/config", NULL});
	ward_policy_unref(p);
	/* also where a file of the owner's extends it */
	put(top, "own.policy",
		"[policy]\nversion = 1\nextends = medium\n[files]\nread = /workspace/src\n");
	char own[80];
	snprintf(own, sizeof(own), "%s/own.policy", top);
	p = loaded(own);
	readable(p, git);
	readable(p, (const char *const[]){"/workspace/src/a.c", NULL});
	writable(p, (const char *const[]){"/workspace/lib/a.c", NULL});
	ward_policy_unref(p);
	/* and low, whose workspace is empty, has no repository to guard */
	p = loaded("low");
	for (const char *const *path = git; *path; path++)
		rights_of_data(p, *path);
	ward_policy_unref(p);
}
END_TEST

START_TEST(medium_guards_nested_repositories)
{
	make(project, "vendor");
	make(project, "vendor/lib");
	make(project, "vendor/lib/.git");
	make(project, "vendor/lib/.git/modules");
	make(project, "vendor/lib/.git/modules/m");
	put(project, "vendor/lib/.git/modules/m/HEAD", "");
	make(project, "vendor/sub");
	put(project, "vendor/sub/.git", "gitdir: /elsewhere/sub\n");
	make(project, "x.git");
	put(project, "x.git/HEAD", "");
	make(project, "x.git/refs");
	make(project, "x.git/objects");
	make(project, "plain");
	put(project, "plain/config", "");
	struct ward_policy *p = loaded("medium");
	readable(p,
		(const char *const[]){"/workspace/vendor/lib/.git/config",
			"/workspace/vendor/lib/.git/hooks/x",
			"/workspace/vendor/lib/.git/modules/m/config", "/workspace/vendor/sub/.git",
			"/workspace/x.git/config", "/workspace/x.git/hooks", NULL});
	writable(p, (const char *const[]){"/workspace/vendor/lib/.git/HEAD",
			    "/workspace/vendor/lib/a.c", "/workspace/vendor/sub/a.c",
			    "/workspace/x.git/refs/heads/x", "/workspace/plain/config",
			    "/workspace/new/.git/config", "/workspace/.git/config", NULL});
	ward_policy_unref(p);
}
END_TEST

/* n directories one in the other, named d, and in the last of them `wide` more. */
static void make_chain(const char *dir, unsigned n, unsigned wide)
{
	ward_cleanup_fd int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (n--) {
		ck_assert(mkdirat(at, "d", 0700) == 0 || errno == EEXIST);
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_ge(next, 0);
		close(at);
		at = next;
	}
	for (unsigned i = 0; i < wide; i++) {
		char name[16];
		snprintf(name, sizeof(name), "w%u", i);
		ck_assert_int_eq(mkdirat(at, name, 0700), 0);
	}
}

START_TEST(where_the_search_ends_new_repositories_are_guarded_too)
{
	make(project, "a");
	make_chain(project, 70, 0);
	struct ward_policy *p = loaded("medium");
	ward_cleanup(ward_buf_clear) struct ward_buf deep = WARD_BUF_INIT;
	ward_buf_puts(&deep, "/workspace");
	for (unsigned i = 0; i < 70; i++)
		ward_buf_puts(&deep, "/d");
	ward_buf_puts(&deep, "/x/.git/config");
	readable(p, (const char *const[]){ward_buf_str(&deep), NULL});
	writable(p, (const char *const[]){
			    "/workspace/a/.git/config", "/workspace/d/d/x/.git/config", NULL});
	ward_policy_unref(p);
	/* more such places than are guarded one by one: all over the tree then */
	make_chain(project, 64, 64);
	p = loaded("medium");
	readable(p, (const char *const[]){"/workspace/a/.git/config", "/workspace/b/.git/hooks/x",
			    "/workspace/b/.git/modules/x/y/config", NULL});
	writable(p, (const char *const[]){"/workspace/a/.git/HEAD", "/workspace/b/config", NULL});
	ward_policy_unref(p);
}
END_TEST

/* What the configuration names, from forms that git writes and forms that people write. */
START_TEST(medium_guards_what_git_configurations_name)
{
	make(project, ".git");
	make(project, ".git/objects");
	put(project, ".git/HEAD", "ref: refs/heads/main\n");
	put(project, ".git/config",
		"\xef\xbb\xbf[core]\r\n\tbare = false\r\n\tHooksPath = \"my \\\"hooks\\\"\" ; x\n"
		"# [core] hooksPath = no\n"
		"[include] path = ../a.inc\n"
		"[includeIf \"gitdir:~/x]\\\"\"]\n\tpath = ..\\\n/b.inc\n"
		"[filter.old]clean=sh tools/clean.sh \\\"%f\\\"\n"
		"[diff \"x\"]\n\ttextconv = $(git rev-parse --show-toplevel)/tools/conv -x\n"
		"[alias]\n\tst = status\n\tgo = \"!f() { ./bin/go; }; f\"\n"
		"[core]\n\tbare\n\tsshCommand = ./missing/ssh -v\n"
		"[remote \"origin\"]\n\turl = ./src\n\tfetch = +refs/heads/*:refs/remotes/*\n"
		"[user]\n\tname = src\n");
	put(project, "a.inc", "[include]\npath = c.inc\n[include]\npath = a.inc2\n");
	put(project, "b.inc", "");
	put(project, "status", "");
	make(project, "tools");
	put(project, "tools/clean.sh", "");
	put(project, "tools/conv", "");
	make(project, "bin");
	put(project, "bin/go", "");
	struct ward_policy *p = loaded("medium");
	readable(p, (const char *const[]){"/workspace/my \"hooks\"/pre-commit", "/workspace/a.inc",
			    "/workspace/b.inc", "/workspace/c.inc", "/workspace/a.inc2",
			    "/workspace/tools/clean.sh", "/workspace/tools/conv",
			    "/workspace/bin/go", "/workspace/missing", NULL});
	writable(
		p, (const char *const[]){"/workspace/src/a.c", "/workspace/no", "/workspace/status",
			   "/workspace/tools/other", "/workspace/bin/x", "/workspace/refs", NULL});
	ward_policy_unref(p);

	/* files that include each other are refused, as git does; what git cannot read is not */
	struct ward_err err;
	put(project, "c.inc", "[include]\npath = a.inc\n");
	ck_assert_ptr_null(load("medium", &err));
	ck_assert_int_eq(err.code, -E2BIG);
	put(project, "c.inc", "[core]\nhooksPath = h\n[broken\n[core]\neditor = ./e\n");
	p = loaded("medium");
	readable(p, (const char *const[]){"/workspace/h", NULL});
	writable(p, (const char *const[]){"/workspace/e", NULL});
	ward_policy_unref(p);
}
END_TEST

START_TEST(a_git_file_and_a_bare_repository)
{
	put(project, ".git", "gitdir: /elsewhere\n");
	struct ward_policy *p = loaded("medium");
	readable(p, (const char *const[]){"/workspace/.git", NULL});
	ward_policy_unref(p);
	char path[96];
	snprintf(path, sizeof(path), "%s/.git", project);
	ck_assert_int_eq(unlink(path), 0);
	make(project, "refs");
	p = loaded("medium");
	writable(p, (const char *const[]){
			    "/workspace/config", "/workspace/hooks", "/workspace/HEAD", NULL});
	ward_policy_unref(p);
	make(project, "objects");
	p = loaded("medium");
	readable(p, (const char *const[]){"/workspace/config", "/workspace/hooks/x", NULL});
	ward_policy_unref(p);
}
END_TEST

START_TEST(low_is_empty_and_high_shows_the_home)
{
	struct ward_policy *p = loaded("low");
	const struct ward_settings *s = ward_policy_settings(p);
	ck_assert_uint_eq(s->n_trees, 1);
	ck_assert_uint_eq(s->trees[0].tmpfs_size, UINT64_C(256) << 20);
	rights_of_data(p, "/workspace/.env");
	rights_of_data(p, "/workspace/a");
	ck_assert(ward_policy_has_programs(p));
	hidden(p, (const char *const[]){"/host-home", "/etc", NULL});
	ck_assert_uint_eq(s->unavailable.n, 0);
	ward_policy_unref(p);

	p = loaded("high");
	s = ward_policy_settings(p);
	ck_assert_uint_eq(s->n_trees, 2);
	ck_assert_str_eq(s->trees[0].path, "/host-home");
	ck_assert_str_eq(s->trees[0].source, "~");
	ck_assert_uint_eq(s->unavailable.n, 0);
	writable(p, work);
	secret(p, secrets, WARD_RIGHTS_ALL);
	readable(p, executed);
	readable(p,
		(const char *const[]){"/host-home/notes.txt", "/host-home/.bashrc",
			"/host-home/.cargo/bin/cargo", "/host-home/.config/nvim/init.lua", NULL});
	hidden(p, (const char *const[]){"/host-home/.ssh/id_rsa", "/host-home/.ssh",
			  "/host-home/.gnupg", "/host-home/.aws/credentials",
			  "/host-home/.kube/config", "/host-home/.config/gcloud/x",
			  "/host-home/.docker/config.json",
			  "/host-home/.mozilla/firefox/x/logins.json", "/host-home/.bash_history",
			  "/host-home/.local/share/keyrings/x", "/host-home/.config/x/access_token",
			  "/host-home/deep/a.pem", "/host-home/.config/wardfs/projects/x",
			  "/host-home/.local/share/wardfs/agents/claude/x", NULL});
	secret(p, (const char *const[]){"/host-home/other/.env", NULL}, WARD_RIGHT_READ);
	ward_policy_unref(p);
}
END_TEST

static bool reached(const struct ward_policy *p, const char *host_port)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	return ward_policy_connect(p, host_port, &place, &text) == WARD_VERDICT_ALLOW;
}

START_TEST(agents_have_what_medium_gives_and_their_provider)
{
	static const struct {
		const char *name, *host, *kept; /* NULL: none */
		const char *instructs[8];
	} agents[] = {
		{"claude", "api.anthropic.com:443", "/var/agent/claude/.claude.json",
			{"/var/agent/claude/settings.json", "/var/agent/claude/rules/all.md",
				"/var/agent/claude/CLAUDE.local.md", "/var/agent/claude/loop.md",
				"/var/agent/claude/statusline.sh", NULL}},
		{"codex", "api.openai.com:443", "/var/agent/codex/auth.json",
			{"/var/agent/codex/config.toml", "/var/agent/codex/p.config.toml",
				"/var/agent/codex/AGENTS.md", "/var/agent/codex/AGENTS.override.md",
				"/var/agent/codex/agents/a.toml", NULL}},
		{"gemini", "generativelanguage.googleapis.com:443",
			"/var/agent/gemini/.gemini/oauth_creds.json",
			{"/var/agent/gemini/.gemini/settings.json",
				"/var/agent/gemini/.agents/skills/s/SKILL.md", NULL}},
		{"opencode", "models.dev:443", "/var/agent/opencode/data/opencode/auth.json",
			{"/var/agent/opencode/config/opencode/opencode.json",
				"/var/agent/opencode/config/opencode/tui.json", NULL}},
		{"aider", "api.openai.com:443", NULL, {NULL}},
		{"agent", NULL, "/var/agent/agent/data/x", {NULL}},
	};
	for (size_t i = 0; i < sizeof(agents) / sizeof(*agents); i++) {
		struct ward_policy *p = loaded(agents[i].name);
		writable(p, work);
		secret(p, secrets, WARD_RIGHTS_ALL);
		readable(p, executed);
		hidden(p, (const char *const[]){"/etc/passwd", "/var/agent/other/x", "/x", NULL});
		if (agents[i].kept)
			writable(p, (const char *const[]){agents[i].kept, NULL});
		readable(p, agents[i].instructs);
		if (agents[i].host)
			ck_assert_msg(reached(p, agents[i].host), "%s", agents[i].name);
		ck_assert_msg(!reached(p, "example.org:443"), "%s", agents[i].name);
		ck_assert_msg(!reached(p, "169.254.169.254:443"), "%s", agents[i].name);
		ck_assert_uint_eq(ward_policy_settings(p)->unavailable.n, 0);
		/* what ends a runaway, and neither a weekend nor a day's work */
		ck_assert_uint_ne(ward_policy_settings(p)->memory, WARD_UNLIMITED);
		ck_assert_uint_ge(ward_policy_settings(p)->cpu_time_ns, 2 * DAY_NS);
		ck_assert_uint_ne(ward_policy_settings(p)->cpu_time_ns, WARD_UNLIMITED);
		ck_assert_uint_eq(ward_policy_settings(p)->wall_ns, 30 * DAY_NS);
		ck_assert_uint_eq(ward_policy_settings(p)->idle_ns, 7 * DAY_NS);
		ward_policy_unref(p);
	}
}
END_TEST

/* A stand-in for medium: as the default, and for an owner's file that extends it; never else. */
START_TEST(a_profile_stands_in_for_medium)
{
	ward_cleanup_fd int fd = open(project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct ward_load l = {.stand_in = "claude",
		.config_home = config,
		.tree_fd = fd,
		.tree_path = project,
		.floor = floor_file};
	static const struct {
		const char *policy, *own; /* the owner's file */
		bool reaches, denies;
	} cases[] = {{NULL, NULL, true, false},
		{NULL, "extends = medium\n[guard]\ndeny = own\n", true, true},
		{NULL, "extends = agent\n[guard]\ndeny = own\n", false, true},
		{NULL, "[files]\nwrite = /workspace\n[guard]\ndeny = own\n", false, true},
		{NULL, "extends = medium\n[network]\nmode = none\n", false, false},
		{"medium", NULL, false, false}};
	char name[300], dir[128];
	ward_cleanup(ward_buf_clear) struct ward_buf file = WARD_BUF_INIT;
	ck_assert_int_eq(ward_project_file_name(project, &file), 0);
	snprintf(dir, sizeof(dir), "%s/wardfs", config);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	snprintf(dir, sizeof(dir), "%s/wardfs/projects", config);
	ck_assert_int_eq(mkdir(dir, 0700), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ward_policy *p = NULL;
		char text[200];
		snprintf(name, sizeof(name), "%s/%s", dir, ward_buf_str(&file));
		unlink(name);
		snprintf(text, sizeof(text), "[policy]\nversion = 1\n%s",
			cases[i].own ? cases[i].own : "");
		if (cases[i].own)
			put(dir, ward_buf_str(&file), text);
		l.policy = cases[i].policy;
		ck_assert_int_eq(ward_policy_load(&l, &p, NULL), 0);
		ck_assert_msg(reached(p, "api.anthropic.com:443") == cases[i].reaches, "%zu", i);
		ck_assert_msg(
			can(p, WARD_RIGHT_READ, "/workspace/own") != cases[i].denies, "%zu", i);
		ward_policy_unref(p);
	}
}
END_TEST

struct counts {
	unsigned all, reach;
};

static void count(void *user, const struct ward_finding *f)
{
	struct counts *c = user;
	c->all++;
	c->reach += f->about == WARD_ABOUT_REACH;
}

START_TEST(profiles_are_without_fault)
{
	size_t n = 0;
	for (const char *name; (name = ward_profile_name(n)); n++) {
		struct ward_policy *p = NULL;
		struct counts found = {0};
		/* It has the network, and check says so. */
		unsigned reach = strcmp(name, "high") == 0;
		ck_assert_int_eq(ward_policy_load_alone(name, &p, NULL), 0);
		ck_assert_int_eq(ward_policy_check(p, count, &found), 0);
		ck_assert_msg(found.all == reach && found.reach == reach, "%s", name);
		ck_assert_str_eq(ward_policy_settings(p)->name, name);
		ward_policy_unref(p);
	}
	ck_assert_uint_eq(n, 10);
}
END_TEST

START_TEST(sources_are_found)
{
	/* the owner's file for this project, the floor, the project's own */
	make(config, "wardfs");
	make(config, "wardfs/projects");
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	ward_buf_puts(&name, "wardfs/projects/");
	ck_assert_int_eq(ward_project_file_name(project, &name), 0);
	static const char *const src[] = {"/workspace/a", NULL};
	struct ward_policy *p = loaded(NULL);
	writable(p, src); /* medium */
	ward_policy_unref(p);
	put(config, ward_buf_str(&name),
		"[policy]\nversion = 1\n[files]\nwrite = /workspace\n"
		"read = /workspace/a\n");
	p = loaded(NULL);
	readable(p, src);
	ward_policy_unref(p);
	p = loaded("medium");
	writable(p, src);
	ward_policy_unref(p);
	put(project, ".wardfs.policy", "[policy]\nversion = 1\n[files]\nhide = *.x\n");
	put(top, "floor.policy", "[policy]\nversion = 1\n[guard]\ndeny = *.y\n");
	p = loaded("medium");
	hidden(p, (const char *const[]){"/workspace/a.x", NULL});
	denied(p, (const char *const[]){"/workspace/a.y", NULL});
	writable(p, src);
	ward_policy_unref(p);
}
END_TEST

START_TEST(what_cannot_be_loaded)
{
	struct ward_err err;
	ck_assert_ptr_null(load("mediun", &err));
	ck_assert_str_eq(err.text,
		"mediun: neither a file nor a shipped profile (low, medium, high, agent, aider, "
		"claude, codex, convention, gemini, opencode): "
		"did you mean medium?");
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_ptr_null(load("/nonexistent/x.policy", &err));
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_ptr_null(load("/tmp", &err));
	ck_assert_int_eq(err.code, -EISDIR);

	/* a project file that is no file: refused, not left out */
	char path[96];
	snprintf(path, sizeof(path), "%s/.wardfs.policy", project);
	ck_assert_int_eq(symlink("/dev/null", path), 0);
	ck_assert_ptr_null(load("medium", &err));
	ck_assert_int_eq(err.code, -ELOOP);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_ptr_null(load("medium", &err));
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_int_eq(unlink(path), 0);
	put(project, ".wardfs.policy", "[policy]\nversion = 1\n[tree /x]\nsource = /\n");
	ck_assert_ptr_null(load("medium", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "/project/.wardfs.policy:3: a project file cannot"));

	/* extends: one level, and it must be there */
	put(project, ".wardfs.policy", "[policy]\nversion = 1\n");
	put(top, "a.policy", "[policy]\nversion = 1\nextends = b.policy\n");
	put(top, "b.policy", "[policy]\nversion = 1\n[files]\nwrite = /workspace\n");
	char a[96];
	snprintf(a, sizeof(a), "%s/a.policy", top);
	static const char *const src[] = {"/workspace/a", NULL};
	struct ward_policy *p = loaded(a);
	writable(p, src);
	ward_policy_unref(p);
	put(top, "b.policy", "[policy]\nversion = 1\nextends = medium\n");
	ck_assert_ptr_null(load(a, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "b.policy:3: this file cannot extend another one"));
	put(top, "a.policy", "[policy]\nversion = 1\nextends = c.policy\n");
	ck_assert_ptr_null(load(a, &err));
	ck_assert_int_eq(err.code, -ENOENT);
}
END_TEST

START_TEST(sources_of_trees)
{
	static const struct {
		const char *source, *want;
	} t[] = {{".", "/p"}, {"./a", "/p/a"}, {"a/b", "/p/a/b"}, {"~", "/h"}, {"~/x", "/h/x"},
		{"/abs", "/abs"}};
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ck_assert_int_eq(ward_tree_source_resolve(t[i].source, "/h", "/p", &b, NULL), 0);
		ck_assert_str_eq(ward_buf_str(&b), t[i].want);
	}
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ck_assert_int_eq(ward_tree_source_resolve("~", NULL, "/p", &b, NULL), -EINVAL);
	ck_assert_int_eq(ward_tree_source_resolve(".", "/h", NULL, &b, NULL), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy_profiles");
	TCase *t = tcase_create("all");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, medium_guards_the_project);
	tcase_add_test(t, medium_guards_repositories_that_are_there);
	tcase_add_test(t, medium_guards_nested_repositories);
	tcase_add_test(t, where_the_search_ends_new_repositories_are_guarded_too);
	tcase_add_test(t, medium_guards_what_git_configurations_name);
	tcase_add_test(t, a_git_file_and_a_bare_repository);
	tcase_add_test(t, low_is_empty_and_high_shows_the_home);
	tcase_add_test(t, agents_have_what_medium_gives_and_their_provider);
	tcase_add_test(t, a_profile_stands_in_for_medium);
	tcase_add_test(t, profiles_are_without_fault);
	tcase_add_test(t, sources_are_found);
	tcase_add_test(t, what_cannot_be_loaded);
	tcase_add_test(t, sources_of_trees);
	suite_add_tcase(s, t);
	return suite_run(s);
}
