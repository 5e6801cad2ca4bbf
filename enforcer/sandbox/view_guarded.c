/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the host shows as it is may hold a directory that a tree serves, at its own path or by a
 * bind mount. No rule decides there. So such a place is covered by something empty; where the tree
 * itself is seen at that path, it lies on the cover.
 */
#include "enforcer/sandbox/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"

struct covers {
	struct ward_view_list *w;
	const char *path; /* of the entry that is looked at */
	const struct ward_sandbox_guarded *v;
	size_t n;
	bool whole;
	const char *const *own; /* paths that show in any case */
	size_t n_own;
};

/* "dir/rest". */
static int join(const char *dir, const char *rest, struct ward_buf *ret)
{
	ward_buf_printf(ret, "%s%s%s", strcmp(dir, "/") == 0 ? "" : dir, *rest ? "/" : "", rest);
	return ward_buf_error(ret);
}

/* Something nearer is seen there instead: an entry that is empty, or looked at in its turn. */
static bool is_hidden(const struct covers *c, const char *path)
{
	for (size_t i = 0; i < c->w->n; i++) {
		const char *nearer = c->w->v[i].path;
		if (ward_blueprint_path_below(path, nearer) && strlen(nearer) > strlen(c->path))
			return true;
	}
	return false;
}

/* The mount must cover the file that we looked at; otherwise the session does not start. */
static int cover(const struct covers *c, const char *path, mode_t type, dev_t dev, ino_t ino,
	struct ward_err *err)
{
	struct ward_blueprint_entry *e = ward_view_find(c->w, path);
	if (!ward_blueprint_path_ok(path))
		return ward_err_set(
			err, -EINVAL, "cannot hide %s outside the tree that serves it", path);
	if (is_hidden(c, path))
		return 0;
	if (e) {
		free(e->text);
		e->text = strdup(S_ISDIR(type) ? "" : "/dev/null");
		e->flags = 0;
	} else {
		ward_view_add(
			c->w, WARD_BLUEPRINT_BIND, path, S_ISDIR(type) ? "" : "/dev/null", 0, 0);
		e = &c->w->v[c->w->n - 1];
	}
	if (c->w->error || !e->text)
		return ward_err_sys(err, -ENOMEM, "view");
	e->kind = S_ISDIR(type) ? WARD_BLUEPRINT_COVER : WARD_BLUEPRINT_BIND;
	e->flags = WARD_BLUEPRINT_ON_SAME;
	e->dev = dev;
	e->ino = ino;
	return 0;
}

/* The directories of trees in a place that is shown at path. */
static int cover_in(const struct covers *c, const char *path, const struct ward_spot *spot,
	struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < c->n && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf at = WARD_BUF_INIT;
		const char *rest = ward_spot_beneath(c->v[i].spot, spot);
		if (!rest || !*rest)
			continue;
		r = join(path, rest, &at);
		if (r == 0)
			r = cover(c, ward_buf_str(&at), S_IFDIR, c->v[i].dev, c->v[i].ino, err);
		else
			ward_err_sys(err, r, "view");
	}
	return r;
}

/* Does a tree serve this place, and all beneath it? */
static bool is_served(const struct covers *c, const struct ward_spot *spot)
{
	for (size_t i = 0; i < c->n; i++)
		if (ward_spot_beneath(spot, c->v[i].spot))
			return true;
	return false;
}

/* Programs and libraries show in any case. */
static bool is_own(const struct covers *c, const char *path)
{
	for (size_t i = 0; i < c->n_own; i++)
		if (ward_blueprint_path_below(path, c->own[i]))
			return true;
	return false;
}

/* A mount of the host's beneath what is shown: it shows as well. */
static int cover_mount(const struct covers *c, const char *path, const struct ward_mount_line *m,
	struct ward_err *err)
{
	ward_cleanup(ward_spot_clear) struct ward_spot spot = {0};
	ward_cleanup_fd int fd = open(m->point, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct statx stx = {0};
	struct stat st;
	/* Another mount may lie on it, and then nobody sees this one. */
	bool asked = fd >= 0 && statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) == 0 &&
		     stx.stx_mask & STATX_MNT_ID;
	if ((fd < 0 && errno == ENOENT) || (asked && stx.stx_mnt_id != m->id))
		return 0;
	int r = ward_spot_of_mount(m, &spot);
	if (r < 0)
		return ward_err_sys(err, r, "view");
	if (!is_served(c, &spot))
		return cover_in(c, path, &spot, err);
	if (fd < 0 || fstat(fd, &st) < 0)
		return ward_err_sys(
			err, -errno, "%s, which a tree serves, cannot be looked at", m->point);
	return cover(c, path, st.st_mode & S_IFMT, st.st_dev, st.st_ino, err);
}

static int cover_mounts(const struct covers *c, const struct ward_mounts *mounts, const char *path,
	const char *host, struct ward_err *err)
{
	int r = 0;
	for (size_t i = 0; i < mounts->n && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf at = WARD_BUF_INIT;
		const struct ward_mount_line *m = &mounts->v[i];
		if (strcmp(m->point, host) == 0 || !ward_blueprint_path_below(m->point, host))
			continue;
		r = join(path, m->point + strlen(host) + 1, &at);
		r = r < 0 ? ward_err_sys(err, r, "view")
			  : cover_mount(c, ward_buf_str(&at), m, err);
	}
	return r;
}

/* path and host are the caller's: the list may move. */
static int cover_entry(const struct covers *c, const struct ward_mounts *mounts, const char *path,
	const char *host, uint32_t flags, struct ward_err *err)
{
	ward_cleanup(ward_spot_clear) struct ward_spot spot = {0};
	ward_cleanup_fd int fd = open(host, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	if (fd < 0 && errno == ENOENT)
		return 0;
	int r = fd < 0 ? -errno : ward_spot_find(mounts, fd, &spot);
	/* A mount of another user's: root may not look at its top (fuse(8), allow_other). */
	if (r == -EACCES)
		r = ward_spot_of_name(mounts, host, &spot);
	if (r < 0)
		return ward_err_sys(err, r, "%s, which the view shows", host);
	if (c->whole && !(flags & WARD_BLUEPRINT_PLAIN) && is_served(c, &spot) && !is_own(c, path))
		return fd < 0 || fstat(fd, &st) < 0
			       ? ward_err_sys(err, -EACCES, "%s, which a tree serves", host)
			       : cover(c, path, st.st_mode & S_IFMT, st.st_dev, st.st_ino, err);
	r = cover_in(c, path, &spot, err);
	return r < 0 ? r : cover_mounts(c, mounts, path, host, err);
}

int ward_view_guarded(const struct ward_sandbox_spec *spec, const char *const *own, size_t n_own,
	struct ward_view_list *w, struct ward_err *err)
{
	struct covers c = {.w = w,
		.v = spec->guarded,
		.n = spec->n_guarded,
		.whole = spec->whole,
		.own = own,
		.n_own = n_own};
	size_t n = spec->n_guarded ? w->n : 0;
	int r = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf host = WARD_BUF_INIT;
		if (w->v[i].kind != WARD_BLUEPRINT_BIND || strcmp(w->v[i].text, "/dev/null") == 0)
			continue;
		ward_buf_puts(&path, w->v[i].path);
		ward_buf_puts(&host, w->v[i].text);
		c.path = ward_buf_str(&path);
		r = ward_buf_error(&path) < 0 ? ward_buf_error(&path) : ward_buf_error(&host);
		r = r < 0 ? ward_err_sys(err, r, "view")
			  : cover_entry(&c, spec->mounts, ward_buf_str(&path), ward_buf_str(&host),
				    w->v[i].flags, err);
	}
	return r;
}
