/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about grants at the control socket, and descriptions of grants. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/grants/granting.h"
#include "enforcer/session/owner/exit_status.h"

/* Longest time of a grant: a year. */
#define SECONDS_MAX (366 * 24 * 3600)

/* --- replies --- */

/* Answers and closes: a client of a request that took its time. */
static void tell(int client, json_t *o)
{
	const struct ward_control_request q = {.client = client};
	ward_control_reply(&q, o);
	ward_fd_drop(client);
}

static json_t *error_json(int status, const char *text)
{
	return json_pack("{s:b, s:i, s:s}", "ok", 0, "status", status, "error", text);
}

static json_t *rights_json(uint32_t rights)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_rights_format(&b, rights);
	return json_string(ward_buf_str(&b));
}

static json_t *number_or_null(bool known, uint64_t n)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

static json_t *grant_json(const struct ward_grant_held *held, uint32_t used)
{
	const struct ward_grant *g = &held->grant;
	const uint64_t now = ward_clock_boot_ns();
	const uint64_t left_ns = g->until_ns > now ? g->until_ns - now : 0;
	enum ward_grant_end end = ward_held_end(held, now);
	char until[WARD_CLOCK_TEXT_MAX];
	if (end == WARD_GRANT_LIVE && g->uses && used >= g->uses)
		end = WARD_GRANT_SPENT;
	ward_clock_format(ward_clock_real_ns() + left_ns, until);
	json_t *o = json_pack("{s:s, s:s}", "id", g->id, "state", ward_grant_end_name(end));
	json_object_set_new(
		o, g->host ? "host" : "pattern", ward_control_text(g->host ? g->host : g->pattern));
	json_object_set_new(o, "rights", g->host ? json_string("connect") : rights_json(g->rights));
	json_object_set_new(o, "until", g->until_ns ? json_string(until) : json_null());
	json_object_set_new(o, "left_s", number_or_null(g->until_ns, left_ns / WARD_NS_PER_SEC));
	json_object_set_new(o, "uses", number_or_null(g->uses, g->uses));
	json_object_set_new(o, "used", json_integer(used));
	if (g->lifts)
		json_object_set_new(o, "lifts", ward_control_text(g->lifts));
	json_object_set_new(o, "issuer", ward_control_text(g->issuer));
	json_object_set_new(o, "reason", g->reason ? ward_control_text(g->reason) : json_null());
	return o;
}

/* --- grant, revoke --- */

struct asked {
	int client;
};

static void on_done(void *arg, const struct ward_grant_held *held, const char *error)
{
	struct asked *a = arg;
	json_t *o = error ? error_json(1, error)
			  : json_pack("{s:b, s:i, s:o}", "ok", 1, "status", 0, "grant",
				    grant_json(held, atomic_load(&held->used)));
	tell(a->client, o);
	free(a);
}

/* The rights of a verb of [files]. 0: the word is no such verb. */
static uint32_t rights_of(const char *word)
{
	static const struct {
		const char *word;
		uint32_t rights;
	} words[] = {
		{"read", WARD_RIGHT_STAT | WARD_RIGHT_LIST | WARD_RIGHT_READ | WARD_RIGHT_EXEC},
		{"append", WARD_RIGHT_STAT | WARD_RIGHT_LIST | WARD_RIGHT_READ | WARD_RIGHT_EXEC |
				   WARD_RIGHT_APPEND | WARD_RIGHT_CREATE},
		{"write", WARD_RIGHTS_ALL},
	};
	for (size_t i = 0; word && i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i].word) == 0)
			return words[i].rights;
	return 0;
}

static char *text_of(const json_t *body, const char *name)
{
	const char *s = json_string_value(json_object_get(body, name));
	return s && *s ? strdup(s) : NULL;
}

/* False: it cannot be understood. */
static bool read_grant(const json_t *body, const char *issuer, struct ward_grant *ret)
{
	const char *right = json_string_value(json_object_get(body, "right"));
	const json_int_t seconds = json_integer_value(json_object_get(body, "for"));
	const json_int_t uses = json_integer_value(json_object_get(body, "uses"));
	if (!right || seconds < 0 || seconds > SECONDS_MAX || uses < 0 || uses > UINT32_MAX)
		return false;
	*ret = (struct ward_grant){.uses = (uint32_t)uses};
	if (strcmp(right, "connect") == 0)
		ret->host = text_of(body, "what");
	else
		ret->pattern = text_of(body, "what");
	ret->rights = ret->pattern ? rights_of(right) : 0;
	ret->issuer = strdup(issuer);
	ret->reason = text_of(body, "reason");
	if (seconds)
		ret->until_ns = ward_clock_boot_ns() + (uint64_t)seconds * WARD_NS_PER_SEC;
	return ret->issuer && (ret->host || ret->rights);
}

static struct ward_grantor peer_of(int client)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t len = sizeof(peer);
	(void)getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	return (struct ward_grantor){.uid = peer.uid, .pid = peer.pid};
}

static void reply_error(struct ward_control_request *q, const struct ward_err *err)
{
	const int status = err->code == -EINVAL ? WARD_EXIT_USAGE : 1;
	ward_control_reply(q, error_json(status, err->text));
}

/* fn takes the client, unless it fails. */
static struct asked *take_client(struct ward_control_request *q)
{
	struct asked *a = malloc(sizeof(*a));
	if (a)
		a->client = fcntl(q->client, F_DUPFD_CLOEXEC, 0);
	if (a && a->client < 0) {
		free(a);
		a = NULL;
	}
	return a;
}

static void on_grant(struct ward_granting *g, struct ward_control_request *q)
{
	ward_cleanup(ward_grant_clear) struct ward_grant grant = {.rights = 0};
	struct ward_grantor by = peer_of(q->client);
	struct ward_err err = WARD_ERR_INIT;
	char issuer[32];
	snprintf(issuer, sizeof(issuer), "uid %u", by.uid);
	by.how = "wardfs grant";
	if (!read_grant(q->body, issuer, &grant)) {
		ward_control_reply(q,
			error_json(WARD_EXIT_USAGE,
				"this is no right that a grant gives: write read, append, write or "
				"connect, and give a time and uses above zero"));
		return;
	}
	if (ward_granting_unsigned(g, 0, &err) < 0) {
		reply_error(q, &err);
		return;
	}
	struct asked *a = take_client(q);
	int r = a ? ward_granting_add(g, &grant, &by, on_done, a, &err)
		  : ward_err_sys(&err, -ENOMEM, "grant");
	if (r == 0)
		return;
	reply_error(q, &err);
	if (a)
		ward_fd_drop(a->client);
	free(a);
}

static void on_token(struct ward_granting *g, struct ward_control_request *q)
{
	const json_t *token = json_object_get(q->body, "token");
	const json_int_t uses = json_integer_value(json_object_get(q->body, "uses"));
	struct ward_grantor by = peer_of(q->client);
	struct ward_err err = WARD_ERR_INIT;
	by.how = "token";
	const bool ok = json_is_string(token) && uses >= 0 && uses <= UINT32_MAX;
	struct asked *a = ok ? take_client(q) : NULL;
	int r = a ? ward_granting_present(g, json_string_value(token), json_string_length(token),
			    (uint32_t)uses, &by, on_done, a, &err)
		  : ward_err_set(&err, -EINVAL, "the request cannot be understood");
	if (r == 0)
		return;
	reply_error(q, &err);
	if (a)
		ward_fd_drop(a->client);
	free(a);
}

static void on_revoke(struct ward_granting *g, struct ward_control_request *q)
{
	const char *id = json_string_value(json_object_get(q->body, "id"));
	const char *reason = json_string_value(json_object_get(q->body, "reason"));
	struct ward_grantor by = peer_of(q->client);
	struct ward_err err = WARD_ERR_INIT;
	by.how = "wardfs revoke";
	struct asked *a = id ? take_client(q) : NULL;
	int r = a ? ward_granting_revoke(g, id, &by, reason, on_done, a, &err)
		  : ward_err_set(&err, -EINVAL, "the request cannot be understood");
	if (r == 0)
		return;
	reply_error(q, &err);
	if (a)
		ward_fd_drop(a->client);
	free(a);
}

/* --- grants --- */

/* Of an answer: the rest is counted. */
#define LISTED_BYTES_MAX (48U << 10)
/* Of one: names, numbers, times. */
#define LISTED_ONE 512U

struct listed {
	struct ward_granting *g;
	int client;
	const json_t *used; /* of wardfs-fs: [[ID, used, end]…] */
	json_t *list;
	size_t bytes, more;
};

/* How often, as the helper that counts says. */
static uint32_t used_of(const struct listed *l, const struct ward_grant_held *held)
{
	const json_t *one = NULL;
	size_t i = 0;
	json_array_foreach(l->used, i, one)
	{
		const char *id = json_string_value(json_array_get(one, 0));
		if (id && strcmp(id, held->grant.id) == 0)
			return (uint32_t)json_integer_value(json_array_get(one, 1));
	}
	return atomic_load(&held->used);
}

static void list_one(void *user, const struct ward_grant_held *held)
{
	struct listed *l = user;
	const struct ward_grant *g = &held->grant;
	const size_t need = LISTED_ONE + 4 * (strlen(g->host ? g->host : g->pattern) +
						     (g->reason ? strlen(g->reason) : 0));
	if (!ward_held_holds(held, ward_clock_boot_ns()))
		return;
	if (l->bytes + need > LISTED_BYTES_MAX) {
		l->more++;
		return;
	}
	l->bytes += need;
	json_array_append_new(l->list, grant_json(held, used_of(l, held)));
}

static void on_listed(void *arg, const char *json)
{
	struct listed *l = arg;
	json_t *o = json ? json_loads(json, 0, NULL) : NULL;
	l->used = json_object_get(o, "grants");
	l->list = json_array();
	ward_grants_each(ward_granting_set(l->g), list_one, l);
	tell(l->client, json ? json_pack("{s:b, s:i, s:o, s:I}", "ok", 1, "status", 0, "grants",
				       l->list, "more", (json_int_t)l->more)
			     : error_json(1, "wardfs-fs cannot be asked"));
	if (!json)
		json_decref(l->list);
	json_decref(o);
	free(l);
}

static void on_list(struct ward_granting *g, struct ward_control_request *q)
{
	struct listed *l = malloc(sizeof(*l));
	if (!l)
		return;
	*l = (struct listed){.g = g, .client = fcntl(q->client, F_DUPFD_CLOEXEC, 0)};
	ward_granting_ask_used(g, on_listed, l);
}

void ward_granting_request(struct ward_granting *g, struct ward_control_request *q)
{
	switch ((enum ward_granting_what)q->what) {
	case WARD_GRANTING_LIST:
		on_list(g, q);
		return;
	case WARD_GRANTING_GIVE:
		on_grant(g, q);
		return;
	case WARD_GRANTING_PRESENT:
		on_token(g, q);
		return;
	case WARD_GRANTING_REVOKE:
		on_revoke(g, q);
		return;
	}
}

static void add_broken(void *user, const struct ward_grant_held *held)
{
	json_t *list = user;
	json_t *o = held->grant.lifts && ward_held_holds(held, ward_clock_boot_ns())
			    ? grant_json(held, atomic_load(&held->used))
			    : NULL;
	if (o)
		json_array_append_new(list, o);
}

static void count_one(void *user, const struct ward_grant_held *held)
{
	size_t *n = user;
	*n += ward_held_holds(held, ward_clock_boot_ns());
}

void ward_granting_status(struct ward_granting *g, json_t *o)
{
	size_t n = 0;
	if (g)
		ward_grants_each(ward_granting_set(g), count_one, &n);
	json_object_set_new(o, "grants", json_integer((json_int_t)n));
	json_t *broken = json_array();
	if (g)
		ward_grants_each(ward_granting_set(g), add_broken, broken);
	if (json_array_size(broken))
		json_object_set_new(o, "break_glass", broken);
	else
		json_decref(broken);
}
