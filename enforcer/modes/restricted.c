/* SPDX-License-Identifier: Apache-2.0 */
/* Mode restricted: the walls with every layer. [process] python may put one around a script. */
#include "enforcer/modes/operations.h"
#include "enforcer/modes/python.h"

const struct ward_mode_ops ward_mode_ops_restricted = {.usable = ward_walls_usable,
	.look = ward_python_look,
	.command = ward_python_command,
	.prepare = ward_walls_prepare,
	.begin = ward_walls_begin,
	.reach = ward_walls_reach,
	.probe = ward_walls_probe,
	.start = ward_walls_start,
	.next = ward_walls_next,
	.exec = ward_walls_exec,
	.signal = ward_walls_signal,
	.stop = ward_walls_stop,
	.free = ward_walls_free};
