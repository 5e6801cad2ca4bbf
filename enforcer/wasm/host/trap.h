/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a trap of a module ends up (an access outside its memory, a stack that is used up): the
 * runtime of wasm2c jumps back here. As wasm_rt_impl_try() of wasm-rt-impl.h in wabt 1.0.32, which
 * the package installs where no compiler looks.
 */
#pragma once

#include <wasm-rt.h>

extern jmp_buf wasm_rt_jmp_buf;

/* Evaluates to WASM_RT_TRAP_NONE, and once more to the reason when something traps. */
#define WARD_WASM_TRY()                                                                            \
	(wasm_rt_set_unwind_target(&wasm_rt_jmp_buf),                                              \
		(wasm_rt_trap_t)WASM_RT_SETJMP(wasm_rt_jmp_buf))
