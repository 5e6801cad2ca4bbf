/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/scripted.h"

#include <errno.h>
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/event.h"
#include "audit/record_table.h"
#include "audit/terms.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/policy.h"

/* Of a piece of a policy. */
#define PIECE 2048

static void need(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "scripted: %s\n", what);
	exit(2);
}

static void send(struct ward_ring *ring, const struct ward_event *ev)
{
	need(ward_ring_put(ring, ev) == 0, "the ring fails");
}

static uint64_t rights_of(const json_t *list)
{
	uint64_t rights = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *name = json_string_value(json_array_get(list, i));
		for (unsigned bit = 0; bit < WARD_RIGHTS_COUNT; bit++) {
			ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
			ward_rights_format(&b, 1U << bit);
			if (name && strcmp(ward_buf_str(&b), name) == 0)
				rights |= 1U << bit;
		}
	}
	return rights;
}

static uint64_t verdict_of(const char *name)
{
	for (unsigned v = 0; v <= WARD_VERDICT_ALLOW; v++)
		if (strcmp(ward_verdict_name((enum ward_verdict)v), name) == 0)
			return v;
	need(false, "no such verdict");
	return 0;
}

static uint64_t source_of(const char *name)
{
	for (unsigned v = 0; v < WARD_SOURCE_COUNT_; v++)
		if (strcmp(ward_source_name((enum ward_source_kind)v), name) == 0)
			return v;
	need(false, "no such source");
	return 0;
}

static void put_digest(struct ward_event *ev, enum ward_event_tag tag, const char *hex)
{
	uint8_t sum[32];
	size_t n = 0;
	need(sodium_hex2bin(sum, sizeof(sum), hex, strlen(hex), NULL, &n, NULL) == 0 &&
			n == sizeof(sum),
		"no digest");
	ward_event_digest(ev, tag, sum);
}

static void put_member(struct ward_event *ev, enum ward_event_tag tag, const json_t *v)
{
	const char *text = json_string_value(v);
	switch ((enum ward_event_type)ward_record_members[tag].type) {
	case WARD_TYPE_RIGHTS:
		ward_event_u64(ev, tag, rights_of(v));
		return;
	case WARD_TYPE_VERDICT:
		ward_event_u64(ev, tag, verdict_of(text));
		return;
	case WARD_TYPE_SOURCE:
		ward_event_u64(ev, tag, source_of(text));
		return;
	case WARD_TYPE_DIGEST:
		put_digest(ev, tag, text);
		return;
	case WARD_TYPE_JSON: {
		char *json = json_dumps(v, JSON_COMPACT | JSON_ENSURE_ASCII);
		ward_event_text(ev, tag, json);
		free(json);
		return;
	}
	default:
		if (json_is_integer(v))
			ward_event_u64(ev, tag, (uint64_t)json_integer_value(v));
		else
			ward_event_text(ev, tag, text);
	}
}

static void put_pieces(
	struct ward_ring *ring, const char *name, const char *digest, const struct ward_buf *text)
{
	struct ward_event ev;
	for (size_t at = 0; at < text->len; at += PIECE) {
		ward_event_begin(&ev, WARD_EVENT_POLICY);
		ward_event_text(&ev, WARD_TAG_POLICY, digest);
		ward_event_text(&ev, WARD_TAG_NAME, name);
		ward_event_bytes(&ev, WARD_TAG_TEXT, text->data + at,
			text->len - at < PIECE ? text->len - at : PIECE);
		send(ring, &ev);
	}
}

/* o: its texts, of which `compile` is the base. */
static void put_policy(struct ward_ring *ring, const json_t *o, const char *path)
{
	static const struct {
		enum ward_source_kind kind;
		const char *file, *member;
	} of[] = {{WARD_SOURCE_BASE, "base", "compile"}, {WARD_SOURCE_FLOOR, "floor", "floor"},
		{WARD_SOURCE_PROJECT, "project", "project"}};
	struct ward_source_text sources[sizeof(of) / sizeof(*of)];
	size_t n = 0;
	char name[4096];
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf meaning = WARD_BUF_INIT;
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		const char *text = json_string_value(json_object_get(o, of[i].member));
		if (text)
			sources[n++] = (struct ward_source_text){.kind = of[i].kind,
				.file = of[i].file,
				.text = text,
				.len = strlen(text)};
	}
	need(ward_policy_compile(sources, n, &p, &err) == 0, err.text);
	need(ward_policy_encode(p, &blob) == 0 && ward_policy_meaning(p, &meaning) == 0, "memory");
	(void)snprintf(name, sizeof(name), "%s.sources", path);
	/* The file beside a trail is that of its first policy. */
	FILE *f = fopen(name, "wxe");
	need(f || errno == EEXIST, name);
	need(!f || (fwrite(blob.data, 1, blob.len, f) == blob.len && fclose(f) == 0), name);
	put_pieces(ring, WARD_POLICY_SOURCES, ward_policy_digest(p), &blob);
	put_pieces(ring, WARD_POLICY_MEANING, ward_policy_digest(p), &meaning);
	ward_policy_unref(p);
}

static void put_record(struct ward_ring *ring, const char *kind, const json_t *o)
{
	struct ward_event ev;
	const enum ward_event_kind k = ward_record_kind_find(kind, strlen(kind));
	need(k != WARD_EVENT_NONE, "no such kind");
	ward_event_begin(&ev, k);
	/* In the order of the table, as events have it. */
	for (unsigned tag = WARD_TAG_NONE + 1; tag < WARD_TAG_COUNT_; tag++) {
		const json_t *v = json_object_get(o, ward_record_members[tag].name);
		if (v)
			put_member(&ev, (enum ward_event_tag)tag, v);
	}
	send(ring, &ev);
}

void scripted_put(const char *path, struct ward_ring *const rings[])
{
	FILE *f = fopen(path, "re");
	char line[8192];
	need(f != NULL, "no such file");
	while (fgets(line, sizeof(line), f)) {
		json_t *o = json_loads(line, 0, NULL);
		const char *kind = json_string_value(json_object_get(o, "kind"));
		struct ward_ring *ring =
			rings[json_integer_value(json_object_get(o, "ring")) ? 1 : 0];
		need(kind != NULL, "a line is no record");
		if (json_object_get(o, "compile"))
			put_policy(ring, o, path);
		else
			put_record(ring, kind, o);
		json_decref(o);
	}
	(void)fclose(f);
}
