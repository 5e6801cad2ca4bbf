/* SPDX-License-Identifier: Apache-2.0 */
/* Puts grants in force and ends them. */
#include "fs/fs_grants.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/policy/grants.h"
#include "fs/kernel/forget_queue.h"
#include "fs/request/fs_records.h"
#include "fs/request/questions.h"

/* Room for the end of an answer. */
#define ANSWER_TAIL 64U

int ward_fs_grants_new(struct ward_fs *fs, struct ward_err *err)
{
	int r = ward_grants_new(&fs->grants);

	return r < 0 ? ward_err_sys(err, r, "grants") : 0;
}

/* Names that came or went, and pages of what was open. True: the kernel has forgotten. */
static bool changed(struct ward_fs *fs, unsigned ms)
{
	const uint64_t until = ward_clock_mono_ns() + ms * UINT64_C(1000000);
	uint64_t ticket[WARD_TREES_MAX];
	bool done = true;

	for (size_t i = 0; i < fs->n_trees; i++) {
		/* Nothing prepared before the request is used. */
		atomic_fetch_add(&fs->trees[i].outside_seq, 1);
		ticket[i] = ward_forget_everything(fs->trees[i].forget);
	}
	for (size_t i = 0; i < fs->n_trees; i++)
		done = ward_forget_wait(fs->trees[i].forget, ticket[i], until) && done;
	return done;
}

static void say_error(struct ward_buf *b, const char *text)
{
	ward_buf_puts(b, "{\"error\":");
	ward_escape_json(b, text, strlen(text));
	ward_buf_putc(b, '}');
}

static void say_ok(struct ward_buf *b, bool forgotten)
{
	ward_buf_printf(b, "{\"ok\":true,\"forgotten\":%s}", forgotten ? "true" : "false");
}

void ward_fs_grant(struct ward_fs *fs, struct ward_msg_reader *r, struct ward_buf *ret)
{
	ward_cleanup(ward_grant_clear) struct ward_grant g = {.rights = 0};
	struct ward_err err = WARD_ERR_INIT;
	int e = ward_grant_get(r, &g);

	if (e == 0)
		e = ward_msg_done(r);
	if (e < 0)
		ward_err_sys(&err, e, "grant");
	if (e == 0)
		e = ward_grants_add(fs->grants, &g, NULL, &err);
	if (e < 0)
		say_error(ret, err.text);
	else
		say_ok(ret, changed(fs, WARD_GRANT_GIVE_MS));
	/* Requests that wait for a person are decided again; after an answer, when it is recorded.
	 */
	if (e == 0 && !ward_question_answers(fs, g.id))
		ward_question_ended(fs, 0, 0, false, 0);
}

void ward_fs_revoke(struct ward_fs *fs, struct ward_msg_reader *r, struct ward_buf *ret)
{
	ward_cleanup_free char *id = ward_msg_get_str(r);

	if (!id || ward_msg_done(r) < 0) {
		say_error(ret, "the message is not valid");
	} else if (ward_grants_revoke(fs->grants, id) < 0) {
		say_error(ret, "it had ended before");
	} else {
		ward_fs_grants_tick(fs);
		say_ok(ret, true);
	}
}

int ward_fs_grants_timeout(const struct ward_fs *fs)
{
	const uint64_t next =
		ward_grants_any(fs->grants) ? ward_grants_next_end(fs->grants) : UINT64_MAX;
	uint64_t now, ms;

	if (next == UINT64_MAX)
		return -1;
	now = ward_clock_boot_ns();
	if (next <= now)
		return 0;
	ms = (next - now) / 1000000 + 1;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

struct ended {
	struct ward_fs *fs;
	size_t n;
};

static void on_ended(void *user, struct ward_grant_held *held, enum ward_grant_end end)
{
	struct ended *e = user;

	/* The last use has reported itself; the supervisor reports what a person revoked. */
	if (end == WARD_GRANT_SPENT)
		return;
	e->n++;
	/* A trail that failed fails everything that follows in the session, too. */
	if (end == WARD_GRANT_EXPIRED)
		(void)!ward_record_expire(e->fs, held, ward_grant_end_name(end));
}

void ward_fs_grants_tick(struct ward_fs *fs)
{
	struct ended e = {.fs = fs};

	ward_grants_ended(fs->grants, ward_clock_boot_ns(), on_ended, &e);
	if (e.n)
		(void)changed(fs, WARD_GRANT_END_MS);
}

struct listing {
	struct ward_buf *buf;
	uint64_t now_ns;
	size_t n, more;
};

static void list_one(void *user, const struct ward_grant_held *held)
{
	struct listing *l = user;

	if (l->buf->len + ANSWER_TAIL * 2 > WARD_FS_ANSWER_MAX) {
		l->more++;
		return;
	}
	ward_buf_printf(l->buf, "%s[\"%s\",%u,\"%s\"]", l->n++ ? "," : "", held->grant.id,
		atomic_load(&held->used), ward_grant_end_name(ward_held_end(held, l->now_ns)));
}

int ward_fs_grants_query(struct ward_fs *fs, struct ward_buf *ret)
{
	struct listing l = {.buf = ret, .now_ns = ward_clock_boot_ns()};

	ward_buf_puts(ret, "{\"grants\":[");
	ward_grants_each(fs->grants, list_one, &l);
	ward_buf_printf(ret, "],\"more\":%zu}", l.more);
	return ward_buf_error(ret);
}
