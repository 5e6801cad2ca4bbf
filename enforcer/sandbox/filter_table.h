/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of conf/seccomp, compiled while wardfs is built (filter_main.c). Private to this
 * folder. */
#pragma once

#include "conf/embedded.h"

/* name: the list's; data: struct sock_filter[], len bytes. Ends with a NULL name. */
extern const struct ward_embedded ward_filter_table[];
