/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads where a verification of the ledger ended. */
#include "audit/verify/ledger_resume.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "enforcer/base/cleanup.h"

#define LEDGER "@ledger "
#define ENTRY "@entry "

void ward_ledger_resume_clear(struct ward_ledger_resume *r)
{
	ward_buf_clear(&r->entries);
	*r = (struct ward_ledger_resume){0};
}

static void put_hex(struct ward_buf *b, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ward_buf_printf(b, "%02x", p[i]);
}

void ward_ledger_resume_put(const struct ward_ledger_resume *r, struct ward_buf *b)
{
	ward_buf_printf(b, LEDGER "%" PRIu64 " %" PRIu64 " ", r->n, r->offset);
	put_hex(b, r->prev, sizeof(r->prev));
	for (unsigned k = 64; k-- > 0;) {
		if (!(r->n >> k & 1))
			continue;
		ward_buf_putc(b, ' ');
		put_hex(b, r->tree.h[k], WARD_HASH_BYTES);
	}
	ward_buf_putc(b, '\n');
	for (size_t at = 0; at < r->entries.len;) {
		const char *line = r->entries.data + at;
		const size_t n = strcspn(line, "\n") + 1;
		ward_buf_puts(b, ENTRY);
		ward_buf_add(b, line, n);
		at += n;
	}
}

/* " HEX" of n bytes; the space stands before each. */
static bool take_hex(const char **p, uint8_t *ret, size_t n)
{
	size_t got = 0;
	if (**p != ' ' || strspn(*p + 1, "0123456789abcdef") != 2 * n ||
		sodium_hex2bin(ret, n, *p + 1, 2 * n, NULL, &got, NULL) != 0 || got != n)
		return false;
	*p += 1 + 2 * n;
	return true;
}

static bool take_number(const char **p, uint64_t *ret)
{
	char *end = NULL;
	errno = 0;
	if (**p < '0' || **p > '9')
		return false;
	*ret = strtoull(*p, &end, 10);
	*p = end;
	return errno == 0;
}

int ward_ledger_resume_take(struct ward_ledger_resume *r, const char *line)
{
	if (strncmp(line, ENTRY, strlen(ENTRY)) == 0) {
		if (r->n == 0)
			return -EBADMSG;
		ward_buf_puts(&r->entries, line + strlen(ENTRY));
		ward_buf_putc(&r->entries, '\n');
		return ward_buf_error(&r->entries) < 0 ? -ENOMEM : 1;
	}
	if (strncmp(line, LEDGER, strlen(LEDGER)) != 0)
		return 0;
	const char *p = line + strlen(LEDGER);
	bool good = r->n == 0 && take_number(&p, &r->n) && *p++ == ' ' &&
		    take_number(&p, &r->offset) && take_hex(&p, r->prev, sizeof(r->prev));
	for (unsigned k = 64; good && k-- > 0;)
		good = !(r->n >> k & 1) || take_hex(&p, r->tree.h[k], WARD_HASH_BYTES);
	r->tree.n = r->n;
	return good && !*p && r->n && r->offset ? 1 : -EBADMSG;
}

/* --- what later entries may rest on --- */

struct keep {
	ward_ledger_settled_fn *settled;
	void *ctx;
	struct ward_buf *to;
};

static void keep_line(const struct keep *k, const char *p, size_t len)
{
	struct ward_line l;
	char name[WARD_SESSION_NAME_MAX + 1];
	if (ward_line_parse(p, len, &l) < 0 || l.session_len >= sizeof(name) ||
		ward_line_is(&l, "read") || ward_line_is(&l, "question"))
		return;
	memcpy(name, l.session, l.session_len);
	name[l.session_len] = 0;
	const bool host = ward_line_is(&l, "rotate") || ward_line_is(&l, "enroll") ||
			  ward_line_is(&l, "revoke");
	if (!host && k->settled(k->ctx, name))
		return;
	ward_buf_add(k->to, p, len);
	ward_buf_putc(k->to, '\n');
}

int ward_ledger_resume_keep(int fd, const struct ward_ledger_resume *from,
	ward_ledger_settled_fn *settled, void *ctx, struct ward_ledger_resume *next,
	struct ward_err *err)
{
	const struct keep k = {settled, ctx, &next->entries};
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text = {0};
	uint64_t n = from ? from->n : 0;
	for (size_t at = 0; from && at < from->entries.len;) {
		const size_t len = strcspn(from->entries.data + at, "\n");
		keep_line(&k, from->entries.data + at, len);
		at += len + 1;
	}
	int r = fd < 0 || n == next->n ? 0 : ward_log_open_file(fd, &log);
	if (r == 0 && log)
		r = ward_lines_open(&lines, log, from ? from->offset : 0);
	for (; r == 0 && log && n < next->n && (r = ward_lines_next(&lines, &text)) == 1; n++) {
		r = 0;
		keep_line(&k, text.p, text.len);
	}
	if (r == 0)
		r = ward_buf_error(&next->entries);
	return r < 0 ? ward_err_sys(err, r, "ledger") : 0;
}
