/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the claims of a pod's token. */
#include "enforcer/oci/account.h"

#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Tokens have 1 to 2 KB. */
#define TOKEN_MAX 16384U

static const char *text(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

/* What both say has to be the same; what the engine does not say cannot contradict. */
static bool fits(const json_t *annotations, const char *const *keys, const char *claim)
{
	for (; *keys; keys++) {
		const char *said = text(annotations, *keys);
		if (said)
			return claim && strcmp(said, claim) == 0;
	}
	return true;
}

/* A name of Kubernetes (RFC 1123, a subdomain): what else stands there is not for a label. */
static bool name_ok(const char *s)
{
	const size_t n = s ? strlen(s) : 0;
	return n > 0 && n < WARD_OCI_ACCOUNT_MAX &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.-") == n;
}

/* The JSON between the first and the second point. NULL: that is no token. */
static json_t *claims(const char *token, size_t len)
{
	unsigned char plain[TOKEN_MAX];
	size_t n = 0;
	const char *from = memchr(token, '.', len);
	const char *end = from ? memchr(from + 1, '.', len - (size_t)(from + 1 - token)) : NULL;
	json_t *o = NULL;
	if (end && sodium_base642bin(plain, sizeof(plain), from + 1, (size_t)(end - from - 1), NULL,
			   &n, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0)
		o = json_loadb((const char *)plain, n, JSON_REJECT_DUPLICATES, NULL);
	explicit_bzero(plain, sizeof(plain));
	return o;
}

bool ward_oci_account_of(
	const char *token, size_t len, const json_t *annotations, char ret[WARD_OCI_ACCOUNT_MAX])
{
	static const char *const uids[] = {
		"io.kubernetes.cri.sandbox-uid", "io.kubernetes.pod.uid", NULL};
	static const char *const spaces[] = {
		"io.kubernetes.cri.sandbox-namespace", "io.kubernetes.pod.namespace", NULL};
	json_t *o = claims(token, len);
	const json_t *mine = json_object_get(o, "kubernetes.io");
	const char *name = text(json_object_get(mine, "serviceaccount"), "name");
	bool ok = name_ok(name) && fits(annotations, spaces, text(mine, "namespace")) &&
		  fits(annotations, uids, text(json_object_get(mine, "pod"), "uid"));
	if (ok)
		memcpy(ret, name, strlen(name) + 1);
	json_decref(o);
	return ok;
}

static bool read_token(int dir, struct ward_buf *ret)
{
	/* The kubelet writes a link to a link: ..data/token. */
	const struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
	struct stat st;
	ward_cleanup_fd int fd = ward_fd_openat2(dir, "token", &how);
	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 &&
	       ward_fd_read_all(fd, TOKEN_MAX, ret) == 0;
}

void ward_oci_account_read(struct ward_oci_container *c, const struct ward_oci_host *h)
{
	static const char *const places[] = {"/var/run/secrets/kubernetes.io/serviceaccount",
		"/run/secrets/kubernetes.io/serviceaccount"};
	for (size_t i = 0; i < c->n_volumes; i++) {
		const struct ward_oci_volume *v = &c->volumes[i];
		ward_cleanup(ward_buf_clear) struct ward_buf token = WARD_BUF_INIT;
		if ((strcmp(v->destination, places[0]) != 0 &&
			    strcmp(v->destination, places[1]) != 0) ||
			v->how != WARD_OCI_HOW_PASS || !ward_oci_covers(&h->engine, v->source))
			continue;
		const bool found = read_token(v->fd, &token) &&
				   ward_oci_account_of(token.data, token.len,
					   json_object_get(c->config, "annotations"), c->account);
		if (token.data)
			explicit_bzero(token.data, token.len);
		if (found)
			return;
	}
}
