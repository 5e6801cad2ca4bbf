/* SPDX-License-Identifier: Apache-2.0 */
/* prelude.js and exports.js, inside the program. */
#pragma once

#include "conf/embedded.h"

/* The row of each, in this order. */
extern const struct ward_embedded ward_embedded_prelude[];
