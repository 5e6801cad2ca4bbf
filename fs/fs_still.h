/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the programs of the session still for a moment, by the freezer of their control group
 * (Documentation/admin-guide/cgroup-v2.rst, cgroup.freeze), so that a step has one moment of each
 * file, also of what they store through mappings.
 *
 * The supervisor hands over two files of the group, which is none of ours: we go on. A program that
 * is frozen can be killed. If we end meanwhile, the supervisor kills them; if the supervisor ends,
 * we let them go on, and they end as ever.
 */
#pragma once

#include <stdint.h>

#include "fs/base/fs.h"

struct ward_still {
	int freeze, events; /* cgroup.freeze (O_WRONLY), cgroup.events; -1: no such group */
};
#define WARD_STILL_INIT ((struct ward_still){.freeze = -1, .events = -1})

/* WARD_MSG_FS_FREEZER: `which` as there; takes *fd. */
void ward_still_take(struct ward_still *s, uint32_t which, int *fd);
void ward_still_close(struct ward_still *s);

/*
 * From now on none of them executes an instruction of its own. Waits ms milliseconds at most until
 * none is in the kernel either: whoever waits for one of our answers is, and stays there. Does
 * nothing without a group, and while a request waits for a person: freezing would end that wait.
 */
void ward_still_begin(struct ward_fs *fs, const struct ward_still *s, int ms);
/* They go on. */
void ward_still_end(const struct ward_still *s);
