/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit remove, prune: deletes trails, and has the ledger keep that they were there. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/verify/prune.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/session/guard/system_writer.h"

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

static int run_remove(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, &ledger, err);
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

static int run_prune(struct audit_cmd *c, struct ward_err *err)
{
	struct ward_prune_result res = {0};
	if (c->system)
		return ward_err_set(err, -EPERM,
			"files that root made are none that the system's writer can read: as its user, "
			"wardfs audit prune --state %s",
			ward_store_path(c->store));
	int r = ward_prune(c->store, (uint64_t)time(NULL), UINT64_MAX, true, &res, err);
	if (c->json)
		ward_outf("{\"expired\": %" PRIu64 ", \"packed\": %" PRIu64 ", \"before\": %" PRIu64
			  ", \"after\": %" PRIu64 "}\n",
			res.expired, res.packed, res.before, res.after);
	else
		ward_outf("%" PRIu64 " trails expired; %" PRIu64 " files compressed, from %" PRIu64
			  " to %" PRIu64 " bytes\n",
			res.expired, res.packed, res.before, res.after);
	return r;
}

/* --- on the command line --- */

const struct argp audit_remove_argp = {NULL, audit_verb_parse, "SESSION",
	"Deletes the trail of a session that has ended; the ledger keeps, signed, that it "
	"was there. SESSION is its whole name.\vExit status: 0, 2 for wrong use, 125 if it "
	"could not be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb remove_verb = {
	.name = "remove",
	.argp = &audit_remove_argp,
	.words = "o",
	.need = 1,
	.lacks = "which session?",
	.run = run_remove,
};

int ward_audit_cmd_remove(int argc, char **argv)
{
	return audit_verb_call(&remove_verb, argc, argv);
}

static const struct argp_option prune_options[] = {
	{"json", 'j', NULL, 0, "One JSON object", 0},
	{0},
};
const struct argp audit_prune_argp = {prune_options, audit_verb_parse, NULL,
	"Deletes the trails that were kept as long as [audit] keep of their policy wants "
	"(the ledger keeps that too), and compresses those of sessions that have "
	"ended.\vExit status: 0, 2 for wrong use, 125 if it could not be read.",
	audit_options_plain, NULL, NULL};
static const struct audit_verb prune_verb = {
	.name = "prune",
	.argp = &audit_prune_argp,
	.words = "",
	.run = run_prune,
};

int ward_audit_cmd_prune(int argc, char **argv)
{
	return audit_verb_call(&prune_verb, argc, argv);
}
