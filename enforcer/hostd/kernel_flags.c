/* SPDX-License-Identifier: Apache-2.0 */
/* <fcntl.h> defines the same names otherwise, so nothing that includes it can ask the kernel's
 * header. */
#include "enforcer/hostd/kernel_flags.h"

#include <asm/fcntl.h>

const unsigned long ward_kernel_largefile = O_LARGEFILE;
