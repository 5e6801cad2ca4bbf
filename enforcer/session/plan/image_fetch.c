/* SPDX-License-Identifier: Apache-2.0 */
/* Fetches the image of a plan, where nothing that an agent can change has a say in it. */
#include "enforcer/session/plan/image_fetch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/image/save.h"
#include "enforcer/session/guard/helper.h"
#include "enforcer/session/plan/places.h"

/* May the run fetch, and could it? */
static int check(const struct ward_run_options *o, const struct ward_run_plan *p, bool registry,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf engines = WARD_BUF_INIT;
	/* root's engine may have images that are not the owner's to see. */
	if (p->id.root && p->id.owner_uid != 0 && !o->policy)
		return ward_err_set(err, -EPERM,
			"for the policy of another user (%s), root fetches nothing", p->id.name);
	int r = ward_store_is_ours(p->state, err);
	if (r == 0)
		r = ward_places_check_engines(p, registry, err);
	if (r < 0)
		return r;
	ward_image_engines(registry, &engines);
	return engines.len ? 0
			   : ward_err_set(err, -ENOENT, "this host has neither docker nor podman%s",
				     registry ? " nor skopeo" : "");
}

static int fetch(const struct ward_run_options *o, struct ward_run_plan *p, const char *name,
	struct ward_err *err)
{
	ward_cleanup_free char *program = NULL;
	const char *engine = NULL;
	const bool registry = p->settings->pull == WARD_PULL_REGISTRY;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	int r = check(o, p, registry, err);
	if (r == 0)
		r = ward_helper_program("wardfs-image", &program, err);
	if (r < 0)
		return r;
	ward_buf_printf(&text, "the image %s is not in the store; %s it ([container] pull = %s)",
		name, o->dry ? "the run would fetch" : "fetching",
		registry ? "registry" : "missing");
	if (o->say)
		o->say(ward_buf_str(&text));
	if (o->dry) {
		p->image_fetched = true;
		p->image.name = strdup(name);
		return p->image.name ? 0 : ward_err_sys(err, -ENOMEM, "image");
	}
	const struct ward_image_fetch f = {.state = p->state,
		.program = program,
		.name = name,
		.registry = registry,
		.time_ns = p->settings->pull_ns,
		.say = o->say};
	r = ward_image_fetch(&f, &p->image, &engine, err);
	if (r == 0 && engine && o->say) {
		ward_buf_clear(&text);
		ward_buf_printf(
			&text, "fetched the image %s from %s: %s", name, engine, p->image.digest);
		o->say(ward_buf_str(&text));
	}
	return r;
}

int ward_plan_image_fetch(const struct ward_run_options *o, struct ward_run_plan *p,
	const char *name, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	/* Its own: on the way the store says once more that it has no such image. */
	struct ward_err why = WARD_ERR_INIT;
	if (fetch(o, p, name, &why) == 0)
		return 0;
	return ward_err_set(err, -EIO,
		"cannot fetch the image %s: %s; nothing was started; fix: wardfs image pull %s",
		name, why.text, ward_shell_quoted(&word, name));
}
