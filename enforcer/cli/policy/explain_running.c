/* SPDX-License-Identifier: Apache-2.0 */
/* Asks running sessions for grants and questions about one path or host. */
#include "enforcer/cli/policy/explain_running.h"

#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/policy/grants.h"
#include "enforcer/session/control/control.h"

static const char *member(const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));
	return s ? s : "";
}

/* The bytes that a text of an answer stands for. NULL: a malformed text. */
static char *bytes_of(const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	return ward_unescape(&b, text, strlen(text)) == 0 ? ward_buf_steal(&b) : NULL;
}

/* Does a list of rights ("read,exec") have one of the set? */
static bool gives(const char *list, uint32_t want)
{
	for (unsigned i = 0; i < WARD_RIGHTS_COUNT; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		if (!(want & UINT32_C(1) << i))
			continue;
		ward_rights_format(&b, UINT32_C(1) << i);
		for (const char *s = list; *s; s += strcspn(s, ","), s += *s == ',')
			if (strcspn(s, ",") == b.len && strncmp(s, ward_buf_str(&b), b.len) == 0)
				return true;
	}
	return false;
}

/* As the session's own look-up has it. */
static bool covers(const char *pattern, const char *path)
{
	struct ward_grants *set = NULL;
	struct ward_grant g = {
		.rights = WARD_RIGHT_READ, .pattern = bytes_of(pattern), .issuer = strdup("?")};
	struct ward_granted m = {0};
	if (g.pattern && g.issuer && ward_grants_new(&set) == 0 &&
		ward_grants_add(set, &g, NULL, NULL) == 0)
		(void)!ward_grants_match(set, path, strlen(path), 0, ward_clock_boot_ns(), &m);
	const bool found = m.rights != 0;
	ward_grants_free(set);
	ward_grant_clear(&g);
	return found;
}

static void add_grants(
	json_t *list, const char *runtime, const char *session, const char *path, uint32_t want)
{
	static const char *const copied[] = {"rights", "left_s", "uses", "used"};
	const json_t *g = NULL;
	size_t i = 0;
	json_t *o = ward_sessions_ask(runtime, session, "{\"verb\":\"grants\"}");
	json_array_foreach(json_object_get(o, "grants"), i, g)
	{
		if (strcmp(member(g, "state"), "live") != 0 || !*member(g, "pattern") ||
			!gives(member(g, "rights"), want) || !covers(member(g, "pattern"), path))
			continue;
		json_t *one = json_pack(
			"{s:s, s:O}", "session", session, "grant", json_object_get(g, "id"));
		for (size_t k = 0; k < sizeof(copied) / sizeof(*copied); k++)
			json_object_set(one, copied[k], json_object_get(g, copied[k]));
		json_array_append_new(list, one);
	}
	json_decref(o);
}

/* Is it about this path? */
static bool is_about(const json_t *o, const char *path)
{
	ward_cleanup_free char *of = bytes_of(member(o, "path"));
	ward_cleanup_free char *to = bytes_of(member(o, "path2"));
	return (of && strcmp(of, path) == 0) || (to && strcmp(to, path) == 0);
}

/* Or one of those that joined it. */
static bool asks_about(const json_t *q, const char *path)
{
	const json_t *one = NULL;
	size_t i = 0;
	bool found = is_about(q, path);
	json_array_foreach(json_object_get(q, "more"), i, one) found = found || is_about(one, path);
	return found;
}

static void add_questions(json_t *list, const char *runtime, const char *session, const char *path)
{
	const json_t *q = NULL;
	size_t i = 0;
	json_t *o = ward_sessions_ask(runtime, session, "{\"verb\":\"questions\"}");
	json_array_foreach(json_object_get(o, "questions"), i, q)
	{
		if (asks_about(q, path))
			json_array_append_new(
				list, json_pack("{s:s, s:O, s:O, s:O}", "session", session,
					      "question", json_object_get(q, "question"), "action",
					      json_object_get(q, "action"), "waits",
					      json_object_get(q, "waits")));
	}
	json_decref(o);
}

json_t *explain_running(const json_t *sessions, const char *path, uint32_t want)
{
	json_t *list = json_array();
	const json_t *name = NULL;
	ward_cleanup_free char *runtime = NULL;
	struct ward_err ignored = WARD_ERR_INIT;
	size_t i = 0;
	if (ward_control_runtime(&runtime, &ignored) < 0)
		return list;
	json_array_foreach(sessions, i, name)
	{
		add_grants(list, runtime, json_string_value(name), path, want);
		add_questions(list, runtime, json_string_value(name), path);
	}
	return list;
}

void explain_running_print(const json_t *list)
{
	const json_t *o = NULL;
	size_t i = 0;
	json_array_foreach(list, i, o)
	{
		const json_t *left = json_object_get(o, "left_s");
		if (*member(o, "question")) {
			ward_outf("  asked   session %s asks for %s just now: wardfs approve %s\n",
				member(o, "session"), member(o, "action"), member(o, "question"));
			continue;
		}
		ward_outf("  grant   in session %s, %s gives %s", member(o, "session"),
			member(o, "grant"), member(o, "rights"));
		if (json_is_integer(left))
			ward_outf(" for another %lld s", (long long)json_integer_value(left));
		if (json_is_integer(json_object_get(o, "uses")))
			ward_outf(", used %lld of %lld times",
				(long long)json_integer_value(json_object_get(o, "used")),
				(long long)json_integer_value(json_object_get(o, "uses")));
		ward_outf("\n");
	}
}
