/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what the broker does and refuses into the trail. */
#include "enforcer/net/base/net_records.h"

int ward_net_record(
	struct ward_broker *net, enum ward_event_kind kind, const struct ward_net_record *r)
{
	struct ward_event ev;
	char text[WARD_ADDRESS_TEXT_MAX];
	ward_event_begin(&ev, kind);
	if (kind == WARD_EVENT_DENY)
		ward_event_text(&ev, WARD_TAG_ACTION, r->action);
	if (r->uid != WARD_EVENT_UNKNOWN)
		ward_event_u64(&ev, WARD_TAG_UID, r->uid);
	if (r->pid != WARD_EVENT_UNKNOWN)
		ward_event_u64(&ev, WARD_TAG_PID, r->pid);
	ward_event_text(&ev, WARD_TAG_COMM, r->comm && *r->comm ? r->comm : NULL);
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
		kind == WARD_EVENT_DENY ? WARD_VERDICT_DENY : WARD_VERDICT_ALLOW);
	ward_event_text(&ev, WARD_TAG_RULE, r->place);
	ward_event_text(&ev, WARD_TAG_RULE_TEXT, r->rule);
	if (r->error)
		ward_event_u64(&ev, WARD_TAG_ERRNO, (uint64_t)r->error);
	if (r->ended) {
		ward_event_u64(&ev, WARD_TAG_SENT, r->sent);
		ward_event_u64(&ev, WARD_TAG_RECEIVED, r->received);
		ward_event_u64(&ev, WARD_TAG_DURATION, r->duration_ns);
	}
	if (r->answers_len)
		ward_event_list(&ev, WARD_TAG_ANSWERS, r->answers, r->answers_len);
	ward_event_text(&ev, WARD_TAG_TEXT, r->text);
	int e = ward_ring_put(net->ring, &ev);
	return e;
}
