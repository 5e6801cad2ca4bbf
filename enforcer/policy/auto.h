/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a policy says to `mode = auto`, for enforcer/risk, which weighs it: the sections [auto] and
 * [agent], and each line that holds. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/policy/policy.h"

struct ward_key;
struct ward_mode;

/* The rows of conf/risk.table, in its order. */
enum ward_risk_row {
#define RISK(id, word, points, most, count, sentence) WARD_RISK_##id,
#include "conf/risk.table"
#undef RISK
	WARD_RISK_ROWS,
};
/* Tools of `[agent] tools`. */
enum ward_risk_tool {
#define RISK_TOOL(id, word) WARD_TOOL_##id,
#include "conf/risk.table"
#undef RISK_TOOL
	WARD_TOOLS,
};
/* No row costs more, even if a policy raises it. */
#define WARD_RISK_POINTS_MAX 1000U

/* The word of a row, and what it costs without a policy. */
const char *ward_risk_word(enum ward_risk_row row);
unsigned ward_risk_points(enum ward_risk_row row);
/*
 * From how many points on a run takes at least this mode, without a policy. WARD_RISK_NEVER: no
 * number is shipped; the mode is taken where weaker ones cannot be.
 */
#define WARD_RISK_NEVER UINT32_MAX
unsigned ward_risk_from(const struct ward_mode *m);

/* "ROW POINTS" of [auto] points. -EINVAL: the row does not exist, or has more points by itself. */
int ward_auto_points(const char *value, enum ward_risk_row *ret_row, unsigned *ret_points,
	struct ward_err *err) ward_must_check;
/* "MODE POINTS" of [auto] from. -EINVAL: no wall, or more points than are shipped. */
int ward_auto_from(const char *value, const struct ward_mode **ret_mode, unsigned *ret_points,
	struct ward_err *err) ward_must_check;

/* Does the base, or what it extends, ask to be weighed? And what does the floor say? */
struct ward_auto_ask {
	bool asked;
	const struct ward_mode *floor; /* NULL: nothing */
	const char *file;	       /* of the line that asks, borrowed; NULL: none does */
	unsigned line;
};
void ward_policy_auto(const struct ward_policy *p, struct ward_auto_ask *ret);

/* Calls fn for each key that holds after all sources and is set by a line, but for rules. */
struct ward_policy_line {
	const struct ward_key *key;
	const char *instance; /* path of [tree P] and [quota P], else "" */
	const char *value;
	const char *file;
	unsigned line;
};
typedef void (*ward_policy_line_fn)(void *user, const struct ward_policy_line *l);
void ward_policy_each_line(const struct ward_policy *p, ward_policy_line_fn fn, void *user);
