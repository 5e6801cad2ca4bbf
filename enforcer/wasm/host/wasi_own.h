/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of WASI alone. */
#pragma once

#include <sys/stat.h>
#include <time.h>

#include "enforcer/wasm/host/wasi.h"

/* errno of WASI, as far as our own code says one. */
enum ward_wasi_errno {
	WASI_BADF = 8,
	WASI_FAULT = 21,
	WASI_INVAL = 28,
	WASI_MFILE = 33,
	WASI_NAMETOOLONG = 37,
	WASI_NOMEM = 48,
	WASI_NOTDIR = 54,
	WASI_NOTSUP = 58,
	WASI_NOTCAPABLE = 76,
};
/* Of Linux as WASI has it; positive. */
uint32_t ward_wasi_errno(int e);

/* Rights, as far as one of them decides something. */
#define RIGHT_READ (UINT64_C(1) << 1)
#define RIGHT_SEEK (UINT64_C(1) << 2)
#define RIGHT_WRITE (UINT64_C(1) << 6)
#define RIGHT_ALLOCATE (UINT64_C(1) << 8)
#define RIGHT_READDIR (UINT64_C(1) << 14)
#define RIGHT_SET_SIZE (UINT64_C(1) << 22)
#define RIGHTS_ALL ((UINT64_C(1) << 29) - 1)

/* filetype */
enum { TYPE_UNKNOWN = 0, TYPE_BLOCK, TYPE_CHARACTER, TYPE_DIRECTORY, TYPE_REGULAR };
uint8_t ward_wasi_type(mode_t mode);

/* len bytes of the module's at p; NULL: not all of them are the module's. */
void *ward_wasi_at(const struct ward_wasi *w, uint32_t p, uint64_t len);
/* Writes a number there. WASI_FAULT. */
uint32_t ward_wasi_put32(const struct ward_wasi *w, uint32_t p, uint32_t v);
uint32_t ward_wasi_put64(const struct ward_wasi *w, uint32_t p, uint64_t v);
/* A path of the module's as text, the caller's. WASI_FAULT, WASI_INVAL (a NUL in it), … */
uint32_t ward_wasi_text(const struct ward_wasi *w, uint32_t p, uint32_t len, char **ret);
/* The row of a descriptor; NULL: it has none. */
struct ward_wasi_file *ward_wasi_fd(struct ward_wasi *w, uint32_t fd);
/* A free row for a descriptor that becomes its own; WASI_MFILE. */
uint32_t ward_wasi_new_fd(struct ward_wasi *w, uint32_t *ret);

uint64_t ward_wasi_ns(struct timespec t);
/* Times to set, from fstflags. WASI_INVAL. */
uint32_t ward_wasi_times(uint64_t atim, uint64_t mtim, uint32_t flags, struct timespec ret[2]);
/* Writes a filestat (64 bytes). */
uint32_t ward_wasi_put_stat(const struct ward_wasi *w, uint32_t p, const struct stat *st);
