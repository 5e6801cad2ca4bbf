/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of a directory as getdents64(2) gives it: struct linux_dirent64 of the kernel's
 * include/linux/dirent.h, which no header of user space has.
 */
#pragma once

#include <stdint.h>

struct ward_dent {
	uint64_t ino;
	int64_t off;	 /* where the next one begins, for lseek(2) */
	uint16_t reclen; /* bytes of this one, with the name and its padding */
	uint8_t type;	 /* DT_* of readdir(3) */
	char name[];	 /* ends with NUL */
};
