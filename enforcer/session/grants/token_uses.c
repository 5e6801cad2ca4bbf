/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a host about tokens, and lists of revoked ones. */
#include "enforcer/session/grants/token_uses.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

#define FILE_NAME "tokens"
#define NEW_NAME "tokens.new"
#define LOCK_NAME "tokens.lock"
/* Some 10,000 tokens whose uses are counted; expired ones are dropped. */
#define FILE_MAX (1U << 20)
#define LIST_MAX (1U << 20)
/* The file is held for as long as it takes to write it. */
#define LOCK_SECONDS 2

struct seen {
	int lock;
	json_t *o;
};

static void seen_close(struct seen *s)
{
	json_decref(s->o);
	if (s->lock >= 0)
		close(s->lock);
}

static bool shape(const json_t *o)
{
	return json_is_object(o) && json_is_integer(json_object_get(o, "seen")) &&
	       json_is_object(json_object_get(o, "used")) &&
	       json_is_array(json_object_get(o, "revoked"));
}

/* Locked until it is closed. */
static int seen_open(int dir, struct seen *s, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	s->lock = ward_fd_make_regular(dir, LOCK_NAME, O_RDWR, 0600);
	int r = s->lock < 0 ? s->lock : ward_fd_lock(s->lock, LOCK_EX, LOCK_SECONDS);
	if (r == 0 && (fd = ward_fd_open_regular(dir, FILE_NAME, O_RDONLY)) < 0)
		r = fd;
	if (r == -ENOENT && s->lock >= 0) {
		s->o = json_pack("{s:i, s:{}, s:[]}", "seen", 0, "used", "revoked");
		return s->o ? 0 : ward_err_sys(err, -ENOMEM, "tokens");
	}
	if (r == 0)
		r = ward_fd_read_all(fd, FILE_MAX, &b);
	if (r < 0)
		return ward_err_sys(err, r, "the file '%s' of the state directory", FILE_NAME);
	s->o = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
	return shape(s->o) ? 0
			   : ward_err_set(err, -EIO,
				     "the file '%s' of the state directory is damaged", FILE_NAME);
}

/* An expired token needs no counting. */
static void drop_old(json_t *used, uint64_t now_s)
{
	const char *id = NULL;
	json_t *one = NULL;
	void *next = NULL;
	json_object_foreach_safe(used, next, id, one)
	{
		if ((uint64_t)json_integer_value(json_array_get(one, 1)) <= now_s)
			json_object_del(used, id);
	}
}

static int seen_write(int dir, const struct seen *s, struct ward_err *err)
{
	ward_cleanup_free char *text = json_dumps(s->o, JSON_COMPACT);
	int r = text ? 0 : -ENOMEM;
	if (r == 0 && strlen(text) > FILE_MAX)
		r = -EFBIG;
	(void)unlinkat(dir, NEW_NAME, 0);
	ward_cleanup_fd int fd =
		r < 0 ? -1 : openat(dir, NEW_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (r == 0 && fd < 0)
		r = -errno;
	if (r == 0)
		r = ward_fd_write_all(fd, text, strlen(text));
	if (r == 0 && (fsync(fd) < 0 || renameat(dir, NEW_NAME, dir, FILE_NAME) < 0))
		r = -errno;
	/* On the disk before the token gives anything. */
	ward_cleanup_fd int d = r < 0 ? -1 : openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r == 0 && (d < 0 || fsync(d) < 0))
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "the file '%s' of the state directory", FILE_NAME) : 0;
}

static bool has_id(const json_t *list, const char *id)
{
	const json_t *one = NULL;
	size_t i = 0;
	json_array_foreach(list, i, one)
	{
		const char *s = json_string_value(one);
		if (s && strcmp(s, id) == 0)
			return true;
	}
	return false;
}

static int revoked(const char *id, struct ward_err *err)
{
	return ward_err_set(err, -EPERM, "the token %s was revoked", id);
}

static uint64_t used_of(const json_t *used, const char *id)
{
	const json_t *n = json_array_get(json_object_get(used, id), 0);
	const json_int_t v = json_integer_value(n);
	/* A number that nobody wrote here gives nothing. */
	return json_object_get(used, id) && (!json_is_integer(n) || v < 0) ? UINT32_MAX
									   : (uint64_t)v;
}

/* Of each block that has uses, its own: two that were narrowed from one share its uses. */
static int take(json_t *used, const struct ward_grant_token *t, uint32_t want, uint32_t *ret,
	struct ward_err *err)
{
	uint64_t left = UINT64_MAX;
	/* It is presented once: else it would undo `wardfs revoke`. */
	if (t->gives.lifts && used_of(used, t->blocks[0].id))
		return ward_err_set(err, -EDQUOT, "the break-glass token was presented before");
	for (size_t i = 0; i < t->n; i++) {
		const struct ward_token_block *b = &t->blocks[i];
		const uint64_t n = b->uses ? used_of(used, b->id) : 0;
		if (b->uses && (n >= b->uses ? 0 : b->uses - n) < left)
			left = n >= b->uses ? 0 : b->uses - n;
	}
	if (left == 0)
		return ward_err_set(err, -EDQUOT, "no use of the token is left on this host");
	if (want > left)
		return ward_err_set(err, -EDQUOT,
			"the token has %llu uses left on this host, and %u were asked for",
			(unsigned long long)left, want);
	const uint32_t n = want ? want : left == UINT64_MAX ? 0 : (uint32_t)left;
	for (size_t i = 0; i < t->n; i++) {
		const struct ward_token_block *b = &t->blocks[i];
		if (!b->uses && !b->lifts)
			continue;
		json_t *one = json_pack("[I, I]",
			(json_int_t)(b->lifts ? UINT32_MAX : used_of(used, b->id) + n),
			(json_int_t)t->blocks[0].until_s);
		if (!one || json_object_set_new(used, b->id, one) < 0)
			return ward_err_sys(err, -ENOMEM, "tokens");
	}
	*ret = n;
	return 0;
}

int ward_token_take(struct ward_store *st, const struct ward_grant_token *t, uint32_t want,
	uint64_t *now_s, uint32_t *ret_uses, struct ward_err *err)
{
	const int dir = ward_store_dir(st);
	ward_cleanup(seen_close) struct seen s = {.lock = -1};
	uint32_t uses = 0;
	int r = seen_open(dir, &s, err);
	if (r < 0)
		return r;
	const json_int_t before = json_integer_value(json_object_get(s.o, "seen"));
	if (before > 0 && (uint64_t)before > *now_s)
		*now_s = (uint64_t)before;
	for (size_t i = 0; i < t->n; i++)
		if (has_id(json_object_get(s.o, "revoked"), t->blocks[i].id))
			return revoked(t->blocks[i].id, err);
	if (*now_s >= t->gives.until_s)
		return ward_err_set(err, -EPERM, "the token's time is over");
	drop_old(json_object_get(s.o, "used"), *now_s);
	r = take(json_object_get(s.o, "used"), t, want, &uses, err);
	if (r < 0)
		return r;
	json_object_set_new(s.o, "seen", json_integer((json_int_t)*now_s));
	r = seen_write(dir, &s, err);
	if (r == 0)
		*ret_uses = uses;
	return r;
}

int ward_token_revoke(struct ward_store *st, const char *id, struct ward_err *err)
{
	const int dir = ward_store_dir(st);
	ward_cleanup(seen_close) struct seen s = {.lock = -1};
	if (!ward_token_id_valid(id))
		return ward_err_set(err, -EINVAL, "'%s' is not the id of a token", id);
	int r = seen_open(dir, &s, err);
	if (r < 0 || has_id(json_object_get(s.o, "revoked"), id))
		return r;
	if (json_array_append_new(json_object_get(s.o, "revoked"), json_string(id)) < 0)
		return ward_err_sys(err, -ENOMEM, "tokens");
	return seen_write(dir, &s, err);
}

/* One answer for every file that is not a list: the presenter of a token learns no more of it. */
static int no_list(const char *path, struct ward_err *err)
{
	return ward_err_set(err, -EBADMSG,
		"%s is missing, cannot be read, or has a line that is no id of a token: "
		"[approvals] revoked names it, so no token is accepted",
		path);
}

int ward_token_listed(const char *path, const struct ward_grant_token *t, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	struct ward_err why = WARD_ERR_INIT;
	if (ward_fd_open_named(path, WARD_NAMED_FILE, &fd, &why) < 0 ||
		ward_fd_read_all(fd, LIST_MAX, &b) < 0)
		return no_list(path, err);
	for (const char *p = b.data, *end = p + b.len, *nl = NULL; p && p < end; p = nl + 1) {
		char id[WARD_GRANT_TOKEN_ID_SIZE] = "";
		nl = memchr(p, '\n', (size_t)(end - p));
		nl = nl ? nl : end;
		if (p == nl || *p == '#')
			continue;
		if ((size_t)(nl - p) == sizeof(id) - 1)
			memcpy(id, p, sizeof(id) - 1);
		if (!ward_token_id_valid(id))
			return no_list(path, err);
		for (size_t i = 0; i < t->n; i++)
			if (strcmp(id, t->blocks[i].id) == 0)
				return revoked(id, err);
	}
	return 0;
}
