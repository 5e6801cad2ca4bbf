/* SPDX-License-Identifier: Apache-2.0 */
/* Takes questions from wardfs-fs, and answers from the control socket. */
#include "enforcer/session/run/run_asks.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/grants.h"
#include "enforcer/policy/pattern.h"
#include "enforcer/session/ask/signed.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/run/run_panel.h"

static void trail_failed(struct ward_running *r)
{
	ward_running_kill(r, WARD_EXIT_SETUP, "the trail failed");
}

static void say(struct ward_running *r, const struct ward_buf *line)
{
	(void)ward_relay_say(r->relay, ward_buf_str(line));
	ward_run_panel_ring(r, true);
}

/* Of the policy that is in force. */
static const struct ward_settings *settings(struct ward_running *r)
{
	const struct ward_granting_host *h = ward_granting_host(r->granting);
	const struct ward_settings *s = ward_policy_settings(h->policy(h->session));
	r->asks.approvers = s->approvers_needed;
	return s;
}

static void say_question(struct ward_running *r, const struct ward_asked *q)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	if (ward_notice_question(&r->notice, q, r->asks.approvers > 0, ward_clock_mono_ns(), &line))
		say(r, &line);
}

/* --- the host goes to sleep --- */

static void on_none_waits(void *arg, const char *json)
{
	const struct ward_running *r = arg;
	(void)json;
	ward_asleep_done(r->asleep);
}

static void on_awake(void *arg, const char *json)
{
	(void)arg;
	(void)json;
}

/* The kernel cannot freeze what waits for wardfs-fs: those requests are refused before. */
static void on_asleep(void *arg, bool soon)
{
	struct ward_running *r = arg;
	struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_FS_SLEEP);
	ward_msg_put_u32(&m, soon);
	if (ward_ask_fs_message_own(
		    &r->ask_fs, r->guard.fs.control, &m, soon ? on_none_waits : on_awake, r) < 0 &&
		soon)
		ward_asleep_done(r->asleep);
}

/* --- questions --- */

/*
 * From wardfs-fs or wardfs-net. Where the command is one of the owner's own processes it could
 * answer itself, so nobody is asked.
 */
static int on_question(void *arg, struct ward_msg_reader *m)
{
	struct ward_running *r = arg;
	const struct ward_asked *fresh = NULL;
	const int control =
		m->type == WARD_MSG_NET_ASK ? r->network.helper.control : r->guard.fs.control;
	if (!(r->plan->mode->guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_INTEGRITY))) {
		r->asks.nobody = r->plan->mode->word;
		return ward_asks_refuse(control, m) < 0 ? -EPIPE : 0;
	}
	int e = ward_asks_take(&r->asks, m, &fresh);
	if (e == -EIO)
		trail_failed(r);
	/* Where nobody tells that the host goes to sleep, docs/approvals.md says what happens. */
	if (!ward_asleep_is_heard(r->asleep) && ward_asks_waiting(&r->asks))
		(void)!ward_asleep_watch(&r->asleep, &r->set, r->asks_rank, on_asleep, r);
	if (fresh) {
		(void)settings(r);
		ward_run_panel_question(r, fresh);
	}
	/* One line is enough for what joins the question. */
	if (fresh && fresh->n == 1)
		say_question(r, fresh);
	return e == -EBADMSG ? -EPIPE : 0;
}

int ward_run_asks_net(struct ward_running *r, struct ward_msg_reader *m)
{
	return on_question(r, m);
}

void ward_run_asks_begin(struct ward_running *r)
{
	ward_asks_init(&r->asks, &r->guard, r->network.helper.control);
	r->asks.ended = ward_run_panel_answer;
	r->asks.ended_arg = r;
	r->asks.top = ward_sandbox_pid(r->sandbox);
	r->ask_fs.question = on_question;
	r->ask_fs.question_arg = r;
}

void ward_run_asks_list(void *arg, struct ward_control_request *q)
{
	struct ward_running *r = arg;
	(void)settings(r);
	ward_control_reply(q, ward_asks_list(&r->asks));
}

static void refuse(const struct ward_control_request *q, const char *text)
{
	ward_control_reply(q, json_pack("{s:b, s:i, s:s}", "ok", 0, "status", 1, "error", text));
}

static const char *member(const struct ward_control_request *q, const char *name)
{
	const char *s = json_string_value(json_object_get(q->body, name));
	return s ? s : "";
}

/* --- an answer that gives something --- */

/* A question has so many, or pairs of them. */
#define PATHS_MAX WARD_QUESTION_PATHS
static_assert(2 * WARD_QUESTION_PAIRS <= PATHS_MAX, "each path of a pair has a grant");

/* Until the grants of an answer are in force, or one is refused. */
struct giving {
	struct ward_running *r;
	int client; /* who answers waits for the end of it */
	char question[WARD_QUESTION_NAME_SIZE];
	char scope[16];
	uint32_t n; /* paths that the person was shown */
	struct ward_answerer who;
	const char *how; /* static */
	char *keys;	 /* who signed it, owned; NULL: nobody did */
	char ids[PATHS_MAX * WARD_GRANT_ID_SIZE];
	unsigned left; /* grants that are on their way, and one while they are made */
	bool back;     /* they are taken back */
	struct ward_err err;
};

/* What approvers signed for q does not count for how it ends. */
static void forget_signed(struct ward_running *r, struct ward_asked *q)
{
	(void)!ward_asks_set_signed(&r->asks, q, NULL);
}

/* Some approvers may have signed another answer to q: this one has the signatures of the first. */
static int end_one_covered(
	struct ward_running *r, struct ward_asked *q, const struct ward_asks_answer *how)
{
	forget_signed(r, q);
	return ward_asks_answer(&r->asks, q, how);
}

static bool is_covered(struct ward_running *r, const struct ward_asked *q, const char *path,
	pid_t process, uint64_t now)
{
	struct ward_granted m;
	return ward_grants_match(ward_granting_set(r->granting), path, strlen(path),
		       (uint64_t)process, now, &m) == 0 &&
	       (m.rights & q->rights) == q->rights;
}

/* For how many paths of q do the live grants give what it asks? Two paths of one operation are one.
 */
static uint32_t covered_paths(struct ward_running *r, const struct ward_asked *q, uint64_t now)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < q->n; i++) {
		const struct ward_asked_path p = ward_asks_path(q, i);
		n += is_covered(r, q, p.path, p.process, now) &&
		     (!*p.path2 || is_covered(r, q, p.path2, p.process, now));
	}
	return n;
}

/* Other questions that the same grants answer. */
static int end_covered(struct ward_running *r, const struct ward_asks_answer *how)
{
	struct ward_asked *q = TAILQ_FIRST(&r->asks.list);
	const uint64_t now = ward_clock_boot_ns();
	bool again = false;
	int e = 0;
	while (q && e == 0) {
		struct ward_asked *next = TAILQ_NEXT(q, at);
		if (q->host) {
			if (!q->answering &&
				ward_grants_reach(ward_granting_set(r->granting), q->path, now))
				e = end_one_covered(r, q, how);
		} else if (!q->answering) {
			const uint32_t n = covered_paths(r, q, now), all = q->n;
			if (n == all)
				e = end_one_covered(r, q, how);
			again = again || (n > 0 && n < all);
		}
		q = next;
	}
	/* The others of such a question wait on. */
	if (again)
		ward_asks_again(&r->asks);
	return e;
}

static void put_giving(struct giving *g);

static void on_taken_back(void *arg, const struct ward_grant_held *held, const char *error)
{
	(void)held;
	(void)error;
	put_giving(arg);
}

/*
 * One grant of the answer did not come into force: those that did are taken back, since an answer
 * is for all that was shown, or for nothing. put_giving() comes again when they are.
 */
static void take_back(struct giving *g)
{
	const struct ward_grantor by = {.uid = g->who.uid, .pid = g->who.pid, .how = "answer"};
	struct ward_err ignored = WARD_ERR_INIT;
	char *rest = NULL;
	g->back = true;
	g->left = 1;
	for (char *id = strtok_r(g->ids, " ", &rest); id; id = strtok_r(NULL, " ", &rest)) {
		g->left++;
		if (ward_granting_revoke(g->r->granting, id, &by,
			    "another grant of the same answer failed", on_taken_back, g,
			    &ignored) < 0)
			g->left--;
	}
	put_giving(g);
}

static void put_giving(struct giving *g)
{
	struct ward_running *r = g->r;
	const struct ward_control_request reply = {.client = g->client};
	if (--g->left > 0)
		return;
	if (g->err.code && !g->back) {
		take_back(g);
		return;
	}
	struct ward_asked *q = ward_asks_find(&r->asks, g->question);
	const struct ward_asks_answer how = {.result = "granted",
		.scope = g->scope,
		.how = g->how,
		.grant = g->ids,
		.key = g->keys,
		.who = &g->who,
		.n = g->n};
	int e = 0;
	if (q)
		q->answering = false;
	/* So that the approvers can sign another answer, or hand in this one again. */
	if (q && g->err.code && g->keys)
		forget_signed(r, q);
	if (!g->err.code && q)
		e = ward_asks_answer(&r->asks, q, &how);
	const struct ward_asks_answer others = {.result = how.result,
		.scope = how.scope,
		.how = how.how,
		.grant = how.grant,
		.key = how.key,
		.who = how.who};
	if (!g->err.code && e == 0 && strcmp(g->scope, "once") != 0)
		e = end_covered(r, &others);
	if (e < 0)
		trail_failed(r);
	if (g->err.code)
		refuse(&reply, g->err.text);
	else
		ward_control_reply(&reply, json_pack("{s:b, s:s, s:s, s:i}", "ok", 1, "result",
						   "granted", "grant", g->ids, "paths", (int)g->n));
	ward_fd_drop(g->client);
	free(g->keys);
	free(g);
}

static void on_given(void *arg, const struct ward_grant_held *given, const char *error)
{
	struct giving *g = arg;
	if (error || !given)
		ward_err_set(&g->err, -EIO, "%s", error ? error : "the session ends");
	put_giving(g);
}

static bool has_control(const char *path)
{
	for (const unsigned char *c = (const unsigned char *)path; *c; c++)
		if (*c < 0x20 || *c == 0x7f)
			return true;
	return false;
}

/*
 * What is asked for, on the path at index or on what a pattern covers. second: on the second path
 * of the operation at index. look: it is not made, only tried.
 */
static int give(struct giving *g, const struct ward_control_request *q, struct ward_asked *asked,
	uint32_t index, bool second, const char *pattern, bool look)
{
	const struct ward_asked_path p = ward_asks_path(asked, index);
	const char *path = second ? p.path2 : p.path;
	ward_cleanup(ward_buf_clear) struct ward_buf quoted = WARD_BUF_INIT;
	ward_cleanup(ward_grant_clear) struct ward_grant grant = {.rights = asked->rights};
	char by[64], reason[64];
	const json_int_t seconds = json_integer_value(json_object_get(q->body, "seconds"));
	const bool once = strcmp(g->scope, "once") == 0;
	/* As a pattern such a byte would be `?`, which is more than was asked. */
	if (!pattern && !asked->host && has_control(path))
		return ward_err_set(&g->err, -EINVAL,
			"the name has a control character, so no grant can be for it alone");
	const struct ward_grantor grantor = {.uid = q->uid,
		.pid = q->pid,
		.how = "answer",
		.request = asked->name,
		.key = g->keys};
	(void)snprintf(by, sizeof(by), "uid %u", q->uid);
	(void)snprintf(reason, sizeof(reason), "answer to question %s", asked->name);
	if (!pattern && !asked->host)
		ward_pattern_quote(&quoted, path, strlen(path));
	char **what = asked->host ? &grant.host : &grant.pattern;
	*what = strdup(pattern ? pattern : asked->host ? path : ward_buf_str(&quoted));
	grant.issuer = strdup(by);
	grant.reason = strdup(reason);
	if (!*what || !grant.issuer || !grant.reason || ward_buf_error(&quoted) < 0 ||
		ward_grant_make_id(grant.id) < 0)
		return ward_err_sys(&g->err, -ENOMEM, "answer");
	if (strcmp(g->scope, "for") == 0)
		grant.until_ns = ward_clock_boot_ns() + (uint64_t)seconds * WARD_NS_PER_SEC;
	grant.uses = once ? 1 : 0;
	/* A connection says too little about who makes it. */
	grant.pid = once && !asked->host ? (uint64_t)p.process : 0;
	if (look)
		return ward_granting_may(g->r->granting, &grant, &g->err);
	if (!asked->host &&
		ward_asks_bind(&g->r->asks, asked, index, grant.id, pattern != NULL) < 0)
		return ward_err_set(&g->err, -EAGAIN, "wardfs-fs is busy; answer again");
	(void)snprintf(g->ids + strlen(g->ids), sizeof(g->ids) - strlen(g->ids), "%s%s",
		*g->ids ? " " : "", grant.id);
	g->left++;
	int e = ward_granting_add(g->r->granting, &grant, &grantor, on_given, g, &g->err);
	if (e < 0)
		g->left--;
	return e;
}

static bool refuse_elsewhere(
	const struct ward_control_request *q, const char *pattern, const char *asked)
{
	struct ward_err err = WARD_ERR_INIT;
	ward_err_set(&err, -EINVAL, "the pattern '%s' does not cover %s, which was asked about",
		pattern, asked);
	refuse(q, err.text);
	return false;
}

/* An answer is to what was asked: a pattern has to cover that. Else it says why not. */
static bool answers(const struct ward_running *r, const struct ward_control_request *q,
	const struct ward_asked *asked, uint32_t n, const char *pattern)
{
	ward_cleanup(ward_pattern_clear) struct ward_pattern p = {0};
	struct ward_err err = WARD_ERR_INIT;
	if (asked->host)
		return ward_grant_host_covers(pattern, asked->path) ||
		       refuse_elsewhere(q, pattern, asked->path);
	if (ward_pattern_parse(pattern, r->plan->settings->fold, &p, &err) < 0) {
		refuse(q, err.text);
		return false;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct ward_asked_path one = ward_asks_path(asked, i);
		if (!ward_pattern_covers_path(&p, one.path, strlen(one.path)))
			return refuse_elsewhere(q, pattern, one.path);
		if (*one.path2 && !ward_pattern_covers_path(&p, one.path2, strlen(one.path2)))
			return refuse_elsewhere(q, pattern, one.path2);
	}
	return true;
}

/* n: paths that were shown. */
static void give_all(struct ward_running *r, struct ward_control_request *q,
	struct ward_asked *asked, uint32_t n, const struct ward_answerer *who, const char *by,
	const char *keys)
{
	const char *pattern = *member(q, "pattern") ? member(q, "pattern") : NULL;
	if (pattern && !answers(r, q, asked, n, pattern)) {
		if (keys)
			forget_signed(r, asked);
		return;
	}
	struct giving *g = calloc(1, sizeof(*g));
	char *own = keys ? strdup(keys) : NULL;
	if (!g || (keys && !own)) {
		if (keys)
			forget_signed(r, asked);
		free(g);
		refuse(q, "out of memory");
		return;
	}
	*g = (struct giving){.r = r,
		.left = 1,
		.n = n,
		.who = *who,
		.how = by,
		.keys = own,
		.err = WARD_ERR_INIT};
	g->client = ward_steal_fd(&q->client);
	(void)snprintf(g->question, sizeof(g->question), "%s", asked->name);
	(void)snprintf(g->scope, sizeof(g->scope), "%s", member(q, "answer"));
	asked->answering = true;
	const uint32_t grants = pattern ? 1 : n;
	const bool two = !pattern && *asked->path2;
	int e = 0;
	/* Each has to be possible before one is made. */
	for (uint32_t i = 0; e == 0 && i < 2 * grants << two; i++) {
		const uint32_t k = i % (grants << two);
		e = give(g, q, asked, k >> two, two && k % 2, pattern, i < grants << two);
	}
	put_giving(g);
}

/* Which answers give something; what they need is there. */
static bool gives(const struct ward_control_request *q)
{
	static const char *const words[] = {"once", "path", "pattern", "for", "always"};
	const char *answer = member(q, "answer");
	bool known = false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		known = known || strcmp(answer, words[i]) == 0;
	const json_int_t seconds = json_integer_value(json_object_get(q->body, "seconds"));
	if (strcmp(answer, "pattern") == 0 && !*member(q, "pattern"))
		return false;
	if (strcmp(answer, "for") == 0 && (seconds <= 0 || seconds > WARD_RUN_ASKS_FOR_MAX))
		return false;
	return known;
}

/* What nobody signed gives nothing where the policy demands signatures. */
static bool refuse_unsigned(struct ward_running *r, const struct ward_control_request *q)
{
	struct ward_err err = WARD_ERR_INIT;
	const uint64_t n = settings(r)->approvers_needed;
	if (n == 0)
		return false;
	ward_err_set(&err, -EPERM,
		"'[approvals] approvers = %u' takes signed answers here: sign with 'wardfs approve sign', "
		"hand in with 'wardfs approve QUESTION --signed FILE'",
		(unsigned)n);
	refuse(q, err.text);
	return true;
}

static void take_signed(struct ward_running *r, struct ward_control_request *q,
	struct ward_asked *asked, const struct ward_answerer *who, const char *by)
{
	ward_cleanup(ward_buf_clear) struct ward_buf keys = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	const struct ward_settings *s = settings(r);
	json_t *says = NULL;
	const int e = ward_signed_add(
		&r->asks, asked, s, json_object_get(q->body, "signed"), &says, &keys, &err);
	if (e < 0) {
		refuse(q, err.text);
		return;
	}
	if (e == 0) {
		ward_control_reply(
			q, json_pack("{s:b, s:s, s:I, s:I}", "ok", 1, "result", "signed", "signed",
				   (json_int_t)json_array_size(asked->signed_by), "approvers",
				   (json_int_t)s->approvers_needed));
		return;
	}
	struct ward_control_request own = *q;
	own.body = says;
	/* The answer fits one of the texts that were shown. */
	const uint32_t n = ward_asks_shown(asked, member(&own, "digest"));
	give_all(r, &own, asked, n ? n : 1, who, by, ward_buf_str(&keys));
	q->client = own.client;
	json_decref(says);
}

/* by: how the answer came, for the trail. */
static void take_answer(struct ward_running *r, struct ward_control_request *q, const char *by)
{
	struct ward_asked *asked = ward_asks_find(&r->asks, member(q, "question"));
	struct ward_answerer who;
	if (!asked) {
		refuse(q, "no such question waits in this session: it has an answer, or its time "
			  "is over");
		return;
	}
	const bool is_signed = json_object_get(q->body, "signed") != NULL;
	const uint32_t n = ward_asks_shown(asked, member(q, "digest"));
	if (!is_signed && n == 0) {
		refuse(q, "the answer is to a question that was shown otherwise");
		return;
	}
	if (asked->answering) {
		refuse(q, "another answer came first");
		return;
	}
	ward_answerer_find(q->pid, q->uid, &who);
	if (is_signed) {
		take_signed(r, q, asked, &who, by);
		return;
	}
	if (gives(q)) {
		if (refuse_unsigned(r, q))
			return;
		/* Of the time before a reload, when the policy demanded signatures. */
		forget_signed(r, asked);
		give_all(r, q, asked, n, &who, by, NULL);
		return;
	}
	if (strcmp(member(q, "answer"), "no") != 0) {
		refuse(q, "answer no, once, path, pattern, for or always; a time is a day at most");
		return;
	}
	const struct ward_asks_answer how = {.result = "refused", .how = by, .who = &who, .n = n};
	if (ward_asks_answer(&r->asks, asked, &how) < 0) {
		refuse(q, "the trail failed");
		trail_failed(r);
		return;
	}
	ward_control_reply(q, json_pack("{s:b, s:s}", "ok", 1, "result", how.result));
}

void ward_run_asks_answer(void *arg, struct ward_control_request *q)
{
	const struct ward_running *r = arg;
	const bool own = ward_panel_is_open(&r->panel) && q->pid == r->panel.pid;
	take_answer(arg, q, own ? "terminal" : "approve");
}

/* --- the program of [approvals] command --- */

/*
 * It has to name the question that it was told: an answer that it kept from another one, or from
 * another session, is none to this one.
 */
static void on_hook(void *arg, const char *question, pid_t pid, const json_t *body)
{
	struct ward_running *r = arg;
	struct ward_control_request q = {
		.client = -1, .body = body, .pid = pid, .uid = r->plan->id.owner_uid};
	if (strcmp(member(&q, "question"), question) == 0)
		take_answer(r, &q, "command");
}

void ward_run_asks_watch(struct ward_running *r, unsigned rank)
{
	r->asks_rank = rank;
	ward_hook_watch(r->hook, &r->set, rank, on_hook, r);
}

static void tell(struct ward_running *r)
{
	struct ward_asked *q = NULL;
	(void)settings(r);
	TAILQ_FOREACH(q, &r->asks.list, at) {
		if (q->told)
			continue;
		json_t *o = ward_asks_one(&r->asks, q);
		ward_cleanup_free char *text =
			o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
		const int e = text ? ward_hook_tell(r->hook, q->name, text) : -ENOMEM;
		json_decref(o);
		if (e == -EAGAIN)
			return;
		q->told = true;
		if (e < 0)
			r->asks.failed = e == -ESTALE ? "[approvals] command was changed since the "
							"session began, and is not run"
						      : "[approvals] command cannot be started";
	}
}

static bool waits(void *arg, const char *question)
{
	const struct ward_running *r = arg;
	return ward_asks_find(&r->asks, question) != NULL;
}

int ward_run_asks_timeout(const struct ward_running *r)
{
	const int told =
		ward_pollset_nearer(ward_asks_timeout(&r->asks), ward_hook_timeout(r->hook));
	return ward_pollset_nearer(told, ward_notice_timeout(&r->notice, ward_clock_mono_ns()));
}

void ward_run_asks_tick(struct ward_running *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	if (ward_asks_tick(&r->asks) < 0)
		trail_failed(r);
	if (ward_notice_rest(&r->notice, r->asks.n, ward_clock_mono_ns(), &line))
		say(r, &line);
	if (r->rung && r->asks.n == 0)
		ward_run_panel_ring(r, false);
	if (!r->hook)
		return;
	ward_hook_tick(r->hook, waits, r);
	tell(r);
}

static bool answering(const struct ward_running *r)
{
	const struct ward_asked *q = NULL;
	TAILQ_FOREACH(q, &r->asks.list, at)
		if (q->answering)
			return true;
	return false;
}

/* Its last message stays for those who ask what it served (ward_ask_fs_added()). */
static bool has_ended(int control)
{
	struct ward_msg_reader m;
	char head[64];
	ssize_t n = recv(control, head, sizeof(head), MSG_PEEK | MSG_DONTWAIT);
	if (n <= 0)
		return true;
	ward_msg_reader_init(&m, head, (size_t)n);
	return m.type == WARD_MSG_FS_ENDED;
}

void ward_run_asks_end(struct ward_running *r)
{
	struct pollfd p = {.fd = r->guard.fs.control, .events = POLLIN};
	unsigned unread = WARD_ASKS_MAX;
	/* What an answer allowed can be done, and the command over, before we hear of it. So can a
	 * question have been put and refused. */
	while (poll(&p, 1, answering(r) ? WARD_RUN_ASKS_END_MS : 0) > 0 && !has_ended(p.fd) &&
		(answering(r) || unread-- > 0))
		if (ward_ask_fs_message(&r->ask_fs, r->guard.fs.control) < 0)
			break;
	ward_asks_end(&r->asks);
}
