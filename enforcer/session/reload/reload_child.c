/* SPDX-License-Identifier: Apache-2.0 */
/* The child of a reload: loads the new policy and takes inodes back. */
#include "enforcer/session/reload/reload_child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "enforcer/base/budget.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/container/container.h"
#include "enforcer/policy/diff.h"
#include "enforcer/policy/load.h"
#include "enforcer/policy/reloadable.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/owner/remembered.h"
#include "enforcer/session/owner/found_secrets.h"
#include "enforcer/session/plan/policy_files.h"
#include "enforcer/session/reload/revoke.h"

/* Room in a message beside its text. */
#define TEXT_MAX (WARD_MSG_MAX - 64U)

static _Noreturn void fail(int sock, int status, const char *text)
{
	struct ward_msg m;
	ward_cleanup_free char *cut = strndup(text, TEXT_MAX);
	ward_msg_init(&m, WARD_RELOAD_FAILED);
	ward_msg_put_u32(&m, (uint32_t)status);
	ward_msg_put_str(&m, cut);
	(void)!ward_msg_send(sock, &m, NULL, 0);
	_exit(0);
}

/* Nothing of the supervisor's stays open here but sock, base and what is needed to load. */
static void forget(const struct ward_reload *r, int sock, int base)
{
	int keep[] = {2, sock, base, r->plan->project.fd};
	const size_t n = sizeof(keep) / sizeof(*keep);
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && keep[k] < keep[k - 1]; k--) {
			int t = keep[k];
			keep[k] = keep[k - 1];
			keep[k - 1] = t;
		}
	for (size_t i = 0; i < n; i++) {
		unsigned from = (unsigned)keep[i] + 1;
		unsigned to = i + 1 < n ? (unsigned)keep[i + 1] - 1 : ~0U;
		if (keep[i] >= 0 && (i + 1 == n || keep[i + 1] > keep[i] + 1))
			close_range(from, to, 0);
	}
}

/* --- loading --- */

static bool same_source(
	const struct ward_policy *a, const struct ward_policy *b, enum ward_source_kind kind)
{
	struct ward_source_text x, y;
	bool in_a = ward_policy_source(a, kind, &x);
	bool in_b = ward_policy_source(b, kind, &y);
	if (!in_a || !in_b)
		return in_a == in_b;
	return x.len == y.len && memcmp(x.text, y.text, x.len) == 0;
}

static void look_for_gain(void *user, const struct ward_difference *d)
{
	bool *gains = user;
	*gains = *gains || d->gained;
}

/*
 * Floor and project file only take away, and so they do here: what was taken at the start is not
 * given back by a change of theirs. *p is what they say now; where that gives more, what they said
 * at the start takes its place.
 */
static int strictest(const struct ward_policy *start, const struct ward_load *l,
	struct ward_policy **p, struct ward_buf *notes, struct ward_err *err)
{
	if (same_source(start, *p, WARD_SOURCE_FLOOR) &&
		same_source(start, *p, WARD_SOURCE_PROJECT))
		return 0;
	struct ward_load like = *l;
	struct ward_policy *before = NULL;
	enum ward_diff_reach reach = WARD_DIFF_CUT;
	bool gains = false;
	like.like = start;
	int r = ward_policy_load(&like, &before, err);
	if (r < 0)
		return r;
	/* What is not compared in this time counts as a gain. */
	ward_policy_study_until(before, ward_clock_mono_ns() + WARD_START_NS);
	r = ward_policy_diff_rights(before, *p, look_for_gain, NULL, &gains, &reach);
	if (r < 0) {
		ward_policy_unref(before);
		return ward_err_sys(err, r, "comparing the project files");
	}
	if (!gains && reach != WARD_DIFF_CUT) {
		ward_policy_unref(before);
		ward_buf_puts(notes,
			"the project's .wardfs.policy, or the floor, has changed since the start: "
			"what it takes away now holds\n");
		return 0;
	}
	ward_policy_unref(*p);
	*p = before;
	ward_buf_puts(notes,
		"the project's .wardfs.policy, or the floor, gives more than at the start: what it "
		"said then holds until the session ends\n");
	return 0;
}

/* The engine that was taken at the start gives no more than it did then. */
static bool engine_asks(const struct ward_run_plan *plan)
{
	const bool takes = plan->mode && plan->mode->takes & WARD_TAKES_ENGINE;
	const struct ward_engine *e =
		takes && plan->found.program ? ward_engine_find(plan->found.program) : NULL;
	return !e || !ward_engine_own_kernel(e);
}

static int check(
	const struct ward_run_plan *plan, const struct ward_policy *p, struct ward_buf *text)
{
	const struct ward_settings *s = ward_policy_settings(p);
	size_t n = 0;
	for (size_t i = 0; i < s->unavailable.n; i++)
		ward_buf_printf(text, "%s: is not available yet\n", s->unavailable.v[i]);
	int r = ward_policy_fixed(plan->policy, p, text, &n);
	if (r == 0 && ward_policy_has_noexec(p) && !engine_asks(plan)) {
		ward_buf_puts(text,
			"a noexec rule refuses programs, and the engine of this session "
			"cannot enforce that\n");
		n++;
	}
	if (r < 0 || n == 0)
		return r < 0 || s->unavailable.n == 0 ? r : -EINVAL;
	ward_buf_puts(text, "these last as long as the session: leave them as they are, or start a "
			    "new one");
	return -EINVAL;
}

static int read_base(int fd, struct ward_base *ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	int r = fd < 0 ? -EBADMSG : ward_fd_read_all(fd, WARD_BASE_MAX, &blob);
	if (r == 0)
		r = ward_base_decode(blob.data, blob.len, ret);
	return r < 0 ? ward_err_sys(err, r, "the policy that was sent") : 0;
}

/* struct ward_load: the files of the new policy are guarded like those of the first. */
static int add_guards(
	void *user, const struct ward_policy *policy, struct ward_buf *b, struct ward_err *err)
{
	const struct ward_reload *l = user;
	const struct ward_run_plan *p = l->plan;
	struct ward_as_owner as = {0};
	/* The client named the paths: root, or the owner. */
	int r = l->by == p->id.owner_uid ? 0 : ward_as_caller_begin(&as, err);
	if (r == 0)
		r = ward_policy_files_guard(policy, p->id.home, p->project.path, b, err);
	ward_as_owner_end(&as);
	if (p->own_guards)
		ward_buf_puts(b, p->own_guards);
	return r < 0 ? r : ward_buf_error(b);
}

static int load(const struct ward_reload *r, int base_fd, struct ward_policy **ret,
	struct ward_buf *notes, struct ward_err *err)
{
	const struct ward_run_plan *p = r->plan;
	ward_cleanup(ward_base_clear) struct ward_base base = WARD_BASE_INIT;
	struct ward_source_text run = {.text = NULL};
	ward_cleanup_free char *run_text = NULL;
	ward_cleanup(ward_known_clear) struct ward_known known = WARD_KNOWN_INIT;
	struct ward_as_owner as = {0};
	int e = read_base(base_fd, &base, err);
	if (e < 0)
		return e;
	if (ward_policy_source(p->policy, WARD_SOURCE_RUN, &run))
		run_text = strndup(run.text, run.len);
	struct ward_load l = {.base = &base,
		.host_of = p->policy,
		.tree_fd = p->project.fd,
		.tree_path = p->project.path,
		.served_at = p->served_at,
		.home = p->id.home,
		.known = &known,
		.run_text = run_text,
		.run_name = run_text ? run.file : NULL,
		.more = add_guards,
		.user = (void *)(uintptr_t)r};
	if (run.text && !run_text)
		return ward_err_sys(err, -ENOMEM, "policy");
	/* What the start found is among it, and what sessions beside this one have found since. */
	e = ward_remembered_read(&p->id, p->state, &known, err);
	/* The base is here; all else lies where its owner, and the agent, write. */
	if (e == 0)
		e = ward_as_owner_begin(&p->id, &as, err);
	if (e == 0)
		e = ward_policy_load(&l, ret, err);
	if (e == 0)
		e = strictest(p->policy, &l, ret, notes, err);
	if (e == 0)
		e = ward_found_secrets(&p->id, p->project.path, *ret, err);
	ward_as_owner_end(&as);
	if (e == 0 && known.n_trees)
		e = ward_remembered_write(&p->id, p->state, &known, err);
	return e;
}

static void send_loaded(int sock, const struct ward_policy *p, const struct ward_buf *notes)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	struct ward_msg m;
	int fd = -1;
	int r = ward_policy_encode(p, &blob);
	if (r < 0)
		ward_err_sys(&err, r, "policy");
	if (r == 0)
		r = ward_fd_sealed("wardfs-policy", blob.data, blob.len, &fd, &err);
	if (r < 0)
		fail(sock, WARD_EXIT_SETUP, err.text);
	ward_msg_init(&m, WARD_RELOAD_LOADED);
	ward_msg_put_str(&m, ward_buf_str(notes));
	if (ward_msg_send(sock, &m, &fd, 1) < 0)
		_exit(1);
	ward_msg_clear(&m);
	close(fd);
}

/* --- taking back --- */

struct revoker {
	int fds[WARD_TREES_MAX];
	size_t n;
	struct ward_err err; /* why it cannot be done at all */
};

static void revoke_open(const struct ward_reload *r, struct revoker *v)
{
	*v = (struct revoker){.n = 0};
	/* There is no passthrough without root. */
	if (!r->plan->id.root)
		return;
	for (size_t i = 0; i < r->plan->n_trees; i++)
		if (!r->trees[i]) {
			ward_err_set(&v->err, -ENOENT, "the mount of %s is not visible",
				r->plan->trees[i].path);
			return;
		}
	if (ward_revoke_open(r->trees, r->plan->n_trees, r->plan->id.agent_uid,
		    r->plan->id.agent_gid, v->fds, &v->err) == 0)
		v->n = r->plan->n_trees;
}

static void take_back(int sock, const struct revoker *v, struct ward_msg_reader *m)
{
	uint32_t n = ward_msg_get_u32(m), failed = 0;
	struct ward_err err = v->err;
	struct ward_msg out;
	for (uint32_t i = 0; i < n && !m->bad; i++) {
		uint32_t tree = ward_msg_get_u32(m);
		uint64_t number = ward_msg_get_u64(m);
		int r = tree < v->n ? ward_revoke(v->fds[tree], number) : -EBADF;
		failed += r < 0;
		if (r < 0 && !err.code)
			ward_err_sys(&err, r, "taking back an open file");
	}
	ward_msg_init(&out, WARD_RELOAD_REVOKED);
	ward_msg_put_u32(&out, failed);
	ward_msg_put_str(&out, err.text);
	if (ward_msg_done(m) < 0 || ward_msg_send(sock, &out, NULL, 0) < 0)
		_exit(1);
	ward_msg_clear(&out);
}

void ward_reload_child(const struct ward_reload *r, int sock, int base)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_buf notes = WARD_BUF_INIT, text = WARD_BUF_INIT;
	struct ward_policy *p = NULL;
	struct revoker v;
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid(); /* Ctrl-C is for the command */
	forget(r, sock, base);

	char *buf = malloc(WARD_MSG_MAX);
	int e = buf ? load(r, base, &p, &notes, &err) : -ENOMEM;
	if (e < 0 || !buf)
		fail(sock, e == -ENOMEM ? WARD_EXIT_SETUP : WARD_EXIT_USAGE, err.text);
	e = check(r->plan, p, &text);
	if (e < 0)
		fail(sock, e == -EINVAL ? WARD_EXIT_USAGE : WARD_EXIT_SETUP, ward_buf_str(&text));
	e = ward_tree_spots_recheck(&r->plan->spots, p, &err);
	if (e == 0)
		e = ward_shown_recheck(r->plan, p, &err);
	if (e < 0) {
		ward_err_wrap(&err,
			"[system] read and trees keep showing the same files until the session ends");
		fail(sock, e == -EINVAL ? WARD_EXIT_USAGE : WARD_EXIT_SETUP, err.text);
	}
	revoke_open(r, &v);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	send_loaded(sock, p, &notes);
	for (;;) {
		ssize_t len = ward_msg_recv(sock, buf, WARD_MSG_MAX, NULL, NULL);
		struct ward_msg_reader m;
		if (len <= 0)
			_exit(0);
		ward_msg_reader_init(&m, buf, (size_t)len);
		if (m.type != WARD_RELOAD_REVOKE)
			_exit(1);
		take_back(sock, &v, &m);
	}
}
