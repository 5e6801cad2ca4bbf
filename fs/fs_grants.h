/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants come and go while requests are served (policy/grants.h): a shorter way than another policy
 * (policy_swap.h). No turn is taken: a decision reads the set, and a handle under a grant looks at
 * each read and write whether that still holds. What is done here is what the kernel keeps by
 * itself: names, listings, and the pages of mappings.
 *
 * All of it on the main thread, which the supervisor's messages come to.
 */
#pragma once

#include "enforcer/ipc/msg.h"
#include "fs/base/fs.h"

int ward_fs_grants_new(struct ward_fs *fs, struct ward_err *err) ward_must_check;

/*
 * How long the kernel may take to forget before we answer. A grant is in force at once, and who
 * gave it waits for little; what has ended must not stay in the pages of a mapping.
 */
#define WARD_GRANT_GIVE_MS 20U
#define WARD_GRANT_END_MS 2000U

/* WARD_MSG_FS_GRANT and WARD_MSG_FS_REVOKE: what follows the head is in r. Appends the answer. */
void ward_fs_grant(struct ward_fs *fs, struct ward_msg_reader *r, struct ward_buf *ret);
void ward_fs_revoke(struct ward_fs *fs, struct ward_msg_reader *r, struct ward_buf *ret);

/* Milliseconds until ward_fs_grants_tick() has something to do; -1: no grant has an end. */
int ward_fs_grants_timeout(const struct ward_fs *fs);
/* The time of some is over, perhaps: records it, and takes their pages. */
void ward_fs_grants_tick(struct ward_fs *fs);

/* WARD_FS_QUERY_GRANTS: {"grants":[[ID,used,"live"]…],"more":N} of all that there were. */
int ward_fs_grants_query(struct ward_fs *fs, struct ward_buf *ret);
