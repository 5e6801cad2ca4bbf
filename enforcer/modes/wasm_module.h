/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a module in WebAssembly says of itself, before anything is done with it: whether it is a
 * program of WASI preview 1 that our host can run. Source of the format: WebAssembly Core
 * Specification 2.0, section 5 (binary format).
 *
 * The bytes are hostile. This looks at the sections of imports, tables, memories and exports;
 * wasm2c validates the module as a whole, inside a sandbox.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

/* Larger modules are refused: wasm2c makes twelve times as much C of them. */
#define WARD_WASM_MODULE_MAX ((size_t)16 << 20)

struct ward_wasm_module {
	bool imports; /* any function */
	bool reactor; /* _initialize in place of _start */
};

/*
 * 0; -EINVAL: no module, malformed, too large tables, without memory or entry, or it imports what
 * our host does not have. The text says which.
 */
int ward_wasm_module_look(const void *data, size_t len, struct ward_wasm_module *ret,
	struct ward_err *err) ward_must_check;
/*
 * Appends the module, which ward_wasm_module_look() took, without its custom sections: names and
 * whatever else is for tools. -ENOMEM, -EINVAL.
 */
int ward_wasm_module_bare(const void *data, size_t len, struct ward_buf *ret) ward_must_check;
