/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of mode wasm alone. */
#pragma once

#include "enforcer/modes/modes.h"

/*
 * Reads a module that the caller names, and finds out whether it can be run: fills in source,
 * source_len and object of ret. -EINVAL, -ENOTSUP as ward_wasm_module_look(); or why it cannot be
 * read. Of h the policy, the project and the state directory count.
 */
int ward_wasm_read(const char *path, const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_err *err) ward_must_check;

/* Appends whether what ward_wasm_build() needs is on this host, and else the fix. */
void ward_wasm_say_tools(struct ward_buf *b);

/*
 * Makes found->object of found->source where it is missing: by wasm2c and a compiler, in a sandbox
 * of its own, for the module is hostile and what is made of it as well. They see the system's
 * directories and a /tmp of their own, and have no network. `as` says who they run as. -ENOTSUP: a
 * tool is missing; -EINVAL: they refused the module.
 */
int ward_wasm_build(const struct ward_mode *m, const struct ward_mode_found *found,
	const struct ward_sandbox_spec *as, struct ward_err *err) ward_must_check;
