/* SPDX-License-Identifier: Apache-2.0 */
/* prelude.js, inside the program. */
#pragma once

#include "conf/embedded.h"

/* One row. */
extern const struct ward_embedded ward_embedded_prelude[];
