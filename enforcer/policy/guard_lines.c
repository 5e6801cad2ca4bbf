/* SPDX-License-Identifier: Apache-2.0 */
/* Writes lines of the list of files that the host executes as guards. */
#include "enforcer/policy/guard_lines.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/policy.h"

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

void ward_guard_put_path(struct ward_buf *text, const char *root, const char *path)
{
	ward_buf_printf(text, "%s%s", root, *path ? "/" : "");
	ward_pattern_quote(text, path, strlen(path));
}

struct line {
	const char *verb, *pattern; /* borrowed */
	size_t n_verb, n_pattern;
};

/* The next line of the class that takes something, from *list on, which moves behind it. */
static bool next_line(const char **list, const char *where, struct line *ret)
{
	while (**list) {
		const char *w;
		const char *s = *list;
		*list += strcspn(*list, "\n");
		*list += **list == '\n';
		size_t n = field(&s, &w);
		if (!is(w, n, where))
			continue;
		ret->n_verb = field(&s, &ret->verb);
		ret->n_pattern = field(&s, &ret->pattern);
		if (!is(ret->verb, ret->n_verb, "-"))
			return true;
	}
	return false;
}

void ward_guard_lines_wanted(struct ward_buf *text, const char *where, const char *root,
	const char *path, const char *below, ward_guard_wants_fn *wants, int tree)
{
	const char *list = ward_embedded_lists[0].data;
	struct line l;
	while (next_line(&list, where, &l)) {
		if (wants && !wants(tree, l.pattern, l.n_pattern))
			continue;
		ward_buf_add(text, l.verb, l.n_verb);
		ward_buf_puts(text, " = ");
		ward_guard_put_path(text, root, path);
		ward_buf_printf(text, "%s/", below);
		ward_buf_add(text, l.pattern, l.n_pattern);
		ward_buf_putc(text, '\n');
	}
}

int ward_guard_each(const char *where, int (*fn)(void *arg, const char *pattern), void *arg)
{
	const char *list = ward_embedded_lists[0].data;
	struct line l;
	char pattern[128];
	int r = 0;
	while (r == 0 && next_line(&list, where, &l)) {
		if (l.n_pattern >= sizeof(pattern))
			continue;
		memcpy(pattern, l.pattern, l.n_pattern);
		pattern[l.n_pattern] = '\0';
		r = fn(arg, pattern);
	}
	return r;
}

void ward_guard_lines(struct ward_buf *text, const char *where, const char *root, const char *path,
	const char *below)
{
	ward_guard_lines_wanted(text, where, root, path, below, NULL, -1);
}

/* What stands there itself; no name above it is followed as a link. 0: nothing that can be seen. */
static mode_t type_at(int tree, const char *path, size_t n)
{
	char name[128];
	struct stat st;
	if (n >= sizeof(name))
		return 0;
	memcpy(name, path, n);
	name[n] = 0;
	const struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	ward_cleanup_fd int fd = ward_fd_openat2(tree, name, &how);
	return fd >= 0 && fstat(fd, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

bool ward_guard_no_dir(int tree, const char *pattern, size_t n)
{
	return type_at(tree, pattern, n) != S_IFDIR;
}

bool ward_guard_there(int tree, const char *pattern, size_t n)
{
	return type_at(tree, pattern, n) != 0;
}
