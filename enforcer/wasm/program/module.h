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

/*
 * What an object calls instead of the functions of wasm2c's runtime that have the same parameters:
 * memory and tables, with the bounds of the session from the first moment on.
 */
void ward_wasm_allocate_memory(wasm_rt_memory_t *m, uint32_t pages, uint32_t most);
void ward_wasm_allocate_funcref_table(wasm_rt_funcref_table_t *t, uint32_t n, uint32_t most);
void ward_wasm_allocate_externref_table(wasm_rt_externref_table_t *t, uint32_t n, uint32_t most);

struct ward_wasm_translated {
	size_t size;				   /* of an instance */
	void (*start)(void *instance, void *wasi); /* memory, tables, imports */
	wasm_rt_memory_t *(*memory)(void *instance);
	void (*run)(void *instance); /* _start, or _initialize */
};
