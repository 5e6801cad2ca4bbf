/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WASI preview 1 for a module that wasm2c translated: its functions by the names that wasm2c gives
 * to imports of `wasi_snapshot_preview1`. Each takes addresses and numbers from the module and
 * checks them against the module's memory. Each returns an errno of WASI, 0 for success.
 *
 * Sources: WebAssembly/WASI, legacy/preview1/docs.md and witx/typenames.witx, for the functions,
 * the layout of what they write, rights and errno.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <wasm-rt.h>

#include "enforcer/wasm/host/preopens.h"

/* Descriptors of a module, its standard ones and the preopened directories included. */
#define WARD_WASI_FDS 1024

struct ward_wasi_file {
	int fd; /* ours; owned, but for 0, 1, 2 and those of preopens */
	bool used;
	bool borrowed;
	uint8_t type;	/* filetype */
	uint16_t flags; /* fdflags as asked */
	uint64_t base, inheriting;
	const char *preopen; /* the directory's path; NULL: no preopen */
};

/* The name that wasm2c has for what each of the functions gets first. */
#define ward_wasi Z_wasi_snapshot_preview1_instance_t
struct ward_wasi {
	wasm_rt_memory_t *(*memory)(void *instance);
	void *instance;
	struct ward_wasi_file fds[WARD_WASI_FDS];
	char *const *argv;
	char *const *envp;
};

/* Sets up 0, 1, 2 and the preopens, whose descriptors and paths are borrowed. */
void ward_wasi_start(struct ward_wasi *w, const struct ward_preopens *p);

/* The functions themselves. */
#define WARD_WASI(name, parameters) uint32_t Z_wasi_snapshot_preview1Z_##name parameters;
#include "enforcer/wasm/host/wasi.def"
#undef WARD_WASI
_Noreturn void Z_wasi_snapshot_preview1Z_proc_exit(struct ward_wasi *w, uint32_t status);
