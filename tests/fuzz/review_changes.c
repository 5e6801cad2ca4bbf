/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as what a session of review left: its journal, the log of applies and the list of what
 * was discarded, divided by NULs. Beside them lie 15 objects and a project, made once. Names never
 * lead above the project, each change has a flag or none, digests stay, and a dry run of an apply
 * and of an undo says something of each change and changes nothing.
 */
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/fd.h"
#include "enforcer/cli/review/review_flags.h"
#include "tests/fuzz/fuzz.h"

#define OBJECTS 16
/* What is no path of a person is no use: each change looks at the project. */
#define INPUT_MAX 4096U

struct place {
	char top[32];
	int store, project;
};

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* libFuzzer gives no argument. */
static struct place place = {.store = -1, .project = -1};

static void clear_place(void)
{
	(void)nftw(place.top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void write_at(int dir, const char *name, const void *data, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	fuzz_insist(fd >= 0 && ward_fd_write_all(fd, data, len) == 0);
	close(fd);
}

static int dir_at(int at, const char *name)
{
	fuzz_insist(mkdirat(at, name, 0755) == 0);
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fuzz_insist(fd >= 0);
	return fd;
}

/* Each third object is a link, and each third a directory. */
static void make_place(void)
{
	static const char *const links[] = {"/", "..", "d/e", "up", "d/up/../..", "."};
	char name[32];
	snprintf(place.top, sizeof(place.top), "/dev/shm/fuzz-review.XXXXXX");
	fuzz_insist(mkdtemp(place.top) != NULL && atexit(clear_place) == 0);
	int top = open(place.top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fuzz_insist(top >= 0);
	place.store = dir_at(top, "store");
	place.project = dir_at(top, "project");
	close(dir_at(place.store, "objects"));
	close(dir_at(place.store, "undo"));
	for (int i = 1; i < OBJECTS; i++) {
		snprintf(name, sizeof(name), "objects/%d", i);
		if (i % 3 == 0)
			fuzz_insist(symlinkat(links[i / 3], place.store, name) == 0);
		else if (i % 3 == 1)
			write_at(place.store, name, name, strlen(name));
		else
			fuzz_insist(mkdirat(place.store, name, 0755) == 0);
	}
	int d = dir_at(place.project, "d");
	close(dir_at(d, "e"));
	fuzz_insist(symlinkat("..", d, "up") == 0);
	write_at(d, "f", "f\n", 2);
	close(d);
	int git = dir_at(place.project, "bare");
	close(dir_at(git, "objects"));
	close(dir_at(git, "refs"));
	write_at(git, "HEAD", "ref: refs/heads/m\n", 18);
	close(git);
	close(top);
}

static bool leads_up(const char *path)
{
	if (*path == '/')
		return true;
	for (size_t n; *path; path += n + (path[n] == '/')) {
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.') || (n == 2 && memcmp(path, "..", 2) == 0))
			return true;
	}
	return false;
}

static void try_apply(struct ward_review_changes *c)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_apply a = {
		.dir_fd = place.store, .place_fd = place.store, .changes = c, .dry = true};
	bool *wanted = calloc(c->n + 1, sizeof(*wanted));
	a.ends = calloc(c->n + 1, sizeof(*a.ends));
	a.why = calloc(c->n + 1, sizeof(*a.why));
	fuzz_insist(wanted && a.ends && a.why);
	for (size_t i = 0; i < 16; i++)
		a.roots[i] = i < 2 ? place.project : -1;
	memset(wanted, true, c->n);
	if (ward_apply(&a, wanted, &err) == 0)
		for (size_t i = 0; i < c->n; i++)
			fuzz_insist(a.ends[i] != WARD_APPLY_NONE && *a.why[i]);
	free(wanted);
	free(a.ends);
	free(a.why);
}

static void try_changes(void)
{
	struct ward_review_meant m = {.dir_fd = place.store};
	struct ward_err err = WARD_ERR_INIT;
	char again[WARD_REVIEW_DIGEST_SIZE];
	for (size_t i = 0; i < 16; i++)
		m.roots[i] = i < 2 ? place.project : -1;
	if (ward_changes_read(place.store, 0, &m.changes, &err) < 0)
		return;
	for (size_t i = 0; i < m.changes.n; i++) {
		const struct ward_change *c = &m.changes.v[i];
		fuzz_insist(c->kind != WARD_CHANGE_NONE && !leads_up(c->path));
		fuzz_insist(!c->from || !leads_up(c->from));
		fuzz_insist(!c->host || !leads_up(c->host));
	}
	if (ward_changes_digest(place.store, &m.changes, m.digest, &err) == 0) {
		fuzz_insist(ward_changes_digest(place.store, &m.changes, again, &err) == 0);
		fuzz_insist(strcmp(m.digest, again) == 0);
		fuzz_insist(ward_review_flags(&m, &m.flags, &err) == 0);
		for (size_t i = 0; i < m.changes.n; i++)
			fuzz_insist(m.flags[i] != NULL);
		try_apply(&m.changes);
	}
	free(m.flags);
	ward_changes_clear(&m.changes);
}

static void try_undo(void)
{
	struct ward_applied done;
	struct ward_err err = WARD_ERR_INIT;
	struct ward_undo u = {.dir_fd = place.store, .applied = &done, .dry = true};
	if (ward_applied_of(place.store, &done, &err) < 0)
		return;
	bool *wanted = calloc(done.n + 1, sizeof(*wanted));
	u.ends = calloc(done.n + 1, sizeof(*u.ends));
	u.why = calloc(done.n + 1, sizeof(*u.why));
	fuzz_insist(wanted && u.ends && u.why);
	for (size_t i = 0; i < 16; i++)
		u.roots[i] = i < 2 ? place.project : -1;
	memset(wanted, true, done.n);
	for (size_t i = 0; i < done.n; i++)
		fuzz_insist(!leads_up(done.v[i].c.path));
	if (done.n)
		(void)!ward_undo(&u, wanted, &err);
	free(wanted);
	free(u.ends);
	free(u.why);
	ward_applied_clear(&done);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"journal", "undo/log", "discarded"};
	if (place.store < 0)
		make_place();
	if (size > INPUT_MAX)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const uint8_t *end = size ? memchr(data, 0, size) : NULL;
		const size_t n = end ? (size_t)(end - data) : size;
		write_at(place.store, names[i], n ? (const void *)data : "", n);
		data += n + (end != NULL);
		size -= n + (end != NULL);
	}
	try_changes();
	try_undo();
	fuzz_insist(faccessat(place.project, "d/e", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	fuzz_insist(faccessat(place.project, "d/f", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	fuzz_insist(faccessat(place.project, "bare/HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	return 0;
}
