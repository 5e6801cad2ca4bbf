/* SPDX-License-Identifier: Apache-2.0 */
/* Removes trails whose time is over, and compresses what stays. */
#include "audit/verify/prune.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/frames.h"
#include "audit/log/segments.h"
#include "audit/write/ledger.h"
#include "enforcer/base/cleanup.h"

/* Of one start. */
#define DAILY_MAX 16
#define DAY ((uint64_t)24 * 60 * 60)

/* Seconds. No start takes nearly so long: a supervisor gives up long before. */
#define STARTING 3600

struct prune {
	struct ward_store *st;
	uint8_t root[WARD_KEY_BYTES];
	struct ward_ledger_view ledger;
	struct ward_prune_result result;
	int error; /* the first */
	struct ward_err err;
};

/* A later failure does not hide the first one. */
static void note(struct prune *p, int r, const struct ward_err *err)
{
	if (r >= 0 || p->error < 0)
		return;
	p->error = r;
	p->err = *err;
}

int ward_prune_sign(struct ward_store *st, const char *kind, const struct ward_ledger_session *s,
	struct ward_gone *ret, struct ward_err *err)
{
	uint8_t seed[WARD_KEY_BYTES];
	struct ward_signing_key key;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_ledger_gone_text(&text, kind, s->name, s->records, s->last);
	int r = ward_buf_error(&text);
	if (r < 0)
		return ward_err_sys(err, r, "ledger");
	r = ward_store_read_seed(st, seed, err);
	if (r < 0)
		return r;
	ward_signing_key_from_seed(seed, &key);
	ward_signing_key_sign(&key, text.data, text.len, ret->signature);
	ward_public_key_print(&key.pub, ret->pub);
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(&key, sizeof(key));
	return 0;
}

/* The entry comes first: a trail that is gone without one is missing. */
static int tell(struct prune *p, const struct ward_ledger_session *s, struct ward_err *err)
{
	struct ward_gone gone;
	ward_cleanup(ward_ledger_files_close) struct ward_ledger_files files =
		WARD_LEDGER_FILES_INIT;
	int r = ward_prune_sign(p->st, "expired", s, &gone, err);
	if (r == 0)
		r = ward_store_extend_ledger(p->st, &files, err);
	return r < 0 ? r
		     : ward_ledger_expired(
			       &files, p->root, s->name, s->records, gone.pub, gone.signature, err);
}

static bool is_over(const struct ward_ledger_session *s, uint64_t now_s)
{
	const uint64_t until = ward_ledger_kept_until(s);
	return until > 0 && now_s >= until;
}

/* 1: its time is over, and it went. */
static int expire(struct prune *p, const struct ward_ledger_session *s, uint64_t now_s)
{
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	if (s->removed || s->held || !is_over(s, now_s))
		return 0;
	/* A session without a trail is `missing`, and stays so. */
	int r = ward_store_open_log(p->st, s->name, &log, &err);
	if (r == -ENOENT || (r == 0 && ward_log_has_writer(log)))
		return 0;
	/* Somebody was interrupted behind the entry. */
	if (r == 0 && !s->expired)
		r = tell(p, s, &err);
	if (r == 0)
		r = ward_store_remove_session(p->st, s->name, &err);
	note(p, r, &err);
	return r == 0;
}

static int pack_segment(struct prune *p, int dir_fd, unsigned number, struct ward_err *err)
{
	ward_cleanup_fd int from = -1;
	ward_cleanup_fd int to = -1;
	struct stat before = {0};
	struct stat after = {0};
	int r = ward_segment_pack_begin(dir_fd, number, &from, &to);
	if (r == -EBUSY || r == -ENOENT)
		return 0;
	if (r < 0)
		return ward_err_sys(err, r, "segment %u", number);
	r = ward_frames_pack(from, to);
	if (r == 0 && (fstat(from, &before) < 0 || fstat(to, &after) < 0))
		r = -errno;
	if (r == 0)
		r = ward_segment_pack_end(dir_fd, number);
	else
		ward_segment_pack_drop(dir_fd, number);
	/* A file with a partial line stays as it is: verify reports it. */
	if (r == -EBADMSG)
		return 0;
	if (r < 0)
		return ward_err_sys(err, r, "segment %u", number);
	p->result.packed++;
	p->result.before += (uint64_t)before.st_size;
	p->result.after += (uint64_t)after.st_size;
	return 0;
}

static void pack_session(struct prune *p, const char *name)
{
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup_free struct ward_segment *v = NULL;
	ward_cleanup_fd int dir = -1;
	size_t n = 0;
	int r = ward_store_open_log(p->st, name, &log, &err);
	if (r == -ENOENT || (r == 0 && ward_log_has_writer(log)))
		return;
	if (r == 0)
		r = ward_store_open_session(p->st, name, &dir, &err);
	if (r == 0 && (r = ward_segments_list(dir, &v, &n)) < 0)
		(void)ward_err_sys(&err, r, "%s", name);
	for (size_t i = 0; r == 0 && i < n; i++) {
		/* Made for a writer that did not need it any more. */
		if (v[i].number > 1)
			ward_segment_unused(dir, v[i].number);
		if (!v[i].plain)
			continue;
		r = pack_segment(p, dir, v[i].number, &err);
		if (r < 0)
			(void)ward_err_wrap(&err, "%s", name);
	}
	note(p, r, &err);
}

static bool in_ledger(const void *user, const char *session)
{
	const struct prune *p = user;
	for (size_t i = 0; i < p->ledger.n; i++)
		if (strcmp(p->ledger.v[i].name, session) == 0)
			return true;
	return false;
}

int ward_prune(struct ward_store *st, uint64_t now_s, uint64_t max, bool pack,
	struct ward_prune_result *ret, struct ward_err *err)
{
	struct prune p = {.st = st, .err = WARD_ERR_INIT};
	ward_cleanup_fd int fd = -1;
	ward_cleanup_fd int notes_fd = -1;
	int r = ward_store_read_key(st, p.root, err);
	if (r == 0)
		r = ward_store_open_ledger(st, &fd, err);
	if (r == -ENOENT) {
		*ret = p.result;
		return 0; /* no session yet */
	}
	if (r == 0)
		r = ward_store_open_ledger_checkpoints(st, &notes_fd, NULL);
	if (r == 0 || r == -ENOENT)
		r = ward_verify_ledger(fd, notes_fd, p.root, &p.ledger, err);
	if (r < 0)
		return r;
	/* The missing end may have put a trail on hold. */
	if (p.ledger.result.state == WARD_VERIFY_TRUNCATED)
		max = 0;
	for (size_t i = 0; i < p.ledger.n && p.result.expired < max; i++)
		p.result.expired += (uint64_t)expire(&p, &p.ledger.v[i], now_s);
	for (size_t i = 0; pack && i < p.ledger.n; i++)
		if (p.ledger.v[i].ended)
			pack_session(&p, p.ledger.v[i].name);
	ward_store_drop_unborn(st, now_s > STARTING ? now_s - STARTING : 0, in_ledger, &p);
	ward_chain_wipe(p.root, sizeof(p.root));
	ward_ledger_view_free(&p.ledger);
	*ret = p.result;
	if (p.error < 0)
		*err = p.err;
	return p.error;
}

void ward_prune_daily(struct ward_store *st)
{
	struct ward_prune_result res = {0};
	struct ward_err err = WARD_ERR_INIT;
	uint64_t now = (uint64_t)time(NULL);
	if (!ward_store_daily(st, now, DAY))
		return;
	if (ward_prune(st, now, DAILY_MAX, false, &res, &err) < 0 || res.expired < DAILY_MAX)
		return;
	ward_store_daily_again(st);
}
