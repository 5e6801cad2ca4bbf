/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit index, sql */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/index.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cmd_audit.h"

int audit_cmd_index(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_index_result res = {0};
	int r = ward_index_update(c->store, c->rebuild, &res, err);
	if (r < 0)
		return r;
	if (c->json)
		printf("{\"sessions\": %" PRIu64 ", \"records\": %" PRIu64 ", \"added\": %" PRIu64
		       "}\n",
			res.sessions, res.records, res.added);
	else
		printf("%" PRIu64 " sessions, %" PRIu64 " records, %" PRIu64 " of them new\n",
			res.sessions, res.records, res.added);
	return 0;
}

struct rows {
	bool json;
	uint64_t n;
};

/* Records are escaped; what a question makes itself of them need not be. */
static void print_text(const char *s)
{
	for (; *s; s++)
		putchar((unsigned char)*s < ' ' || *s == 127 ? '?' : *s);
}

static int print_row(
	void *ctx, int n, const char *const *names, const char *const *values, const bool *numbers)
{
	struct rows *rows = ctx;
	if (rows->json) {
		json_t *o = json_object();
		for (int i = 0; i < n; i++) {
			json_t *v = !values[i] ? json_null()
				    : numbers[i] && !strpbrk(values[i], ".eEnN")
					    ? json_integer(strtoll(values[i], NULL, 10))
					    : json_string(values[i]);
			json_object_set_new(o, names[i], v ? v : json_null());
		}
		printf("%s", rows->n ? ",\n" : "");
		json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
		json_decref(o);
	} else {
		for (int i = 0; rows->n == 0 && i < n; i++)
			printf("%s%s", names[i], i + 1 < n ? "\t" : "\n");
		for (int i = 0; i < n; i++) {
			print_text(values[i] ? values[i] : "");
			putchar(i + 1 < n ? '\t' : '\n');
		}
	}
	rows->n++;
	return 0;
}

int audit_cmd_sql(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_index_result res = {0};
	struct rows rows = {.json = c->json};
	int r = ward_index_update(c->store, false, &res, err);
	if (r < 0)
		return r;
	audit_cmd_note_question(c, c->object);
	if (c->json)
		puts("[");
	r = ward_index_query(c->store, c->object, print_row, &rows, err);
	if (c->json)
		puts("\n]");
	if (r == 0 && fflush(stdout) != 0)
		r = ward_err_sys(err, -EIO, "stdout");
	return r;
}
