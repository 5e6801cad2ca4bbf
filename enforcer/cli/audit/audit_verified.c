/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps which trails were verified, and as what. */
#include "enforcer/cli/audit/audit_verified.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"

static void digest_of(const struct ward_buf *b, char ret[WARD_VERIFIED_DIGEST_MAX])
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	(void)crypto_hash_sha256(
		hash, (const unsigned char *)ward_buf_str(b), (unsigned long long)b->len);
	(void)sodium_bin2hex(ret, WARD_VERIFIED_DIGEST_MAX, hash, sizeof(hash));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_head(const char *line)
{
	return strcmp(line, WARD_VERIFIED_HEAD) == 0 || strcmp(line, WARD_VERIFIED_HEAD_1) == 0;
}

/* Ends each line in its place. -EBADMSG: it is no such file. */
static int split(struct audit_verified_set *s, bool head)
{
	size_t n = 0;
	if (!head && s->text.len == 0)
		return 0;
	char *p = s->text.data, *end = p + s->text.len;
	if (s->text.len == 0 || end[-1] != '\n' || memchr(p, '\0', s->text.len))
		return -EBADMSG;
	for (const char *q = p; (q = memchr(q, '\n', (size_t)(end - q))); q++)
		n++;
	s->lines = calloc(n, sizeof(*s->lines));
	if (!s->lines)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		char *newline = memchr(p, '\n', (size_t)(end - p));
		*newline = '\0';
		if (head && i == 0 && !is_head(p))
			return -EBADMSG;
		int r = ward_ledger_resume_take(&s->ledger, p);
		if (r < 0)
			return r;
		if (r == 0 && !(head && i == 0))
			s->lines[s->n++] = p;
		p = newline + 1;
	}
	qsort(s->lines, s->n, sizeof(*s->lines), by_text);
	return 0;
}

int audit_verified_read(
	const char *path, const char *digest, struct audit_verified_set *ret, struct ward_err *err)
{
	char have[WARD_VERIFIED_DIGEST_MAX];
	ward_cleanup_fd int fd = -1;
	struct ward_err why = WARD_ERR_INIT;
	*ret = (struct audit_verified_set){.text = {.max = WARD_VERIFIED_BYTES_MAX + 1}};
	int r = ward_fd_open_named(path, WARD_NAMED_FILE, &fd, &why);
	if (r == -ENOENT && !digest)
		return 0;
	if (r < 0)
		return ward_err_set(err, r, "%s", why.text);
	r = ward_fd_read_all(fd, WARD_VERIFIED_BYTES_MAX, &ret->text);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	digest_of(&ret->text, have);
	if (digest && strcmp(digest, have) != 0)
		return ward_err_set(err, -EBADMSG,
			"%s has changed: its SHA-256 is %s. Leave --verified out to verify everything",
			path, have);
	r = split(ret, true);
	return r == -EBADMSG
		       ? ward_err_set(err, r,
				 "%s was not written by --verified: give another FILE, or remove "
				 "it",
				 path)
	       : r < 0 ? ward_err_sys(err, r, "%s", path)
		       : 0;
}

void audit_verified_free(struct audit_verified_set *s)
{
	free(s->lines);
	ward_buf_clear(&s->text);
	ward_ledger_resume_clear(&s->ledger);
	*s = (struct audit_verified_set){0};
}

static int no_dots(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

/* Of all files in a directory; nothing where it is unknown. */
static void put_stamp(int dir, struct ward_buf *ret)
{
	struct dirent **v = NULL;
	unsigned char hash[32];
	char hex[2 * sizeof(hash) + 1];
	crypto_generichash_state state;
	const int n = scandirat(dir, ".", &v, no_dots, alphasort);
	bool good = n > 0;
	(void)crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	for (int i = 0; i < n; i++) {
		struct stat sb = {0};
		good &= fstatat(dir, v[i]->d_name, &sb, AT_SYMLINK_NOFOLLOW) == 0;
		const uint64_t what[] = {sb.st_dev, sb.st_ino, sb.st_mode, (uint64_t)sb.st_size,
			(uint64_t)sb.st_mtim.tv_sec, (uint64_t)sb.st_mtim.tv_nsec,
			(uint64_t)sb.st_ctim.tv_sec, (uint64_t)sb.st_ctim.tv_nsec};
		(void)crypto_generichash_update(
			&state, (unsigned char *)v[i]->d_name, strlen(v[i]->d_name) + 1);
		(void)crypto_generichash_update(&state, (const unsigned char *)what, sizeof(what));
		free(v[i]);
	}
	free(v);
	(void)crypto_generichash_final(&state, hash, sizeof(hash));
	if (good)
		ward_buf_puts(ret, sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash)));
	else
		ward_buf_clear(ret);
}

void audit_verified_line(
	struct ward_store *st, const struct ward_ledger_session *s, struct ward_buf *ret)
{
	char mac[2 * WARD_MAC_BYTES + 1];
	struct ward_err none = WARD_ERR_INIT;
	ward_cleanup_fd int dir = -1;
	ward_buf_clear(ret);
	/* Every call reports what is gone or not whole. */
	if (!s->started || !s->ended || !s->complete || s->removed || s->expired || s->lost ||
		ward_store_open_session(st, s->name, &dir, &none) < 0)
		return;
	(void)sodium_bin2hex(mac, sizeof(mac), s->last, sizeof(s->last));
	ward_buf_printf(ret, "%s %" PRIu64 " %s ", s->name, s->records, mac);
	put_stamp(dir, ret);
}

static int set_of(const struct ward_buf *lines, struct audit_verified_set *ret)
{
	*ret = (struct audit_verified_set){0};
	ward_buf_add(&ret->text, lines->data, lines->len);
	int r = ward_buf_error(&ret->text);
	return r < 0 ? r : split(ret, false);
}

/* A space is smaller than what a name may have: the order of lines is that of names. */
static int by_name(const void *key, const void *line)
{
	const char *name = key, *have = *(char *const *)line;
	const size_t n = strlen(name);
	int r = strncmp(name, have, n);
	return r ? r : ' ' - (unsigned char)have[n];
}

bool audit_verified_names(const struct audit_verified_set *s, const char *session)
{
	return s->n && bsearch(session, s->lines, s->n, sizeof(*s->lines), by_name);
}

static bool is_still(struct ward_store *st, const struct audit_verified_set *s, size_t i)
{
	char name[WARD_SESSION_NAME_MAX + 1];
	ward_cleanup(ward_buf_clear) struct ward_buf stamp = WARD_BUF_INIT;
	struct ward_err none = WARD_ERR_INIT;
	ward_cleanup_fd int dir = -1;
	const char *had = strrchr(s->lines[i], ' ');
	audit_verified_name(s, i, name);
	if (!had || ward_store_open_session(st, name, &dir, &none) < 0)
		return false;
	put_stamp(dir, &stamp);
	return stamp.len && strcmp(had + 1, ward_buf_str(&stamp)) == 0;
}

bool audit_verified_has(const struct audit_verified_set *s, const char *line)
{
	return s->n && bsearch(&line, s->lines, s->n, sizeof(*s->lines), by_text);
}

void audit_verified_name(
	const struct audit_verified_set *s, size_t i, char ret[WARD_SESSION_NAME_MAX + 1])
{
	snprintf(ret, WARD_SESSION_NAME_MAX + 1, "%.*s", (int)strcspn(s->lines[i], " "),
		s->lines[i]);
}

int audit_verified_write(const char *path, const struct ward_ledger_resume *ledger,
	const struct ward_buf *lines, char ret_digest[WARD_VERIFIED_DIGEST_MAX],
	struct ward_err *err)
{
	ward_cleanup(ward_output_drop) struct ward_output o = WARD_OUTPUT_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, WARD_VERIFIED_HEAD "\n");
	if (ledger->n)
		ward_ledger_resume_put(ledger, &b);
	ward_buf_add(&b, lines->data, lines->len);
	int r = ward_buf_error(&b);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	r = ward_output_begin(path, 0600, true, &o, err);
	if (r < 0)
		return r;
	r = ward_fd_write_all(o.fd, b.data, b.len);
	if (r < 0)
		return ward_err_sys(err, r, "%s", path);
	digest_of(&b, ret_digest);
	return ward_output_finish(&o, err);
}

/* --- the ledger --- */

/* The changed part depends on entries that were not read. */
static bool is_untouched(struct ward_store *st, const struct audit_verified_set *before,
	const struct ward_ledger_view *ledger)
{
	char name[WARD_SESSION_NAME_MAX + 1];
	for (size_t i = 0; i < before->n; i++) {
		audit_verified_name(before, i, name);
		if (!ward_ledger_view_find(ledger, name) && is_still(st, before, i))
			continue;
		ward_sayf("%s has changed: wardfs reads the ledger from its beginning", name);
		return false;
	}
	return true;
}

int audit_verified_ledger(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	const struct audit_verified_set *before, struct ward_buf *now, struct ward_ledger_view *ret,
	struct ward_ledger_resume *ret_next, bool *ret_resumed, struct ward_err *err)
{
	*ret_resumed = false;
	/* Those that were kept elsewhere speak of any session. */
	if (before->ledger.n && !c->checkpoints) {
		int r = audit_ledger_read_from(c, root, &before->ledger, ret, ret_next, err);
		if (r < 0 && r != -EBADMSG)
			return r;
		*ret_resumed = r == 0 && ret->result.state == WARD_VERIFY_INTACT && ret_next->n &&
			       is_untouched(c->store, before, ret);
		for (size_t i = 0; *ret_resumed && i < before->n; i++)
			ward_buf_printf(now, "%s\n", before->lines[i]);
		if (*ret_resumed) {
			ward_ledger_say_before(ret);
			return 0;
		}
		/* The caller that reads all reports what is bad. */
		*err = WARD_ERR_INIT;
		ward_ledger_view_free(ret);
		ward_ledger_resume_clear(ret_next);
	}
	return audit_ledger_read_from(c, root, NULL, ret, ret_next, err);
}

static bool is_settled(void *ctx, const char *session)
{
	return audit_verified_names(ctx, session);
}

int audit_verified_rest(struct ward_store *st, const struct ward_ledger_resume *from,
	const struct ward_buf *now, struct ward_ledger_resume *next, struct ward_err *err)
{
	ward_cleanup(audit_verified_free) struct audit_verified_set done = {0};
	ward_cleanup_fd int fd = -1;
	int r = next->n ? ward_store_open_ledger(st, &fd, err) : -ENOENT;
	if (r == -ENOENT)
		return 0;
	if (r == 0 && (r = set_of(now, &done)) < 0)
		r = ward_err_sys(err, r, "what was verified");
	return r < 0 ? r : ward_ledger_resume_keep(fd, from, is_settled, &done, next, err);
}
