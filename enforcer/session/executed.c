/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/session/executed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conf/embedded.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"

#define NAMES_MAX 128U

/* A line of the list: the name it ends in, and the directory's name before that, if it has two. */
struct wanted {
	const char *dir, *name;
	size_t n_dir, n_name;
};

struct search {
	struct wanted names[NAMES_MAX]; /* classes top and new */
	struct wanted git[NAMES_MAX];	/* class git: in a git directory */
	size_t n_names, n_git;
	uint64_t since_ns, deadline_ns;
	dev_t dev;
	unsigned entries;
	struct ward_executed *found;
};

/* The clock that files get their times from. */
static uint64_t coarse(clockid_t clock)
{
	struct timespec t = {0, 0};
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * WARD_NS_PER_SEC + (uint64_t)t.tv_nsec;
}

struct ward_executed_since ward_executed_now(void)
{
	return (struct ward_executed_since){
		coarse(CLOCK_REALTIME_COARSE), coarse(CLOCK_MONOTONIC_COARSE)};
}

/* --- the list --- */

static struct wanted take_apart(const char *pattern, size_t n)
{
	struct wanted w = {.dir = pattern, .name = pattern, .n_name = n};
	for (size_t i = 0; i < n; i++)
		if (pattern[i] == '/') {
			w.n_dir = i;
			w.name = pattern + i + 1;
			w.n_name = n - i - 1;
		}
	return w;
}

static size_t word(const char **s, const char **ret)
{
	*s += strspn(*s, " \t");
	*ret = *s;
	*s += strcspn(*s, " \t\n");
	return (size_t)(*s - *ret);
}

static void read_list(struct search *s)
{
	for (const char *list = ward_embedded_lists[0].data; *list;) {
		const char *at = list, *where, *verb, *pattern;
		list += strcspn(list, "\n");
		list += *list == '\n';
		size_t n_where = word(&at, &where);
		size_t n_verb = word(&at, &verb), n = word(&at, &pattern);
		if (!n_verb || !n || s->n_names == NAMES_MAX || s->n_git == NAMES_MAX)
			continue;
		if (n_where == 3 && memcmp(where, "git", 3) == 0)
			s->git[s->n_git++] = take_apart(pattern, n);
		else if (n_where == 3 &&
			 (memcmp(where, "top", 3) == 0 || memcmp(where, "new", 3) == 0))
			s->names[s->n_names++] = take_apart(pattern, n);
	}
}

static bool is(const char *name, const char *word_, size_t n)
{
	return strlen(name) == n && memcmp(name, word_, n) == 0;
}

static bool listed(const struct wanted *w, size_t n, const char *dir, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (is(name, w[i].name, w[i].n_name) &&
			(w[i].n_dir == 0 || is(dir, w[i].dir, w[i].n_dir)))
			return true;
	return false;
}

/* --- the search --- */

static int add(struct search *s, const char *path)
{
	struct ward_executed *e = s->found;
	if (e->n == WARD_EXECUTED_FOUND_MAX) {
		e->whole = false;
		return 0;
	}
	if (e->n && strcmp(e->paths[e->n - 1], path) == 0)
		return 0;
	char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	e->paths[e->n++] = copy;
	return 0;
}

/* False: a bound is met, which is written down. */
static bool go_on(struct search *s, unsigned depth)
{
	bool ok = depth <= WARD_EXECUTED_DEPTH_MAX && s->entries++ < WARD_EXECUTED_ENTRIES_MAX &&
		  (s->entries % 1024 || coarse(CLOCK_MONOTONIC_COARSE) < s->deadline_ns);
	if (!ok)
		s->found->whole = false;
	return ok;
}

static bool is_new(const struct search *s, const struct stat *st)
{
	return (uint64_t)st->st_ctim.tv_sec * WARD_NS_PER_SEC + (uint64_t)st->st_ctim.tv_nsec >=
	       s->since_ns;
}

/* NULL: not to be entered, or it cannot be, which is written down. */
static DIR *enter(struct search *s, int at, const char *name)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	if (fd < 0) {
		s->found->whole = s->found->whole && (errno == ENOENT || errno == ENOTDIR);
		return NULL;
	}
	DIR *d = fstat(fd, &st) == 0 && st.st_dev == s->dev ? fdopendir(fd) : NULL;
	if (!d)
		close(fd);
	return d;
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Is it, or anything beneath it, new? */
static bool any_new(struct search *s, int at, const char *name, unsigned depth)
{
	struct stat st;
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	if (is_new(s, &st))
		return true;
	if (!S_ISDIR(st.st_mode) || !go_on(s, depth))
		return false;
	ward_cleanup_dir DIR *d = enter(s, at, name);
	struct dirent *e;
	bool found = false;
	while (d && !found && (e = readdir(d)))
		if (!is_dots(e->d_name) && go_on(s, depth))
			found = any_new(s, dirfd(d), e->d_name, depth + 1);
	return found;
}

/* Is there anything new in this git directory of what git executes? */
static bool git_new(struct search *s, int dir, unsigned depth)
{
	for (size_t i = 0; i < s->n_git; i++) {
		char path[256];
		const struct wanted *w = &s->git[i];
		size_t n = w->n_dir ? w->n_dir + 1 + w->n_name : w->n_name;
		if (n >= sizeof(path))
			continue;
		memcpy(path, w->dir, n);
		path[n] = 0;
		/* "info/attributes": the directory may be a link, which git follows */
		if (w->n_dir) {
			path[w->n_dir] = 0;
			struct stat st;
			if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
				continue;
			if (S_ISLNK(st.st_mode)) {
				if (is_new(s, &st))
					return true;
				continue;
			}
			path[w->n_dir] = '/';
		}
		if (any_new(s, dir, path, depth + 1))
			return true;
	}
	return false;
}

static bool has(int dir, const char *name)
{
	struct stat st;
	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What git takes for a git directory, or follows from one. */
static bool is_git_dir(int fd)
{
	return has(fd, "HEAD") && ((has(fd, "objects") && has(fd, "refs")) || has(fd, "commondir"));
}

static int look_in(
	struct search *s, int at, const char *name, struct ward_buf *path, unsigned depth);

static int look_at(struct search *s, int dir, const char *in, const struct dirent *e,
	struct ward_buf *path, unsigned depth)
{
	size_t len = path->len;
	ward_buf_printf(path, "%s%s", len ? "/" : "", e->d_name);
	int r = ward_buf_error(path);
	bool directory = e->d_type == DT_DIR;
	struct stat st;
	if (e->d_type == DT_UNKNOWN && fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		directory = S_ISDIR(st.st_mode);
	bool git = strcmp(e->d_name, ".git") == 0;
	/* a .git that is a directory is looked at as what it is: everything in it changes always */
	if (r == 0 && listed(s->names, s->n_names, in, e->d_name) && !(git && directory) &&
		any_new(s, dir, e->d_name, depth))
		r = add(s, ward_buf_str(path));
	bool objects = strcmp(e->d_name, "objects") == 0 && has(dir, "HEAD");
	if (r == 0 && directory && !objects)
		r = look_in(s, dir, e->d_name, path, depth + 1);
	if (r != -ENOMEM) {
		path->len = len;
		path->data[len] = 0;
	}
	return r;
}

static int look_in(
	struct search *s, int at, const char *name, struct ward_buf *path, unsigned depth)
{
	if (!go_on(s, depth))
		return 0;
	ward_cleanup_dir DIR *d = enter(s, at, name);
	if (!d)
		return 0;
	int r = 0;
	if (is_git_dir(dirfd(d)) && git_new(s, dirfd(d), depth))
		r = add(s, path->len ? ward_buf_str(path) : ".");
	struct dirent *e;
	while (r == 0 && (e = readdir(d)) && go_on(s, depth))
		if (!is_dots(e->d_name))
			r = look_at(s, dirfd(d), name, e, path, depth);
	return r;
}

static unsigned depth_of(const char *path)
{
	unsigned n = 0;
	for (; *path; path++)
		n += *path == '/';
	return n;
}

static int by_depth(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	unsigned n = depth_of(x), m = depth_of(y);
	return n != m ? (n < m ? -1 : 1) : strcmp(x, y);
}

int ward_executed_find(int tree, const struct ward_executed_since *since, struct ward_executed *ret)
{
	struct ward_executed found = {.whole = true};
	struct ward_executed_since now = ward_executed_now();
	struct search s = {.since_ns = since->real_ns,
		.deadline_ns = now.mono_ns + WARD_EXECUTED_TIME_NS,
		.found = &found};
	struct stat st;
	if (fstat(tree, &st) < 0)
		return -errno;
	s.dev = st.st_dev;
	/* the wall clock was set back meanwhile: times of changes with it */
	uint64_t passed = now.mono_ns - since->mono_ns;
	if (now.real_ns < since->real_ns + passed) {
		uint64_t back = since->real_ns + passed - now.real_ns;
		s.since_ns = s.since_ns > back ? s.since_ns - back : 0;
	}
	found.paths = calloc(WARD_EXECUTED_FOUND_MAX, sizeof(*found.paths));
	if (!found.paths)
		return -ENOMEM;
	read_list(&s);
	struct ward_buf path = WARD_BUF_INIT;
	ward_buf_puts(&path, "");
	int r = look_in(&s, tree, ".", &path, 0);
	ward_buf_clear(&path);
	if (r < 0) {
		ward_executed_clear(&found);
		return r;
	}
	qsort(found.paths, found.n, sizeof(*found.paths), by_depth);
	*ret = found;
	return 0;
}

void ward_executed_clear(struct ward_executed *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->paths[i]);
	free(e->paths);
	*e = (struct ward_executed){.n = 0};
}
