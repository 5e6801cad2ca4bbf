/* SPDX-License-Identifier: Apache-2.0 */
/* The decision: pure and total. */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <string.h>

/* What a file's content and attributes are; a name's own rights are the rest. */
#define CONTENT                                                                                    \
	(WARD_RIGHT_READ | WARD_RIGHT_EXEC | WARD_RIGHT_APPEND | WARD_RIGHT_WRITE | WARD_RIGHT_ATTR)
#define VISIBLE (WARD_RIGHT_STAT | WARD_RIGHT_LIST)

/* Rights of one name on the way to a decision, with who decided each. */
struct reach {
	uint32_t give, may;
	uint32_t rule[WARD_RIGHT_BITS];
};

/* What a rule of `secret` leaves of a file of which this is known; no more than was given. */
static uint32_t secret_leaves(const struct ward_state *s, enum ward_fact fact)
{
	switch (fact) {
	case WARD_FACT_OWN:
	case WARD_FACT_COMMITTED:
	case WARD_FACT_ABSENT:
		return WARD_RIGHTS_ALL;
	case WARD_FACT_DIFFERS:
		return VISIBLE | s->outcome.secret_give;
	case WARD_FACT_THERE:
	case WARD_FACT_COUNT_:
		break;
	}
	return s->outcome.secret_give;
}

static struct reach reach_of(const struct ward_state *s, bool dir, enum ward_fact fact)
{
	struct reach r = {.give = s->outcome.give, .may = s->outcome.may};
	memcpy(r.rule, s->outcome.rule, sizeof(r.rule));
	if (dir && s->outcome.passage) {
		r.give |= VISIBLE;
		r.may |= VISIBLE;
	}
	if (s->outcome.secret) {
		const uint32_t left = secret_leaves(s, fact);
		for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
			if (r.give & ~left & 1U << i)
				r.rule[i] = s->outcome.secret;
		r.give &= left;
		r.may &= left;
	}
	return r;
}

static const struct ward_rule *rule_at(const struct ward_policy *p, uint32_t n)
{
	return n > 0 && n <= p->n_rules ? &p->rules[n - 1] : NULL;
}

static struct ward_decision make(const struct ward_policy *p, enum ward_verdict verdict, int error,
	const struct reach *r, uint32_t rule)
{
	return (struct ward_decision){
		.verdict = verdict, .error = error, .granted = r->give, .rule = rule_at(p, rule)};
}

/* Asks for rights on r. creates: a name that does not show itself is refused, not absent. */
static struct ward_decision ask_for(
	const struct ward_policy *p, const struct reach *r, uint32_t rights, bool creates)
{
	if (!(r->give & WARD_RIGHT_STAT)) {
		/* bit 0 is STAT: the rule that hides */
		if (r->may & WARD_RIGHT_STAT)
			return make(p, WARD_VERDICT_ASK, EACCES, r, r->rule[0]);
		return make(p, WARD_VERDICT_HIDE, creates ? EACCES : ENOENT, r, r->rule[0]);
	}
	uint32_t missing = rights & ~r->give;
	bool only_asked = !(missing & ~r->may);
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++) {
		uint32_t bit = 1U << i;
		if (!(missing & bit) || (!only_asked && r->may & bit))
			continue;
		return make(p, only_asked ? WARD_VERDICT_ASK : WARD_VERDICT_DENY, EACCES, r,
			r->rule[i]);
	}
	uint32_t rule = r->rule[0];
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
		if (rights & 1U << i)
			rule = r->rule[i];
	return make(p, WARD_VERDICT_ALLOW, 0, r, rule);
}

/* A file of several names has the intersection of their rights, where content is concerned. */
static void lower(struct reach *r, uint32_t give, uint32_t may, const uint32_t *rule)
{
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
		if (CONTENT & r->give & ~give & 1U << i && rule)
			r->rule[i] = rule[i];
	r->give &= give | ~(uint32_t)CONTENT;
	r->may &= may | ~(uint32_t)CONTENT;
}

static void lower_by_links(struct reach *r, const struct ward_request *req)
{
	for (size_t i = 0; i < req->n_others; i++) {
		const struct reach v = reach_of(req->others[i], false, req->fact);
		lower(r, v.give, v.may, v.rule);
	}
	if (req->ceiling)
		lower(r, req->ceiling, req->ceiling, NULL);
}

static struct ward_decision refuse(
	const struct ward_policy *p, int error, const struct reach *r, uint32_t rule)
{
	return make(p, WARD_VERDICT_DENY, error, r, rule);
}

/* Where it comes to be it is the session's, whatever is known of it at src. */
static uint32_t gain(
	const struct ward_state *src, enum ward_fact fact, const struct ward_state *dst, bool dir)
{
	struct reach s = reach_of(src, dir, fact), d = reach_of(dst, dir, WARD_FACT_OWN);
	return (d.give & ~s.give) | (d.may & ~s.may);
}

uint32_t ward_policy_gain(const struct ward_state *src, const struct ward_state *dst, bool dir)
{
	return gain(src, WARD_FACT_OWN, dst, dir);
}

/* What a move comes to, by the rules alone. */
enum move { MOVE_NO = 0, MOVE_LOOK, MOVE_YES };

/*
 * Would the move give a right at dst that src does not give? For a directory everything beneath
 * moves along. *ret_rule: the rule that limits src, there or beneath, or the one beneath dst.
 */
static enum move move(const struct ward_policy *p, const struct ward_state *src,
	enum ward_fact fact, const struct ward_state *dst, bool dir, uint32_t *ret_rule)
{
	uint32_t more = gain(src, fact, dst, false);
	const struct reach r = reach_of(src, false, fact);
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
		if (more & 1U << i)
			*ret_rule = r.rule[i];
	if (more || (dir && (!ward_policy_contains(p, src, dst, WARD_MOVE_LOSS, ret_rule) ||
				    ward_policy_links_move(p, src, dst, ret_rule))))
		return MOVE_NO;
	return !dir || ward_policy_contains(p, src, dst, WARD_MOVE_GAIN, ret_rule) ? MOVE_YES
										   : MOVE_LOOK;
}

/* What allows `d`, unless the object is a symbolic link that would lead past a rule at s. */
static struct ward_decision unless_link(const struct ward_policy *p, const struct ward_request *req,
	const struct ward_state *s, struct ward_decision d)
{
	const struct reach r = reach_of(s, false, WARD_FACT_ABSENT);
	uint32_t rule = 0;
	if (d.verdict != WARD_VERDICT_ALLOW || !ward_policy_link_passes(p, s, req->root, &rule))
		return d;
	d = refuse(p, EACCES, &r, rule);
	d.link = true;
	return d;
}

/*
 * Would a file have one name under a rule of `secret` and another that is not? What is written at
 * the first, once this session has ended, could be read at the second. A directory takes along
 * files that have names elsewhere.
 */
static bool splits_secret(const struct ward_state *src, const struct ward_state *dst, bool kept)
{
	return kept && !src->outcome.secret != !dst->outcome.secret;
}

static bool link_splits(const struct ward_request *req)
{
	bool splits = splits_secret(req->state, req->state2, req->flags & WARD_REQUEST_LINKED);
	for (size_t i = 0; i < req->n_others; i++)
		splits = splits || splits_secret(req->others[i], req->state2, true);
	return splits;
}

static uint32_t secret_of(const struct ward_state *a, const struct ward_state *b)
{
	return a->outcome.secret ? a->outcome.secret : b->outcome.secret;
}

static bool rename_splits(const struct ward_request *req)
{
	const uint32_t kept = WARD_REQUEST_DIR | WARD_REQUEST_LINKED;
	const uint32_t dst_kept = WARD_REQUEST_DST_DIR | WARD_REQUEST_DST_LINKED;
	return splits_secret(req->state, req->state2,
		req->flags & kept || (req->flags & WARD_REQUEST_EXCHANGE && req->flags & dst_kept));
}

static struct ward_decision decide_rename(
	const struct ward_policy *p, const struct ward_request *req)
{
	bool dir = req->flags & WARD_REQUEST_DIR;
	bool exchange = req->flags & WARD_REQUEST_EXCHANGE;
	struct reach src = reach_of(req->state, dir, req->fact);
	struct reach dst = reach_of(req->state2, false, req->fact2);
	uint32_t take = WARD_RIGHT_REMOVE, give = WARD_RIGHT_CREATE;
	struct ward_decision d = ask_for(p, &src, exchange ? take | give : take, false);
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	bool replaced = exchange || req->flags & WARD_REQUEST_DST_EXISTS;
	d = ask_for(p, &dst, replaced ? take | give : give, true);
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	if (rename_splits(req))
		return refuse(p, EXDEV, &src, secret_of(req->state, req->state2));
	uint32_t rule = src.rule[0], rule2 = dst.rule[0];
	enum move there = move(p, req->state, req->fact, req->state2, dir, &rule), back = MOVE_YES;
	if (there != MOVE_NO && exchange)
		back = move(p, req->state2, req->fact2, req->state,
			req->flags & WARD_REQUEST_DST_DIR, &rule2);
	bool look = there != MOVE_NO && back != MOVE_NO;
	if (req->flags & WARD_REQUEST_SYMLINK)
		d = unless_link(p, req, req->state2, d);
	if (exchange && req->flags & WARD_REQUEST_DST_SYMLINK)
		d = unless_link(p, req, req->state, d);
	if (d.link || (look && (req->flags & WARD_REQUEST_LOOKED ||
				       (there == MOVE_YES && back == MOVE_YES))))
		return d;
	d = refuse(p, EXDEV, &src, there == MOVE_NO || (look && there == MOVE_LOOK) ? rule : rule2);
	d.look = look;
	return d;
}

static struct ward_decision decide_link(const struct ward_policy *p, const struct ward_request *req)
{
	struct reach src = reach_of(req->state, false, req->fact);
	struct reach dst = reach_of(req->state2, false, req->fact2);
	struct ward_decision d = ask_for(p, &src, WARD_RIGHT_STAT, false);
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	d = ask_for(p, &dst, WARD_RIGHT_CREATE, true);
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	if (link_splits(req))
		return refuse(p, EXDEV, &src, secret_of(req->state, req->state2));
	uint32_t rule = src.rule[0];
	if (req->flags & WARD_REQUEST_DIR ||
		move(p, req->state, req->fact, req->state2, false, &rule) != MOVE_YES)
		return refuse(p, EXDEV, &src, rule);
	return req->flags & WARD_REQUEST_SYMLINK ? unless_link(p, req, req->state2, d) : d;
}

/* Writes down every rule that covers the path, in order, and which of them count. */
static void trace_state(
	const struct ward_policy *p, const struct ward_state *s, struct ward_trace *trace)
{
	const uint32_t *hits = ward_state_hits(s);
	for (uint32_t i = 0; i < s->n_hits; i++) {
		const struct ward_rule *r = &p->rules[hits[i]];
		bool decides = true;
		for (uint32_t k = i + 1; k < s->n_hits && decides; k++) {
			const struct ward_rule *l = &p->rules[hits[k]];
			if (r->guard || r->verb == WARD_VERB_NOEXEC)
				break;
			decides = l->guard || l->verb == WARD_VERB_NOEXEC ||
				  l->verb == WARD_VERB_ASK || l->verb == WARD_VERB_SECRET ||
				  ward_rule_group(l) != ward_rule_group(r);
		}
		if (trace->n == WARD_TRACE_MAX) {
			trace->left_out++;
			continue;
		}
		trace->entries[trace->n++] = (struct ward_trace_entry){
			.rule = r, .rights = ward_verb_rights(r->verb), .decides = decides};
	}
}

/* Of what another tree serves, the name alone is this tree's: to be seen, where the rules say so.
 */
static bool decide_elsewhere(
	const struct ward_policy *p, const struct ward_request *req, struct ward_decision *ret)
{
	struct reach r = reach_of(req->state, req->flags & WARD_REQUEST_DIR, req->fact);
	r.give &= WARD_RIGHT_STAT;
	r.may &= WARD_RIGHT_STAT;
	if (req->action != WARD_ACTION_ACCESS)
		*ret = refuse(p, EBUSY, &r, 0);
	else if (req->rights & ~(uint32_t)WARD_RIGHT_STAT && r.give)
		*ret = refuse(p, EACCES, &r, 0);
	else
		*ret = ask_for(p, &r, req->rights, false);
	return true;
}

/*
 * The path to another tree is visible and cannot be changed, whatever the rules say. What that tree
 * covers is not available through the tree above, except for the name of its place.
 */
static bool decide_beneath(
	const struct ward_policy *p, const struct ward_request *req, struct ward_decision *ret)
{
	const struct reach none = {.give = 0};
	const struct reach place = {.give = WARD_RIGHT_STAT};
	bool leads = req->flags & WARD_REQUEST_LEADS, covered = req->flags & WARD_REQUEST_COVERED;
	if (req->flags & WARD_REQUEST_ELSEWHERE && !covered)
		return decide_elsewhere(p, req, ret);
	if (req->action != WARD_ACTION_ACCESS && (leads || covered))
		*ret = refuse(p, leads ? EBUSY : EACCES, &none, 0);
	else if (covered && leads && !(req->rights & ~(uint32_t)WARD_RIGHT_STAT))
		*ret = make(p, WARD_VERDICT_ALLOW, 0, &place, 0);
	else if (covered)
		*ret = refuse(p, EACCES, leads ? &place : &none, 0);
	else
		return false;
	return true;
}

static struct ward_decision dispatch(const struct ward_policy *p, const struct ward_request *req)
{
	struct reach r = reach_of(req->state, req->flags & WARD_REQUEST_DIR, req->fact);
	struct ward_decision d;
	switch (req->action) {
	case WARD_ACTION_ACCESS:
		lower_by_links(&r, req);
		if (req->flags & WARD_REQUEST_LEADS)
			r.give |= WARD_RIGHT_STAT;
		return ask_for(p, &r, req->rights, false);
	case WARD_ACTION_CREATE:
		/* what makes a directory passable is beneath it: it does not let it be made */
		r = reach_of(req->state, false, req->fact);
		lower_by_links(&r, req);
		d = ask_for(p, &r, req->rights | WARD_RIGHT_CREATE, true);
		return req->flags & WARD_REQUEST_SYMLINK ? unless_link(p, req, req->state, d) : d;
	case WARD_ACTION_REMOVE:
		return ask_for(p, &r, WARD_RIGHT_REMOVE, false);
	case WARD_ACTION_RENAME:
		return decide_rename(p, req);
	case WARD_ACTION_LINK:
		return decide_link(p, req);
	case WARD_ACTION_NONE:
		break;
	}
	return refuse(p, EACCES, &r, 0);
}

struct ward_decision ward_policy_decide(
	const struct ward_policy *p, const struct ward_request *req, struct ward_trace *trace)
{
	static const struct reach nothing;
	if (trace)
		*trace = (struct ward_trace){.n = 0};
	bool two = req->action == WARD_ACTION_RENAME || req->action == WARD_ACTION_LINK;
	if (!req->state || (two && !req->state2) || req->rights & ~(uint32_t)WARD_RIGHTS_ALL ||
		(req->n_others && !req->others))
		return refuse(p, EACCES, &nothing, 0);
	struct ward_decision d;
	if (decide_beneath(p, req, &d))
		return d;
	if (trace) {
		trace_state(p, req->state, trace);
		if (two)
			trace_state(p, req->state2, trace);
	}
	return dispatch(p, req);
}
