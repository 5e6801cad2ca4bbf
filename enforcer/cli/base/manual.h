/* SPDX-License-Identifier: Apache-2.0 */
/* How the manual is read where wardfs was started from: installed, or built in a checkout. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/buf.h"

/*
 * Appends the command that shows a page, as "man 5 wardfs-policy", or "man -l FILE" for one that
 * was built and not installed. False, and nothing appended: there is no such page.
 */
bool ward_manual_command(const char *page, char section, struct ward_buf *b);
