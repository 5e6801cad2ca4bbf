/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit remove and prune, and the entries of the ledger about those who read. */
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
