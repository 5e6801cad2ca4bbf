/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit diff */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/diff.h"
#include "audit/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"

static int collect(struct audit_cmd *c, const char *session, char **ret_name, json_t **ret,
	struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(audit_selected_clear) struct audit_selected s = {0};
	c->session = session;
	int r = audit_cmd_open(c, ret_name, &log, err);
	if (r == 0)
		r = audit_select(c, *ret_name, log, &s, err);
	if (r == 0)
		r = ward_diff_collect(log, s.sel, ret, err);
	if (r == 0)
		audit_select_warn(c, *ret_name, log, s.indexed);
	return r;
}

/* All text in it is escaped: no byte that a terminal obeys. */
static void print(const char *first, const char *second, const json_t *diff)
{
	size_t i = 0;
	json_t *d = NULL;
	printf("- %s\n+ %s\n", first, second);
	json_array_foreach(diff, i, d)
	{
		json_int_t n = json_integer_value(json_object_get(d, "count"));
		printf("%c %s  %s", json_integer_value(json_object_get(d, "only")) == 1 ? '-' : '+',
			ward_query_text(d, "path"), ward_query_text(d, "verb"));
		if (n > 1)
			printf(" %" JSON_INTEGER_FORMAT "x", n);
		putchar('\n');
	}
}

int audit_cmd_diff(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *first = NULL;
	ward_cleanup_free char *second = NULL;
	json_t *a = NULL;
	json_t *b = NULL;
	json_t *diff = NULL;
	const char *other = c->session;
	int r = collect(c, c->object, &first, &a, err);
	if (r == 0)
		r = collect(c, other, &second, &b, err);
	if (r == 0)
		r = ward_diff_compare(a, b, &diff, err);
	/* Else it would look as if they did the same. */
	if (r == 0 && json_object_size(a) + json_object_size(b) == 0)
		ward_sayf("neither %s nor %s has %srecord of a file", first, second,
			ward_filter_empty(&c->filter->f) ? "a " : "such a ");
	json_decref(a);
	json_decref(b);
	if (r < 0)
		return r;
	if (c->json) {
		json_dumpf(diff, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
		putchar('\n');
	} else {
		print(first, second, diff);
	}
	r = json_array_size(diff) > 0;
	json_decref(diff);
	return r;
}
