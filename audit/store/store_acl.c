/* SPDX-License-Identifier: Apache-2.0 */
/* Who may read a store of the system's writer: access control lists, acl(5). */
#include "audit/store/store.h"
#include "audit/store/store_internal.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <linux/xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/note.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Public keys that checkpoints were signed with, one a line. */
#define WARD_STORE_KEYS "public.keys"
#define UNNAMED ((uint32_t)ACL_UNDEFINED_ID)

/* As linux/posix_acl_xattr.h has it: a head, then entries in the order of their tags. */
struct acl {
	struct posix_acl_xattr_header head;
	struct posix_acl_xattr_entry v[5];
};

static struct posix_acl_xattr_entry entry(unsigned tag, unsigned perm, uint32_t id)
{
	return (struct posix_acl_xattr_entry){
		.e_tag = htole16(tag), .e_perm = htole16(perm), .e_id = htole32(id)};
}

/* Everything is ours; uid may do `may` at most. name: of the attribute. */
static int set(int fd, const char *name, uid_t uid, unsigned ours, unsigned may)
{
	struct acl a = {.head = {.a_version = htole32(POSIX_ACL_XATTR_VERSION)},
		.v = {entry(ACL_USER_OBJ, ours, UNNAMED), entry(ACL_USER, may, uid),
			entry(ACL_GROUP_OBJ, 0, UNNAMED), entry(ACL_MASK, may, UNNAMED),
			entry(ACL_OTHER, 0, UNNAMED)}};
	return fsetxattr(fd, name, &a, sizeof(a), 0) < 0 ? -errno : 0;
}

/* The present public key stands in the file "public.keys". *ret is the caller's. */
static int add_key(struct ward_store *st, int *ret, struct ward_err *err)
{
	uint8_t seed[WARD_KEY_BYTES];
	struct ward_signing_key key;
	char text[WARD_VKEY_MAX];
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = WARD_STORE_KEYS_MAX};
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	int r = ward_store_read_seed(st, seed, err);
	if (r < 0)
		return r;
	ward_signing_key_from_seed(seed, &key);
	ward_public_key_print(&key.pub, text);
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(&key, sizeof(key));
	ward_cleanup_fd int fd =
		ward_fd_make_regular(st->dir_fd, WARD_STORE_KEYS, O_RDWR | O_APPEND, 0600);
	r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_STORE_KEYS_MAX, &b);
	/* Twice, where two sessions begin at once, is no harm. */
	if (r == 0 && !strstr(ward_buf_str(&b), text)) {
		ward_buf_printf(&line, "%s\n", text);
		r = ward_buf_error(&line);
		if (r == 0)
			r = ward_fd_write_all(fd, line.data, line.len);
		if (r == 0 && fsync(fd) < 0)
			r = -errno;
	}
	if (r < 0)
		return ward_err_sys(err, r, "%s/%s", st->path, WARD_STORE_KEYS);
	*ret = ward_steal_fd(&fd);
	return 0;
}

int ward_store_open_public_keys(struct ward_store *st, int *ret_fd, struct ward_err *err)
{
	int fd = ward_fd_open_regular(st->dir_fd, WARD_STORE_KEYS, O_RDONLY);
	if (fd < 0)
		return ward_err_sys(err, fd, "%s/%s", st->path, WARD_STORE_KEYS);
	*ret_fd = fd;
	return 0;
}

int ward_store_let_read(struct ward_store *st, uid_t uid, struct ward_err *err)
{
	const unsigned all = ACL_READ | ACL_WRITE | ACL_EXECUTE;
	const unsigned look = ACL_READ | ACL_EXECUTE;
	ward_cleanup_fd int keys = -1;
	int r = add_key(st, &keys, err);
	if (r < 0)
		return r;
	/* Before the way to it is open. */
	r = set(keys, XATTR_NAME_POSIX_ACL_ACCESS, uid, ACL_READ | ACL_WRITE, ACL_READ);
	if (r == 0)
		r = set(st->sessions_fd, XATTR_NAME_POSIX_ACL_DEFAULT, uid, all, look);
	if (r == 0)
		r = set(st->sessions_fd, XATTR_NAME_POSIX_ACL_ACCESS, uid, all, look);
	if (r == 0)
		r = set(st->dir_fd, XATTR_NAME_POSIX_ACL_ACCESS, uid, all, look);
	return r < 0 ? ward_err_sys(err, r, "%s: access control list", ward_store_path(st)) : 0;
}
