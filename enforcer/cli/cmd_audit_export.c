/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit export */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/export.h"
#include "audit/query.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"

struct export
{
	const struct audit_cmd *c;
	const struct ward_export *format;
	struct ward_buf line;
	char host[HOST_NAME_MAX + 1];
};

static int export_record(void *ctx, const char *line, size_t len, const json_t *rec)
{
	struct export *x = ctx;
	if (!rec || !ward_filter_match(&x->c->filter, rec) ||
		(uint64_t)json_integer_value(json_object_get(rec, "seq")) <= x->c->after)
		return 0;
	x->line.len = 0;
	struct ward_export_record er = {.json = rec, .line = line, .len = len, .host = x->host};
	x->format->record(&x->line, &er);
	int r = ward_buf_error(&x->line);
	if (r == 0 && fwrite(x->line.data, 1, x->line.len, stdout) != x->line.len)
		r = -EIO;
	return r;
}

int audit_cmd_export(struct audit_cmd *c, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup_fd int fd = -1;
	struct export x = {.c = c, .format = ward_export_find(c->format ? c->format : "jsonl")};
	if (!x.format) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		for (size_t i = 0; ward_export_get(i); i++)
			ward_buf_printf(&b, " %s", ward_export_get(i)->name);
		ward_sayf("--format %s: there are:%s", c->format, ward_buf_str(&b));
		return 2;
	}
	int r = audit_cmd_open(c, &name, &fd, err);
	if (r < 0)
		return r;
	if (gethostname(x.host, sizeof(x.host)) < 0)
		return ward_err_sys(err, -errno, "host name");
	/* A later part has its head already. */
	if (x.format->head && c->after == 0)
		fputs(x.format->head, stdout);
	r = ward_query_walk(fd, true, export_record, &x, err);
	ward_buf_clear(&x.line);
	if (r == 0 && fflush(stdout) != 0)
		r = -EIO;
	if (r < 0)
		return ward_err_sys(err, r, "export");
	audit_cmd_warn(c, name, fd);
	return 0;
}
