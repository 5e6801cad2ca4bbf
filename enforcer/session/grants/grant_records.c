/* SPDX-License-Identifier: Apache-2.0 */
/* Writes `grant` and `revoke`. */
#include "enforcer/session/grants/grant_records.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/event.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

static void add_who(struct ward_event *ev, const struct ward_grantor *by)
{
	char who[32];
	snprintf(who, sizeof(who), "uid %u", by->uid);
	if (by->pid > 0)
		ward_event_u64(ev, WARD_TAG_PID, (uint64_t)by->pid);
	ward_event_u64(ev, WARD_TAG_UID, by->uid);
	ward_event_text(ev, WARD_TAG_BY, who);
	ward_event_text(ev, WARD_TAG_HOW, by->how);
	ward_event_text(ev, WARD_TAG_TOKEN, by->token);
	ward_event_text(ev, WARD_TAG_KEY, by->key);
}

/* HOST:PORT, as the members of a connection have it: the port is a part of the host's text. */
static void add_what(struct ward_event *ev, const struct ward_grant *grant)
{
	if (grant->host) {
		ward_event_text(ev, WARD_TAG_ACTION, "connect");
		ward_event_text(ev, WARD_TAG_HOST, grant->host);
		return;
	}
	ward_event_u64(ev, WARD_TAG_ASKED, grant->rights);
	ward_event_bytes(ev, WARD_TAG_PATH, grant->pattern, strlen(grant->pattern));
}

/* What stands in the trail of a break-glass token, without the secret half of its key. */
static int add_glass(struct ward_event *ev, const struct ward_grantor *by, const char *lifts)
{
	json_t *o = json_pack("{s:s, s:s, s:s}", "lifts", lifts, "payload", by->payload,
		"signature", by->signature);
	ward_cleanup_free char *text = o ? json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;
	json_decref(o);
	if (!text)
		return -ENOMEM;
	ward_event_text(ev, WARD_TAG_JSON, text);
	return 0;
}

int ward_record_grant(
	struct ward_guard *g, const struct ward_grant *grant, const struct ward_grantor *by)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	const uint64_t boot = ward_clock_boot_ns();
	const uint64_t left = grant->until_ns > boot ? grant->until_ns - boot : 0;
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_GRANT);
	add_who(ev, by);
	ward_event_text(ev, WARD_TAG_GRANT, grant->id);
	ward_event_text(ev, WARD_TAG_RESULT, "granted");
	add_what(ev, grant);
	if (grant->until_ns) {
		ward_event_u64(ev, WARD_TAG_UNTIL, ward_clock_real_ns() + left);
		ward_event_u64(ev, WARD_TAG_ENDS, ward_clock_mono_ns() + left);
	}
	if (grant->uses)
		ward_event_u64(ev, WARD_TAG_USES, grant->uses);
	ward_event_text(ev, WARD_TAG_REQUEST, by->request);
	ward_event_text(ev, WARD_TAG_TEXT, grant->reason);
	/* None comes into force that the trail cannot prove. */
	if (grant->lifts && (!by->payload || add_glass(ev, by, grant->lifts) < 0))
		return -EIO;
	return ward_guard_put(g, ev);
}

int ward_record_revoke(struct ward_guard *g, const struct ward_grant_held *held,
	const struct ward_grantor *by, const char *reason, const char *result)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_REVOKE);
	add_who(ev, by);
	ward_event_text(ev, WARD_TAG_GRANT, held->grant.id);
	ward_event_text(ev, WARD_TAG_RESULT, result);
	ward_event_text(ev, WARD_TAG_TEXT, reason);
	return ward_guard_put(g, ev);
}
