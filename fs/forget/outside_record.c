/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the records of what others changed. */
#include "fs/forget/outside_record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "fs/resolve/resolve_node.h"
#include "fs/watch/backing_watch.h"

/* A file that is written to piece by piece, or again and again, is recorded once in this time. */
#define REPEAT_NS WARD_NS_PER_SEC
#define RECENT_MAX 64
/* Of proc_pid_status(5) up to NSpid; what comes before it is a few hundred bytes. */
#define STATUS_MAX 4096

/* What the agent's processes can do to a file by themselves. */
#define CONTENT (FAN_MODIFY | FAN_ATTRIB)
/* What leaves nothing to look at under the name. */
#define LEFT (FAN_DELETE | FAN_MOVED_FROM)

static const struct {
	uint64_t bit;
	const char *action;
} actions[] = {
	{FAN_DELETE, "remove"},
	{FAN_MOVED_FROM, "moved-from"},
	{FAN_CREATE, "create"},
	{FAN_MOVED_TO, "moved-to"},
	{FAN_MODIFY, "write"},
	{FAN_ATTRIB, "attr"},
};

struct recent {
	uint64_t dir, hash, bit, ns;
};

struct ward_external {
	struct ward_fs_tree *tree;
	unsigned depth; /* pid namespaces that this process is in, as /proc has it */
	struct recent recent[RECENT_MAX];
	size_t next;
};

/* The acting process, if it still exists. */
struct other {
	unsigned depth; /* 0: it is gone, or not to be seen */
	uint64_t uid;
	char name[32];
};

static void look_at(const char *path, struct other *ret)
{
	char text[STATUS_MAX + 1];
	ward_cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, STATUS_MAX);
	const char *p;

	memset(ret, 0, sizeof(*ret));
	if (n <= 0)
		return;
	text[n] = '\0';
	if (sscanf(text, "Name:\t%31[^\n]", ret->name) != 1)
		ret->name[0] = '\0';
	p = strstr(text, "\nUid:");
	ret->uid = p ? strtoull(p + 5, NULL, 10) : WARD_EVENT_UNKNOWN;
	p = strstr(text, "\nNSpid:");
	for (p = p ? p + 7 : NULL; p && *p && *p != '\n'; p++)
		ret->depth += *p == '\t';
}

int ward_external_new(struct ward_fs_tree *tree, struct ward_external **ret)
{
	struct ward_external *x = calloc(1, sizeof(*x));
	struct other self;

	if (!x)
		return -ENOMEM;
	x->tree = tree;
	look_at("/proc/self/status", &self);
	x->depth = self.depth;
	*ret = x;
	return 0;
}

void ward_external_free(struct ward_external *x)
{
	free(x);
}

static bool repeated(struct ward_external *x, uint64_t dir, const char *name, uint64_t bit)
{
	const uint64_t now = ward_clock_mono_ns();
	uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < RECENT_MAX; i++) {
		const struct recent *r = &x->recent[i];

		if (r->bit == bit && r->dir == dir && r->hash == hash && now - r->ns < REPEAT_NS)
			return true;
	}
	x->recent[x->next++ % RECENT_MAX] =
		(struct recent){.dir = dir, .hash = hash, .bit = bit, .ns = now};
	return false;
}

static void add_file(struct ward_event *ev, struct ward_external *x, struct ward_node *dir,
	const char *name, bool left)
{
	struct ward_nodes *nodes = x->tree->nodes;
	const struct ward_name *n;
	struct ward_dirref ref = {0};
	struct ward_file file = {.id = {0}};
	bool seen = false;

	if (left) {
		pthread_mutex_lock(&nodes->lock);
		n = ward_nodes_find(nodes, dir, name, strlen(name));
		file.id.ino = n ? n->node->id.ino : 0;
		pthread_mutex_unlock(&nodes->lock);
	} else if (!strcmp(name, ".")) {
		file.id.ino = dir->id.ino;
	} else if (ward_resolve_dir(x->tree, dir, &ref) == 0) {
		seen = ward_backing_stat(x->tree, ref.fd, name, &file) == 0;
		ward_dirref_put(x->tree, &ref);
	}
	if (!file.id.ino)
		return;
	ward_event_u64(ev, WARD_TAG_DEV, x->tree->dev);
	ward_event_u64(ev, WARD_TAG_INO, file.id.ino);
	if (seen && S_ISREG(file.st.st_mode))
		ward_event_u64(ev, WARD_TAG_SIZE, (uint64_t)file.st.st_size);
}

static void record(struct ward_external *x, struct ward_node *dir, const char *name,
	const char *action, uint32_t pid, const struct other *who, bool left)
{
	struct ward_event ev;
	char buf[WARD_NODE_PATH_MAX];
	size_t len;
	const char *p =
		ward_node_path(x->tree->nodes, dir, strcmp(name, ".") ? name : NULL, buf, &len);

	ward_event_begin(&ev, WARD_EVENT_EXTERNAL);
	if (pid)
		ward_event_u64(&ev, WARD_TAG_PID, pid);
	if (who->depth && who->uid != WARD_EVENT_UNKNOWN)
		ward_event_u64(&ev, WARD_TAG_UID, who->uid);
	if (who->depth)
		ward_event_text(&ev, WARD_TAG_COMM, who->name);
	ward_event_text(&ev, WARD_TAG_ACTION, action);
	if (*p != '/')
		ev.head.flags |= WARD_EVENT_CUT;
	ward_event_bytes(&ev, WARD_TAG_PATH, p, len);
	add_file(&ev, x, dir, name, left);
	ward_event_text(&ev, WARD_TAG_HOW, "observed");
	/* We cannot refuse changes of others; a failing log says what it did not take. */
	(void)!ward_ring_put(x->tree->fs->ring, &ev);
}

static void look_at_pid(uint32_t pid, struct other *ret)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%u/status", pid);
	look_at(path, ret);
}

bool ward_external_is_host(const struct ward_external *x, uint32_t pid)
{
	struct other who = {.depth = 0};

	if (pid)
		look_at_pid(pid, &who);
	return who.depth && who.depth == x->depth;
}

void ward_external_change(struct ward_external *x, const struct ward_watch_change *c, bool after)
{
	uint64_t mask = c->mask & (after ? ~(uint64_t)LEFT : (uint64_t)LEFT);
	struct ward_node *node;
	struct other who = {.depth = 0};
	bool host;

	if (x->tree->fs->log == WARD_LOG_DENIALS || !mask)
		return;
	if (c->pid)
		look_at_pid(c->pid, &who);
	host = who.depth && who.depth == x->depth;
	if (!c->sure && !host && !(mask & FAN_ONDIR))
		mask &= ~(uint64_t)CONTENT;
	node = ward_nodes_pin(x->tree->nodes, c->dir);
	if (!node)
		return;
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (mask & actions[i].bit && !repeated(x, c->dir, c->name, actions[i].bit))
			record(x, node, c->name, actions[i].action, c->pid, &who, !after);
	ward_node_unpin(x->tree->nodes, node);
}

void ward_external_lost(struct ward_external *x)
{
	struct ward_event ev;

	if (x->tree->fs->log == WARD_LOG_DENIALS)
		return;
	ward_event_begin(&ev, WARD_EVENT_EXTERNAL);
	ward_event_text(&ev, WARD_TAG_ACTION, "lost");
	ward_event_bytes(&ev, WARD_TAG_PATH, x->tree->path, x->tree->path_len);
	ward_event_text(&ev, WARD_TAG_TEXT,
		"there were more changes by others than could be followed: some are not recorded");
	ward_event_text(&ev, WARD_TAG_HOW, "observed");
	(void)!ward_ring_put(x->tree->fs->ring, &ev);
}
