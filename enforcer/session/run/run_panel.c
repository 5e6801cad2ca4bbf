/* SPDX-License-Identifier: Apache-2.0 */
/* Tells of questions, and lends the terminal to the panel. */
#include "enforcer/session/run/run_panel.h"

#include <sys/stat.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/control/status_events.h"

/* A terminal that the command has shows it in the window's title: its screen is the command's. */
static const char title[] = "wardfs: a question waits: wardfs approve";
static const char title_key[] = "wardfs: a question waits: Ctrl-] shows it";

/* Where the command is one of the owner's own processes, nobody is asked. */
static bool may_ask(const struct ward_running *r)
{
	const struct ward_policy *p = ward_running_policy(r);
	return (r->plan->mode->guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_INTEGRITY)) &&
	       (r->asks.count > 0 || ward_policy_asks(p) || ward_policy_asks_hosts(p));
}

static void reserve(struct ward_running *r)
{
	const struct ward_policy *p = ward_running_policy(r);
	if (r->panel_policy == p && !r->asks.count)
		return;
	r->panel_policy = p;
	const bool asks = may_ask(r);
	ward_relay_reserve(r->relay, asks);
	ward_attach_reserve(&r->attach, asks);
}

/* --- the panel --- */

static void on_closed(void *user, bool leave)
{
	struct ward_running *r = user;
	ward_cleanup(ward_buf_clear) struct ward_buf picture = WARD_BUF_INIT;
	const bool drawn = ward_screen_redraw(&r->screen, &picture);
	if (!ward_attach_somebody(&r->attach))
		ward_screen_quiet(&r->screen);
	ward_relay_uncover(r->relay, picture.data, picture.len);
	if (!drawn)
		ward_relay_redraw(r->relay);
	if (r->rung)
		ward_run_panel_ring(r, true);
	if (leave && r->options->keep)
		ward_relay_leave(r->relay);
}

void ward_run_panel_begin(struct ward_running *r, unsigned rank)
{
	r->panel.closed = on_closed;
	r->panel.user = r;
	r->panel_rank = rank;
	reserve(r);
}

void ward_run_panel_look(struct ward_running *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf typed = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf undo = WARD_BUF_INIT;
	reserve(r);
	if (!ward_relay_wants_panel(r->relay, &typed) || r->over || r->let_go || r->detached ||
		ward_panel_is_open(&r->panel))
		return;
	ward_screen_undo(&r->screen, &undo);
	ward_relay_cover(r->relay, !ward_screen_is_up(&r->screen), undo.data, undo.len);
	if (ward_panel_open(
		    &r->panel, r->relay, &r->set, r->panel_rank, r->guard.store.name, &typed) < 0)
		on_closed(r, false);
}

void ward_run_panel_close(struct ward_running *r)
{
	ward_panel_close(&r->panel);
}

/* --- who hears of questions --- */

/* Others who wait for a change of questions, in any session, watch its directory. */
static void tell_others(const struct ward_running *r)
{
	(void)!futimens(r->control_dir, NULL);
}

void ward_run_panel_ring(struct ward_running *r, bool on)
{
	const bool key = ward_relay_is_reserved(r->relay);
	r->rung = on;
	if (!ward_panel_is_open(&r->panel))
		ward_relay_ring(r->relay, !on ? NULL : key ? title_key : title);
	ward_attach_ring(&r->attach, on);
}

void ward_run_panel_question(struct ward_running *r, const struct ward_asked *q)
{
	static const char *const few[] = {"event", "question", "digest", "waits", "left", NULL};
	json_t *o = r->options->status_fd > 0 ? ward_asks_one(&r->asks, q) : NULL;
	if (o)
		json_object_set_new(o, "event", json_string("question"));
	ward_stream_if_read(r->options->status_fd, o, few);
	reserve(r);
	ward_panel_changed(&r->panel);
	tell_others(r);
}

void ward_run_panel_answer(
	void *arg, const struct ward_asked *q, const struct ward_asks_answer *how)
{
	struct ward_running *r = arg;
	static const char *const few[] = {"event", "question", "result", NULL};
	json_t *o = json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?}", "event", "answer", "question",
		q->name, "result", how->result, "scope", how->scope, "how", how->how, "grant",
		how->grant);
	ward_stream_if_read(r->options->status_fd, o, few);
	ward_panel_changed(&r->panel);
	tell_others(r);
}
