/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs quota: what running sessions have used of their quotas. */
#include <argp.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "One JSON array of objects, amounts in bytes and files", 0},
	{0},
};
static const struct argp argp = {options, ward_sessions_parse, "[SESSION]",
	"Prints how much the running sessions of the caller, or the one named, have used of the quotas of their policy ([quota PATH] and [review] size, wardfs-policy(5)).",
	NULL, NULL, NULL};

static uint64_t number(const json_t *o, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(o, name));
}

static const char *per_text(uint64_t seconds)
{
	return seconds == 1 ? "/s" : seconds == 60 ? "/m" : seconds == 3600 ? "/h" : "";
}

static void print_key(const char *path, const char *key, const json_t *k)
{
	const bool bytes = strcmp(key, "files") != 0 && strcmp(key, "churn") != 0;
	char used[32] = "", limit[32], all[40];
	if (json_object_get(k, "used") && bytes)
		ward_size_text(number(k, "used"), used, sizeof(used));
	else if (json_object_get(k, "used"))
		snprintf(used, sizeof(used), "%" PRIu64, number(k, "used"));
	if (bytes)
		ward_size_text(number(k, "limit"), limit, sizeof(limit));
	else
		snprintf(limit, sizeof(limit), "%" PRIu64, number(k, "limit"));
	snprintf(all, sizeof(all), "%s%s", limit, per_text(number(k, "per")));
	const json_t *delayed = json_object_get(k, "delayed");
	ward_outf("  %-32s %-7s %10s %10s  %" PRIu64 "%s\n", path, key, *used ? used : "-", all,
		delayed ? (uint64_t)json_integer_value(delayed) : number(k, "refused"),
		delayed ? " delayed" : " refused");
}

static void print_session(const char *session, const json_t *answer)
{
	static const char *const keys[] = {"growth", "files", "file", "rate", "churn", "size"};
	const json_t *quotas = json_object_get(answer, "quotas"), *q = NULL;
	size_t i = 0;
	ward_outf("%s%s\n", session, json_array_size(quotas) ? "" : ": its policy has no quota");
	if (json_array_size(quotas))
		ward_outf("  %-32s %-7s %10s %10s\n", "PATH", "KEY", "USED", "LIMIT");
	json_array_foreach(quotas, i, q)
	{
		/* escaped once, on its way here */
		const char *path = json_string_value(json_object_get(q, "path"));
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			const json_t *o = json_object_get(q, keys[k]);
			if (o)
				print_key(path ? path : "?", keys[k], o);
		}
	}
	if (number(answer, "more"))
		ward_outf("  and %" PRIu64 " more\n", number(answer, "more"));
}

static int tell(const struct ward_sessions_asked *a, const char *runtime, const json_t *sessions)
{
	json_t *all = json_array();
	const json_t *o = NULL;
	int status = 0;
	size_t i = 0;
	json_array_foreach(sessions, i, o)
	{
		const char *name = json_string_value(json_object_get(o, "session"));
		json_t *answer =
			name ? ward_sessions_ask(runtime, name, "{\"verb\":\"quota\"}") : NULL;
		if (!answer) {
			status = 1;
			continue;
		}
		if (!a->json)
			print_session(name, answer);
		json_object_set_new(answer, "session", json_string(name));
		json_array_append_new(all, answer);
	}
	if (a->json)
		ward_print_json(json_incref(all));
	json_decref(all);
	return status;
}

int ward_cmd_quota(int argc, char **argv)
{
	struct ward_sessions_asked a = {0};
	if (ward_arguments_parse(&argp, argc, argv, 0, &a))
		return 2;
	ward_cleanup_free char *runtime = NULL;
	json_t *sessions = NULL;
	bool silent = false;
	int status = ward_sessions_choose(a.session, &runtime, &sessions, &silent);
	if (!sessions)
		return status;
	status |= silent;
	if (!a.json && !a.session && !silent && json_array_size(sessions) == 0)
		ward_sessions_say_none();
	status |= tell(&a, runtime, sessions);
	json_decref(sessions);
	return status;
}
