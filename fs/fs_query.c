/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to what the supervisor asks while the session runs, as JSON. */
#include "fs/fs_query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "fs/fs_grants.h"
#include "fs/handle/handle.h"
#include "fs/handle/retired_inodes.h"
#include "fs/node/node.h"
#include "fs/policy_swap.h"
#include "fs/quota/quota.h"
#include "fs/watch/backing_watch.h"

/* As in main.c: sources of 4 MiB each at most. */
#define WARD_QUERY_POLICY_MAX ((size_t)64 << 20)

/* Appends one JSON object. */
typedef int query_fn(struct ward_fs *fs, struct ward_buf *ret);

/* --- io --- */

/* What is taken from a handle under the lock. */
struct seen {
	struct ward_node *node; /* pinned */
	enum ward_io io;
	const char *why;
	uint32_t pid;
};

struct io_totals {
	uint64_t passthrough, cached, direct, directories;
};

static void count(struct io_totals *t, enum ward_io io)
{
	switch (io) {
	case WARD_IO_NONE:
		t->directories++;
		break;
	case WARD_IO_CACHED:
		t->cached++;
		break;
	case WARD_IO_DIRECT:
		t->direct++;
		break;
	case WARD_IO_PASSTHROUGH:
		t->passthrough++;
		break;
	}
}

/* Takes up to max handles of files, counts all. Returns how many were taken. */
static size_t take(struct ward_nodes *nodes, struct seen *v, size_t max, struct io_totals *totals)
{
	const struct ward_handle *h;
	size_t n = 0;

	pthread_mutex_lock(&nodes->lock);
	LIST_FOREACH(h, &nodes->handles, all) {
		count(totals, h->io);
		if (h->io == WARD_IO_NONE || n == max)
			continue;
		h->node->refs++;
		v[n++] = (struct seen){
			.node = h->node, .io = h->io, .why = h->io_why, .pid = h->pid};
	}
	pthread_mutex_unlock(&nodes->lock);
	return n;
}

/* False: there is no room for it. */
static bool add_seen(struct ward_nodes *nodes, const struct seen *s, struct ward_buf *b, bool first)
{
	ward_cleanup(ward_buf_clear) struct ward_buf one = WARD_BUF_INIT;
	char buf[WARD_NODE_PATH_MAX];
	const char *path;
	size_t len;

	path = ward_node_path(nodes, s->node, NULL, buf, &len);
	ward_buf_puts(&one, first ? "{\"path\":" : ",{\"path\":");
	ward_escape_json(&one, path, len);
	ward_buf_printf(&one, ",\"io\":\"%s\",\"why\":\"%s\",\"pid\":%u}", ward_io_name(s->io),
		s->why ? s->why : "", s->pid);
	/* The part behind the list takes less than 1 KiB. */
	if (ward_buf_error(&one) < 0 || b->len + one.len + 1024 > WARD_FS_ANSWER_MAX)
		return false;
	ward_buf_add(b, one.data, one.len);
	return true;
}

static int query_io(struct ward_fs *fs, struct ward_buf *ret)
{
	ward_cleanup_free struct seen *v = calloc(WARD_QUERY_HANDLES_MAX, sizeof(*v));
	struct io_totals totals = {0};
	uint64_t listed = 0;

	if (!v)
		return -ENOMEM;
	ward_buf_puts(ret, "{\"handles\":[");
	for (size_t i = 0; i < fs->n_trees; i++) {
		struct ward_nodes *nodes = fs->trees[i].nodes;
		const size_t n = take(nodes, v, WARD_QUERY_HANDLES_MAX - listed, &totals);
		bool room = true;

		for (size_t k = 0; k < n; k++) {
			room = room && add_seen(nodes, &v[k], ret, listed == 0);
			listed += room;
			ward_node_unpin(nodes, v[k].node);
		}
	}
	ward_buf_printf(ret,
		"],\"more\":%llu,\"totals\":{\"passthrough\":%llu,\"cached\":%llu,\"direct\":%llu,"
		"\"directories\":%llu}}",
		(unsigned long long)(totals.passthrough + totals.cached + totals.direct - listed),
		(unsigned long long)totals.passthrough, (unsigned long long)totals.cached,
		(unsigned long long)totals.direct, (unsigned long long)totals.directories);
	return ward_buf_error(ret);
}

/* --- quota --- */

static int query_quota(struct ward_fs *fs, struct ward_buf *ret)
{
	return ward_quotas_show(fs->quotas, ward_clock_mono_ns(), WARD_FS_ANSWER_MAX, ret);
}

/* --- watches --- */

static int query_watch(struct ward_fs *fs, struct ward_buf *ret)
{
	ward_buf_puts(ret, "{\"trees\":[");
	for (size_t i = 0; i < fs->n_trees; i++) {
		const struct ward_watch_report w = ward_watch_report(&fs->trees[i]);

		ward_buf_puts(ret, i ? ",{\"path\":" : "{\"path\":");
		ward_escape_json(ret, fs->trees[i].path, fs->trees[i].path_len);
		ward_buf_printf(ret, ",\"watched\":%llu,\"refused\":%llu,\"why\":",
			(unsigned long long)w.watched, (unsigned long long)w.refused);
		if (w.why)
			ward_escape_json(ret, w.why, strlen(w.why));
		else
			ward_buf_puts(ret, "null");
		ward_buf_putc(ret, '}');
	}
	ward_buf_puts(ret, "]}");
	return ward_buf_error(ret);
}

/* --- what is to go bad --- */

static int query_retired(struct ward_fs *fs, struct ward_buf *ret)
{
	uint64_t v[WARD_QUERY_RETIRED_MAX];
	size_t listed = 0, all = 0;

	ward_buf_puts(ret, "{\"inodes\":[");
	for (size_t i = 0; i < fs->n_trees; i++) {
		size_t of_tree;
		const size_t n = ward_retire_list(
			fs->trees[i].nodes, v, WARD_QUERY_RETIRED_MAX - listed, &of_tree);

		for (size_t k = 0; k < n; k++)
			ward_buf_printf(ret, "%s[%zu,%llu]", listed++ ? "," : "", i,
				(unsigned long long)v[k]);
		all += of_tree;
	}
	ward_buf_printf(ret, "],\"more\":%zu}", all - listed);
	return ward_buf_error(ret);
}

/* --- another policy --- */

static int take_policy(struct ward_fs *fs, int fd, struct ward_swapped *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	struct ward_policy *policy = NULL;
	int r = fd < 0 ? -EBADMSG : ward_fd_pread_all(fd, WARD_QUERY_POLICY_MAX, &blob);

	if (r < 0)
		return ward_err_sys(err, r, "policy");
	r = ward_policy_decode(blob.data, blob.len, &policy, err);
	if (r < 0)
		return r;
	r = ward_swap(fs, policy, ret, err);
	if (r < 0)
		ward_policy_unref(policy);
	return r;
}

void ward_query_policy(struct ward_fs *fs, int fd, struct ward_buf *ret)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_swapped done = {.mono_ns = 0};

	if (take_policy(fs, fd, &done, &err) < 0) {
		ward_buf_puts(ret, "{\"error\":");
		ward_escape_json(ret, err.text, strlen(err.text));
		ward_buf_putc(ret, '}');
		return;
	}
	ward_buf_printf(ret,
		"{\"ok\":true,\"mono\":%llu,\"checked\":%llu,\"passthrough\":%llu,"
		"\"directories\":%llu,\"forgotten\":%s}",
		(unsigned long long)done.mono_ns, (unsigned long long)done.checked,
		(unsigned long long)done.passthrough, (unsigned long long)done.directories,
		done.forgotten ? "true" : "false");
}

/* --- all --- */

static query_fn *const queries[] = {
	[WARD_FS_QUERY_IO] = query_io,
	[WARD_FS_QUERY_QUOTA] = query_quota,
	[WARD_FS_QUERY_RETIRED] = query_retired,
	[WARD_FS_QUERY_WATCH] = query_watch,
	[WARD_FS_QUERY_GRANTS] = ward_fs_grants_query,
};

void ward_query(struct ward_fs *fs, uint32_t what, struct ward_buf *ret)
{
	const bool known = what < sizeof(queries) / sizeof(*queries) && queries[what];
	int r = known ? queries[what](fs, ret) : 0;

	if (known && r == 0 && ret->len <= WARD_FS_ANSWER_MAX)
		return;
	ward_buf_clear(ret);
	ward_buf_puts(ret, !known  ? "{\"error\":\"this wardfs-fs does not know the question\"}"
			   : r < 0 ? "{\"error\":\"wardfs-fs has no memory for the answer\"}"
				   : "{\"error\":\"the answer of wardfs-fs is too long\"}");
}
