/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the names of questions. */
#include "enforcer/base/question_id.h"

#include <string.h>

/* Without i, l, o and u, as Crockford's base 32. */
static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
#define DIGITS (WARD_QUESTION_NAME_SIZE - 1)

void ward_question_name(uint32_t id, char ret[WARD_QUESTION_NAME_SIZE])
{
	for (int i = DIGITS - 1; i >= 0; i--, id >>= 5)
		ret[i] = digits[id & 31];
	ret[DIGITS] = '\0';
}

bool ward_question_parse(const char *name, uint32_t *ret)
{
	uint32_t id = 0;
	if (strlen(name) != DIGITS)
		return false;
	for (size_t i = 0; i < DIGITS; i++) {
		const char *at = strchr(digits, name[i]);
		if (!at)
			return false;
		id = id << 5 | (uint32_t)(at - digits);
	}
	*ret = id;
	return true;
}
