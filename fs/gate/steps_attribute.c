/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of steps: texts, and a queue. */
#include "fs/gate/steps_attribute.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "fs/gate/why_attribute.h"

#define LIST_MAX (60U << 10)

struct ward_steps_queue {
	int fd; /* eventfd */
	pthread_mutex_t lock;
	struct ward_steps_waiter v[WARD_STEPS_WAITERS]; /* protected by lock */
	size_t n;
};

int ward_steps_queue_new(struct ward_steps_queue **ret)
{
	struct ward_steps_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return -ENOMEM;
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0) {
		free(q);
		return -errno;
	}
	pthread_mutex_init(&q->lock, NULL);
	*ret = q;
	return 0;
}

void ward_steps_queue_free(struct ward_steps_queue *q)
{
	if (!q)
		return;
	close(q->fd);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

int ward_steps_queue_fd(const struct ward_steps_queue *q)
{
	return q ? q->fd : -1;
}

/* --- looked at --- */

static const char *kind_word(enum ward_step_kind kind)
{
	switch (kind) {
	case WARD_STEP_NONE:
		break;
	case WARD_STEP_OWNER:
		return "asked for from outside";
	case WARD_STEP_AGENT:
		return "asked for from inside";
	case WARD_STEP_EXEC:
		return "start of wardfs exec";
	case WARD_STEP_QUIET:
		return "the tree was quiet";
	case WARD_STEP_BACK:
		return "before a step back";
	}
	return "?";
}

static void put_status(struct ward_fs *fs, struct ward_buf *ret)
{
	struct ward_steps_news news;
	char when[WARD_CLOCK_TEXT_MAX];

	ward_review_news(fs->review, &news);
	ward_buf_printf(ret,
		"session %s\nchanges since the last step: %llu\nlast step: ", fs->session,
		(unsigned long long)news.changes);
	if (news.last)
		ward_buf_printf(ret, "%u\n", news.last);
	else
		ward_buf_puts(ret, "none\n");
	ward_buf_printf(ret, "backs: %llu\n", (unsigned long long)news.n_backs);
	if (!news.n_backs)
		return;
	ward_clock_format(news.time_ns, when);
	ward_buf_printf(ret, "last back: to step %u, %s, %s\n", news.to, kind_word(news.by), when);
}

static void put_steps(struct ward_fs *fs, struct ward_buf *ret)
{
	ward_cleanup_free struct ward_step_seen *v = NULL;
	char when[WARD_CLOCK_TEXT_MAX];
	size_t n = 0;

	if (ward_review_list_steps(fs->review, &v, &n) < 0)
		ret->error = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ward_clock_format(v[i].time_ns, when);
		ward_buf_printf(ret, "%u\t%s\t%llu\t%s\t%s\n", v[i].id, when,
			(unsigned long long)v[i].changes, kind_word(v[i].kind), v[i].name);
	}
}

struct list {
	struct ward_fs *fs;
	struct ward_buf *ret;
	size_t more;
};

/* What the policy hides from the session is in none of its lists. */
static bool may_see(struct ward_fs *fs, const char *path, mode_t type)
{
	const struct ward_state *state = NULL;
	struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_STAT};
	bool may;

	if (ward_policy_walk(fs->policy, path, strlen(path), &state) < 0)
		return false;
	req.state = state;
	req.flags = S_ISDIR(type) ? WARD_REQUEST_DIR : 0;
	may = ward_policy_decide(fs->policy, &req, NULL).verdict == WARD_VERDICT_ALLOW;
	ward_policy_state_put(fs->policy, state);
	return may;
}

static bool put_change(void *user, char letter, size_t root, const char *path, mode_t type)
{
	struct list *l = user;
	ward_cleanup_free char *full = NULL;
	const char *top = root < l->fs->n_trees ? l->fs->trees[root].path : NULL;

	if (!top || asprintf(&full, "%s/%s", strcmp(top, "/") ? top : "", path) < 0)
		return true;
	if (!may_see(l->fs, full, type))
		return true;
	if (l->ret->len + 5 * strlen(full) + 64 > LIST_MAX) {
		l->more++;
		return true;
	}
	ward_buf_printf(l->ret, "%c ", letter);
	ward_escape(l->ret, full, strlen(full));
	ward_buf_putc(l->ret, '\n');
	return true;
}

static void put_changes(struct ward_fs *fs, struct ward_buf *ret)
{
	struct list l = {.fs = fs, .ret = ret};
	const int r = ward_review_each_change(fs->review, put_change, &l);

	if (r < 0)
		ret->error = r;
	else if (l.more)
		ward_buf_printf(ret, "and %zu more\n", l.more);
}

int ward_steps_get(struct ward_fs *fs, const char *name, struct ward_buf *ret)
{
	static const struct {
		const char *name;
		void (*put)(struct ward_fs *fs, struct ward_buf *ret);
	} v[] = {{WARD_WHY_PREFIX "status", put_status}, {WARD_WHY_PREFIX "steps", put_steps},
		{WARD_WHY_PREFIX "changes", put_changes}};

	for (size_t i = 0; fs->steps_queue && i < sizeof(v) / sizeof(*v); i++)
		if (!strcmp(name, v[i].name)) {
			v[i].put(fs, ret);
			return ward_buf_error(ret);
		}
	return -ENODATA;
}

/* --- asked for --- */

int ward_steps_ask(struct ward_op *op, const char *name, const char *value, size_t size)
{
	struct ward_fs *fs = op->tree->fs;
	struct ward_steps_waiter w = {
		.req = op->req, .by = {.kind = WARD_STEP_AGENT, .pid = op->pid, .uid = op->uid}};
	struct ward_steps_queue *in = fs->steps_queue;
	const uint64_t one = 1;
	int r = 0;

	w.back = !strcmp(name, WARD_WHY_PREFIX "back");
	if (!in || (!w.back && strcmp(name, WARD_WHY_PREFIX "mark") != 0))
		return -EPERM;
	/* Programs send text with its NUL, or without. */
	if (size && !value[size - 1])
		size--;
	if (size > WARD_STEP_NAME_MAX || memchr(value, '\0', size))
		return -EINVAL;
	memcpy(w.text, value, size);
	pthread_mutex_lock(&in->lock);
	if (in->n == WARD_STEPS_WAITERS)
		r = -EAGAIN;
	else
		in->v[in->n++] = w;
	pthread_mutex_unlock(&in->lock);
	if (r == 0)
		(void)!write(in->fd, &one, sizeof(one));
	return r;
}

bool ward_steps_take(struct ward_steps_queue *q, struct ward_steps_waiter *ret)
{
	const uint64_t one = 1;
	uint64_t count;
	bool some;

	(void)!read(q->fd, &count, sizeof(count));
	pthread_mutex_lock(&q->lock);
	some = q->n > 0;
	if (some) {
		*ret = q->v[0];
		memmove(q->v, q->v + 1, --q->n * sizeof(*q->v));
	}
	if (q->n)
		(void)!write(q->fd, &one, sizeof(one));
	pthread_mutex_unlock(&q->lock);
	return some;
}
