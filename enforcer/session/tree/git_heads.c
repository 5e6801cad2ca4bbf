/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the branches of a repository that an agent may have written, and what is new of them. */
#include "enforcer/session/tree/git_heads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"

#define HEADS "refs/heads"
#define DEPTH_MAX 8U
#define REF_MAX ((size_t)512)
#define PACKED_REFS_MAX ((size_t)4 << 20)
/* Of one tree, before or after. */
#define TIME_NS (2 * WARD_NS_PER_SEC)

/* The first cause stands. */
__attribute__((format(printf, 2, 3))) static void not_looked(
	char why[WARD_GIT_WHY_MAX], const char *format, ...)
{
	va_list ap;
	if (why[0])
		return;
	va_start(ap, format);
	vsnprintf(why, WARD_GIT_WHY_MAX, format, ap);
	va_end(ap);
}

static int open_dir(int at, const char *path)
{
	const struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
			   RESOLVE_NO_XDEV};
	return ward_fd_openat2(at, path, &how);
}

static int read_small(int at, const char *name, size_t max, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_beneath(at, name);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, max, ret);
	return r < 0 ? r : ward_buf_error(ret);
}

static int compare(const void *a, const void *b)
{
	return strcmp(
		((const struct ward_git_ref *)a)->name, ((const struct ward_git_ref *)b)->name);
}

static struct ward_git_ref *find(const struct ward_git_heads *h, const char *name)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->ref[i].name, name) == 0)
			return &h->ref[i];
	return NULL;
}

/* The first one of a name stands: a loose ref is newer than a packed one. */
static int add(struct ward_git_heads *h, const char *name, const char *id, size_t id_len)
{
	if (!ward_git_id_valid(id, id_len) || find(h, name))
		return 0;
	if (h->n == WARD_GIT_REFS_MAX || strlen(name) >= WARD_GIT_REF_NAME_MAX) {
		not_looked(h->why, "there are more branches, or longer names, than are looked at");
		return 0;
	}
	struct ward_git_ref *more = reallocarray(h->ref, h->n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	h->ref = more;
	more[h->n] = (struct ward_git_ref){0};
	memcpy(more[h->n].name, name, strlen(name));
	memcpy(more[h->n].id, id, id_len);
	h->n++;
	return 0;
}

/* A file that holds one id; HEAD may name a branch instead. */
static int add_file(struct ward_git_heads *h, int git, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = read_small(git, name, REF_MAX, &text);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		if (r != -ENOENT)
			not_looked(h->why, "%.120s cannot be read: %s", name, strerror(-r));
		return 0;
	}
	return add(h, name, ward_buf_str(&text), strcspn(ward_buf_str(&text), "\r\n"));
}

static int add_loose(
	struct ward_git_heads *h, int git, const char *path, unsigned depth, uint64_t until_ns)
{
	int at = open_dir(git, path);
	ward_cleanup_dir DIR *d = at < 0 ? NULL : fdopendir(at);
	if (!d) {
		if (at >= 0)
			close(at);
		if (at != -ENOENT)
			not_looked(h->why, "%.120s cannot be read", path);
		return 0;
	}
	int r = 0;
	for (struct dirent *e; r == 0 && (e = readdir(d));) {
		char name[WARD_GIT_REF_NAME_MAX];
		struct stat st;
		const size_t len = strlen(e->d_name);
		if (e->d_name[0] == '.' || (len > 5 && strcmp(e->d_name + len - 5, ".lock") == 0))
			continue;
		if ((size_t)snprintf(name, sizeof(name), "%s/%s", path, e->d_name) >=
				sizeof(name) ||
			depth == DEPTH_MAX || ward_clock_mono_ns() > until_ns) {
			not_looked(h->why, "not all of %.120s was looked at", path);
			continue;
		}
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		r = S_ISDIR(st.st_mode) ? add_loose(h, git, name, depth + 1, until_ns)
					: add_file(h, git, name);
	}
	return r;
}

/* "ID NAME" a line; "#…" and "^…" are about the lines around them. */
static int add_packed(struct ward_git_heads *h, int git)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	char name[WARD_GIT_REF_NAME_MAX];
	int r = read_small(git, "packed-refs", PACKED_REFS_MAX, &text);
	if (r == -ENOMEM || r == -ENOENT)
		return r == -ENOENT ? 0 : r;
	if (r < 0) {
		not_looked(h->why, "packed-refs cannot be read: %s", strerror(-r));
		return 0;
	}
	for (char *line = text.len ? text.data : NULL, *next; r == 0 && line; line = next) {
		char *nl = memchr(line, '\n', (size_t)(text.data + text.len - line));
		next = nl ? nl + 1 : NULL;
		const size_t len = nl ? (size_t)(nl - line) : 0;
		const char *space = memchr(line, ' ', len);
		const size_t n = space ? len - (size_t)(space + 1 - line) : 0;
		if (n >= sizeof(name) || n <= strlen(HEADS) + 1 ||
			strncmp(space + 1, HEADS "/", strlen(HEADS) + 1) != 0)
			continue;
		memcpy(name, space + 1, n);
		name[n] = 0;
		r = add(h, name, line, (size_t)(space - line));
	}
	return r;
}

/* The git directory at the top of the tree; -1: there is none that is looked at. */
static int open_git(int tree, struct ward_git_heads *h)
{
	struct stat st;
	if (fstatat(tree, ".git", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	int git = S_ISDIR(st.st_mode) ? open_dir(tree, ".git") : -ENOTDIR;
	h->there = git >= 0;
	if (git == -ENOTDIR)
		not_looked(h->why, "the git directory lies elsewhere");
	else if (git < 0)
		not_looked(h->why, ".git cannot be read: %s", strerror(-git));
	return git < 0 ? -1 : git;
}

static int read_heads(int tree, struct ward_git_heads *h, int *ret_git)
{
	struct stat st;
	*ret_git = open_git(tree, h);
	if (*ret_git < 0)
		return 0;
	if (fstatat(*ret_git, "reftable", &st, AT_SYMLINK_NOFOLLOW) == 0)
		not_looked(h->why, "its branches are in a reftable");
	int r = add_file(h, *ret_git, "HEAD");
	if (r == 0)
		r = add_loose(h, *ret_git, HEADS, 0, ward_clock_mono_ns() + TIME_NS);
	if (r == 0)
		r = add_packed(h, *ret_git);
	if (r == 0 && h->n)
		qsort(h->ref, h->n, sizeof(*h->ref), compare);
	return r;
}

int ward_git_heads_read(int tree, struct ward_git_heads *ret)
{
	ward_cleanup_fd int git = -1;
	return read_heads(tree, ret, &git);
}

void ward_git_heads_clear(struct ward_git_heads *h)
{
	free(h->ref);
	*h = (struct ward_git_heads){0};
}

/* --- what is new --- */

struct walk {
	struct ward_git_made *made;
	const struct ward_git_heads *before;
	char (*todo)[WARD_GIT_ID_SIZE]; /* commits that were seen, in this order */
	size_t n, done;
};

static bool was_there(const struct ward_git_heads *before, const char *id)
{
	for (size_t i = 0; i < before->n; i++)
		if (strcmp(before->ref[i].id, id) == 0)
			return true;
	return false;
}

static void want(struct walk *w, const char *id)
{
	if (was_there(w->before, id))
		return;
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->todo[i], id) == 0)
			return;
	if (w->n == WARD_GIT_COMMITS_MAX) {
		not_looked(w->made->why, "only %u commits are looked at", WARD_GIT_COMMITS_MAX);
		return;
	}
	memcpy(w->todo[w->n++], id, WARD_GIT_ID_SIZE);
}

static void take_commit(struct walk *w, const char *id, const struct ward_git_parsed *c)
{
	struct ward_git_commit *to = &w->made->commit[w->made->n_commits++];
	memcpy(to->id, id, sizeof(to->id));
	memcpy(to->tree, c->tree, sizeof(to->tree));
	for (size_t i = 0; i < c->n_parents; i++)
		want(w, c->parent[i]);
}

static int walk(struct walk *w, int git)
{
	struct ward_git_unpacker u = {0};
	const uint64_t until = ward_clock_mono_ns() + TIME_NS;
	int r = w->n ? ward_git_unpacker_start(&u) : 0;
	if (r < 0)
		not_looked(w->made->why, "no process to unpack objects: %s", strerror(-r));
	for (; r == 0 && w->done < w->n; w->done++) {
		const char *id = w->todo[w->done];
		struct ward_git_parsed c;
		int e = ward_clock_mono_ns() > until ? -ETIME
						     : ward_git_commit_read(&u, git, id, &c);
		if (e == 0)
			take_commit(w, id, &c);
		else if (e == -ENOMEM || e == -EPIPE || e == -ETIME)
			r = e;
		else
			not_looked(w->made->why, "%s and what is before it: %s", id,
				e == -ENOENT	? "not a loose object: in a pack, or missing"
				: e == -EBADMSG ? "no commit of that digest"
						: strerror(-e));
	}
	ward_git_unpacker_end(&u);
	if (r == -EPIPE || r == -ETIME)
		not_looked(w->made->why, "not all commits were looked at: %s",
			r == -ETIME ? "it took too long" : "the process that unpacks them ended");
	return r == -ENOMEM ? r : 0;
}

static void take_moved(
	struct ward_git_made *m, const char *name, const char *before, const char *after)
{
	struct ward_git_moved *to = &m->moved[m->n_moved++];
	memcpy(to->name, name, sizeof(to->name));
	if (before)
		memcpy(to->before, before, sizeof(to->before));
	if (after)
		memcpy(to->after, after, sizeof(to->after));
}

static void compare_heads(
	struct walk *w, const struct ward_git_heads *before, const struct ward_git_heads *after)
{
	for (size_t i = 0; i < after->n; i++) {
		const struct ward_git_ref *a = &after->ref[i], *b = find(before, a->name);
		if (b && strcmp(a->id, b->id) == 0)
			continue;
		take_moved(w->made, a->name, b ? b->id : NULL, a->id);
		want(w, a->id);
	}
	for (size_t i = 0; i < before->n; i++)
		if (!find(after, before->ref[i].name))
			take_moved(w->made, before->ref[i].name, before->ref[i].id, NULL);
}

int ward_git_made_find(int tree, const struct ward_git_heads *before, struct ward_git_made *ret)
{
	ward_cleanup(ward_git_heads_clear) struct ward_git_heads after = {0};
	ward_cleanup_fd int git = -1;
	int r = read_heads(tree, &after, &git);
	if (r < 0)
		return r;
	not_looked(ret->why, "%s", before->why[0] ? before->why : after.why);
	if (git < 0)
		return 0;
	ward_cleanup_free void *todo = calloc(WARD_GIT_COMMITS_MAX, WARD_GIT_ID_SIZE);
	ret->commit = calloc(WARD_GIT_COMMITS_MAX, sizeof(*ret->commit));
	ret->moved = calloc(before->n + after.n + 1, sizeof(*ret->moved));
	if (!todo || !ret->commit || !ret->moved)
		return -ENOMEM;
	struct walk w = {.made = ret, .before = before, .todo = todo};
	compare_heads(&w, before, &after);
	return walk(&w, git);
}

void ward_git_made_clear(struct ward_git_made *m)
{
	free(m->moved);
	free(m->commit);
	*m = (struct ward_git_made){0};
}
