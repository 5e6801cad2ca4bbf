/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of names for rights, verdicts and sources. */
#include "audit/terms.h"

#include <assert.h>

static const char *const rights[] = {
	"stat", "list", "read", "exec", "append", "create", "write", "remove", "attr"};
static_assert(1U << (sizeof(rights) / sizeof(*rights)) == WARD_RIGHTS_ALL + 1, "a name a right");
static_assert(WARD_RIGHT_STAT == 1U << 0 && WARD_RIGHT_LIST == 1U << 1 &&
		      WARD_RIGHT_READ == 1U << 2 && WARD_RIGHT_EXEC == 1U << 3 &&
		      WARD_RIGHT_APPEND == 1U << 4 && WARD_RIGHT_CREATE == 1U << 5 &&
		      WARD_RIGHT_WRITE == 1U << 6 && WARD_RIGHT_REMOVE == 1U << 7 &&
		      WARD_RIGHT_ATTR == 1U << 8,
	"the order of the names");

const char *ward_name_right(unsigned bit)
{
	return bit < sizeof(rights) / sizeof(*rights) ? rights[bit] : NULL;
}

const char *ward_name_verdict(uint64_t verdict)
{
	static const char *const names[] = {
		[WARD_VERDICT_DENY] = "deny",
		[WARD_VERDICT_HIDE] = "hide",
		[WARD_VERDICT_ASK] = "ask",
		[WARD_VERDICT_ALLOW] = "allow",
	};
	return verdict < sizeof(names) / sizeof(*names) ? names[verdict] : NULL;
}

const char *ward_name_source(uint64_t source)
{
	static const char *const names[WARD_SOURCE_COUNT_] = {
		[WARD_SOURCE_NONE] = "none",
		[WARD_SOURCE_PROFILE] = "profile",
		[WARD_SOURCE_BASE] = "base",
		[WARD_SOURCE_FLOOR] = "floor",
		[WARD_SOURCE_PROJECT] = "project",
		[WARD_SOURCE_RUN] = "run",
		[WARD_SOURCE_GRANT] = "grant",
	};
	return source < WARD_SOURCE_COUNT_ ? names[source] : NULL;
}
