/* SPDX-License-Identifier: Apache-2.0 */
/* Puts the records of the supervisor into the trail. */
#include "enforcer/session/records/session_records.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "audit/terms.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"
#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/guard/anchor.h"
#include "enforcer/session/guard/crashed.h"
#include "enforcer/session/plan/staged.h"
#include "enforcer/session/plan/single_files.h"
#include "enforcer/session/records/record_text.h"
#include "enforcer/session/records/session_about.h"
#include "enforcer/session/records/weighed_json.h"

/* A piece of policy text in one record; leaves room for the other fields of WARD_EVENT_MAX. */
#define PIECE 8192
/* Of the command's arguments this much is kept in session.start. */
#define ARGV_MAX 6144
/* Of new files that the host executes later this much, as JSON, is kept in session.end. */
#define FOUND_MAX 12288

static json_t *argv_json(char *const *argv)
{
	json_t *a = json_array();
	size_t left = ARGV_MAX;
	for (char *const *v = argv; v && *v; v++) {
		size_t n = strlen(*v);
		if (n > left) {
			json_array_append_new(a, json_string("…"));
			break;
		}
		left -= n;
		json_array_append_new(a, ward_record_text(*v));
	}
	return a;
}

static json_t *strings_json(const struct ward_strings *s)
{
	json_t *a = json_array();
	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(a, ward_record_text(s->v[i]));
	return a;
}

static json_t *env_json(const struct ward_env_args *env)
{
	json_t *a = json_array();
	for (size_t i = 0; env && i < env->n; i++)
		json_array_append_new(a, json_stringn(env->v[i], strcspn(env->v[i], "=")));
	return a;
}

/* The sandbox's own, unless it is a tree or was asked for. */
static void add_own(json_t *a, const char *path)
{
	size_t i = 0;
	json_t *v = NULL;
	json_array_foreach(a, i, v)
	{
		const char *have = json_string_value(json_object_get(v, "path"));
		if (have && strcmp(have, path) == 0)
			return;
	}
	json_t *o = json_object();
	json_object_set_new(o, "path", ward_record_text(path));
	json_object_set_new(o, "recorded", json_false());
	json_object_set_new(o, "own", json_true());
	json_array_append_new(a, o);
}

static json_t *trees_json(const struct ward_run_plan *p, bool sandbox)
{
	json_t *a = json_array();
	for (size_t i = 0; i < p->n_trees; i++) {
		const struct ward_run_plan_tree *t = &p->trees[i];
		json_t *o = json_object();
		json_object_set_new(o, "path", ward_record_text(t->path));
		json_object_set_new(o, "source",
			t->source ? ward_record_text(t->source) : json_string("tmpfs"));
		if (t->at)
			json_object_set_new(o, "at", ward_record_text(t->at));
		json_object_set_new(o, "recorded", json_true());
		if (ward_plan_stages(p, i))
			json_object_set_new(o, "staged", json_true());
		json_array_append_new(a, o);
	}
	for (size_t i = 0; i < p->n_reads; i++) {
		json_t *o = json_object();
		json_object_set_new(o, "path", ward_record_text(p->reads[i]));
		json_object_set_new(o, "recorded", json_boolean(ward_single_file(p, i)));
		json_array_append_new(a, o);
	}
	bool whole = sandbox && (!(p->mode->layers & WARD_LAYER_VIEW) || p->image.fd >= 0 ||
					p->settings->view == WARD_VIEW_READONLY);
	const char *own[WARD_SANDBOX_OWN_MAX];
	size_t n_own = sandbox && !whole ? ward_sandbox_own_paths(own) : 0;
	if (whole)
		add_own(a, "/");
	for (size_t i = 0; i < n_own; i++)
		add_own(a, own[i]);
	if (sandbox && p->settings->home != WARD_HOME_NONE)
		add_own(a, p->id.agent_home);
	return a;
}

/* What is the same in session.start and, of a session that was prepared, in its take. */
static void add_asked(json_t *o, const struct ward_run_plan *p, const struct ward_record_start *s)
{
	json_t *labels = ward_labels_json(
		s->labels ? s->labels->v : NULL, s->labels ? s->labels->n : 0, s->agent);
	if (json_object_size(labels))
		json_object_set(o, "labels", labels);
	json_decref(labels);
	if (s->argv && !ward_word_said(p->settings->redact, WARD_REDACT_ARGV))
		json_object_set_new(o, "argv", argv_json(s->argv));
	json_object_set_new(o, "env", env_json(s->env));
}

static json_t *start_json(
	const struct ward_run_plan *p, const struct ward_record_start *s, const char *transport)
{
	struct utsname u;
	json_t *o = json_object();
	json_object_set_new(o, "verb", json_string(s->verb));
	if (s->mode)
		json_object_set_new(o, "mode", json_string(s->mode));
	json_object_set_new(o, "version", json_string(WARD_VERSION));
	if (uname(&u) == 0)
		json_object_set_new(o, "kernel", json_string(u.release));
	json_object_set_new(o, "pid", json_integer(getpid()));
	json_object_set_new(o, "started_by", json_integer(getuid()));
	const char *sudo_user = getenv("SUDO_USER");
	if (sudo_user)
		json_object_set_new(o, "sudo_user", ward_record_text(sudo_user));
	ward_login_json(o);
	json_object_set_new(o, "clock", ward_clock_json());
	json_object_set_new(o, "owner", ward_record_text(p->id.name));
	json_object_set_new(o, "owner_uid", json_integer(p->id.owner_uid));
	json_object_set_new(o, "agent_uid", json_integer(p->id.agent_uid));
	json_object_set_new(o, "project", ward_record_text(p->project.path));
	if (p->owner_policy)
		json_object_set_new(o, "owner_policy_file", ward_record_text(p->owner_policy));
	add_asked(o, p, s);
	if (s->prepared)
		json_object_set_new(o, "prepared", json_true());
	if (p->settings->anchors.n > 0)
		json_object_set_new(o, "anchors", strings_json(&p->settings->anchors));
	if (ward_anchors_unasked(&p->settings->anchors))
		json_object_set_new(o, "anchor_unasked", json_string("journald"));
	if (s->sandbox_facts)
		json_object_set_new(o, "exec", json_boolean(s->listens));
	if (transport)
		json_object_set_new(o, "transport", json_string(transport));
	json_object_set_new(o, "mounts", trees_json(p, s->sandbox_facts != NULL));
	if (p->via)
		json_object_set_new(o, "via", json_string(p->via));
	if (s->container)
		json_object_set_new(o, "container", json_deep_copy(s->container));
	if (p->weighed)
		json_object_set_new(o, "risk", ward_weighed_json(p->weighed, false, p->settings));
	if (s->sandbox_facts) {
		json_t *facts = json_loads(s->sandbox_facts, 0, NULL);
		if (facts)
			json_object_set_new(o, "sandbox", facts);
	}
	return o;
}

static int put_pieces(struct ward_guard *g, const struct ward_policy *p, const char *name,
	const struct ward_buf *text, struct ward_event *ev)
{
	int r = 0;
	for (size_t at = 0; r == 0 && at < text->len; at += PIECE) {
		size_t n = text->len - at < PIECE ? text->len - at : PIECE;
		ward_event_begin(ev, WARD_EVENT_POLICY);
		ward_event_text(ev, WARD_TAG_POLICY, ward_policy_digest(p));
		ward_event_text(ev, WARD_TAG_NAME, name);
		ward_event_bytes(ev, WARD_TAG_TEXT, text->data + at, n);
		r = ward_guard_put(g, ev);
	}
	return r;
}

static int put_policy(struct ward_guard *g, const struct ward_policy *p, struct ward_event *ev)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf meaning = WARD_BUF_INIT;
	int r = ward_policy_encode(p, &blob);
	if (r == 0)
		r = ward_policy_meaning(p, &meaning);
	if (r == 0)
		r = put_pieces(g, p, WARD_POLICY_SOURCES, &blob, ev);
	return r < 0 ? r : put_pieces(g, p, WARD_POLICY_MEANING, &meaning, ev);
}

int ward_record_session_start(struct ward_guard *g, const struct ward_run_plan *p,
	const struct ward_record_start *s, struct ward_err *err)
{
	json_t *o = start_json(p, s, g->transport);
	ward_cleanup_free char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(o);
	ward_cleanup_free struct ward_event *ev = text ? malloc(sizeof(*ev)) : NULL;
	if (!ev)
		return ward_err_sys(err, -ENOMEM, "trail");
	ward_event_begin(ev, WARD_EVENT_SESSION_START);
	ward_event_text(ev, WARD_TAG_POLICY, ward_policy_digest(p->policy));
	ward_event_text(ev, WARD_TAG_JSON, text);
	int r = ward_guard_put(g, ev);
	if (r == 0)
		r = put_policy(g, p->policy, ev);
	return r < 0 ? ward_err_sys(err, r, "trail") : 0;
}

int ward_record_taken(struct ward_guard *g, const struct ward_run_plan *p,
	const struct ward_record_start *s, const char *cwd, pid_t pid, uid_t uid)
{
	json_t *o = json_object();
	add_asked(o, p, s);
	ward_cleanup_free char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(o);
	ward_cleanup_free struct ward_event *ev = text ? malloc(sizeof(*ev)) : NULL;
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_TAKE);
	ward_event_u64(ev, WARD_TAG_PID, (uint64_t)pid);
	ward_event_u64(ev, WARD_TAG_UID, uid);
	ward_event_bytes(ev, WARD_TAG_CWD, cwd, strlen(cwd));
	ward_event_text(ev, WARD_TAG_JSON, text);
	return ward_guard_put(g, ev);
}

/* Takes e. False: it does not fit into *room; what is shorter may. */
static bool append(json_t *list, json_t *e, size_t *room)
{
	ward_cleanup_free char *text =
		json_dumps(e, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_ENCODE_ANY);
	const size_t n = text ? strlen(text) + 1 : SIZE_MAX;
	if (n > *room) {
		json_decref(e);
		return false;
	}
	*room -= n;
	return json_array_append_new(list, e) == 0;
}

/* What was left, as far as it fits into *room. */
static void add_left(json_t *o, const struct ward_executed *found, size_t *room)
{
	static const char *const kinds[] = {[WARD_LEFT_NONE] = "",
		[WARD_LEFT_PIPE] = "pipe",
		[WARD_LEFT_SOCKET] = "socket",
		[WARD_LEFT_DEVICE] = "device",
		[WARD_LEFT_OUT] = "link-out",
		[WARD_LEFT_CLOSED] = "link-closed"};
	json_t *list = json_array();
	size_t out = 0;
	for (size_t i = 0; i < found->n_left; i++) {
		const struct ward_left *l = &found->left[i];
		json_t *e = json_pack(
			"{s:s, s:o}", "kind", kinds[l->kind], "path", ward_record_text(l->path));
		if (e && l->to)
			json_object_set_new(e, "to", ward_record_text(l->to));
		out += !append(list, e, room);
	}
	json_object_set_new(o, "left", list);
	json_object_set_new(o, "left_more", json_integer((json_int_t)(out + found->left_more)));
}

/* The paths that fit; how many did not. */
static void add_executed(json_t *o, const struct ward_executed *found)
{
	json_t *list = json_array();
	/* The one cannot take the room of the other. */
	size_t room = found->n_left ? FOUND_MAX / 2 : FOUND_MAX, out = 0;
	for (size_t i = 0; i < found->n; i++)
		out += !append(list, ward_record_text(found->paths[i]), &room);
	json_object_set_new(o, "host_executed", list);
	json_object_set_new(o, "more", json_integer((json_int_t)out));
	json_object_set_new(o, "whole", json_boolean(found->whole));
	room += FOUND_MAX / 2;
	if (found->n_left)
		add_left(o, found, &room);
}

/* Takes o. An event keeps its bytes, so the text is not needed afterwards. */
static int put_json(struct ward_event *ev, json_t *o)
{
	ward_cleanup_free char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(o);
	if (!text)
		return -ENOMEM;
	ward_event_text(ev, WARD_TAG_JSON, text);
	return 0;
}

int ward_record_session_end(struct ward_guard *g, int status, int signal, const char *cause,
	const struct ward_executed *found, json_t *details)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_SESSION_END);
	if (status >= 0)
		ward_event_u64(ev, WARD_TAG_STATUS, (uint64_t)status);
	if (signal > 0)
		ward_event_u64(ev, WARD_TAG_SIGNAL, (uint64_t)signal);
	if (g->lost)
		ward_event_text(ev, WARD_TAG_RESULT, WARD_RESULT_INCOMPLETE);
	ward_event_text(ev, WARD_TAG_TEXT, cause);
	json_t *o = details ? json_incref(details) : json_object();
	json_object_set_new(o, "clock", ward_clock_json());
	if (found && (found->n || found->n_left || !found->whole))
		add_executed(o, found);
	int r = 0;
	if (json_object_size(o))
		r = put_json(ev, o);
	else
		json_decref(o);
	return r < 0 ? r : ward_guard_put(g, ev);
}

int ward_record_policy(struct ward_guard *g, const struct ward_policy *policy)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	return ev ? put_policy(g, policy, ev) : -ENOMEM;
}

int ward_record_reload(struct ward_guard *g, const struct ward_policy *before,
	const struct ward_policy *now, bool loaded, uid_t by, const char *text, uint64_t mono_ns)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	char who[32];
	char detail[64];
	if (!ev)
		return -ENOMEM;
	snprintf(who, sizeof(who), "uid %u", by);
	snprintf(detail, sizeof(detail), "{\"mono\":%llu}", (unsigned long long)mono_ns);
	ward_event_begin(ev, WARD_EVENT_RELOAD);
	ward_event_text(ev, WARD_TAG_POLICY_BEFORE, ward_policy_digest(before));
	if (now)
		ward_event_text(ev, WARD_TAG_POLICY, ward_policy_digest(now));
	ward_event_text(ev, WARD_TAG_RESULT, loaded ? "loaded" : "refused");
	ward_event_text(ev, WARD_TAG_BY, who);
	ward_event_text(ev, WARD_TAG_TEXT, text);
	if (loaded)
		ward_event_text(ev, WARD_TAG_JSON, detail);
	return ward_guard_put(g, ev);
}

int ward_record_limit(struct ward_guard *g, const struct ward_record_limit *l)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_LIMIT);
	ward_event_text(ev, WARD_TAG_TEXT, l->text);
	ward_event_text(ev, WARD_TAG_NAME, l->name);
	if (l->limit != WARD_UNLIMITED)
		ward_event_u64(ev, WARD_TAG_LIMIT, l->limit);
	if (l->used != WARD_UNLIMITED)
		ward_event_u64(ev, WARD_TAG_USED, l->used);
	ward_event_text(ev, WARD_TAG_UNIT, l->unit);
	ward_event_text(ev, WARD_TAG_DONE, l->done);
	return ward_guard_put(g, ev);
}

void ward_record_not_started(struct ward_guard *g, const char *why)
{
	ward_cleanup_free char *cause = NULL;
	if (!g->ring || (g->system && g->audit.pid <= 0))
		return;
	/* It was started before what failed, and may be at its first lines still. */
	if (ward_guard_on_disk(g, NULL) < 0)
		return;
	if (!g->ready && (g->audit.pid <= 0 || ward_helper_wait_ready(&g->audit, NULL, NULL) < 0)) {
		if (!g->system)
			(void)!ward_helper_reap(&g->audit, 0, true);
		/* Each session in the ledger must have a trail. If nothing can be written now, the
		 * next start writes it. */
		if (g->system || !ward_crashed_begun(g->state, g->store.ledger.fd, g->store.name) ||
			ward_guard_recover(g, "wardfs-audit failed before the first record", NULL) <
				0)
			return;
	}
	g->ready = true;
	if (asprintf(&cause, "nothing was started: %s", why) < 0)
		cause = NULL;
	if (ward_record_session_end(g, -1, 0, cause ? cause : "nothing was started", NULL, NULL) ==
		0)
		(void)!ward_guard_finish(g, NULL, NULL);
}
