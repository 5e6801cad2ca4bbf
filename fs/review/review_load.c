/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads `branch` (journal.h), which the supervisor wrote as the owner, before anything is served.
 * The owner can have written to it: every number, name and path is checked. What is read stands in
 * the session's own journal afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "fs/review/journal.h"
#include "fs/review/review_internal.h"

#define FIELDS_MAX 6U
#define NUMBER_MAX (1U << 26)
#define NS UINT64_C(1000000000)

struct load {
	struct ward_review *rv;
	struct ward_review_file **files; /* by number */
	struct statx *bases;		 /* the same */
	size_t room;
	size_t roots[WARD_TREES_MAX]; /* of the other session: of ours */
	size_t n_roots;
};

/* --- fields --- */

static bool number(const char *s, int base, uint64_t max, uint64_t *ret)
{
	char *end;

	if (!s || *s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret = strtoull(s, &end, base);
	return !errno && !*end && *ret <= max;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %XX, in place; "." is nothing. */
static bool bytes(char *s)
{
	char *to = s;

	if (!s)
		return false;
	if (!strcmp(s, "."))
		*s = '\0';
	for (; *s; s++) {
		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		if (hex(s[1]) < 0 || hex(s[2]) < 0 || (!hex(s[1]) && !hex(s[2])))
			return false;
		*to++ = (char)(hex(s[1]) * 16 + hex(s[2]));
		s += 2;
	}
	*to = '\0';
	return true;
}

static bool good_name(const char *s, size_t len)
{
	return len && len <= 255 && !memchr(s, '/', len) && !(len == 1 && *s == '.') &&
	       !(len == 2 && s[0] == '.' && s[1] == '.');
}

static bool good_path(const char *s)
{
	while (*s) {
		const size_t len = strcspn(s, "/");

		if (!good_name(s, len) || (s[len] && !s[len + 1]))
			return false;
		s += len + (s[len] == '/');
	}
	return true;
}

static struct statx_timestamp time_at(uint64_t ns)
{
	return (struct statx_timestamp){
		.tv_sec = (int64_t)(ns / NS), .tv_nsec = (uint32_t)(ns % NS)};
}

static bool base_of(char *s, mode_t type, struct statx *ret)
{
	uint64_t v[10];
	char *save = NULL, *part = s ? strtok_r(s, ":", &save) : NULL;

	for (size_t i = 0; i < 10; i++, part = strtok_r(NULL, ":", &save))
		if (!number(part, i == 3 ? 8 : 10, UINT64_MAX, &v[i]))
			return false;
	*ret = (struct statx){.stx_mask = WARD_REVIEW_MASK,
		.stx_dev_major = major(v[0]),
		.stx_dev_minor = minor(v[0]),
		.stx_ino = v[1],
		.stx_btime = time_at(v[2]),
		.stx_mode = (uint16_t)((v[3] & 07777) | type),
		.stx_nlink = (uint32_t)v[4],
		.stx_uid = (uint32_t)v[5],
		.stx_gid = (uint32_t)v[6],
		.stx_size = v[7],
		.stx_mtime = time_at(v[8]),
		.stx_ctime = time_at(v[9])};
	return !part;
}

/* --- entries --- */

static int take_root(struct load *l, char **f)
{
	uint64_t i;

	if (!number(f[0], 10, WARD_TREES_MAX - 1, &i) || i != l->n_roots || !bytes(f[1]))
		return -EBADMSG;
	l->roots[i] = WARD_TREES_MAX;
	for (size_t k = 0; k < l->rv->n_roots; k++)
		if (!strcmp(l->rv->roots[k].path, f[1]))
			l->roots[i] = k;
	l->n_roots++;
	return 0;
}

static struct ward_review_file *file_at(const struct load *l, const char *s)
{
	uint64_t n;

	return number(s, 10, NUMBER_MAX, &n) && n && n < l->room ? l->files[n] : NULL;
}

static int make_room(struct load *l, size_t n)
{
	size_t more = l->room ? l->room : 256;
	void *files, *bases;

	while (more <= n)
		more *= 2;
	if (more == l->room)
		return 0;
	files = reallocarray(l->files, more, sizeof(*l->files));
	l->files = files ? files : l->files;
	bases = files ? reallocarray(l->bases, more, sizeof(*l->bases)) : NULL;
	if (!bases)
		return -ENOMEM;
	l->bases = bases;
	memset(l->files + l->room, 0, (more - l->room) * sizeof(*l->files));
	memset(l->bases + l->room, 0, (more - l->room) * sizeof(*l->bases));
	l->room = more;
	return 0;
}

static int take_lower(struct load *l, struct ward_review_file *file, char **f)
{
	struct statx *base = &l->bases[file->number];
	uint64_t root;

	if (!number(f[2], 10, WARD_TREES_MAX - 1, &root) || root >= l->n_roots || !bytes(f[3]) ||
		!good_path(f[3]) || !base_of(f[4], file->type, base))
		return -EBADMSG;
	root = l->roots[root];
	if (root >= l->rv->n_roots || !l->rv->roots[root].stages)
		return -ESTALE;
	file->path = strdup(f[3]);
	if (!file->path)
		return -ENOMEM;
	file->root = root;
	file->has_lower = true;
	file->lower = ward_review_key_of(base);
	file->id = (struct ward_file_id){.ino = file->lower.ino, .btime_ns = file->lower.btime_ns};
	file->lower_nlink = base->stx_nlink;
	file->uid = base->stx_uid;
	file->gid = base->stx_gid;
	ward_review_hash_lower(l->rv, file);
	return 0;
}

static int take_file(struct load *l, char **f, bool lower)
{
	struct ward_review_file *file;
	uint64_t n, type;
	int r;

	if (!number(f[0], 10, NUMBER_MAX, &n) || !n || file_at(l, f[0]) ||
		!number(f[1], 8, S_IFMT, &type) || (type & ~(uint64_t)S_IFMT))
		return -EBADMSG;
	r = make_room(l, n);
	if (r < 0)
		return r;
	l->rv->next = (uint32_t)n;
	file = ward_review_file_new(l->rv, (mode_t)type);
	if (!file)
		return -ENOMEM;
	l->files[n] = file;
	file->loaded = true;
	file->nlink = !lower && S_ISDIR(type) ? 2 : 0;
	r = lower ? take_lower(l, file, f) : 0;
	return r < 0 ? r : ward_review_log_file(l->rv, file, lower ? &l->bases[n] : NULL);
}

static int take_place(struct load *l, char **f)
{
	struct ward_review_file *file = file_at(l, f[0]);
	uint64_t root;
	char *path;

	if (!file || !file->has_lower || S_ISDIR(file->type) ||
		!number(f[1], 10, WARD_TREES_MAX - 1, &root) || root >= l->n_roots ||
		!bytes(f[2]) || !good_path(f[2]))
		return -EBADMSG;
	root = l->roots[root];
	if (root >= l->rv->n_roots || !l->rv->roots[root].stages)
		return -ESTALE;
	path = strdup(f[2]);
	return path ? ward_review_place_add(l->rv, file, root, path, true) : -ENOMEM;
}

static int take_staged(struct load *l, char **f)
{
	struct ward_review_file *file = file_at(l, f[0]);
	char name[WARD_REVIEW_NAME];
	const struct statx *base;
	struct statx stx;
	int r;

	if (!file || file->staged || !f[1] || (!strcmp(f[1], "-")) == file->has_lower ||
		(file->has_lower && !base_of(f[1], file->type, &l->bases[file->number])))
		return -EBADMSG;
	ward_review_object_name(file, name);
	r = ward_review_statx(l->rv->objects_fd, name, &stx);
	if (r < 0 || (stx.stx_mode & S_IFMT) != file->type)
		return r < 0 ? r : -EBADMSG;
	base = file->has_lower ? &l->bases[file->number] : NULL;
	r = ward_review_placed(l->rv, file, base);
	file->copied_ctime = (struct timespec){0};
	file->borrowed = !S_ISDIR(file->type);
	return r;
}

static void count_name(struct ward_review_file *dir, struct ward_review_file *f, int by)
{
	if (f && S_ISDIR(f->type))
		dir->nlink += by;
	else if (f)
		f->nlink += by;
	if (f)
		f->net += by;
}

static int take_name(struct load *l, char **f)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	struct ward_review_file *dir = file_at(l, f[0]), *file = NULL, *was = NULL;
	struct ward_review_name *entry;

	if (!dir || !S_ISDIR(dir->type) || !bytes(f[1]) || !good_name(f[1], strlen(f[1])) ||
		!f[2] || !f[3] || (strcmp(f[2], "-") && !(file = file_at(l, f[2]))) ||
		(strcmp(f[3], "-") && !(was = file_at(l, f[3]))) || file == was ||
		(was && (!was->has_lower || !dir->has_lower)) ||
		(file && !file->has_lower && !file->staged) || ward_review_find(l->rv, dir, f[1]))
		return -EBADMSG;
	entry = ward_review_name_new(l->rv, dir, f[1]);
	if (!entry)
		return -ENOMEM;
	entry->file = file;
	entry->was = was;
	ward_review_place_leaves(l->rv, dir, entry->text, was, true);
	count_name(dir, file, 1);
	count_name(dir, was, -1);
	ward_review_put_name(&line, dir, entry->text, file, was);
	return ward_review_write(l->rv, &line);
}

static int take_entry(struct load *l, char *line, bool first)
{
	char *f[FIELDS_MAX + 1] = {NULL}, *save = NULL;
	char *what = strtok_r(line, " ", &save);
	size_t n = 0;

	while (n <= FIELDS_MAX && (f[n] = strtok_r(NULL, " ", &save)))
		n++;
	if (!what || strlen(what) != 1 || n > FIELDS_MAX || first != (*what == 'J'))
		return -EBADMSG;
	switch (*what) {
	case 'J':
		return n == 1 && !strcmp(f[0], "3") ? 0 : -EBADMSG;
	case 'R':
		return n == 2 ? take_root(l, f) : -EBADMSG;
	case 'F':
		return n == 5 ? take_file(l, f, true) : -EBADMSG;
	case 'P':
		return n == 3 ? take_place(l, f) : -EBADMSG;
	case 'W':
		return n == 2 ? take_file(l, f, false) : -EBADMSG;
	case 'S':
		return n == 2 ? take_staged(l, f) : -EBADMSG;
	case 'N':
		return n == 4 ? take_name(l, f) : -EBADMSG;
	default:
		return -EBADMSG;
	}
}

/* No name leads to what lost more than it got. */
static void settle(struct load *l)
{
	uint32_t most = 0;

	for (struct ward_review_file *f = l->rv->all; f; f = f->all_next) {
		if (S_ISDIR(f->type))
			f->gone = f->net < 0 || (!f->has_lower && !f->net);
		else
			f->gone = f->nlink + (f->has_lower ? (int64_t)f->lower_nlink : 0) <= 0;
		f->net = 0;
		most = f->number > most ? f->number : most;
	}
	l->rv->next = most + 1;
}

int ward_review_load(struct ward_review *rv, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int fd = ward_fd_open_regular(rv->store_fd, WARD_REVIEW_BRANCH, O_RDONLY);
	struct load l = {.rv = rv};
	bool first = true;
	char *end;
	int r;

	if (fd == -ENOENT)
		return 0;
	r = fd < 0 ? fd : ward_fd_read_all(fd, WARD_REVIEW_BRANCH_MAX, &text);
	if (r == 0 && (!text.len || strlen(ward_buf_str(&text)) != text.len))
		r = -EBADMSG;
	for (char *line = text.data; r == 0 && *line; line = end + 1, first = false) {
		end = strchr(line, '\n');
		if (!end || end == line || end[-1] != ';' || memchr(line, ';', end - line - 1)) {
			r = -EBADMSG;
			break;
		}
		end[-1] = '\0';
		r = take_entry(&l, line, first);
	}
	settle(&l);
	free(l.files);
	free(l.bases);
	(void)unlinkat(rv->store_fd, WARD_REVIEW_BRANCH, 0);
	rv->steps.changes = 0;
	if (r == -EBADMSG)
		return ward_err_set(err, r, "what the session is to begin with is damaged");
	if (r == -ESTALE)
		return ward_err_set(err, r,
			"the session that this one begins with was in another project, or served "
			"other directories");
	return r < 0 ? ward_err_sys(err, r, "what the session is to begin with") : 0;
}
