/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what a container will be. */
#include "enforcer/oci/container_plan.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/store/store.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/container/container.h"
#include "enforcer/oci/account.h"
#include "enforcer/oci/bundle.h"
#include "enforcer/oci/floor.h"
#include "enforcer/oci/idmap.h"
#include "enforcer/oci/oci.h"
#include "enforcer/oci/spots.h"
#include "enforcer/oci/volumes.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/remembered.h"
#include "enforcer/session/owner/session_place.h"
#include "enforcer/session/plan/staged.h"

static const char *note(const struct ward_oci_container *c, const char *key)
{
	return json_string_value(json_object_get(json_object_get(c->config, "annotations"), key));
}

static int not_allowed(const char *key, const char *line, struct ward_err *err)
{
	return ward_err_set(err, -EPERM,
		"the annotation %s is refused: %s does not let callers choose it; fix: %s in "
		"[caller]",
		key, WARD_OCI_HOST_FILE, line);
}

/* An absolute path by pattern, component by component; a name of a profile as it is written. */
static bool may_name(const struct ward_oci_host *h, const char *policy)
{
	for (size_t i = 0; i < h->caller_policy.n; i++)
		if (fnmatch(h->caller_policy.v[i], policy, FNM_PATHNAME | FNM_NOESCAPE) == 0)
			return true;
	return false;
}

/* What callers say begins with "wardfs."; all of it has to be allowed and understood. */
static int choose(struct ward_oci_container *c, const struct ward_oci_host *h, struct ward_err *err)
{
	const json_t *notes = json_object_get(c->config, "annotations");
	const char *key = NULL;
	json_t *v = NULL;
	if (notes && !json_is_object(notes))
		return ward_err_set(err, -EINVAL, "config.json: 'annotations' has the wrong type");
	json_object_foreach(json_object_get(c->config, "annotations"), key, v)
	{
		if (strncmp(key, "wardfs.", 7) != 0)
			continue;
		if (!json_is_string(v))
			return ward_err_set(err, -EINVAL, "the annotation %s is no text", key);
		if (strcmp(key, "wardfs.policy") == 0) {
			if (!may_name(h, json_string_value(v)))
				return not_allowed(key, "policy = NAME", err);
		} else if (strcmp(key, "wardfs.session") == 0) {
			if (!h->caller_session)
				return not_allowed(key, "session = yes", err);
		} else if (strncmp(key, "wardfs.tree.", 12) == 0) {
			if (!h->caller_tree)
				return not_allowed(key, "tree = yes", err);
		} else {
			return ward_err_set(err, -EINVAL,
				"unknown annotation %s; known: wardfs.policy, wardfs.session, "
				"wardfs.tree.PATH",
				key);
		}
	}
	const char *policy = note(c, "wardfs.policy");
	c->policy = policy ? policy : h->policy;
	c->session = note(c, "wardfs.session");
	if (c->session && !ward_session_name_ok(c->session))
		return ward_err_set(err, -EINVAL, "wardfs.session '%s': %s", c->session,
			WARD_SESSION_NAME_RULE);
	if (!c->policy)
		return ward_err_set(err, -EPERM,
			"the container names no policy (annotation wardfs.policy), and %s has no "
			"default; fix: policy = NAME in [oci]",
			WARD_OCI_HOST_FILE);
	return 0;
}

/* The root file system must not be the host's. */
static int check_rootfs(
	const struct ward_oci_container *c, const char *const *protect, struct ward_err *err)
{
	const char *path =
		json_string_value(json_object_get(json_object_get(c->config, "root"), "path"));
	struct stat st, host;
	ward_cleanup_free char *real = NULL;
	ward_cleanup_fd int fd =
		path ? openat(c->bundle_fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0 || fstat(fd, &st) < 0 || stat("/", &host) < 0 || ward_fd_path(fd, &real) < 0)
		return ward_err_set(
			err, -EINVAL, "config.json: no root file system at '%s'", path ? path : "");
	if (st.st_dev == host.st_dev && st.st_ino == host.st_ino)
		return ward_err_set(
			err, -EINVAL, "config.json: the root file system is the host's own");
	for (; *protect; protect++)
		if (ward_known_beneath(*protect, real))
			return ward_err_set(err, -EINVAL,
				"config.json: the root file system %s has %s in it", real,
				*protect);
	return 0;
}

static int load(const struct ward_oci_container *c, struct ward_run_plan *p, bool whole,
	struct ward_err *err)
{
	struct ward_load_tree others[WARD_POLICY_TREES_MAX];
	size_t n = 0;
	for (size_t i = 1; i < p->n_trees; i++)
		others[n++] = (struct ward_load_tree){.path = p->trees[i].path,
			.host = p->trees[i].source,
			.fd = p->trees[i].backing};
	struct ward_load l = {.policy = c->policy,
		.tree_fd = whole ? p->project.fd : -1,
		.tree_path = whole ? p->project.path : NULL,
		.served_at = whole && p->n_trees ? p->trees[0].path : NULL,
		.others = others,
		.n_others = n,
		.home = p->id.home,
		.known = whole ? &p->known : NULL};
	ward_policy_unref(p->policy);
	p->policy = NULL;
	int r = ward_policy_load_owned(&p->id, &l, &p->policy, err);
	p->settings = r == 0 ? ward_policy_settings(p->policy) : NULL;
	return r;
}

static int check_tree(const struct ward_policy *p, const char *path, struct ward_err *err)
{
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p, path, strlen(path), &s);
	if (r < 0)
		return ward_err_sys(err, r, "[tree %s]", path);
	const struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = WARD_RIGHT_STAT,
		.flags = WARD_REQUEST_DIR,
		.state = s};
	struct ward_decision d = ward_policy_decide(p, &req, NULL);
	ward_policy_state_put(p, s);
	return d.verdict == WARD_VERDICT_ALLOW
		       ? 0
		       : ward_err_set(err, -EINVAL,
				 "[tree %s]: the policy hides everything there; fix: a rule for it",
				 path);
}

/* The guarded volumes as trees of the session; the first one is its project. */
static int take_trees(
	const struct ward_oci_container *c, struct ward_run_plan *p, struct ward_err *err)
{
	int first = -1;
	for (size_t i = 0; i < c->n_volumes; i++) {
		const struct ward_oci_volume *v = &c->volumes[i];
		if (v->how != WARD_OCI_HOW_GUARD)
			continue;
		if (first < 0)
			first = v->fd;
		if (p->n_trees == WARD_POLICY_TREES_MAX)
			return ward_err_set(
				err, -EINVAL, "more than %d trees", WARD_POLICY_TREES_MAX);
		struct ward_run_plan_tree *t = &p->trees[p->n_trees];
		*t = (struct ward_run_plan_tree){.path = v->tree,
			.source = strdup(v->source),
			.backing = v->ids < 0 ? fcntl(v->fd, F_DUPFD_CLOEXEC, 3) : -1};
		p->n_trees++;
		int r = v->ids < 0 ? 0 : ward_oci_idmap_copy(v->fd, v->ids, &t->backing, err);
		if (r < 0)
			return ward_err_wrap(err, "the volume at %s", v->destination);
		if (!t->source || t->backing < 0)
			return ward_err_sys(err, -ENOMEM, "%s", v->source);
	}
	const char *project = p->n_trees ? p->trees[0].source : c->bundle;
	/* By the ids of the host: whose policy lies in it is the host's to say. */
	p->project.fd = fcntl(first >= 0 ? first : c->bundle_fd, F_DUPFD_CLOEXEC, 3);
	p->project.path = strdup(project);
	return p->project.fd < 0 || !p->project.path ? ward_err_sys(err, -ENOMEM, "%s", project)
						     : 0;
}

static int find_state(struct ward_run_plan *p, struct ward_err *err)
{
	int r = ward_identity_find(NULL, getuid(), 0, &p->id, err);
	if (r < 0)
		return r;
	p->id.agent_uid = p->id.owner_uid;
	p->id.agent_gid = p->id.owner_gid;
	r = ward_store_default_path(geteuid(), NULL, p->id.home, &p->state, err);
	return r < 0 ? r : ward_control_runtime(&p->runtime, err);
}

static bool own_kernel(const struct ward_oci_host *h)
{
	const struct ward_engine *e = h->runtime ? ward_engine_find(h->runtime) : NULL;
	return e && ward_engine_own_kernel(e);
}

int ward_oci_container_plan(const struct ward_oci_args *a, const struct ward_oci_host *h,
	struct ward_oci_container *ret, struct ward_run_plan *plan, struct ward_err *err)
{
	int r = ward_oci_bundle_read(a->bundle ? a->bundle : ".", ret, err);
	if (r == 0)
		r = choose(ret, h, err);
	if (r == 0)
		r = find_state(plan, err);
	if (r < 0)
		return r;
	plan->via = ward_engine_via(h->runtime);
	const char *const protect[] = {"/etc/wardfs", plan->state, plan->runtime, NULL};
	r = check_rootfs(ret, protect, err);
	if (r == 0)
		r = ward_oci_volumes_open(ret, err);
	if (r == 0)
		r = ward_oci_spots_find(ret, err);
	if (r == 0)
		r = load(ret, plan, false, err);
	if (r == 0)
		r = ward_oci_volumes(ret, h, plan->policy, protect, err);
	if (r == 0)
		ward_oci_account_read(ret, h);
	if (r == 0)
		r = take_trees(ret, plan, err);
	if (r == 0)
		r = ward_remembered_read(&plan->id, plan->state, &plan->known, err);
	if (r == 0 && plan->n_trees)
		r = load(ret, plan, true, err);
	for (size_t i = 0; i < plan->n_trees && r == 0; i++)
		r = check_tree(plan->policy, plan->trees[i].path, err);
	if (r == 0)
		r = ward_plan_staged_never(plan, "wardfs-oci", err);
	if (r == 0 && plan->known.n_trees)
		r = ward_remembered_write(&plan->id, plan->state, &plan->known, err);
	ret->programs = r == 0 && ward_policy_has_programs(plan->policy);
	ret->noexec = r == 0 && own_kernel(h) && ward_policy_has_noexec(plan->policy);
	if (r == 0)
		r = ward_oci_floor_policy(h, plan->settings, ret->programs, ret->noexec, err);
	return r == 0 ? ward_oci_floor(ret->config, h, plan->settings, err) : r;
}

void ward_oci_container_clear(struct ward_oci_container *c)
{
	for (size_t i = 0; i < c->n_volumes; i++) {
		free(c->volumes[i].source);
		free(c->volumes[i].spot);
		if (c->volumes[i].fd >= 0)
			close(c->volumes[i].fd);
		if (c->volumes[i].ids >= 0)
			close(c->volumes[i].ids);
	}
	json_decref(c->config);
	free(c->bundle);
	if (c->bundle_fd >= 0)
		close(c->bundle_fd);
	if (c->config_fd >= 0)
		close(c->config_fd);
	*c = WARD_OCI_CONTAINER_INIT;
}
