/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy explain: the decision of the filesystem, with its reasons. */
#include <argp.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
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
#include "enforcer/base/quantity.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/place/policy_place.h"
#include "enforcer/cli/policy/explain_answer.h"
#include "enforcer/cli/policy/explain_running.h"
#include "enforcer/cli/policy/explain_staged.h"
#include "enforcer/cli/policy/policy_look.h"
#include "enforcer/cli/policy/policy_options.h"
#include "enforcer/cli/policy/policy_verbs.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/settings.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/owner/found_secrets.h"
#include "enforcer/session/plan/exec_programs.h"
#include "enforcer/session/plan/guards_say.h"
#include "enforcer/session/plan/shown.h"

struct args {
	struct policy_options o;
	const char *words[3]; /* ACTION PATH [PATH2] */
	unsigned n;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	switch (key) {
	case ARGP_KEY_ARG:
		if (a->n == 3)
			ward_arguments_wrong(state, "too many arguments");
		a->words[a->n++] = arg;
		return 0;
	case ARGP_KEY_END: {
		if (a->n < 2)
			ward_arguments_wrong(state, "ACTION and PATH are missing, such as 'read "
						    "src/main.c'");
		bool two = strcmp(a->words[0], "rename") == 0 || strcmp(a->words[0], "link") == 0;
		if (two && a->n != 3)
			ward_arguments_wrong(state, "%s takes two paths", a->words[0]);
		if (!two && a->n != 2)
			ward_arguments_wrong(state, "%s takes one path", a->words[0]);
		return 0;
	}
	default:
		return policy_option_take(key, arg, &a->o);
	}
}

static const struct argp_option options[] = {
	POLICY_OPTION,
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};
static const struct argp argp = {options, parse, "ACTION PATH [PATH2]",
	"Tells whether the policy in force here allows ACTION on PATH, and which rule decides. "
	"ACTION is one of: stat list read exec append create symlink write remove rename link "
	"chmod connect. rename and link take two paths; connect takes HOST[:PORT] (default "
	"port: 443). PATH is a path inside, a path of the host, or relative.\vExit status: 0 "
	"allowed; 1 refused; 2 usage or policy.",
	NULL, NULL, NULL};

/* --- connect --- */

/* HOST:PORT, an IPv6 address in brackets; "/udp" or "/tcp" may follow. */
static bool is_host_port(const char *text)
{
	const char *colon = strrchr(text, ':');
	const char *end = colon ? colon + 1 : "";
	uint64_t port = 0;
	return colon && colon != text && ward_quantity_digits(&end, &port) && port > 0 &&
	       port <= UINT16_MAX &&
	       (!*end || strcmp(end, "/udp") == 0 || strcmp(end, "/tcp") == 0);
}

/* With --policy the line belongs there: `policy add` would write it into the project's file. */
static void permit_in_file(
	const struct ward_policy_place *place, const char *to, struct ward_buf *permit)
{
	const bool none = ward_policy_settings(place->policy)->net == WARD_NET_NONE;
	ward_buf_clear(permit);
	ward_buf_printf(permit, "%s'allow = %s' in [network] of %s",
		none ? "'mode = allowlist' and " : "", to,
		place->owner_file ? place->owner_file : "the policy");
}

static int explain_connect(
	const struct ward_policy_place *place, const struct args *a, const char *to)
{
	ward_cleanup(ward_buf_clear) struct ward_buf rule = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	enum ward_verdict v = ward_policy_connect_inside(place->policy, to, &rule, &line);
	const bool near = ward_connect_is_loopback(to) &&
			  ward_policy_settings(place->policy)->net != WARD_NET_HOST;
	ward_cleanup(ward_buf_clear) struct ward_buf permit = WARD_BUF_INIT;
	if (v != WARD_VERDICT_ALLOW && !ward_explain_no_mode(place->policy, to, &permit)) {
		ward_explain_connect(to, ward_buf_str(&line), &permit);
		if (a->o.policy && !near &&
			strncmp(ward_buf_str(&permit), "wardfs policy add ", 18) == 0)
			permit_in_file(place, to, &permit);
	}
	if (a->o.json) {
		json_t *o = json_object();
		json_object_set_new(o, "action", json_string("connect"));
		json_object_set_new(o, "path", ward_json_text(to));
		json_object_set_new(o, "verdict", json_string(ward_verdict_name(v)));
		json_object_set_new(o, "rule", ward_json_text(ward_buf_str(&rule)));
		json_object_set_new(o, "rule_text", ward_json_text(ward_buf_str(&line)));
		json_object_set_new(o, "permit",
			permit.len ? ward_json_text(ward_buf_str(&permit)) : json_null());
		ward_print_json(o);
	} else {
		ward_outf("connect %s: %s\n  rule    %s  %s", to, ward_verdict_name(v),
			ward_buf_str(&rule), ward_buf_str(&line));
		ward_print_shown_by(ward_buf_str(&rule));
		ward_outf("\n");
		if (near && v != WARD_VERDICT_ALLOW)
			ward_outf(
				"  note    inside, this address is the session itself: its own servers answer there.\n          To reach a port of this host, forward it\n");
		if (permit.len)
			ward_outf("  to permit it: %s\n", ward_buf_str(&permit));
	}
	return v == WARD_VERDICT_ALLOW ? 0 : 1;
}

/* A host without a port, an IPv6 address in brackets. */
static bool is_host(const char *text)
{
	return *text && (text[0] == '[' ? text[strlen(text) - 1] == ']' : !strpbrk(text, ":/"));
}

static int connect_to(
	const struct ward_policy_place *place, const struct args *a, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf to = WARD_BUF_INIT;
	const bool bare = is_host(a->words[1]);
	ward_buf_printf(&to, "%s%s", a->words[1], bare ? ":443" : "");
	if (ward_buf_error(&to) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", a->words[1]);
	if (!is_host_port(ward_buf_str(&to)))
		return ward_err_set(err, -EINVAL,
			"connect takes HOST[:PORT], such as example.org:443, not '%s'",
			a->words[1]);
	if (bare)
		ward_sayf("port 443, since '%s' names none", a->words[1]);
	return explain_connect(place, a, ward_buf_str(&to));
}

/* --- paths --- */

/* Whether the object is a directory: as the user wrote it, else as it is on the host. */
static bool is_dir(const struct ward_policy_place *place, const struct ward_request *req,
	const char *path, bool written)
{
	unsigned type = ward_policy_place_type(place, path);
	if (type)
		return type == S_IFDIR;
	/* of what does not exist: a directory on the way to something visible would be one */
	return written || (req->action == WARD_ACTION_ACCESS &&
				  !(req->rights & ~(uint32_t)(WARD_RIGHT_STAT | WARD_RIGHT_LIST)));
}

static uint32_t wanted(const struct ward_request *req)
{
	switch (req->action) {
	case WARD_ACTION_CREATE:
	case WARD_ACTION_LINK:
		return req->rights | WARD_RIGHT_CREATE;
	case WARD_ACTION_REMOVE:
	case WARD_ACTION_RENAME:
		return WARD_RIGHT_REMOVE;
	case WARD_ACTION_ACCESS:
	case WARD_ACTION_NONE:
		break;
	}
	return req->rights;
}

static int walk(const struct ward_policy *p, const char *path, const struct ward_state **ret,
	struct ward_err *err)
{
	int r = ward_policy_walk(p, path, strlen(path), ret);
	if (r == -EINVAL)
		return ward_err_set(err, r, "%s: a name has more than 255 bytes", path);
	return r < 0 ? ward_err_sys(err, r, "%s", path) : 0;
}

/*
 * [process] exec outside of the trees: the same look at the host as `wardfs run` has, and the file
 * that the path leads to.
 */
static int decide_program(
	const struct ward_policy_place *place, struct explain_answer *ans, struct ward_err *err)
{
	ward_cleanup(ward_programs_clear) struct ward_programs all = WARD_PROGRAMS_INIT;
	ward_cleanup_free char *real = NULL;
	int r = ward_programs_find(place->policy, &all, err);
	if (r < 0)
		return r;
	ward_cleanup_fd int fd = open(ans->path, O_PATH | O_CLOEXEC);
	bool listed = ward_programs_listed(place->policy, ans->path) == WARD_SANDBOX_LISTED ||
		      (fd >= 0 && ward_fd_path(fd, &real) == 0 && ward_programs_have(&all, real));
	ans->program = true;
	ans->d = (struct ward_decision){.verdict = listed ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY,
		.error = listed ? 0 : EACCES,
		.granted = listed ? WARD_RIGHT_STAT | WARD_RIGHT_READ | WARD_RIGHT_EXEC
				  : WARD_RIGHT_STAT | WARD_RIGHT_READ,
		.rule = ward_policy_first_program(place->policy)};
	return 0;
}

/* Of the rights, those that only change something. */
static uint32_t changes(uint32_t rights)
{
	return rights &
	       ~(uint32_t)(WARD_RIGHT_STAT | WARD_RIGHT_LIST | WARD_RIGHT_READ | WARD_RIGHT_EXEC);
}

/* What [system] read shows: nothing stands between, but the mount is read-only. */
static int decide_shown(const struct ward_policy_place *place, const struct ward_request *req,
	struct explain_answer *ans, struct ward_err *err)
{
	ward_cleanup(ward_tree_spots_clear) struct ward_tree_spots trees = {0};
	struct ward_shown_by by;
	int r = ward_place_trees(place, &trees, err);
	if (r == 0)
		r = ward_shown_find(place->policy, &trees, place->id.home,
			place->in_project ? place->project.path : place->project.cwd, ans->path,
			&by, err);
	if (r < 0 || !by.shown || (!by.there && req->action != WARD_ACTION_CREATE))
		return r;
	const uint32_t missing = wanted(req) & ~by.rights;
	/* A program has to be on the list, and to be shown as one. */
	if (ans->program && (ans->d.verdict != WARD_VERDICT_ALLOW || !missing))
		return 0;
	ans->program = false;
	ans->shown = by;
	ans->d = (struct ward_decision){.verdict = missing ? WARD_VERDICT_DENY : WARD_VERDICT_ALLOW,
		.error = !missing	    ? 0
			 : changes(missing) ? EROFS
					    : EACCES,
		.granted = by.rights};
	return 0;
}

/* An anchored noexec reaches what every session sees, too. */
static bool has_noexec(const struct ward_policy *p, const char *path)
{
	const struct ward_state *s = NULL;
	struct ward_trace trace = {.n = 0};
	bool has = false;
	if (ward_policy_walk(p, path, strlen(path), &s) < 0)
		return true;
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_EXEC, .state = s};
	(void)ward_policy_decide(p, &req, &trace);
	for (size_t i = 0; i < trace.n; i++)
		has = has || trace.entries[i].rule->verb == WARD_VERB_NOEXEC;
	ward_policy_state_put(p, s);
	return has;
}

/* What a session sees without a word of the policy. The mount is read-only. */
static bool decide_own(
	const struct ward_policy *p, const struct ward_request *req, struct explain_answer *ans)
{
	const uint32_t rights =
		WARD_RIGHT_STAT | WARD_RIGHT_LIST | WARD_RIGHT_READ | WARD_RIGHT_EXEC;
	const uint32_t missing = wanted(req) & ~rights;
	struct stat st;
	ans->own = ward_sandbox_own(ans->path);
	if (ans->own == WARD_SANDBOX_OWN_HOST &&
		((req->action != WARD_ACTION_CREATE && lstat(ans->path, &st) < 0) ||
			has_noexec(p, ans->path)))
		ans->own = WARD_SANDBOX_OWN_NOT;
	if (ans->own == WARD_SANDBOX_OWN_HOST)
		ans->d = (struct ward_decision){
			.verdict = missing ? WARD_VERDICT_DENY : WARD_VERDICT_ALLOW,
			.error = missing ? EROFS : 0,
			.granted = rights};
	return ans->own == WARD_SANDBOX_OWN_HOST;
}

/* What no tree serves, of one path. *ret: it was decided. */
static int decide_outside(const struct ward_policy_place *place, const struct args *a,
	const struct ward_request *req, struct explain_answer *ans, bool *ret, struct ward_err *err)
{
	int r = 0;
	if (strcmp(a->words[0], "exec") == 0 && ward_policy_has_programs(place->policy))
		r = decide_program(place, ans, err);
	if (r == 0 && !ans->path2)
		r = decide_shown(place, req, ans, err);
	*ret = ans->program || ans->shown.shown;
	if (r == 0 && !*ret && !ans->path2)
		*ret = decide_own(place->policy, req, ans);
	return r;
}

/* What a session that starts now would know of the file. */
static enum ward_fact fact_of(
	const struct ward_policy_place *place, const char *path, const struct ward_state *state)
{
	ward_cleanup_free char *host =
		ward_policy_secret(state) ? ward_policy_place_host(place, path) : NULL;
	return host ? ward_found_fact(place->policy, AT_FDCWD, host, path) : WARD_FACT_ABSENT;
}

/* Which of the cases of `secret` holds, and why. */
static void say_fact(const struct ward_request *req, struct explain_answer *ans)
{
	static const char *const said[] = {
		[WARD_FACT_THERE] =
			"the file exists and git has not committed it, so wardfs hides it unless the session made it",
		[WARD_FACT_DIFFERS] =
			"git tracks the file, but its content differs from git's, or wardfs could not compare it. wardfs refuses it, because 'git commit -a' would delete a hidden tracked file",
		[WARD_FACT_COMMITTED] =
			"git has committed this content, so everybody who reads the repository has it",
		[WARD_FACT_OWN] = "the session made the file",
		[WARD_FACT_ABSENT] =
			"no such file exists; the session can use a file that it makes here",
	};
	const bool second = !ward_policy_secret(req->state);
	if (ans->outside)
		return;
	if (second && !(req->state2 && ward_policy_secret(req->state2)))
		return;
	ans->fact = second ? req->fact2 : req->fact;
	ans->fact_why = said[ans->fact];
}

/* The existing file decides, too: its type, a link, whether git has it. */
static int reach(const struct ward_policy_place *place, const char *path, struct ward_err *err)
{
	ward_cleanup_free char *host = path ? ward_policy_place_host(place, path) : NULL;
	return path ? ward_patient_reach(host ? host : path, err) : 0;
}

static int decide(const struct ward_policy_place *place, const struct args *a,
	struct ward_request *req, struct explain_answer *ans, struct ward_err *err)
{
	bool dir = false, dir2 = false;
	int r = ward_policy_place_path(place, a->words[1], &ans->path, &dir, err);
	if (r == 0 && a->n == 3)
		r = ward_policy_place_path(place, a->words[2], &ans->path2, &dir2, err);
	if (r == 0)
		r = reach(place, ans->path, err);
	if (r == 0)
		r = reach(place, ans->path2, err);
	if (r < 0)
		return r;
	assert(ans->path);
	if (!ward_policy_place_in_tree(place, ans->path))
		ans->outside = ans->path;
	else if (ans->path2 && !ward_policy_place_in_tree(place, ans->path2))
		ans->outside = ans->path2;
	if (is_dir(place, req, ans->path, dir))
		req->flags |= WARD_REQUEST_DIR;
	unsigned type2 = ans->path2 ? ward_policy_place_type(place, ans->path2) : 0;
	if (type2 && req->action == WARD_ACTION_RENAME)
		req->flags |= WARD_REQUEST_DST_EXISTS;
	if (type2 == S_IFDIR)
		req->flags |= WARD_REQUEST_DST_DIR;
	if (ans->path2 && ward_policy_place_type(place, ans->path) == S_IFLNK)
		req->flags |= WARD_REQUEST_SYMLINK;
	bool decided = false;
	if (ans->outside)
		r = decide_outside(place, a, req, ans, &decided, err);
	if (r < 0 || decided)
		return r;
	r = walk(place->policy, ans->path, &req->state, err);
	if (r == 0 && ans->path2)
		r = walk(place->policy, ans->path2, &req->state2, err);
	if (r == 0)
		r = ward_policy_tree_root(place->policy, ans->path, &req->root);
	if (r == 0) {
		req->fact = fact_of(place, ans->path, req->state);
		if (ans->path2)
			req->fact2 = fact_of(place, ans->path2, req->state2);
		/* The actions that create a name are answered as if it did not exist. */
		if (req->action == WARD_ACTION_CREATE && !ward_policy_secret(req->state))
			req->fact = WARD_FACT_ABSENT;
		say_fact(req, ans);
		ans->d = ward_policy_decide(place->policy, req, &ans->trace);
		ward_place_look(place, req, ans->path, ans->path2, &ans->d);
		ans->staged = explain_staged(place, req, ans->path, ans->path2, &ans->d);
	}
	ward_policy_state_put(place->policy, req->state);
	ward_policy_state_put(place->policy, req->state2);
	ward_policy_state_put(place->policy, req->root);
	return r;
}

/* What no tree serves can be shown as it is, unless a guard names it. */
static void permit_outside(
	const struct ward_policy_place *place, uint32_t want, struct explain_answer *a)
{
	ward_cleanup(ward_shown_file_clear) struct ward_shown_file s = WARD_SHOWN_FILE_INIT;
	ward_cleanup(ward_tree_spots_clear) struct ward_tree_spots trees = {0};
	struct ward_err ignored = WARD_ERR_INIT;
	if (ward_place_trees(place, &trees, &ignored) < 0 ||
		ward_shown_look(place->policy, &trees, a->outside, NULL, &s) < 0)
		return;
	if (s.closed) {
		/* [lift] is for what a tree serves. */
		struct ward_rule rule = *s.closed;
		rule.liftable = false;
		const struct ward_decision d = {.error = EACCES, .rule = &rule};
		ward_explain_permit(&d, want, a->outside, place->owner_file, &a->permit);
	} else if (s.served >= 0 || s.links >= 0) {
		ward_buf_printf(&a->permit, "nothing permits it here: the tree %s guards it",
			ward_policy_settings(place->policy)
				->trees[s.served >= 0 ? s.served : s.links]
				.path);
	} else if (!s.type) {
		ward_buf_puts(&a->permit,
			"no line can permit it: you cannot reach such a file on the host");
	} else if (s.type != S_IFREG && s.type != S_IFDIR) {
		ward_buf_puts(&a->permit,
			"nothing permits it: only directories and regular files can be shown");
	} else {
		ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
		ward_buf_printf(&a->permit,
			"wardfs run --read %s, for one run; 'read = %s' in [system] of %s, for "
			"every one",
			ward_shell_quoted(&word, a->outside), a->outside,
			place->owner_file ? place->owner_file : "the policy");
	}
}

/* Which of two paths was refused: the second if the first gives what is needed. */
static void permit(const struct ward_policy_place *place, const struct ward_request *req,
	struct explain_answer *a)
{
	if (a->d.verdict == WARD_VERDICT_ALLOW)
		return;
	if (a->program) {
		ward_explain_permit(&a->d, wanted(req), a->path, place->owner_file, &a->permit);
		return;
	}
	if (a->outside && changes(wanted(req))) {
		ward_buf_puts(&a->permit,
			"wardfs run --write DIRECTORY, for one run; or a tree of its own in the "
			"policy");
		return;
	}
	if (a->shown.shown) {
		ward_buf_puts(&a->permit,
			"a rule takes executing away from what [system] read shows: "
			"only a policy without this rule permits it");
		return;
	}
	if (a->outside) {
		permit_outside(place, wanted(req), a);
		return;
	}
	const char *path = a->path;
	uint32_t want = wanted(req);
	if (req->action == WARD_ACTION_RENAME && a->d.granted & WARD_RIGHT_STAT &&
		a->d.granted & WARD_RIGHT_REMOVE) {
		path = a->path2;
		want = WARD_RIGHT_CREATE;
	}
	if (req->action == WARD_ACTION_LINK)
		path = a->path2;
	ward_explain_permit(&a->d, want, path, place->owner_file, &a->permit);
}

/* The repository of an earlier start in which the path lies: the innermost one. */
static void find_remembered(const struct ward_policy_place *place, struct explain_answer *a)
{
	a->remembered = ward_rule_remembered(place->policy, a->d.rule);
	ward_cleanup_free char *host =
		a->remembered ? ward_policy_place_host(place, a->path) : NULL;
	for (size_t i = 0; host && i < place->known.n; i++) {
		const struct ward_known_repo *k = &place->known.v[i];
		if (ward_guards_remembered(&place->known, k) && ward_known_beneath(host, k->path) &&
			(!a->repository || ward_known_beneath(k->path, a->repository)))
			a->repository = k->path;
	}
}

/* What `secret` hides from a session depends on what the session did: those that run know more. */
static void find_sessions(const struct ward_policy_place *place, const struct ward_request *req,
	struct explain_answer *a)
{
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf project = WARD_BUF_INIT;
	struct ward_err ignored = WARD_ERR_INIT;
	a->sessions = json_array();
	a->running = json_array();
	if ((!a->fact_why && a->d.verdict == WARD_VERDICT_ALLOW) || !place->in_project ||
		ward_control_runtime(&runtime, &ignored) < 0)
		return;
	ward_escape(&project, place->project.path, strlen(place->project.path));
	json_t *all = ward_sessions_running(runtime), *s = NULL;
	size_t i = 0;
	json_array_foreach(all, i, s)
	{
		const char *theirs = json_string_value(json_object_get(s, "project"));
		if (theirs && strcmp(theirs, ward_buf_str(&project)) == 0)
			json_array_append(a->sessions, json_object_get(s, "session"));
	}
	json_decref(all);
	if (a->d.verdict != WARD_VERDICT_ALLOW) {
		json_decref(a->running);
		a->running = explain_running(a->sessions, a->path, wanted(req));
	}
	if (!a->fact_why)
		json_array_clear(a->sessions);
}

static int explain(
	const struct ward_policy_place *place, const struct args *a, struct ward_err *err)
{
	if (strcmp(a->words[0], "connect") == 0)
		return connect_to(place, a, err);
	struct ward_request req;
	static const char *const actions[] = {"stat", "list", "read", "exec", "append", "create",
		"symlink", "write", "remove", "rename", "link", "chmod", "connect"};
	int r = ward_explain_action(a->words[0], &req, err);
	const char *near = r < 0 ? ward_near(a->words[0], actions,
					   sizeof(actions) / sizeof(*actions), sizeof(*actions))
				 : NULL;
	if (near)
		return ward_err_set(
			err, r, "unknown action '%s': did you mean '%s'?", a->words[0], near);
	if (r < 0)
		return r;
	struct explain_answer ans = {.action = a->words[0], .policy = place->policy};
	r = decide(place, a, &req, &ans, err);
	if (r == 0) {
		permit(place, &req, &ans);
		find_remembered(place, &ans);
		find_sessions(place, &req, &ans);
		if (a->o.json)
			explain_answer_print_json(&ans);
		else
			explain_answer_print(&ans);
		r = ans.d.verdict == WARD_VERDICT_ALLOW ? 0 : 1;
	}
	free(ans.path);
	free(ans.path2);
	ward_buf_clear(&ans.permit);
	json_decref(ans.sessions);
	json_decref(ans.running);
	return r;
}

int ward_policy_cmd_explain(int argc, char **argv)
{
	struct args a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place place;
	int r = ward_policy_place_find(a.o.policy, &place, &err);
	if (r == 0)
		ward_policy_place_say_none(&place);
	if (r == 0 && a.o.policy)
		r = ward_policy_place_named(&place, &err);
	if (r == 0)
		r = explain(&place, &a, &err);
	if (r < 0) {
		ward_say(err.text);
		return 2;
	}
	return r;
}
