/* SPDX-License-Identifier: Apache-2.0 */
/* Puts together the configuration of an engine. */
#include <errno.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "enforcer/container/container_internal.h"

/*
 * Engines look there for what kind of control groups the host has. They are shown version 2,
 * read-only: the session's groups are made before, and hold them as well.
 */
static int find_cgroup(const char **ret, struct ward_err *err)
{
	static const char *const places[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct statfs st;
		if (statfs(places[i], &st) == 0 && st.f_type == CGROUP2_SUPER_MAGIC) {
			*ret = places[i];
			return 0;
		}
	}
	return ward_err_set(err, -ENOTSUP,
		"engines need version 2 of the control groups at /sys/fs/cgroup or "
		"/sys/fs/cgroup/unified; fix: mkdir /sys/fs/cgroup/unified; mount -t cgroup2 cgroup2 "
		"/sys/fs/cgroup/unified");
}

static int ask(const struct ward_engine_found *f, const struct ward_sandbox_spec *spec,
	struct ward_container *c, struct ward_err *err)
{
	const struct ward_engine_question q = {.program = f->program,
		.dev = f->dev,
		.ino = f->ino,
		.word = f->engine->asks,
		.errors = true,
		.uid = spec->owner_uid,
		.gid = spec->owner_gid};
	int r = q.word ? ward_engine_ask(&q, &c->offers) : 0;
	return r < 0 ? ward_err_set(err, -ENOTSUP,
			       "the engine %s does not say what it offers (%s %s: %s); fix: reinstall "
			       "it, or --engine runc",
			       f->engine->word, f->program, q.word, strerror(-r))
		     : 0;
}

int ward_container_make(const struct ward_engine_found *f, const struct ward_sandbox_spec *spec,
	struct ward_container **ret, struct ward_err *err)
{
	const char *cgroup = NULL;
	int r = find_cgroup(&cgroup, err);
	if (r < 0)
		return r;
	struct ward_container *c = calloc(1, sizeof(*c));
	if (!c)
		return ward_err_sys(err, -ENOMEM, "container");
	c->engine = (struct ward_sandbox_engine){.program = f->program,
		.dev = f->dev,
		.ino = f->ino,
		.cgroup = cgroup,
		.files = c->files,
		.how = f->engine->how,
		.no_probes = f->engine->no_probes,
		.argv = c->argv,
		.exec_argv = f->engine->own_kernel ? c->exec_argv : NULL};
	r = ask(f, spec, c, err);
	if (r < 0) {
		ward_container_free(c);
		return r;
	}
	r = f->engine->make(c, spec);
	/* Engines that manage containers write one of their own. */
	if (r == 0 && !f->engine->how) {
		c->config = ward_container_config(f->engine, spec);
		c->files[0] = (struct ward_sandbox_engine_file){"config.json", c->config};
	}
	if (r < 0 || !c->files[0].text) {
		ward_container_free(c);
		return ward_err_sys(err, r < 0 ? r : -ENOMEM, "container");
	}
	*ret = c;
	return 0;
}

void ward_container_free(struct ward_container *c)
{
	for (size_t i = 0; c && i < sizeof(c->argv) / sizeof(*c->argv); i++) {
		free(c->argv[i]);
		free(c->exec_argv[i]);
	}
	if (c) {
		ward_buf_clear(&c->offers);
		free(c->config);
	}
	free(c);
}
