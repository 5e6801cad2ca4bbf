/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a new file gets from the default ACL of its directory (acl(5)): an access ACL as large, and
 * a directory the default ACL as well. Quotas charge it before the file is made. Nobody inside
 * changes a default ACL in between.
 */
#pragma once

#include "fs/request/op.h"

struct ward_inherited {
	struct ward_quotas *held; /* NULL: no lock is held */
	uint64_t bytes;		  /* as extended attributes are counted: names and values */
};

/* For a file, or a directory, that is about to be made in parent; without quotas nothing is done.
 */
void ward_inherited_begin(
	struct ward_op *op, struct ward_node *parent, bool dir, struct ward_inherited *ret);
/* It was made, and is charged; or was not. Before the answer. Again: nothing. */
void ward_inherited_end(struct ward_inherited *in);
