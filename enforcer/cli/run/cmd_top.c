/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs top: running sessions, what they use and what they were refused, again and again. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/query/query.h"
#include "audit/record_table.h"
#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/limit.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/base/timestamp.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/base/sessions.h"
#include "enforcer/cli/panel/panel.h"
#include "enforcer/cli/run/top_keys.h"

/* Refusals shown of a session: the last ones. */
#define LAST 5

struct top_args {
	struct ward_sessions_asked asked;
	bool once;
	unsigned seconds;
};

/* What is remembered of a session from one look to the next. */
struct watched {
	struct watched *next;
	char *session;
	struct ward_log *log; /* NULL: it cannot be read */
	uint64_t offset, records, refused;
	json_t *limits;	    /* of its first record: {key: {value, by}} */
	json_t *last[LAST]; /* the newest first */
	/* at the look before; at the first one, when the session began */
	uint64_t seen_ns, seen_records, seen_refused, seen_cpu_ns, seen_read, seen_written;
	bool there;
};

struct top {
	struct top_args args;
	struct ward_store *store; /* NULL: none */
	struct watched *all;
	bool silent; /* some did not answer, the last time */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct top_args *a = state->input;
	uint64_t n = 0;
	switch (key) {
	case '1':
		a->once = true;
		return 0;
	case 'd':
		if (ward_quantity_whole(arg, 1, 3600, &n, NULL) < 0)
			ward_arguments_wrong(
				state, "--delay %s: whole seconds from 1 to 3600 are meant", arg);
		a->seconds = (unsigned)n;
		return 0;
	default:
		return ward_sessions_parse(key, arg, state);
	}
}

static const struct argp_option options[] = {
	{"delay", 'd', "SECONDS", 0, "Time between two looks; default: 1", 0},
	{"once", '1', NULL, 0, "One look; also the default if standard output is no terminal", 0},
	{"json", 'j', NULL, 0, "One look, as a JSON array of objects", 0},
	{0},
};
static const struct argp argp = {options, parse, "[SESSION]",
	"Shows the running sessions of the caller, or the one named: usage and limits, how fast the trail grows, and the last refusals. ? means that this host does not provide the value (wardfs doctor). Rates are since the last update; in the first one, since the session started. At a terminal, the key a shows the questions that wait and takes answers; q or Ctrl-C ends it.",
	NULL, NULL, NULL};

/* --- what a trail has --- */

static void remember(struct watched *w, json_t *record)
{
	json_decref(w->last[LAST - 1]);
	memmove(w->last + 1, w->last, (LAST - 1) * sizeof(json_t *));
	w->last[0] = record;
}

/* Only refusals and the first record are worth parsing. */
static int count(void *ctx, const char *line, size_t len, const json_t *unused)
{
	struct watched *w = ctx;
	struct ward_line l;
	(void)unused;
	const bool refusal =
		ward_line_parse(line, len, &l) == 0 &&
		ward_record_kind_is(ward_record_kind_find(l.kind, l.kind_len), WARD_KIND_REFUSAL);
	if (w->records++ > 0 && !refusal)
		return 0;
	json_t *o = json_loadb(line, len, 0, NULL);
	/* What [expect] names is no news; `denials` and the last line of `run` leave it out, too.
	 */
	if (o && refusal && json_object_get(o, "expected")) {
		json_decref(o);
		return 0;
	}
	if (o && refusal) {
		w->refused++;
		remember(w, o);
		return 0;
	}
	if (w->records == 1) {
		const json_t *sandbox = json_object_get(json_object_get(o, "detail"), "sandbox");
		w->limits = json_incref(json_object_get(sandbox, "limits"));
	}
	json_decref(o);
	return 0;
}

static uint64_t started_ns(const json_t *status)
{
	uint64_t ns = ward_timestamp_ns(json_string_value(json_object_get(status, "started")));
	return ns ? ns : ward_clock_real_ns();
}

static struct watched *find(struct top *t, const json_t *status)
{
	const char *name = json_string_value(json_object_get(status, "session"));
	struct ward_err ignored = WARD_ERR_INIT;
	for (struct watched *w = t->all; w; w = w->next)
		if (name && strcmp(w->session, name) == 0)
			return w;
	struct watched *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->session = strdup(name ? name : "?");
	w->seen_ns = started_ns(status);
	w->next = t->all;
	t->all = w;
	if (t->store && w->session &&
		ward_store_open_log(t->store, w->session, &w->log, &ignored) < 0)
		w->log = NULL;
	return w;
}

static void forget(struct watched *w)
{
	for (size_t i = 0; i < LAST; i++)
		json_decref(w->last[i]);
	json_decref(w->limits);
	ward_log_close(w->log);
	free(w->session);
	free(w);
}

/* Those that ended are not shown again. */
static void forget_absent(struct top *t)
{
	for (struct watched **at = &t->all; *at;) {
		struct watched *w = *at;
		if (w->there) {
			w->there = false;
			at = &w->next;
			continue;
		}
		*at = w->next;
		forget(w);
	}
}

/* --- one look, as JSON; the text is made from that --- */

static uint64_t number(const json_t *o, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(o, name));
	return n > 0 ? (uint64_t)n : 0;
}

static bool is_known(const json_t *o, const char *name)
{
	return json_is_integer(json_object_get(o, name));
}

/* null: what it is of is not known. */
static json_t *rate(bool is_known, uint64_t now, uint64_t *before, double seconds)
{
	if (!is_known)
		return json_null();
	double change = now > *before ? (double)(now - *before) : 0;
	*before = now;
	return json_real(seconds > 0 ? change / seconds : 0);
}

static json_t *limit_of(const struct watched *w, const char *key)
{
	json_t *v = json_object_get(json_object_get(w->limits, key), "value");
	return v ? json_incref(v) : json_null();
}

static json_t *refusals(const struct watched *w)
{
	json_t *all = json_array();
	for (size_t i = 0; i < LAST && w->last[i]; i++) {
		const json_t *r = w->last[i];
		json_array_append_new(all,
			json_pack("{s:O?, s:O?, s:O?, s:O?}", "time", json_object_get(r, "time"),
				"action", json_object_get(r, "action"), "path",
				json_object_get(r, "path"), "rule", json_object_get(r, "rule")));
	}
	return all;
}

static json_t *look_at(struct top *t, const json_t *status)
{
	struct ward_err ignored = WARD_ERR_INIT;
	struct watched *w = find(t, status);
	const json_t *use = json_object_get(status, "use");
	uint64_t now = ward_clock_real_ns();
	if (!w)
		return json_null();
	w->there = true;
	/* What cannot be read now is read at the next look. */
	if (w->log && ward_query_walk_from(w->log, &w->offset, false, count, w, &ignored) < 0)
		ignored = WARD_ERR_INIT;
	double s = now > w->seen_ns ? (double)(now - w->seen_ns) / (double)WARD_NS_PER_SEC : 0;
	uint64_t began = started_ns(status);
	json_t *o = json_object();
	json_object_set(o, "session", json_object_get(status, "session"));
	json_object_set(o, "argv", json_object_get(status, "argv"));
	json_object_set(o, "grants", json_object_get(status, "grants"));
	json_object_set(o, "questions", json_object_get(status, "questions"));
	json_object_set(o, "break_glass", json_object_get(status, "break_glass"));
	json_object_set_new(o, "seconds",
		json_integer(now > began ? (json_int_t)((now - began) / WARD_NS_PER_SEC) : 0));
	json_object_set_new(o, "cpus",
		rate(is_known(use, "cpu_ns"), number(use, "cpu_ns") / 1000, &w->seen_cpu_ns,
			s * 1e6));
	json_object_set_new(o, "cpus_limit_tenths", limit_of(w, "cpus"));
	json_object_set(o, "memory", json_object_get(use, "memory"));
	json_object_set_new(o, "memory_limit", limit_of(w, "memory"));
	json_object_set(o, "processes", json_object_get(use, "processes"));
	json_object_set_new(o, "processes_limit", limit_of(w, "processes"));
	json_object_set_new(o, "read_per_second",
		rate(is_known(use, "read_bytes"), number(use, "read_bytes"), &w->seen_read, s));
	json_object_set_new(o, "written_per_second",
		rate(is_known(use, "written_bytes"), number(use, "written_bytes"), &w->seen_written,
			s));
	json_object_set_new(
		o, "records", w->log ? json_integer((json_int_t)w->records) : json_null());
	json_object_set_new(o, "records_per_second", rate(w->log, w->records, &w->seen_records, s));
	json_object_set_new(
		o, "refused", w->log ? json_integer((json_int_t)w->refused) : json_null());
	json_object_set_new(o, "refused_per_second", rate(w->log, w->refused, &w->seen_refused, s));
	json_object_set_new(o, "last_refused", refusals(w));
	w->seen_ns = now;
	return o;
}

/* --- the text --- */

static void put_size(const json_t *v)
{
	static const char units[] = "KMGT";
	double n = json_number_value(v);
	size_t u = 0;
	if (!json_is_number(v)) {
		ward_outf("?");
		return;
	}
	for (; n >= 1024 && u < sizeof(units) - 1; u++)
		n /= 1024;
	if (u == 0)
		ward_outf("%.0f", n);
	else
		ward_outf("%.1f%c", n, units[u - 1]);
}

static void put_of(const json_t *o, const char *what, const char *limit, bool size)
{
	const json_t *v = json_object_get(o, what), *l = json_object_get(o, limit);
	ward_outf("  %s ", what);
	if (size)
		put_size(v);
	else if (json_is_integer(v))
		ward_outf("%lld", (long long)json_integer_value(v));
	else
		ward_outf("?");
	if (!json_is_integer(l))
		return;
	ward_outf("/");
	if (size)
		put_size(l);
	else
		ward_outf("%lld", (long long)json_integer_value(l));
}

static double real(const json_t *o, const char *name)
{
	return json_number_value(json_object_get(o, name));
}

static void put_session(const json_t *o, bool keys)
{
	size_t i = 0;
	const json_t *v = NULL;
	const char *session = json_string_value(json_object_get(o, "session"));
	ward_outf("%s", session);
	json_array_foreach(json_object_get(o, "argv"), i, v)
	{
		ward_outf(" %s", json_string_value(v));
	}
	long long seconds = (long long)json_integer_value(json_object_get(o, "seconds"));
	ward_outf("\n  up %lld:%02lld:%02lld", seconds / 3600, seconds / 60 % 60, seconds % 60);
	if (json_is_number(json_object_get(o, "cpus")))
		ward_outf("  cpus %.2f", real(o, "cpus"));
	else
		ward_outf("  cpus ?");
	const json_t *cpus = json_object_get(o, "cpus_limit_tenths");
	if (json_is_integer(cpus))
		ward_outf("/%.1f", (double)json_integer_value(cpus) / 10);
	put_of(o, "memory", "memory_limit", true);
	put_of(o, "processes", "processes_limit", false);
	ward_outf("  disk ");
	put_size(json_object_get(o, "read_per_second"));
	ward_outf("/s read, ");
	put_size(json_object_get(o, "written_per_second"));
	ward_outf("/s written\n");
	if (json_integer_value(json_object_get(o, "grants")) > 0)
		ward_outf("  granted %lld (wardfs grants %s)\n",
			(long long)json_integer_value(json_object_get(o, "grants")),
			session ? session : "?");
	if (json_integer_value(json_object_get(o, "questions")) > 0)
		ward_outf("  questions %lld (%s)\n",
			(long long)json_integer_value(json_object_get(o, "questions")),
			keys ? "a: answer" : "wardfs approve");
	json_array_foreach(json_object_get(o, "break_glass"), i, v)
		ward_outf("  BREAK GLASS %s lifts %s for %s until %.19sZ: %s\n",
			json_string_value(json_object_get(v, "id")),
			json_string_value(json_object_get(v, "lifts")),
			json_string_value(json_object_get(v, "pattern")),
			json_string_value(json_object_get(v, "until")),
			json_string_value(json_object_get(v, "reason")));
	if (!json_is_integer(json_object_get(o, "records"))) {
		ward_outf("  its trail cannot be read\n");
		return;
	}
	ward_outf("  records %lld (%.1f/s)  refused %lld (%.1f/s)\n",
		(long long)json_integer_value(json_object_get(o, "records")),
		real(o, "records_per_second"),
		(long long)json_integer_value(json_object_get(o, "refused")),
		real(o, "refused_per_second"));
	json_array_foreach(json_object_get(o, "last_refused"), i, v)
	{
		static const char *const members[] = {"action", "path", "rule"};
		ward_outf("   ");
		for (size_t k = 0; k < sizeof(members) / sizeof(*members); k++) {
			const char *text = json_string_value(json_object_get(v, members[k]));
			if (!text)
				continue;
			ward_outf(k == 2 ? "  (%s)" : " %s", text);
		}
		ward_outf("\n");
	}
}

static void put_all(const json_t *all, bool live, bool keys)
{
	size_t i = 0;
	const json_t *o = NULL;
	if (live)
		ward_outf("\033[H\033[J");
	if (live && json_array_size(all) == 0)
		ward_outf("No session is running. wardfs run -- CMD starts one.\n");
	json_array_foreach(all, i, o) put_session(o, keys);
	if (keys)
		ward_outf("\na: answer questions   q: quit\n");
}

static json_t *look(struct top *t, int *ret_status)
{
	ward_cleanup_free char *runtime = NULL;
	json_t *running = NULL, *all = json_array();
	const json_t *status = NULL;
	size_t i = 0;
	*ret_status = ward_sessions_choose(t->args.asked.session, &runtime, &running, &t->silent);
	json_array_foreach(running, i, status) json_array_append_new(all, look_at(t, status));
	json_decref(running);
	forget_absent(t);
	return all;
}

/* Until it is time to look again. False: a key or a signal ends it. */
static bool wait_for(struct top *t, struct top_keys *k)
{
	struct ward_err err = WARD_ERR_INIT;
	const enum top_key key = top_keys_wait(k, (int)t->args.seconds * 1000);
	if (key != TOP_KEY_QUESTIONS)
		return key != TOP_KEY_QUIT;
	ward_cleanup_free char *meant =
		t->args.asked.session ? ward_sessions_meant(t->args.asked.session) : NULL;
	const struct ward_panel_options o = {.session = meant};
	if ((meant || !t->args.asked.session) && ward_panel_show(&o, &err) < 0)
		ward_say(err.text);
	return true;
}

int ward_cmd_top(int argc, char **argv)
{
	struct top t = {.args = {.seconds = 1}};
	ward_cleanup_free char *state = NULL;
	struct ward_err err = WARD_ERR_INIT;
	if (ward_arguments_parse(&argp, argc, argv, 0, &t.args))
		return 2;
	/* Without trails it still tells what is used. */
	if (ward_store_default_path(geteuid(), secure_getenv("XDG_STATE_HOME"),
		    secure_getenv("HOME"), &state, &err) == 0 &&
		ward_store_open(state, false, &t.store, &err) < 0)
		t.store = NULL;
	const bool live = !t.args.once && !t.args.asked.json && isatty(STDOUT_FILENO);
	struct top_keys keys = {.signals = -1};
	int status = 0;
	bool seen = false;
	if (live)
		top_keys_begin(&keys);
	do {
		json_t *all = look(&t, &status);
		if (t.args.asked.json)
			ward_print_json(json_incref(all));
		else if (!live && !t.args.asked.session && !t.silent && json_array_size(all) == 0)
			ward_sessions_say_none();
		else
			put_all(all, live, keys.on);
		json_decref(all);
		if (ward_out_flush() < 0)
			break; /* main() tells */
		if (live && status == 0 && !wait_for(&t, &keys)) {
			seen = true;
			break;
		}
		/* The one that was named has ended: that is what was waited for. */
		if (status != 0 && seen)
			break;
		seen = status == 0;
	} while (live && status == 0);
	top_keys_end(&keys);
	t.args.asked.session = NULL;
	forget_absent(&t);
	ward_store_close(t.store);
	return live && seen ? 0 : status | t.silent;
}
