/* SPDX-License-Identifier: Apache-2.0 */
/* Which build of a program this is: the linker's build id, as `readelf -n` shows it. */
#pragma once

/* 64 bytes of id at most (GNU ld makes 20), as hexadecimal digits, with the final zero. */
#define WARD_BUILD_ID_SIZE 129

/*
 * Writes the build id of the running program (NT_GNU_BUILD_ID, elf(5)) as lower-case hexadecimal
 * digits into ret, and returns ret. "unknown": the linker wrote none. Cannot fail.
 */
const char *ward_build_id(char ret[WARD_BUILD_ID_SIZE]);
