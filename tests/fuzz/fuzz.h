/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target has. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As assert(), also where asserts are off. */
#define fuzz_insist(what)                                                                          \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                 \
			abort();                                                                   \
		}                                                                                  \
	} while (0)
