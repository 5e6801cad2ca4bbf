/* SPDX-License-Identifier: Apache-2.0 */
/* The running kernel's version, and the oldest one that a guarded run is built on. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

/*
 * The floor: what is required was written and tested against Linux 6.1 (Debian 12) and newer. An
 * older kernel may lack a part that a boundary rests on without saying so.
 */
#define WARD_KERNEL_FLOOR "6.1"
#define WARD_KERNEL_FLOOR_MAJOR 6U
#define WARD_KERNEL_FLOOR_MINOR 1U

/* uname(2)'s release as two numbers. -EPROTO: it does not begin with two. */
int ward_kernel_version(unsigned *ret_major, unsigned *ret_minor) ward_must_check;

/* 0 at or above the floor; else -ENOTSUP, and err names the kernel found and the fix. */
int ward_kernel_check(struct ward_err *err) ward_must_check;

/*
 * After a write through a handle with FOPEN_DIRECT_IO, does that kernel drop the pages that others
 * have read meanwhile? Since Linux 6.19, 6.18.3 and 6.12.64 ("fuse: Invalidate the page cache after
 * FOPEN_DIRECT_IO write"). release: of uname(2). An unknown one does not.
 */
bool ward_kernel_drops_pages(const char *release);
/* The same of the running one. */
bool ward_kernel_drops_pages_here(void);

/*
 * The ABI of Landlock, 0 without. Below ABI 2 a rename between two directories would be EXDEV
 * (reparenting cannot be allowed), which breaks programs: that counts as none.
 */
unsigned ward_kernel_landlock(void);
