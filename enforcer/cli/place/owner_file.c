/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a policy of the owner's, with the owner's rights. */
#include "enforcer/cli/place/owner_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/budget.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/place/owner_history.h"
#include "enforcer/policy/read.h"
#include "enforcer/session/owner/as_owner.h"

/* Of 20 ms. */
#define LOCK_TRIES 250U

int ward_owner_file_dirs(const char *file, struct ward_err *err)
{
	ward_cleanup_free char *path = strdup(file);
	if (!path)
		return ward_err_sys(err, -ENOMEM, "%s", file);
	for (char *s = strchr(path + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = 0;
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return ward_err_sys(err, -errno, "%s", path);
		*s = '/';
	}
	return 0;
}

/* Writes the text beside the file; the caller loads it from there, then renames it. */
static int write_beside(const char *beside, const struct ward_buf *text, struct ward_err *err)
{
	ward_cleanup_fd int fd =
		open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return ward_err_sys(err, -errno, "%s", beside);
	int r = ward_fd_write_all(fd, text->data, text->len);
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	return r < 0 ? ward_err_sys(err, r, "%s", beside) : 0;
}

struct put {
	const char *file, *beside;
	const struct ward_policy_place *place;
	const struct ward_owner_change *change;
	int lock;
};

/* Two that change the file at once would lose what one of them wrote. */
static int lock_dir(const char *file, int *ret, struct ward_err *err)
{
	const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
	const char *slash = strrchr(file, '/');
	ward_cleanup_free char *dir = strndup(file, slash ? (size_t)(slash - file) : 0);
	ward_cleanup_fd int fd =
		dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK) : -1;
	if (fd < 0)
		return ward_err_sys(err, dir ? -errno : -ENOMEM, "%s", file);
	/* Not forever: whose directory it is may hold the lock as long as they like. */
	for (unsigned i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return ward_err_sys(err, -errno, "locking %s", dir);
		if (i == LOCK_TRIES)
			return ward_err_set(err, -EBUSY,
				"another wardfs is changing %s; try again when it has ended", file);
		(void)nanosleep(&pause, NULL);
	}
	*ret = ward_steal_fd(&fd);
	return 0;
}

static int begin(struct put *p, struct ward_err *err)
{
	int r = ward_owner_file_dirs(p->file, err);
	return r == 0 && p->change->text ? write_beside(p->beside, p->change->text, err) : r;
}

static bool loads(const char *file)
{
	struct ward_policy *policy = NULL;
	bool ok = ward_policy_load_alone(file, &policy, NULL) == 0;
	ward_policy_unref(policy);
	return ok;
}

/* The present text goes into the history, unless an undo takes it back. */
static int keep(const struct put *p, struct ward_err *err)
{
	const struct ward_owner_change *c = p->change;
	ward_cleanup(ward_buf_clear) struct ward_buf now = WARD_BUF_INIT;
	int r = ward_owner_file_get(p->file, &p->place->id, &now, err);
	if (r == -EFBIG || r == -EINVAL)
		return c->was ? r : 0; /* nothing that a policy ever said */
	if (r < 0)
		return r;
	if (r == 1 && !c->replace)
		return ward_err_set(err, -EEXIST, "%s is there already", p->file);
	if (c->was && (now.len != c->was->len ||
			      (now.len && memcmp(now.data, c->was->data, now.len) != 0)))
		return ward_err_set(err, -ESTALE,
			"another program changed %s meanwhile; nothing was written", p->file);
	/* A step back must load, so what does not is no step: undo would stay there forever. */
	return c->undo || (r == 1 && !loads(p->file)) ? 0
						      : ward_owner_history_push(p->file, &now, err);
}

static int finish(struct put *p, struct ward_err *err)
{
	const struct ward_owner_change *c = p->change;
	/* Not before: what the change means takes long to tell where a project file is hostile. */
	int r = lock_dir(p->file, &p->lock, err);
	if (r == 0)
		r = keep(p, err);
	if (r < 0)
		return r;
	if (!c->text ? unlink(p->file) < 0 && errno != ENOENT
		     : renameat2(AT_FDCWD, p->beside, AT_FDCWD, p->file,
			       c->replace ? 0 : RENAME_NOREPLACE) < 0)
		return ward_err_sys(err, -errno, "%s", p->file);
	return c->undo ? ward_owner_history_pop(p->file, err) : 0;
}

static int drop(struct put *p, struct ward_err *err)
{
	return p->change->text && unlink(p->beside) < 0 ? ward_err_sys(err, -errno, "%s", p->beside)
							: 0;
}

/*
 * The owner decides what stands in these directories, also links that lead elsewhere: with root's
 * rights a link would have root write where the owner may not.
 */
static int as_owner(const struct ward_identity *id, int (*step)(struct put *, struct ward_err *),
	struct put *p, struct ward_err *err)
{
	struct ward_as_owner owner;
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	r = step(p, err);
	ward_as_owner_end(&owner);
	return r;
}

int ward_owner_file_get(
	const char *file, const struct ward_identity *id, struct ward_buf *b, struct ward_err *err)
{
	struct ward_as_owner owner;
	int r = ward_as_owner_begin(id, &owner, err);
	if (r < 0)
		return r;
	/* A link is fine: it leads to what the owner may read. */
	ward_cleanup_fd int fd = -1;
	r = ward_fd_open_named(file, WARD_NAMED_FILE, &fd, err);
	ward_as_owner_end(&owner);
	if (r == -ENOENT)
		*err = WARD_ERR_INIT;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	r = ward_fd_read_all(fd, WARD_POLICY_TEXT_MAX, b);
	return r < 0 ? ward_err_sys(err, r, "%s", file) : 1;
}

/* The file beside is gone when somebody reads the message: it is about the owner's. */
static void name_file(const struct put *p, struct ward_err *err)
{
	const size_t n = strlen(p->beside), file = strlen(p->file);
	char *at = strstr(err->text, p->beside);
	if (!at || file > n)
		return;
	memcpy(at, p->file, file);
	memmove(at + file, at + n, strlen(at + n) + 1);
}

/* What would be in force. Without a file it is the default. */
static int look(const struct put *p, struct ward_policy_place *ret, struct ward_err *err)
{
	struct ward_as_owner owner;
	int r = ward_as_owner_begin(&p->place->id, &owner, err);
	if (r == 0)
		r = p->change->text ? ward_policy_place_would(p->beside, p->place->which, ret, err)
				    : ward_policy_place_look("medium", p->place->which, ret, err);
	if (r < 0)
		name_file(p, err);
	ward_as_owner_end(&owner);
	return r;
}

int ward_owner_file_change(const struct ward_policy_place *place,
	const struct ward_owner_change *change, struct ward_policy_place *ret_after,
	struct ward_err *err)
{
	const struct ward_identity *id = &place->id;
	ward_cleanup(ward_buf_clear) struct ward_buf beside = WARD_BUF_INIT;
	ward_buf_printf(&beside, "%s.%ld", place->owner_file, (long)getpid());
	int r = ward_buf_error(&beside);
	if (r < 0)
		return ward_err_sys(err, r, "%s", place->owner_file);
	struct put p = {.file = place->owner_file,
		.beside = ward_buf_str(&beside),
		.place = place,
		.change = change,
		.lock = -1};
	r = as_owner(id, begin, &p, err);
	const bool begun = r == 0;
	/* The policy as it would be may have a hostile project file: one budget for all of it. */
	const uint64_t until_ns = ward_clock_mono_ns() + WARD_START_NS;
	if (r == 0)
		r = look(&p, ret_after, err);
	if (r == 0) {
		ward_policy_study_until(place->policy, until_ns);
		ward_policy_study_until(ret_after->policy, until_ns);
	}
	if (r == 0 && change->judge)
		r = change->judge(change->user, ret_after, err);
	if (r == 0)
		r = as_owner(id, finish, &p, err);
	struct ward_err ignored = WARD_ERR_INIT;
	if (r < 0 && begun)
		(void)as_owner(id, drop, &p, &ignored);
	if (p.lock >= 0)
		close(p.lock);
	return r;
}
