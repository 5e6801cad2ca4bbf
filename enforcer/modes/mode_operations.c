/* SPDX-License-Identifier: Apache-2.0 */
/* The operations of each row of modes.def. Nothing else stands in this file: a program may bring an
 * array of its own. */
#include "enforcer/modes/operations.h"

#define WARD_MODE(name, ...) extern const struct ward_mode_ops ward_mode_ops_##name;
#include "enforcer/modes/table/modes.def"
#undef WARD_MODE

#define WARD_MODE(name, ...) &ward_mode_ops_##name,
const struct ward_mode_ops *const ward_mode_operations[] = {
#include "enforcer/modes/table/modes.def"
	NULL};
