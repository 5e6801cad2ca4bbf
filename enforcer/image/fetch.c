/* SPDX-License-Identifier: Apache-2.0 */
/* Adds an image for a run: nobody typed it, so the engine sees nothing of the caller's home. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/image/save.h"
#include "enforcer/image/store.h"

/* What an engine has for a home and for its configuration. No session sees the store. */
#define ENGINE_HOME ".engine"

static int lock_fetches(const struct ward_image_fetch *f, int store, int *ret, struct ward_err *err)
{
	int r = ward_image_store_lock(store, WARD_IMAGE_FETCHING, false, ret, err);
	if (r != -EAGAIN)
		return r;
	if (f->say)
		f->say("another run fetches an image; waiting until it has done so");
	return ward_image_store_lock(store, WARD_IMAGE_FETCHING, true, ret, err);
}

/* With the lock. */
static int fetch(const struct ward_image_fetch *f, int store, struct ward_image *ret,
	const char **ret_engine, struct ward_err *err)
{
	ward_cleanup_free char *dir = NULL;
	ward_cleanup_free char *home = NULL;
	ward_cleanup_fd int input = -1;
	const char *engine = NULL;
	if (asprintf(&dir, "%s/images", f->state) < 0) {
		dir = NULL;
		return ward_err_sys(err, -ENOMEM, "images");
	}
	if (asprintf(&home, "%s/" ENGINE_HOME, dir) < 0) {
		home = NULL;
		return ward_err_sys(err, -ENOMEM, "images");
	}
	if (mkdirat(store, ENGINE_HOME, 0700) < 0 && errno != EEXIST)
		return ward_err_sys(err, -errno, "%s", home);
	const struct ward_image_save s = {.name = f->name,
		.registry = f->registry,
		.dir = dir,
		.alone = home,
		.time_ns = f->time_ns};
	int r = ward_image_save(&s, &input, &engine, err);
	if (r < 0)
		return r;
	const struct ward_image_pull p = {.state = f->state,
		.program = f->program,
		.name = f->name,
		.input = input,
		.keep = true};
	r = ward_image_pull(&p, ret, err);
	if (r == 0)
		*ret_engine = engine;
	return r;
}

int ward_image_fetch(const struct ward_image_fetch *f, struct ward_image *ret,
	const char **ret_engine, struct ward_err *err)
{
	ward_cleanup_fd int store = -1;
	ward_cleanup_fd int lock = -1;
	int r = ward_image_store_open(f->state, true, &store, err);
	if (r == 0)
		r = lock_fetches(f, store, &lock, err);
	if (r == 0)
		r = ward_image_find(f->state, f->name, ret, err);
	if (r == 0)
		*ret_engine = NULL;
	return r == -ENOENT ? fetch(f, store, ret, ret_engine, err) : r;
}
