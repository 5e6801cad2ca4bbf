/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs review mark, log, back: steps of a session. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/review/review_cli.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/owner/as_owner.h"

/* A mark copies what is mapped for writing: a large file takes its time. */
#define PATIENCE_MS 120000

static const char *kind_word(char kind)
{
	switch (kind) {
	case 'o':
		return "outside";
	case 'a':
		return "inside";
	case 'e':
		return "exec";
	case 'q':
		return "quiet";
	case 'b':
		return "before-back";
	default:
		return "?";
	}
}

/* NULL after a message; *ret_runtime is the caller's. */
static json_t *ask(const char *session, json_t *request)
{
	ward_cleanup_free char *runtime = NULL;
	ward_cleanup_free char *text = json_dumps(request, JSON_COMPACT);
	ward_cleanup_free char *answer = NULL;
	struct ward_err err = WARD_ERR_INIT;
	json_decref(request);
	int r = ward_control_runtime(&runtime, &err);
	if (r == 0)
		r = ward_control_ask_with(
			runtime, session, text ? text : "{}", -1, PATIENCE_MS, &answer, &err);
	if (r < 0) {
		ward_say(err.text);
		return NULL;
	}
	json_t *o = json_loads(answer, 0, NULL);
	if (o && json_is_true(json_object_get(o, "ok")))
		return o;
	const char *error = json_string_value(json_object_get(o, "error"));
	ward_sayf("session %s: %s", session, error ? error : "the session's answer is not valid");
	json_decref(o);
	return NULL;
}

static uint64_t number(const json_t *o, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(o, name));
}

static int mark(const char *session, const char *name)
{
	json_t *o = ask(session, json_pack("{s:s, s:s}", "verb", "mark", "text", name ? name : ""));
	if (!o)
		return 1;
	ward_outf("step %" PRIu64 "\n", number(o, "step"));
	json_decref(o);
	return 0;
}

static int back(const char *session, const char *step)
{
	json_t *o = ask(session, json_pack("{s:s, s:s}", "verb", "back", "text", step));
	if (!o)
		return 1;
	ward_outf("back at step %s: %" PRIu64 " names and the content of %" PRIu64
		  " files changed; step %" PRIu64 " has what was there\n",
		step, number(o, "names"), number(o, "files"), number(o, "before"));
	if (!json_is_true(json_object_get(o, "forgotten")))
		ward_say(
			"the kernel has not forgotten everything yet: programs may see the files of "
			"before for a moment");
	json_decref(o);
	return 0;
}

static void print_step(
	uint64_t id, uint64_t time_ns, const char *changes, char kind, const char *name)
{
	char when[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(time_ns, when);
	ward_outf("%5" PRIu64 "  %s  %8s  %-11s  %s\n", id, when, changes, kind_word(kind), name);
}

static int log_running(const char *session)
{
	json_t *o = ask(session, json_pack("{s:s}", "verb", "steps"));
	const json_t *s = NULL;
	size_t i = 0;
	if (!o)
		return 1;
	json_array_foreach(json_object_get(o, "steps"), i, s)
	{
		char changes[24];
		const char *kind = json_string_value(json_object_get(s, "kind"));
		const char *name = json_string_value(json_object_get(s, "name"));
		snprintf(changes, sizeof(changes), "%" PRIu64, number(s, "changes"));
		print_step(number(s, "step"), number(s, "time"), changes, kind ? *kind : '?',
			name ? name : "");
	}
	const uint64_t since = number(o, "changes");
	ward_outf("%" PRIu64 " change%s since\n", since, ward_s(since));
	json_decref(o);
	return 0;
}

static int log_ended(const char *session, struct ward_err *err)
{
	ward_cleanup(ward_review_meant_clear) struct ward_review_meant m = {.dir_fd = -1};
	ward_cleanup_free struct ward_review_step *v = NULL;
	struct ward_as_owner as;
	size_t n = 0;
	ward_review_meant_init(&m);
	int r = ward_review_meant_find(session, false, &m, err);
	if (r == 0)
		r = ward_as_owner_begin(&m.place.id, &as, err);
	if (r < 0)
		return r;
	r = ward_reviews_steps(m.dir_fd, &v, &n, err);
	ward_as_owner_end(&as);
	for (size_t i = 0; r == 0 && i < n; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
		ward_escape(&name, v[i].name, strlen(v[i].name));
		print_step(v[i].id, v[i].time_ns, "-", v[i].kind, ward_buf_str(&name));
	}
	return r;
}

static bool runs(const char *session)
{
	ward_cleanup_free char *runtime = NULL;
	struct ward_err err = WARD_ERR_INIT;
	json_t *all =
		ward_control_runtime(&runtime, &err) == 0 ? ward_sessions_running(runtime) : NULL;
	const json_t *o = NULL;
	bool found = false;
	size_t i = 0;
	json_array_foreach(all, i, o)
	{
		const char *name = json_string_value(json_object_get(o, "session"));
		found = found || !session || (name && strcmp(name, session) == 0);
	}
	json_decref(all);
	return found;
}

int review_steps(const struct review_args *a, struct ward_err *err)
{
	if (a->word == REVIEW_LOG && !runs(a->session))
		return log_ended(a->session, err);
	ward_cleanup_free char *session = ward_sessions_meant(a->session ? a->session : "latest");
	if (!session)
		return 1;
	if (a->word == REVIEW_LOG)
		return log_running(session);
	return a->word == REVIEW_MARK ? mark(session, a->n_paths ? a->paths[0] : NULL)
				      : back(session, a->paths[0]);
}
