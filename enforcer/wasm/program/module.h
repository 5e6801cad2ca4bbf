/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a translated module offers to wardfs-wasi: the symbol WARD_WASM_SYMBOL of its shared
 * object. enforcer/modes/wasm_build.c writes these lines of C behind those of wasm2c, which knows
 * the size of an instance.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <wasm-rt.h>

#define WARD_WASM_SYMBOL "ward_wasm_module"

struct ward_wasm_translated {
	size_t size;				   /* of an instance */
	void (*start)(void *instance, void *wasi); /* memory, tables, imports */
	wasm_rt_memory_t *(*memory)(void *instance);
	void (*run)(void *instance); /* _start, or _initialize */
};
