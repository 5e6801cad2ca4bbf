/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_pages members|kinds|exports|schema: a part of the pages about records, as the two tables
 * of audit/ have it. tests/static/records.py compares the pages with it, and writes them.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "audit/export/member_names.h"
#include "audit/record_table.h"
#include "audit/terms.h"

struct row {
	const char *name;
	const char *unit; /* NULL: what the writer puts around each record */
	const char *what;
	enum ward_event_type type;
};

#define FRAME(id, n, csv, text) {.name = (n), .what = (text)},
#define MEMBER(id, n, t, u, show, csv, cef, ocsf, text)                                            \
	{.name = (n), .unit = (u), .what = (text), .type = WARD_TYPE_##t},
static const struct row rows[WARD_EXPORT_MEMBERS] = {
#include "audit/record_members.def"
};
#undef FRAME
#undef MEMBER

/* The members of a kind, in the order of its row; WARD_TAG_NONE ends them. */
static const struct {
	const char *name;
	unsigned by;
	const char *what;
	enum ward_event_tag has[WARD_TAG_COUNT_];
} kinds[] = {
#define KIND(id, name, by, is, members, what) {(name), (by), (what), {members WARD_TAG_NONE}},
#define HAS(id) WARD_TAG_##id,
#include "audit/record_kinds.def"
#undef KIND
#undef HAS
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

#define TIME "{\"$ref\": \"#/$defs/time\"}"
#define DIGEST "{\"$ref\": \"#/$defs/digest\"}"
#define NUMBER "{\"type\": \"integer\", \"minimum\": 0}"
#define STRING "{\"type\": \"string\"}"

/* What the writer puts around each record. */
static const struct {
	const char *name;
	const char *type;
	const char *schema; /* NULL: the list of kinds */
} frame[] = {
	{"v", "number", "{\"const\": 1}"},
	{"seq", "number", "{\"type\": \"integer\", \"minimum\": 1}"},
	{"session", "string",
		"{\"type\": \"string\", \"pattern\": \"^[A-Za-z0-9_][A-Za-z0-9._-]{0,79}$\"}"},
	{"kind", "string", NULL},
	{"time", "string", TIME},
	{"mono", "number", NUMBER},
	{"ring", "number", "{\"type\": \"integer\", \"minimum\": -1}"},
	{"pos", "number", NUMBER},
	{"lag", "number", NUMBER},
	{"cut", "`true`", "{\"const\": true}"},
	{"mac", "string", DIGEST},
};

static size_t frame_of(const struct row *r)
{
	size_t i = 0;
	while (i < sizeof(frame) / sizeof(*frame) && strcmp(frame[i].name, r->name) != 0)
		i++;
	return i;
}

/* The type of a member: in words, and in JSON Schema. */
static const char *type_words(const struct row *r)
{
	switch (r->type) {
	case WARD_TYPE_NONE:
		return frame[frame_of(r)].type;
	case WARD_TYPE_U64:
	case WARD_TYPE_I64:
		return "number";
	case WARD_TYPE_COUNT:
		return "number or null";
	case WARD_TYPE_OCTAL:
	case WARD_TYPE_BYTES:
	case WARD_TYPE_TIME:
	case WARD_TYPE_DIGEST:
		return "string";
	case WARD_TYPE_VERDICT:
	case WARD_TYPE_SOURCE:
	case WARD_TYPE_ERRNO:
		return "string or null";
	case WARD_TYPE_RIGHTS:
	case WARD_TYPE_LIST:
		return "array of strings";
	case WARD_TYPE_JSON:
		return "object or null";
	}
	return "?";
}

static void put_members(void)
{
	puts("| member | type | meaning |\n|---|---|---|");
	for (size_t i = 0; i < WARD_EXPORT_MEMBERS; i++) {
		const struct row *r = &rows[i];
		const char *unit = r->unit ? r->unit : "";
		printf("| `%s` | %s%s%s | %s |\n", r->name, type_words(r), *unit ? ", " : "", unit,
			r->what);
	}
}

/* One item of a list, wrapped; what stands between backticks stays on one line. */
#define COLUMNS 100
static void put_wrapped(const char *name, const char *text)
{
	int at = printf("- `%s`:", name);
	while (*text) {
		size_t n = 0;
		int columns = 0;
		for (bool code = false; text[n] && (code || text[n] != ' '); n++) {
			code ^= text[n] == '`';
			/* The bytes behind the first of a character have its top bits: 10. */
			columns += ((unsigned char)text[n] & 0xc0) != 0x80;
		}
		at += columns + 1;
		if (at > COLUMNS)
			at = printf("\n ") - 1 + columns + 1;
		printf(" %.*s", (int)n, text);
		text += n + (text[n] == ' ');
	}
	puts("");
}

static void put_kind(size_t i)
{
	static const char *const who[] = {"supervisor", "filesystem", "broker", "writer"};
	const char *before = "";
	printf("| `%s` | ", kinds[i].name);
	for (size_t k = 0; k < sizeof(who) / sizeof(*who); k++) {
		if (!(kinds[i].by >> k & 1))
			continue;
		printf("%s%s", before, who[k]);
		before = ", ";
	}
	fputs(" | `", stdout);
}

/* A cell of a table takes two lines of a terminal at most; what is more is in another row. */
#define CELL (2 * COLUMNS - 40)
static void put_kinds(void)
{
	puts("| kind | of | members |\n|---|---|---|");
	for (size_t i = 0; i < KINDS; i++) {
		int columns = 0;
		put_kind(i);
		for (const enum ward_event_tag *t = kinds[i].has; *t != WARD_TAG_NONE; t++) {
			const char *name = ward_record_members[*t].name;
			if (columns + 1 + (int)strlen(name) > CELL) {
				puts("` |");
				put_kind(i);
				columns = 0;
			}
			columns += printf("%s%s", columns ? " " : "", name);
		}
		puts("` |");
	}
	puts("\nWhat a record of each kind says:\n");
	for (size_t i = 0; i < KINDS; i++)
		put_wrapped(kinds[i].name, kinds[i].what);
}

static void put_name(const char **before, const char *name, const char *where)
{
	if (!name)
		return;
	printf("%s`%s`%s", *before, name, where);
	*before = ", ";
}

static void put_exports(void)
{
	puts("| member | CSV | CEF | OCSF |\n|---|---|---|---|");
	for (size_t i = 0; i < WARD_EXPORT_MEMBERS; i++) {
		const struct ward_export_member *m = &ward_export_members[i];
		const char *before = "";
		printf("| `%s` | %u | ", m->name, m->csv);
		if (m->cef)
			printf("`%s`", m->cef);
		if (m->cef_label)
			printf(" (%sLabel=%s)", m->cef, m->cef_label);
		fputs(" | ", stdout);
		put_name(&before, m->ocsf.any, "");
		put_name(&before, m->ocsf.actor, "");
		put_name(&before, m->ocsf.file, " (1001)");
		put_name(&before, m->ocsf.process, " (1007)");
		put_name(&before, m->ocsf.network, " (4001)");
		put_name(&before, m->ocsf.dns, " (4003)");
		put_name(&before, m->ocsf.question, " (`ask`, `grant`)");
		puts(" |");
	}
}

/* --- the schema --- */

static void put_rights(void)
{
	const char *name = NULL;
	fputs("{\"type\": \"array\", \"items\": {\"enum\": [", stdout);
	for (unsigned bit = 0; (name = ward_name_right(bit)); bit++)
		printf("%s\"%s\"", bit ? ", " : "", name);
	fputs("]}}", stdout);
}

static void put_enum(const char *(*name_of)(uint64_t))
{
	const char *name = NULL;
	fputs("{\"enum\": [", stdout);
	for (uint64_t i = 0; (name = name_of(i)); i++)
		printf("\"%s\", ", name);
	fputs("null]}", stdout);
}

static void put_frame(const struct row *r)
{
	const char *text = frame[frame_of(r)].schema;
	if (text) {
		fputs(text, stdout);
		return;
	}
	fputs("{\"enum\": [", stdout);
	for (size_t i = 0; i < KINDS; i++)
		printf("%s\"%s\"", i ? ", " : "", kinds[i].name);
	fputs("]}", stdout);
}

static void put_type(const struct row *r)
{
	switch (r->type) {
	case WARD_TYPE_NONE:
		put_frame(r);
		return;
	case WARD_TYPE_U64:
		fputs(NUMBER, stdout);
		return;
	case WARD_TYPE_I64:
		fputs("{\"type\": \"integer\"}", stdout);
		return;
	case WARD_TYPE_COUNT:
		fputs("{\"type\": [\"integer\", \"null\"], \"minimum\": 0}", stdout);
		return;
	case WARD_TYPE_OCTAL:
		fputs("{\"type\": \"string\", \"pattern\": \"^[0-7]{4,}$\"}", stdout);
		return;
	case WARD_TYPE_BYTES:
		fputs(STRING, stdout);
		return;
	case WARD_TYPE_RIGHTS:
		put_rights();
		return;
	case WARD_TYPE_VERDICT:
		put_enum(ward_name_verdict);
		return;
	case WARD_TYPE_SOURCE:
		put_enum(ward_name_source);
		return;
	case WARD_TYPE_ERRNO:
		fputs("{\"type\": [\"string\", \"null\"], \"pattern\": \"^(0|E[A-Z0-9]+)$\"}",
			stdout);
		return;
	case WARD_TYPE_JSON:
		fputs("{\"type\": [\"object\", \"null\"]}", stdout);
		return;
	case WARD_TYPE_TIME:
		fputs(TIME, stdout);
		return;
	case WARD_TYPE_DIGEST:
		fputs(DIGEST, stdout);
		return;
	case WARD_TYPE_LIST:
		fputs("{\"type\": \"array\", \"items\": " STRING "}", stdout);
		return;
	}
}

/* What stands between the braces of "properties". */
static void put_schema(void)
{
	for (size_t i = 0; i < WARD_EXPORT_MEMBERS; i++) {
		printf("    \"%s\": ", rows[i].name);
		put_type(&rows[i]);
		puts(i + 1 < WARD_EXPORT_MEMBERS ? "," : "");
	}
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";
	if (strcmp(what, "members") == 0)
		put_members();
	else if (strcmp(what, "kinds") == 0)
		put_kinds();
	else if (strcmp(what, "exports") == 0)
		put_exports();
	else if (strcmp(what, "schema") == 0)
		put_schema();
	else
		return 2;
	return 0;
}
