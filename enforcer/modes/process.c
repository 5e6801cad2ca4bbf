/* SPDX-License-Identifier: Apache-2.0 */
/* Mode process: the host's files, in a pid and a network namespace of its own. */
#include "enforcer/modes/operations.h"

const struct ward_mode_ops ward_mode_ops_process = {.usable = ward_walls_usable,
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
