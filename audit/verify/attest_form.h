/* SPDX-License-Identifier: Apache-2.0 */
/* The constants of attestations (attest.h), for the two files that make and check them. */
#pragma once

#include "enforcer/base/buf.h"

/* in-toto attestation framework, Statement v1; DSSE v1. */
#define WARD_ATTEST_STATEMENT "https://in-toto.io/Statement/v1"
#define WARD_ATTEST_PREDICATE "urn:wardfs:attestation:session:v1"
#define WARD_ATTEST_TYPE "application/vnd.in-toto+json"
/* The envelope, piece by piece: payload, name of the key and signature stand in between. */
#define WARD_ATTEST_BEGIN "{\"payloadType\":\"" WARD_ATTEST_TYPE "\",\"payload\":\""
#define WARD_ATTEST_KEY "\",\"signatures\":[{\"keyid\":\""
#define WARD_ATTEST_SIG "\",\"sig\":\""
#define WARD_ATTEST_END "\"}]}\n"

/* Appends what is signed: the pre-authentication encoding of the payload. */
void ward_attest_pae(struct ward_buf *b, const void *payload, size_t len);
