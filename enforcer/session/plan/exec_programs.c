/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files on this host that [process] exec means, and their libraries. */
#include "enforcer/session/plan/exec_programs.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/limit.h"
#include "enforcer/base/patient.h"
#include "enforcer/policy/mounted.h"

/* Names looked at, and directories above each other: a pattern such as /usr/ followed by "**" and
 * a name reads all of /usr once. */
#define NAMES_MAX 500000
#define DEPTH_MAX 40
/* Programs of one list; each is a rule of Landlock. */
#define PROGRAMS_MAX 8192
/* In directories that are listed whole, so many files are asked for their loader. */
#define HEADERS_MAX 4096
/* Program headers of one file (elf(5)); the kernel takes a page of them. */
#define PHDRS_MAX 64
/* The first line of a script, as the kernel reads it (BINPRM_BUF_SIZE). */
#define FIRST_LINE_MAX 256
/* File systems that do not answer are waited for so often; then what leads to another one is passed
 * over. */
#define SILENT_MAX 3

struct finder {
	const struct ward_policy *policy;
	struct ward_programs found;
	struct ward_programs loaders;
	struct ward_buf scripts; /* "SCRIPT\0INTERPRETER\0" each */
	struct ward_buf silent;	 /* lines about what does not answer */
	unsigned n_silent;
	size_t names, headers;
	char path[PATH_MAX]; /* of the directory at hand, as the patterns call it */
	size_t len;
};

static int add(struct ward_programs *x, const char *path)
{
	for (size_t i = 0; i < x->n; i++)
		if (strcmp(x->v[i], path) == 0)
			return 0;
	if (x->n == PROGRAMS_MAX)
		return -E2BIG;
	char **v = reallocarray(x->v, x->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	x->v = v;
	x->v[x->n] = strdup(path);
	return x->v[x->n] ? (x->n++, 0) : -ENOMEM;
}

bool ward_programs_have(const struct ward_programs *x, const char *path)
{
	for (size_t i = 0; i < x->n; i++) {
		size_t n = strlen(x->v[i]);
		if (strncmp(path, x->v[i], n) == 0 && (path[n] == '\0' || path[n] == '/'))
			return true;
	}
	return false;
}

bool ward_programs_is_interpreter(const char *path)
{
	/* Not those that only start others (env, xargs, find): these are listed or are not started.
	 */
	static const char *const names[] = {"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh",
		"fish", "csh", "tcsh", "rbash", "busybox", "toybox", "python*", "pypy*", "perl*",
		"ruby*", "irb*", "node", "nodejs", "deno", "bun", "php*", "lua*", "tclsh*", "wish*",
		"expect", "guile*", "emacs*", "vim*", "nvim", "awk", "gawk", "mawk", "java",
		"jshell", "mono", "dotnet", "erl", "escript", "iex", "elixir", "julia", "R",
		"Rscript", "octave*", "gdb", "lldb*", "qemu-*", "wine*", "ld-*.so*", "ld.so"};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (fnmatch(names[i], name, 0) == 0)
			return true;
	return false;
}

/* --- what may not answer --- */

/* Does path, which may lead to another file system, answer? What does not is said once. */
static bool answers(struct finder *f, const char *path)
{
	struct ward_err why = WARD_ERR_INIT;
	if (f->n_silent >= SILENT_MAX)
		return false;
	if (ward_patient_reach(path, &why) != -ETIMEDOUT)
		return true;
	f->n_silent++;
	ward_buf_printf(&f->silent, "%s[process] exec: nothing of it can be executed: %s",
		f->silent.len ? "\n" : "", why.text);
	return false;
}

/* Is name in dir there, on the same file system and no link? Nobody is waited for then. */
static bool is_near(int dir, const char *name)
{
	/* Without O_NOFOLLOW, with which a link itself would be opened. */
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS};
	ward_cleanup_fd int fd = ward_fd_openat2(dir, name, &how);
	return fd >= 0;
}

/* --- what a program needs --- */

/* The path without links; NULL: not there, or not for us. */
static char *real_path(struct finder *f, const char *name)
{
	ward_cleanup_fd int fd = answers(f, name) ? open(name, O_PATH | O_CLOEXEC) : -1;
	char *path = NULL;
	return fd >= 0 && ward_fd_path(fd, &path) == 0 ? path : NULL;
}

static int add_loader(struct finder *f, const char *path)
{
	ward_cleanup_free char *real = path[0] == '/' ? real_path(f, path) : NULL;
	return real ? add(&f->loaders, real) : 0;
}

/* PT_INTERP of an ELF file of our byte order; both classes. Nonsense is no loader. */
static int look_at_elf(struct finder *f, int fd, const uint8_t *head, size_t n)
{
	bool wide = n > EI_CLASS && head[EI_CLASS] == ELFCLASS64;
	Elf64_Ehdr e = {0};
	Elf32_Ehdr e32 = {0};
	char path[4096];
	if (n < (wide ? sizeof(e) : sizeof(e32)))
		return 0;
	if (wide) {
		memcpy(&e, head, sizeof(e));
	} else {
		memcpy(&e32, head, sizeof(e32));
		e.e_phoff = e32.e_phoff;
		e.e_phnum = e32.e_phnum;
		e.e_phentsize = e32.e_phentsize;
	}
	if (e.e_phentsize != (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return 0;
	for (unsigned i = 0; i < e.e_phnum && i < PHDRS_MAX; i++) {
		Elf64_Phdr p = {0};
		Elf32_Phdr p32 = {0};
		off_t at = (off_t)(e.e_phoff + (uint64_t)i * e.e_phentsize);
		void *to = wide ? (void *)&p : (void *)&p32;
		if (pread(fd, to, e.e_phentsize, at) != (ssize_t)e.e_phentsize)
			return 0;
		uint64_t offset = wide ? p.p_offset : p32.p_offset;
		uint64_t size = wide ? p.p_filesz : p32.p_filesz;
		if ((wide ? p.p_type : p32.p_type) != PT_INTERP)
			continue;
		if (size < 2 || size > sizeof(path) ||
			pread(fd, path, size, (off_t)offset) != (ssize_t)size ||
			path[size - 1] != '\0')
			return 0;
		return add_loader(f, path);
	}
	return 0;
}

static int look_at_script(struct finder *f, const char *path, char *line)
{
	line[strcspn(line, "\n")] = '\0';
	char *from = line + 2 + strspn(line + 2, " \t");
	from[strcspn(from, " \t")] = '\0';
	if (from[0] != '/')
		return 0;
	ward_buf_add(&f->scripts, path, strlen(path) + 1);
	ward_buf_add(&f->scripts, from, strlen(from) + 1);
	return ward_buf_error(&f->scripts);
}

/* A program that we may not read can still be executed: the host's loader is in the list anyway. */
static int look_at_file(struct finder *f, int dir, const char *name, const char *path)
{
	uint8_t head[FIRST_LINE_MAX] = {0};
	struct stat st;
	ward_cleanup_fd int fd = openat(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	ssize_t n = pread(fd, head, sizeof(head) - 1, 0);
	if (n >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
		return look_at_elf(f, fd, head, (size_t)n);
	if (n >= 2 && head[0] == '#' && head[1] == '!' && path)
		return look_at_script(f, path, (char *)head);
	return 0;
}

/* Loaders of what lies in a directory that is listed whole; not through links. */
static int look_beneath(struct finder *f, int dir, unsigned depth)
{
	const struct dirent *e = NULL;
	int r = 0;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d && fd >= 0)
		close(fd);
	if (!d)
		return 0;
	while (r == 0 && f->headers < HEADERS_MAX && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		f->headers++;
		if (e->d_type == DT_REG && is_near(dirfd(d), e->d_name)) {
			r = look_at_file(f, dirfd(d), e->d_name, NULL);
		} else if (e->d_type == DT_DIR && depth < DEPTH_MAX && f->n_silent < SILENT_MAX) {
			ward_cleanup_fd int sub = ward_mounted_open(NULL, dirfd(d), e->d_name);
			f->n_silent += sub == -ETIMEDOUT;
			r = sub < 0 ? 0 : look_beneath(f, sub, depth + 1);
		}
	}
	closedir(d);
	return r;
}

/* --- what the patterns mean --- */

static int add_found(struct finder *f, int dir, const char *name)
{
	struct stat st;
	ward_cleanup_fd int fd = openat(dir, name, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0 || !(S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
		return 0;
	ward_cleanup_free char *path = NULL;
	if (ward_fd_path(fd, &path) < 0 || strcmp(path, "/") == 0)
		return 0;
	int r = add(&f->found, path);
	if (r == 0)
		r = S_ISDIR(st.st_mode) ? look_beneath(f, fd, 0) : look_at_file(f, dir, name, path);
	return r;
}

static bool is_tree(const struct finder *f, const char *path)
{
	const struct ward_settings *s = ward_policy_settings(f->policy);
	for (size_t i = 0; i < s->n_trees; i++)
		if (strcmp(s->trees[i].path, path) == 0)
			return true;
	/* Not of files. */
	return strcmp(path, "/proc") == 0 || strcmp(path, "/sys") == 0 || strcmp(path, "/dev") == 0;
}

static int walk(struct finder *f, int dir, const struct ward_state *s, unsigned depth);

/* One name of a directory. */
static int visit(
	struct finder *f, int dir, const struct ward_state *s, const char *name, unsigned depth)
{
	const struct ward_state *next = NULL;
	size_t len = f->len;
	if (++f->names > NAMES_MAX)
		return -E2BIG;
	/* No path that is longer can be asked for. */
	int n = snprintf(f->path + len, sizeof(f->path) - len, "/%s", name);
	if (n < 0 || (size_t)n >= sizeof(f->path) - len)
		return 0;
	int r = ward_policy_step(f->policy, s, name, strlen(name), &next);
	if (r < 0)
		return r;
	enum ward_listed l = ward_policy_listed(f->policy, next);
	f->len = len + (size_t)n;
	if (l != WARD_LISTED_NOT && !is_tree(f, f->path) &&
		(is_near(dir, name) || answers(f, f->path))) {
		if (l == WARD_LISTED) {
			r = add_found(f, dir, name);
		} else if (depth < DEPTH_MAX) {
			/* Through links: /bin is one on most hosts. */
			ward_cleanup_fd int sub =
				openat(dir, name, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
			r = sub < 0 ? 0 : walk(f, sub, next, depth + 1);
		}
	}
	f->len = len;
	ward_policy_state_put(f->policy, next);
	return r;
}

static int walk(struct finder *f, int dir, const struct ward_state *s, unsigned depth)
{
	const struct dirent *e = NULL;
	int r = 0;
	int fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		r = -errno;
		if (fd >= 0)
			close(fd);
		return r;
	}
	while (r == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = visit(f, dir, s, e->d_name, depth);
	closedir(d);
	return r;
}

/* Scripts run only where what they name may be executed as well: said, not done in silence. */
static int note_scripts(struct finder *f)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_add(&b, f->silent.data, f->silent.len);
	for (size_t at = 0; at < f->scripts.len;) {
		const char *script = f->scripts.data + at;
		const char *by = script + strlen(script) + 1;
		ward_cleanup_free char *real = real_path(f, by);
		at += strlen(script) + 1 + strlen(by) + 1;
		if (real && ward_programs_have(&f->found, real))
			continue;
		ward_buf_puts(&b, b.len ? "\n[process] exec: " : "[process] exec: ");
		ward_escape(&b, script, strlen(script));
		ward_buf_puts(&b, " is a script of ");
		ward_escape(&b, by, strlen(by));
		ward_buf_puts(&b, ", which is not listed: it will not run");
	}
	if (b.len)
		f->found.note = ward_buf_steal(&b);
	return b.len && !f->found.note ? -ENOMEM : 0;
}

static int find(struct finder *f)
{
	ward_cleanup_fd int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = root < 0 ? -errno : walk(f, root, ward_policy_root(f->policy), 0);
	/* Of what is made inside: a dynamic program of this host. */
	if (r == 0)
		r = look_at_file(f, AT_FDCWD, "/proc/self/exe", NULL);
	if (r == 0)
		r = note_scripts(f);
	for (size_t i = 0; r == 0 && i < f->loaders.n; i++) {
		size_t before = f->found.n;
		if (!ward_programs_have(&f->found, f->loaders.v[i]))
			r = add(&f->found, f->loaders.v[i]);
		f->found.n_loaders += f->found.n - before;
	}
	return r;
}

int ward_programs_find(const struct ward_policy *p, struct ward_programs *ret, struct ward_err *err)
{
	struct finder f = {.policy = p};
	if (!ward_policy_has_programs(p)) {
		*ret = WARD_PROGRAMS_INIT;
		return 0;
	}
	int r = find(&f);
	ward_programs_clear(&f.loaders);
	ward_buf_clear(&f.scripts);
	ward_buf_clear(&f.silent);
	if (r < 0) {
		ward_programs_clear(&f.found);
		return r == -E2BIG
			       ? ward_err_set(err, r,
					 "[process] exec covers more than %d programs, or too many names to examine; list directories, or fewer programs",
					 PROGRAMS_MAX)
			       : ward_err_sys(err, r, "[process] exec");
	}
	*ret = f.found;
	return 0;
}

void ward_programs_clear(struct ward_programs *x)
{
	for (size_t i = 0; i < x->n; i++)
		free(x->v[i]);
	free(x->v);
	free(x->note);
	*x = WARD_PROGRAMS_INIT;
}

enum ward_sandbox_listed ward_programs_listed(const void *policy, const char *path)
{
	const struct ward_state *s = NULL;
	if (ward_policy_walk(policy, path, strlen(path), &s) < 0)
		return WARD_SANDBOX_LISTED_NOT;
	enum ward_listed l = ward_policy_listed(policy, s);
	ward_policy_state_put(policy, s);
	switch (l) {
	case WARD_LISTED_NOT:
		break;
	case WARD_LISTED_BENEATH:
		return WARD_SANDBOX_LISTED_BENEATH;
	case WARD_LISTED:
		return WARD_SANDBOX_LISTED;
	}
	return WARD_SANDBOX_LISTED_NOT;
}
