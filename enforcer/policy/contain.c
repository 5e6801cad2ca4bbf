/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May a directory move from one state to another?
 *
 * Beneath the moved directory every suffix x has, at both places, the hits of its place, the hits
 * of patterns that begin within x (the same at both), and those of patterns begun above that x
 * completes ("live"; where both places stand at the same position, the same at both). So two places
 * can differ in hits now, and in live positions that only one place has.
 *
 *   - What takes away by itself (guards, noexec) intersects: one that only the source may still
 * meet must be in force at the destination already, one that only the destination may still meet
 *     must leave `create`.
 *   - In a list the last match decides, so a list's opinion is its highest rule: the highest of
 * what both meet, c; of what stands now or is met at one place only, a and b. For every choice of
 *     c, a and b the destination must give no more than the source, and `create` where the source
 *     does. (Several lists intersect: what holds for each holds for all.)
 *
 * "create where the source does": else a directory prepared elsewhere could be moved to a place
 * where its content could not have been made. Whether some x meets exactly these rules is not
 * looked at: the answer may be "no" where "yes" were right, never the other way. Nothing allocates;
 * the work is bounded.
 *
 * Where only a gain stands in the way, what exists beneath can settle it (contain_look.c). A loss
 * of create is for the rules alone: what is being made at the source while it moves would land
 * where it could not have been made.
 */
#include "enforcer/policy/internal.h"

/* Choices looked at; past it the answer is "no". A policy of 10,000 rules needs as many. */
#define CHOICES_MAX (1U << 20)

struct side {
	uint32_t last[WARD_GROUP_COUNT_]; /* 1 + the highest rule of each list, 0: none */
	uint32_t give, may;		  /* of guards and noexec */
};

static bool takes_by_itself(const struct ward_rule *r)
{
	return r->guard || r->verb == WARD_VERB_NOEXEC;
}

static struct side side_of(const struct ward_policy *p, const struct ward_state *s)
{
	struct side side = {.give = WARD_RIGHTS_ALL, .may = WARD_RIGHTS_ALL};
	for (uint32_t i = 0; i < s->n_hits; i++) {
		uint32_t n = ward_state_hits(s)[i];
		const struct ward_rule *r = &p->rules[n];
		if (takes_by_itself(r)) {
			side.give &= ward_verb_rights(r->verb);
			if (r->verb != WARD_VERB_ASK)
				side.may &= ward_verb_rights(r->verb);
		} else {
			side.last[ward_rule_group(r)] = n + 1;
		}
	}
	return side;
}

static uint32_t pattern_at(const struct ward_policy *p, const struct ward_state *s, uint32_t i)
{
	return ward_automaton_pattern(p->automaton, s->ids[i]);
}

/* Guards that only one of the two may still meet. */
static bool guards_fit(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, unsigned parts, const struct side *d, uint32_t *ret_rule)
{
	for (uint32_t i = 0; parts & WARD_MOVE_GAIN && i < src->n_live; i++) {
		const struct ward_rule *r = &p->rules[pattern_at(p, src, i)];
		uint32_t left = ward_verb_rights(r->verb);
		if (takes_by_itself(r) && !ward_state_stands_at(dst, src->ids[i]) &&
			(d->give & ~left || (r->verb != WARD_VERB_ASK && d->may & ~left))) {
			*ret_rule = pattern_at(p, src, i) + 1;
			return false;
		}
	}
	for (uint32_t i = 0; parts & WARD_MOVE_GAIN && i < dst->n_live; i++) {
		if (ward_rule_lifts(&p->rules[pattern_at(p, dst, i)]) &&
			!ward_state_stands_at(src, dst->ids[i])) {
			*ret_rule = pattern_at(p, dst, i) + 1;
			return false;
		}
	}
	for (uint32_t i = 0; parts & WARD_MOVE_LOSS && i < dst->n_live; i++) {
		const struct ward_rule *r = &p->rules[pattern_at(p, dst, i)];
		if (takes_by_itself(r) && !ward_state_stands_at(src, dst->ids[i]) &&
			!(ward_verb_rights(r->verb) & WARD_RIGHT_CREATE)) {
			*ret_rule = pattern_at(p, dst, i) + 1;
			return false;
		}
	}
	return true;
}

static bool is_hit(const struct ward_state *s, uint32_t pattern)
{
	for (uint32_t i = 0; i < s->n_hits; i++)
		if (ward_state_hits(s)[i] == pattern)
			return true;
	return false;
}

/* A guard that applies to one of the two and not to the other; the source's first. */
static void guard_apart(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, uint32_t *ret_rule)
{
	const struct ward_state *const both[] = {src, dst};
	for (unsigned k = 0; k < 2; k++)
		for (uint32_t i = 0; i < both[k]->n_hits; i++) {
			uint32_t n = ward_state_hits(both[k])[i];
			if (!takes_by_itself(&p->rules[n]) || is_hit(both[1 - k], n))
				continue;
			*ret_rule = n + 1;
			return;
		}
}

static uint32_t max(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* What a list gives whose highest rule is n - 1; n = 0: no rule. */
static uint32_t list_gives(const struct ward_policy *p, enum ward_rule_group g, uint32_t n)
{
	if (n == 0)
		return g == WARD_GROUP_BASE ? 0 : WARD_RIGHTS_ALL;
	return ward_verb_rights(p->rules[n - 1].verb);
}

/*
 * `secret` of a list gives what the rule before it gives, to some files: what it gives at least (0)
 * counts where less is worse, what it gives at most where more is.
 */
static bool is_secret(const struct ward_policy *p, uint32_t n)
{
	return n && p->rules[n - 1].verb == WARD_VERB_SECRET;
}

static bool fits(unsigned parts, uint32_t src, uint32_t dst)
{
	return !(parts & WARD_MOVE_GAIN && dst & ~src) &&
	       !(parts & WARD_MOVE_LOSS && src & ~dst & WARD_RIGHT_CREATE);
}

struct lists {
	const struct ward_policy *p;
	const struct ward_state *src, *dst;
	enum ward_rule_group group;
	unsigned parts;
	uint32_t now_src, now_dst; /* highest rules that stand now */
	uint32_t budget;
	uint32_t why; /* 1 + number of the rule that makes the difference; 0: none is known */
};

static bool in_list(const struct lists *l, uint32_t pattern)
{
	const struct ward_rule *r = &l->p->rules[pattern];
	return !takes_by_itself(r) && ward_rule_group(r) == l->group;
}

/* pair_fits() where one of them is `secret`. */
static bool secret_fits(const struct lists *l, uint32_t s, uint32_t d)
{
	const uint32_t most_s =
		is_secret(l->p, s) ? WARD_RIGHTS_ALL : list_gives(l->p, l->group, s);
	const uint32_t most_d =
		is_secret(l->p, d) ? WARD_RIGHTS_ALL : list_gives(l->p, l->group, d);
	return fits(l->parts & WARD_MOVE_GAIN, list_gives(l->p, l->group, s), most_d) &&
	       fits(l->parts & WARD_MOVE_LOSS, most_s, list_gives(l->p, l->group, d));
}

/*
 * Do the source's highest rule s and the destination's d fit, where both meet c? Else why says
 * which of them is met at that place alone: the source's, where it takes away, else the
 * destination's.
 */
static bool pair_fits(struct lists *l, uint32_t s, uint32_t d, uint32_t c)
{
	const uint32_t give_s = list_gives(l->p, l->group, s);
	const uint32_t give_d = list_gives(l->p, l->group, d);
	if (is_secret(l->p, s) || is_secret(l->p, d) ? secret_fits(l, s, d)
						     : fits(l->parts, give_s, give_d))
		return true;
	l->why = s && s != max(l->now_src, c)	? s
		 : d && d != max(l->now_dst, c) ? d
		 : s > c			? s
						: d;
	return false;
}

/* For a source whose highest rule is s, and c met by both: every choice of b. */
static bool each_b(struct lists *l, uint32_t s, uint32_t c)
{
	if (!pair_fits(l, s, max(l->now_dst, c), c))
		return false;
	for (uint32_t i = 0; i < l->dst->n_live; i++) {
		uint32_t n = pattern_at(l->p, l->dst, i);
		if (!l->budget || !l->budget--)
			return false;
		if (!in_list(l, n) || ward_state_stands_at(l->src, l->dst->ids[i]))
			continue;
		if (!pair_fits(l, s, max(max(l->now_dst, c), n + 1), c))
			return false;
	}
	return true;
}

/* For c met by both: every choice of a. */
static bool each_a(struct lists *l, uint32_t c)
{
	if (!each_b(l, max(l->now_src, c), c))
		return false;
	for (uint32_t i = 0; i < l->src->n_live; i++) {
		uint32_t n = pattern_at(l->p, l->src, i);
		if (!l->budget || !l->budget--)
			return false;
		if (!in_list(l, n) || ward_state_stands_at(l->dst, l->src->ids[i]))
			continue;
		if (!each_b(l, max(max(l->now_src, c), n + 1), c))
			return false;
	}
	return true;
}

/* Every choice of c: none, a pattern begun at any depth, one where both stand. */
static bool each_c(struct lists *l)
{
	if (!each_a(l, 0))
		return false;
	for (uint32_t i = 0; i < l->p->n_floats; i++) {
		if (!l->budget || !l->budget--)
			return false;
		if (in_list(l, l->p->floats[i]) && !each_a(l, l->p->floats[i] + 1))
			return false;
	}
	for (uint32_t i = 0; i < l->src->n_live; i++) {
		uint32_t n = pattern_at(l->p, l->src, i);
		if (!l->budget || !l->budget--)
			return false;
		if (in_list(l, n) && ward_state_stands_at(l->dst, l->src->ids[i]) &&
			!each_a(l, n + 1))
			return false;
	}
	return true;
}

/* What `ask` gives depends on more than the highest rule: lists in which it may be met do not fit,
 * unless nothing sets the two places apart there. */
static bool has_ask(const struct lists *l)
{
	const struct ward_state *const both[] = {l->src, l->dst};
	for (unsigned k = 0; k < 2; k++) {
		const struct ward_state *s = both[k];
		for (uint32_t i = 0; i < s->n_live + s->n_hits; i++) {
			uint32_t n = i < s->n_live ? pattern_at(l->p, s, i) : s->ids[i];
			if (in_list(l, n) && l->p->rules[n].verb == WARD_VERB_ASK)
				return true;
		}
	}
	for (uint32_t i = 0; i < l->p->n_floats; i++)
		if (in_list(l, l->p->floats[i]) &&
			l->p->rules[l->p->floats[i]].verb == WARD_VERB_ASK)
			return true;
	return false;
}

/* The list's rules among hits or live positions of a that b has not. */
static bool list_apart(
	const struct lists *l, const struct ward_state *a, const struct ward_state *b)
{
	for (uint32_t i = 0; i < a->n_live; i++)
		if (in_list(l, pattern_at(l->p, a, i)) && !ward_state_stands_at(b, a->ids[i]))
			return true;
	for (uint32_t i = 0, k = 0; i < a->n_hits; i++) {
		uint32_t n = ward_state_hits(a)[i];
		if (!in_list(l, n))
			continue;
		while (k < b->n_hits && ward_state_hits(b)[k] < n)
			k++;
		if (k == b->n_hits || ward_state_hits(b)[k] != n)
			return true;
	}
	return false;
}

bool ward_policy_contains(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, unsigned parts, uint32_t *ret_rule)
{
	if (ward_state_same(src, dst))
		return true;
	struct side s = side_of(p, src), d = side_of(p, dst);
	if (!fits(parts, s.give, d.give) || (parts & WARD_MOVE_GAIN && d.may & ~s.may)) {
		guard_apart(p, src, dst, ret_rule);
		return false;
	}
	if (!guards_fit(p, src, dst, parts, &d, ret_rule) ||
		(parts & WARD_MOVE_GAIN && !ward_programs_fit(p, src, dst, ret_rule)))
		return false;
	for (unsigned g = 0; g < WARD_GROUP_COUNT_; g++) {
		struct lists l = {.p = p,
			.src = src,
			.dst = dst,
			.group = (enum ward_rule_group)g,
			.parts = parts,
			.now_src = s.last[g],
			.now_dst = d.last[g],
			.budget = CHOICES_MAX};
		if (!list_apart(&l, src, dst) && !list_apart(&l, dst, src))
			continue;
		if (has_ask(&l) || !each_c(&l)) {
			if (l.why)
				*ret_rule = l.why;
			return false;
		}
	}
	return true;
}

bool ward_policy_appends(const struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++) {
		const uint32_t rights = ward_verb_rights(p->rules[i].verb);
		if (rights & WARD_RIGHT_CREATE && !(rights & WARD_RIGHT_WRITE))
			return true;
	}
	return false;
}
