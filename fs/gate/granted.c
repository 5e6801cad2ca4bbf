/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for grants where rules refuse, and counts their uses. */
#include "fs/gate/granted.h"

#include <errno.h>

#include "enforcer/base/clock.h"
#include "fs/node/node_grants.h"
#include "fs/request/questions.h"

/* To see a name is no use. */
#define VISIBLE (WARD_RIGHT_STAT | WARD_RIGHT_LIST)

static bool noted(const struct ward_op *op, const struct ward_grant_held *held)
{
	for (unsigned i = 0; i < op->n_held; i++)
		if (op->held[i] == held)
			return true;
	return false;
}

static int use_one(struct ward_op *op, const struct ward_record_paths *paths,
	struct ward_grant_held *held, uint32_t rights)
{
	uint64_t mono_ns;
	int r;

	if (!held || noted(op, held))
		return 0;
	if (op->n_held == WARD_OP_GRANTS_MAX)
		return -EDQUOT;
	/* Before the look at the other clock: the record is then within the grant's time. */
	mono_ns = ward_clock_mono_ns();
	r = ward_held_use(held, ward_clock_boot_ns());
	if (r < 0)
		return r;
	op->held[op->n_held++] = held;
	/* Another grant may give the rest. */
	return ward_record_use(op, paths, held, rights & held->grant.rights, mono_ns);
}

int ward_granted_use(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_granted *v, size_t n, uint32_t rights, uint32_t by_glass)
{
	int r = 0;

	if (rights & VISIBLE)
		op->shown = true;
	rights &= ~(uint32_t)VISIBLE;
	if (op->asks)
		return 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		for (unsigned b = 0; r == 0 && b < WARD_RIGHTS_COUNT; b++)
			if (rights & 1U << b)
				r = use_one(op, paths,
					by_glass & 1U << b && v[i].glass ? v[i].glass : v[i].by[b],
					rights);
	return r;
}

/* *d: the decision with grants in req. */
static bool allowed(struct ward_op *op, struct ward_request *req, const struct ward_granted_ask *a,
	struct ward_decision *d)
{
	req->rights = a->rights;
	*d = ward_policy_decide(op->tree->fs->policy, req, NULL);
	if (d->verdict == WARD_VERDICT_ALLOW || !a->alt)
		return d->verdict == WARD_VERDICT_ALLOW;
	req->rights = a->alt;
	*d = ward_policy_decide(op->tree->fs->policy, req, NULL);
	return d->verdict == WARD_VERDICT_ALLOW;
}

static int use(struct ward_op *op, const struct ward_granted_ask *a, const struct ward_granted *v,
	size_t n, const struct ward_decision *d, struct ward_decision *ret)
{
	int r = ward_granted_use(op, a->paths, v, n, d->by_grant, d->by_glass);

	if (r == -EDQUOT)
		return 0;
	if (r < 0)
		return r;
	*ret = *d;
	return 1;
}

/* Then the rules alone decide, as they have. */
static bool give_nothing(const struct ward_granted *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].rights || v[i].passage || v[i].glass)
			return false;
	return true;
}

/* Takes out what is for another object than the one that a person was asked about. */
static void only_bound(struct ward_op *op, const struct ward_node *node, struct ward_granted *v)
{
	for (unsigned b = 0; b < WARD_RIGHTS_COUNT; b++)
		if (v->by[b] && !ward_question_bound(op->tree->fs, v->by[b]->grant.id, &node->id)) {
			v->rights &= ~(UINT32_C(1) << b);
			v->by[b] = NULL;
		}
}

/* --- two names of one operation --- */

static bool serves_alone(void *user, const struct ward_grant_held *g)
{
	return ward_question_pairs(user, g->grant.id, NULL);
}

/* Are there two grants that answer a question about several renames, and different ones of them? */
static bool crossed(struct ward_op *op, const struct ward_granted v[2])
{
	for (unsigned b = 0; b < WARD_RIGHTS_COUNT; b++)
		for (unsigned c = 0; v[0].by[b] && c < WARD_RIGHTS_COUNT; c++)
			if (v[1].by[c] && !ward_question_pairs(op->tree->fs, v[0].by[b]->grant.id,
						  v[1].by[c]->grant.id))
				return true;
	return false;
}

int ward_granted_rename(
	struct ward_op *op, const struct ward_record_paths *paths, struct ward_granted v[2])
{
	struct ward_fs *fs = op->tree->fs;
	struct ward_granted alone[2];
	int r;

	if (!crossed(op, v))
		return 0;
	r = ward_child_grants_some(
		op->tree->nodes, paths->node, paths->name, op->pid, serves_alone, fs, &alone[0]);
	if (r == 0)
		r = ward_child_grants_some(op->tree->nodes, paths->node2, paths->name2, op->pid,
			serves_alone, fs, &alone[1]);
	if (r < 0)
		return r;
	/* At one name another grant gives the same: it serves with whatever is at the other name.
	 */
	if (alone[1].rights == v[1].rights) {
		v[1] = alone[1];
	} else {
		if (alone[0].rights != v[0].rights)
			v[1] = alone[1];
		v[0] = alone[0];
	}
	return 0;
}

void ward_granted_link(struct ward_op *op, const struct ward_node *node, struct ward_granted *v)
{
	only_bound(op, node, v);
}

int ward_granted_node(struct ward_op *op, struct ward_node *node, struct ward_request req,
	const struct ward_granted_ask *a, struct ward_decision *ret)
{
	struct ward_nodes *nodes = op->tree->nodes;
	struct ward_node_grants g;
	struct ward_decision d;
	int r = ward_node_grants(nodes, node, op->pid, &g);

	/* Whatever keeps it from being asked: it stays refused. */
	if (r == 0 && !give_nothing(g.grants, g.n)) {
		req.state = g.states[0];
		for (size_t i = 0; i < g.n; i++)
			only_bound(op, node, &g.grants[i]);
		req.grants = &g.grants[0];
		req.others = g.states + 1;
		req.other_grants = g.grants + 1;
		req.n_others = g.n - 1;
		if (allowed(op, &req, a, &d))
			r = use(op, a, g.grants, g.n, &d, ret);
	} else {
		r = 0;
	}
	ward_node_grants_put(nodes, &g);
	return r;
}

int ward_granted_name(struct ward_op *op, struct ward_request req, const struct ward_granted_ask *a,
	struct ward_decision *ret)
{
	const struct ward_state *state = NULL;
	struct ward_granted granted;
	struct ward_decision d;
	int r = ward_child_grants(
		op->tree->nodes, a->paths->node, a->paths->name, op->pid, &state, &granted);

	if (r < 0)
		return 0;
	req.state = state;
	req.grants = &granted;
	r = 0;
	if (!give_nothing(&granted, 1) && allowed(op, &req, a, &d))
		r = use(op, a, &granted, 1, &d, ret);
	ward_policy_state_put(op->tree->fs->policy, state);
	return r;
}
