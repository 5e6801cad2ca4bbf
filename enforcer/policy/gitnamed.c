/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of the tree that a repository's configuration names. */
#include "enforcer/policy/gitnamed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/policy/command_words.h"
#include "enforcer/policy/gitconfig.h"
#include "enforcer/policy/policy.h"

/* Of one project; far more than repositories have. */
#define LINES_MAX 4096U
#define FILES_MAX 16384U
/* Of one path, as the kernel counts links (MAXSYMLINKS). */
#define LINKS_MAX 40U
/* Of one file in another, as git counts them (MAX_INCLUDE_DEPTH). */
#define INCLUDE_MAX 10U

/* How to look at a path. */
enum {
	IF_THERE = 1, /* guard it only if it exists */
	NO_DIR = 2,   /* and is no directory */
	LOOK = 4,     /* guard nothing */
	NEEDED = 8,   /* what may not be entered is an error */
};

/* The line of a guard, once. */
static int guard(struct ward_named *n, const char *path, unsigned flags)
{
	if (flags & LOOK || !*path)
		return 0;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	ward_buf_printf(&line, "\nread = %s/", n->root);
	ward_pattern_quote(&line, path, strlen(path));
	ward_buf_putc(&line, '\n');
	int r = ward_buf_error(&line);
	if (r == 0)
		r = ward_buf_error(n->text);
	if (r < 0 || strstr(ward_buf_str(n->text) + n->section, ward_buf_str(&line)))
		return r;
	if (++n->lines > LINES_MAX)
		return -E2BIG;
	ward_buf_puts(n->text, ward_buf_str(&line) + 1);
	return ward_buf_error(n->text);
}

/*
 * Where the path, which leads out of the tree, comes back to its top: what is left of it from
 * there, or NULL. By the identity of the directories, since a path may go through links. The path
 * may name a file system that answers to nobody: -ETIMEDOUT.
 */
static int back_inside(int tree, const char *path, const char **ret)
{
	struct stat top, st;
	*ret = NULL;
	if (fstatat(tree, ".", &top, 0) < 0)
		return 0;
	for (const char *s = path + 1; *s; s++) {
		if (*s != '/' && s[1])
			continue;
		size_t len = (size_t)(s - path) + (*s != '/');
		char part[4096];
		if (len >= sizeof(part))
			return 0;
		memcpy(part, path, len);
		part[len] = 0;
		ward_cleanup_fd int fd = ward_patient_open_dir(tree, part, WARD_PATIENT_NS, &st);
		if (fd < 0)
			return fd == -ETIMEDOUT || fd == -ENOMEM || fd == -EAGAIN ? fd : 0;
		if (st.st_dev == top.st_dev && st.st_ino == top.st_ino) {
			*ret = path + len;
			return 0;
		}
	}
	return 0;
}

static int set(struct ward_buf *b, const char *s, const char *rest)
{
	struct ward_buf v = WARD_BUF_INIT; /* s and rest may lie in b */
	ward_buf_printf(&v, "%s%s%s", s, *rest ? "/" : "", rest);
	ward_buf_clear(b);
	*b = v;
	return ward_buf_error(b);
}

/* The link at path, which is guarded, as the beginning of what is left to go. */
static int follow(struct ward_named *n, const char *path, struct ward_buf *left, unsigned flags)
{
	char target[4096];
	ssize_t len = readlinkat(n->tree_fd, path, target, sizeof(target));
	if (len < 0)
		return -errno;
	if (len == 0 || (size_t)len >= sizeof(target))
		return -ENAMETOOLONG;
	target[len] = 0;
	if (++n->hops > LINKS_MAX)
		return -ELOOP;
	int r = guard(n, path, flags);
	return r < 0 ? r : set(left, target, ward_buf_str(left));
}

/* real without its last name. */
static void cut_last(struct ward_buf *real)
{
	char *slash = real->data ? strrchr(real->data, '/') : NULL;
	real->len = slash ? (size_t)(slash - real->data) : 0;
	if (real->data)
		real->data[real->len] = 0;
}

/*
 * For a missing file: a session may not create it. Nor may a session replace the directory that
 * would contain it, which may be empty and removable, by a link. The top and a git directory stay.
 */
static int missing(struct ward_named *n, const char *path, unsigned flags)
{
	ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT, in = WARD_BUF_INIT;
	ward_buf_puts(&dir, path);
	cut_last(&dir);
	ward_buf_printf(&in, "%s/objects", ward_buf_str(&dir));
	int r = ward_buf_error(&dir) < 0 ? -ENOMEM : ward_buf_error(&in);
	struct stat st;
	bool stays = !dir.len || fstatat(n->tree_fd, ward_buf_str(&in), &st, 0) == 0;
	return r < 0 ? r : guard(n, stays ? path : ward_buf_str(&dir), flags);
}

/* Goes one name from the directory *real. 1: go on; 0: it ends here; -ENOENT: it does not exist. */
static int step(struct ward_named *n, struct ward_buf *left, unsigned flags, struct ward_buf *real,
	mode_t *type)
{
	const char *s = ward_buf_str(left);
	size_t len = strcspn(s, "/");
	bool up = len == 2 && memcmp(s, "..", 2) == 0;
	*type = S_IFDIR;
	if (len == 0 || (up && !real->len)) {
		const char *in = NULL;
		int back = back_inside(n->tree_fd, s, &in);
		ward_buf_clear(real);
		if (back < 0)
			return back;
		return in ? set(left, in + strspn(in, "/"), "") < 0 ? -ENOMEM : 1 : -EXDEV;
	}
	ward_cleanup(ward_buf_clear) struct ward_buf name = WARD_BUF_INIT;
	ward_buf_add(&name, s, len);
	int r = ward_buf_error(&name);
	if (r == 0)
		r = set(left, s + len + strspn(s + len, "/"), "");
	if (r < 0 || (len == 1 && *ward_buf_str(&name) == '.'))
		return r < 0 ? r : 1;
	if (up) {
		cut_last(real);
		return 1;
	}
	ward_buf_printf(real, "%s%s", real->len ? "/" : "", ward_buf_str(&name));
	r = ward_buf_error(real);
	struct stat st;
	if (r == 0 && fstatat(n->tree_fd, ward_buf_str(real), &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = errno == ENAMETOOLONG ? -ENOENT : -errno;
	if (r != 0)
		return r;
	*type = st.st_mode & S_IFMT;
	if (*type != S_IFLNK)
		return *type == S_IFDIR; /* what is behind a file leads nowhere */
	r = follow(n, ward_buf_str(real), left, flags);
	cut_last(real);
	*type = S_IFDIR;
	return r < 0 ? r : 1;
}

/*
 * Follows path from the directory base, guarding each link on the way and what it ends at.
 * 1: that exists, *real is it; 0: it does not, or lies outside.
 */
static int pin(struct ward_named *n, const char *base, const char *path, unsigned flags,
	struct ward_buf *real)
{
	ward_cleanup(ward_buf_clear) struct ward_buf left = WARD_BUF_INIT;
	mode_t type = S_IFDIR;
	n->hops = 0;
	ward_buf_clear(real);
	ward_buf_puts(real, base);
	int r = ward_budget_take(n->budget, 0);
	if (r == 0)
		r = set(&left, path, "");
	r = r < 0 ? r : 1;
	while (r == 1 && left.len)
		r = step(n, &left, flags, real, &type);
	if (r == -EXDEV)
		return 0;
	/* The kernel does not follow that many either. The links up to here are guarded and cannot
	 * change. */
	if (r == -ELOOP && !(flags & (LOOK | NEEDED)))
		return 0;
	/* It may not be entered: what is in there comes to light once its owner lets it be. */
	if (r == -EACCES && !(flags & NEEDED)) {
		cut_last(real);
		r = guard(n, ward_buf_str(real), flags);
		return r < 0 ? r : 0;
	}
	if (r == -ENOENT)
		return flags & IF_THERE ? 0 : missing(n, ward_buf_str(real), flags);
	if (r >= 0 && !(flags & NO_DIR && type == S_IFDIR))
		r = guard(n, ward_buf_str(real), flags);
	return r < 0 ? r : 1;
}

/* --- the configuration --- */

enum kind { PROGRAM, PLACE, INCLUDE, REMOTE, BASE };

struct key {
	const char *name; /* without the subsection; "section." for all of it */
	enum kind kind;
};

static const struct key keys[] = {
	{"core.hookspath", PLACE},
	{"core.attributesfile", PLACE},
	{"init.templatedir", PLACE},
	{"include.path", INCLUDE},
	{"includeif.path", INCLUDE},
	{"core.fsmonitor", PROGRAM},
	{"core.sshcommand", PROGRAM},
	{"core.editor", PROGRAM},
	{"core.pager", PROGRAM},
	{"core.askpass", PROGRAM},
	{"core.gitproxy", PROGRAM},
	{"core.alternaterefscommand", PROGRAM},
	{"sequence.editor", PROGRAM},
	{"credential.helper", PROGRAM},
	{"gpg.program", PROGRAM},
	{"gpg.defaultkeycommand", PROGRAM},
	{"diff.external", PROGRAM},
	{"diff.command", PROGRAM},
	{"diff.textconv", PROGRAM},
	{"merge.driver", PROGRAM},
	{"filter.clean", PROGRAM},
	{"filter.smudge", PROGRAM},
	{"filter.process", PROGRAM},
	{"interactive.difffilter", PROGRAM},
	{"difftool.", PROGRAM},
	{"mergetool.", PROGRAM},
	{"guitool.cmd", PROGRAM},
	{"browser.", PROGRAM},
	{"man.", PROGRAM},
	{"alias.", PROGRAM},
	{"pager.", PROGRAM},
	{"hook.command", PROGRAM},
	{"trailer.command", PROGRAM},
	{"trailer.cmd", PROGRAM},
	{"remote.uploadpack", PROGRAM},
	{"remote.receivepack", PROGRAM},
	{"uploadpack.packobjectshook", PROGRAM},
	{"submodule.update", PROGRAM},
	{"sendemail.", PROGRAM},
	{"tar.command", PROGRAM},
	{"gc.recentobjectshook", PROGRAM},
	{"imap.tunnel", PROGRAM},
	{"instaweb.httpd", PROGRAM},
	{"instaweb.browser", PROGRAM},
	{"web.browser", PROGRAM},
	{"help.browser", PROGRAM},
	{"lfs.path", PROGRAM}, /* lfs.customtransfer.NAME.path */
	{"lfs.clean", PROGRAM},
	{"lfs.smudge", PROGRAM},
	{"annex.", PROGRAM},
	{"remote.url", REMOTE},
	{"remote.pushurl", REMOTE},
	{"remote.pushdefault", REMOTE},
	{"branch.remote", REMOTE},
	{"branch.pushremote", REMOTE},
	{"submodule.url", REMOTE},
	{"url.insteadof", BASE},
	{"url.pushinsteadof", BASE},
};

struct config {
	struct ward_named *n;
	const char *git;  /* the git directory */
	const char *dir;  /* of the file that is read */
	const char *work; /* where programs run */
	unsigned depth;
	struct ward_buf *worktree; /* core.worktree, if it is looked for: nothing else is then */
};

static int read_config(struct config *c, const char *name);

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* What a configuration means: which file, for programs that run where. NULL: no memory. */
static char *meaning_of(const struct config *c, const char *file)
{
	struct ward_buf key = WARD_BUF_INIT;
	ward_buf_printf(&key, "%c%zu:%s%s", c->worktree ? 'w' : 'c', strlen(file), file, c->work);
	return ward_buf_steal(&key);
}

/*
 * Remembers (takes) what was read to its end: a configuration may name one file as often as it has
 * lines, and it tells nothing new again. Files that include each other never come to an end.
 */
static int remember(struct ward_named *n, char **key)
{
	if (!tsearch(*key, &n->read, by_text))
		return -ENOMEM;
	*key = NULL;
	return 0;
}

void ward_named_clear(struct ward_named *n)
{
	tdestroy(n->read, free);
	n->read = NULL;
	ward_buf_clear(&n->culprit);
}

/* Reads a file of the tree, all of it. -EINVAL: no regular file. */
static int slurp(struct ward_named *n, const char *path, struct ward_buf *ret)
{
	ward_cleanup_fd int fd = ward_fd_open_beneath(n->tree_fd, path);
	int r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_NAMED_FILE_MAX, ret);
	return r < 0 ? r : ward_budget_take(n->budget, ret->len);
}

/* Remembers the file that ends it all; r as it was. */
static int blame(struct ward_named *n, const char *path, int r)
{
	if (r < 0 && !n->culprit.len)
		ward_buf_puts(&n->culprit, path);
	return r;
}

/* ward_word_fn */
static int word(void *user, const char *w, size_t len, enum ward_word kind)
{
	const struct config *c = user;
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT, real = WARD_BUF_INIT;
	ward_buf_add(&path, w, len);
	int r = ward_buf_error(&path);
	if (r < 0)
		return r;
	w = ward_buf_str(&path);
	/* Guards a program that is named by a path even while it is missing. */
	bool script = kind == WARD_WORD_SCRIPT && w[0] != '-';
	bool run = w[0] != '/' && strchr(w, '/') && kind == WARD_WORD_PROGRAM;
	bool named = strncmp(w, "./", 2) == 0 || strncmp(w, "../", 3) == 0;
	unsigned flags = run ? 0 : (script && w[0] != '/') || named ? NO_DIR : IF_THERE | NO_DIR;
	r = pin(c->n, c->work, w, flags, &real);
	/* "$(git rev-parse --show-toplevel)/tools/x" */
	w += strspn(w, "/");
	if (r == 0 && w != ward_buf_str(&path) && *w)
		r = pin(c->n, "", w, IF_THERE | NO_DIR, &real);
	return r < 0 ? r : 0;
}

/* Each word of a command line that names a file of the tree. */
static int program(struct config *c, const char *value)
{
	return ward_command_words(value, word, c);
}

/* gitremote-helpers(7): "ext::" runs a program. */
static int remote(struct config *c, const char *url)
{
	return strncmp(url, "ext::", 5) == 0 ? program(c, url + 5) : 0;
}

static int entry(void *user, const char *name, const char *sub, const char *value)
{
	struct config *c = user;
	if (c->worktree) {
		if (strcmp(name, "core.worktree") == 0)
			return set(c->worktree, value, "");
		return ward_buf_error(c->worktree);
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		size_t len = strlen(keys[i].name);
		if (keys[i].name[len - 1] == '.' ? strncmp(name, keys[i].name, len) != 0
						 : strcmp(name, keys[i].name) != 0)
			continue;
		ward_cleanup(ward_buf_clear) struct ward_buf real = WARD_BUF_INIT;
		int r = 0;
		switch (keys[i].kind) {
		case PROGRAM: /* an alias may as well be a command of git's */
			if (strcmp(keys[i].name, "alias.") == 0 && *value != '!')
				return 0;
			return program(c, value);
		case PLACE:
			if (*value && *value != '~')
				r = pin(c->n, c->work, value, 0, &real);
			/* What a push runs begins in the git directory (githooks(5)). */
			if (r >= 0 && *value && *value != '~' && strcmp(c->git, c->work) != 0)
				r = pin(c->n, c->git, value, 0, &real);
			return r < 0 ? r : 0;
		case REMOTE:
			return remote(c, value);
		case BASE: /* url.BASE.insteadOf: what BASE takes the place of */
			return remote(c, sub);
		case INCLUDE:
			return *value && *value != '~' ? read_config(c, value) : 0;
		}
	}
	return 0;
}

/* A configuration file, from c->dir. If it is missing there is nothing to report, but it is guarded
 * if it is named. */
static int read_config(struct config *c, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf real = WARD_BUF_INIT, text = WARD_BUF_INIT;
	bool included = c->depth > 0, look = c->worktree != NULL;
	unsigned flags = look ? IF_THERE | LOOK : included ? 0 : IF_THERE;
	int r = pin(c->n, c->dir, name, flags | NEEDED, &real);
	if (r <= 0)
		return blame(c->n, ward_buf_str(&real), r);
	ward_cleanup_free char *key = meaning_of(c, ward_buf_str(&real));
	if (!key || tfind(key, &c->n->read, by_text))
		return key ? 0 : -ENOMEM;
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	ward_buf_puts(&path, ward_buf_str(&real));
	r = ward_buf_error(&path);
	if (r == 0 && (c->depth >= INCLUDE_MAX || ++c->n->files > FILES_MAX))
		r = -E2BIG;
	/* What is remembered of it stays in memory. */
	if (r == 0)
		r = ward_budget_take(c->n->budget, strlen(key));
	if (r == 0)
		r = slurp(c->n, ward_buf_str(&path), &text);
	if (r == -EINVAL)
		return 0;
	cut_last(&real);
	struct config in = *c;
	in.dir = ward_buf_str(&real);
	in.depth++;
	if (r == 0)
		r = ward_git_config_read(ward_buf_str(&text), text.len, entry, &in);
	if (r == 0)
		r = remember(c->n, &key);
	return blame(c->n, ward_buf_str(&path), r);
}

static const char *const config_files[] = {"config", "config.worktree"};

static int read_configs(struct config *c)
{
	int r = 0;
	for (size_t i = 0; r >= 0 && i < 2; i++)
		r = read_config(c, config_files[i]);
	return r;
}

/* The directory that the first line of a file in git_dir names: 1 and *ret, or 0 and what *ret was.
 */
static int named_by(struct ward_named *n, const char *git_dir, const char *file, const char *behind,
	struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT, text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf real = WARD_BUF_INIT;
	int r = pin(n, git_dir, file, IF_THERE | LOOK, &path);
	if (r == 1)
		r = slurp(n, ward_buf_str(&path), &text);
	else
		return r;
	if (r < 0)
		return r == -EINVAL ? 0 : blame(n, ward_buf_str(&path), r);
	ward_buf_puts(&text, "");
	if (!text.data || ward_buf_error(&text) < 0)
		return ward_buf_error(&text);
	text.data[strcspn(text.data, "\r\n")] = 0;
	size_t len = strlen(text.data), cut = strlen(behind);
	if (len <= cut || strcmp(text.data + len - cut, behind) != 0)
		return 0;
	text.data[len - cut] = 0;
	r = pin(n, git_dir, text.data, LOOK, &real);
	return r == 1 ? set(ret, ward_buf_str(&real), "") < 0 ? -ENOMEM : 1 : r;
}

/*
 * A linked worktree takes the configuration of the repository for its own: what that names by a
 * relative path is in its work tree as well (git-worktree(1), "CONFIGURATION FILE").
 */
static int linked_worktree(struct ward_named *n, const char *git_dir)
{
	ward_cleanup(ward_buf_clear) struct ward_buf work = WARD_BUF_INIT, common = WARD_BUF_INIT;
	int r = named_by(n, git_dir, "gitdir", "/.git", &work);
	if (r == 1)
		r = named_by(n, git_dir, "commondir", "", &common);
	if (r <= 0)
		return r;
	struct config c = {
		.n = n, .git = git_dir, .dir = ward_buf_str(&common), .work = ward_buf_str(&work)};
	r = read_configs(&c);
	c.dir = git_dir;
	return r < 0 ? r : read_configs(&c);
}

/* The URLs of a remote in its old form: a file of lines "URL: …", or one that begins with it. */
static int old_remote(struct config *c, const char *dir, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf real = WARD_BUF_INIT, text = WARD_BUF_INIT;
	int r = ward_budget_entry(c->n->budget);
	if (r == 0)
		r = pin(c->n, dir, name, IF_THERE | LOOK, &real);
	if (r == 1)
		r = slurp(c->n, ward_buf_str(&real), &text);
	if (r < 0)
		return r == -EINVAL || r == -EACCES || r == -ELOOP ? 0 : r;
	for (const char *s = ward_buf_str(&text); *s && r == 0; s += strcspn(s, "\n")) {
		s += strspn(s, "\n");
		const char *url = strncmp(s, "URL:", 4) == 0 ? s + 4 : s;
		url += strspn(url, " \t");
		ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
		ward_buf_add(&line, url, strcspn(url, "\n"));
		r = ward_buf_error(&line) < 0 ? -ENOMEM : remote(c, ward_buf_str(&line));
	}
	return r < 0 ? r : 0;
}

/* git-remote(1), "LEGACY": remotes/ and branches/. */
static int old_remotes(struct config *c)
{
	static const char *const places[] = {"remotes", "branches"};
	int r = 0;
	for (size_t i = 0; i < 2 && r >= 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf dir = WARD_BUF_INIT;
		const struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
			.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
		r = pin(c->n, c->git, places[i], IF_THERE | LOOK, &dir);
		if (r <= 0 || !dir.len)
			continue;
		int fd = ward_fd_openat2(c->n->tree_fd, ward_buf_str(&dir), &how);
		ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
		if (fd >= 0 && !d) {
			close(fd);
			return -ENOMEM;
		}
		const struct dirent *e;
		while (d && r >= 0 && (e = readdir(d)))
			if (e->d_name[0] != '.')
				r = old_remote(c, ward_buf_str(&dir), e->d_name);
	}
	return r < 0 ? r : 0;
}

int ward_named_git_dir(struct ward_named *n, const char *git_dir, const char *work_tree)
{
	static const char *const others[] = {
		"hooks", "info/attributes", "remotes", "branches", "objects/info/alternates"};
	ward_cleanup(ward_buf_clear) struct ward_buf named = WARD_BUF_INIT, real = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf work = WARD_BUF_INIT;
	struct config c = {
		.n = n, .git = git_dir, .dir = git_dir, .work = git_dir, .worktree = &named};
	int r = work_tree ? 0 : read_configs(&c);
	if (r >= 0 && named.len)
		r = pin(n, git_dir, ward_buf_str(&named), LOOK, &work);
	c.work = work_tree ? work_tree : r == 1 && named.len ? ward_buf_str(&work) : git_dir;
	c.worktree = NULL;
	for (size_t i = 0; r >= 0 && i < sizeof(others) / sizeof(others[0]); i++)
		r = pin(n, git_dir, others[i], IF_THERE, &real);
	if (r >= 0)
		r = read_configs(&c);
	if (r >= 0)
		r = old_remotes(&c);
	if (r >= 0)
		r = linked_worktree(n, git_dir);
	return r < 0 ? r : 0;
}

int ward_named_git_file(struct ward_named *n, const char *dir, struct ward_buf *ret_dir)
{
	ward_cleanup(ward_buf_clear) struct ward_buf real = WARD_BUF_INIT, text = WARD_BUF_INIT;
	static const char is[] = "gitdir: ";
	int r = pin(n, dir, ".git", NO_DIR, &real);
	if (r <= 0)
		return r;
	struct stat st;
	if (fstatat(n->tree_fd, real.len ? ward_buf_str(&real) : ".", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode)) {
		ward_buf_puts(ret_dir, ward_buf_str(&real));
		return ward_buf_error(ret_dir) < 0 ? -ENOMEM : 1;
	}
	r = slurp(n, ward_buf_str(&real), &text);
	if (r < 0)
		return r == -EINVAL ? 0 : blame(n, ward_buf_str(&real), r);
	size_t len = strlen(is);
	if (text.len <= len || memcmp(text.data, is, len) != 0)
		return 0;
	text.data[strcspn(text.data, "\r\n")] = 0;
	cut_last(&real);
	ward_cleanup(ward_buf_clear) struct ward_buf at = WARD_BUF_INIT;
	ward_buf_puts(&at, ward_buf_str(&real));
	r = pin(n, ward_buf_str(&at), text.data + len, NO_DIR, ret_dir);
	return r == 1 && ret_dir->len ? 1 : r < 0 ? r : 0;
}

/* gitrepository-layout(5), "commondir". */
int ward_named_common(struct ward_named *n, const char *git_dir, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT, text = WARD_BUF_INIT;
	int r = pin(n, git_dir, "commondir", IF_THERE | NO_DIR, &path);
	if (r <= 0)
		return r;
	r = slurp(n, ward_buf_str(&path), &text);
	if (r < 0)
		return r == -EINVAL || r == -EACCES ? 0 : blame(n, ward_buf_str(&path), r);
	ward_buf_puts(&text, "");
	if (!text.data || ward_buf_error(&text) < 0)
		return ward_buf_error(&text);
	text.data[strcspn(text.data, "\r\n")] = 0;
	return *text.data ? pin(n, git_dir, text.data, NO_DIR, ret) : 0;
}

/* npm-config(7), and node-gyp's README: what npm of the project's directory runs. */
int ward_named_npmrc(struct ward_named *n)
{
	static const char *const run[] = {"script-shell", "shell", "git", "editor", "viewer",
		"browser", "call", "python", "node-options", "init-module", "init.module",
		"node-gyp", "onload-script"};
	ward_cleanup(ward_buf_clear) struct ward_buf real = WARD_BUF_INIT, text = WARD_BUF_INIT;
	struct config c = {.n = n, .git = "", .dir = "", .work = ""};
	int r = pin(n, "", ".npmrc", IF_THERE | LOOK, &real);
	if (r == 1)
		r = slurp(n, ward_buf_str(&real), &text);
	if (r < 0)
		return r == -EINVAL || r == -EACCES ? 0 : blame(n, ".npmrc", r);
	for (const char *s = ward_buf_str(&text); *s && r >= 0; s += strcspn(s, "\n")) {
		s += strspn(s, " \t\r\n");
		size_t key = strcspn(s, " \t=\n");
		const char *value = s + key + strspn(s + key, " \t");
		ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
		if (*value != '=')
			continue;
		ward_buf_add(&line, value + 1, strcspn(value + 1, "\r\n"));
		r = ward_buf_error(&line);
		for (size_t i = 0; i < sizeof(run) / sizeof(run[0]) && r >= 0; i++)
			if (strlen(run[i]) == key && memcmp(s, run[i], key) == 0)
				r = program(&c, ward_buf_str(&line));
	}
	return r < 0 ? r : 0;
}

/* Is the name, or one that it lies in, a link? */
static bool has_link(int tree, const char *name)
{
	char up[128];
	struct stat st;
	for (const char *end = name;; end++) {
		end += strcspn(end, "/");
		const size_t len = (size_t)(end - name);
		if (len >= sizeof(up))
			return false;
		memcpy(up, name, len);
		up[len] = '\0';
		if (fstatat(tree, up, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return false;
		if (S_ISLNK(st.st_mode) || !*end)
			return S_ISLNK(st.st_mode);
	}
}

int ward_named_link(struct ward_named *n, const char *name)
{
	ward_cleanup(ward_buf_clear) struct ward_buf real = WARD_BUF_INIT;
	if (!has_link(n->tree_fd, name))
		return 0;
	int r = pin(n, "", name, IF_THERE, &real);
	if (r == 0)
		r = guard(n, ward_buf_str(&real), 0);
	if (r == -ENOMEM || r == -E2BIG || r == -ETIME || r == -EDQUOT)
		return blame(n, name, r);
	/* It leads out, to what nobody can look at: no session reaches that. */
	return 0;
}
