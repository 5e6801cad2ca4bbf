/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as hostile as bytes can be, in every member that has text, in each of the formats of
 * others: one line a record, no field that ends early, nothing that a terminal would obey. The same
 * of a trail that somebody edited: its texts are what the bytes are.
 */
#include <jansson.h>
#include <string.h>

#include "audit/export/export.h"
#include "audit/log/chain.h"
#include "audit/query/parse.h"
#include "audit/write/encode.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "tests/fuzz/fuzz.h"

/* One line, its end apart, in which nothing is left to be escaped. */
static void check_line(const struct ward_buf *b, size_t end)
{
	ward_cleanup(ward_buf_clear) struct ward_buf shown = WARD_BUF_INIT;
	fuzz_insist(ward_buf_error(b) == 0 && b->len > end && b->data[b->len - 1] == '\n');
	ward_shown_lines(&shown, b->data, b->len - end);
	fuzz_insist(shown.len == b->len - end && !memchr(b->data, '\n', b->len - end) &&
		    !memchr(b->data, '\t', b->len - end));
}

/* RFC 4180: as many fields as the head has, quotes in pairs; none begins a formula. */
static void check_csv(const char *head, const struct ward_buf *b)
{
	size_t want = 1, fields = 1;
	bool quoted = false;
	for (; *head; head++)
		want += *head == ',';
	fuzz_insist(b->len >= 2 && b->data[b->len - 2] == '\r');
	for (size_t i = 0; i < b->len - 2; i++) {
		char c = b->data[i];
		if (c == '"') {
			fuzz_insist(quoted || i == 0 || b->data[i - 1] == ',');
			if (quoted && b->data[i + 1] == '"') {
				i++;
				continue;
			}
			if (!quoted)
				fuzz_insist(!strchr("=+-@", b->data[i + 1]));
			quoted = !quoted;
			fuzz_insist(quoted || strchr(",\r", b->data[i + 1]));
		} else {
			fields += !quoted && c == ',';
		}
	}
	fuzz_insist(!quoted && fields == want);
}

/* Seven bars before the extension; in it each '=' that is not escaped ends a key of letters. */
static void check_cef(const struct ward_buf *b)
{
	size_t bars = 0, i = 0;
	fuzz_insist(strncmp(b->data, "CEF:0|", 6) == 0);
	for (; i < b->len && bars < 7; i++) {
		if (b->data[i] == '\\')
			i++;
		else
			bars += b->data[i] == '|';
	}
	fuzz_insist(bars == 7);
	for (size_t key = i; i < b->len; i++) {
		if (b->data[i] == '\\') {
			i++;
			fuzz_insist(strchr("\\=", b->data[i]));
		} else if (b->data[i] == ' ') {
			key = i + 1;
		} else if (b->data[i] == '=') {
			fuzz_insist(i > key);
			for (; key < i; key++)
				fuzz_insist((b->data[key] >= 'a' && b->data[key] <= 'z') ||
					    (b->data[key] >= 'A' && b->data[key] <= 'Z') ||
					    (b->data[key] >= '0' && b->data[key] <= '9'));
		}
	}
}

static void check_json(const struct ward_buf *b)
{
	json_t *o = json_loadb(b->data, b->len - 1, JSON_REJECT_DUPLICATES, NULL);
	fuzz_insist(json_is_object(o));
	json_decref(o);
}

static void export_all(const struct ward_buf *line)
{
	json_t *o = ward_parse_record(line->data, line->len - 1);
	fuzz_insist(json_is_object(o));
	const struct ward_export_record r = {
		.json = o, .line = line->data, .len = line->len - 1, .host = "host"};
	const struct ward_export *e = NULL;
	for (size_t i = 0; (e = ward_export_get(i)); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		bool csv = strcmp(e->name, "csv") == 0;
		e->record(&b, &r);
		check_line(&b, csv ? 2 : 1);
		if (csv) {
			ward_cleanup(ward_buf_clear) struct ward_buf head = WARD_BUF_INIT;
			e->head(&head);
			check_csv(ward_buf_str(&head), &b);
		} else if (strcmp(e->name, "cef") == 0) {
			check_cef(&b);
		} else {
			check_json(&b);
		}
	}
	json_decref(o);
}

/* Each text of the record becomes this one, escaped as JSON has it, or as its bytes. */
static void export_edited(const struct ward_buf *line, const uint8_t *data, size_t size)
{
	json_t *o = json_loadb(line->data, line->len - 1, 0, NULL);
	json_t *text = json_stringn((const char *)data, size);
	const char *name = NULL;
	json_t *v = NULL;
	fuzz_insist(json_is_object(o));
	json_object_foreach(o, name, v)
	{
		if (text && json_is_string(v))
			json_object_set(o, name, text);
	}
	if (text)
		json_object_set_new(o, "detail", json_pack("{s:O, s:[O]}", "a", text, "b", text));
	for (size_t flags = 0; flags <= JSON_ENSURE_ASCII; flags += JSON_ENSURE_ASCII) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_cleanup_free char *edited = json_dumps(o, flags);
		fuzz_insist(edited != NULL);
		ward_buf_puts(&b, edited);
		ward_buf_putc(&b, '\n');
		/* U+0000 is none that a reader takes. */
		if (!memchr(data, 0, size))
			export_all(&b);
	}
	json_decref(text);
	json_decref(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ward_event ev;
	static const uint8_t key[WARD_KEY_BYTES] = {7};
	static const enum ward_event_tag texts[] = {WARD_TAG_COMM, WARD_TAG_ACTION, WARD_TAG_PATH,
		WARD_TAG_PATH2, WARD_TAG_RULE, WARD_TAG_RULE_TEXT, WARD_TAG_TEXT, WARD_TAG_EXE,
		WARD_TAG_CWD, WARD_TAG_NAME, WARD_TAG_HOST, WARD_TAG_SNI, WARD_TAG_ADDR};
	uint8_t prev[WARD_MAC_BYTES] = {0};
	struct ward_event_fields fields;
	if (size < 2 || size > 512 || ward_chain_setup() < 0)
		return 0;
	ward_event_begin(&ev, (enum ward_event_kind)(1 + data[0] % (WARD_EVENT_COUNT_ - 1)));
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		ward_event_bytes(&ev, texts[i], data + 1, size - 1);
	ward_event_list(&ev, WARD_TAG_ARGV, data + 1, size - 1);
	ward_event_u64(&ev, WARD_TAG_PID, size);
	ward_event_u64(&ev, WARD_TAG_READ, WARD_EVENT_UNKNOWN);
	fuzz_insist(ward_event_decode(&ev, ward_event_size(&ev), &fields) == 0);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_record_place place = {.seq = 1, .session = "fuzz", .ring = 1};
	ward_encode_record(&b, &place, &ev.head, &fields);
	ward_chain_seal(key, prev, &b, 0);
	fuzz_insist(ward_buf_error(&b) == 0);
	export_all(&b);
	export_edited(&b, data + 1, size - 1);
	return 0;
}
