/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of `wardfs attack`: what was attacked, on what, and every attempt's verdict and
 * control, signed with the host's key. The form is that of an attestation (audit/verify/attest.h)
 * with a predicate of its own (docs/attack.md, "Certificates").
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"

/*
 * Signs the statement that wardfs-attack wrote (report.h) and writes it to the new file that it
 * names. 0 or a negative errno.
 */
int ward_certificate_write(const char *statement, size_t len, struct ward_err *err) ward_must_check;

/* `wardfs attack verify [--key KEY]... FILE`: the exit status. */
int ward_certificate_verify(int argc, char **argv);
