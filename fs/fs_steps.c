/* SPDX-License-Identifier: Apache-2.0 */
/* Makes steps and goes back to them, while requests are served. */
#include "fs/fs_steps.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "fs/base/request_turn.h"
#include "fs/forget/outside_change.h"
#include "fs/fs_still.h"
#include "fs/gate/steps_attribute.h"
#include "fs/handle/handle.h"
#include "fs/kernel/forget_queue.h"
#include "fs/kernel/passthrough.h"
#include "fs/policy_swap.h"
#include "fs/quota/quota.h"
#include "fs/replay/replay.h"
#include "fs/request/fs_records.h"
#include "fs/resolve/secret_facts.h"
#include "fs/watch/backing_watch.h"

/* Names of a file that is said to watchers to have changed. */
#define PLACES_MAX 8U
/* How long the programs of a session get to stand still. One that asks from inside waits for the
 * answer, and so never does. */
#define STILL_MS 100
#define STILL_INSIDE_MS 10
/* A shorter [review] every is this long. */
#define EVERY_MIN_NS UINT64_C(100000000)

/* What the quotas had in use at a step. */
struct used {
	uint32_t id;
	struct ward_quota_used *v;
};

struct ward_fs_steps {
	struct used used[WARD_STEPS_MAX + 1];
	size_t n_used;
	struct ward_still still;
	/* [review] every. */
	uint64_t seen, marked; /* counts of ward_review_news() */
	uint64_t since_ns;     /* when `seen` came to be */
};

int ward_fs_steps_new(struct ward_fs *fs, struct ward_err *err)
{
	struct ward_fs_steps *s;
	int r;

	if (!fs->review)
		return 0;
	s = calloc(1, sizeof(*s));
	r = s ? ward_steps_queue_new(&fs->steps_queue) : -ENOMEM;
	if (r < 0) {
		free(s);
		return ward_err_sys(err, r, "steps");
	}
	s->still = WARD_STILL_INIT;
	fs->steps = s;
	return 0;
}

void ward_fs_steps_free(struct ward_fs_steps *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_used; i++)
		free(s->used[i].v);
	ward_still_close(&s->still);
	free(s);
}

void ward_fs_steps_freezer(struct ward_fs *fs, uint32_t which, int *fd)
{
	if (fs->steps)
		ward_still_take(&fs->steps->still, which, fd);
}

/* --- held still --- */

static int take_all(struct ward_fs *fs, struct ward_err *err)
{
	for (unsigned i = 0; i < WARD_SWAP_TRIES; i++) {
		const int r = ward_turn_all(fs, WARD_SWAP_TRY_MS);

		if (r != -ETIMEDOUT)
			return r < 0 ? ward_err_sys(err, r, "the step") : 0;
		(void)poll(NULL, 0, WARD_SWAP_TRY_MS);
	}
	return ward_err_set(err, -EBUSY,
		"a request waited for the disk all the time, so there is no step; try again");
}

/* Is the node's content in the kernel's cache, with somebody who may write to it? */
static bool may_be_dirty(struct ward_nodes *nodes, const struct ward_node *node)
{
	bool dirty;

	pthread_mutex_lock(&nodes->lock);
	dirty = node->n_cached && node->n_writing;
	pthread_mutex_unlock(&nodes->lock);
	return dirty;
}

/* What programs stored through mappings of cached files comes to us: the kernel writes it before it
 * drops the pages. Requests are served meanwhile. */
static void flush_mapped(struct ward_fs *fs)
{
	for (size_t i = 0; i < fs->n_trees; i++) {
		struct ward_nodes *nodes = fs->trees[i].nodes;
		uint64_t number = FUSE_ROOT_ID;

		while (fs->trees[i].stages && (number = ward_nodes_next(nodes, number))) {
			struct ward_node *node = ward_nodes_pin(nodes, number);
			const bool dirty = node && may_be_dirty(nodes, node);

			if (node)
				ward_node_unpin(nodes, node);
			if (dirty)
				(void)fuse_lowlevel_notify_inval_inode(
					fs->trees[i].se, number, 0, 0);
		}
	}
}

/* No request is under way, and what programs stored through mappings is in the objects. */
static int take_turn(struct ward_fs *fs, const struct ward_stepper *by, struct ward_err *err)
{
	const bool inside = by->kind == WARD_STEP_AGENT;
	int r;

	/* All that they do elsewhere comes by requests. */
	if (ward_review_is_open(fs->review))
		ward_still_begin(fs, &fs->steps->still, inside ? STILL_INSIDE_MS : STILL_MS);
	flush_mapped(fs);
	r = take_all(fs, err);
	if (r < 0)
		ward_still_end(&fs->steps->still);
	return r;
}

static void end_turn(struct ward_fs *fs)
{
	ward_turn_end(fs);
	ward_still_end(&fs->steps->still);
}

/* --- what quotas had in use --- */

static void note_used(struct ward_fs *fs, uint32_t id)
{
	struct ward_fs_steps *s = fs->steps;
	ward_cleanup_free struct ward_step_seen *seen = NULL;
	size_t n = 0, left = 0;

	if (ward_review_list_steps(fs->review, &seen, &n) < 0)
		return;
	for (size_t i = 0; i < s->n_used; i++) {
		size_t k = 0;

		while (k < n && seen[k].id != s->used[i].id)
			k++;
		if (k < n)
			s->used[left++] = s->used[i];
		else
			free(s->used[i].v);
	}
	s->n_used = left;
	if (s->n_used <= WARD_STEPS_MAX)
		s->used[s->n_used++] = (struct used){.id = id, .v = ward_quotas_used(fs->quotas)};
}

/* Never less than is in use by now: what was given back for what comes again is taken again. */
static void take_used(struct ward_fs *fs, uint32_t id)
{
	const struct ward_fs_steps *s = fs->steps;

	for (size_t i = 0; i < s->n_used; i++)
		if (s->used[i].id == id)
			ward_quotas_use(fs->quotas, s->used[i].v);
}

/* --- a mark --- */

static int mark(struct ward_fs *fs, const struct ward_stepper *by, const char *name,
	uint32_t *ret_id, struct ward_err *err)
{
	const struct ward_step_asked asked = {.kind = by->kind, .name = name, .uid = by->uid};
	struct ward_record_step rec = {.action = "mark", .by = by, .name = name};
	struct ward_steps_news news;
	uint32_t id = 0;
	int r, e;

	r = take_turn(fs, by, err);
	if (r < 0)
		return r;
	r = ward_review_mark(fs->review, &asked, &id, err);
	if (r == 0)
		note_used(fs, id);
	rec.step = id;
	rec.text = r < 0 ? err->text : NULL;
	rec.result = r < 0 ? "refused" : "done";
	e = ward_record_step(fs, &rec);
	/* The next try has the same name. */
	if (r == 0 && e < 0)
		(void)!ward_review_unmark(fs->review, id);
	end_turn(fs);
	ward_review_news(fs->review, &news);
	fs->steps->marked = news.all;
	if (r == 0 && e < 0)
		return ward_err_sys(err, e, "cannot write the trail");
	*ret_id = id;
	return r;
}

/* --- a step back --- */

/* It is no secret to the session, as before. What cannot be remembered is hidden from it. */
static void own(void *user, int fd)
{
	struct ward_fs *fs = user;

	for (size_t i = 0; i < fs->n_trees; i++)
		if (fs->trees[i].stages)
			(void)!ward_secret_own(&fs->trees[i], fd);
}

/* The backing id of a file whose object is another one now. Nobody has it in passthrough. */
static void drop_backing(struct ward_fs *fs, const struct ward_back_done *done)
{
	for (size_t i = 0; i < fs->n_trees; i++) {
		struct ward_nodes *nodes = fs->trees[i].nodes;

		for (size_t k = 0; fs->trees[i].stages && k < done->n_files; k++) {
			struct ward_node *node = ward_nodes_by_id(nodes, &done->files[k], S_IFREG);
			int32_t id = 0;

			if (!node)
				continue;
			ward_handles_fresh(nodes, &done->files[k]);
			pthread_mutex_lock(&nodes->lock);
			if (!node->n_pass && node->backing_id > 0) {
				id = node->backing_id;
				node->backing_id = 0;
			}
			pthread_mutex_unlock(&nodes->lock);
			if (id)
				ward_passthrough_close(&fs->trees[i], id);
			ward_node_unpin(nodes, node);
		}
	}
}

static void forget_number(void *arg, uint64_t number)
{
	(void)arg;
	(void)number;
}

static void forget_entry(void *arg, uint64_t dir, const char *name)
{
	(void)arg;
	(void)dir;
	(void)name;
}

static void forget_removed(void *arg, uint64_t dir, uint64_t gone, const char *name)
{
	(void)gone;
	forget_entry(arg, dir, name);
}

/* The tables learn of names as of changes that others make; watchers inside hear of them. The
 * kernel forgets everything afterwards. */
static void tell_names(struct ward_fs_tree *tree, const struct ward_back_done *done)
{
	const struct ward_forget_calls nothing = {.attr = forget_number,
		.entry = forget_entry,
		.removed = forget_removed,
		.beneath = forget_number};

	for (size_t i = 0; i < done->n_names; i++) {
		struct ward_watch_change c = {.mask = FAN_CREATE | FAN_DELETE,
			.empty = UINT64_MAX,
			.name = done->names[i].name,
			.sure = true};
		struct ward_node *dir = ward_nodes_by_id(tree->nodes, &done->names[i].dir, S_IFDIR);

		if (!dir)
			continue;
		c.dir = ward_node_to_ino(tree->nodes, dir);
		ward_outside_change(tree, &nothing, &c, true);
		ward_node_unpin(tree->nodes, dir);
	}
}

static void tell_files(struct ward_fs_tree *tree, const struct ward_back_done *done)
{
	const struct ward_replay_change change = {.kind = WARD_REPLAY_MODIFY, .type = S_IFREG};
	struct ward_place places[PLACES_MAX];

	for (size_t i = 0; ward_replay_on(tree->fs) && i < done->n_files; i++) {
		struct ward_node *node = ward_nodes_by_id(tree->nodes, &done->files[i], S_IFREG);
		size_t n = node ? ward_node_places(tree->nodes, node, 0, places, PLACES_MAX) : 0;

		for (size_t k = 0; k < n; k++) {
			ward_replay_put(tree, places[k].parent, places[k].name, &change);
			ward_place_put(tree->nodes, &places[k]);
		}
		if (node)
			ward_node_unpin(tree->nodes, node);
	}
}

static bool tell(struct ward_fs *fs, const struct ward_back_done *done)
{
	const uint64_t until = ward_clock_mono_ns() + WARD_STEPS_FORGET_MS * UINT64_C(1000000);
	uint64_t ticket[WARD_TREES_MAX];
	bool forgotten = true;

	for (size_t i = 0; i < fs->n_trees; i++) {
		atomic_fetch_add(&fs->trees[i].outside_seq, 1);
		if (fs->trees[i].stages)
			tell_names(&fs->trees[i], done);
		ticket[i] = ward_forget_everything(fs->trees[i].forget);
	}
	for (size_t i = 0; i < fs->n_trees; i++)
		forgotten = ward_forget_wait(fs->trees[i].forget, ticket[i], until) && forgotten;
	for (size_t i = 0; i < fs->n_trees; i++)
		if (fs->trees[i].stages)
			tell_files(&fs->trees[i], done);
	return forgotten;
}

/* "3", or a name. 0: there is no such step. */
static uint32_t number_of(const struct ward_fs *fs, const char *step)
{
	ward_cleanup_free struct ward_step_seen *v = NULL;
	char *end = NULL;
	const unsigned long n = *step >= '0' && *step <= '9' ? strtoul(step, &end, 10) : 0;
	size_t count = 0;

	if (ward_review_list_steps(fs->review, &v, &count) < 0)
		return 0;
	for (size_t i = 0; i < count; i++)
		if (end ? !*end && v[i].id == n : *step && !strcmp(v[i].name, step))
			return v[i].id;
	return 0;
}

static int back_to(struct ward_fs *fs, const struct ward_stepper *by, const char *step,
	struct ward_back_done *ret_done, bool *ret_forgotten, struct ward_err *err)
{
	const struct ward_step_asked asked = {.kind = by->kind, .uid = by->uid};
	struct ward_record_step rec = {.action = "back", .by = by, .result = "begun"};
	const struct ward_back_calls calls = {.gate = ward_gate_back, .own = own, .user = fs};
	const uint32_t id = number_of(fs, step);
	ward_cleanup(ward_buf_clear) struct ward_buf said = WARD_BUF_INIT;
	int r;

	if (!id) {
		ward_escape(&said, step, strnlen(step, WARD_STEP_NAME_MAX));
		return ward_err_set(err, -ENOENT, "there is no step '%s'", ward_buf_str(&said));
	}
	r = take_turn(fs, by, err);
	if (r < 0)
		return r;
	rec.step = id;
	r = ward_record_step(fs, &rec);
	if (r < 0)
		ward_err_sys(err, r, "cannot write the trail");
	else
		r = ward_review_back(fs->review, id, &asked, &calls, ret_done, err);
	if (ret_done->before) {
		note_used(fs, ret_done->before);
		take_used(fs, id);
		drop_backing(fs, ret_done);
	}
	rec.result = r < 0 ? "refused" : "done";
	rec.text = r < 0 ? err->text : NULL;
	rec.before = ret_done->before;
	rec.names = ret_done->n_names;
	rec.files = ret_done->n_files;
	/* It is done: a trail that fails here fails all that follows. */
	(void)!ward_record_step(fs, &rec);
	end_turn(fs);
	if (ret_done->before)
		*ret_forgotten = tell(fs, ret_done);
	return r;
}

/* --- asked from outside --- */

static void say_error(struct ward_buf *b, const char *text)
{
	ward_buf_puts(b, "{\"error\":");
	ward_escape_json(b, text, strlen(text));
	ward_buf_putc(b, '}');
}

static void say_steps(struct ward_fs *fs, struct ward_buf *b)
{
	ward_cleanup_free struct ward_step_seen *v = NULL;
	struct ward_steps_news news;
	size_t n = 0;

	if (ward_review_list_steps(fs->review, &v, &n) < 0) {
		say_error(b, "wardfs-fs has no memory for the answer");
		return;
	}
	ward_review_news(fs->review, &news);
	ward_buf_puts(b, "{\"ok\":true,\"steps\":[");
	for (size_t i = 0; i < n; i++) {
		ward_buf_printf(b,
			"%s{\"step\":%u,\"kind\":\"%c\",\"time\":%llu,\"uid\":%u,"
			"\"changes\":%llu,\"name\":",
			i ? "," : "", v[i].id, (char)v[i].kind, (unsigned long long)v[i].time_ns,
			v[i].uid, (unsigned long long)v[i].changes);
		ward_escape_json(b, v[i].name, strlen(v[i].name));
		ward_buf_putc(b, '}');
	}
	ward_buf_printf(b, "],\"changes\":%llu,\"backs\":%llu}", (unsigned long long)news.changes,
		(unsigned long long)news.n_backs);
}

static void mark_asked(
	struct ward_fs *fs, const struct ward_stepper *by, const char *name, struct ward_buf *ret)
{
	struct ward_err err = WARD_ERR_INIT;
	uint32_t id = 0;

	if (mark(fs, by, *name ? name : NULL, &id, &err) < 0)
		say_error(ret, err.text);
	else
		ward_buf_printf(ret, "{\"ok\":true,\"step\":%u}", id);
}

static void back_asked(
	struct ward_fs *fs, const struct ward_stepper *by, const char *step, struct ward_buf *ret)
{
	ward_cleanup(ward_back_done_clear) struct ward_back_done done = {.before = 0};
	struct ward_err err = WARD_ERR_INIT;
	bool forgotten = false;

	if (back_to(fs, by, step, &done, &forgotten, &err) < 0)
		say_error(ret, err.text);
	else
		ward_buf_printf(ret,
			"{\"ok\":true,\"before\":%u,\"names\":%zu,\"files\":%zu,\"forgotten\":%s}",
			done.before, done.n_names, done.n_files, forgotten ? "true" : "false");
}

void ward_fs_steps_message(struct ward_fs *fs, struct ward_msg_reader *r, struct ward_buf *ret)
{
	const uint32_t what = ward_msg_get_u32(r);
	struct ward_stepper by = {.kind = WARD_STEP_OWNER};
	ward_cleanup_free char *text = NULL;

	by.uid = ward_msg_get_u32(r);
	text = ward_msg_get_str(r);
	if (!text || ward_msg_done(r) < 0) {
		say_error(ret, "the message is not valid");
		return;
	}
	if (!fs->steps) {
		say_error(ret, "this session does not stage its changes (wardfs run --review)");
		return;
	}
	switch (what) {
	case WARD_FS_STEP_LIST:
		say_steps(fs, ret);
		return;
	case WARD_FS_STEP_EXEC:
		by.kind = WARD_STEP_EXEC;
		mark_asked(fs, &by, "", ret);
		return;
	case WARD_FS_STEP_MARK:
		mark_asked(fs, &by, text, ret);
		return;
	case WARD_FS_STEP_BACK:
		back_asked(fs, &by, text, ret);
		return;
	default:
		say_error(ret, "the message is not valid");
		return;
	}
}

/* --- in the main loop --- */

int ward_fs_steps_fd(const struct ward_fs *fs)
{
	return ward_steps_queue_fd(fs->steps_queue);
}

/* [review] every, in ns; 0: none. */
static uint64_t every(const struct ward_fs *fs)
{
	const uint64_t ns = ward_policy_settings(fs->policy)->review_every_ns;

	return ns == WARD_UNLIMITED ? 0 : ns < EVERY_MIN_NS ? EVERY_MIN_NS : ns;
}

int ward_fs_steps_timeout(const struct ward_fs *fs)
{
	const uint64_t ms = fs->steps ? every(fs) / 2000000U : 0;

	return !ms ? -1 : ms > INT_MAX ? INT_MAX : (int)ms;
}

/* A mark once nothing has changed for that long, if anything has since the last one. */
static void tick_quiet(struct ward_fs *fs)
{
	const struct ward_stepper by = {.kind = WARD_STEP_QUIET};
	struct ward_fs_steps *s = fs->steps;
	const uint64_t now = ward_clock_mono_ns();
	struct ward_err err = WARD_ERR_INIT;
	struct ward_steps_news news;
	uint32_t id;

	ward_review_news(fs->review, &news);
	if (news.all != s->seen) {
		s->seen = news.all;
		s->since_ns = now;
	}
	if (news.all == s->marked || now - s->since_ns < every(fs))
		return;
	/* One that fails is not tried again before the next change. */
	s->marked = news.all;
	(void)!mark(fs, &by, NULL, &id, &err);
}

static void serve(struct ward_fs *fs, const struct ward_steps_waiter *w)
{
	ward_cleanup(ward_back_done_clear) struct ward_back_done done = {.before = 0};
	struct ward_err err = WARD_ERR_INIT;
	bool forgotten;
	uint32_t id;
	int r;

	if (w->back)
		r = back_to(fs, &w->by, w->text, &done, &forgotten, &err);
	else
		r = mark(fs, &w->by, *w->text ? w->text : NULL, &id, &err);
	(void)fuse_reply_err(w->req, r < 0 ? -r : 0);
}

void ward_fs_steps_tick(struct ward_fs *fs)
{
	struct ward_steps_waiter w;

	if (!fs->steps)
		return;
	/* One a round: whoever asks without end keeps nobody else waiting. */
	if (ward_steps_take(fs->steps_queue, &w))
		serve(fs, &w);
	if (every(fs))
		tick_quiet(fs);
}
