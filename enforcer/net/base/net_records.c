/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what the broker does and refuses into the trail. */
#include "enforcer/net/base/net_records.h"

#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/policy/grants.h"

/* By the name that was asked for, or the address where there was none. */
static void add_expected(
	struct ward_event *ev, const struct ward_policy *policy, const struct ward_net_record *r)
{
	char asked[WARD_NAME_SIZE + 16], text[WARD_ADDRESS_TEXT_MAX], port[16] = "";
	const char *file = NULL, *udp = r->proto && strcmp(r->proto, "udp") == 0 ? "/udp" : "";
	unsigned line = 0;
	if (!r->host && !r->addr)
		return;
	if (r->port)
		snprintf(port, sizeof(port), ":%u", r->port);
	if (!r->host)
		ward_sockaddr_text(r->addr, text);
	const bool brackets = !r->host && strchr(text, ':');
	snprintf(asked, sizeof(asked), "%s%.255s%s%s%s", brackets ? "[" : "",
		r->host ? r->host : text, brackets ? "]" : "", port, r->port ? udp : "");
	if (!ward_policy_expects_host(policy, asked, &file, &line))
		return;
	snprintf(asked, sizeof(asked), WARD_PLACE_FMT, WARD_PLACE(file, line));
	ward_event_text(ev, WARD_TAG_EXPECTED, asked);
}

/* The program that asked, and whose process that is, if not the command's. */
static void add_comm(
	struct ward_event *ev, const struct ward_broker *net, const struct ward_net_record *r)
{
	const bool known = r->comm && *r->comm;
	ward_event_text(ev, WARD_TAG_COMM, known ? r->comm : NULL);
	if (known && net->via && *net->via)
		ward_event_text(ev, WARD_TAG_VIA, net->via);
}

static void add_text(struct ward_event *ev, const struct ward_net_record *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!r->why) {
		ward_event_text(ev, WARD_TAG_TEXT, r->text);
		return;
	}
	ward_buf_printf(&b, "%s%swho asked is not known: %s", r->text ? r->text : "",
		r->text ? "; " : "", r->why);
	ward_event_text(ev, WARD_TAG_TEXT, ward_buf_error(&b) < 0 ? r->text : ward_buf_str(&b));
}

int ward_net_record(
	struct ward_broker *net, enum ward_event_kind kind, const struct ward_net_record *r)
{
	struct ward_event ev;
	char text[WARD_ADDRESS_TEXT_MAX];
	ward_event_begin(&ev, kind);
	/* That a connection is one, its kind says. */
	if (kind == WARD_EVENT_DENY || strcmp(r->action, "accept") == 0)
		ward_event_text(&ev, WARD_TAG_ACTION, r->action);
	if (r->uid != WARD_EVENT_UNKNOWN)
		ward_event_u64(&ev, WARD_TAG_UID, r->uid);
	if (r->pid != WARD_EVENT_UNKNOWN || r->why)
		ward_event_u64(&ev, WARD_TAG_PID, r->pid);
	add_comm(&ev, net, r);
	ward_event_text(&ev, WARD_TAG_HOST, r->host);
	ward_event_text(&ev, WARD_TAG_PATH, r->path);
	if (r->addr) {
		ward_sockaddr_text(r->addr, text);
		ward_event_text(&ev, WARD_TAG_ADDR, text);
	}
	if (r->port)
		ward_event_u64(&ev, WARD_TAG_PORT, r->port);
	ward_event_text(&ev, WARD_TAG_PROTO, r->proto);
	if (!ward_word_said(net->settings->redact, WARD_REDACT_SNI))
		ward_event_text(&ev, WARD_TAG_SNI, r->sni);
	ward_event_u64(&ev, WARD_TAG_VERDICT,
		kind != WARD_EVENT_DENY ? WARD_VERDICT_ALLOW
		: r->asked		? WARD_VERDICT_ASK
					: WARD_VERDICT_DENY);
	ward_event_text(&ev, WARD_TAG_RULE, r->place);
	ward_event_text(&ev, WARD_TAG_RULE_TEXT, r->rule);
	ward_event_text(&ev, WARD_TAG_REQUEST, r->question);
	if (r->error)
		ward_event_u64(&ev, WARD_TAG_ERRNO, (uint64_t)r->error);
	if (r->ended) {
		ward_event_u64(&ev, WARD_TAG_SENT, r->sent);
		ward_event_u64(&ev, WARD_TAG_RECEIVED, r->received);
		ward_event_u64(&ev, WARD_TAG_DURATION, r->duration_ns);
	}
	if (r->answers_len)
		ward_event_list(&ev, WARD_TAG_ANSWERS, r->answers, r->answers_len);
	add_text(&ev, r);
	if (r->connections)
		ward_event_u64(&ev, WARD_TAG_CONNECTIONS, *r->connections);
	if (kind == WARD_EVENT_DENY)
		add_expected(&ev, net->policy, r);
	int e = ward_ring_put(net->ring, &ev);
	return e;
}

int ward_net_record_expire(
	struct ward_broker *net, const struct ward_grant_held *held, const char *result)
{
	struct ward_event ev;
	ward_event_begin(&ev, WARD_EVENT_EXPIRE);
	ward_event_text(&ev, WARD_TAG_GRANT, held->grant.id);
	ward_event_text(&ev, WARD_TAG_RESULT, result);
	ward_event_u64(&ev, WARD_TAG_USED, atomic_load(&held->used));
	return ward_ring_put(net->ring, &ev);
}

/* A supervisor that does not hear it lists a use less; the trail has it. */
static void tell_used(const struct ward_grant_held *held, uint32_t used)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_MSG_NET_USED);
	ward_msg_put_str(&m, held->grant.id);
	ward_msg_put_u32(&m, used);
	(void)!ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
}

int ward_net_record_use(
	struct ward_broker *net, const struct ward_net_record *r, struct ward_grant_held *held)
{
	struct ward_event ev;
	char text[WARD_ADDRESS_TEXT_MAX];
	/* Before the look at the other clock: the record is then within the grant's time. */
	const uint64_t mono_ns = ward_clock_mono_ns();
	int e = ward_held_use(held, ward_clock_boot_ns());
	if (e < 0)
		return e;
	const uint32_t used = atomic_load(&held->used);
	ward_event_begin(&ev, WARD_EVENT_USE);
	ev.head.mono_ns = mono_ns;
	ward_event_text(&ev, WARD_TAG_ACTION, "connect");
	if (r->pid != WARD_EVENT_UNKNOWN)
		ward_event_u64(&ev, WARD_TAG_PID, r->pid);
	add_comm(&ev, net, r);
	ward_event_text(&ev, WARD_TAG_HOST, r->host);
	if (r->addr) {
		ward_sockaddr_text(r->addr, text);
		ward_event_text(&ev, WARD_TAG_ADDR, text);
	}
	if (r->port)
		ward_event_u64(&ev, WARD_TAG_PORT, r->port);
	ward_event_text(&ev, WARD_TAG_GRANT, held->grant.id);
	ward_event_u64(&ev, WARD_TAG_USED, used);
	if (held->grant.uses)
		ward_event_u64(&ev, WARD_TAG_USES, held->grant.uses);
	e = ward_ring_put(net->ring, &ev);
	if (e == 0 && held->grant.uses && used == held->grant.uses)
		e = ward_net_record_expire(net, held, "spent");
	tell_used(held, used);
	return e;
}
