/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes that a person threw away one by one: the file `discarded` beside the journal, text in the
 * form of the journal, an entry a line:
 *
 *   D KIND ROOT PATH       the change of this kind at this path, as review.h has it
 */
#pragma once

#include "enforcer/review/review.h"

/* Takes what was thrown away out of the sorted changes. -EBADMSG: the file is damaged. */
int ward_discarded_drop(int dir_fd, struct ward_review_changes *c) ward_must_check;
