/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the project that a command is about. */
#include "enforcer/session/owner/project.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/patient.h"
#include "enforcer/session/owner/chosen.h"

/* Directory levels that we look upwards; PATH_MAX has room for 2048 one-letter names. */
#define LEVELS_MAX 2048

const char *ward_path_beneath(const char *path, const char *dir)
{
	size_t n = strlen(dir);
	while (n > 0 && dir[n - 1] == '/')
		n--;
	if (strncmp(path, dir, n) != 0 || (path[n] != '/' && path[n] != '\0'))
		return NULL;
	path += n;
	while (*path == '/')
		path++;
	return path;
}

/*
 * True if `name` is in dir and of the directory's owner or of the caller. What another one of a
 * group may plant is no mark: that account would choose what the owner's session is about.
 */
static bool mark(int dir, const struct stat *of, const char *name, uid_t caller)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_uid == of->st_uid || st.st_uid == caller);
}

static bool same_dir(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What is known before the project is. */
struct search {
	struct ward_chosen *chosen; /* of who would be the owner where the search begins */
	struct ward_chosen *here;   /* of who would be it in the directory that is looked at */
	uid_t of;		    /* whose that directory is */
	const char *home;	    /* of the caller; NULL: none */
	const char *user;	    /* of --user; NULL: none */
	uid_t a, b;		    /* whose directories have marks that count */
	int start;		    /* the current directory, borrowed, */
	const char *cwd;	    /* and its path */
	enum ward_project_which which;
};

/*
 * As root the session is the owner's of the project (identity.h), so another account has the word
 * where directories change hands: what one chose makes no directory of another a project.
 */
static int ask_owner_of(struct search *f, const struct stat *st)
{
	struct ward_err ignored = WARD_ERR_INIT;
	if (st->st_uid == f->of)
		return 0;
	ward_chosen_clear(f->here);
	f->of = st->st_uid;
	return ward_chosen_begin(f->here, f->user, st->st_uid, &ignored);
}

static bool is_dir(const struct stat *st, const char *path)
{
	struct stat other;
	return path && stat(path, &other) == 0 && same_dir(st, &other);
}

/* True for "/" and for homes: what must not become a tree. */
static bool forbidden(const struct search *f, const struct stat *st)
{
	return is_dir(st, "/") || is_dir(st, f->home) || is_dir(st, f->chosen->id.home) ||
	       is_dir(st, f->here->id.home);
}

/* A part of the host itself, which no sandbox shows as a project. Directories beneath one can be
 * projects. */
static bool is_system(const struct stat *st)
{
	static const char *const dirs[] = {"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32",
		"/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr", "/var"};
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		if (is_dir(st, dirs[i]))
			return true;
	return false;
}

/* Drops the last component of path in place. */
static void parent_path(char *path)
{
	char *slash = strrchr(path, '/');
	if (slash == path)
		slash++;
	*slash = '\0';
}

/* One directory on the way up: as far as it goes, nothing above plays a part. */
struct step {
	int fd;
	size_t level;
	const char *open; /* a mark where others can write; NULL: what can be believed */
};

static int keep_last(struct step *s, int fd, size_t level)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	s->level = level;
	s->open = NULL;
	return s->fd < 0 ? -errno : 0;
}

static int keep_first(struct step *s, int fd, size_t level)
{
	return s->fd >= 0 ? 0 : keep_last(s, fd, level);
}

/* The nearest of each kind, but the outermost of `file`. */
struct found {
	struct step policy, home, before, file, mark;
};

/*
 * Users who can write in a directory can also move a file of the caller's under such a name, so the
 * mark proves nothing. But a session can give others that right, and so disable the mark for later
 * sessions. So such a mark is kept, and refuses the search if it would decide.
 */
static int look_for_marks(
	const struct search *f, int fd, const struct stat *st, size_t level, struct found *ret)
{
	static const char policy[] = ".wardfs.policy", git[] = ".git";
	const bool open = level > 0 && st->st_mode & S_IWOTH;
	if ((st->st_uid != f->a && st->st_uid != f->b) ||
		(open && f->which == WARD_PROJECT_NEAREST))
		return 0;
	bool file = mark(fd, st, policy, f->b);
	int r = file ? keep_last(&ret->file, fd, level) : 0;
	if (r == 0 && file && open)
		ret->file.open = policy;
	if (r < 0 || ret->mark.fd >= 0 || (!file && !mark(fd, st, git, f->b)))
		return r;
	r = keep_last(&ret->mark, fd, level);
	if (open)
		ret->mark.open = file ? policy : git;
	return r;
}

/* A mark that is not there any more was there; one of another account's was not ours. */
static bool marks_are_ours(const struct search *f, int fd, const struct stat *st)
{
	static const char *const names[] = {".git", ".wardfs.policy"};
	struct stat other;
	bool there = false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (mark(fd, st, names[i], f->b))
			return true;
		there = there || fstatat(fd, names[i], &other, AT_SYMLINK_NOFOLLOW) == 0;
	}
	return !there;
}

/*
 * Beneath the kept home of the project at path: what was a project before there were sessions, so
 * none of them was its maker. It is one whatever stands there now.
 */
static int look_before(const struct search *f, const char *path, struct found *ret)
{
	size_t levels = 0;
	struct stat st;
	int r = ward_chosen_before(f->here, path, f->cwd, &levels);
	if (r <= 0)
		return r;
	ward_cleanup_fd int fd = fcntl(f->start, F_DUPFD_CLOEXEC, 3);
	for (size_t i = 0; fd >= 0 && i < levels; i++) {
		int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = up;
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if ((st.st_uid != f->a && st.st_uid != f->b) || (levels > 0 && st.st_mode & S_IWOTH) ||
		!marks_are_ours(f, fd, &st))
		return 0;
	return keep_last(&ret->before, fd, levels);
}

/* Who else can write in a chosen directory plays no part: its path was chosen, and an agent can
 * change a mode. 1: nothing above plays a part. */
static int look(const struct search *f, int fd, const struct stat *st, const char *path,
	size_t level, struct found *ret)
{
	int r = look_for_marks(f, fd, st, level, ret);
	int home = r == 0 ? ward_chosen_home(f->here, path) : r;
	if (home > 0 && ret->home.fd < 0) {
		home = keep_first(&ret->home, fd, level);
		if (home == 0)
			home = look_before(f, path, ret);
	}
	int policy = home >= 0 ? ward_chosen_policy(f->here, path) : home;
	if (policy <= 0)
		return policy;
	r = keep_first(&ret->policy, fd, level);
	return r < 0 ? r : 1;
}

/* Looks upwards from start, whose path this is; that becomes a parent's. */
static int climb(struct search *f, int start, char *path, struct found *ret)
{
	struct stat st, up_st;
	ward_cleanup_fd int fd = fcntl(start, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	for (size_t level = 0; level < LEVELS_MAX; level++) {
		int r = look(f, fd, &st, path, level, ret);
		if (r != 0)
			return r < 0 ? r : 0;
		int up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			break;
		close(fd);
		fd = up;
		if (fstat(fd, &up_st) < 0 || same_dir(&up_st, &st))
			break;
		if ((r = ask_owner_of(f, &up_st)) < 0)
			return r;
		if (forbidden(f, &up_st) || is_system(&up_st))
			break;
		st = up_st;
		parent_path(path);
	}
	return 0;
}

/* The directory that many levels above. */
static char *path_above(const char *cwd, size_t levels)
{
	char *path = strdup(cwd);
	for (size_t i = 0; path && i < levels; i++)
		parent_path(path);
	return path;
}

/*
 * A policy is the owner's word; a home is left by each session, a mark by anybody who may write.
 * Beneath a project file a session can make both, so the one that lies further out counts.
 */
static struct step *best_of(
	struct found *f, enum ward_project_which which, enum ward_project_by *ret)
{
	if (which == WARD_PROJECT_NEAREST && f->mark.fd >= 0) {
		*ret = WARD_PROJECT_BY_MARK;
		return &f->mark;
	}
	if (f->policy.fd >= 0) {
		*ret = WARD_PROJECT_BY_POLICY;
		return &f->policy;
	}
	if (f->file.fd >= 0 && (f->home.fd < 0 || f->home.level < f->file.level)) {
		*ret = WARD_PROJECT_BY_FILE;
		return &f->file;
	}
	if (f->before.fd >= 0) {
		*ret = WARD_PROJECT_BY_BEFORE;
		return &f->before;
	}
	*ret = f->home.fd >= 0	 ? WARD_PROJECT_BY_HOME
	       : f->mark.fd >= 0 ? WARD_PROJECT_BY_MARK
				 : WARD_PROJECT_BY_NOTHING;
	return f->home.fd >= 0 ? &f->home : &f->mark;
}

static int refuse_open(const struct step *s, const char *cwd, struct ward_err *err)
{
	ward_cleanup_free char *path = path_above(cwd, s->level);
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_shell_word(&word, path ? path : "");
	if (!path || ward_buf_error(&word) < 0)
		return ward_err_sys(err, -ENOMEM, "the project of %s", cwd);
	return ward_err_set(err, -EACCES,
		"%s/%s would make that directory the project, but other users can write there and may have made that file (fix: chmod o-w %s; or 'wardfs init' here, which makes %s a project of its own)",
		path, s->open, ward_buf_str(&word), cwd);
}

static int take(struct found *f, enum ward_project_which which, struct ward_project *p,
	struct ward_err *err)
{
	enum ward_project_by by;
	struct step *best = best_of(f, which, &by);
	if (best->fd >= 0 && best->open)
		return refuse_open(best, p->cwd, err);
	size_t levels = best->fd >= 0 ? best->level : 0, nearer = levels;
	if (f->home.fd >= 0 && f->home.level < nearer)
		nearer = f->home.level;
	if (f->mark.fd >= 0 && f->mark.level < nearer)
		nearer = f->mark.level;
	p->by = by;
	if (by != WARD_PROJECT_BY_NOTHING) {
		close(p->fd);
		p->fd = best->fd;
		best->fd = -1;
	}
	p->path = path_above(p->cwd, levels);
	if (!p->path)
		return -ENOMEM;
	if (which == WARD_PROJECT_OWNERS && nearer < levels)
		p->nearer = path_above(p->cwd, nearer);
	return which == WARD_PROJECT_OWNERS && nearer < levels && !p->nearer ? -ENOMEM : 0;
}

static int choose(struct search *f, struct ward_project *p, struct ward_err *err)
{
	struct found found = {{.fd = -1}, {.fd = -1}, {.fd = -1}, {.fd = -1}, {.fd = -1}};
	ward_cleanup_free char *path = strdup(p->cwd);
	f->start = p->fd;
	f->cwd = p->cwd;
	int r = path ? climb(f, p->fd, path, &found) : -ENOMEM;
	if (r == 0)
		r = take(&found, f->which, p, err);
	const int left[] = {
		found.policy.fd, found.home.fd, found.before.fd, found.file.fd, found.mark.fd};
	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
		if (left[i] >= 0)
			close(left[i]);
	return r;
}

/* The path by which the caller came, as PWD has it, if that leads to where we are. NULL: not known.
 */
static const char *came_by(const struct ward_project *p)
{
	const char *pwd = getenv("PWD");
	struct stat here, there;
	if (!pwd || pwd[0] != '/' || stat(pwd, &there) < 0 || stat(p->cwd, &here) < 0 ||
		!same_dir(&there, &here))
		return NULL;
	for (const char *s = pwd; *s; s += strcspn(s, "/")) {
		size_t n = strcspn(++s, "/");
		if (n == 0 || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
			return NULL;
	}
	return pwd;
}

/*
 * Anybody who may write in a project can put a link in the place of a directory beneath it. What is
 * started there would get another policy than the one that its owner gave to this name.
 */
static int refuse_left(struct search *f, const struct ward_project *p, struct ward_err *err)
{
	const char *entered = came_by(p);
	ward_cleanup_free char *left = NULL;
	int r = 0;
	if (f->which == WARD_PROJECT_NEAREST)
		return 0;
	if (entered)
		r = ward_chosen_left(f->chosen, entered, p->cwd, &left);
	else if (strcmp(p->cwd, p->path) != 0)
		r = ward_chosen_linked(f->chosen, p->fd, p->path, &left);
	if (r < 0 || !left)
		return r < 0 ? ward_err_sys(err, r, "the project of %s", p->cwd) : 0;
	/* The link's target is the choice of who put the link there. */
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	ward_shell_word(&word, p->cwd);
	return ward_err_set(err, -EACCES,
		"you have a policy for %s, and a symbolic link leads from there %s %s, where "
		"that policy does not apply (fix: remove the link, or cd %s to run there under "
		"the policy of %s)",
		left, entered ? "to" : "elsewhere, perhaps to", p->cwd, ward_buf_str(&word),
		p->path);
}

static int find(struct search *f, struct ward_project *p, struct ward_err *err)
{
	struct stat st;
	int r = ward_patient_reach(".", err);
	if (r < 0)
		return r;
	p->fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->fd < 0 || !(p->cwd = getcwd(NULL, 0)))
		return ward_err_sys(err, -errno, "current directory");
	if (p->cwd[0] != '/')
		return ward_err_set(err, -ENOENT, "cannot reach the current directory: %s", p->cwd);
	if (fstat(p->fd, &st) < 0)
		return ward_err_sys(err, -errno, "%s", p->cwd);
	f->a = st.st_uid;
	f->b = getuid();
	f->of = st.st_uid;
	r = ward_chosen_begin(f->chosen, f->user, st.st_uid, err);
	if (r == 0)
		r = ward_chosen_begin(f->here, f->user, st.st_uid, err);
	if (r < 0)
		return r;
	if (forbidden(f, &st) || is_system(&st))
		return ward_err_set(err, -EPERM,
			"%s cannot be the project, because it is %s. Change into a project directory first",
			p->cwd,
			is_dir(&st, "/")    ? "the root of the host"
			: forbidden(f, &st) ? "a home directory"
					    : "a system directory");
	r = choose(f, p, err);
	if (r < 0 && err && err->code)
		return r;
	if (r == 0 && fstat(p->fd, &st) < 0)
		r = -errno;
	p->uid = st.st_uid;
	if (r == 0)
		return refuse_left(f, p, err);
	return r < 0 ? ward_err_sys(err, r, "the project of %s", p->cwd) : 0;
}

int ward_project_find(const char *user, enum ward_project_which which, struct ward_project *ret,
	struct ward_err *err)
{
	struct ward_chosen chosen = {.state = NULL}, here = {.state = NULL};
	struct search f = {.chosen = &chosen,
		.here = &here,
		.home = getenv("HOME"),
		.user = user,
		.which = which};
	struct ward_project p = {.fd = -1};
	int r = find(&f, &p, err);
	ward_chosen_clear(&chosen);
	ward_chosen_clear(&here);
	if (r == 0)
		*ret = p;
	else
		ward_project_clear(&p);
	return r;
}

char *ward_project_git_elsewhere(const struct ward_project *p)
{
	static const char front[] = "gitdir: ";
	const size_t n = sizeof(front) - 1;
	ward_cleanup_fd int fd =
		openat(p->fd, ".git", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char text[4097] = "";
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, front, n) != 0 || !text[n])
		return NULL;
	char *path = NULL;
	if (asprintf(&path, "%s%s%s", text[n] == '/' ? "" : p->path, text[n] == '/' ? "" : "/",
		    text + n) < 0)
		return NULL;
	return path;
}

char *ward_project_entered(const struct ward_project *p, const char *pwd)
{
	if (!pwd || pwd[0] != '/' || strcmp(pwd, p->cwd) == 0)
		return NULL;
	const char *rel = ward_path_beneath(p->cwd, p->path);
	size_t n = strlen(pwd), tail = rel ? strlen(rel) : 0;
	if (!rel || n <= tail + 1 || strcmp(pwd + n - tail, rel) != 0 ||
		(tail && pwd[n - tail - 1] != '/'))
		return NULL;
	ward_cleanup_free char *top = strndup(pwd, n - (tail ? tail + 1 : 0));
	struct stat here, there;
	/* What stood in PWD may be about another directory by now. */
	if (!top || stat(top, &there) < 0 || fstat(p->fd, &here) < 0 || !same_dir(&there, &here) ||
		stat(pwd, &there) < 0 || stat(p->cwd, &here) < 0 || !same_dir(&there, &here))
		return NULL;
	return ward_steal_ptr(&top);
}

void ward_project_clear(struct ward_project *p)
{
	if (p->fd >= 0)
		close(p->fd);
	free(p->path);
	free(p->cwd);
	free(p->nearer);
	*p = (struct ward_project){.fd = -1};
}
