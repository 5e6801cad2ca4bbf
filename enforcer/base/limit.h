/* SPDX-License-Identifier: Apache-2.0 */
/* The one value that stands for "no limit" in sizes, counts and times. */
#pragma once

#include <stdint.h>

#define WARD_UNLIMITED UINT64_MAX
