/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found of secrets when the policy was loaded, and what follows for a file. The text comes
 * from the loader (session/owner/found_secrets.h) and travels as a source of its own.
 */
#include "enforcer/policy/internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Paths under rules of `secret` that are tracked; no project has more. */
#define FOUND_MAX 65536U

void ward_found_clear(struct ward_found *f)
{
	for (size_t i = 0; i < f->n_paths; i++)
		free(f->paths[i].path);
	free(f->paths);
	free(f->files);
	*f = (struct ward_found){0};
}

static int grow(void **v, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return 0;
	if (n >= FOUND_MAX)
		return -E2BIG;
	size_t c = *cap ? *cap * 2 : 16;
	void *m = reallocarray(*v, c, size);
	if (!m)
		return -ENOMEM;
	*v = m;
	*cap = c;
	return 0;
}

static int add_path(struct ward_found *f, enum ward_fact fact, bool unknown,
	const struct ward_file_seen *seen, const char *path, size_t len)
{
	void *v = f->paths;
	int r = len && *path == '/' && !memchr(path, 0, len)
			? grow(&v, f->n_paths, &f->cap_paths, sizeof(*f->paths))
			: -EINVAL;
	f->paths = v;
	char *copy = r == 0 ? strndup(path, len) : NULL;
	if (r == 0 && !copy)
		r = -ENOMEM;
	if (r == 0)
		f->paths[f->n_paths++] = (struct ward_found_path){
			.path = copy, .fact = fact, .unknown = unknown, .seen = *seen};
	return r;
}

static int add_file(struct ward_found *f, const struct ward_file_seen *seen, bool differs)
{
	void *v = f->files;
	int r = grow(&v, f->n_files, &f->cap_files, sizeof(*f->files));
	f->files = v;
	if (r == 0)
		f->files[f->n_files++] = (struct ward_found_file){*seen, differs};
	return r;
}

/* Numbers and a blank behind each. */
static bool take_numbers(const char **s, const char *end, uint64_t *ret, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;
		const char *from = *s;
		for (; *s < end && **s >= '0' && **s <= '9'; ++*s)
			if (__builtin_mul_overflow(v, 10, &v) ||
				__builtin_add_overflow(v, (uint64_t)(**s - '0'), &v))
				return false;
		if (*s == from || *s == end || **s != ' ')
			return false;
		++*s;
		ret[i] = v;
	}
	return true;
}

static bool begins(const char **s, const char *end, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(end - *s) < n || memcmp(*s, word, n) != 0)
		return false;
	*s += n;
	return true;
}

static int take_line(struct ward_found *f, const char *s, const char *end)
{
	static const struct ward_file_seen none;
	uint64_t v[6];
	if (begins(&s, end, "tracked "))
		return add_path(f, WARD_FACT_DIFFERS, false, &none, s, (size_t)(end - s));
	if (begins(&s, end, "unknown "))
		return add_path(f, WARD_FACT_DIFFERS, true, &none, s, (size_t)(end - s));
	const bool differs = begins(&s, end, "differs ");
	if ((!differs && !begins(&s, end, "committed ")) || !take_numbers(&s, end, v, 6))
		return -EINVAL;
	const struct ward_file_seen seen = {.dev = v[0],
		.ino = v[1],
		.btime_ns = (int64_t)v[2],
		.mtime_ns = (int64_t)v[3],
		.ctime_ns = (int64_t)v[4],
		.size = v[5]};
	return add_path(f, differs ? WARD_FACT_DIFFERS : WARD_FACT_COMMITTED, false, &seen, s,
		(size_t)(end - s));
}

static int cmp_paths(const void *a, const void *b)
{
	const struct ward_found_path *x = a, *y = b;
	int c = strcmp(x->path, y->path);
	/* Of two on one path the less trusted one first. */
	return c ? c : (int)x->fact - (int)y->fact;
}

static int cmp_seen(const struct ward_file_seen *x, const struct ward_file_seen *y)
{
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->dev < y->dev ? -1 : x->dev > y->dev;
}

static int cmp_files(const void *a, const void *b)
{
	return cmp_seen(&((const struct ward_found_file *)a)->seen,
		&((const struct ward_found_file *)b)->seen);
}

static int cmp_differs_first(const void *a, const void *b)
{
	const struct ward_found_file *x = a, *y = b;
	int c = cmp_files(a, b);
	return c ? c : (int)y->differs - (int)x->differs;
}

/*
 * The files that git has. An index, or several, may name one path as often as somebody likes, each
 * time with another content: all of them must match. Else such an index would be a list of guesses.
 */
static int add_files(struct ward_found *f)
{
	int r = 0;
	bool all = false;
	for (size_t i = 0; r == 0 && i < f->n_paths; i++) {
		const struct ward_found_path *p = &f->paths[i];
		/* Sorted: what does not match comes first. */
		if (i == 0 || strcmp(p[-1].path, p->path) != 0)
			all = p->fact == WARD_FACT_COMMITTED;
		if (p->fact == WARD_FACT_DIFFERS ? p->seen.ino != 0 : all && p->seen.btime_ns)
			r = add_file(f, &p->seen, p->fact == WARD_FACT_DIFFERS);
	}
	return r;
}

/* Names of one file would be guesses as well: links, or spellings where the backing takes several.
 * So a file that differs under one name is committed under none. */
static void drop_differing(struct ward_found *f)
{
	size_t kept = 0;
	bool differs = false;
	if (f->n_files)
		qsort(f->files, f->n_files, sizeof(*f->files), cmp_differs_first);
	for (size_t i = 0; i < f->n_files; i++) {
		const struct ward_found_file file = f->files[i];
		if (i == 0 || cmp_files(&f->files[i - 1], &file) != 0)
			differs = file.differs;
		f->files[i].differs = differs;
	}
	for (size_t i = 0; i < f->n_files; i++)
		if (!f->files[i].differs)
			f->files[kept++] = f->files[i];
	f->n_files = kept;
}

int ward_found_parse(const char *text, size_t len, struct ward_found *ret, struct ward_err *err)
{
	struct ward_found f = {0};
	int r = 0;
	for (const char *s = text, *end = text + len; r == 0 && s < end;) {
		/* A name may hold a newline: lines end in NUL. */
		const char *nul = memchr(s, 0, (size_t)(end - s));
		r = nul ? take_line(&f, s, nul) : -EINVAL;
		s = nul ? nul + 1 : end;
	}
	if (r == 0 && f.n_paths) {
		qsort(f.paths, f.n_paths, sizeof(*f.paths), cmp_paths);
		r = add_files(&f);
	}
	if (r < 0) {
		ward_found_clear(&f);
		return ward_err_set(err, r,
			r == -ENOMEM  ? "out of memory"
			: r == -E2BIG ? "git tracks more than 65536 names of secrets"
				      : "what was found of secrets cannot be read");
	}
	drop_differing(&f);
	*ret = f;
	return 0;
}

/* Is it one of the files that were looked into, and nobody has touched it since? */
static bool known_file(const struct ward_found *f, const struct ward_file_seen *file)
{
	const struct ward_found_file key = {.seen = *file};
	const struct ward_found_file *k =
		f->n_files && file->btime_ns
			? bsearch(&key, f->files, f->n_files, sizeof(*f->files), cmp_files)
			: NULL;
	return k && k->seen.btime_ns == file->btime_ns && k->seen.mtime_ns == file->mtime_ns &&
	       k->seen.ctime_ns == file->ctime_ns && k->seen.size == file->size;
}

static bool beneath(const char *path, size_t len, const char *dir, size_t n)
{
	return len >= n && memcmp(path, dir, n) == 0 && (len == n || path[n] == '/');
}

/* The first path that is not before this one. */
static size_t lower(const struct ward_found *f, const char *path, size_t len)
{
	size_t lo = 0, hi = f->n_paths;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strncmp(f->paths[mid].path, path, len);
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

enum ward_fact ward_policy_found(const struct ward_policy *p, const struct ward_file_seen *file,
	const char *path, size_t len)
{
	const struct ward_found *f = &p->found;
	if (!file->dir && known_file(f, file))
		return WARD_FACT_COMMITTED;
	for (size_t i = lower(f, path, len);
		i < f->n_paths && strncmp(f->paths[i].path, path, len) == 0; i++) {
		const char *rest = f->paths[i].path + len;
		if (!*rest && !f->paths[i].unknown)
			return WARD_FACT_DIFFERS;
		if (*rest == '/' && file->dir && !f->paths[i].unknown)
			return WARD_FACT_COMMITTED;
	}
	for (size_t i = 0; i < f->n_paths; i++)
		if (f->paths[i].unknown &&
			beneath(path, len, f->paths[i].path, strlen(f->paths[i].path)))
			return WARD_FACT_DIFFERS;
	return WARD_FACT_THERE;
}

void ward_policy_each_found(const struct ward_policy *p,
	void (*fn)(void *user, enum ward_fact fact, const char *path), void *user)
{
	for (size_t i = 0; i < p->found.n_paths; i++)
		fn(user, p->found.paths[i].fact, p->found.paths[i].path);
}

bool ward_policy_secret(const struct ward_state *s)
{
	return s->outcome.secret;
}

bool ward_policy_has_secrets(const struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].verb == WARD_VERB_SECRET)
			return true;
	return false;
}
