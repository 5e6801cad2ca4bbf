/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define RULE_TEXT_MAX 1024

static void add_comm(struct ward_event *ev, struct ward_op *op)
{
	char comm[WARD_COMM_MAX];
	size_t n = ward_comm_get(&op->tree->fs->comm, op->pid, comm);

	if (n > 0)
		ward_event_bytes(ev, WARD_TAG_COMM, comm, n);
}

static void add_path(struct ward_event *ev, enum ward_event_tag tag, const char *p, size_t len)
{
	/* Too deep to be said in full: ward_node_path() left the front out. */
	if (*p != '/')
		ev->head.flags |= WARD_EVENT_CUT;
	ward_event_bytes(ev, tag, p, len);
}

/*
 * The kernel says which file, not by which of its names: a record of it must not claim one of them.
 */
static void add_node(
	struct ward_event *ev, struct ward_fs_tree *tree, struct ward_node *node, bool has_path2)
{
	char buf[WARD_NODE_PATH_MAX];
	size_t len, n;
	const char *p = ward_node_path(tree->nodes, node, NULL, buf, &len);

	add_path(ev, WARD_TAG_PATH, p, len);
	p = ward_node_newest_path(tree->nodes, node, buf, &len, &n);
	if (!p)
		return;
	if (!has_path2)
		add_path(ev, WARD_TAG_PATH2, p, len);
	ward_event_u64(ev, WARD_TAG_NAMES, n);
}

static void add_paths(
	struct ward_event *ev, struct ward_fs_tree *tree, const struct ward_record_paths *paths)
{
	char buf[WARD_NODE_PATH_MAX];
	const char *p;
	size_t len;

	if (paths->name) {
		p = ward_node_path(tree->nodes, paths->node, paths->name, buf, &len);
		add_path(ev, WARD_TAG_PATH, p, len);
	} else {
		add_node(ev, tree, paths->node, paths->node2 != NULL);
	}
	if (paths->node2) {
		p = ward_node_path(tree->nodes, paths->node2, paths->name2, buf, &len);
		add_path(ev, WARD_TAG_PATH2, p, len);
	} else if (paths->target) {
		ward_event_bytes(ev, WARD_TAG_PATH2, paths->target, strlen(paths->target));
	}
}

static void add_head(struct ward_event *ev, enum ward_event_kind kind, struct ward_op *op,
	const struct ward_record_paths *paths)
{
	ward_event_begin(ev, kind);
	ward_event_u64(ev, WARD_TAG_PID, op->pid);
	ward_event_u64(ev, WARD_TAG_UID, op->uid);
	add_comm(ev, op);
	ward_event_text(ev, WARD_TAG_ACTION, op->action);
	add_paths(ev, op->tree, paths);
}

int ward_record_deny(struct ward_op *op, const struct ward_record_paths *paths, uint32_t asked,
	const struct ward_decision *d, const char *text)
{
	struct ward_event ev;
	char rule[RULE_TEXT_MAX];

	add_head(&ev, WARD_EVENT_DENY, op, paths);
	ward_event_u64(&ev, WARD_TAG_ASKED, asked);
	ward_event_u64(&ev, WARD_TAG_GIVEN, d->granted);
	ward_event_u64(&ev, WARD_TAG_VERDICT, d->verdict);
	ward_event_u64(&ev, WARD_TAG_ERRNO, (uint64_t)(unsigned)d->error);
	if (d->rule) {
		(void)snprintf(rule, sizeof(rule), "%s:%u", d->rule->file, d->rule->line);
		ward_event_text(&ev, WARD_TAG_RULE, rule);
		(void)snprintf(rule, sizeof(rule), "%s%s = %s", d->rule->guard ? "[guard] " : "",
			ward_verb_name(d->rule->verb), d->rule->pattern);
		ward_event_text(&ev, WARD_TAG_RULE_TEXT, rule);
		ward_event_u64(&ev, WARD_TAG_SOURCE, d->rule->source);
	} else {
		ward_event_text(&ev, WARD_TAG_RULE, "default");
	}
	ward_event_text(&ev, WARD_TAG_TEXT, text);
	return ward_ring_put(op->tree->fs->ring, &ev);
}

static const char *io_name(enum ward_io io)
{
	switch (io) {
	case WARD_IO_NONE:
		return "none";
	case WARD_IO_CACHED:
		return "cached";
	case WARD_IO_DIRECT:
		return "direct";
	case WARD_IO_PASSTHROUGH:
		return "passthrough";
	}
	return "?";
}

int ward_record_open(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, const struct ward_handle *h, uint64_t ino,
	uint32_t asked)
{
	struct ward_event ev;

	if (op->tree->fs->log == WARD_LOG_DENIALS)
		return 0;
	add_head(&ev, kind, op, paths);
	ward_event_u64(&ev, WARD_TAG_INO, ino);
	ward_event_u64(&ev, WARD_TAG_ASKED, asked);
	ward_event_u64(&ev, WARD_TAG_VERDICT, WARD_VERDICT_ALLOW);
	ward_event_text(&ev, WARD_TAG_IO, io_name(h->io));
	return ward_ring_put(op->tree->fs->ring, &ev);
}

int ward_record_close(struct ward_op *op, struct ward_handle *h)
{
	/* The kernel moves the bytes of passthrough handles: their number is not known here. */
	const bool seen = h->io != WARD_IO_PASSTHROUGH;
	struct ward_event ev;

	if (op->tree->fs->log == WARD_LOG_DENIALS || h->is_dir)
		return 0;
	ward_event_begin(&ev, WARD_EVENT_CLOSE);
	/* RELEASE comes from whoever dropped the last reference, often the kernel itself: no pid.
	 */
	add_node(&ev, op->tree, h->node, false);
	ward_event_u64(&ev, WARD_TAG_INO, h->node->id.ino);
	ward_event_text(&ev, WARD_TAG_IO, io_name(h->io));
	ward_event_u64(&ev, WARD_TAG_READ, seen ? h->n_read : WARD_EVENT_UNKNOWN);
	ward_event_u64(&ev, WARD_TAG_WRITTEN, seen ? h->n_written : WARD_EVENT_UNKNOWN);
	return ward_ring_put(op->tree->fs->ring, &ev);
}

static int record_change(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, int error)
{
	struct ward_event ev;

	if (op->tree->fs->log == WARD_LOG_DENIALS)
		return 0;
	add_head(&ev, kind, op, paths);
	ward_event_u64(&ev, WARD_TAG_VERDICT, WARD_VERDICT_ALLOW);
	if (error)
		ward_event_u64(&ev, WARD_TAG_ERRNO, (uint64_t)(unsigned)-error);
	return ward_ring_put(op->tree->fs->ring, &ev);
}

int ward_record_change(
	struct ward_op *op, enum ward_event_kind kind, const struct ward_record_paths *paths)
{
	return record_change(op, kind, paths, 0);
}

int ward_record_outcome(
	struct ward_op *op, enum ward_event_kind kind, const struct ward_record_paths *paths, int r)
{
	if (r < 0 && record_change(op, kind, paths, r) < 0)
		return r;
	return r;
}
