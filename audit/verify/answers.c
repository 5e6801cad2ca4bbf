/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at who answered. */
#include "audit/verify/answers.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/query.h"
#include "audit/verify/glass.h"
#include "audit/verify/signatures.h"
#include "enforcer/base/cleanup.h"

/*
 * A command can use a grant and end before the session heard that the grant is in force, and then
 * the question ends with the session. It takes no longer.
 */
#define ENDS_WITHIN_NS (10 * (json_int_t)1000000000)

/* "PID START" */
#define PROCESS_MAX 48

int ward_answers_begin(struct ward_answers *a)
{
	*a = (struct ward_answers){.asked = json_object(),
		.given = json_object(),
		.covered = json_object(),
		.demanded = json_object(),
		.closed = json_object(),
		.used = json_object(),
		.processes = json_object(),
		.uids = {-1, -1, -1}};
	return a->asked && a->given && a->covered && a->processes && a->demanded && a->closed &&
			       a->used
		       ? 0
		       : -ENOMEM;
}

void ward_answers_clear(struct ward_answers *a)
{
	json_decref(a->asked);
	json_decref(a->given);
	json_decref(a->covered);
	json_decref(a->demanded);
	json_decref(a->closed);
	json_decref(a->used);
	json_decref(a->processes);
}

static bool in_list(const json_t *list, const char *word)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(list, i,
		v) if (json_is_string(v) && strcmp(json_string_value(v), word) == 0) return true;
	return false;
}

/* Members that an older wardfs did not write are not checked. */
static void take_start(struct ward_answers *a, const json_t *rec)
{
	const json_t *detail = json_object_get(rec, "detail");
	const json_t *owner = json_object_get(detail, "owner_uid");
	const json_t *starter = json_object_get(detail, "started_by");
	const json_t *sandbox = json_object_get(detail, "sandbox");
	const json_t *held = json_object_get(sandbox, "guarantees");
	if (!json_is_integer(owner))
		return;
	a->started = true;
	a->uids[0] = 0;
	a->uids[1] = json_integer_value(owner);
	a->uids[2] = json_is_integer(starter) ? json_integer_value(starter) : -1;
	a->own = held && !in_list(held, "integrity") &&
		 !json_object_get(json_object_get(sandbox, "missing"), "integrity");
}

static bool name_process(const json_t *rec, char ret[PROCESS_MAX])
{
	const json_t *pid = json_object_get(rec, "pid"), *started = json_object_get(rec, "started");
	if (!json_is_integer(pid) || !json_is_integer(started))
		return false;
	(void)snprintf(ret, PROCESS_MAX, "%" JSON_INTEGER_FORMAT " %" JSON_INTEGER_FORMAT,
		json_integer_value(pid), json_integer_value(started));
	return true;
}

static int take_exec(struct ward_answers *a, const json_t *rec)
{
	char name[PROCESS_MAX];
	return name_process(rec, name) ? json_object_set_new(a->processes, name, json_true()) : 0;
}

/* The digest of what was shown is that of `detail`, as the writer put it down. */
static bool shown_is(const json_t *detail, const char *shown)
{
	unsigned char sum[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(sum) + 1];
	ward_cleanup_free char *text =
		detail ? json_dumps(detail, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	if (!text)
		return false;
	crypto_hash_sha256(sum, (const unsigned char *)text, strlen(text));
	sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum));
	return strcmp(hex, shown) == 0;
}

/* Does rec say the same of the first path as the record that began the question? */
static bool joins(const json_t *first, const json_t *rec)
{
	static const char *const same[] = {"asked", "path", "path2", "host", "port", "rule"};
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++) {
		const json_t *x = json_object_get(first, same[i]);
		const json_t *y = json_object_get(rec, same[i]);
		if (!x != !y || (x && !json_equal(x, y)))
			return false;
	}
	return true;
}

static int take_ask(struct ward_answers *a, const json_t *rec, const char **ret_why)
{
	const char *request = ward_query_text(rec, "request");
	const char *shown = ward_query_text(rec, "shown");
	/* What does not fit into a record is left out, and said. */
	if (shown && !json_object_get(rec, "cut") &&
		!shown_is(json_object_get(rec, "detail"), shown))
		*ret_why = "the digest of what was shown is another";
	json_t *all = request ? json_object_get(a->asked, request) : NULL;
	if (!request)
		return 0;
	/* Another path joins a question that waits: the same is asked, and more is shown. */
	if (all && !*ret_why && !joins(json_array_get(all, 0), rec))
		*ret_why = "it is shown in place of another question of that name";
	if (!all && json_object_set_new(a->asked, request, all = json_array()) < 0)
		return -ENOMEM;
	return json_array_append(all, (json_t *)(uintptr_t)rec) < 0 ? -ENOMEM : 0;
}

/* The records of a question that waits; of several the one that was shown with this digest. */
static const json_t *asked_as(const struct ward_answers *a, const char *request, const char *shown)
{
	const json_t *all = request ? json_object_get(a->asked, request) : NULL, *rec = NULL;
	size_t i = 0;
	json_array_foreach(all, i, rec)
	{
		const char *one = ward_query_text(rec, "shown");
		if (!shown == !one && (!shown || strcmp(one, shown) == 0))
			return rec;
	}
	return json_array_get(all, 0);
}

/* Why nobody outside of the session did that. */
static const char *wrong_who(const struct ward_answers *a, const json_t *rec)
{
	const json_t *uid = json_object_get(rec, "uid");
	const json_int_t who = json_integer_value(uid);
	char name[PROCESS_MAX];
	if (!a->started)
		return NULL;
	if (a->own)
		return "in a session of this mode the command could give it itself";
	if (!json_is_integer(uid))
		return "nobody is named";
	if (who != a->uids[0] && who != a->uids[1] && who != a->uids[2])
		return "neither root nor the owner of the session gave it";
	if (name_process(rec, name) && json_object_get(a->processes, name))
		return "a process of the session gave it";
	return NULL;
}

static bool within(const json_t *rights, const json_t *asked)
{
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(rights, i,
		v) if (json_is_string(v) && !in_list(asked, json_string_value(v))) return false;
	return true;
}

/* The grants that it names were given for an answer: to this question, or to one that asked more.
 */
static const char *wrong_grants(const struct ward_answers *a, const char *ids)
{
	ward_cleanup_free char *list = ids ? strdup(ids) : NULL;
	char *rest = NULL;
	for (char *id = list ? strtok_r(list, " ", &rest) : NULL; id;
		id = strtok_r(NULL, " ", &rest)) {
		if (!json_object_get(a->given, id))
			return "the trail has no such grant of an answer";
	}
	return NULL;
}

/* By each of the policies that can have been in force. */
static bool demands_signatures(const struct ward_answers *a)
{
	bool all = a->n_settings > 0;
	for (size_t i = 0; i < a->n_settings; i++)
		all = all && a->settings[i]->approvers_needed > 0;
	return all;
}

/* Of a grant that is none of an answer, by each of these policies. */
static const char *wrong_unasked(const struct ward_answers *a, const json_t *rec)
{
	const char *why = NULL;
	for (size_t i = 0; i < a->n_settings; i++) {
		why = ward_signatures_grant_wrong(a->settings[i], rec);
		if (!why)
			break;
	}
	return why;
}

/* By none of the policies that can have been in force a key stands for what it lifts. */
static const char *wrong_glass(const struct ward_answers *a, const json_t *rec)
{
	const char *why = NULL;
	for (size_t i = 0; i < a->n_settings; i++)
		if (!(why = ward_glass_wrong(a->settings[i], rec)))
			break;
	return why;
}

static int take_grant(struct ward_answers *a, const json_t *rec, const char **ret_why)
{
	const char *id = ward_query_text(rec, "grant"), *how = ward_query_text(rec, "how");
	const char *request = ward_query_text(rec, "request");
	const json_t *q = asked_as(a, request, NULL);
	if (!id)
		return 0;
	*ret_why = wrong_who(a, rec);
	if (!*ret_why)
		*ret_why = wrong_glass(a, rec);
	if (!how || strcmp(how, "answer") != 0) {
		/* The floor names who may break glass: approvers do not count for that. */
		if (!*ret_why && (!how || strcmp(how, "break-glass") != 0))
			*ret_why = wrong_unasked(a, rec);
		return 0;
	}
	if (!*ret_why && !q)
		*ret_why = "no question of that name waited";
	if (!*ret_why && q && !within(json_object_get(rec, "asked"), json_object_get(q, "asked")))
		*ret_why = "the grant gives more than was asked for";
	if (demands_signatures(a) && json_object_set(a->demanded, id, (json_t *)(uintptr_t)rec) < 0)
		return -ENOMEM;
	return json_object_set(a->given, id, (json_t *)(uintptr_t)rec);
}

static int take_used(struct ward_answers *a, const json_t *rec)
{
	const char *id = ward_query_text(rec, "grant");
	if (!id || json_object_get(a->used, id))
		return 0;
	return json_object_set(a->used, id, (json_t *)(uintptr_t)rec);
}

/* By one of the policies that can have been in force the signatures are there. */
static int check_signatures(
	struct ward_answers *a, const json_t *rec, const json_t *q, const char **ret_why)
{
	const char *why = NULL;
	for (size_t i = 0; i < a->n_settings; i++) {
		why = ward_signatures_wrong(a->settings[i], rec, q, a->given, a->covered);
		if (!why)
			break;
	}
	*ret_why = why;
	ward_cleanup_free char *list = why ? NULL : strdup(ward_query_text(rec, "grant"));
	char *rest = NULL;
	if (!why && !list)
		return -ENOMEM;
	for (char *id = list ? strtok_r(list, " ", &rest) : NULL; id;
		id = strtok_r(NULL, " ", &rest))
		if (json_object_set_new(a->covered, id, json_true()) < 0)
			return -ENOMEM;
	return 0;
}

static int take_answer(struct ward_answers *a, const json_t *rec, const char **ret_why)
{
	const char *request = ward_query_text(rec, "request");
	const char *result = ward_query_text(rec, "result");
	const char *shown = ward_query_text(rec, "shown");
	const json_t *q = asked_as(a, request, shown);
	if (!request)
		return 0;
	const char *before = ward_query_text(q, "shown");
	const bool granted = result && strcmp(result, "granted") == 0;
	const bool refused = result && strcmp(result, "refused") == 0;
	if (!q)
		*ret_why = "no question of that name waited";
	else if ((before || shown) && (!before || !shown || strcmp(before, shown) != 0))
		*ret_why = "it is to a question that was shown otherwise";
	else if (granted || refused)
		*ret_why = wrong_who(a, rec);
	const char *ids = ward_query_text(rec, "grant");
	if (!*ret_why && granted)
		*ret_why = ids && *ids ? wrong_grants(a, ids) : "it names no grant";
	int r = !*ret_why && granted ? check_signatures(a, rec, q, ret_why) : 0;
	if (r == 0 && !*ret_why && granted && !ward_signatures_only_shown(rec, q, a->given))
		*ret_why = "its grant is for a path that was not shown";
	if (r == 0 && json_object_set(a->closed, request, (json_t *)(uintptr_t)rec) < 0)
		r = -ENOMEM;
	/* One question has one answer. */
	if (q)
		json_object_del(a->asked, request);
	return r;
}

int ward_answers_take(struct ward_answers *a, const json_t *rec, const char **ret_why)
{
	const enum ward_event_kind kind = ward_query_kind(rec);
	int r = 0;
	*ret_why = NULL;
	if (kind == WARD_EVENT_SESSION_START)
		take_start(a, rec);
	else if (kind == WARD_EVENT_EXEC)
		r = take_exec(a, rec);
	else if (kind == WARD_EVENT_ASK)
		r = take_ask(a, rec, ret_why);
	else if (kind == WARD_EVENT_GRANT)
		r = take_grant(a, rec, ret_why);
	else if (kind == WARD_EVENT_USE)
		r = take_used(a, rec);
	else if (kind == WARD_EVENT_ANSWER)
		r = take_answer(a, rec, ret_why);
	return r < 0 ? -ENOMEM : 0;
}

static json_int_t mono_of(const json_t *rec)
{
	return json_integer_value(json_object_get(rec, "mono"));
}

const char *ward_answers_missing(const struct ward_answers *a, uint64_t *ret_seq)
{
	const char *id = NULL;
	json_t *grant = NULL;
	json_object_foreach(a->demanded, id, grant)
	{
		const json_t *use = json_object_get(a->used, id);
		const char *request = ward_query_text(grant, "request");
		const json_t *by = request ? json_object_get(a->closed, request) : NULL;
		const char *result = ward_query_text(by, "result");
		const bool ended = result && strcmp(result, "ended") == 0 &&
				   mono_of(by) - mono_of(grant) <= ENDS_WITHIN_NS;
		if (!use || ended || json_object_get(a->covered, id))
			continue;
		*ret_seq = (uint64_t)json_integer_value(json_object_get(use, "seq"));
		return "the policy demands a signed answer for this grant, and none gave it";
	}
	return NULL;
}
