/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks ward_policy_decide() once more. What it is not told here (other names of the file, the
 * object, other trees) takes rights away and never gives any: so what it refuses now, it refused
 * then. The one exception is a rule of `secret`, which gives rights for what is in the file.
 */
#include "audit/verify/access_again.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/query/parse.h"
#include "audit/query/policies.h"
#include "audit/query/query.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/policy/grants.h"
#include "enforcer/policy/policy.h"

struct in_force {
	uint64_t seq; /* from this record on, as far as the order of rings tells */
	const struct ward_buf *sources;
	struct ward_policy *policy; /* NULL: not read yet */
	bool unreadable;
	bool old; /* of 0.1, which decided and recorded connections in other ways */
};

struct given {
	char *id;
	struct ward_grants *set; /* of it alone; NULL: of a host, or not to be understood */
};

struct ward_access_again {
	struct ward_policy_texts texts;
	struct in_force *v;
	size_t n;
	struct given *given;
	size_t n_given;
	json_t *mounts; /* of session.start, or NULL */
};

int ward_access_again_new(
	struct ward_log *log, struct ward_access_again **ret, struct ward_err *err)
{
	struct ward_access_again *a = calloc(1, sizeof(*a));
	if (!a)
		return ward_err_sys(err, -ENOMEM, "verify");
	int r = ward_policy_texts_read(log, false, &a->texts, err);
	a->v = calloc(a->texts.n + 1, sizeof(*a->v));
	/* A text that is none is the business of another check. */
	for (size_t i = 0; r == 0 && a->v && i < a->texts.n; i++)
		if (a->texts.v[i].loaded)
			a->v[a->n++] = (struct in_force){.seq = a->texts.v[i].seq,
				.sources = &a->texts.v[i].sources,
				.old = !a->texts.v[i].meaning.len};
	if (r == 0 && !a->v)
		r = ward_err_sys(err, -ENOMEM, "verify");
	if (r < 0)
		ward_access_again_free(a);
	else
		*ret = a;
	return r;
}

void ward_access_again_free(struct ward_access_again *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->n; i++)
		ward_policy_unref(a->v[i].policy);
	for (size_t i = 0; i < a->n_given; i++) {
		free(a->given[i].id);
		ward_grants_free(a->given[i].set);
	}
	json_decref(a->mounts);
	free(a->given);
	free(a->v);
	ward_policy_texts_clear(&a->texts);
	free(a);
}

/* --- what is staged --- */

int ward_access_again_start(struct ward_access_again *a, const json_t *rec)
{
	if (!a->mounts)
		a->mounts = json_incref(json_object_get(json_object_get(rec, "detail"), "mounts"));
	return 0;
}

/* Does the escaped path of a mount stand at or above this one? Its length, or 0. */
static size_t above(const char *mount, const struct ward_buf *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf m = WARD_BUF_INIT;
	if (ward_unescape(&m, mount, strlen(mount)) < 0 || ward_buf_error(&m) < 0 || !m.len ||
		m.len > path->len || memcmp(m.data, path->data, m.len) != 0)
		return 0;
	return m.len == path->len || path->data[m.len] == '/' || m.len == 1 ? m.len : 0;
}

/* The flag of requests about this path: the mount that is nearest above it says whether. */
static uint32_t staged(const struct ward_access_again *a, const struct ward_buf *path)
{
	const json_t *m = NULL;
	size_t i = 0, nearest = 0;
	bool yes = false;
	json_array_foreach(a->mounts, i, m)
	{
		const char *at = ward_query_text(m, "path");
		const size_t n = at ? above(at, path) : 0;
		if (n > nearest)
			yes = json_is_true(json_object_get(m, "staged"));
		nearest = n > nearest ? n : nearest;
	}
	return yes ? WARD_REQUEST_STAGED : 0;
}

/* --- rights by their names --- */

static uint32_t right_of(const char *name, size_t len)
{
	for (unsigned bit = 0; bit < WARD_RIGHTS_COUNT; bit++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_rights_format(&b, 1U << bit);
		if (b.len == len && memcmp(ward_buf_str(&b), name, len) == 0)
			return 1U << bit;
	}
	return 0;
}

static uint32_t rights_of(const json_t *list)
{
	uint32_t rights = 0;
	const json_t *v = NULL;
	size_t i = 0;
	json_array_foreach(list, i, v) if (json_is_string(v)) rights |=
		right_of(json_string_value(v), json_string_length(v));
	return rights;
}

/* --- policies --- */

static struct ward_policy *policy_of(struct in_force *f)
{
	struct ward_err ignored = WARD_ERR_INIT;
	if (!f->policy && !f->unreadable)
		f->unreadable =
			!f->sources->len || ward_policy_decode(f->sources->data, f->sources->len,
						    &f->policy, &ignored) < 0;
	return f->policy;
}

/* --- grants --- */

/* NULL: there is none, and the grant is not judged. */
static struct ward_grants *set_of(
	const char *pattern, uint32_t rights, const char *lifts, int *ret_error)
{
	ward_cleanup(ward_buf_clear) struct ward_buf plain = WARD_BUF_INIT;
	struct ward_grants *set = NULL;
	struct ward_err ignored = WARD_ERR_INIT;
	*ret_error = 0;
	if (ward_unescape(&plain, pattern, strlen(pattern)) < 0 || ward_buf_error(&plain) < 0 ||
		ward_grants_new(&set) < 0)
		return NULL;
	const struct ward_grant g = {.id = "g000000000000",
		.rights = rights,
		.pattern = (char *)(uintptr_t)ward_buf_str(&plain),
		.issuer = (char *)(uintptr_t) "",
		.reason = lifts ? (char *)(uintptr_t) "-" : NULL,
		.until_ns = lifts ? UINT64_MAX : 0,
		.lifts = (char *)(uintptr_t)lifts,
		.session = (char *)(uintptr_t) ""};
	const int r = ward_grants_add(set, &g, NULL, &ignored);
	if (r == 0)
		return set;
	*ret_error = r == -ENOMEM ? r : 0;
	ward_grants_free(set);
	return NULL;
}

int ward_access_again_grant(struct ward_access_again *a, const json_t *rec)
{
	const char *id = ward_query_text(rec, "grant"), *path = ward_query_text(rec, "path");
	int r = 0;
	if (!id)
		return 0;
	struct given *v = reallocarray(a->given, a->n_given + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	a->given = v;
	v[a->n_given] = (struct given){.id = strdup(id)};
	if (!v[a->n_given].id)
		return -ENOMEM;
	if (path)
		v[a->n_given].set = set_of(path, rights_of(json_object_get(rec, "asked")),
			ward_query_text(json_object_get(rec, "detail"), "lifts"), &r);
	a->n_given++;
	return r;
}

/* Does the grant give that there? Also where the name cannot be known. -ENOMEM. */
static int covers(struct ward_grants *set, const char *path, uint32_t rights)
{
	ward_cleanup(ward_buf_clear) struct ward_buf plain = WARD_BUF_INIT;
	struct ward_granted m;
	if (!path)
		return 0;
	if (ward_unescape(&plain, path, strlen(path)) < 0 || ward_buf_error(&plain) < 0)
		return 1;
	int r = ward_grants_match(set, plain.data, plain.len, 0, 0, &m);
	return r < 0 ? r : (rights & ~(m.rights | m.glass_rights)) == 0;
}

/* 1: by this policy the grant lifts no guard that it may not, or that is unknown. -ENOMEM. */
static int unguarded(struct in_force *f, struct ward_grants *set, const char *path, uint32_t rights)
{
	ward_cleanup(ward_buf_clear) struct ward_buf plain = WARD_BUF_INIT;
	const struct ward_policy *p = policy_of(f);
	const struct ward_state *s = NULL;
	struct ward_granted m;
	if (!p || ward_unescape(&plain, path, strlen(path)) < 0 || ward_buf_error(&plain) < 0)
		return 1;
	int r = ward_policy_walk(p, plain.data, plain.len, &s);
	if (r < 0)
		return r == -ENOMEM ? r : 1;
	r = ward_grants_match(set, plain.data, plain.len, 0, 0, &m);
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = rights, .state = s, .grants = &m};
	/* What is a secret depends on what is in the file. */
	if (r == 0)
		r = ward_policy_secret(s) ||
		    ward_policy_decide(p, &req, NULL).verdict == WARD_VERDICT_ALLOW;
	ward_policy_state_put(p, s);
	return r;
}

/* The same by one of the policies that can have been in force, at one of the two names. */
static int unguarded_then(
	struct ward_access_again *a, const json_t *rec, struct ward_grants *set, uint32_t rights)
{
	const uint64_t seq = (uint64_t)json_integer_value(json_object_get(rec, "seq"));
	const char *const paths[] = {ward_query_text(rec, "path"), ward_query_text(rec, "path2")};
	size_t at = 0;
	int r = a->n == 0;
	while (at + 1 < a->n && a->v[at + 1].seq < seq)
		at++;
	for (size_t i = at ? at - 1 : 0; i < a->n && i <= at + 1; i++)
		for (size_t k = 0; k < 2; k++)
			if (r == 0 && paths[k])
				r = unguarded(&a->v[i], set, paths[k], rights);
	return r;
}

int ward_access_again_use(struct ward_access_again *a, const json_t *rec, const char **ret_why)
{
	const char *id = ward_query_text(rec, "grant");
	const uint32_t rights = rights_of(json_object_get(rec, "asked"));
	struct ward_grants *set = NULL;
	*ret_why = NULL;
	for (size_t i = 0; id && i < a->n_given; i++)
		if (strcmp(a->given[i].id, id) == 0)
			set = a->given[i].set;
	/* Of a file with more than two names the record has not all; nor has one that was cut. */
	if (!set || !ward_query_text(rec, "path") || json_object_get(rec, "cut") ||
		json_integer_value(json_object_get(rec, "names")) > 2)
		return 0;
	int r = covers(set, ward_query_text(rec, "path"), rights);
	if (r == 0)
		r = covers(set, ward_query_text(rec, "path2"), rights);
	if (r == 0)
		*ret_why = "the grant does not cover the path";
	if (r == 1 && (r = unguarded_then(a, rec, set, rights)) == 0)
		*ret_why = "a guard stands against the grant";
	return r < 0 ? r : 0;
}

/* --- accesses --- */

/* 1: it allows that, or that is unknown. */
static int allows(struct in_force *f, uint32_t flags, const struct ward_buf *path, uint32_t rights)
{
	const struct ward_state *s = NULL;
	struct ward_policy *p = policy_of(f);
	if (!p)
		return 1;
	int r = ward_policy_walk(p, path->data, path->len, &s);
	if (r < 0)
		return r == -ENOMEM ? r : 1;
	/* An open with O_APPEND, or a write to a new file, needs only the right to append. */
	const uint32_t alt = rights & WARD_RIGHT_WRITE
				     ? (rights & ~WARD_RIGHT_WRITE) | WARD_RIGHT_APPEND
				     : rights;
	struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .rights = rights, .flags = flags, .state = s};
	r = ward_policy_secret(s) ||
	    ward_policy_decide(p, &req, NULL).verdict == WARD_VERDICT_ALLOW;
	req.rights = alt;
	r = r || ward_policy_decide(p, &req, NULL).verdict == WARD_VERDICT_ALLOW;
	ward_policy_state_put(p, s);
	return r;
}

/* old: also those of 0.1. */
static size_t near(struct ward_access_again *a, uint64_t seq, bool old, struct ward_policy *ret[3])
{
	size_t at = 0, n = 0;
	while (at + 1 < a->n && a->v[at + 1].seq < seq)
		at++;
	for (size_t i = at ? at - 1 : 0; i < a->n && i <= at + 1; i++) {
		struct ward_policy *p = a->v[i].old && !old ? NULL : policy_of(&a->v[i]);
		if (!p)
			return 0;
		ret[n++] = p;
	}
	return n;
}

size_t ward_access_again_policies(
	struct ward_access_again *a, uint64_t seq, struct ward_policy *ret[3])
{
	return near(a, seq, false, ret);
}

size_t ward_access_again_settings(
	struct ward_access_again *a, uint64_t seq, const struct ward_settings *ret[3])
{
	struct ward_policy *p[3];
	const size_t n = near(a, seq, true, p);
	for (size_t i = 0; i < n; i++)
		ret[i] = ward_policy_settings(p[i]);
	return n;
}

/*
 * The one that was in force, or its neighbours: the records of the file system and of the
 * supervisor come in by different rings, so their order is not exact.
 */
static int allowed_then(
	struct ward_access_again *a, uint64_t seq, const struct ward_buf *path, uint32_t rights)
{
	size_t at = 0;
	while (at + 1 < a->n && a->v[at + 1].seq < seq)
		at++;
	const uint32_t flags = staged(a, path);
	int r = allows(&a->v[at], flags, path, rights);
	if (r == 0 && at > 0)
		r = allows(&a->v[at - 1], flags, path, rights);
	if (r == 0 && at + 1 < a->n)
		r = allows(&a->v[at + 1], flags, path, rights);
	return r;
}

/* --- moves --- */

/* Who has two names, and what is done with them. */
struct moved {
	struct ward_buf from, to;
	uint32_t staged; /* a flag of requests */
	bool link, exchange;
};

/* 1: the policy allows the rename, or that is unknown. -ENOMEM. */
static int renames(struct in_force *f, const struct moved *m)
{
	const struct ward_state *s = NULL, *s2 = NULL;
	struct ward_policy *p = policy_of(f);
	if (!p)
		return 1;
	int r = ward_policy_walk(p, m->from.data, m->from.len, &s);
	if (r == 0)
		r = ward_policy_walk(p, m->to.data, m->to.len, &s2);
	/* Of a directory, and over something that is there, more is refused. */
	const struct ward_request req = {.action = WARD_ACTION_RENAME,
		.flags = m->staged | (m->exchange ? WARD_REQUEST_EXCHANGE : 0),
		.state = s,
		.state2 = s2};
	if (r < 0)
		r = r == -ENOMEM ? r : 1;
	else
		r = ward_policy_secret(s) || ward_policy_secret(s2) ||
		    ward_policy_decide(p, &req, NULL).verdict == WARD_VERDICT_ALLOW;
	ward_policy_state_put(p, s);
	ward_policy_state_put(p, s2);
	return r;
}

/* A file can have other names than the one in the record, so of a link the new name counts. */
static int moves(struct in_force *f, const struct moved *m)
{
	return m->link ? allows(f, m->staged, &m->to, WARD_RIGHT_CREATE) : renames(f, m);
}

static int moves_then(struct ward_access_again *a, uint64_t seq, const struct moved *m)
{
	size_t at = 0;
	while (at + 1 < a->n && a->v[at + 1].seq < seq)
		at++;
	int r = 0;
	for (size_t i = at ? at - 1 : 0; r == 0 && i < a->n && i <= at + 1; i++)
		r = moves(&a->v[i], m);
	return r;
}

static bool is(const json_t *rec, const char *name, const char *text)
{
	const char *has = ward_query_text(rec, name);
	return has && strcmp(has, text) == 0;
}

int ward_access_again_moved(struct ward_access_again *a, const json_t *rec, const char **ret_why)
{
	const char *from = ward_query_text(rec, "path"), *to = ward_query_text(rec, "path2");
	struct moved m = {.link = ward_query_kind(rec) == WARD_EVENT_LINK,
		.exchange = is(rec, "action", "exchange")};
	int r = 1;
	*ret_why = NULL;
	if (!a->n || !from || !to || !is(rec, "verdict", "allow") || is(rec, "source", "grant") ||
		json_object_get(rec, "cut"))
		return 0;
	if (ward_unescape(&m.from, from, strlen(from)) == 0 &&
		ward_unescape(&m.to, to, strlen(to)) == 0 && ward_buf_error(&m.from) == 0 &&
		ward_buf_error(&m.to) == 0) {
		m.staged = staged(a, &m.to);
		r = moves_then(a, (uint64_t)json_integer_value(json_object_get(rec, "seq")), &m);
	}
	ward_buf_clear(&m.from);
	ward_buf_clear(&m.to);
	if (r == 0)
		*ret_why = "no rule of the policy that was in force allows it";
	return r < 0 ? r : 0;
}

/* --- lines --- */

/*
 * The value of a member behind its name, up to `end`; NULL: it has none. A quote in a text is
 * escaped, so a name in quotes is that of a member, in lines without free JSON.
 */
static const char *member(const char *line, size_t len, const char *name, char end, size_t *ret_len)
{
	const size_t n = strlen(name);
	const char *at = memmem(line, len, name, n);
	const char *stop = at ? memchr(at + n, end, (size_t)(line + len - at) - n) : NULL;
	if (!stop)
		return NULL;
	*ret_len = (size_t)(stop - at) - n;
	return at + n;
}

static bool has(const char *line, size_t len, const char *text)
{
	return memmem(line, len, text, strlen(text)) != NULL;
}

/* "read","write" */
static uint32_t rights_in(const char *list, size_t len)
{
	uint32_t rights = 0;
	for (const char *p = list, *end = list + len; p < end;) {
		const char *quote = memchr(p + 1, '"', (size_t)(end - p) - 1);
		if (*p != '"' || !quote)
			return 0;
		rights |= right_of(p + 1, (size_t)(quote - p) - 1);
		p = quote + 2;
	}
	return rights;
}

/* 0: the line does not say. */
static uint32_t asked_in(const char *line, size_t len)
{
	size_t n = 0;
	const char *list = member(line, len, ",\"asked\":[", ']', &n);
	if (list)
		return rights_in(list, n);
	if (has(line, len, "\"kind\":\"create\""))
		return WARD_RIGHT_CREATE;
	return has(line, len, "\"kind\":\"remove\"") ? WARD_RIGHT_REMOVE : 0;
}

int ward_access_again_done(struct ward_access_again *a, const char *line, size_t len, uint64_t seq,
	const char **ret_why)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	size_t n = 0;
	*ret_why = NULL;
	if (!a->n || !has(line, len, ",\"verdict\":\"allow\"") ||
		has(line, len, ",\"source\":\"grant\"") || has(line, len, ",\"cut\":true"))
		return 0;
	const uint32_t rights = asked_in(line, len);
	const char *text = member(line, len, ",\"path\":\"", '"', &n);
	/* With an escape in it, a quote can be one of the text: that takes a parser. */
	json_t *rec = text && memchr(text, '\\', n) ? ward_parse_record(line, len) : NULL;
	if (rec) {
		text = ward_query_text(rec, "path");
		n = text ? strlen(text) : 0;
	}
	int r = 1;
	if (rights && text && ward_unescape(&path, text, n) == 0 && ward_buf_error(&path) == 0)
		r = allowed_then(a, seq, &path, rights);
	json_decref(rec);
	if (r == 0)
		*ret_why = "no rule of the policy that was in force allows it";
	return r < 0 ? r : 0;
}
