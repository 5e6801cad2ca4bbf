/* SPDX-License-Identifier: Apache-2.0 */
/* Content that is applied in the place of an object: parts/N, for the time of an apply. */
#pragma once

#include "enforcer/review/review.h"

#define WARD_PART_NAME 32U

void ward_part_name(uint32_t object, char ret[WARD_PART_NAME]);
/* Removes them all, those of applies that were ended, too. */
void ward_part_drop(int dir_fd);
