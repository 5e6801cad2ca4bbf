/* SPDX-License-Identifier: Apache-2.0 */
/* Describes what was applied to a sandbox, for session.start. */
#include "enforcer/session/run/facts.h"

#include "enforcer/container/container.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/plan/network.h"

static json_t *namespaces(uint32_t layers)
{
	static const struct {
		const char *name;
		uint32_t layer;
	} all[] = {{"user", 0}, {"mnt", 0}, {"pid", WARD_LAYER_PID}, {"ipc", WARD_LAYER_HOST},
		{"uts", WARD_LAYER_HOST}, {"net", WARD_LAYER_NET}, {"cgroup", WARD_LAYER_HOST}};
	json_t *a = json_array();
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!all[i].layer || layers & all[i].layer)
			json_array_append_new(a, json_string(all[i].name));
	return a;
}

/* What of the host may be executed; more than these are in the policy's own words alone. */
#define PROGRAMS_TOLD 64
static json_t *programs(const struct ward_programs *x)
{
	json_t *a = json_array(), *loaders = json_array();
	size_t n = x->n - x->n_loaders;
	for (size_t i = 0; i < x->n; i++)
		if (i >= n || i < PROGRAMS_TOLD)
			json_array_append_new(i < n ? a : loaders, ward_control_text(x->v[i]));
	return json_pack("{s:o, s:o, s:I}", "host", a, "loaders", loaders, "more",
		(json_int_t)(n > PROGRAMS_TOLD ? n - PROGRAMS_TOLD : 0));
}

/* What this ABI of Landlock cannot refuse; the other layers do. */
static json_t *landlock_lacks(uint32_t abi)
{
	static const struct {
		const char *name;
		uint32_t since;
	} parts[] = {{"files", 2}, {"truncate", 3}, {"device-ioctl", 5}, {"signals", 6},
		{"abstract-sockets", 6}};
	json_t *a = json_array();
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (abi < parts[i].since)
			json_array_append_new(a, json_string(parts[i].name));
	return a;
}

/* A directory of the host has no digest: nobody reads all of it at each start. */
static json_t *image(const struct ward_image *x)
{
	return json_pack("{s:o, s:o, s:o}", "name", ward_control_text(x->name), "path",
		ward_control_text(x->root), "digest",
		x->digest ? json_string(x->digest) : json_null());
}

/* What the mode put in front of the command, and whether that confines anything by itself. */
static json_t *runtime(const struct ward_mode_found *f)
{
	return json_pack("{s:o, s:o, s:b}", "program", ward_control_text(f->program), "about",
		f->about ? ward_control_text(f->about) : json_null(), "confines", !f->no_wall);
}

/* What the engine cannot give, and the trail therefore lacks. */
static json_t *container(const char *program, const char *platform)
{
	const struct ward_engine *e = ward_engine_find(program);
	const bool own = e && ward_engine_own_kernel(e);
	json_t *lacks = json_array();
	for (size_t i = 0; e && ward_engine_lacks(e)[i]; i++)
		json_array_append_new(lacks, json_string(ward_engine_lacks(e)[i]));
	json_t *o = json_pack("{s:s, s:o, s:b, s:o}", "engine", e ? ward_engine_word(e) : "",
		"program", ward_control_text(program), "own_kernel", own, "lacks", lacks);
	if (platform)
		json_object_set_new(o, "platform", json_string(platform));
	return o;
}

char *ward_sandbox_facts_text(const struct ward_run_plan *p, const struct ward_sandbox *sb,
	const struct ward_limits *l, const char *seccomp)
{
	struct ward_sandbox_facts f;
	uint32_t layers = p->mode->layers;
	ward_sandbox_get_facts(sb, &f);
	/* ward_mode_begin() and its stages have failed where one of a mode's layers could
	 * not be obtained. */
	json_t *o = json_object();
	json_object_set_new(o, "namespaces", namespaces(layers));
	json_object_set_new(o, "network", json_string(ward_network_name(p->settings->net)));
	json_object_set_new(
		o, "seccomp", layers & WARD_LAYER_SECCOMP ? json_string(seccomp) : json_false());
	json_object_set_new(o, "no_new_privs", json_true());
	json_object_set_new(o, "capabilities", json_string("none"));
	json_object_set_new(o, "landlock_abi", json_integer(f.landlock_abi));
	if (layers & WARD_LAYER_LANDLOCK)
		json_object_set_new(o, "landlock_lacks", landlock_lacks(f.landlock_abi));
	json_object_set_new(o, "groups_kept", json_boolean(f.groups_kept));
	json_object_set_new(o, "keyring", json_boolean(f.keyring));
	json_object_set_new(o, "userns_closed", json_boolean(f.userns_closed));
	if (layers & WARD_LAYER_VIEW)
		json_object_set_new(o, "sockets_shut", json_boolean(f.sockets_shut));
	json_object_set_new(o, "own_view", json_boolean(layers & WARD_LAYER_VIEW));
	json_object_set_new(o, "view",
		json_string(!(layers & WARD_LAYER_VIEW)		      ? "host"
			    : p->image.fd >= 0			      ? "image"
			    : p->settings->view == WARD_VIEW_READONLY ? "readonly"
								      : "minimal"));
	if (p->mode->takes & WARD_TAKES_ENGINE && p->found.program)
		json_object_set_new(o, "container", container(p->found.program, f.platform));
	if (p->image.fd >= 0)
		json_object_set_new(o, "image", image(&p->image));
	json_object_set_new(o, "trail_integrity",
		json_boolean(p->mode->guarantees & WARD_GUARANTEE_BIT(WARD_GUARANTEE_INTEGRITY)));
	if (p->found.program)
		json_object_set_new(o, "runtime", runtime(&p->found));
	if (ward_policy_has_programs(p->policy))
		json_object_set_new(o, "programs", programs(&p->programs));
	ward_limits_describe(l, o);
	char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(o);
	return text;
}

enum ward_seccomp ward_fact_seccomp(enum ward_seccomp_list list)
{
	switch (list) {
	case WARD_LIST_NO_EXEC:
		break;
	case WARD_LIST_STRICT:
		return WARD_SECCOMP_STRICT;
	case WARD_LIST_DEFAULT:
		return WARD_SECCOMP_DEFAULT;
	}
	return WARD_SECCOMP_NO_EXEC;
}
