/* SPDX-License-Identifier: Apache-2.0 */
/* The names of sessions, and which one is meant. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/lines.h"
#include "audit/store/store.h"
#include "audit/store/store_internal.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* A ledger is read whole to find the latest session; two lines a session. */
#define LEDGER_MAX ((size_t)1 << 28)

void ward_store_names_free(struct ward_store_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->v[i]);
	free(names->v);
	*names = (struct ward_store_names){0};
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct ward_store_names *names, const char *name)
{
	char **v = reallocarray(names->v, names->n + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	names->v = v;
	v[names->n] = strdup(name);
	if (!v[names->n])
		return -ENOMEM;
	names->n++;
	return 0;
}

/* Names in a directory of the store that may be those of sessions. */
static int list_names(const struct ward_store *st, int dir_fd, const char *what,
	struct ward_store_names *ret, struct ward_err *err)
{
	struct ward_store_names names = {0};
	if (dir_fd >= 0) {
		int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ward_cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
		if (!d) {
			int r = -errno;
			if (fd >= 0)
				close(fd);
			return ward_err_sys(err, r, "%s/%s", st->path, what);
		}
		int r = 0;
		for (struct dirent *e = NULL; r == 0 && (errno = 0, e = readdir(d));)
			if (ward_session_name_valid(e->d_name, strlen(e->d_name)))
				r = add_name(&names, e->d_name);
		/* A list that ends early would leave out what verify --all is to look at. */
		if (r == 0)
			r = -errno;
		if (r < 0) {
			ward_store_names_free(&names);
			return ward_err_sys(err, r, "%s/%s", st->path, what);
		}
	}
	if (names.n > 0)
		qsort(names.v, names.n, sizeof(*names.v), compare_names);
	*ret = names;
	return 0;
}

int ward_store_list(struct ward_store *st, struct ward_store_names *ret, struct ward_err *err)
{
	return list_names(st, st->sessions_fd, "sessions", ret, err);
}

int ward_store_stat_sessions(struct ward_store *st, struct stat *ret)
{
	struct stat sb;
	if (st->sessions_fd < 0)
		return -ENOENT;
	if (fstat(st->sessions_fd, &sb) < 0)
		return -errno;
	*ret = sb;
	return 0;
}

int ward_store_list_marks(struct ward_store *st, struct ward_store_names *ret, struct ward_err *err)
{
	return list_names(st, st->running_fd, "running", ret, err);
}

static bool is_wanted(const struct ward_store_wanted *w, const char *name)
{
	return !w || w->is(w->user, name);
}

/* Without access to the ledger: the session with the newest checkpoints. */
static int find_newest(struct ward_store *st, const struct ward_store_wanted *wanted,
	char **ret_name, struct ward_err *err)
{
	struct ward_store_names names = {0};
	struct timespec last = {0};
	const char *found = NULL;
	int r = ward_store_list(st, &names, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n; i++) {
		char path[WARD_SESSION_NAME_MAX + 16];
		struct stat sb;
		snprintf(path, sizeof(path), "%s/checkpoints", names.v[i]);
		if (fstatat(st->sessions_fd, path, &sb, AT_SYMLINK_NOFOLLOW) < 0 ||
			sb.st_mtim.tv_sec < last.tv_sec ||
			(sb.st_mtim.tv_sec == last.tv_sec && sb.st_mtim.tv_nsec < last.tv_nsec) ||
			!is_wanted(wanted, names.v[i]))
			continue;
		last = sb.st_mtim;
		found = names.v[i];
	}
	*ret_name = found ? strdup(found) : NULL;
	r = *ret_name ? 0
	    : found   ? ward_err_sys(err, -ENOMEM, "session")
		      : ward_err_set(err, -ENOENT, "%s: no session yet", st->path);
	ward_store_names_free(&names);
	return r;
}

/* What is looked for among the entries of the ledger, from the last one back. */
struct latest {
	struct ward_store *st;
	const struct ward_store_wanted *wanted;
	struct ward_buf gone; /* "/NAME/": whose going later entries tell */
	bool any;
	char *name;
	char *missing; /* started after it; its directory is gone, and no entry says so */
};

static bool is_gone(const struct latest *l, const char *name)
{
	char key[WARD_SESSION_NAME_MAX + 3];
	snprintf(key, sizeof(key), "/%s/", name);
	return l->gone.len && strstr(ward_buf_str(&l->gone), key);
}

/* One entry. -ENOMEM */
static int look_back(struct latest *l, const struct ward_line *line)
{
	struct stat sb;
	char name[WARD_SESSION_NAME_MAX + 1];
	snprintf(name, sizeof(name), "%.*s", (int)line->session_len, line->session);
	if (ward_line_is(line, "removed") || ward_line_is(line, "expired")) {
		ward_buf_printf(&l->gone, "/%s/", name);
		return ward_buf_error(&l->gone);
	}
	if (!ward_line_is(line, "start"))
		return 0;
	l->any = true;
	if (l->st->sessions_fd >= 0 && fstatat(l->st->sessions_fd, name, &sb, 0) == 0) {
		if (!is_wanted(l->wanted, name))
			return 0;
		l->name = strdup(name);
		return l->name ? 0 : -ENOMEM;
	}
	if (l->missing || is_gone(l, name))
		return 0;
	l->missing = strdup(name);
	return l->missing ? 0 : -ENOMEM;
}

/* The session of the last "start" that has a directory. */
static int find_latest(struct ward_store *st, const struct ward_store_wanted *wanted,
	char **ret_name, char **ret_missing, struct ward_err *err)
{
	ward_cleanup_fd int fd = -1;
	int r = ward_store_open_ledger(st, &fd, err);
	if (r == -ENOENT)
		return ward_err_set(err, r, "%s: no session yet", st->path);
	if (r == -EACCES)
		return find_newest(st, wanted, ret_name, err);
	if (r < 0)
		return r;
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = LEDGER_MAX};
	r = ward_fd_read_all(fd, LEDGER_MAX, &b);
	if (r < 0)
		return ward_err_sys(err, r, "%s/ledger.jsonl", st->path);
	struct latest l = {.st = st, .wanted = wanted};
	const char *end = b.len ? memrchr(b.data, '\n', b.len) : NULL;
	while (r == 0 && end && !l.name) {
		const char *before = memrchr(b.data, '\n', (size_t)(end - b.data));
		const char *line = before ? before + 1 : b.data;
		struct ward_line entry;
		if (ward_line_parse(line, (size_t)(end - line), &entry) == 0)
			r = look_back(&l, &entry);
		end = before;
	}
	ward_buf_clear(&l.gone);
	if (r == 0 && l.name) {
		*ret_name = ward_steal_ptr(&l.name);
		*ret_missing = ward_steal_ptr(&l.missing);
		return 0;
	}
	free(l.missing);
	free(l.name);
	return r < 0 ? ward_err_sys(err, r, "session")
		     : ward_err_set(err, -ENOENT, "%s: no %s", st->path,
			       l.any ? "trail any more: wardfs audit list tells of those that "
				       "there were"
				     : "session yet");
}

/* i of "NAME.i", 1 of NAME; 0: it is neither. */
static size_t number_of(const struct ward_line *l, const char *name)
{
	size_t len = strlen(name);
	size_t n = 0;
	if (l->session_len < len || memcmp(l->session, name, len) != 0)
		return 0;
	if (l->session_len == len)
		return 1;
	/* As printf() writes it. A name with more digits than wardfs ever tries is not from wardfs.
	 */
	if (l->session[len] != '.' || l->session_len - len > 10 || l->session[len + 1] == '0')
		return 0;
	for (size_t i = len + 1; i < l->session_len; i++) {
		if (l->session[i] < '0' || l->session[i] > '9')
			return 0;
		n = 10 * n + (size_t)(l->session[i] - '0');
	}
	return n > 1 ? n : 0;
}

int ward_store_taken(struct ward_store *st, const char *name, bool *taken, size_t max)
{
	ward_cleanup_fd int fd = ward_fd_open_regular(st->dir_fd, "ledger.jsonl", O_RDONLY);
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(ward_lines_close) struct ward_lines lines = {0};
	struct ward_lines_line text;
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	int r = ward_log_open_file(fd, &log);
	if (r == 0)
		r = ward_lines_open(&lines, log, 0);
	while (r == 0 && (r = ward_lines_next(&lines, &text)) == 1) {
		struct ward_line l;
		r = 0;
		if (!text.whole || ward_line_parse(text.p, text.len, &l) < 0 ||
			!ward_line_is(&l, "start"))
			continue;
		size_t i = number_of(&l, name);
		if (i >= 1 && i <= max)
			taken[i] = true;
	}
	return r;
}

static int find_prefix(const struct ward_store_names *names, const char *what, char **ret_name,
	struct ward_err *err)
{
	const char *found = NULL;
	size_t n = 0;
	char list[512] = "";
	for (size_t i = 0; i < names->n; i++) {
		if (strncmp(names->v[i], what, strlen(what)) != 0)
			continue;
		if (strcmp(names->v[i], what) == 0) {
			found = names->v[i];
			n = 1;
			break;
		}
		found = names->v[i];
		if (++n <= 5)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), " %s", found);
	}
	if (n == 0)
		return ward_err_set(
			err, -ENOENT, "no session %s (wardfs audit list lists them)", what);
	if (n > 1)
		return ward_err_set(err, -EEXIST, "%s means %zu sessions:%s%s", what, n, list,
			n > 5 ? " …" : "");
	*ret_name = strdup(found);
	return *ret_name ? 0 : ward_err_sys(err, -ENOMEM, "session");
}

int ward_store_find(struct ward_store *st, const char *what, char **ret_name, struct ward_err *err)
{
	ward_cleanup_free char *missing = NULL;
	if (!what || strcmp(what, "latest") == 0)
		return ward_store_find_last(st, NULL, ret_name, &missing, err);
	if (!ward_session_name_valid(what, strlen(what)))
		return ward_err_set(err, -ENOENT,
			"%.200s: no session has such a name, and no file is there", what);
	/* The whole name: no look at the others, of which there can be many. */
	struct stat sb;
	if (st->sessions_fd >= 0 && fstatat(st->sessions_fd, what, &sb, AT_SYMLINK_NOFOLLOW) == 0) {
		*ret_name = strdup(what);
		return *ret_name ? 0 : ward_err_sys(err, -ENOMEM, "session");
	}
	struct ward_store_names names = {0};
	int r = ward_store_list(st, &names, err);
	if (r < 0)
		return r;
	r = find_prefix(&names, what, ret_name, err);
	ward_store_names_free(&names);
	return r;
}

int ward_store_find_last(struct ward_store *st, const struct ward_store_wanted *wanted,
	char **ret_name, char **ret_missing, struct ward_err *err)
{
	*ret_missing = NULL;
	return find_latest(st, wanted, ret_name, ret_missing, err);
}
