/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the settings that a profile seeds. */
#include "enforcer/session/plan/seed.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/owner/agents.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/project.h"

/* Settings that a person wrote are far smaller. */
#define FILE_MAX ((size_t)1 << 20)
/* Another session that starts holds the file for a write. */
#define TRIES 20
#define TRY_MS 50
/* A session of another project may be in this directory: no name is believed. */
#define RESOLVE (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

static int open_in(int dir, const char *name, uint64_t flags, mode_t mode)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .mode = mode, .resolve = RESOLVE};
	return ward_fd_openat2(dir, name, &how);
}

/* The directory in which file (a relative path) lies, made where it is missing; *name: its name. */
static int open_directory(int top, char *file, const char **ret_name)
{
	int dir = fcntl(top, F_DUPFD_CLOEXEC, 3);
	char *slash = NULL;
	for (; dir >= 0 && (slash = strchr(file, '/')); file = slash + 1) {
		*slash = '\0';
		int r = mkdirat(dir, file, 0700) < 0 && errno != EEXIST ? -errno : 0;
		int next = r == 0 ? open_in(dir, file, O_PATH | O_DIRECTORY, 0) : r;
		close(dir);
		dir = next;
	}
	*ret_name = file;
	return dir < 0 && dir == -1 ? -errno : dir;
}

/* --- the text --- */

static bool is_set(char *const *envp, const struct ward_seed_line *l)
{
	for (; envp && *envp; envp++)
		if (strncmp(*envp, l->name, l->name_len) == 0 && (*envp)[l->name_len] == '=')
			return true;
	return false;
}

/* Where the project is seen inside. */
static const char *project_inside(const struct ward_run_plan *p)
{
	for (size_t i = 0; i < p->n_trees; i++)
		if (strcmp(p->trees[i].path, "/workspace") == 0)
			return p->trees[i].at ? p->trees[i].at : p->trees[i].path;
	return "/workspace";
}

/*
 * A directory's name can be an agent's choice. It stands in a string of TOML or JSON, and must not
 * end it.
 */
static bool fits(const char *path)
{
	for (const unsigned char *s = (const unsigned char *)path; *s; s++)
		if (*s < ' ' || *s == 0x7f || strchr("\"\\'`$", *s))
			return false;
	return true;
}

static int put_text(const char *text, const char *project, struct ward_buf *b)
{
	const char *at = NULL;
	for (; (at = strstr(text, WARD_SEED_PROJECT)); text = at + strlen(WARD_SEED_PROJECT)) {
		if (!fits(project))
			return -EILSEQ;
		ward_buf_add(b, text, (size_t)(at - text));
		ward_buf_puts(b, project);
	}
	ward_buf_puts(b, text);
	ward_buf_putc(b, '\n');
	return ward_buf_error(b);
}

/* All lines for the file of line `first` of s. */
static int put_file(const struct ward_run_plan *p, const struct ward_strings *s, size_t first,
	char *const *envp, struct ward_buf *b)
{
	struct ward_seed_line file, l;
	int r = ward_seed_parse(s->v[first], &file, NULL);
	for (size_t i = first; i < s->n && r == 0; i++) {
		r = ward_seed_parse(s->v[i], &l, NULL);
		if (r == 0 && l.file_len == file.file_len &&
			memcmp(l.file, file.file, l.file_len) == 0 && (!l.name || is_set(envp, &l)))
			r = put_text(l.text, project_inside(p), b);
	}
	return r;
}

/* Was the file of this line seen before? */
static bool is_first(const struct ward_strings *s, size_t line)
{
	struct ward_seed_line a, b;
	if (ward_seed_parse(s->v[line], &a, NULL) < 0)
		return false;
	for (size_t i = 0; i < line; i++)
		if (ward_seed_parse(s->v[i], &b, NULL) == 0 && a.file_len == b.file_len &&
			memcmp(a.file, b.file, a.file_len) == 0)
			return false;
	return true;
}

/* --- the files --- */

/*
 * By its own name at once: under another one, which no guard holds, a session could put its own in
 * its place. 1: it was made; 0: it was there.
 */
static int make_file(int dir, const char *name, const struct ward_buf *text)
{
	ward_cleanup_fd int fd = open_in(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (fd == -EEXIST)
		return 0;
	if (fd < 0)
		return fd;
	int r = ward_fd_write_all(fd, text->data, text->len);
	if (r < 0)
		(void)!unlinkat(dir, name, 0);
	return r < 0 ? r : 1;
}

static int lock(int fd)
{
	for (int i = 0; i < TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return -errno;
		(void)poll(NULL, 0, TRY_MS);
	}
	return -EBUSY;
}

/* Does the text already contain the first line of the addition? */
static bool has_line(const struct ward_buf *have, const struct ward_buf *text)
{
	const size_t n = (size_t)((const char *)memchr(text->data, '\n', text->len) - text->data);
	const char *s = have->data, *end = s ? s + have->len : s;
	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const size_t len = (size_t)((nl ? nl : end) - s);
		if (len == n && memcmp(s, text->data, n) == 0)
			return true;
		s += len + 1;
	}
	return false;
}

/* 1: it was added; 0: it was there. */
static int add_to_file(int dir, const char *name, const struct ward_buf *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf have = WARD_BUF_INIT, more = WARD_BUF_INIT;
	struct stat st;
	if (text->len == 0)
		return 0;
	ward_cleanup_fd int fd =
		open_in(dir, name, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY, 0600);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	/* A second name could be a file of another place, which the owner may write. */
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return -EPERM;
	int r = lock(fd);
	if (r == 0)
		r = ward_fd_read_all(fd, FILE_MAX, &have);
	if (r < 0 || ward_buf_error(&have) < 0)
		return r < 0 ? r : ward_buf_error(&have);
	if (has_line(&have, text))
		return 0;
	ward_buf_puts(&more, have.len && have.data[have.len - 1] != '\n' ? "\n" : "");
	ward_buf_add(&more, text->data, text->len);
	r = ward_buf_error(&more);
	return r < 0 ? r : (r = ward_fd_write_all(fd, more.data, more.len)) < 0 ? r : 1;
}

/*
 * A file that holds nothing but what an earlier start wrote, when no variable of an "if" was set,
 * gets the lines of those that are set now. In place and by one write: the new text is the longer
 * one, and another name could be taken (make_file()). 1: it was written; 0: it is as it is to be.
 */
static int renew_file(
	int dir, const char *name, const struct ward_buf *bare, const struct ward_buf *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf have = WARD_BUF_INIT;
	struct stat st;
	if (text->len <= bare->len)
		return 0;
	ward_cleanup_fd int fd = open_in(dir, name, O_RDWR | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
		return 0; /* the owner's own: a link, or a file that is not to be written */
	int r = lock(fd);
	if (r == 0)
		r = ward_fd_read_all(fd, FILE_MAX, &have);
	if (r < 0 || ward_buf_error(&have) < 0)
		return r < 0 ? r : ward_buf_error(&have);
	if (have.len != bare->len || memcmp(have.data, bare->data, have.len) != 0)
		return 0;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	r = ward_fd_write_all(fd, text->data, text->len);
	return r < 0 ? r : 1;
}

static int seed_file(const struct ward_run_plan *p, const struct ward_run_plan_tree *t,
	const struct ward_strings *s, size_t line, bool project, char *const *envp,
	struct ward_buf *note)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT, bare = WARD_BUF_INIT;
	struct ward_seed_line l;
	const char *name = NULL;
	int r = ward_seed_parse(s->v[line], &l, NULL);
	ward_cleanup_free char *file = r == 0 ? strndup(l.file, l.file_len) : NULL;
	ward_cleanup_free char *way = file ? strdup(file) : NULL;
	if (!way)
		return -ENOMEM;
	r = put_file(p, s, line, envp, &text);
	ward_cleanup_fd int dir = r == 0 ? open_directory(t->backing, way, &name) : -1;
	if (r == 0)
		r = dir < 0   ? dir
		    : project ? add_to_file(dir, name, &text)
			      : make_file(dir, name, &text);
	if (r == 0 && !project && (r = put_file(p, s, line, NULL, &bare)) == 0)
		r = renew_file(dir, name, &bare, &text);
	if (r == -ENOMEM)
		return r;
	const char *why = r == -EILSEQ ? "the project's path has characters that would end a string"
			  : r == -EPERM ? "it is no regular file, or has a second name"
			  : r < 0	? strerror(-r)
					: NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf said = WARD_BUF_INIT;
	ward_buf_printf(
		&said, why ? "could not write the settings %s/%s" : "wrote %s/%s", t->source, file);
	if (why)
		ward_buf_printf(&said, ": %s", why);
	if (ward_buf_error(&said) < 0)
		return -ENOMEM;
	/* Once, of a file that was made and then added to. */
	if (r == 0 || (note->len && strstr(ward_buf_str(note), ward_buf_str(&said))))
		return 0;
	ward_buf_puts(note, note->len ? "; " : "");
	ward_buf_puts(note, ward_buf_str(&said));
	return ward_buf_error(note);
}

static int seed_tree(const struct ward_run_plan *p, const struct ward_tree *s,
	const struct ward_run_plan_tree *t, char *const *envp, struct ward_buf *note)
{
	int r = 0;
	for (size_t i = 0; i < s->seed.n && r == 0; i++)
		if (is_first(&s->seed, i))
			r = seed_file(p, t, &s->seed, i, false, envp, note);
	for (size_t i = 0; i < s->seed_project.n && r == 0; i++)
		if (is_first(&s->seed_project, i))
			r = seed_file(p, t, &s->seed_project, i, true, envp, note);
	return r;
}

static const struct ward_run_plan_tree *find_tree(const struct ward_run_plan *p, const char *path)
{
	for (size_t i = 0; i < p->n_trees; i++)
		if (strcmp(p->trees[i].path, path) == 0)
			return &p->trees[i];
	return NULL;
}

/* Who made the directory a link meant it to be something else: the agent's own configuration. */
static bool is_itself(const struct ward_run_plan *p, const struct ward_run_plan_tree *t)
{
	struct stat a, b;
	ward_cleanup_fd int home = open(p->id.home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ward_cleanup_fd int dir = home < 0 ? -1
					   : open_in(home, ward_path_beneath(t->source, p->id.home),
						     O_PATH | O_DIRECTORY, 0);
	return dir >= 0 && fstat(dir, &a) == 0 && fstat(t->backing, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int ward_seed_write(const struct ward_run_plan *p, char *const *envp, struct ward_buf *note,
	struct ward_err *err)
{
	struct ward_as_owner as;
	int r = ward_as_owner_begin(&p->id, &as, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < p->settings->n_trees && r == 0; i++) {
		const struct ward_tree *s = &p->settings->trees[i];
		const struct ward_run_plan_tree *t = find_tree(p, s->path);
		if (s->seed.n == 0 && s->seed_project.n == 0)
			continue;
		if (!t || !t->source || !ward_agents_is(t->source, p->id.home))
			r = ward_err_set(err, -EINVAL,
				"[tree %s] seed: wardfs only writes such files to a directory of ~/.local/share/wardfs/agents, not to %s",
				s->path, t && t->source ? t->source : "a tmpfs");
		else if (!is_itself(p, t))
			ward_buf_printf(note,
				"%sno settings were written to %s: it is a link, or on a mount of its own",
				note->len ? "; " : "", t->source);
		else if ((r = seed_tree(p, s, t, envp, note)) < 0)
			r = ward_err_sys(err, r, "seed of %s", t->source);
	}
	ward_as_owner_end(&as);
	return r;
}
