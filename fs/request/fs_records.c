/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the records of refusals, opens, changes, reads, writes and locks. */
#include "fs/request/fs_records.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/clock.h"
#include "enforcer/base/question_id.h"
#include "enforcer/policy/grants.h"
#include "fs/quota/quota.h"
#include "fs/request/file_digest.h"
#include "fs/review/steps.h"

#define RULE_TEXT_MAX 1024

/* Behind a pid from inside: whose process it is, if not the command's. */
static void add_via(struct ward_event *ev, const struct ward_fs *fs)
{
	ward_event_text(ev, WARD_TAG_VIA, fs->via && *fs->via ? fs->via : NULL);
}

static void add_comm(struct ward_event *ev, const struct ward_op *op)
{
	char comm[WARD_COMM_MAX];
	struct ward_process news;
	/* Opens, reads and writes come many at once. */
	const bool many = ev->head.kind == WARD_EVENT_OPEN || ev->head.kind == WARD_EVENT_IO;
	/* It is about to have another name. */
	const bool last = op->action && strcmp(op->action, "exec") == 0;
	size_t n = ward_comm_get(&op->tree->fs->comm, op->pid, last ? 0 : ev->head.mono_ns,
		many && !last ? WARD_COMM_OLD_NS : 0, comm, &news);

	if (n > 0)
		ward_event_bytes(ev, WARD_TAG_COMM, comm, n);
	if (!news.process)
		return;
	if (news.process != op->pid)
		ward_event_u64(ev, WARD_TAG_PROCESS, news.process);
	ward_event_u64(ev, WARD_TAG_PARENT, news.parent);
}

static int told(const struct ward_op *op, int r)
{
	if (r < 0 && op->pid)
		ward_comm_unsaid(&op->tree->fs->comm, op->pid);
	return r;
}

static int put(const struct ward_op *op, const struct ward_event *ev)
{
	return told(op, ward_ring_put(op->tree->fs->ring, ev));
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

/* The file under a name, as it was last seen; 0: it was not. */
static uint64_t ino_of(struct ward_nodes *nodes, struct ward_node *dir, const char *name)
{
	const struct ward_name *n;
	uint64_t ino;

	pthread_mutex_lock(&nodes->lock);
	n = ward_nodes_find(nodes, dir, name, strlen(name));
	ino = n ? n->node->id.ino : 0;
	pthread_mutex_unlock(&nodes->lock);
	return ino;
}

/* Which file it is. A name without a lookup (hidden, or not there yet) has none. */
static void add_object(
	struct ward_event *ev, struct ward_fs_tree *tree, const struct ward_record_paths *paths)
{
	uint64_t ino = paths->file   ? paths->file->id.ino
		       : paths->name ? ino_of(tree->nodes, paths->node, paths->name)
				     : paths->node->id.ino;

	if (ino) {
		ward_event_u64(ev, WARD_TAG_DEV, tree->dev);
		ward_event_u64(ev, WARD_TAG_INO, ino);
	}
	if (paths->file2)
		ward_event_u64(ev, WARD_TAG_INO2, paths->file2->id.ino);
}

static void add_head(struct ward_event *ev, enum ward_event_kind kind, const struct ward_op *op,
	const struct ward_record_paths *paths)
{
	ward_event_begin(ev, kind);
	ward_event_u64(ev, WARD_TAG_PID, op->pid);
	ward_event_u64(ev, WARD_TAG_UID, op->uid);
	add_via(ev, op->tree->fs);
	add_comm(ev, op);
	ward_event_text(ev, WARD_TAG_ACTION, op->action);
	add_paths(ev, op->tree, paths);
	add_object(ev, op->tree, paths);
}

/*
 * Names the rule that allowed it: its place, and its source. The text of the rule stands in the
 * records of kind policy, not in each of these.
 */
static void add_rule(struct ward_event *ev, const struct ward_decision *by)
{
	char place[RULE_TEXT_MAX];
	char digits[10];
	size_t n = 0, len;
	unsigned line = by->rule ? by->rule->line : 0;

	if (by->verdict != WARD_VERDICT_ALLOW)
		return;
	if (!by->rule) {
		ward_event_text(ev, WARD_TAG_RULE, "default");
		return;
	}
	/* A grant: it has no line. */
	if (!line) {
		ward_event_text(ev, WARD_TAG_RULE, by->rule->file);
		ward_event_u64(ev, WARD_TAG_SOURCE, by->rule->source);
		return;
	}
	/* Every open comes by here: many times as fast as printf. */
	do
		digits[n++] = (char)('0' + line % 10);
	while ((line /= 10) > 0);
	len = strnlen(by->rule->file, sizeof(place) - sizeof(digits) - 1);
	memcpy(place, by->rule->file, len);
	place[len++] = ':';
	while (n > 0)
		place[len++] = digits[--n];
	ward_event_bytes(ev, WARD_TAG_RULE, place, len);
	ward_event_u64(ev, WARD_TAG_SOURCE, by->rule->source);
}

/* Every path of the record has to be expected: a rename says two. */
static void add_expected(struct ward_event *ev, const struct ward_policy *policy, bool absent)
{
	static const enum ward_event_tag tags[] = {WARD_TAG_PATH, WARD_TAG_PATH2};
	struct ward_event_fields f;
	const char *file = NULL;
	char place[RULE_TEXT_MAX];
	unsigned line = 0;

	if (ev->head.flags & WARD_EVENT_CUT || ward_event_decode(ev, ward_event_size(ev), &f) < 0)
		return;
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); i++) {
		const struct ward_event_field *p = &f.of[tags[i]];

		if (p->p && !ward_policy_expects_path(
				    policy, (const char *)p->p, p->len, absent, &file, &line))
			return;
	}
	if (!file)
		return;
	(void)snprintf(place, sizeof(place), WARD_PLACE_FMT, WARD_PLACE(file, line));
	ward_event_text(ev, WARD_TAG_EXPECTED, place);
}

int ward_record_deny(struct ward_op *op, const struct ward_record_paths *paths, uint32_t asked,
	const struct ward_decision *d, const char *text)
{
	struct ward_event ev;
	char rule[RULE_TEXT_MAX];

	add_head(&ev, ward_ring_probing(op->tree->fs->ring) ? WARD_EVENT_PROBE : WARD_EVENT_DENY,
		op, paths);
	ward_event_u64(&ev, WARD_TAG_ASKED, asked);
	ward_event_u64(&ev, WARD_TAG_GIVEN, d->granted);
	ward_event_u64(&ev, WARD_TAG_VERDICT, d->verdict);
	ward_event_u64(&ev, WARD_TAG_ERRNO, (uint64_t)(unsigned)d->error);
	if (d->rule) {
		(void)snprintf(rule, sizeof(rule), WARD_PLACE_FMT,
			WARD_PLACE(d->rule->file, d->rule->line));
		ward_event_text(&ev, WARD_TAG_RULE, rule);
		(void)snprintf(rule, sizeof(rule), "%s%s = %s",
			d->rule->verb == WARD_VERB_PROGRAM ? "[process] "
			: d->rule->guard		   ? "[guard] "
							   : "",
			ward_verb_name(d->rule->verb), d->rule->pattern);
		ward_event_text(&ev, WARD_TAG_RULE_TEXT, rule);
		ward_event_u64(&ev, WARD_TAG_SOURCE, d->rule->source);
	} else {
		ward_event_text(&ev, WARD_TAG_RULE, text ? "built-in" : "default");
	}
	ward_event_text(&ev, WARD_TAG_TEXT, text);
	if (op->question) {
		char question[WARD_QUESTION_NAME_SIZE];

		ward_question_name(op->question, question);
		ward_event_text(&ev, WARD_TAG_REQUEST, question);
	}
	if (ev.head.kind == WARD_EVENT_DENY)
		add_expected(&ev, op->tree->fs->policy,
			d->verdict == WARD_VERDICT_HIDE && d->error == ENOENT &&
				strcmp(op->action, "lookup") == 0);
	return put(op, &ev);
}

int ward_record_expire(struct ward_fs *fs, const struct ward_grant_held *held, const char *result)
{
	struct ward_event ev;

	ward_event_begin(&ev, WARD_EVENT_EXPIRE);
	ward_event_text(&ev, WARD_TAG_GRANT, held->grant.id);
	ward_event_text(&ev, WARD_TAG_RESULT, result);
	ward_event_u64(&ev, WARD_TAG_USED, atomic_load(&held->used));
	return ward_ring_put(fs->ring, &ev);
}

int ward_record_step(struct ward_fs *fs, const struct ward_record_step *s)
{
	char comm[WARD_COMM_MAX], text[WARD_ERR_TEXT_MAX + 160], by[32];
	struct ward_process news;
	struct ward_event ev;
	size_t n;

	ward_event_begin(&ev, WARD_EVENT_STEP);
	if (s->by->pid) {
		ward_event_u64(&ev, WARD_TAG_PID, s->by->pid);
		ward_event_u64(&ev, WARD_TAG_UID, s->by->uid);
		n = ward_comm_get(&fs->comm, s->by->pid, 0, 0, comm, &news);
		if (n > 0)
			ward_event_bytes(&ev, WARD_TAG_COMM, comm, n);
		add_via(&ev, fs);
	} else if (s->by->kind != WARD_STEP_QUIET) {
		(void)snprintf(by, sizeof(by), "uid %u", s->by->uid);
		ward_event_text(&ev, WARD_TAG_BY, by);
	}
	ward_event_text(&ev, WARD_TAG_ACTION, s->action);
	ward_event_text(&ev, WARD_TAG_NAME, s->name);
	ward_event_text(&ev, WARD_TAG_RESULT, s->result);
	if (s->before)
		(void)snprintf(text, sizeof(text),
			"step %u: %zu names and %zu contents changed; step %u has what was there%s%s",
			s->step, s->names, s->files, s->before, s->text ? ": " : "",
			s->text ? s->text : "");
	else
		(void)snprintf(text, sizeof(text), "step %u%s%s", s->step, s->text ? ": " : "",
			s->text ? s->text : "");
	ward_event_text(&ev, WARD_TAG_TEXT, text);
	return ward_ring_put(fs->ring, &ev);
}

int ward_record_use(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_grant_held *held, uint32_t rights, uint64_t mono_ns)
{
	const uint32_t used = atomic_load(&held->used);
	struct ward_event ev;
	int r;

	add_head(&ev, WARD_EVENT_USE, op, paths);
	ev.head.mono_ns = mono_ns;
	ward_event_u64(&ev, WARD_TAG_ASKED, rights);
	ward_event_text(&ev, WARD_TAG_GRANT, held->grant.id);
	ward_event_u64(&ev, WARD_TAG_USED, used);
	if (held->grant.uses)
		ward_event_u64(&ev, WARD_TAG_USES, held->grant.uses);
	r = put(op, &ev);
	if (r == 0 && held->grant.uses && used == held->grant.uses)
		r = ward_record_expire(op->tree->fs, held, "spent");
	return r;
}

int ward_record_quota(
	struct ward_op *op, const struct ward_record_paths *paths, const struct ward_quota_hit *hit)
{
	struct ward_event ev;

	add_head(&ev, *hit->path ? WARD_EVENT_QUOTA : WARD_EVENT_DENY, op, paths);
	ward_event_u64(&ev, WARD_TAG_VERDICT, WARD_VERDICT_DENY);
	ward_event_u64(&ev, WARD_TAG_ERRNO, (uint64_t)(unsigned)hit->error);
	ward_event_text(&ev, WARD_TAG_RULE, hit->place);
	ward_event_text(&ev, WARD_TAG_RULE_TEXT, hit->rule);
	if (*hit->path) {
		ward_event_bytes(&ev, WARD_TAG_QUOTA, hit->path, strlen(hit->path));
		ward_event_text(&ev, WARD_TAG_NAME, hit->name);
		ward_event_u64(&ev, WARD_TAG_LIMIT, hit->limit);
		ward_event_u64(&ev, WARD_TAG_USED, hit->used);
		ward_event_text(&ev, WARD_TAG_UNIT, hit->unit);
	}
	ward_event_text(&ev, WARD_TAG_TEXT, hit->text);
	return put(op, &ev);
}

static void add_digest(struct ward_event *ev, const struct ward_digest *d,
	enum ward_event_tag sha256, enum ward_event_tag size)
{
	if (!d->asked)
		return;
	if (d->sized)
		ward_event_u64(ev, size, d->size);
	if (d->known)
		ward_event_digest(ev, sha256, d->sha256);
	ward_event_text(ev, WARD_TAG_TEXT, d->why);
}

/*
 * Programs open most files to read them, and close them at once: one record then says both. What
 * could be written to has more to say at its end; and with `sync = record` the record of the
 * opening is on disk before the program goes on.
 */
static int put_open(
	struct ward_op *op, struct ward_event *ev, struct ward_handle *h, uint32_t asked)
{
	const struct ward_fs *fs = op->tree->fs;

	if (ev->head.kind != WARD_EVENT_OPEN || fs->log != WARD_LOG_OPENS ||
		ward_ring_syncs(fs->ring) || asked & (WARD_RIGHT_WRITE | WARD_RIGHT_APPEND) ||
		(h->flags & O_ACCMODE) != O_RDONLY || !ward_event_ends(ev))
		return put(op, ev);
	int r = ward_ring_put_ends(fs->ring, ev, &h->record_pos);
	h->record_ends = r == 0;
	h->opened_ns = ev->head.mono_ns;
	return told(op, r);
}

int ward_record_open(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, struct ward_handle *h, uint32_t asked,
	const struct ward_decision *by)
{
	struct ward_event ev;

	if (op->tree->fs->log == WARD_LOG_DENIALS)
		return 0;
	add_head(&ev, kind, op, paths);
	ward_event_u64(&ev, WARD_TAG_ASKED, asked);
	/* Most paths have all: eighty bytes in each record, which say nothing. */
	if (h->rights != WARD_RIGHTS_ALL)
		ward_event_u64(&ev, WARD_TAG_GIVEN, h->rights);
	ward_event_u64(&ev, WARD_TAG_VERDICT, WARD_VERDICT_ALLOW);
	add_rule(&ev, by);
	ward_event_text(&ev, WARD_TAG_IO, ward_io_name(h->io));
	add_digest(&ev, &h->before, WARD_TAG_SHA256_BEFORE, WARD_TAG_SIZE_BEFORE);
	if (!h->before.sized && kind == WARD_EVENT_OPEN)
		ward_event_u64(&ev, WARD_TAG_SIZE_BEFORE, (uint64_t)paths->file->st.st_size);
	return put_open(op, &ev, h, asked);
}

/* What an operation failed with. */
static void add_error(struct ward_event *ev, int r)
{
	if (r < 0)
		ward_event_u64(ev, WARD_TAG_ERRNO, (uint64_t)(unsigned)-r);
}

static int record_io(const struct ward_op *op, const struct ward_handle *h, const char *action,
	off_t off, size_t n, int r)
{
	struct ward_event ev;
	bool reads = strcmp(action, "read") == 0;

	ward_event_begin(&ev, WARD_EVENT_IO);
	/* Pages of a mapping are the kernel's to fetch and write: nobody's pid then. */
	if (op->pid) {
		ward_event_u64(&ev, WARD_TAG_PID, op->pid);
		ward_event_u64(&ev, WARD_TAG_UID, op->uid);
		add_via(&ev, op->tree->fs);
	}
	add_comm(&ev, op);
	ward_event_text(&ev, WARD_TAG_ACTION, action);
	add_node(&ev, op->tree, h->node, false);
	ward_event_u64(&ev, WARD_TAG_DEV, op->tree->dev);
	ward_event_u64(&ev, WARD_TAG_INO, h->node->id.ino);
	add_error(&ev, r);
	ward_event_u64(&ev, reads ? WARD_TAG_READ : WARD_TAG_WRITTEN, n);
	ward_event_u64(&ev, WARD_TAG_OFFSET, (uint64_t)off);
	return put(op, &ev);
}

int ward_record_io(const struct ward_op *op, const struct ward_handle *h, const char *action,
	off_t off, size_t n, int r)
{
	return op->tree->fs->log == WARD_LOG_IO ? record_io(op, h, action, off, n, r) : 0;
}

int ward_record_fallocate(const struct ward_op *op, const struct ward_handle *h, int mode,
	off_t off, off_t len, int r)
{
	const enum ward_audit_log log = op->tree->fs->log;
	/* Content is gone, and no count of bytes written tells. */
	const bool clears = mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_UNSHARE_RANGE);

	if (log == WARD_LOG_IO || (log != WARD_LOG_DENIALS && clears))
		return record_io(op, h, "fallocate", off, (size_t)len, r);
	return 0;
}

int ward_record_lock(const struct ward_op *op, const struct ward_handle *h, int type, off_t off,
	off_t len, int r)
{
	const struct ward_record_paths paths = {.node = h->node};
	struct ward_event ev;

	if (op->tree->fs->log != WARD_LOG_IO)
		return 0;
	add_head(&ev, WARD_EVENT_LOCK, op, &paths);
	ward_event_text(&ev, WARD_TAG_LOCK,
		type == F_UNLCK	  ? "unlock"
		: type == F_WRLCK ? "exclusive"
				  : "shared");
	ward_event_u64(&ev, WARD_TAG_OFFSET, (uint64_t)off);
	ward_event_u64(&ev, WARD_TAG_LENGTH, len ? (uint64_t)len : WARD_EVENT_UNKNOWN);
	add_error(&ev, r);
	return put(op, &ev);
}

int ward_record_close(struct ward_op *op, struct ward_handle *h)
{
	/* The kernel moves the bytes of passthrough handles: their number is not known here. */
	const bool seen = h->io != WARD_IO_PASSTHROUGH;
	struct ward_digest after = {.asked = false};
	struct ward_event ev;
	struct stat st;

	if (op->tree->fs->log == WARD_LOG_DENIALS || h->is_dir)
		return 0;
	if (h->record_ends &&
		ward_ring_end(op->tree->fs->ring, h->record_pos,
			ward_clock_mono_ns() - h->opened_ns, seen ? h->n_read : WARD_EVENT_UNKNOWN))
		return 0;
	if (op->tree->fs->hash != WARD_HASH_NONE && (h->flags & O_ACCMODE) != O_RDONLY)
		ward_digest_make(op->tree, h, &after);
	ward_event_begin(&ev, WARD_EVENT_CLOSE);
	/* RELEASE comes from the process that dropped the last reference, often the kernel itself:
	 * no pid.
	 */
	add_node(&ev, op->tree, h->node, false);
	ward_event_u64(&ev, WARD_TAG_DEV, op->tree->dev);
	ward_event_u64(&ev, WARD_TAG_INO, h->node->id.ino);
	ward_event_text(&ev, WARD_TAG_IO, ward_io_name(h->io));
	ward_event_u64(&ev, WARD_TAG_READ, seen ? h->n_read : WARD_EVENT_UNKNOWN);
	ward_event_u64(&ev, WARD_TAG_WRITTEN, seen ? h->n_written : WARD_EVENT_UNKNOWN);
	add_digest(&ev, &after, WARD_TAG_SHA256, WARD_TAG_SIZE);
	if (!after.sized && (h->flags & O_ACCMODE) != O_RDONLY && fstat(h->fd, &st) == 0)
		ward_event_u64(&ev, WARD_TAG_SIZE, (uint64_t)st.st_size);
	return put(op, &ev);
}

/* What an attribute of the file is to become. */
static void add_attr(struct ward_event *ev, const struct ward_record_paths *paths)
{
	const struct stat *attr = paths->attr;

	if (!attr && !paths->xattr)
		return;
	ward_event_text(ev, WARD_TAG_NAME, paths->xattr);
	if (!attr)
		return;
	if (paths->to_set & FUSE_SET_ATTR_MODE)
		ward_event_u64(ev, WARD_TAG_MODE, attr->st_mode & 07777);
	if (paths->to_set & FUSE_SET_ATTR_UID)
		ward_event_u64(ev, WARD_TAG_OWNER, attr->st_uid);
	if (paths->to_set & FUSE_SET_ATTR_GID)
		ward_event_u64(ev, WARD_TAG_GROUP, attr->st_gid);
	if (paths->to_set & FUSE_SET_ATTR_SIZE)
		ward_event_u64(ev, WARD_TAG_SIZE, (uint64_t)attr->st_size);
}

/* How much of the file there was, of a change that takes from it. */
static void add_size_before(
	struct ward_event *ev, enum ward_event_kind kind, const struct ward_record_paths *paths)
{
	if (paths->file && S_ISREG(paths->file->st.st_mode) &&
		(kind == WARD_EVENT_REMOVE || paths->to_set & FUSE_SET_ATTR_SIZE))
		ward_event_u64(ev, WARD_TAG_SIZE_BEFORE, (uint64_t)paths->file->st.st_size);
}

static int record_change(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, const struct ward_decision *by, int r)
{
	struct ward_event ev;

	if (op->tree->fs->log == WARD_LOG_DENIALS)
		return 0;
	add_head(&ev, kind, op, paths);
	ward_event_u64(&ev, WARD_TAG_VERDICT, WARD_VERDICT_ALLOW);
	add_rule(&ev, by);
	add_attr(&ev, paths);
	add_size_before(&ev, kind, paths);
	add_error(&ev, r);
	return put(op, &ev);
}

int ward_record_making(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_decision *by, int r)
{
	return op->tree->fs->log == WARD_LOG_IO ? record_change(op, WARD_EVENT_CREATE, paths, by, r)
						: 0;
}

int ward_record_change(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, const struct ward_decision *by)
{
	return record_change(op, kind, paths, by, 0);
}

int ward_record_outcome(struct ward_op *op, enum ward_event_kind kind,
	const struct ward_record_paths *paths, const struct ward_decision *by, int r)
{
	/* A failed operation fails whether or not that could be recorded. */
	if (r < 0)
		(void)!record_change(op, kind, paths, by, r);
	return r;
}
