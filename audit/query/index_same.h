/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the index: is a trail the one that was indexed? */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/log/log.h"

/* True if a line with the mac `last` (hexadecimal) ends at `bytes`; of 0 bytes always. */
bool ward_index_same(struct ward_log *log, uint64_t bytes, const char *last);
