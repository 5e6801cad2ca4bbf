/* SPDX-License-Identifier: Apache-2.0 */
/* Says for `run --dry-run` what would be in force: one JSON object, from which the text is made. */
#include "enforcer/cli/run/run_dry.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/program.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/cli/doctor/doctor_list.h"
#include "enforcer/cli/run/run_dry_limits.h"
#include "enforcer/cli/run/run_dry_text.h"
#include "enforcer/cli/run/run_take.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/keys.h"
#include "enforcer/policy/read.h"
#include "enforcer/session/plan/network.h"
#include "enforcer/session/run/facts.h"
#include "enforcer/session/plan/runtime.h"
#include "enforcer/session/records/weighed_json.h"
#include "enforcer/session/run/rehearse.h"
#include "enforcer/session/run/run.h"

/* --- who, where --- */

static json_t *person(const char *name, uid_t uid, gid_t gid)
{
	return json_pack("{s:o, s:I, s:I}", "name", ward_json_text(name), "uid", (json_int_t)uid,
		"gid", (json_int_t)gid);
}

static json_t *trees(const struct ward_run_plan *p)
{
	json_t *all = json_array();
	for (size_t i = 0; i < p->n_trees; i++)
		json_array_append_new(
			all, json_pack("{s:o, s:o, s:o}", "path", ward_json_text(p->trees[i].path),
				     "at", ward_json_text(p->trees[i].at), "source",
				     ward_json_text(p->trees[i].source)));
	return all;
}

static json_t *bind(const char *path, const char *what)
{
	struct stat st;
	return json_pack("{s:o, s:s, s:b}", "path", ward_json_text(path), "what", what, "there",
		lstat(path, &st) == 0);
}

/* Its programs are not those of the host. */
static bool has_image(const struct ward_run_plan *p)
{
	return p->image.fd >= 0 || p->image_fetched;
}

/* What is seen besides the trees. */
static json_t *mounts(const struct ward_run_plan *p)
{
	const char *own[WARD_SANDBOX_OWN_MAX];
	json_t *all = json_array();
	if (!(p->mode->layers & WARD_LAYER_VIEW)) {
		json_array_append_new(all, bind("/", "the host, as it is"));
		return all;
	}
	if (p->settings->view == WARD_VIEW_READONLY && !has_image(p))
		json_array_append_new(all,
			bind("/", "the host, read-only, without homes, credentials and sockets"));
	size_t n = ward_sandbox_own_paths(own);
	if (p->image.fd >= 0)
		json_array_append_new(all, bind(p->image.root, "of the image, read-only, at /"));
	else if (p->image_fetched)
		json_array_append_new(
			all, bind(p->image.name, "of an image that the run would fetch, at /"));
	for (size_t i = 0; i < n; i++)
		if (!has_image(p) || ward_program_made_inside(own[i]))
			json_array_append_new(
				all, bind(own[i], ward_program_made_inside(own[i])
							  ? "of the session, in memory or made up"
							  : "of the host, read-only"));
	for (size_t i = 0; i < p->n_reads; i++)
		json_array_append_new(
			all, bind(p->reads[i], "of the host, read-only ([system] read)"));
	for (size_t i = 0; i < p->n_sockets; i++)
		json_array_append_new(
			all, bind(p->sockets[i], "a socket of the host ([network] socket)"));
	if (p->home.dir)
		json_array_append_new(
			all, bind(p->home.dir,
				     "the home, kept for this project, seen at " WARD_HOME_PATH));
	else if (p->settings->home != WARD_HOME_NONE)
		json_array_append_new(all, bind(p->id.agent_home, "the home, in memory"));
	return all;
}

/* --- rules and keys, as they are written --- */

struct lines {
	json_t *all;
	char section[4200];
};

static int line_section(
	void *user, const char *kind, const char *arg, unsigned line, struct ward_err *err)
{
	struct lines *l = user;
	(void)line;
	(void)err;
	snprintf(l->section, sizeof(l->section), "%s%s%s", kind, *arg ? " " : "", arg);
	return 0;
}

static int line_pair(
	void *user, const char *key, const char *value, unsigned line, struct ward_err *err)
{
	struct lines *l = user;
	(void)err;
	return json_array_append_new(l->all,
		json_pack("{s:I, s:o, s:s, s:o}", "line", (json_int_t)line, "section",
			ward_json_text(l->section), "key", key, "value", ward_json_text(value)));
}

static json_t *read_lines(const char *file, const char *text, size_t len)
{
	static const struct ward_read_ops ops = {line_section, line_pair};
	struct lines l = {.all = json_array()};
	/* It was loaded already: what is wrong with it would have been said. */
	if (ward_policy_read(file, text, len, &ops, &l, NULL) < 0)
		json_array_append_new(l.all, json_null());
	return l.all;
}

static json_t *sources(const struct ward_policy *p)
{
	json_t *all = json_array();
	for (enum ward_source_kind k = WARD_SOURCE_PROFILE; k < WARD_SOURCE_FOUND; k++) {
		struct ward_source_text t;
		if (ward_policy_source(p, k, &t))
			json_array_append_new(
				all, json_pack("{s:s, s:o, s:o}", "source", ward_source_name(k),
					     "file", ward_json_text(t.file), "lines",
					     read_lines(t.file, t.text, t.len)));
	}
	return all;
}

/* A key of [network] but for its mode. */
static bool of_network(const char *section, const char *key)
{
	const struct ward_section *in = NULL;
	const struct ward_key *k = NULL;
	return section && key && ward_section_find(section, &in, NULL) == 0 &&
	       in == &ward_sections[WARD_SECTION_NETWORK] &&
	       ward_key_find(in, key, &k, NULL) == 0 &&
	       !ward_key_fills(k, offsetof(struct ward_settings, net));
}

/* What of [network] holds after all sources. */
static json_t *network(const struct ward_run_plan *p)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	json_t *keys = json_array(), *l = NULL;
	size_t i = 0;
	if (ward_policy_show(p->policy, &b) == 0)
		l = read_lines("policy", ward_buf_str(&b), b.len);
	json_t *one = NULL;
	json_array_foreach(l, i, one)
	{
		const char *section = json_string_value(json_object_get(one, "section"));
		const char *key = json_string_value(json_object_get(one, "key"));
		if (of_network(section, key))
			json_array_append_new(keys, json_pack("{s:s, s:O}", "key", key, "value",
							    json_object_get(one, "value")));
	}
	json_decref(l);
	return json_pack("{s:s, s:o}", "mode", ward_network_name(p->settings->net), "keys", keys);
}

/* --- the environment: values only where they are no secret of the caller's --- */

static bool names(const char *entry, const char *arg)
{
	size_t n = strcspn(entry, "=");
	return strncmp(entry, arg, n) == 0 && (!arg[n] || arg[n] == '=');
}

static json_t *variable(
	const struct ward_run_plan *p, const struct ward_run_options *o, const char *entry)
{
	static const char *const ours[] = {"HOME", "USER", "LOGNAME", "PWD", "WARDFS_SESSION"};
	const char *from = NULL, *value = strchr(entry, '=') + 1;
	size_t n = (size_t)(value - entry) - 1;
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (names(entry, ours[i]))
			from = "wardfs";
	for (size_t i = 0; !from && i < o->env.n; i++)
		if (names(entry, o->env.v[i]))
			from = "--env";
	for (size_t i = 0; !from && i < p->settings->env_set.n; i++)
		if (strcmp(entry, p->settings->env_set.v[i]) == 0)
			from = "[env] set";
	ward_cleanup_free char *name = strndup(entry, n);
	const char *outside = name ? getenv(name) : NULL;
	if (!from)
		from = outside && strcmp(outside, value) == 0 ? "passed on" : "wardfs";
	bool secret = strcmp(from, "--env") == 0 || strcmp(from, "passed on") == 0;
	return json_pack("{s:o, s:s, s:o}", "name", ward_json_text(name ? name : "?"), "from", from,
		"value", secret ? json_null() : ward_json_text(value));
}

static int environment(const struct ward_run_plan *p, const struct ward_run_options *o, char ***ret,
	json_t *all, struct ward_err *err)
{
	bool view = p->mode->layers & WARD_LAYER_VIEW;
	const char *home = view ? p->settings->home == WARD_HOME_NONE ? NULL : p->id.agent_home
			   : p->id.agent_uid == p->id.owner_uid ? p->id.home
								: NULL;
	struct ward_env_ours ours = {.home = home,
		.user = p->id.agent_name,
		.session = o->session ? o->session : "(the session's name)",
		.proxied = p->settings->net == WARD_NET_ALLOWLIST ||
			   p->settings->net == WARD_NET_PROXY,
		.offline = p->settings->net == WARD_NET_NONE,
		.ca = has_image(p) ? NULL : p->ca,
		.pwd = p->pwd ? p->pwd : p->cwd,
		.of_image = has_image(p),
		.image = p->image.env,
		.trust = ward_environment_trust(&p->id, o->policy)};
	ward_cleanup(ward_buf_clear) struct ward_buf note = WARD_BUF_INIT;
	int r = ward_environment_build(p->settings, &o->env, &ours, ret, &note, err);
	if (r == 0 && note.len && o->say)
		o->say(ward_buf_str(&note));
	for (char **e = *ret; r == 0 && *e; e++)
		json_array_append_new(all, variable(p, o, *e));
	return r;
}

/* --- would it start? --- */

/* The broker's link, which the rehearsal does not make. */
static int check_broker(const struct ward_run_plan *p, struct ward_err *err)
{
	struct ward_check c = {.name = "network broker"};
	if (p->settings->net != WARD_NET_ALLOWLIST && p->settings->net != WARD_NET_PROXY)
		return 0;
	ward_check_network(&c);
	return c.status == WARD_CHECK_OK
		       ? 0
		       : ward_err_set(err, -ENOTSUP,
				 "[network] mode = %s is not available here: %s; fix: %s",
				 ward_network_name(p->settings->net), c.tried,
				 c.fix ? c.fix : "wardfs doctor");
}

static int find_program(const struct ward_run_plan *p, const char *name, char *const *envp,
	json_t *o, struct ward_err *err)
{
	ward_cleanup(ward_program_clear) struct ward_program x = {0};
	int r = ward_program_find(p, name, envp, &x, err);
	if (r == 0)
		json_object_set_new(o, "program",
			json_pack("{s:o, s:o, s:o}", "inside", ward_json_text(x.inside), "host",
				ward_json_text(x.host), "interpreter",
				ward_json_text(x.interpreter)));
	return r;
}

static json_t *origins(const char *name, const struct ward_mode_flag *v, size_t n)
{
	json_t *all = json_array();
	for (size_t i = 0; i < n; i++)
		json_array_append_new(all, json_pack("{s:o, s:o}", name, ward_json_text(v[i].text),
						   "from", ward_json_text(v[i].from)));
	return all;
}

/* The command line that the mode makes of it, and what the program reaches. */
static int describe_command(const struct ward_run_plan *p, const struct ward_run_options *o,
	char *const *envp, json_t *out, struct ward_mode_command *ret, struct ward_err *err)
{
	int r = ward_runtime_command(p, o->argv, envp, ret, err);
	if (r < 0 || !ret->argv)
		return r;
	json_t *runtime = json_pack("{s:o, s:o}", "program", ward_json_text(ret->argv[0]), "flags",
		origins("flag", ret->flags, ret->n_flags));
	json_object_set_new(out, "runtime", runtime);
	if (ret->n_reaches)
		json_object_set_new(
			runtime, "reaches", origins("path", ret->reaches, ret->n_reaches));
	if (ret->memory)
		json_object_set_new(runtime, "memory",
			json_pack("{s:I, s:s}", "value", (json_int_t)ret->memory, "from",
				ret->memory_from));
	if (ret->asks_why)
		json_object_set_new(runtime, "broker",
			json_pack("{s:b, s:s}", "used", ret->asks, "why", ret->asks_why));
	return 0;
}

/* Exit status of the run for what went wrong. */
static int status_of(int r, bool program)
{
	if (program)
		return r == -EACCES ? WARD_EXIT_NOT_EXECUTABLE : WARD_EXIT_NOT_FOUND;
	return r == -EINVAL || r == -ENOENT ? WARD_EXIT_USAGE : WARD_EXIT_SETUP;
}

static void verdict(json_t *o, int status, const char *reason)
{
	json_object_set_new(o, "would_start", json_boolean(status == 0));
	json_object_set_new(o, "status", status ? json_integer(status) : json_null());
	json_object_set_new(o, "reason", status ? ward_json_text(reason) : json_null());
}

static void describe(const struct ward_run_plan *p, json_t *o)
{
	const struct ward_identity *id = &p->id;
	json_object_set_new(o, "project", ward_json_text(p->project.path));
	json_object_set_new(o, "owner", person(id->name, id->owner_uid, id->owner_gid));
	json_object_set_new(
		o, "command_runs_as", person(id->agent_name, id->agent_uid, id->agent_gid));
	json_object_set_new(o, "mode", json_string(p->mode->word));
	if (p->weighed)
		json_object_set_new(o, "risk", ward_weighed_json(p->weighed, true, p->settings));
	json_object_set_new(o, "directory", ward_json_text(p->cwd));
	json_object_set_new(o, "digest", json_string(ward_policy_digest(p->policy)));
	json_object_set_new(o, "trees", trees(p));
	json_object_set_new(o, "mounts", mounts(p));
	json_object_set_new(o, "sources", sources(p->policy));
	json_object_set_new(o, "network", network(p));
	json_object_set_new(o, "seccomp",
		p->mode->layers & WARD_LAYER_SECCOMP
			? json_string(ward_seccomp_name(ward_fact_seccomp(p->settings->seccomp)))
			: json_null());
	json_object_set_new(o, "state", ward_json_text(p->state));
	json_t *untried = json_array();
	json_array_append_new(untried, json_string("writing a trail into the state directory"));
	json_array_append_new(untried, json_string("the probes from inside, before the command"));
	if (p->image_fetched)
		json_array_append_new(untried, json_string("fetching the image"));
	if (has_image(p))
		json_array_append_new(untried, json_string("finding the command in the image"));
	if (p->settings->anchors.n)
		json_array_append_new(
			untried, json_string("sending a checkpoint to [audit] anchor"));
	json_object_set_new(o, "untried", untried);
}

/* Fills in o as far as it goes. Returns the status that the run would fail with, or 0. */
static int look(const struct ward_run_plan *p, const struct ward_run_options *o, json_t *out,
	struct ward_err *err)
{
	char **envp = NULL;
	json_t *env = json_array();
	describe(p, out);
	json_object_set_new(out, "environment", env);
	int r = environment(p, o, &envp, env, err);
	if (r == 0)
		r = ward_rehearse(p, o, envp, out, err);
	ward_run_dry_limits(p, out);
	ward_run_dry_quotas(p, out);
	if (r == 0)
		r = check_broker(p, err);
	struct ward_mode_command command = WARD_RUNTIME_COMMAND_INIT;
	if (r == 0)
		r = describe_command(p, o, envp, out, &command, err);
	int status = r < 0 ? status_of(r, false) : 0;
	if (r == 0 && !has_image(p)) {
		const char *name = command.argv ? command.argv[0] : o->argv[0];
		r = find_program(p, name, envp, out, err);
		status = r < 0 ? status_of(r, true) : 0;
	}
	ward_mode_command_clear(&command);
	ward_environment_free(envp);
	return status;
}

int ward_run_dry(const struct ward_run_plan *plan, const struct ward_run_options *o, bool json,
	bool verbose, const struct ward_err *why)
{
	json_t *out = json_object(), *argv = json_array();
	struct ward_err err = WARD_ERR_INIT;
	for (char *const *a = o->argv; *a; a++)
		json_array_append_new(argv, ward_json_text(*a));
	json_object_set_new(out, "argv", argv);
	(void)!ward_out_flush(); /* children would print it once more */
	int status = plan ? look(plan, o, out, &err) : status_of(why->code, false);
	verdict(out, status, plan ? err.text : why->text);
	ward_cleanup_free char *warm =
		plan ? ward_run_take_text(plan, o, o->stand_in != NULL) : NULL;
	if (warm)
		json_object_set_new(out, "prepared", json_string(warm));
	if (json)
		ward_print_json(json_incref(out));
	json_t *shown = json ? NULL : ward_json_shown(out);
	if (shown)
		ward_run_dry_print(shown, verbose);
	json_decref(shown);
	/* As the run would say it, and what the host lacks. */
	if (status && !json)
		ward_say(plan ? err.text : why->text);
	if (status == WARD_EXIT_SETUP && plan && !strstr(err.text, "fix: "))
		ward_doctor_say();
	json_decref(out);
	return status ? WARD_EXIT_SETUP : 0;
}

int ward_run_dry_try(const char *policy, struct ward_err *err)
{
	static char name[] = "true";
	char *const argv[] = {name, NULL};
	const struct ward_run_options o = {
		.policy = policy, .argv = argv, .verb = "run", .dry = true};
	struct ward_run_plan p = WARD_RUN_PLAN_INIT;
	char **envp = NULL;
	json_t *out = json_object(), *env = json_array();
	/* A plan is no plan for what stands in the policy or the project, too: -ENOTSUP is the
	 * host. */
	int r = ward_run_plan_make(&o, &p, err);
	if (r < 0 && r != -ENOTSUP && r != -ENOMEM)
		r = -EINVAL;
	if (r == 0)
		r = environment(&p, &o, &envp, env, err);
	if (r == 0)
		r = ward_rehearse(&p, &o, envp, out, err);
	if (r == 0)
		r = check_broker(&p, err);
	ward_environment_free(envp);
	ward_run_plan_clear(&p);
	json_decref(env);
	json_decref(out);
	return r;
}
