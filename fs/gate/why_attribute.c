/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the text of user.wardfs.why. */
#include "fs/gate/why_attribute.h"

#include <errno.h>

#include "enforcer/base/clock.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/grants.h"
#include "fs/gate/gate.h"
#include "fs/node/node_grants.h"
#include "fs/request/questions.h"

/*
 * What this text calls the rule's file. Inside a session its owner has to find the file. A mount
 * for all users has readers who need not know where another user keeps policies.
 */
static const struct ward_rule *shown(
	const struct ward_op *op, const struct ward_rule *rule, struct ward_rule *copy)
{
	if (!rule || rule->file[0] != '/' || op->uid == 0 ||
		!(op->tree->fs->flags & WARD_FS_ALLOW_OTHER))
		return rule;
	*copy = *rule;
	copy->file = ward_source_name(rule->source);
	return copy;
}

/* What is refused of these is explained, the first one that is. */
static const struct {
	const char *name;
	uint32_t rights;
} wants[] = {
	{"read", WARD_RIGHT_READ},
	{"write", WARD_RIGHT_WRITE},
	{"exec", WARD_RIGHT_EXEC},
};

static void permit(
	struct ward_op *op, struct ward_request *req, const char *path, struct ward_buf *ret)
{
	for (size_t i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		struct ward_rule copy;
		struct ward_decision d;

		/* A directory's content is its listing; files in it have rules of their own. */
		if (req->flags & WARD_REQUEST_DIR && wants[i].rights != WARD_RIGHT_WRITE)
			continue;
		req->rights = wants[i].rights;
		d = ward_policy_decide(op->tree->fs->policy, req, NULL);
		if (d.verdict == WARD_VERDICT_ALLOW)
			continue;
		d.rule = shown(op, d.rule, &copy);
		ward_buf_printf(ret, "  to permit %s: ", wants[i].name);
		ward_explain_permit(&d, wants[i].rights, path, NULL, ret);
		ward_buf_putc(ret, '\n');
		return;
	}
}

/* The live grants that cover all names of the node, each with the rights that it gives. */
static void grants(struct ward_op *op, struct ward_node *node, struct ward_buf *ret)
{
	struct ward_node_grants g;
	const uint64_t now = ward_clock_boot_ns();

	if (ward_node_grants(op->tree->nodes, node, op->pid, &g) < 0 || !g.n) {
		ward_node_grants_put(op->tree->nodes, &g);
		return;
	}
	for (unsigned b = 0; b < WARD_RIGHTS_COUNT; b++) {
		const struct ward_grant_held *held = g.grants[0].by[b];
		bool told = !held || !ward_question_bound(op->tree->fs, held->grant.id, &node->id);
		uint32_t rights = 0;

		for (unsigned k = 0; k < WARD_RIGHTS_COUNT; k++) {
			told = told || (k < b && g.grants[0].by[k] == held);
			rights |= g.grants[0].by[k] == held ? UINT32_C(1) << k : 0;
		}
		for (size_t i = 1; i < g.n; i++)
			rights &= g.grants[i].rights;
		if (told || !rights)
			continue;
		ward_buf_printf(ret, "  grant   %s gives ", held->grant.id);
		ward_rights_format(ret, rights);
		if (held->grant.until_ns > now)
			ward_buf_printf(ret, " for another %llu s",
				(unsigned long long)((held->grant.until_ns - now) /
						     WARD_NS_PER_SEC));
		if (held->grant.uses)
			ward_buf_printf(ret, ", %u uses are left", ward_held_left(held));
		ward_buf_putc(ret, '\n');
	}
	ward_node_grants_put(op->tree->nodes, &g);
}

int ward_why(struct ward_op *op, struct ward_node *node, struct ward_buf *ret)
{
	struct ward_nodes *nodes = op->tree->nodes;
	struct ward_trace trace = {.n = 0};
	struct ward_rule copies[WARD_TRACE_MAX];
	char buf[WARD_NODE_PATH_MAX];
	struct ward_decision d;
	struct ward_states states;
	struct ward_request req;
	const char *path;
	size_t len;
	int r = ward_node_states(nodes, node, &states);

	if (r < 0)
		return r == -EMLINK ? -EACCES : r;
	path = ward_node_path(nodes, node, NULL, buf, &len);
	req = (struct ward_request){
		.action = WARD_ACTION_ACCESS,
		.rights = WARD_RIGHT_STAT,
		.flags = (node->dir ? WARD_REQUEST_DIR : 0) |
			 (op->tree->stages ? WARD_REQUEST_STAGED : 0),
		.state = states.v[0],
		.others = states.v + 1,
		.n_others = states.n - 1,
	};
	/* The attribute is read through the node: what is known of it was asked a moment ago. */
	for (unsigned f = 0; f < WARD_FACT_COUNT_; f++)
		if (ward_gate_secret(node, (enum ward_fact)f))
			req.fact = (enum ward_fact)f;
	d = ward_policy_decide(op->tree->fs->policy, &req, &trace);
	ward_buf_puts(ret, path);
	if (states.n_names > 1)
		ward_buf_printf(ret, " (one of %zu names: the rights are what all of them have)",
			states.n_names);
	ward_buf_putc(ret, '\n');
	for (size_t i = 0; i < trace.n; i++)
		trace.entries[i].rule = shown(op, trace.entries[i].rule, &copies[i]);
	ward_explain_rules(d.granted, &trace, ret);
	permit(op, &req, path, ret);
	grants(op, node, ret);
	ward_states_put(nodes, &states);
	return ward_buf_error(ret);
}
