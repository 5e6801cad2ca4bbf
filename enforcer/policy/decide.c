/* SPDX-License-Identifier: Apache-2.0 */
/* The decision: pure and total. */
#include "enforcer/policy/grants.h"
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <string.h>

/* What a file's content and attributes are; a name's own rights are the rest. */
#define CONTENT                                                                                    \
	(WARD_RIGHT_READ | WARD_RIGHT_EXEC | WARD_RIGHT_APPEND | WARD_RIGHT_WRITE | WARD_RIGHT_ATTR)
#define VISIBLE (WARD_RIGHT_STAT | WARD_RIGHT_LIST)
#define CHANGES                                                                                    \
	(WARD_RIGHT_APPEND | WARD_RIGHT_CREATE | WARD_RIGHT_WRITE | WARD_RIGHT_REMOVE |            \
		WARD_RIGHT_ATTR)

/* Rights of one name on the way to a decision, with who decided each. */
struct reach {
	uint32_t give, may;
	uint32_t rule[WARD_RIGHT_BITS];
	uint32_t by_grant; /* of `give`: what no rule gives */
	uint32_t by_glass; /* of that: what a break-glass grant gives */
	const struct ward_granted *grants;
};

/* What a rule of `secret` leaves of a file with this fact; no more than was given. */
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

/* Behind the base, below everything that only takes away. */
static void add_grants(
	struct reach *r, const struct ward_state *s, bool dir, const struct ward_granted *grants)
{
	uint32_t more = grants->rights;
	if (dir && grants->passage)
		more |= VISIBLE;
	more &= s->outcome.grantable & ~r->give;
	r->give |= more;
	r->may |= more;
	r->by_grant = more;
	r->grants = grants;
}

/* Below what takes away, but for the guards that it names. */
static void add_glass(const struct ward_policy *p, struct reach *r, const struct ward_state *s,
	const struct ward_granted *grants)
{
	const struct ward_unlifted left = ward_policy_unlifted(p, s, grants->glass->grant.lifts);
	const uint32_t more = left.secret ? 0 : grants->glass_rights & left.grantable & ~r->give;
	r->give |= more;
	r->may |= more;
	r->by_grant |= more;
	r->by_glass = more;
	r->grants = grants;
}

static struct reach reach_of(const struct ward_policy *p, const struct ward_state *s, bool dir,
	enum ward_fact fact, const struct ward_granted *grants)
{
	struct reach r = {.give = s->outcome.give, .may = s->outcome.may};
	memcpy(r.rule, s->outcome.rule, sizeof(r.rule));
	if (dir && s->outcome.passage) {
		r.give |= VISIBLE;
		r.may |= VISIBLE;
	}
	if (grants)
		add_grants(&r, s, dir, grants);
	if (s->outcome.secret) {
		const uint32_t left = secret_leaves(s, fact);
		for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
			if (r.give & ~left & 1U << i)
				r.rule[i] = s->outcome.secret;
		r.give &= left;
		r.may &= left;
		r.by_grant &= left;
	}
	if (grants && grants->glass)
		add_glass(p, &r, s, grants);
	return r;
}

/* Of what is staged, a person is asked later. */
static void stage(const struct ward_request *req, struct reach *r)
{
	if (req->flags & WARD_REQUEST_STAGED && r->give & WARD_RIGHT_STAT)
		r->give |= r->may & CHANGES;
}

uint32_t ward_policy_rights_staged(const struct ward_policy *p, const struct ward_state *s)
{
	const struct ward_request req = {.flags = WARD_REQUEST_STAGED};
	struct reach r = {.give = ward_policy_rights(p, s), .may = s->outcome.may};
	stage(&req, &r);
	return r.give;
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

/* The last right that is asked for names the rule; one that a grant gives goes before others. */
static struct ward_decision allow(
	const struct ward_policy *p, const struct reach *r, uint32_t rights)
{
	const uint32_t seen = rights | WARD_RIGHT_STAT;
	const uint32_t rule = r->rule[31 - __builtin_clz(seen)];
	struct ward_decision d = make(p, WARD_VERDICT_ALLOW, 0, r, rule);
	d.by_grant = seen & r->by_grant;
	d.by_glass = seen & r->by_glass;
	for (unsigned i = 0; d.by_grant && i < WARD_RIGHT_BITS; i++)
		if (d.by_glass & 1U << i && r->grants && r->grants->glass)
			d.rule = &r->grants->glass->rule;
		else if (d.by_grant & 1U << i && r->grants && r->grants->by[i])
			d.rule = &r->grants->by[i]->rule;
	return d;
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
	return allow(p, r, rights);
}

/* A file of several names has the intersection of their rights, where content is concerned. */
static void lower(struct reach *r, uint32_t give, uint32_t may, const uint32_t *rule)
{
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
		if (CONTENT & r->give & ~give & 1U << i && rule)
			r->rule[i] = rule[i];
	r->give &= give | ~(uint32_t)CONTENT;
	r->may &= may | ~(uint32_t)CONTENT;
	r->by_grant &= r->give;
	r->by_glass &= r->give;
}

static void lower_by_links(
	const struct ward_policy *p, struct reach *r, const struct ward_request *req)
{
	for (size_t i = 0; i < req->n_others; i++) {
		struct reach v = reach_of(p, req->others[i], false, req->fact,
			req->other_grants ? &req->other_grants[i] : NULL);
		stage(req, &v);
		lower(r, v.give, v.may, v.rule);
		r->by_grant |= v.by_grant & r->give & CONTENT;
		r->by_glass |= v.by_glass & r->give & CONTENT;
		r->grants = r->grants ? r->grants : v.grants;
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
static uint32_t gain(const struct reach *s, const struct reach *d)
{
	return (d->give & ~s->give) | (d->may & ~s->may);
}

uint32_t ward_policy_gain(const struct ward_state *src, const struct ward_state *dst, bool dir)
{
	const struct reach s = reach_of(NULL, src, dir, WARD_FACT_OWN, NULL);
	const struct reach d = reach_of(NULL, dst, dir, WARD_FACT_OWN, NULL);
	return gain(&s, &d);
}

/* One end of a move. */
struct end {
	const struct ward_state *state;
	enum ward_fact fact;
	const struct ward_granted *grants;
};

/* What a move comes to, by the rules alone. */
enum move { MOVE_NO = 0, MOVE_LOOK, MOVE_YES };

/*
 * A name that leaves a grant's paths for where the rules give more would keep that once the grant
 * has ended. What a rule asks about there has been answered: `may` alone counts.
 */
static uint32_t outlives(const struct ward_policy *p, const struct end *src, const struct end *dst,
	const struct reach *r, uint32_t *ret_rule)
{
	if (!r->by_grant)
		return 0;
	const struct reach s = reach_of(p, src->state, false, src->fact, NULL);
	const struct reach d = reach_of(p, dst->state, false, WARD_FACT_OWN, NULL);
	const uint32_t more = d.may & ~s.may;
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
		if (more & 1U << i)
			*ret_rule = s.rule[i];
	return more;
}

/*
 * Would the move give a right at dst that src does not give? For a directory everything beneath
 * moves along: not to where a grant gives something, which the states do not know. *ret_rule: the
 * rule that limits src, there or beneath, or the one beneath dst.
 */
static enum move move(const struct ward_policy *p, const struct ward_request *req,
	const struct end *src, const struct end *dst, bool dir, uint32_t *ret_rule)
{
	struct reach r = reach_of(p, src->state, false, src->fact, src->grants);
	struct reach d = reach_of(p, dst->state, false, WARD_FACT_OWN, dst->grants);
	stage(req, &r);
	stage(req, &d);
	/* A name that leaves the guard would have left it for good: it is copied. */
	r.give &= ~r.by_glass;
	r.may &= ~r.by_glass;
	uint32_t more = gain(&r, &d);
	for (unsigned i = 0; i < WARD_RIGHT_BITS; i++)
		if (more & 1U << i)
			*ret_rule = r.rule[i];
	more |= outlives(p, src, dst, &r, ret_rule);
	if (more || (dir && dst->grants &&
			    (dst->grants->rights || dst->grants->passage || dst->grants->glass)))
		return MOVE_NO;
	if (dir && (!ward_policy_contains(p, src->state, dst->state, WARD_MOVE_LOSS, ret_rule) ||
			   ward_policy_links_move(p, src->state, dst->state, ret_rule)))
		return MOVE_NO;
	return !dir || ward_policy_contains(p, src->state, dst->state, WARD_MOVE_GAIN, ret_rule)
		       ? MOVE_YES
		       : MOVE_LOOK;
}

/*
 * What allows `d`, unless the object is a symbolic link that would lead past a rule at s. The rules
 * alone can tell: no grant makes one.
 */
static struct ward_decision unless_link(const struct ward_policy *p, const struct ward_request *req,
	const struct ward_state *s, struct ward_decision d)
{
	struct reach r = reach_of(p, s, false, WARD_FACT_ABSENT, NULL);
	stage(req, &r);
	uint32_t rule = 0;
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	if (!(r.give & WARD_RIGHT_CREATE))
		return refuse(p, EACCES, &r, r.rule[5]);
	if (!ward_policy_link_passes(p, s, req->root, &rule))
		return d;
	d = refuse(p, EACCES, &r, rule);
	d.link = true;
	return d;
}

/*
 * Would a file have one name under a rule of `secret` and another that is not, or is lifted? What
 * is written at the first, once this session has ended, could be read at the second. A directory
 * takes along files that have names elsewhere.
 */
static bool splits_secret(const struct ward_state *src, const struct ward_state *dst, bool kept)
{
	return kept && (ward_outcome_eases(&src->outcome, &dst->outcome) ||
			       ward_outcome_eases(&dst->outcome, &src->outcome));
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

/* Of two names: the second one's answer, with what grants gave at the first. */
static struct ward_decision both(struct ward_decision d, struct ward_decision d2)
{
	const struct ward_rule *rule = d2.by_grant || !d.by_grant ? d2.rule : d.rule;
	if (d2.verdict == WARD_VERDICT_ALLOW)
		d2.rule = rule;
	d2.by_glass |= d.by_glass;
	d2.by_grant2 = d2.by_grant;
	d2.by_grant = d.by_grant;
	return d2;
}

static struct ward_decision decide_rename(
	const struct ward_policy *p, const struct ward_request *req)
{
	bool dir = req->flags & WARD_REQUEST_DIR;
	bool exchange = req->flags & WARD_REQUEST_EXCHANGE;
	const struct end from = {req->state, req->fact, req->grants};
	const struct end to = {req->state2, req->fact2, req->grants2};
	struct reach src = reach_of(p, from.state, dir, from.fact, from.grants);
	struct reach dst = reach_of(p, to.state, false, to.fact, to.grants);
	stage(req, &src);
	stage(req, &dst);
	uint32_t take = WARD_RIGHT_REMOVE, give = WARD_RIGHT_CREATE;
	struct ward_decision d = ask_for(p, &src, exchange ? take | give : take, false);
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	bool replaced = exchange || req->flags & WARD_REQUEST_DST_EXISTS;
	d = both(d, ask_for(p, &dst, replaced ? take | give : give, true));
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	if (rename_splits(req))
		return refuse(p, EXDEV, &src, secret_of(req->state, req->state2));
	uint32_t rule = src.rule[0], rule2 = dst.rule[0];
	enum move there = move(p, req, &from, &to, dir, &rule), back = MOVE_YES;
	if (there != MOVE_NO && exchange)
		back = move(p, req, &to, &from, req->flags & WARD_REQUEST_DST_DIR, &rule2);
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
	const struct end from = {req->state, req->fact, req->grants};
	struct end to = {req->state2, req->fact2, req->grants2};
	struct ward_granted made = {.rights = 0};
	struct reach src = reach_of(p, from.state, false, from.fact, from.grants);
	struct reach dst = reach_of(p, to.state, false, to.fact, to.grants);
	stage(req, &src);
	stage(req, &dst);
	/* For a file that exists the right to create is none: that of a grant is no gain. */
	if (to.grants) {
		made = *to.grants;
		made.rights &= ~(uint32_t)WARD_RIGHT_CREATE;
		made.holds &= ~(uint32_t)WARD_RIGHT_CREATE;
		to.grants = &made;
	}
	struct ward_decision d = ask_for(p, &src, WARD_RIGHT_STAT, false);
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	d = both(d, ask_for(p, &dst, WARD_RIGHT_CREATE, true));
	if (d.verdict != WARD_VERDICT_ALLOW)
		return d;
	if (link_splits(req))
		return refuse(p, EXDEV, &src, secret_of(req->state, req->state2));
	uint32_t rule = src.rule[0];
	if (req->flags & WARD_REQUEST_DIR || move(p, req, &from, &to, false, &rule) != MOVE_YES)
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
	struct reach r =
		reach_of(p, req->state, req->flags & WARD_REQUEST_DIR, req->fact, req->grants);
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
	struct reach r =
		reach_of(p, req->state, req->flags & WARD_REQUEST_DIR, req->fact, req->grants);
	struct ward_decision d;
	stage(req, &r);
	switch (req->action) {
	case WARD_ACTION_ACCESS:
		lower_by_links(p, &r, req);
		if (req->flags & WARD_REQUEST_LEADS)
			r.give |= WARD_RIGHT_STAT;
		return ask_for(p, &r, req->rights, false);
	case WARD_ACTION_CREATE:
		/* what makes a directory passable is beneath it: it does not let it be made */
		r = reach_of(p, req->state, false, req->fact, req->grants);
		stage(req, &r);
		lower_by_links(p, &r, req);
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
