/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the kernel that libc hides: they differ between architectures. */
#pragma once

/* O_LARGEFILE, which F_GETFL of a 64-bit process has. The macro of libc is 0 there. */
extern const unsigned long ward_kernel_largefile;
