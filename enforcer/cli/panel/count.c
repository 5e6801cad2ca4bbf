/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the files of a session's trees that a pattern covers. */
#include "enforcer/cli/panel/count.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"
#include "enforcer/policy/diff.h"
#include "enforcer/policy/pattern.h"
#include "enforcer/policy/policy.h"

/* A person waits for it. */
#define ENTRIES_MAX 200000U
#define TIME_NS (WARD_NS_PER_SEC / 2)
#define DEPTH_MAX 64U
#define EXAMPLES 3U
/* Of a policy with all that it extends. */
#define POLICY_MAX ((size_t)16 << 20)

struct counting {
	struct ward_pattern pattern;
	uint64_t until_ns;
	unsigned entries, files, examples;
	bool cut;
	struct ward_policy *policy; /* in force; NULL: it cannot be read, so nothing is compared */
	uint32_t rights;	    /* that the answer would give */
	unsigned gain, guarded;
	struct ward_buf shown; /* the examples */
	/* Classes of paths, whether they exist or not, as `policy diff` of before and after. */
	unsigned classes;
	bool classes_cut;
	struct ward_buf shown_classes;
	struct ward_buf path;
};

/* What the answer changes there: rights that the policy does not give, and no guard takes. */
static uint32_t gain(struct counting *c)
{
	const struct ward_granted more = {.rights = c->rights};
	const struct ward_state *s = NULL;
	if (ward_policy_walk(c->policy, c->path.data, c->path.len, &s) < 0)
		return 0;
	struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = c->rights, .state = s};
	const uint32_t before = ward_policy_decide(c->policy, &req, NULL).granted;
	req.grants = &more;
	const uint32_t after = ward_policy_decide(c->policy, &req, NULL).granted;
	c->guarded += (c->rights & ~after) != 0;
	ward_policy_state_put(c->policy, s);
	return after & ~before & c->rights;
}

static void take_file(struct counting *c)
{
	if (!ward_pattern_covers_path(&c->pattern, ward_buf_str(&c->path), c->path.len))
		return;
	c->files++;
	if (c->policy && !gain(c))
		return;
	c->gain++;
	if (c->examples < EXAMPLES) {
		ward_buf_puts(&c->shown, c->examples++ ? ", " : ": ");
		ward_shown(&c->shown, ward_buf_str(&c->path));
	}
}

/* dir is taken. */
static void walk(struct counting *c, int dir, unsigned depth)
{
	DIR *d = fdopendir(dir);
	const struct dirent *e = NULL;
	if (!d) {
		close(dir);
		return;
	}
	const size_t len = c->path.len;
	while (!c->cut && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		c->cut = ++c->entries > ENTRIES_MAX || ward_clock_mono_ns() > c->until_ns ||
			 ward_buf_error(&c->path) < 0;
		ward_buf_putc(&c->path, '/');
		ward_buf_puts(&c->path, e->d_name);
		const int sub = e->d_type != DT_DIR && e->d_type != DT_UNKNOWN
					? -1
					: openat(dirfd(d), e->d_name,
						  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0 && e->d_type != DT_DIR)
			take_file(c);
		if (sub >= 0 && depth < DEPTH_MAX)
			walk(c, sub, depth + 1);
		else if (sub >= 0)
			close(sub);
		c->cut |= depth == DEPTH_MAX;
		c->path.len = len;
	}
	closedir(d);
}

static void walk_trees(struct counting *c, const json_t *status, struct ward_buf *b)
{
	size_t i = 0;
	const json_t *tree = NULL;
	json_array_foreach(json_object_get(status, "trees"), i, tree)
	{
		ward_cleanup(ward_buf_clear) struct ward_buf source = WARD_BUF_INIT;
		const char *at = json_string_value(json_object_get(tree, "path"));
		const char *from = json_string_value(json_object_get(tree, "source"));
		ward_buf_clear(&c->path);
		if (!at || ward_unescape(&c->path, at, strlen(at)) < 0)
			continue;
		if (!from || ward_unescape(&source, from, strlen(from)) < 0) {
			ward_shownf(b, "%s is in memory and is not counted. ", at);
			continue;
		}
		const int dir = open(ward_buf_str(&source), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			ward_shownf(b, "%s cannot be read. ", from);
		else
			walk(c, dir, 0);
	}
}

static uint32_t rights_of(const char *list)
{
	uint32_t rights = 0;
	for (unsigned i = 0; i < WARD_RIGHTS_COUNT; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_rights_format(&b, UINT32_C(1) << i);
		for (const char *s = list; *s; s += strcspn(s, ","), s += *s == ',')
			if (strcspn(s, ",") == b.len && strncmp(s, ward_buf_str(&b), b.len) == 0)
				rights |= UINT32_C(1) << i;
	}
	return rights;
}

/* As the session's directory has it, and only if that is the one in force. */
static struct ward_policy *policy_of(const json_t *status)
{
	ward_cleanup_free char *state = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	const char *name = json_string_value(json_object_get(status, "session"));
	const char *digest = json_string_value(json_object_get(status, "policy"));
	struct ward_store *st = NULL;
	struct ward_policy *p = NULL;
	struct ward_err ignored = WARD_ERR_INIT;
	int fd = -1;
	if (!name || !digest ||
		ward_store_default_path(geteuid(), secure_getenv("XDG_STATE_HOME"),
			secure_getenv("HOME"), &state, &ignored) < 0 ||
		ward_store_open(state, false, &st, &ignored) < 0)
		return NULL;
	if (ward_store_open_policy(st, name, &fd, &ignored) == 0 &&
		ward_fd_read_all(fd, POLICY_MAX, &blob) == 0 &&
		ward_policy_decode(blob.data, blob.len, &p, &ignored) == 0 &&
		strcmp(ward_policy_digest(p), digest) != 0) {
		ward_policy_unref(p);
		p = NULL;
	}
	if (fd >= 0)
		close(fd);
	ward_store_close(st);
	return p;
}

static void take_class(void *user, const struct ward_difference *d)
{
	struct counting *c = user;
	if (d->key || !(d->gained & c->rights))
		return;
	if (c->classes < EXAMPLES) {
		ward_buf_puts(&c->shown_classes, c->classes ? ", " : ": ");
		ward_shown(&c->shown_classes, d->path);
	}
	c->classes++;
}

/* What an answer with this pattern would let happen to names that are still to come. */
static void count_classes(struct counting *c, const char *pattern)
{
	struct ward_policy *after = NULL;
	struct ward_err ignored = WARD_ERR_INIT;
	enum ward_diff_reach reach = WARD_DIFF_CUT;
	bool literal = true;
	for (size_t i = 0; i < c->pattern.n; i++)
		literal = literal && c->pattern.components[i].literal &&
			  !c->pattern.components[i].loop;
	/* One path: the line before says all. */
	if (literal || !c->policy ||
		ward_policy_widened(c->policy, pattern, c->rights, &after, &ignored) < 0)
		return;
	if (ward_policy_diff_rights(c->policy, after, take_class, NULL, c, &reach) < 0)
		c->classes = 0;
	c->classes_cut = reach == WARD_DIFF_CUT;
	ward_policy_unref(after);
}

static void put_classes(const struct counting *c, struct ward_buf *b)
{
	if (!c->classes)
		return;
	ward_buf_printf(b, "; of all names, also new ones, %s%u class%s it",
		c->classes_cut ? "at least " : "", c->classes,
		c->classes == 1 ? " gains" : "es gain");
	ward_buf_add(b, c->shown_classes.data, c->shown_classes.len);
	if (c->classes > EXAMPLES)
		ward_buf_printf(b, ", and %u more", c->classes - EXAMPLES);
}

static void put_sum(const struct counting *c, const char *rights, struct ward_buf *b)
{
	ward_shownf(
		b, "%s%u file%s there now", c->cut ? "at least " : "", c->files, ward_s(c->files));
	if (c->policy)
		ward_shownf(b, ", %u gain%s %s", c->gain, c->gain == 1 ? "s" : "", rights);
	ward_buf_add(b, c->shown.data, c->shown.len);
	if (c->gain > c->examples)
		ward_buf_printf(b, ", and %u more", c->gain - c->examples);
	put_classes(c, b);
	if (c->guarded)
		ward_shownf(b, "; a guard or the floor keeps %u from it", c->guarded);
}

static _Noreturn void count(const json_t *status, const char *pattern, const char *rights, int to)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct counting c = {.policy = policy_of(status), .rights = rights_of(rights)};
	struct ward_err err = WARD_ERR_INIT;
	if (ward_pattern_parse(pattern, false, &c.pattern, &err) < 0) {
		ward_shownf(&b, "%s", err.text);
	} else {
		c.until_ns = ward_clock_mono_ns() + TIME_NS;
		walk_trees(&c, status, &b);
		count_classes(&c, pattern);
		put_sum(&c, rights, &b);
	}
	const size_t n = b.len < PANEL_COUNT_TEXT_MAX - 1 ? b.len : PANEL_COUNT_TEXT_MAX - 1;
	(void)!write(to, ward_buf_str(&b), n);
	_exit(0);
}

int panel_count_start(
	struct panel_count *c, const json_t *status, const char *pattern, const char *rights)
{
	int ends[2];
	panel_count_end(c);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	const pid_t pid = fork();
	if (pid == 0) {
		/* Of the terminal's session it needs nothing. It ends by SIGKILL alone. */
		(void)syscall(SYS_close_range, 3, (unsigned)ends[1] - 1, 0U);
		(void)syscall(SYS_close_range, (unsigned)ends[1] + 1, ~0U, 0U);
		count(status, pattern, rights, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	*c = (struct panel_count){.pid = pid, .fd = ends[0]};
	return 0;
}

const char *panel_count_read(struct panel_count *c)
{
	const ssize_t n = read(c->fd, c->text + c->n, sizeof(c->text) - 1 - c->n);
	if (n > 0) {
		c->n += (size_t)n;
		return NULL;
	}
	c->text[c->n] = '\0';
	panel_count_end(c);
	return c->text;
}

void panel_count_end(struct panel_count *c)
{
	if (c->pid > 0) {
		(void)kill(c->pid, SIGKILL);
		/* One that waits for a disk ends later. */
		(void)waitpid(c->pid, NULL, WNOHANG);
	}
	if (c->fd >= 0)
		close(c->fd);
	c->pid = 0;
	c->fd = -1;
	c->n = 0;
}
