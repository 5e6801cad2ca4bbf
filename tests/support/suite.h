/* SPDX-License-Identifier: Apache-2.0 */
/* What unit tests share: how many rounds of something random, and the end of main(). */
#pragma once

#include <check.h>
#include <stdlib.h>

/*
 * Of n rounds, or of what n rounds have to find: a fourth of them under a sanitizer, where each
 * takes several times as long, and where what is looked for is in the memory and no rare case.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SUITE_ROUNDS(n) ((n) / 4U)
#else
#define SUITE_ROUNDS(n) (n)
#endif

/* Runs the suite and frees it; what it says follows $CK_VERBOSITY. The exit status of the program.
 */
static inline int suite_run(Suite *s)
{
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
