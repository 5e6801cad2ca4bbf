/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the image of a plan. */
#include "enforcer/session/plan/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/policy/image_name.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/project.h"
#include "enforcer/session/plan/shown.h"

/* The session has its own there, so a mount of the host's is not seen. */
static const char *const unseen[] = {"/dev", "/proc", "/run", "/sys", "/tmp"};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A place that an image may not show, nor lie in. */
struct place {
	const char *what;
	const char *path; /* NULL: there is none */
	bool around;	  /* the image may lie in it */
};

static int check_place(const struct ward_run_plan *p, const struct ward_spot *image,
	const struct place *place, struct ward_err *err)
{
	ward_cleanup(ward_spot_clear) struct ward_spot spot = {0};
	ward_cleanup_fd int fd = place->path ? open(place->path, O_PATH | O_CLOEXEC) : -1;
	if (fd < 0)
		return !place->path || errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : ward_err_sys(err, -errno, "%s", place->path);
	int r = ward_spot_find(&p->spots.mounts, fd, &spot);
	if (r < 0)
		return ward_err_sys(err, r, "%s", place->path);
	if (ward_spot_beneath(&spot, image))
		return ward_err_set(err, -EINVAL,
			"the %s %s lies in the image %s, so the command would see it without any rule; name the root of an image, not a directory of this host",
			place->what, place->path, p->image.name);
	if (!place->around && ward_spot_beneath(image, &spot))
		return ward_err_set(err, -EINVAL,
			"the image %s lies in the %s %s; keep it elsewhere", p->image.name,
			place->what, place->path);
	return 0;
}

static int check_trees(
	const struct ward_run_plan *p, const struct ward_spot *image, struct ward_err *err)
{
	for (size_t i = 0; i < p->spots.n; i++) {
		const struct ward_spot *tree = &p->spots.v[i];
		const bool in = tree->path && ward_spot_beneath(image, tree);
		if (in || (tree->path && ward_spot_beneath(tree, image)))
			return ward_err_set(err, -EINVAL,
				"the image %s %s the tree %s: %s; keep the image elsewhere",
				p->image.name, in ? "lies in" : "holds",
				ward_policy_settings(p->policy)->trees[i].path,
				in ? "a session could change what the next one runs"
				   : "its rules would not hold there");
	}
	return 0;
}

/* Mounts inside the image would show as well, and nobody has checked them. */
static int check_mounts(const struct ward_run_plan *p, struct ward_err *err)
{
	for (size_t i = 0; i < p->spots.mounts.n; i++) {
		const char *point = p->spots.mounts.v[i].point;
		const char *rel = ward_path_beneath(point, p->image.root);
		bool seen = rel && *rel;
		for (size_t k = 0; seen && k < COUNT(unseen); k++)
			seen = !ward_path_beneath(rel, unseen[k] + 1);
		if (seen)
			return ward_err_set(err, -EINVAL,
				"something is mounted on %s, in the image %s; fix: unmount it (umount)",
				point, p->image.name);
	}
	return 0;
}

/* With the owner's rights. *ret_packed: it is an archive or a layout, which the store may have. */
static int open_named(
	struct ward_run_plan *p, const char *path, bool *ret_packed, struct ward_err *err)
{
	struct stat st, in;
	struct ward_image *x = &p->image;
	x->fd = open(path, O_PATH | O_CLOEXEC);
	if (x->fd < 0 || fstat(x->fd, &st) < 0)
		return ward_err_set(err, -EINVAL, "the image %s: %s", path, strerror(errno));
	int r = ward_fd_path(x->fd, &x->root);
	if (r < 0)
		return ward_err_sys(err, r, "the image %s", path);
	*ret_packed =
		S_ISREG(st.st_mode) || fstatat(x->fd, "oci-layout", &in, AT_SYMLINK_NOFOLLOW) == 0;
	if (*ret_packed)
		return 0;
	if (!S_ISDIR(st.st_mode))
		return ward_err_set(
			err, -EINVAL, "the image %s is neither a directory nor an archive", path);
	r = ward_image_check_root(x->fd, path, err);
	if (r == 0 && p->id.root && ward_image_check_owners(x->fd, path, p->id.owner_uid, err) < 0)
		r = err->code = -EINVAL;
	return r;
}

/* Unpacked by `wardfs image pull`, under this name. */
static int find_stored(struct ward_run_plan *p, const char *name, struct ward_err *err)
{
	ward_cleanup(ward_image_clear) struct ward_image old = p->image;
	p->image = WARD_IMAGE_INIT;
	return ward_image_find(p->state, name, &p->image, err);
}

/* The owner can fix it: with another name, or with a pull. */
static int not_stored(int r, struct ward_err *err)
{
	return r == -ENOENT || r == -ESTALE ? (err->code = -EINVAL) : r;
}

/*
 * A name in the store means what was pulled, whatever lies in the directory. Who has a directory or
 * an archive of that name there meant that, perhaps: says how it is named.
 */
static void say_beside(const struct ward_run_plan *p, const char *name, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	struct ward_err ignored = WARD_ERR_INIT;
	struct ward_as_owner as;
	struct stat st;
	ward_buf_printf(&path, "%s/%s", p->project.cwd, name);
	if (ward_buf_error(&path) < 0 || ward_as_owner_begin(&p->id, &as, &ignored) < 0)
		return;
	const bool there =
		stat(ward_buf_str(&path), &st) == 0 && (S_ISDIR(st.st_mode) || S_ISREG(st.st_mode));
	ward_as_owner_end(&as);
	if (!there)
		return;
	ward_buf_clear(&path);
	ward_buf_printf(&path, "./%s", name);
	const char *quoted = ward_shell_quoted(&word, ward_buf_str(&path));
	const struct ward_err was = *err;
	ward_err_set(err, was.code, "%s; for the %s of that name here: %s %s", was.text,
		S_ISREG(st.st_mode) ? "file" : "directory",
		S_ISREG(st.st_mode) ? "wardfs image pull" : "--image", quoted);
}

static int find_named(struct ward_run_plan *p, const char *name, struct ward_err *err)
{
	bool packed = false;
	ward_cleanup(ward_spot_clear) struct ward_spot spot = {0};
	ward_cleanup_free char *path = NULL;
	struct ward_as_owner as;
	int r = ward_shown_path(name, p->id.home, p->project.path, &path, err);
	if (r < 0)
		return ward_err_wrap(err, "[system] image");
	r = ward_as_owner_begin(&p->id, &as, err);
	if (r == 0)
		r = open_named(p, path, &packed, err);
	if (r == 0 && !packed && (r = ward_spot_find(&p->spots.mounts, p->image.fd, &spot)) < 0)
		ward_err_sys(err, r, "the image %s", path);
	ward_as_owner_end(&as);
	if (r == 0 && packed) {
		ward_cleanup_free char *real = ward_steal_ptr(&p->image.root);
		return not_stored(find_stored(p, real, err), err);
	}
	const struct place places[] = {{"state directory", p->state, false},
		{"runtime directory", p->runtime, false}, {"policy directory", p->config, false},
		{"home", p->id.home, true}};
	for (size_t i = 0; i < COUNT(places) && r == 0; i++)
		r = check_place(p, &spot, &places[i], err);
	if (r == 0)
		r = check_trees(p, &spot, err);
	return r == 0 ? check_mounts(p, err) : r;
}

const char *ward_plan_image_name(const struct ward_run_plan *p)
{
	const struct ward_settings *s = p->settings;
	return p->mode->takes & WARD_TAKES_ENGINE && s->container_image ? s->container_image
									: s->image;
}

int ward_plan_image(struct ward_run_plan *p, struct ward_err *err)
{
	const char *name = ward_plan_image_name(p);
	if (!name || strcmp(name, WARD_IMAGE_NONE) == 0)
		return 0;
	if (!(p->mode->takes & WARD_TAKES_IMAGE))
		return ward_err_set(err, -ENOTSUP,
			"[system] image = %s: mode '%s' does not support images; nothing was started; fix: --mode restricted",
			name, p->mode->word);
	if (ward_policy_has_programs(p->policy))
		return ward_err_set(err, -ENOTSUP,
			"[process] exec lists programs of this host, but [system] image = %s shows others; nothing was started; fix: remove one of them (--image none)",
			name);
	if (!ward_image_name_is_path(name)) {
		struct ward_err why = WARD_ERR_INIT;
		int r = find_stored(p, name, &why);
		if (r == -ENOENT && p->settings->pull != WARD_PULL_NEVER &&
			!ward_image_name_is_digest(name))
			return 1;
		if (r == 0)
			return 0;
		*err = why;
		r = not_stored(r, err);
		if (r == -EINVAL)
			say_beside(p, name, err);
		return r;
	}
	p->image.name = strdup(name);
	if (!p->image.name)
		return ward_err_sys(err, -ENOMEM, "image");
	return find_named(p, name, err);
}
