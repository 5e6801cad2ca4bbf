/* SPDX-License-Identifier: Apache-2.0 */
/* Knows which questions have no answer. */
#include "audit/write/unanswered.h"

#include <stdlib.h>
#include <string.h>

void ward_unanswered_clear(struct ward_unanswered *u)
{
	free(u->v);
	*u = (struct ward_unanswered){0};
}

static size_t find(const struct ward_unanswered *u, const char request[WARD_UNANSWERED_NAME])
{
	size_t i = u->first;
	while (i < u->n && memcmp(u->v[i].request, request, WARD_UNANSWERED_NAME) != 0)
		i++;
	return i;
}

/* Of memory that is missing: the trail then ends as it would have before. */
static bool has_room(struct ward_unanswered *u)
{
	if (!u->v)
		u->v = calloc(WARD_UNANSWERED_MAX, sizeof(*u->v));
	return u->v && u->n < WARD_UNANSWERED_MAX;
}

static void note(struct ward_unanswered *u, enum ward_event_kind kind, const void *request,
	size_t len, const uint8_t *shown)
{
	struct ward_unanswered_one one = {.digest = shown != NULL};
	if (len == 0 || len >= sizeof(one.request))
		return;
	memcpy(one.request, request, len);
	if (shown)
		memcpy(one.shown, shown, sizeof(one.shown));
	const size_t i = find(u, one.request);
	if (kind == WARD_EVENT_ANSWER && i < u->n)
		u->v[i] = u->v[--u->n];
	else if (kind == WARD_EVENT_ASK && i < u->n)
		u->v[i] = one;
	else if (kind == WARD_EVENT_ASK && has_room(u))
		u->v[u->n++] = one;
}

static bool concerns(enum ward_event_kind kind)
{
	return kind == WARD_EVENT_ASK || kind == WARD_EVENT_ANSWER;
}

void ward_unanswered_note(struct ward_unanswered *u, enum ward_event_kind kind,
	const struct ward_event_fields *fields)
{
	const struct ward_event_field *request = &fields->of[WARD_TAG_REQUEST];
	const struct ward_event_field *shown = &fields->of[WARD_TAG_SHOWN];
	if (concerns(kind) && request->p)
		note(u, kind, request->p, request->len,
			shown->p && shown->len == sizeof(u->taken.shown) ? shown->p : NULL);
}

/* Behind `before`, which no text of a line can contain: quotes in it are escaped. */
static const char *behind(const char *rest, size_t len, const char *before, size_t *ret_left)
{
	const char *at = memmem(rest, len, before, strlen(before));
	if (!at)
		return NULL;
	at += strlen(before);
	*ret_left = len - (size_t)(at - rest);
	return at;
}

static bool read_hex(const char *p, size_t len, uint8_t ret[32])
{
	static const char digits[] = "0123456789abcdef";
	if (len < 64)
		return false;
	for (size_t i = 0; i < 32; i++) {
		const char *high = memchr(digits, p[2 * i], 16);
		const char *low = memchr(digits, p[2 * i + 1], 16);
		if (!high || !low)
			return false;
		ret[i] = (uint8_t)((high - digits) << 4 | (low - digits));
	}
	return true;
}

void ward_unanswered_read(
	struct ward_unanswered *u, enum ward_event_kind kind, const char *rest, size_t len)
{
	size_t left = 0, left_shown = 0;
	const char *request = concerns(kind) ? behind(rest, len, ",\"request\":\"", &left) : NULL;
	const char *end = request ? memchr(request, '"', left) : NULL;
	const char *shown = end ? behind(rest, len, ",\"shown\":\"", &left_shown) : NULL;
	uint8_t sum[32];
	if (end)
		note(u, kind, request, (size_t)(end - request),
			shown && read_hex(shown, left_shown, sum) ? sum : NULL);
}

bool ward_unanswered_take(struct ward_unanswered *u, struct ward_event_fields *ret)
{
	if (u->first == u->n)
		return false;
	/* In the order in which they were asked, as far as answers have left it. */
	u->taken = u->v[u->first++];
	*ret = (struct ward_event_fields){0};
	ret->of[WARD_TAG_REQUEST] = (struct ward_event_field){
		.p = (const uint8_t *)u->taken.request, .len = strlen(u->taken.request)};
	ward_member_set_add(&ret->members, WARD_TAG_REQUEST);
	if (u->taken.digest) {
		ret->of[WARD_TAG_SHOWN] = (struct ward_event_field){
			.p = u->taken.shown, .len = sizeof(u->taken.shown)};
		ward_member_set_add(&ret->members, WARD_TAG_SHOWN);
	}
	return true;
}
