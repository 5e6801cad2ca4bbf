/* SPDX-License-Identifier: Apache-2.0 */
/* The end of each unit test's main(). */
#pragma once

#include <check.h>
#include <stdlib.h>

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
