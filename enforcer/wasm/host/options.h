/* SPDX-License-Identifier: Apache-2.0 */
/* The command lines of wardfs-quickjs and wardfs-wasi. */
#pragma once

#include <stdint.h>

#include "enforcer/wasm/host/preopens.h"

struct ward_wasm_options {
	struct ward_preopens files; /* --tree DIR, as far as it is there */
	uint64_t memory;	    /* --memory BYTES; 0: none given */
};

/*
 * Takes these two off the front of *argv, the program's name included. 0; -EINVAL; or what opening
 * a directory fails with. It makes ward_preopens_probe() as
 * well, so that nothing is run where the bounds of lookups do not hold.
 */
int ward_wasm_options(char ***argv, struct ward_wasm_options *ret) ward_must_check;

/* Pages of 64 KiB that a module may have: three quarters of memory, for the rest of the session
 * counts too. A program is to see that there is none left before the kernel ends the session. */
uint32_t ward_wasm_pages(uint64_t memory);
