/* SPDX-License-Identifier: Apache-2.0 */
/* Sets TLS up, and says why it failed. */
#include "enforcer/send/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/send/send.h"

static void free_ctx(SSL_CTX **c)
{
	SSL_CTX_free(*c);
}

static void free_ssl(SSL **s)
{
	SSL_free(*s);
}

static void free_bio(BIO **b)
{
	BIO_free(*b);
}

static void free_pem(struct ward_buf *b)
{
	if (b->data)
		OPENSSL_cleanse(b->data, b->cap);
	ward_buf_clear(b);
}

/* A key with a passphrase: nobody is there to be asked. */
static int no_passphrase(char *buf, int size, int writing, void *user)
{
	(void)buf, (void)size, (void)writing, (void)user;
	return -1;
}

static int broken(struct ward_err *err, const char *option, const char *what)
{
	const char *why = ERR_reason_error_string(ERR_peek_last_error());
	return ward_err_set(
		err, -EBADMSG, "--%s: %s%s%s", option, what, why ? ": " : "", why ? why : "");
}

static int read_pem(int fd, const char *option, struct ward_buf *b, BIO **ret, struct ward_err *err)
{
	int r = ward_fd_pread_all(fd, WARD_SEND_PEM_MAX, b);
	if (r < 0)
		return ward_err_sys(err, r, "--%s", option);
	*ret = BIO_new_mem_buf(b->data ? b->data : "", (int)b->len);
	return *ret ? 0 : ward_err_sys(err, -ENOMEM, "--%s", option);
}

/* Each certificate of the file goes to add(), which returns 1. How many; -1: one is broken. */
static int each_certificate(BIO *in, int (*add)(void *user, X509 *x), void *user)
{
	int n = 0;
	for (;; n++) {
		X509 *x = PEM_read_bio_X509(in, NULL, no_passphrase, NULL);
		if (!x)
			break;
		int good = add(user, x);
		X509_free(x);
		if (good != 1)
			return -1;
	}
	/* That no more begins is how every file ends. */
	if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE)
		return -1;
	ERR_clear_error();
	return n;
}

static int add_trusted(void *user, X509 *x)
{
	return X509_STORE_add_cert(user, x);
}

static int add_own(void *user, X509 *x)
{
	SSL_CTX *c = user;
	return SSL_CTX_get0_certificate(c) ? SSL_CTX_add1_chain_cert(c, x)
					   : SSL_CTX_use_certificate(c, x);
}

static int load_ca(SSL_CTX *c, int fd, struct ward_err *err)
{
	ward_cleanup(free_pem) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(free_bio) BIO *in = NULL;
	int r = read_pem(fd, "ca", &b, &in, err);
	if (r < 0)
		return r;
	return each_certificate(in, add_trusted, SSL_CTX_get_cert_store(c)) > 0
		       ? 0
		       : broken(err, "ca", "it has no certificates in PEM");
}

static int load_own(SSL_CTX *c, int cert_fd, int key_fd, struct ward_err *err)
{
	ward_cleanup(free_pem) struct ward_buf cert = WARD_BUF_INIT;
	ward_cleanup(free_pem) struct ward_buf key = WARD_BUF_INIT;
	ward_cleanup(free_bio) BIO *cert_in = NULL;
	ward_cleanup(free_bio) BIO *key_in = NULL;
	int r = read_pem(cert_fd, "cert", &cert, &cert_in, err);
	if (r == 0)
		r = read_pem(key_fd, "key", &key, &key_in, err);
	if (r < 0)
		return r;
	if (each_certificate(cert_in, add_own, c) <= 0)
		return broken(err, "cert", "it has no certificates in PEM");
	EVP_PKEY *k = PEM_read_bio_PrivateKey(key_in, NULL, no_passphrase, NULL);
	if (!k)
		return broken(err, "key", "it has no private key in PEM without a passphrase");
	const bool fits = SSL_CTX_use_PrivateKey(c, k) == 1 && SSL_CTX_check_private_key(c) == 1;
	EVP_PKEY_free(k);
	return fits ? 0
		    : broken(err, "key", "it is not the key of the first certificate of --cert");
}

static bool is_address(const char *host)
{
	unsigned char addr[16];
	return inet_pton(AF_INET, host, addr) == 1 || inet_pton(AF_INET6, host, addr) == 1;
}

static int set_host(SSL *s, const char *host)
{
	X509_VERIFY_PARAM *p = SSL_get0_param(s);
	X509_VERIFY_PARAM_set_hostflags(
		p, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
	if (is_address(host))
		return X509_VERIFY_PARAM_set1_ip_asc(p, host);
	return X509_VERIFY_PARAM_set1_host(p, host, 0) == 1 &&
	       SSL_set_tlsext_host_name(s, host) == 1;
}

int send_tls_prepare(
	int ca_fd, int cert_fd, int key_fd, const char *host, SSL **ret, struct ward_err *err)
{
	unsigned char once[32];
	ward_cleanup(free_ctx) SSL_CTX *c = SSL_CTX_new(TLS_client_method());
	/* The first random number opens what it needs. */
	if (!c || RAND_bytes(once, sizeof(once)) != 1 ||
		SSL_CTX_set_min_proto_version(c, TLS1_2_VERSION) != 1)
		return ward_err_set(err, -ENOMEM, "OpenSSL cannot be set up");
	SSL_CTX_set_verify(c, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_mode(c, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
	int r = load_ca(c, ca_fd, err);
	if (r == 0 && cert_fd >= 0)
		r = load_own(c, cert_fd, key_fd, err);
	if (r < 0)
		return r;
	ward_cleanup(free_ssl) SSL *s = SSL_new(c);
	if (!s || set_host(s, host) != 1)
		return ward_err_set(err, -EINVAL, "%s is no name of a host", host);
	SSL_set_connect_state(s);
	*ret = s;
	s = NULL;
	return 0;
}

void send_tls_why(const SSL *ssl, const char *host, struct ward_err *err)
{
	const long verified = SSL_get_verify_result(ssl);
	const unsigned long e = ERR_peek_last_error();
	const char *why = ERR_reason_error_string(e);
	if (verified != X509_V_OK)
		(void)ward_err_set(err, -EACCES, "the certificate of %s is not accepted: %s", host,
			X509_verify_cert_error_string(verified));
	else if (ERR_GET_REASON(e) == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED)
		(void)ward_err_set(
			err, -EACCES, "%s wants a client certificate: give --cert and --key", host);
	else
		(void)ward_err_set(err, -EACCES, "TLS with %s failed: %s", host,
			why ? why : "no reason given");
}
