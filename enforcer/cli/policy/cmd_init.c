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
#include "enforcer/base/patient.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/manual.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/moved.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/base/ask.h"
#include "enforcer/cli/policy/ecosystems.h"
#include "enforcer/cli/policy/init_devcontainer.h"
#include "enforcer/cli/policy/init_git.h"
#include "enforcer/cli/policy/init_merge.h"
#include "enforcer/cli/policy/init_proposal.h"
#include "enforcer/cli/policy/init_sources.h"
#include "enforcer/cli/policy/policy_lines.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/settings.h"
#include "enforcer/session/owner/git_tracked.h"
#include "enforcer/session/owner/worktree.h"

enum { OPT_REGISTRIES = 0x100, OPT_ACCEPT, OPT_DECLINE, OPT_DEVCONTAINER, OPT_SHARE };

struct args {
	bool force, dry, registries, devcontainer, share;
	struct init_answer answer;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case 'f':
		a->force = true;
		return 0;
	case 'n':
		a->dry = a->answer.dry = true;
		return 0;
	case OPT_REGISTRIES:
		a->registries = true;
		return 0;
	case OPT_ACCEPT:
		if (strlen(arg) != INIT_ACCEPT_DIGITS)
			ward_arguments_wrong(
				state, "--accept: all %u digits of the digest", INIT_ACCEPT_DIGITS);
		a->answer.accept = arg;
		return 0;
	case OPT_DECLINE:
		a->answer.decline = true;
		return 0;
	case OPT_DEVCONTAINER:
		a->devcontainer = true;
		return 0;
	case OPT_SHARE:
		a->share = true;
		return 0;
	case ARGP_KEY_END:
		if (a->share && (a->force || a->dry || a->registries || a->answer.accept ||
					a->answer.decline || a->devcontainer))
			ward_arguments_wrong(state, "--share takes no other option");
		if (a->devcontainer && (a->registries || a->answer.accept || a->answer.decline))
			ward_arguments_wrong(
				state, "--devcontainer takes --force and --dry-run, and no others");
		if (a->answer.decline && a->answer.accept)
			ward_arguments_wrong(state, "--accept or --decline, not both");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"force", 'f', NULL, 0, "Start over: drop the lines of the existing file", 0},
	{"dry-run", 'n', NULL, 0, "Print what would be written, write nothing", 0},
	{"registries", OPT_REGISTRIES, NULL, 0,
		"Allow the registries that are usual for the project's kind or that you know", 0},
	{"accept", OPT_ACCEPT, "DIGEST", 0,
		"Accept what .wardfs.propose asks for, if this is its SHA-256, all 64 digits", 0},
	{"decline", OPT_DECLINE, NULL, 0, "Decline it, and do not mention it again", 0},
	{"share", OPT_SHARE, NULL, 0,
		"In a work tree of git: use the policy of the main checkout, which you have", 0},
	{"devcontainer", OPT_DEVCONTAINER, NULL, 0,
		"Write .devcontainer of the project instead: a container for an editor in which wardfs runs",
		0},
	{0},
};
static const struct argp argp = {options, parse, NULL,
	"Writes a first policy for the project around the current directory, with a comment for each line, into your file for it, and prints it. If the file exists, adds what is missing, and prints the difference. Registries that the project's kind uses or its files name, and ports of development servers, are printed as comments; on a terminal you are asked about registries that are usual or that you know, and about what the repository proposes in .wardfs.propose. The project itself is not changed.\vExit status: 0 done; 1 .wardfs.propose waits for an answer; 2 usage, or an error.",
	NULL, NULL, NULL};

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

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

struct draft {
	const struct ward_policy_place *place;
	const struct ward_policy *now; /* what holds */
	struct ward_buf tracked;       /* names, each ended by NUL */
	struct ward_buf text;
	struct init_git_part git; /* of text */
	struct init_sources sources;
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

/* --- the text --- */

static void put_rules(struct draft *d)
{
	int top = d->place->project.fd;
	ward_buf_puts(&d->text,
		"\n; A guard takes rights away, and no other line gives them back.\n[guard]\n");
	for (size_t i = 0; i < LENGTH(guards); i++)
		if (exists(top, guards[i].path))
			ward_buf_printf(&d->text, "; %s\nread = /workspace/%s\n", guards[i].why,
				guards[i].path);
	for (size_t i = 0; i < LENGTH(secrets); i++) {
		if (!exists(top, secrets[i].path))
			continue;
		/* Committed, it may be read nevertheless. */
		bool tracked = is_tracked(d, secrets[i].path);
		ward_buf_printf(&d->text, "; %s%s\n%ssecret = /workspace/%s\n", secrets[i].why,
			tracked ? "; but git tracks it" : "", tracked ? "; " : "", secrets[i].path);
	}
	size_t n = 0;
	const struct ecosystem *e = ecosystems(&n);
	for (size_t i = 0; i < n; i++)
		if (e[i].guards && ecosystem_is(&e[i], top))
			ward_buf_puts(&d->text, e[i].guards);
	ward_buf_puts(&d->text,
		"\n; Rules are read from top to bottom, after those of medium. The last one that matches\n"
		"; decides. A rule is VERB = PATTERN; VERB is one of:\n"
		"; hide deny read append write ask noexec secret\n[files]\n"
		"; read = /workspace/doc\n");
}

static void put_tools(struct draft *d)
{
	const char *home = d->place->id.home;
	ward_cleanup_fd int fd = home && ward_patient_reach(home, NULL) == 0
					 ? open(home, O_PATH | O_DIRECTORY | O_CLOEXEC)
					 : -1;
	bool begun = false;
	size_t n = 0;
	const struct ecosystem *e = ecosystems(&n);
	for (size_t i = 0; fd >= 0 && i < n; i++)
		for (size_t k = 0; k < ECOSYSTEM_FILES_MAX && e[i].tools[k]; k++) {
			ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
			ward_buf_printf(&path, "%s/%s", home, e[i].tools[k]);
			if (!ecosystem_is(&e[i], d->place->project.fd) ||
				ward_patient_reach(ward_buf_str(&path), NULL) < 0 ||
				!exists(fd, e[i].tools[k]))
				continue;
			if (!begun)
				ward_buf_puts(&d->text,
					"\n; tools in your home that this project needs, "
					"read-only\n[system]\n");
			begun = true;
			ward_buf_printf(&d->text, "read = ~/%s\n", e[i].tools[k]);
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
	size_t n = 0;
	const struct ecosystem *e = ecosystems(&n);
	for (size_t i = 0; i < n; i++) {
		if (!ecosystem_is(&e[i], d->place->project.fd))
			continue;
		ward_buf_printf(&d->text, "%s%s", sep, e[i].name);
		sep = ", ";
	}
	ward_buf_printf(&d->text, "%s).\n", *sep ? "" : "of no known kind");
	ward_buf_puts(&d->text,
		"; 'wardfs policy explain ACTION PATH' says what it means, 'wardfs policy check' what looks wrong.\n"
		"; The language: ");
	if (!ward_manual_command("wardfs-policy", '5', &d->text))
		ward_buf_puts(&d->text, "docs/policy.md of wardfs");
	ward_buf_puts(&d->text,
		".\n\n[policy]\nversion = 1\n; medium: commands can change the project. They cannot read secrets, change what this\n"
		"; host executes later, or use a network. 'wardfs policy show' prints all of it.\n"
		"extends = medium\n");
	ward_init_git(d->place->project.fd, &d->text, &d->git);
	put_rules(d);
	put_tools(d);
	ward_buf_puts(&d->text, "\n[limits]\n; wall = 2h\n");
	r = ward_buf_error(&d->text);
	return r < 0 ? ward_err_sys(err, r, "policy") : 0;
}

static bool is_allowed(const struct ward_policy *p, const char *host_port)
{
	ward_cleanup(ward_buf_clear) struct ward_buf rule = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	return ward_policy_connect(p, host_port, &rule, &line) == WARD_VERDICT_ALLOW;
}

/* What the owner's file gives already is not proposed again. */
static void drop_given(const struct ward_policy *now, struct init_sources *s)
{
	const struct ward_strings *published = &ward_policy_settings(now)->net_publish;
	size_t n = 0;
	for (size_t i = 0; i < s->n_hosts; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf value = WARD_BUF_INIT;
		init_host_value(&s->hosts[i], &value);
		if (ward_buf_error(&value) < 0 || !is_allowed(now, ward_buf_str(&value)))
			s->hosts[n++] = s->hosts[i];
	}
	s->n_hosts = n;
	n = 0;
	for (size_t i = 0; i < s->n_ports; i++) {
		bool given = false;
		for (size_t k = 0; k < published->n && !given; k++) {
			const char *colon = strchr(published->v[k], ':');
			given = strtoul(colon ? colon + 1 : published->v[k], NULL, 10) ==
				s->ports[i].port;
		}
		if (!given)
			s->ports[n++] = s->ports[i];
	}
	s->n_ports = n;
}

/* Registries that are known go into the text where the owner says so, and no others ever. */
static void allow_registries(const struct args *a, struct draft *d, struct ward_buf *text)
{
	struct init_sources *s = &d->sources;
	const bool closed = ward_policy_settings(d->now)->net == WARD_NET_NONE;
	ward_cleanup(ward_buf_clear) struct ward_buf all = WARD_BUF_INIT;
	size_t n = 0;
	for (size_t i = 0; i < s->n_hosts; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf value = WARD_BUF_INIT;
		if (!s->hosts[i].known)
			continue;
		init_host_value(&s->hosts[i], &value);
		if (is_allowed(d->now, ward_buf_str(&value)))
			continue;
		ward_buf_printf(&all, "%s%s", n++ ? ", " : "", ward_buf_str(&value));
	}
	if (a->registries && s->n_hosts == 0)
		ward_say(
			"no registry is known for a project of this kind that is not allowed already: "
			"'wardfs policy add allow HOST' allows one by its name");
	if (n == 0 || a->dry)
		return;
	if (!a->registries) {
		if (!ask_possible())
			return;
		ward_outf("Registries that this project uses: %s\n", ward_buf_str(&all));
		if (ask_word("Allow them? y, n [n]", "yn", 'n', 'n') != 'y')
			return;
	}
	bool first = true;
	size_t left = 0;
	for (size_t i = 0; i < s->n_hosts; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf value = WARD_BUF_INIT;
		if (!s->hosts[i].known) {
			s->hosts[left++] = s->hosts[i];
			continue;
		}
		init_host_value(&s->hosts[i], &value);
		if (is_allowed(d->now, ward_buf_str(&value)))
			continue;
		if (first && closed)
			policy_lines_append(text, "[network]", "mode", "allowlist");
		first = false;
		policy_lines_append(text, "[network]", "allow", ward_buf_str(&value));
	}
	s->n_hosts = left; /* what is allowed is not proposed as well */
}

/* Prints a text that is all new, or what tells it from the one before. */
static void print_change(const struct args *a, const struct draft *d, const struct ward_buf *was,
	bool had, const struct ward_buf *text)
{
	if (!had && a->dry) {
		ward_print_policy(text->data, text->len);
	} else if (!had) {
		ward_init_git_print(text, &d->git);
	} else {
		ward_cleanup(ward_buf_clear) struct ward_buf lines = WARD_BUF_INIT;
		policy_lines_difference(was, text, &lines);
		ward_out_lines(ward_buf_str(&lines), lines.len);
	}
	ward_sayf("%s %s",
		a->dry ? "not written:"
		: had  ? "changed:"
		       : "written:",
		d->place->owner_file);
}

/* A file that does not load, or that somebody else changes. */
static int unchanged(int r, struct ward_err *err)
{
	const struct ward_err why = *err;
	return ward_err_set(err, r,
		"nothing was changed: %s. 'wardfs policy edit' opens your file, 'wardfs init --force' "
		"starts over",
		why.text);
}

static int write_text(const struct args *a, struct draft *d, const struct ward_buf *was, bool had,
	const struct ward_buf *text, struct ward_err *err)
{
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place after = {
		.project = {.fd = -1}};
	const struct ward_owner_change c = {.text = text, .was = was, .replace = had};
	int r = a->dry ? 0 : ward_owner_file_change(d->place, &c, &after, err);
	if (r < 0)
		return had && !a->force ? unchanged(r, err) : r;
	print_change(a, d, was, had, text);
	return 0;
}

/* The owner's own lines. */
static int init_lines(const struct args *a, struct draft *d, struct ward_err *err)
{
	const struct ward_policy_place *place = d->place;
	ward_cleanup(ward_buf_clear) struct ward_buf was = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf comments = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf allowed = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	size_t added = 0;
	int r = make_draft(d, err);
	if (r == 0)
		r = ward_owner_file_get(place->owner_file, &place->id, &was, err);
	if (r < 0)
		return r;
	const bool had = r == 1, merge = had && !a->force;
	if (merge)
		drop_given(d->now, &d->sources);
	allow_registries(a, d, &allowed);
	init_sources_text(&d->sources, &comments);
	if (merge) {
		r = init_merge(place->owner_file, &was, &d->text, &text, &added, err);
	} else {
		ward_buf_add(&text, d->text.data, d->text.len);
		ward_buf_add(&text, comments.data, comments.len);
		r = 0;
	}
	if (r < 0)
		return unchanged(r, err);
	ward_buf_add(&text, allowed.data, allowed.len);
	if (ward_buf_error(&text) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", place->owner_file);
	if (merge && text.len == was.len)
		ward_sayf("%s has all lines that init would add",
			ward_shell_quoted(&word, place->owner_file));
	else
		r = write_text(a, d, &was, had, &text, err);
	if (r == 0 && merge)
		ward_out_lines(ward_buf_str(&comments), comments.len);
	return r;
}

/* The policy in force, for the questions. A file that does not load is reported at its reading. */
static int find_now(struct draft *d, struct ward_policy_place *now, struct ward_err *err)
{
	struct ward_err ignored = WARD_ERR_INIT;
	int r = ward_policy_place_look(NULL, WARD_PROJECT_NEAREST, now, &ignored);
	d->now = r == 0 ? now->policy : d->place->policy;
	return init_sources_find(
		&d->place->id, d->place->config_home, d->place->project.fd, &d->sources, err);
}

/*
 * A work tree whose main checkout has a policy shares it where the owner says so, by --share or at
 * a terminal (place/moved.h). 1: it does now.
 */
static int share(const struct args *a, const struct ward_policy_place *place, struct ward_err *err)
{
	ward_cleanup_free char *main_checkout = NULL, *shared = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf config = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	if (!place->config_home)
		return 0;
	int r = ward_shared_policy(
		&place->id, place->config_home, place->project.path, &shared, err);
	if (r == 0)
		r = ward_worktree_main(
			&place->project, &place->id, place->config_home, &main_checkout, err);
	if (r < 0)
		return r;
	if (shared && !a->force && !a->answer.accept && !a->answer.decline) {
		ward_sayf("this project shares the policy of another one, %s: nothing is written. "
			  "'wardfs policy add' changes that file, 'wardfs init --force' here "
			  "starts one of its own",
			shared);
		return 1;
	}
	if (!main_checkout && a->share)
		return ward_err_set(err, -EINVAL,
			"--share: nothing to share. This must be a work tree of git for which you "
			"have no policy yet, and you must have one for its main checkout");
	if (!main_checkout || a->dry || a->force || a->answer.accept || a->answer.decline)
		return 0;
	if (!a->share && !ask_possible()) {
		ward_shell_word(&word, place->owner_file);
		ward_sayf("this directory says that it is a work tree of %s, for which you have a "
			  "policy. If you made it, to share that policy instead: rm %s && wardfs "
			  "init --share",
			main_checkout, ward_buf_str(&word));
		return 0;
	}
	if (!a->share && !ward_policy_share_asked(main_checkout))
		return 0;
	ward_buf_printf(&config, "%s/wardfs", place->config_home);
	r = ward_buf_error(&config);
	if (r == 0)
		r = ward_policy_share(
			&place->id, ward_buf_str(&config), main_checkout, place->project.path, err);
	if (r < 0)
		return r;
	ward_sayf("this work tree shares the policy of %s from now on: what you change here is "
		  "changed there, too",
		main_checkout);
	return 1;
}

static int init(const struct args *a, struct draft *d, struct ward_err *err)
{
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place now = {
		.project = {.fd = -1}};
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place then = {
		.project = {.fd = -1}};
	if (ward_policy_place_need(d->place, err) < 0)
		return -ENOENT;
	int r = share(a, d->place, err);
	if (r != 0)
		return r < 0 ? r : 0;
	r = find_now(d, &now, err);
	if (r == 0)
		r = init_lines(a, d, err);
	if (r == 0 && a->dry)
		return init_proposal(now.policy ? &now : d->place, &a->answer, err);
	if (r == 0)
		r = ward_policy_place_look(NULL, WARD_PROJECT_NEAREST, &then, err);
	return r == 0 ? init_proposal(&then, &a->answer, err) : r;
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
	struct draft d = {.place = &place, .sources = INIT_SOURCES_INIT};
	if (r == 0)
		r = a.devcontainer ? init_devcontainer(&place, a.force, a.dry, &err)
				   : init(&a, &d, &err);
	ward_buf_clear(&d.tracked);
	ward_buf_clear(&d.text);
	init_sources_clear(&d.sources);
	if (r < 0)
		ward_say(err.text);
	return ward_finish_output(r < 0 ? 2 : r);
}
