/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zeros at the end of a file of text that is appended to. If the host stops, a file system can have
 * kept the new size of the file, and not yet what was appended: then zeros are there. Nothing was
 * promised of it yet. Zeros in front of text are another matter (damage.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* How much of the text is in front of the zeros that end it. */
size_t ward_before_zeros(const char *text, size_t len);
/* The same of the first `size` bytes of a file, which are all read from their end on. -errno. */
int ward_before_zeros_of(int fd, uint64_t size, uint64_t *ret) __attribute__((warn_unused_result));
