/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a text certificates in PEM (RFC 7468), and nothing that a session should not get with them?
 * Around the blocks bundles have remarks: names, serial numbers, fingerprints, what
 * `openssl x509 -text` prints. A key or a password may stand there as well.
 */
#pragma once

#include <stddef.h>

/* NULL: it is; else why not. text ends with a NUL behind its len bytes. */
const char *ward_ca_text_wrong(const char *text, size_t len);
