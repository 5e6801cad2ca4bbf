/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tokens, and reads and makes keys. */
#include "enforcer/cli/run/token_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/store/store.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/session/grants/grant_token.h"

#define KEY_HEAD "wardfs-key 1\n"

int ward_token_file_read(const char *path, char **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	const bool in = strcmp(path, "-") == 0;
	int r = in ? 0 : ward_fd_open_named(path, WARD_NAMED_PIPE, &fd, err);
	if (r < 0)
		return r;
	r = ward_fd_read_all(in ? STDIN_FILENO : fd, WARD_GRANT_TOKEN_MAX, &b);
	if (r < 0)
		return ward_err_sys(err, r, "%s", in ? "stdin" : path);
	if (b.len == 0 || memchr(b.data, '\0', b.len))
		return ward_err_set(err, -EBADMSG, "%s: this is not a token of wardfs", path);
	*ret = ward_buf_steal(&b);
	return *ret ? 0 : ward_err_sys(err, -ENOMEM, "%s", path);
}

static int read_host(uint8_t seed[WARD_KEY_BYTES], struct ward_err *err)
{
	ward_cleanup_free char *state = NULL;
	struct ward_store *st = NULL;
	int r = ward_store_default_path(
		geteuid(), secure_getenv("XDG_STATE_HOME"), secure_getenv("HOME"), &state, err);
	if (r == 0)
		r = ward_store_open(state, true, &st, err);
	if (r == 0)
		r = ward_store_read_seed(st, seed, err);
	ward_store_close(st);
	return r;
}

static int read_file(const char *path, uint8_t seed[WARD_KEY_BYTES], struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	struct stat st;
	const size_t head = sizeof(KEY_HEAD) - 1;
	int r = ward_fd_open_named(path, WARD_NAMED_FILE, &fd, err);
	if (r < 0)
		return r;
	if (fstat(fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", path);
	if (st.st_mode & 077)
		return ward_err_set(err, -EPERM,
			"%s: others may read or write this key (fix: chmod 600)", path);
	r = ward_fd_read_all(fd, 128, &b);
	if (r == 0 && (b.len != head + 45 || memcmp(b.data, KEY_HEAD, head) != 0 ||
			      b.data[b.len - 1] != '\n' ||
			      !ward_take_base64(b.data + head, 44, seed, WARD_KEY_BYTES)))
		r = -EBADMSG;
	if (b.data)
		ward_chain_wipe(b.data, b.len);
	return r == 0 ? 0 : ward_err_set(err, r, "%s: this is not a key of wardfs", path);
}

int ward_token_key_read(const char *path, struct ward_signing_key *ret, struct ward_err *err)
{
	uint8_t seed[WARD_KEY_BYTES];
	int r = path ? read_file(path, seed, err) : read_host(seed, err);
	if (r == 0)
		ward_signing_key_from_seed(seed, ret);
	ward_chain_wipe(seed, sizeof(seed));
	return r;
}

int ward_token_key_make(const char *path, struct ward_signing_key *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_output_drop) struct ward_output out = WARD_OUTPUT_INIT;
	uint8_t seed[WARD_KEY_BYTES];
	if (getrandom(seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		return ward_err_sys(err, -EIO, "random bytes");
	ward_buf_puts(&b, KEY_HEAD);
	ward_put_base64(&b, seed, sizeof(seed));
	ward_buf_putc(&b, '\n');
	int r = ward_output_begin(path, 0600, false, &out, err);
	if (r == 0 && (r = ward_buf_error(&b)) == 0)
		r = ward_fd_write_all(out.fd, b.data, b.len);
	if (r == 0)
		r = ward_output_finish(&out, err);
	else if (!err->code)
		ward_err_sys(err, r, "%s", path);
	if (r == 0)
		ward_signing_key_from_seed(seed, ret);
	ward_chain_wipe(seed, sizeof(seed));
	if (b.data)
		ward_chain_wipe(b.data, b.len);
	return r;
}
