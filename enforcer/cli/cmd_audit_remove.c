/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs audit remove and prune, what the ledger knows of trails that are gone, and its entries
 * about those who read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/chain.h"
#include "audit/ledger.h"
#include "audit/prune.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/cmd_audit.h"
#include "enforcer/cli/say.h"
#include "enforcer/session/system_writer.h"

void audit_cmd_note_read(struct audit_cmd *c, const char *session)
{
	struct ward_err err = WARD_ERR_INIT;
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup_fd int fd = -1;
	bool ask = c->system && geteuid() != 0;
	int r = ask ? ward_system_note_read(session, c->verb, NULL, &err)
		    : ward_store_read_key(c->store, root, &err);
	if (r == 0 && !ask)
		r = ward_store_extend_ledger(c->store, &fd, &err);
	if (r == 0 && !ask)
		r = ward_ledger_read(fd, root, session, c->verb, getuid(), &err);
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		ward_sayf("the ledger does not have that %s was read: %s", session, err.text);
}

void audit_cmd_note_question(struct audit_cmd *c, const char *question)
{
	struct ward_err err = WARD_ERR_INIT;
	uint8_t root[WARD_KEY_BYTES];
	ward_cleanup_fd int fd = -1;
	bool ask = c->system && geteuid() != 0;
	int r = ask ? ward_system_note_read("", c->verb, question, &err)
		    : ward_store_read_key(c->store, root, &err);
	if (r == 0 && !ask)
		r = ward_store_extend_ledger(c->store, &fd, &err);
	if (r == 0 && !ask)
		r = ward_ledger_question(fd, root, c->verb, question, getuid(), &err);
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		ward_sayf("the ledger does not have that the trails were asked: %s", err.text);
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

/* "removed TIME by user N", "expired TIME"; what is neither is missing. */
void audit_cmd_gone_text(const struct ward_ledger_session *s, struct ward_buf *ret)
{
	if (s->removed)
		ward_buf_printf(ret, "removed %s by user %" PRIu64, s->removed_time, s->removed_by);
	else if (s->expired)
		ward_buf_printf(ret, "expired %s", s->expired_time);
}

static void say_gone(const struct ward_ledger_session *s, bool intact, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b, "%s: its trail %s", s->name, s->removed ? "was " : "");
	audit_cmd_gone_text(s, &b);
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

int audit_cmd_gone(struct audit_cmd *c, const char *what, int r, struct ward_err *err)
{
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_ledger_view v = {0};
	uint8_t root[WARD_KEY_BYTES];
	if (r != -ENOENT || !what || strcmp(what, "latest") == 0 ||
		ward_store_read_key(c->store, root, &ignored) < 0)
		return r;
	if (audit_cmd_ledger(c, root, &v, &ignored) == 0) {
		const struct ward_ledger_session *s = find_begun(&v, what);
		if (s)
			say_gone(s, v.result.state == WARD_VERIFY_INTACT, err);
		ward_ledger_view_free(&v);
	}
	ward_chain_wipe(root, sizeof(root));
	return r;
}
/* The entry comes first: a trail that is gone without one is missing. */
static int bury(struct audit_cmd *c, const struct ward_ledger_session *s,
	const uint8_t root[WARD_KEY_BYTES], struct ward_err *err)
{
	struct ward_gone gone;
	ward_cleanup_fd int fd = -1;
	int r = ward_prune_sign(c->store, "removed", s, &gone, err);
	if (r == 0)
		r = ward_store_extend_ledger(c->store, &fd, err);
	return r < 0 ? r
		     : ward_ledger_removed(fd, root, s->name, s->records, gone.pub, gone.signature,
			       getuid(), err);
}

int audit_cmd_remove(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_cmd_ledger(c, root, &ledger, err);
	/* By its whole name: what is deleted is not guessed. */
	const struct ward_ledger_session *s =
		r == 0 ? ward_ledger_view_find(&ledger, c->object) : NULL;
	if (r == 0 && !s)
		r = ward_err_set(err, -ENOENT, "the ledger has no session %s", c->object);
	else if (r == 0 && !s->ended)
		r = ward_err_set(err, -EBUSY,
			"%s has no end: it runs, or the next start of a session ends it", s->name);
	if (r == 0 && !s->removed)
		r = bury(c, s, root, err);
	if (r == 0)
		r = ward_store_remove_session(c->store, s->name, err);
	ward_chain_wipe(root, sizeof(root));
	ward_ledger_view_free(&ledger);
	return r;
}

int audit_cmd_prune(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_prune_result res = {0};
	if (c->system)
		return ward_err_set(err, -EPERM,
			"files that root made are none that the system's writer can read: as its user, "
			"wardfs audit prune --state %s",
			ward_store_path(c->store));
	int r = ward_prune(c->store, (uint64_t)time(NULL), UINT64_MAX, true, &res, err);
	if (c->json)
		printf("{\"expired\": %" PRIu64 ", \"packed\": %" PRIu64 ", \"before\": %" PRIu64
		       ", \"after\": %" PRIu64 "}\n",
			res.expired, res.packed, res.before, res.after);
	else
		printf("%" PRIu64 " trails expired; %" PRIu64 " files compressed, from %" PRIu64
		       " to %" PRIu64 " bytes\n",
			res.expired, res.packed, res.before, res.after);
	return r;
}
