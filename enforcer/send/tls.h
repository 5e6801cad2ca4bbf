/* SPDX-License-Identifier: Apache-2.0 */
/* What TLS is set up with: whom to trust, for which name, and what to show. TLS 1.2 at least. */
#pragma once

#include <openssl/ssl.h>

#include "enforcer/base/err.h"

/*
 * A client that verifies the chain up to a certificate in PEM at ca_fd and the name or numeric
 * address of `host`. cert_fd, key_fd: what is shown when the other side asks; -1: nothing. Opens
 * files of OpenSSL's own (its configuration, modules): to be called before the cage. Does not
 * connect. *ret is the caller's (SSL_free()). -EBADMSG: a file is not what it should be.
 */
int send_tls_prepare(int ca_fd, int cert_fd, int key_fd, const char *host, SSL **ret,
	struct ward_err *err) ward_must_check;

/* After a failed handshake or call: says in err why. */
void send_tls_why(const SSL *ssl, const char *host, struct ward_err *err);
