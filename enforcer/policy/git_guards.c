/* SPDX-License-Identifier: Apache-2.0 */
/* Writes guards for the git directories of a tree as policy text. */
#include "enforcer/policy/git_guards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/gitnamed.h"
#include "enforcer/policy/guard_lines.h"
#include "enforcer/policy/mounted.h"
#include "enforcer/policy/policy.h"
#include "enforcer/policy/read.h"

/* Git directories that are guarded one by one; with more, all directories are. */
#define GIT_DIRS_MAX WARD_KNOWN_MAX
#define DEPTH_MAX 16U
/*
 * Guards one by one take at most so much of a policy's text (WARD_POLICY_TEXT_MAX): a few hundred
 * paths can be as long as paths get.
 */
#define GIT_TEXT_MAX (WARD_POLICY_TEXT_MAX / 2)
/*
 * How far the project is searched for repositories: a second's work on a warm cache, and more than
 * all but the largest have. Where the search ends, guards stand at every depth instead.
 */
#define WALK_DEPTH_MAX 64U
#define WALK_DIRS_MAX 65536U
#define HALF_EVERY 256U /* names between two looks at what the search has left */
#define PLACES_MAX 64U	/* guarded one by one, before the whole tree is */

/* What waits for being searched takes at most this much memory. */
#define QUEUE_BYTES_MAX ((size_t)32 << 20)

/* A directory that waits for being searched. */
struct waiting {
	struct waiting *next;
	unsigned depth;
	char path[];
};

/* First in, first out: what lies near the top is searched first. */
struct queue {
	struct waiting *first, *last;
};

/* Paths are relative to the tree, as their bytes; "" is the top. */
struct guards {
	struct ward_buf *text;
	struct ward_named named;
	struct ward_known *known; /* NULL: nothing is remembered */
	const char *host;	  /* the tree's path on the host; NULL as well */
	struct queue near, bulk;  /* bulk: searched last */
	size_t queued;		  /* bytes of both */
	struct ward_buf stopped;  /* the first directory that was not searched */
	unsigned dirs;		  /* git directories */
	unsigned places;	  /* that were not searched */
	unsigned walked;	  /* directories searched */
	bool cut;		  /* the search ended before it was through */
	bool every;		  /* guards of repositories stand at every depth */
	struct ward_mounted mounted;
	struct ward_buf failed; /* the work tree whose .git could not be followed, as a pattern */
};

/* The same for a path in the tree. */
static void emit(struct guards *g, const char *where, const char *path, const char *below)
{
	ward_guard_lines(g->text, where, g->named.root, path, below);
}

static bool is_long(const struct guards *g)
{
	return g->text->len >= GIT_TEXT_MAX;
}

/* Another git directory. True: there are too many for guards of its own. */
static bool one_more(struct guards *g)
{
	g->every = g->every || g->dirs >= GIT_DIRS_MAX || is_long(g);
	g->dirs += !g->every;
	return g->every;
}

/* Every directory may be a repository: what git runs and obeys in one is guarded in all. */
static int emit_every(struct guards *g)
{
	emit(g, "git", "", "/**");
	emit(g, "bare", "", "/**");
	return g->known && g->host ? ward_known_found(g->known, g->host, "", WARD_KNOWN_EVERY) : 0;
}

/* A repository of this class is at path: it is guarded now, and at later starts. */
static int found(struct guards *g, enum ward_known_class class, const char *path)
{
	const bool keeps = g->known && g->host;
	if (one_more(g))
		return keeps ? ward_known_seen(g->known, g->host, path, class) : 0;
	emit(g, class == WARD_KNOWN_GIT ? "git" : "bare", path, "");
	return keeps ? ward_known_found(g->known, g->host, path, class) : 0;
}

/* At every depth, "config" is the config of every directory there as well. */
static bool no_config_beneath(int tree, const char *pattern, size_t n)
{
	(void)tree;
	return n < 8 || memcmp(pattern + n - 7, "/config", 7) != 0;
}

void ward_git_dir_guards(const char *path, struct ward_buf *text)
{
	/* Not at every depth: refs/remotes is what fetching writes. */
	ward_guard_lines(text, "git", "", path + 1, "");
	ward_guard_lines_wanted(text, "git", "", path + 1, "/modules/**", no_config_beneath, -1);
	ward_guard_lines_wanted(text, "git", "", path + 1, "/worktrees/**", no_config_beneath, -1);
}

static bool has(int dir, const char *name, mode_t type)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & S_IFMT) == type;
}

/* Anything may stand at a name: git follows links, and asks of objects and refs for the x bit
 * alone. */
static bool is_there(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Is this directory a repository's, or was it one? Any of what makes one counts, of any type: a
 * session may have taken HEAD away so that the next one finds no repository to guard.
 */
static bool is_git_dir(int fd)
{
	static const char *const marks[] = {
		"HEAD", "config", "hooks", "commondir", "objects", "refs", "gitdir"};
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (is_there(fd, marks[i]))
			return true;
	return false;
}

static bool is_bare(int dir)
{
	return is_there(dir, "objects") && is_there(dir, "refs") && is_there(dir, "HEAD");
}

/* As the git directory of a worktree (gitrepository-layout(5)): the rest lies where it says. */
static bool is_linked(int dir)
{
	return is_there(dir, "HEAD") && is_there(dir, "commondir");
}

static int open_dir(int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int git_dirs(struct guards *g, int at, const char *name, const char *path,
	const char *work_tree, unsigned depth);

/* "dir/name". */
static int join(struct ward_buf *path, const char *dir, const char *name)
{
	ward_buf_printf(path, "%s%s%s", dir, *dir ? "/" : "", name);
	return ward_buf_error(path);
}

/* Every directory in dir (taken): a git directory, or a part of the name of one. */
static int each(struct guards *g, int fd, const char *prefix, unsigned depth)
{
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	struct dirent *e;
	int r = 0;
	while (r == 0 && (errno = 0, e = readdir(d))) {
		r = ward_budget_entry(g->named.budget);
		if (r < 0 && !g->named.culprit.len)
			ward_buf_puts(&g->named.culprit, prefix);
		if (r < 0 || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			!has(dirfd(d), e->d_name, S_IFDIR))
			continue;
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		r = join(&path, prefix, e->d_name);
		if (r == 0)
			r = git_dirs(g, dirfd(d), e->d_name, ward_buf_str(&path), NULL, depth + 1);
	}
	return r == 0 && errno ? -errno : r;
}

/* Where a git directory has others. */
static const char *const inner[] = {"modules", "worktrees"};

static bool is_inner(const char *name)
{
	return strcmp(name, inner[0]) == 0 || strcmp(name, inner[1]) == 0;
}

/*
 * Beneath what looks like a git directory in modules/: that takes one name, which anybody can make
 * in a part of the name of others. Only what is whole counts here, objects have many directories.
 */
static int hidden_modules(struct guards *g, int fd, const char *prefix, bool top, unsigned depth)
{
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	struct dirent *e;
	int r = 0;
	while (r == 0 && (errno = 0, e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			!has(dirfd(d), e->d_name, S_IFDIR) || (top && is_inner(e->d_name)))
			continue;
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		ward_cleanup_fd int sub = open_dir(dirfd(d), e->d_name);
		r = join(&path, prefix, e->d_name);
		if (r == 0)
			r = ward_budget_entry(g->named.budget);
		if (r < 0 || sub == -ENOENT)
			continue;
		if (sub < 0 || depth > DEPTH_MAX)
			r = sub < 0 ? sub : -E2BIG;
		else if (has(sub, "HEAD", S_IFREG) && has(sub, "config", S_IFREG))
			r = git_dirs(g, dirfd(d), e->d_name, ward_buf_str(&path), NULL, depth + 1);
		else
			r = hidden_modules(
				g, ward_steal_fd(&sub), ward_buf_str(&path), false, depth + 1);
	}
	return r == 0 && errno ? -errno : r;
}

/*
 * What a git directory at path names, and the directory whose hooks and config count as its own.
 * That needs no HEAD; with one, the search finds it.
 */
static int names_of(struct guards *g, const char *path, const char *work_tree)
{
	ward_cleanup(ward_buf_clear) struct ward_buf common = WARD_BUF_INIT;
	int r = ward_named_git_dir(&g->named, path, work_tree);
	if (r == 0)
		r = ward_named_common(&g->named, path, &common);
	if (r <= 0)
		return r;
	const char *there = ward_buf_str(&common);
	ward_cleanup_fd int fd = open_dir(g->named.tree_fd, *there ? there : ".");
	if (fd >= 0 && is_bare(fd))
		return 0;
	r = found(g, WARD_KNOWN_GIT, there);
	return r < 0 ? r : ward_named_git_dir(&g->named, there, NULL);
}

/* The directory `name` in `at`: guarded if it is a git directory, and what it holds looked at. */
static int git_dirs(struct guards *g, int at, const char *name, const char *prefix,
	const char *work_tree, unsigned depth)
{
	if (depth > DEPTH_MAX)
		return -E2BIG;
	ward_cleanup_fd int fd = open_dir(at, name);
	if (fd < 0)
		return fd;
	/*
	 * Also without a HEAD: one session could move it away, the next one, unguarded, write the
	 * config and put it back. In modules/ such a directory may as well be a part of a longer
	 * name.
	 */
	int r = found(g, WARD_KNOWN_GIT, prefix);
	if (r < 0)
		return r;
	if (depth > 0 && !is_git_dir(fd))
		return each(g, ward_steal_fd(&fd), prefix, depth);
	r = names_of(g, prefix, work_tree);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(inner) / sizeof(inner[0]); i++) {
		int sub = open_dir(fd, inner[i]);
		if (sub == -ENOENT || sub == -ENOTDIR || sub == -ELOOP)
			continue;
		if (sub < 0)
			return sub;
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		r = join(&path, prefix, inner[i]);
		if (r < 0) {
			close(sub);
			return r;
		}
		r = each(g, sub, ward_buf_str(&path), depth + 1);
		if (r < 0)
			return r;
	}
	return depth > 0 ? hidden_modules(g, ward_steal_fd(&fd), prefix, true, depth) : 0;
}

/* Everything beneath can at most be read. */
static void close_all(struct guards *g, const char *path)
{
	ward_buf_puts(g->text, "read = ");
	ward_guard_put_path(g->text, g->named.root, path);
	ward_buf_putc(g->text, '\n');
}

/* Could a session of the user that we act as change its mode? */
static bool is_ours(const struct stat *st)
{
	return st->st_uid == (uid_t)setfsuid((uid_t)-1);
}

static bool is_owners(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || is_ours(&st);
}

/* The search ends before this directory. */
static void stop_at(struct guards *g, const char *path)
{
	if (!g->cut) {
		ward_buf_clear(&g->stopped);
		ward_buf_puts(&g->stopped, path);
	}
	g->cut = true;
}

/* Guards for every repository beneath prefix, there or still to be made: it was not searched. */
static int unsearched(struct guards *g, const char *prefix)
{
	if (*prefix && is_long(g)) {
		stop_at(g, prefix);
		return 0;
	}
	emit(g, "git", prefix, "/**/.git");
	emit(g, "git", prefix, "/**/.git/modules/**");
	if (++g->places >= PLACES_MAX)
		stop_at(g, prefix);
	return ward_buf_error(g->text);
}

/* A `.git` that is a file or a link: it says where the git directory is. */
static int elsewhere(struct guards *g, const char *work_tree)
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
	(void)one_more(g);
	int r = ward_named_git_file(&g->named, work_tree, &dir);
	const char *d = ward_buf_str(&dir);
	/* those are found from the git directory that they lie in */
	if (r <= 0 || strstr(d, ".git/modules/") || strstr(d, ".git/worktrees/"))
		return r < 0 ? r : 0;
	return git_dirs(g, g->named.tree_fd, d, d, work_tree, 0);
}

static int follow(struct guards *g, int dir, const char *prefix)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	int r = join(&path, prefix, ".git");
	if (r == 0 && !has(dir, ".git", S_IFDIR))
		return elsewhere(g, prefix);
	if (r == 0)
		r = git_dirs(g, dir, ".git", ward_buf_str(&path), prefix, 0);
	if (r != -EACCES)
		return r;
	close_all(g, ward_buf_str(&path));
	/* Its owner can take the mode back, and git finds the configuration by its name. What is
	 * another's the owner cannot read there either, nor can the owner's git. */
	if (!is_owners(dir, ".git"))
		return 0;
	r = ward_named_git_dir(&g->named, ward_buf_str(&path), prefix);
	if (r == -EACCES && g->named.culprit.len &&
		!is_owners(g->named.tree_fd, ward_buf_str(&g->named.culprit))) {
		ward_buf_clear(&g->named.culprit);
		return 0;
	}
	return r;
}

/* `.git` in the directory dir, a repository's work tree. */
static int repository(struct guards *g, int dir, const char *prefix)
{
	int r = follow(g, dir, prefix);
	if (r < 0 && g->failed.len == 0)
		ward_guard_put_path(&g->failed, g->named.root, prefix);
	return r;
}

static bool is_dir(int dir, const struct dirent *e)
{
	return e->d_type == DT_DIR || (e->d_type == DT_UNKNOWN && has(dir, e->d_name, S_IFDIR));
}

static bool is_repository(int dir, const char *name)
{
	ward_cleanup_fd int fd = open_dir(dir, name);
	return fd == -EACCES || (fd >= 0 && is_bare(fd));
}

/* --- the search --- */

/* Where tools put what they download or build: thousands of directories, and seldom a repository.
 */
static bool is_bulk(int dir, const char *name)
{
	static const char *const bulk[] = {"node_modules", ".venv", "venv", "site-packages",
		"__pycache__", ".tox", "target", "build", "dist", ".next", ".cache", ".gradle",
		"Pods"};
	for (size_t i = 0; i < sizeof(bulk) / sizeof(bulk[0]); i++)
		if (strcmp(name, bulk[i]) == 0)
			return true;
	return strcmp(name, "objects") == 0 && is_bare(dir);
}

static struct waiting *pop(struct guards *g, bool *ret_bulk)
{
	struct queue *q = g->near.first ? &g->near : &g->bulk;
	struct waiting *w = q->first;
	*ret_bulk = q == &g->bulk;
	if (!w)
		return NULL;
	q->first = w->next;
	if (!q->first)
		q->last = NULL;
	g->queued -= sizeof(*w) + strlen(w->path) + 1;
	return w;
}

static int push(struct guards *g, struct queue *q, const char *path, unsigned depth)
{
	size_t len = strlen(path) + 1;
	struct waiting *w = malloc(sizeof(*w) + len);
	if (!w)
		return -ENOMEM;
	*w = (struct waiting){.depth = depth};
	memcpy(w->path, path, len);
	if (q->last)
		q->last->next = w;
	else
		q->first = w;
	q->last = w;
	g->queued += sizeof(*w) + len;
	if (g->queued > QUEUE_BYTES_MAX)
		stop_at(g, path);
	return 0;
}

/* A path in the tree; no name of it is followed as a link. */
static int open_beneath(const struct guards *g, const char *path, uint64_t flags)
{
	return ward_mounted_open_in(g->named.tree_fd, path, flags, 0);
}

/* The same of a directory to be searched: what is mounted there may not answer. -ETIMEDOUT. */
static int open_searched(struct guards *g, const char *path)
{
	return ward_mounted_open(&g->mounted, g->named.tree_fd, path);
}

/* What one directory holds; what is beneath it has to wait. The top itself is looked at elsewhere.
 */
static int walk_each(struct guards *g, DIR *d, const struct waiting *w, bool bulk)
{
	struct dirent *e;
	int r = 0;
	while (r == 0 && !g->cut && (errno = 0, e = readdir(d))) {
		if (ward_budget_entry(g->named.budget) < 0 ||
			(g->named.budget->entries % HALF_EVERY == 0 &&
				ward_budget_half(g->named.budget)))
			stop_at(g, w->path);
		if (g->cut || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		const bool named = strcmp(e->d_name, ".git") == 0;
		const bool mark = named || strcmp(e->d_name, ".wardfs.policy") == 0;
		if (mark && w->depth > 0 && !bulk && g->known && g->host)
			r = ward_known_marked(g->known, g->host, w->path);
		if (r == 0 && named && w->depth > 0)
			r = repository(g, dirfd(d), w->path);
		/* A directory of that name that is no git directory may contain one. */
		if (r < 0 || !is_dir(dirfd(d), e) || (named && is_repository(dirfd(d), e->d_name)))
			continue;
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		r = join(&path, w->path, e->d_name);
		if (r == 0)
			r = push(g, bulk || is_bulk(dirfd(d), e->d_name) ? &g->bulk : &g->near,
				ward_buf_str(&path), w->depth + 1);
	}
	return r == 0 && !g->cut && errno ? -errno : r;
}

/* One session takes the mode away, the next one would find nothing to guard. */
static int closed(struct guards *g, const struct waiting *w)
{
	ward_cleanup_fd int fd = open_beneath(g, w->path, O_PATH);
	struct stat st;
	if (w->depth > 0 && (fd < 0 || fstat(fd, &st) < 0 || is_ours(&st))) {
		close_all(g, w->path);
		return ward_buf_error(g->text);
	}
	return unsearched(g, w->path);
}

/* Searches one directory for repositories. */
static int walk(struct guards *g, const struct waiting *w, bool bulk)
{
	if (w->depth > WALK_DEPTH_MAX)
		return unsearched(g, w->path);
	int fd = open_searched(g, w->path);
	if (fd == -EACCES)
		return closed(g, w);
	if (fd == -ETIMEDOUT) {
		close_all(g, w->path);
		return ward_buf_error(g->text);
	}
	if (fd < 0) /* gone, or replaced? */
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? 0 : fd;
	g->walked++;
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	const bool bare = w->depth > 0 && is_bare(fd);
	/* The tree is a git directory, or has one by another name. */
	if (bare || (w->depth > 0 && is_linked(fd))) {
		int r = found(g, bare ? WARD_KNOWN_BARE : WARD_KNOWN_GIT, w->path);
		if (r == 0)
			r = names_of(g, w->path, NULL);
		if (r < 0)
			return r;
	}
	/* Also of what looks like a repository: that takes three names, which anybody can make. */
	return walk_each(g, d, w, bulk);
}

/*
 * Level by level, and what tools make by the thousands last: so neither a session nor a package
 * manager, which fill a part of the tree, push what lies elsewhere beyond the bound.
 */
static int walk_all(struct guards *g)
{
	int r = push(g, &g->near, "", 0);
	struct waiting *w = NULL;
	bool bulk = false;
	while ((w = pop(g, &bulk))) {
		if (r == 0 && !g->cut &&
			(g->walked >= WALK_DIRS_MAX || ward_budget_half(g->named.budget)))
			stop_at(g, w->path);
		if (r == 0 && !g->cut)
			r = walk(g, w, bulk);
		free(w);
	}
	return r;
}

/* --- what is remembered --- */

/*
 * Does nothing stand at path any more? Only where each directory above it can be read, and so says
 * that: a mode that a session took away makes nothing gone, nor does a link in its place.
 */
static bool is_gone(const struct guards *g, const char *path)
{
	ward_cleanup_fd int dir = open_beneath(g, "", O_RDONLY);
	struct stat st;
	while (dir >= 0 && *path) {
		char name[256];
		size_t n = strcspn(path, "/");
		if (n >= sizeof(name))
			return false;
		memcpy(name, path, n);
		name[n] = 0;
		path += n + strspn(path + n, "/");
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno == ENOENT;
		int next = *path ? open_dir(dir, name) : -1;
		close(dir);
		dir = next;
	}
	return false;
}

/* What the configuration of a remembered repository names. Whatever stands in its place now: the
 * names themselves are guarded already. */
static int remembered_names(struct guards *g, const struct ward_known_repo *k, const char *path)
{
	ward_cleanup(ward_buf_clear) struct ward_buf work = WARD_BUF_INIT;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	bool in_work_tree = k->class == WARD_KNOWN_GIT && strcmp(name, ".git") == 0;
	ward_buf_add(&work, path, slash ? (size_t)(slash - path) : 0);
	ward_buf_puts(&work, "");
	if (ward_buf_error(&work) < 0)
		return -ENOMEM;
	ward_cleanup_fd int fd = open_beneath(g, path, O_PATH);
	int r = fd < 0 ? 0
		       : ward_named_git_dir(
				 &g->named, path, in_work_tree ? ward_buf_str(&work) : NULL);
	if (r != -EACCES && r != -ENOENT && r != -ENOTDIR && r != -ELOOP)
		return r;
	ward_buf_clear(&g->named.culprit);
	return 0;
}

/* Guards for what earlier starts found in this tree, and this one did not. */
static int remembered(struct guards *g)
{
	bool begun = false;
	int r = 0;
	for (size_t i = 0; g->known && g->host && i < g->known->n && r == 0; i++) {
		struct ward_known_repo *k = &g->known->v[i];
		const char *path = ward_known_beneath(k->path, g->host);
		if (!path || !k->before || k->now)
			continue;
		k->gone = is_gone(g, path);
		if (k->gone)
			continue;
		if (!begun)
			ward_buf_puts(g->text, "\n[guard]\n" WARD_REMEMBERED_MARK "\n");
		begun = true;
		if (k->class == WARD_KNOWN_EVERY && is_long(g)) {
			g->every = true;
			continue;
		}
		if (k->class == WARD_KNOWN_EVERY) {
			/* Of this tree, or of one beneath it that was a project. */
			emit(g, "git", path, "/**");
			emit(g, "bare", path, "/**");
			continue;
		}
		if (!one_more(g))
			emit(g, k->class == WARD_KNOWN_GIT ? "git" : "bare", path, "");
		r = remembered_names(g, k, path);
	}
	return r;
}

/* --- the tree --- */

/*
 * Beside a .git that lost its HEAD (git replaces it all the time, so it cannot be guarded), git
 * takes the top itself for a repository, with config and hooks of its own, if HEAD, objects and
 * refs are there; commondir says where else the latter two may lie. One that is missing and stays
 * so is enough; HEAD is the one that no project misses.
 */
static void not_bare(struct guards *g, int tree)
{
	static const char *const parts[] = {"HEAD", "commondir", "objects", "refs"};
	struct stat st;
	bool head = fstatat(tree, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0;
	for (size_t i = 0; i < (head ? sizeof(parts) / sizeof(parts[0]) : 1); i++)
		if (i < 2 || fstatat(tree, parts[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			ward_buf_printf(g->text, "read = %s/%s\n", g->named.root, parts[i]);
}

static int follow_name(void *arg, const char *pattern)
{
	return ward_named_link(arg, pattern);
}

/* What names at the top lead to. */
static int search_top(struct guards *g)
{
	static const char *const classes[] = {"top", "point", "there"};
	int r = ward_named_npmrc(&g->named);
	for (size_t i = 0; r == 0 && i < sizeof(classes) / sizeof(*classes); i++)
		r = ward_guard_each(classes[i], follow_name, &g->named);
	return r;
}

static int search(struct guards *g, bool part)
{
	const int tree = g->named.tree_fd;
	struct stat st;
	int r = part ? 0 : search_top(g);
	if (r == 0 && fstatat(tree, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0) {
		not_bare(g, tree);
		r = repository(g, tree, "");
	}
	if (r == 0 && ((is_there(tree, "objects") && is_there(tree, "refs")) || is_linked(tree))) {
		r = found(g, WARD_KNOWN_BARE, "");
		if (r == 0)
			r = names_of(g, "", NULL);
	}
	if (r == 0)
		r = walk_all(g);
	if (r == 0 && g->cut)
		r = unsearched(g, "");
	if (r == 0)
		r = remembered(g);
	if (r == 0 && g->every)
		r = emit_every(g);
	if (r == 0 && g->known && g->host)
		r = ward_known_searched(
			g->known, g->host, g->stopped.data ? ward_buf_str(&g->stopped) : NULL);
	return r;
}

/* Says which repository, which of its files, and what is wrong with it or which bound is met. */
static void explain(const struct guards *g, int r, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	const char *file = g->named.culprit.len ? ward_buf_str(&g->named.culprit) : NULL;
	const char *where = g->failed.len ? ward_buf_str(&g->failed) : g->named.root;
	const bool project = strcmp(g->named.root, "/workspace") == 0;
	ward_cleanup(ward_buf_clear) struct ward_buf any = WARD_BUF_INIT, in = WARD_BUF_INIT;
	ward_buf_printf(
		&in, "looking for repositories in %s", project ? "the project" : g->named.root);
	if (file)
		ward_buf_printf(&any, "%s/%s", g->named.root, file);
	else
		ward_buf_printf(&any, "%s/.git", where);
	if (r == -E2BIG)
		ward_err_set(&why, r, "%s: more files or git directories than anyone has",
			ward_buf_str(&any));
	else if (r == -ETIMEDOUT)
		ward_err_set(&why, r, "%s leads to a file system that does not answer",
			ward_buf_str(&any));
	else if (!ward_budget_refuse(r, ward_buf_str(&any), WARD_NAMED_FILE_MAX, &why))
		ward_err_sys(&why, r, "%s", ward_buf_str(&any));
	if (!g->failed.len && !file)
		ward_err_sys(err, r, "%s", ward_buf_str(&in));
	else
		ward_err_set(err, r,
			"%s: wardfs cannot guard what %s/.git leads to: %s (fix: look at that directory, or move it away)",
			ward_buf_str(&in), where, why.text);
}

int ward_present_guards(const struct ward_guarded_tree *tree, struct ward_known *known,
	struct ward_budget *budget, struct ward_buf *text, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf root = WARD_BUF_INIT;
	ward_pattern_quote(&root, tree->root, strlen(tree->root));
	int r = ward_buf_error(text);
	if (r == 0)
		r = ward_buf_error(&root);
	if (r < 0)
		return ward_err_sys(err, r, "looking for repositories in %s", tree->root);
	struct guards g = {.text = text,
		.named = {.tree_fd = tree->fd,
			.root = ward_buf_str(&root),
			.text = text,
			.budget = budget,
			.culprit = WARD_BUF_INIT},
		.known = known,
		.host = tree->host,
		.stopped = WARD_BUF_INIT,
		.mounted = WARD_MOUNTED_INIT,
		.failed = WARD_BUF_INIT};
	g.named.section = text->len;
	ward_buf_puts(text, "\n[guard]\n");
	if (!tree->part) {
		emit(&g, "top", "", "");
		ward_guard_lines_wanted(
			text, "point", g.named.root, "", "", ward_guard_no_dir, tree->fd);
		ward_guard_lines_wanted(
			text, "there", g.named.root, "", "", ward_guard_there, tree->fd);
	}
	r = tree->fd < 0 ? 0 : search(&g, tree->part);
	if (r == 0)
		r = ward_buf_error(text);
	if (r < 0)
		explain(&g, r, err);
	ward_buf_clear(&g.stopped);
	ward_buf_clear(&g.failed);
	ward_mounted_clear(&g.mounted);
	ward_named_clear(&g.named);
	return r;
}
