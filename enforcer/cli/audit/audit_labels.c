/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the labels and the login of a session with those that are asked for. */
#include "enforcer/cli/audit/audit_labels.h"

#include <string.h>

#include "audit/query/query.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"

/* What a prepared session was taken for stands among its first records. */
#define TAKE_WITHIN ((size_t)1 << 20)

struct asked {
	const struct audit_cmd *c;
	bool login, all, later;
	size_t seen; /* bytes */
};

static bool has(const json_t *labels, const char *label)
{
	ward_cleanup(ward_buf_clear) struct ward_buf want = WARD_BUF_INIT;
	const size_t key = strcspn(label, "=");
	const char *have = json_string_value(json_object_getn(labels, label, key));
	ward_escape(&want, label + key + 1, strlen(label + key + 1));
	return have && strcmp(have, ward_buf_str(&want)) == 0;
}

/* One that the kernel did not tell is none that was asked for. */
static bool is_of(const json_t *record, const char *member, bool asked, uint64_t want)
{
	const json_t *v = json_object_get(json_object_get(record, "detail"), member);
	return !asked || (json_is_integer(v) && (json_int_t)want == json_integer_value(v));
}

static bool has_all(const struct asked *a, const json_t *record)
{
	const json_t *labels = json_object_get(json_object_get(record, "detail"), "labels");
	for (size_t i = 0; i < a->c->n_labels; i++)
		if (!has(labels, a->c->labels[i]))
			return false;
	return true;
}

/* Labels of a prepared session stand in its take; without one it has none. */
static int first_records(void *ctx, const char *line, size_t len, const json_t *record)
{
	struct asked *a = ctx;
	const bool take = ward_query_kind(record) == WARD_EVENT_TAKE;
	(void)line;
	if (a->seen == 0)
		a->login = is_of(record, "login_uid", a->c->has_login, a->c->login) &&
			   is_of(record, "audit_session", a->c->has_audit_session,
				   a->c->audit_session);
	if (a->seen == 0 || take)
		a->all = a->login && has_all(a, record);
	if (a->seen == 0)
		a->later = json_is_true(
			json_object_get(json_object_get(record, "detail"), "prepared"));
	a->seen += len;
	return !a->later || take || a->seen > TAKE_WITHIN;
}

bool audit_labels_asked(const struct audit_cmd *c)
{
	return c->n_labels > 0 || c->has_login || c->has_audit_session;
}

struct ward_index_wanted audit_labels_wanted(const struct audit_cmd *c)
{
	return (struct ward_index_wanted){.labels = c->labels,
		.n_labels = c->n_labels,
		.has_login = c->has_login,
		.login = c->login,
		.has_audit_session = c->has_audit_session,
		.audit_session = c->audit_session};
}

bool audit_labels_match(struct audit_cmd *c, const char *session)
{
	struct asked a = {.c = c};
	struct ward_err none = WARD_ERR_INIT;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	if (!audit_labels_asked(c))
		return true;
	return ward_store_open_log(c->store, session, &log, &none) == 0 &&
	       ward_query_walk(log, true, first_records, &a, &none) >= 0 && a.all;
}
