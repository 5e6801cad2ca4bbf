/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who can still write to a file by what was opened before: handles with the right to write
 * anywhere, and mappings made through them. A mapping of a passthrough handle is the kernel's own
 * and outlives its RELEASE, so a file that had such a handle counts as written to for as long as
 * its node lives.
 */
#pragma once

#include "fs/handle/handle.h"

/* Takes h (its flags, io and append_only are set) into account; undone by its release. */
void ward_writers_add(struct ward_nodes *nodes, struct ward_handle *h);

/*
 * h was opened for writing under rights that were found before ward_writers_add(). -ESTALE: a
 * rename or a link has taken them meanwhile. Waits for renames that are half done.
 */
int ward_writers_confirm(struct ward_nodes *nodes, const struct ward_handle *h) ward_must_check;

/*
 * name below node, and everything known beneath, is to stand where the policy's state is `to`; name
 * NULL: the file node is to get a further name there. -EXDEV: a file among it could then be written
 * to by what is open, and not by the policy, or there are too many to look at; -ENOMEM.
 * renames_lock held for writing.
 */
int ward_writers_check(struct ward_nodes *nodes, const struct ward_node *node, const char *name,
	const struct ward_state *to) ward_must_check;
/*
 * Before that, without any lock: waits for ends that are late (handle.h), so that it does not
 * refuse for what is closed.
 */
void ward_writers_settle(struct ward_nodes *nodes, const struct ward_node *node, const char *name,
	const struct ward_state *to);
