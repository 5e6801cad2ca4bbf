/* SPDX-License-Identifier: Apache-2.0 */
/* A private directory of a unit test, below $WARD_TMP, $TMPDIR or /tmp. Failures abort the test. */
#pragma once

/* Makes one; the path is the caller's, for scratch_remove(). */
char *scratch_make(void);
/* Removes it with all that is in it, and frees the path. */
void scratch_remove(char *path);
