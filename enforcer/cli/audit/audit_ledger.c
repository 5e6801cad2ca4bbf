/* SPDX-License-Identifier: Apache-2.0 */
/* What the audit verbs ask the ledger and write into it. */
#include "enforcer/cli/audit/audit_ledger.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/verify/ledger_seen.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/session/guard/system_writer.h"

int audit_ledger_read(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, struct ward_err *err)
{
	struct ward_ledger_resume none = {0};
	return audit_ledger_read_from(c, root, NULL, ret, &none, err);
}

int audit_ledger_read_from(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_resume *from, struct ward_ledger_view *ret,
	struct ward_ledger_resume *ret_next, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	ward_cleanup_fd int notes_fd = -1;
	int r = ward_store_open_ledger(c->store, &fd, err);
	if (r == 0 || r == -ENOENT)
		r = ward_store_open_ledger_checkpoints(c->store, &notes_fd, err);
	if (r < 0 && r != -ENOENT)
		return r;
	return ward_verify_ledger_from(fd, notes_fd, root, from, ret, ret_next, err);
}

/* "ledger.seen", and the files that it speaks of. */
struct seen {
	struct ward_buf text;
	struct ward_ledger_files_id id;
	int fd, notes_fd; /* borrowed */
};

/*
 * True if *ret is what the ledger says; before: entries that were not read again. *ret_again: later
 * entries are about sessions that `only` does not name; *ret has what would name them.
 */
static bool take_seen(const struct seen *s, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_seen_only *only, struct ward_ledger_view *ret,
	struct ward_ledger_resume *ret_next, bool *ret_again)
{
	struct ward_err none = WARD_ERR_INIT;
	struct ward_ledger_resume at = {0};
	struct ward_ledger_view v = {0};
	*ret_again = false;
	if (ward_ledger_seen_take(root, &s->id, s->text.data, s->text.len, only, &at, &v) < 0)
		return false;
	const size_t had = v.n;
	if (lseek(s->notes_fd, 0, SEEK_SET) < 0 ||
		ward_verify_ledger_on(s->fd, s->notes_fd, root, &at, &v, ret_next, &none) < 0 ||
		v.result.state != WARD_VERIFY_INTACT || ret_next->n == 0) {
		ward_ledger_view_free(&v);
		ward_ledger_resume_clear(ret_next);
		return false;
	}
	*ret_again = ward_ledger_seen_left_out_one_of(s->text.data, s->text.len, &v, had);
	*ret = v;
	return true;
}

/* So many new entries are worth that the file is written again. */
#define SEEN_EVERY 128U

static bool read_seen(const struct seen *s, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_seen_only *only, struct ward_ledger_view *ret,
	struct ward_ledger_resume *ret_next)
{
	bool again = false;
	if (!take_seen(s, root, only, ret, ret_next, &again))
		return false;
	/* It is written of all sessions. */
	const bool all = ret->left_out > 0 && ret_next->n >= ret->before + SEEN_EVERY;
	if (!again && !all)
		return true;
	struct ward_ledger_view v = *ret;
	const struct ward_ledger_seen_only more = {.newest = only->newest, .names = &v};
	*ret = (struct ward_ledger_view){0};
	ward_ledger_resume_clear(ret_next);
	const bool is = take_seen(s, root, all ? NULL : &more, ret, ret_next, &again) && !again;
	ward_ledger_view_free(&v);
	return is;
}

int audit_ledger_list(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	const struct ward_ledger_seen_only *only, struct ward_ledger_view *ret,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	ward_cleanup_fd int notes_fd = -1;
	struct ward_ledger_resume next = {0};
	struct ward_err none = WARD_ERR_INIT;
	struct seen s = {.text = WARD_BUF_INIT};
	if (ward_store_open_ledger(c->store, &fd, &none) < 0 ||
		ward_store_open_ledger_checkpoints(c->store, &notes_fd, &none) < 0 ||
		ward_ledger_files_id(fd, notes_fd, &s.id) < 0)
		return audit_ledger_read(c, root, ret, err);
	s.fd = fd;
	s.notes_fd = notes_fd;
	const bool seen = ward_store_read_seen(c->store, &s.text) == 0 &&
			  read_seen(&s, root, only, ret, &next);
	ward_buf_clear(&s.text);
	if (!seen) {
		ward_ledger_view_free(ret);
		ward_ledger_resume_clear(&next);
		int r = lseek(notes_fd, 0, SEEK_SET) < 0 ? -errno : 0;
		if (r < 0)
			return ward_err_sys(err, r, "ledger.checkpoints");
		r = ward_verify_ledger_from(fd, notes_fd, root, NULL, ret, &next, err);
		if (r < 0)
			return r;
	}
	/* Where it cannot be kept, the next listing reads all again. */
	if (next.n >= ret->before + SEEN_EVERY &&
		ward_ledger_seen_put(root, &s.id, &next, ret, &b) == 0)
		(void)!ward_store_write_seen(c->store, &b);
	return 0;
}

int audit_ledger_exact(struct audit_cmd *c, const char *name, uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, const struct ward_ledger_session **ret_s,
	struct ward_err *err)
{
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, ret, err);
	const struct ward_ledger_session *s = r == 0 ? ward_ledger_view_find(ret, name) : NULL;
	if (r == 0 && !s)
		r = ward_err_set(err, -ENOENT, "the ledger has no session %s", name);
	if (r == 0)
		*ret_s = s;
	return r;
}

void audit_ledger_note_read(struct audit_cmd *c, const char *session)
{
	struct ward_err err = WARD_ERR_INIT;
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files files =
		WARD_LEDGER_FILES_INIT;
	bool ask = c->system && geteuid() != 0;
	int r = ask ? ward_system_note_read(session, c->verb, NULL, &err)
		    : ward_store_read_key(c->store, root, &err);
	if (r == 0 && !ask)
		r = ward_store_extend_ledger(c->store, &files, &err);
	if (r == 0 && !ask)
		r = ward_ledger_read(&files, root, session, c->verb, getuid(), &err);
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		ward_sayf("could not record in the ledger that %s was read: %s", session, err.text);
}

void audit_ledger_note_question(struct audit_cmd *c, const char *question)
{
	struct ward_err err = WARD_ERR_INIT;
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files files =
		WARD_LEDGER_FILES_INIT;
	bool ask = c->system && geteuid() != 0;
	int r = ask ? ward_system_note_read("", c->verb, question, &err)
		    : ward_store_read_key(c->store, root, &err);
	if (r == 0 && !ask)
		r = ward_store_extend_ledger(c->store, &files, &err);
	if (r == 0 && !ask)
		r = ward_ledger_question(&files, root, c->verb, question, getuid(), &err);
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		ward_sayf("could not record in the ledger that the trails were searched: %s",
			err.text);
}

/* By its name, or its unique beginning. */
static const struct ward_ledger_session *find_begun(
	const struct ward_ledger_view *v, const char *what)
{
	const struct ward_ledger_session *found = ward_ledger_view_find(v, what);
	if (found)
		return found;
	for (size_t i = 0; i < v->n; i++) {
		if (strncmp(v->v[i].name, what, strlen(what)) != 0)
			continue;
		if (found)
			return NULL;
		found = &v->v[i];
	}
	return found;
}

/* "removed TIME by user N: REASON", "expired TIME"; what is neither is missing. */
void audit_ledger_gone_text(const struct ward_ledger_session *s, struct ward_buf *ret)
{
	if (s->removed)
		ward_buf_printf(ret, "removed %s by user %" PRIu64 "%s%s", s->removed_time,
			s->removed_by, s->removed_reason[0] ? ": " : "", s->removed_reason);
	else if (s->expired)
		ward_buf_printf(ret, "expired %s", s->expired_time);
}

static void say_gone(const struct ward_ledger_session *s, bool intact, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%s: its trail %s", s->name, s->removed ? "was " : "");
	audit_ledger_gone_text(s, &b);
	if (!s->removed && !s->expired)
		ward_buf_puts(&b, "is missing, and the ledger does not say that it was removed");
	ward_buf_printf(&b, ". The ledger has its start, %s", s->start_time);
	if (s->ended)
		ward_buf_printf(&b, ", and its end, %s: %" PRIu64 " records, %s", s->end_time,
			s->records, s->complete ? "complete" : "incomplete");
	if (!intact)
		ward_buf_puts(&b, ". The ledger is not intact");
	(void)ward_err_set(err, -ENOENT, "%s", ward_buf_str(&b));
}

int audit_ledger_explain_gone(struct audit_cmd *c, const char *what, int r, struct ward_err *err)
{
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	if (r != -ENOENT || !what || strcmp(what, "latest") == 0 ||
		ward_store_read_key(c->store, root, &ignored) < 0)
		return r;
	if (audit_ledger_read(c, root, &v, &ignored) == 0) {
		const struct ward_ledger_session *s = find_begun(&v, what);
		if (s)
			say_gone(s, v.result.state == WARD_VERIFY_INTACT, err);
		ward_ledger_view_free(&v);
	}
	ward_chain_wipe(root, sizeof(root));
	return r;
}
