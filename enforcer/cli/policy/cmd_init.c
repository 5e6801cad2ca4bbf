/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs init: begins the owner's policy file for the project, with the reasons as comments. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/init_git.h"
#include "enforcer/session/owner/git_tracked.h"

struct args {
	bool force, dry;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	(void)arg;
	switch (key) {
	case 'f':
		a->force = true;
		return 0;
	case 'n':
		a->dry = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"force", 'f', NULL, 0, "Replace the file that is there", 0},
	{"dry-run", 'n', NULL, 0, "Print what would be written, write nothing", 0},
	{0},
};
static const struct argp argp = {options, parse, NULL,
	"Writes a first policy for the project around the current directory, with a comment for each "
	"line, into your file for it, and prints it. The project itself is not changed.\v"
	"Exit status: 0 written, 2 usage, or there is one already.",
	NULL, NULL, NULL};

/* What a project is known by, and what that means for its policy. */
static const struct kind {
	const char *name;
	const char *marks[5];
	const char *text; /* for [guard], [files] and the like: comments */
} kinds[] = {
	{"node", {"package.json"},
		"; node: the scripts of package.json and node_modules/.bin are run by whoever calls npm\n"
		"; outside. To keep the agent from them (npm install then fails inside):\n"
		"; read = /workspace/package.json\n"
		"; read = /workspace/node_modules\n"},
	{"python", {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"},
		"; python: an active .venv puts its bin first in PATH, setup.py and conftest.py run with\n"
		"; pip and pytest outside. To keep the agent from them:\n"
		"; read = /workspace/.venv\n"
		"; read = conftest.py\n"},
	{"rust", {"Cargo.toml"},
		"; rust: build.rs and procedural macros run in every cargo build outside. To keep the\n"
		"; agent from build scripts:\n"
		"; read = build.rs\n"},
	{"go", {"go.mod", "go.work"},
		"; go: tests and `go generate` run what they say. The vendored modules can be kept:\n"
		"; read = /workspace/vendor\n"},
	{"C", {"Makefile", "CMakeLists.txt", "meson.build", "configure.ac", "configure"},
		"; C: what the build files say runs with every make outside. To keep the agent from them:\n"
		"; read = Makefile\n"
		"; read = CMakeLists.txt\n"
		"; read = meson.build\n"},
};

/* At most read, where they are there. */
static const struct proposal {
	const char *path, *why;
} guards[] = {
	{".github/workflows", "runs where the repository is pushed to, with its secrets"},
	{".gitlab-ci.yml", "runs where the repository is pushed to, with its secrets"},
	{".circleci", "runs where the repository is pushed to, with its secrets"},
	{"Jenkinsfile", "runs where the repository is pushed to, with its secrets"},
	{".pre-commit-config.yaml", "programs that pre-commit fetches and runs outside"},
	{".gitattributes", "names the filters that git runs on files outside"},
	{"AGENTS.md", "instructions that other agents follow outside"},
	{"CLAUDE.md", "instructions that other agents follow outside"},
};

/* Not to be read, where they are there and git does not track them. */
static const struct proposal secrets[] = {
	{"secrets", "by its name"},
	{"secrets.yml", "by its name"},
	{"secrets.yaml", "by its name"},
	{"secrets.json", "by its name"},
	{"credentials", "by its name"},
	{"credentials.json", "by its name"},
	{"service-account.json", "a key of a cloud's account"},
	{"terraform.tfstate", "holds passwords in clear"},
	{"terraform.tfvars", "often holds passwords"},
	{"local.settings.json", "holds connection strings"},
	{"config/master.key", "opens the credentials of a Rails application"},
	{".aws", "keys of a cloud's account"},
	{".ssh", "private keys"},
	{".htpasswd", "password hashes"},
};

/* What lies in the home of who develops this, and is needed inside: tool chains, no settings. */
static const struct tool {
	const char *kind, *path;
} tools[] = {
	{"node", ".nvm/versions"},
	{"rust", ".cargo/bin"},
	{"rust", ".cargo/registry"},
	{"rust", ".rustup/toolchains"},
	{"go", "go/pkg/mod"},
	{"go", "sdk"},
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

struct draft {
	const struct ward_policy_place *place;
	struct ward_buf tracked; /* names, each ended by NUL */
	struct ward_buf text;
};

static bool exists(int dir, const char *path)
{
	struct stat st;
	return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Is path, or something beneath it, tracked? */
static bool is_tracked(const struct draft *d, const char *path)
{
	size_t n = strlen(path);
	for (size_t at = 0; at < d->tracked.len; at += strlen(d->tracked.data + at) + 1) {
		const char *name = d->tracked.data + at;
		if (strncmp(name, path, n) == 0 && (name[n] == '/' || !name[n]))
			return true;
	}
	return false;
}

static bool is_kind(const struct draft *d, const struct kind *k)
{
	for (size_t i = 0; i < LENGTH(k->marks) && k->marks[i]; i++)
		if (exists(d->place->project.fd, k->marks[i]))
			return true;
	return false;
}

/* --- the text --- */

static void put_rules(struct draft *d)
{
	int top = d->place->project.fd;
	ward_buf_puts(&d->text, "\n; Nothing lifts what stands under [guard].\n[guard]\n");
	for (size_t i = 0; i < LENGTH(guards); i++)
		if (exists(top, guards[i].path))
			ward_buf_printf(&d->text, "; %s\nread = /workspace/%s\n", guards[i].why,
				guards[i].path);
	for (size_t i = 0; i < LENGTH(secrets); i++) {
		if (!exists(top, secrets[i].path))
			continue;
		/* git has to read what it tracks; and what is hidden would be committed as deleted
		 */
		bool tracked = is_tracked(d, secrets[i].path);
		ward_buf_printf(&d->text, "; secret: %s%s\n%sdeny = /workspace/%s\n",
			secrets[i].why, tracked ? "; but git tracks it" : "", tracked ? "; " : "",
			secrets[i].path);
	}
	for (size_t i = 0; i < LENGTH(kinds); i++)
		if (is_kind(d, &kinds[i]))
			ward_buf_puts(&d->text, kinds[i].text);
	ward_buf_puts(&d->text,
		"\n; Read top to bottom behind the lines of medium, the last that matches decides:\n"
		"; hide deny read append write ask noexec = PATTERN\n[files]\n"
		"; read = /workspace/doc\n");
}

static void put_tools(struct draft *d)
{
	const char *home = d->place->id.home;
	ward_cleanup_fd int fd = home ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	bool begun = false;
	for (size_t i = 0; fd >= 0 && i < LENGTH(tools); i++) {
		const struct kind *k = NULL;
		for (size_t n = 0; n < LENGTH(kinds); n++)
			if (strcmp(kinds[n].name, tools[i].kind) == 0)
				k = &kinds[n];
		if (!k || !is_kind(d, k) || !exists(fd, tools[i].path))
			continue;
		if (!begun)
			ward_buf_puts(&d->text,
				"\n; tools in your home that this project needs, read-only\n[system]\n");
		begun = true;
		ward_buf_printf(&d->text, "read = ~/%s\n", tools[i].path);
	}
}

static int make_draft(struct draft *d, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	const char *project = d->place->project.path;
	int r = ward_git_tracked(&d->place->id, project, &d->tracked, err);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		ward_sayf("%s. The policy does not take into account what git tracks", err->text);
	ward_escape(&path, project, strlen(project));
	ward_buf_printf(&d->text, "; Policy of the project %s (", ward_buf_str(&path));
	const char *sep = "";
	for (size_t i = 0; i < LENGTH(kinds); i++) {
		if (!is_kind(d, &kinds[i]))
			continue;
		ward_buf_printf(&d->text, "%s%s", sep, kinds[i].name);
		sep = ", ";
	}
	ward_buf_printf(&d->text, "%s).\n", *sep ? "" : "of no known kind");
	ward_buf_puts(&d->text,
		"; What it means: wardfs policy explain ACTION PATH. What looks odd: wardfs policy check.\n"
		"; The language: man 5 wardfs-policy.\n\n"
		"[policy]\nversion = 1\n; the project can be written, secrets cannot be read, what the host executes later\n"
		"; cannot be changed, no network; all of it: wardfs policy show\nextends = medium\n");
	ward_init_git(d->place->project.fd, &d->text);
	put_rules(d);
	put_tools(d);
	ward_buf_puts(&d->text, "\n[limits]\n; wall = 2h\n");
	r = ward_buf_error(&d->text);
	return r < 0 ? ward_err_sys(err, r, "policy") : 0;
}

static int init(const struct args *a, struct draft *d, struct ward_err *err)
{
	const struct ward_policy_place *place = d->place;
	if (!place->owner_file)
		return ward_err_set(
			err, -ENOENT, "no project here, or no home to write its policy to");
	int r = make_draft(d, err);
	if (r < 0)
		return r;
	if (!a->dry) {
		ward_cleanup(ward_policy_place_clear) struct ward_policy_place after = {
			.project = {.fd = -1}};
		r = ward_owner_file_put(place, &d->text, a->force, &after, err);
		if (r == -EEXIST)
			return ward_err_set(
				err, r, "%s: there is one; --force replaces it", place->owner_file);
		if (r < 0)
			return r;
	}
	ward_print_policy(d->text.data, d->text.len);
	ward_sayf("%s %s", a->dry ? "not written:" : "written:", place->owner_file);
	return 0;
}

int ward_cmd_init(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place = {
		.project = {.fd = -1}};
	/* a file of the owner's that does not load is what --force is for */
	int r = ward_policy_place_look("medium", WARD_PROJECT_NEAREST, &place, &err);
	struct draft d = {.place = &place};
	if (r == 0)
		r = init(&a, &d, &err);
	ward_buf_clear(&d.tracked);
	ward_buf_clear(&d.text);
	if (r < 0)
		ward_say(err.text);
	return r < 0 ? 2 : 0;
}
