/* SPDX-License-Identifier: Apache-2.0 */
/* Writes guards for the git directories of the project as policy text. */
#include "enforcer/policy/git_guards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/gitnamed.h"
#include "enforcer/policy/policy.h"

/* Git directories looked for beneath .git; a repository with more submodules or worktrees than
 * that is refused rather than guarded in part. */
#define GIT_DIRS_MAX 4096U
#define DEPTH_MAX 16U
/*
 * How far the project is searched for repositories: a second's work on a warm cache, and more than
 * all but the largest have. Where the search ends, guards stand at every depth instead.
 */
#define WALK_DEPTH_MAX 64U
#define WALK_DIRS_MAX 65536U
#define HALF_EVERY 256U /* names between two looks at what the search has left */
#define PLACES_MAX 64U	/* guarded one by one, before the whole tree is */

/* Paths are relative to the tree, as their bytes; "" is the top. */
struct guards {
	struct ward_buf *text;
	struct ward_named named;
	unsigned dirs;		/* git directories */
	unsigned places;	/* that were not searched */
	unsigned walked;	/* directories searched */
	bool cut;		/* the search ended before it was through */
	struct ward_buf failed; /* the work tree whose .git could not be followed, as a pattern */
};

/* The next field of *s, which moves behind it. */
static size_t field(const char **s, const char **ret)
{
	*s += strspn(*s, " \t");
	*ret = *s;
	size_t n = strcspn(*s, " \t\n");
	*s += n;
	return n;
}

static bool is(const char *f, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(f, word, n) == 0;
}

/* Writes the path, which is beneath `root`, as a pattern. */
static void put_path(struct ward_buf *text, const char *root, const char *path)
{
	ward_buf_printf(text, "%s%s", root, *path ? "/" : "");
	ward_pattern_quote(text, path, strlen(path));
}

/* Writes the list's lines of class `where`: their patterns below root/path and, below that, a
 * pattern.
 */
static void emit_lines(struct ward_buf *text, const char *where, const char *root, const char *path,
	const char *below)
{
	const char *list = ward_embedded_lists[0].data;
	while (*list) {
		const char *w, *verb, *pattern;
		const char *s = list;
		list += strcspn(list, "\n");
		list += *list == '\n';
		size_t n = field(&s, &w);
		if (!is(w, n, where))
			continue;
		size_t n_verb = field(&s, &verb), n_pattern = field(&s, &pattern);
		if (is(verb, n_verb, "-"))
			continue;
		ward_buf_add(text, verb, n_verb);
		ward_buf_puts(text, " = ");
		put_path(text, root, path);
		ward_buf_printf(text, "%s/", below);
		ward_buf_add(text, pattern, n_pattern);
		ward_buf_putc(text, '\n');
	}
}

/* The same for a path in the project. */
static void emit(struct guards *g, const char *where, const char *path, const char *below)
{
	emit_lines(g->text, where, "/workspace", path, below);
}

void ward_git_dir_guards(const char *path, struct ward_buf *text)
{
	/* Not at every depth: refs/remotes is what fetching writes. */
	emit_lines(text, "git", "", path + 1, "");
	emit_lines(text, "git", "", path + 1, "/modules/**");
	emit_lines(text, "git", "", path + 1, "/worktrees/**");
}

static bool has(int dir, const char *name, mode_t type)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && (st.st_mode & S_IFMT) == type;
}

/*
 * Is this directory a repository's, or was it one? Any of what makes one counts, of any type: a
 * session may have taken HEAD away so that the next one finds no repository to guard.
 */
static bool is_git_dir(int fd)
{
	static const char *const marks[] = {
		"HEAD", "config", "hooks", "commondir", "objects", "refs", "gitdir"};
	struct stat st;
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (fstatat(fd, marks[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
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

/* The directory `name` in `at`: guarded if it is a git directory, and what it holds looked at. */
static int git_dirs(struct guards *g, int at, const char *name, const char *prefix,
	const char *work_tree, unsigned depth)
{
	if (depth > DEPTH_MAX || ++g->dirs > GIT_DIRS_MAX)
		return -E2BIG;
	ward_cleanup_fd int fd = open_dir(at, name);
	if (fd < 0)
		return fd;
	/*
	 * Also without a HEAD: one session could move it away, the next one, unguarded, write the
	 * config and put it back. In modules/ such a directory may as well be a part of a longer
	 * name.
	 */
	emit(g, "git", prefix, "");
	if (depth > 0 && !is_git_dir(fd))
		return each(g, ward_steal_fd(&fd), prefix, depth);
	int r = ward_named_git_dir(&g->named, prefix, work_tree);
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
	put_path(g->text, "/workspace", path);
	ward_buf_putc(g->text, '\n');
}

/* Could a session of whoever we act as change the mode of it? */
static bool is_owners(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	       st.st_uid == (uid_t)setfsuid((uid_t)-1);
}

/* Guards for every repository beneath prefix, there or still to be made: it was not searched. */
static int unsearched(struct guards *g, const char *prefix)
{
	emit(g, "git", prefix, "/**/.git");
	emit(g, "git", prefix, "/**/.git/modules/**");
	g->cut = g->cut || ++g->places >= PLACES_MAX;
	return ward_buf_error(g->text);
}

/* A `.git` that is a file or a link: it says where the git directory is. */
static int elsewhere(struct guards *g, const char *work_tree)
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
	int r = ++g->dirs > GIT_DIRS_MAX ? -E2BIG : 0;
	if (r == 0)
		r = ward_named_git_file(&g->named, work_tree, &dir);
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
		put_path(&g->failed, "/workspace", prefix);
	return r;
}

static bool is_dir(int dir, const struct dirent *e)
{
	return e->d_type == DT_DIR || (e->d_type == DT_UNKNOWN && has(dir, e->d_name, S_IFDIR));
}

static bool is_bare(int dir)
{
	struct stat st;
	return has(dir, "objects", S_IFDIR) && has(dir, "refs", S_IFDIR) &&
	       fstatat(dir, "HEAD", &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_repository(int dir, const char *name)
{
	ward_cleanup_fd int fd = open_dir(dir, name);
	return fd == -EACCES || (fd >= 0 && is_bare(fd));
}

static int walk(struct guards *g, int at, const char *name, const char *prefix, unsigned depth);

/* What one directory holds, and those beneath. The top itself is looked at elsewhere. */
static int walk_each(struct guards *g, DIR *d, const char *prefix, unsigned depth)
{
	struct dirent *e;
	int r = 0;
	while (r == 0 && !g->cut && (errno = 0, e = readdir(d))) {
		g->cut = ward_budget_entry(g->named.budget) < 0 ||
			 (g->named.budget->entries % HALF_EVERY == 0 &&
				 ward_budget_half(g->named.budget));
		if (g->cut || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		const bool named = strcmp(e->d_name, ".git") == 0;
		if (named && depth > 0)
			r = repository(g, dirfd(d), prefix);
		/* A directory of that name that is none may hold one. */
		if (r < 0 || !is_dir(dirfd(d), e) || (named && is_repository(dirfd(d), e->d_name)))
			continue;
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		r = join(&path, prefix, e->d_name);
		if (r == 0)
			r = walk(g, dirfd(d), e->d_name, ward_buf_str(&path), depth + 1);
	}
	return r == 0 && !g->cut && errno ? -errno : r;
}

/* Searches the directory `name` in `at` for repositories. */
static int walk(struct guards *g, int at, const char *name, const char *prefix, unsigned depth)
{
	if (g->walked >= WALK_DIRS_MAX || ward_budget_half(g->named.budget)) {
		g->cut = true;
		return 0;
	}
	const bool deep = depth > WALK_DEPTH_MAX;
	int fd = deep ? -EACCES : open_dir(at, name);
	if (fd == -EACCES && !deep && depth > 0 && is_owners(at, name)) {
		/* One session takes the mode away, the next one would find nothing to guard. */
		close_all(g, prefix);
		return ward_buf_error(g->text);
	}
	if (fd == -EACCES)
		return unsearched(g, prefix);
	if (fd < 0) /* gone, or replaced? */
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? 0 : fd;
	g->walked++;
	ward_cleanup_dir DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	if (depth > 0 && is_bare(fd)) {
		emit(g, "bare", prefix, "");
		int r = ++g->dirs > GIT_DIRS_MAX ? -E2BIG
						 : ward_named_git_dir(&g->named, prefix, NULL);
		if (r < 0)
			return r;
	}
	/* Also of what looks like a repository: that takes three names, which anybody can make. */
	return walk_each(g, d, prefix, depth);
}

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
			ward_buf_printf(g->text, "read = /workspace/%s\n", parts[i]);
}

static int search(struct guards *g, int tree)
{
	struct stat st;
	int r = 0;
	if (fstatat(tree, ".git", &st, AT_SYMLINK_NOFOLLOW) == 0) {
		not_bare(g, tree);
		r = repository(g, tree, "");
	}
	if (has(tree, "objects", S_IFDIR) && has(tree, "refs", S_IFDIR)) {
		emit(g, "bare", "", "");
		if (r == 0)
			r = ward_named_git_dir(&g->named, "", NULL);
	}
	if (r == 0)
		r = walk(g, tree, ".", "", 0);
	if (r == 0 && g->cut)
		r = unsearched(g, "");
	return r;
}

/* Says which repository, which of its files, and what is wrong with it or which bound is met. */
static void explain(const struct guards *g, int r, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	const char *file = g->named.culprit.len ? ward_buf_str(&g->named.culprit) : NULL;
	const char *where = g->failed.len ? ward_buf_str(&g->failed) : "/workspace";
	ward_cleanup(ward_buf_clear) struct ward_buf any = WARD_BUF_INIT;
	ward_buf_printf(&any, "%s%s", file ? "/workspace/" : where, file ? file : "/.git");
	if (r == -E2BIG)
		ward_err_set(&why, r, "%s: more files or git directories than anyone has",
			ward_buf_str(&any));
	else if (!ward_budget_refuse(r, ward_buf_str(&any), WARD_NAMED_FILE_MAX, &why))
		ward_err_sys(&why, r, "%s", ward_buf_str(&any));
	if (!g->failed.len && !file)
		ward_err_sys(err, r, "looking for repositories in the project");
	else
		ward_err_set(err, r,
			"looking for repositories in the project: what %s/.git leads to cannot be "
			"guarded: %s (fix: look at it, or move it away)",
			where, why.text);
}

int ward_present_guards(
	int tree_fd, struct ward_budget *budget, struct ward_buf *text, struct ward_err *err)
{
	struct guards g = {.text = text,
		.named = {.tree_fd = tree_fd,
			.text = text,
			.budget = budget,
			.culprit = WARD_BUF_INIT},
		.failed = WARD_BUF_INIT};
	int r = ward_buf_error(text);
	if (r < 0)
		return ward_err_sys(err, r, "looking for repositories in the project");
	g.named.section = text->len;
	ward_buf_puts(text, "\n[guard]\n");
	emit(&g, "top", "", "");
	r = tree_fd < 0 ? 0 : search(&g, tree_fd);
	if (r == 0)
		r = ward_buf_error(text);
	if (r < 0)
		explain(&g, r, err);
	ward_buf_clear(&g.failed);
	ward_named_clear(&g.named);
	return r;
}
