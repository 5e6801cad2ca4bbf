/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the start-up probes of a session, and records their results. */
#include "enforcer/session/run/probes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/found_secrets.h"

/* Names looked at in a tree: a directory with more costs what a probe may. */
#define NAMES_MAX 512

/* --- what they are made with --- */

/* An address that the kernel chooses (unix(7), autobind); a connection of ours shows that it lives.
 */
static int open_listener(struct ward_probes *w, struct ward_err *err)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(sa);
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ward_cleanup_fd int peer = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Nobody accepts: two may wait, ours and the one that must not come. */
	if (fd < 0 || peer < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa.sun_family)) < 0 ||
		listen(fd, 2) < 0 || getsockname(fd, (struct sockaddr *)&sa, &len) < 0 ||
		connect(peer, (struct sockaddr *)&sa, len) < 0)
		return ward_err_sys(err, -errno, "probes: a socket to be refused");
	size_t n = len - offsetof(struct sockaddr_un, sun_path);
	if (n < 2 || n > sizeof(w->socket) || sa.sun_path[0] != '\0')
		return ward_err_set(err, -EIO, "probes: the socket has a strange address");
	memcpy(w->socket, sa.sun_path + 1, n - 1);
	w->socket[n - 1] = '\0';
	w->listener = ward_steal_fd(&fd);
	return 0;
}

/* What the policy says of a request about this path. */
static struct ward_decision decide(const struct ward_policy *policy, const char *path,
	enum ward_action action, uint32_t rights, bool is_dir, enum ward_fact fact)
{
	const struct ward_state *state = NULL;
	if (ward_policy_walk(policy, path, strlen(path), &state) < 0)
		return (struct ward_decision){WARD_VERDICT_ALLOW, 0, 0, NULL, false};
	const struct ward_request req = {.action = action,
		.rights = rights,
		.flags = is_dir ? WARD_REQUEST_DIR : 0,
		.state = state,
		.fact = fact};
	struct ward_decision d = ward_policy_decide(policy, &req, NULL);
	ward_policy_state_put(policy, state);
	return d;
}

/* dir/name if the policy hides it; NULL. */
static char *if_hidden(
	const struct ward_policy *policy, int fd, const char *dir, const char *name, bool is_dir)
{
	char *path = NULL;
	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return NULL;
	if (decide(policy, path, WARD_ACTION_ACCESS, WARD_RIGHT_STAT, is_dir,
		    ward_found_fact(policy, fd, name, path))
			.verdict == WARD_VERDICT_HIDE)
		return path;
	free(path);
	return NULL;
}

/* The first name at the top of the tree that the policy hides; NULL: none. */
static char *hidden_name(const struct ward_policy *policy, const struct ward_run_plan_tree *t)
{
	char *found = NULL;
	const struct dirent *e = NULL;
	int fd = openat(t->backing, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	for (int i = 0; i < NAMES_MAX && !found && (e = readdir(dir)); i++)
		if ((e->d_type == DT_REG || e->d_type == DT_DIR) && strcmp(e->d_name, ".") != 0 &&
			strcmp(e->d_name, "..") != 0)
			found = if_hidden(
				policy, t->backing, t->path, e->d_name, e->d_type == DT_DIR);
	closedir(dir);
	return found;
}

/*
 * A directory that the policy lets nobody make, though the host would let the owner. A tree that
 * may only be read refuses any name; the others are what the shipped profiles protect.
 */
static char *refused_name(const struct ward_policy *policy, const struct ward_run_plan_tree *t)
{
	static const char *const names[][2] = {
		{"", ".wardfs-probe"}, {".git/hooks/", ".wardfs-probe"}, {"", ".wardfs.policy"}};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct stat st;
		char *path = NULL;
		char name[64];
		const char *dir = names[i][0][0] ? names[i][0] : ".";
		snprintf(name, sizeof(name), "%s%s", names[i][0], names[i][1]);
		/* With the effective ids, which are the owner's now. */
		if (faccessat(t->backing, dir, W_OK | X_OK, AT_EACCESS) < 0 ||
			fstatat(t->backing, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
			continue;
		if (asprintf(&path, "%s/%s", t->path, name) < 0)
			return NULL;
		/* Visible on the way there: else the lookup of the directory would be refused. */
		bool seen = !names[i][0][0];
		if (!seen) {
			char *parent = strndup(path, strlen(path) - strlen(names[i][1]) - 1);
			seen = parent && decide(policy, parent, WARD_ACTION_ACCESS, WARD_RIGHT_STAT,
						 true, WARD_FACT_THERE)
							 .verdict == WARD_VERDICT_ALLOW;
			free(parent);
		}
		struct ward_decision d = decide(policy, path, WARD_ACTION_CREATE, WARD_RIGHT_CREATE,
			true, WARD_FACT_ABSENT);
		if (seen && d.verdict != WARD_VERDICT_ALLOW && d.error == EACCES)
			return path;
		free(path);
	}
	return NULL;
}

static int find_names(const struct ward_run_plan *p, struct ward_probes *w, struct ward_err *err)
{
	struct ward_as_owner as;
	int r = ward_as_owner_begin(&p->id, &as, err);
	for (size_t i = 0; r == 0 && i < p->n_trees; i++) {
		if (!w->hidden)
			w->hidden = hidden_name(p->policy, &p->trees[i]);
		if (!w->write)
			w->write = refused_name(p->policy, &p->trees[i]);
	}
	ward_as_owner_end(&as);
	return r;
}

int ward_probes_open(const struct ward_run_plan *p, const char *session, struct ward_probes *ret,
	struct ward_err *err)
{
	struct ward_probes w = WARD_PROBES_INIT;
	int r = 0;
	if (asprintf(&w.outside, "%s/%s", p->runtime, session) < 0) {
		w.outside = NULL;
		r = ward_err_sys(err, -ENOMEM, "probes");
	}
	if (r == 0)
		r = open_listener(&w, err);
	if (r == 0)
		r = find_names(p, &w, err);
	if (r < 0)
		ward_probes_close(&w);
	else
		*ret = w;
	return r;
}

void ward_probes_offer(const struct ward_probes *w, struct ward_sandbox_spec *spec)
{
	spec->probe_outside = w->outside;
	spec->probe_socket = w->socket;
	spec->probe_hidden = w->hidden;
	spec->probe_write = w->write;
}

void ward_probes_close(struct ward_probes *w)
{
	free(w->outside);
	free(w->hidden);
	free(w->write);
	if (w->listener >= 0)
		close(w->listener);
	*w = WARD_PROBES_INIT;
}

/* --- making and recording them --- */

static int record(
	struct ward_guard *g, const struct ward_probe_result *r, enum ward_probe_verdict verdict)
{
	ward_cleanup_free struct ward_event *ev = malloc(sizeof(*ev));
	ward_cleanup_free char *text = NULL;
	const char *why = ward_probe_why_skipped(r->probe);
	int n = r->made ? asprintf(&text, "%s; control: %s", ward_probe_what(r->probe),
				  ward_probe_control(r->probe))
			: asprintf(&text, "%s", *why ? why : "the mode does not have this layer");
	if (n < 0)
		text = NULL;
	if (!ev || !text)
		return -ENOMEM;
	ward_event_begin(ev, WARD_EVENT_PROBE);
	ward_event_text(ev, WARD_TAG_TEXT, text);
	ward_event_text(ev, WARD_TAG_NAME, ward_probe_name(r->probe));
	ward_event_text(ev, WARD_TAG_LAYER, ward_probe_layer(r->probe));
	ward_event_text(ev, WARD_TAG_RESULT, ward_probe_verdict_name(verdict));
	if (r->made) {
		ward_event_u64(ev, WARD_TAG_CONTROL, (uint32_t)r->control);
		ward_event_u64(ev, WARD_TAG_ATTEMPT, (uint32_t)r->attempt);
	}
	return ward_guard_put(g, ev);
}

int ward_probes_make(struct ward_guard *g, struct ward_confined *c, struct ward_err *err)
{
	struct ward_probe_result v[WARD_PROBE_COUNT_] = {{WARD_PROBE_NONE, false, 0, 0}};
	enum ward_probe_verdict verdicts[WARD_PROBE_COUNT_] = {WARD_PROBE_FAILED};
	/* What the guard refuses meanwhile is nobody's but theirs. */
	ward_ring_set_probing(g->fs_ring, true);
	int r = ward_mode_probe(c, v, verdicts, err);
	ward_ring_set_probing(g->fs_ring, false);
	/* Made at all: then every one of them is known by its number. */
	for (int i = WARD_PROBE_NONE + 1; i < WARD_PROBE_COUNT_ && v[i].probe; i++) {
		int put = record(g, &v[i], verdicts[i]);
		if (put < 0)
			return ward_err_sys(err, put, "trail");
	}
	return r;
}
