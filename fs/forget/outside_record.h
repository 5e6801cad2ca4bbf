/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of what others changed in the backing while the session ran (kind `external`), from the
 * events of its watch (backing_watch.h): so of directories that were looked at in here, from then
 * on, where the file system can be watched. Belongs to the thread that reads the watch.
 *
 * Names, and attributes of directories, are only ever changed in here by this process, whose own
 * events are left out; so those of others are theirs. But a file that is open in passthrough is
 * written to by the agent's own processes: a write is another's for sure if no handle could do that
 * since the queue of events was last empty, or if its process is still there and in no pid
 * namespace below ours. If that is unknown, nothing is recorded.
 */
#pragma once

#include "fs/base/fs.h"

struct ward_external;

/* -ENOMEM. Of this tree, for as long as it is watched. */
int ward_external_new(struct ward_fs_tree *tree, struct ward_external **ret) ward_must_check;
void ward_external_free(struct ward_external *x);

struct ward_watch_change;

/* Is that process still there, and in no pid namespace below ours? */
bool ward_external_is_host(const struct ward_external *x, uint32_t pid);
/*
 * One change. `after`: what ward_outside_change() does is done; called before and after it, each
 * time records the part of the mask that it can say more about.
 */
void ward_external_change(struct ward_external *x, const struct ward_watch_change *c, bool after);
/* Events were lost. */
void ward_external_lost(struct ward_external *x);
