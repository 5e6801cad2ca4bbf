/* SPDX-License-Identifier: Apache-2.0 */
/* Runs `wardfs mount`: the guard without a sandbox. */
#include "enforcer/session/mount/mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/patient.h"
#include "enforcer/base/plain.h"
#include "enforcer/policy/load.h"
#include "enforcer/session/control/control.h"
#include "enforcer/session/guard/fusemount.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/chosen.h"
#include "enforcer/session/owner/remembered.h"
#include "enforcer/session/plan/staged.h"
#include "enforcer/session/plan/trees_say.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/mount/served.h"
#include "enforcer/session/run/run_staged.h"
#include "enforcer/session/run/run_steps.h"

/* What a slow disk takes for the end of a trail, as `wardfs kill` waits. */
#define END_WAIT_MS 30000
/* Where nobody is in a mount that is taken away lazily, its session ends at once. */
#define LAZY_WAIT_MS 3000

struct mount_run {
	const struct ward_mount_options *options;
	struct ward_served served;
	struct ward_fusemount mount;
	bool mounted;
	int told; /* a client that hears at the end what was staged; -1: none */
};

/* The mount point's path without touching what is mounted there: its parent's real path and its
 * name. */
static int mountpoint_path(const char *arg, char **ret, struct ward_err *err)
{
	ward_cleanup_free char *copy = strdup(arg);
	if (!copy)
		return ward_err_sys(err, -ENOMEM, "%s", arg);
	for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	char *slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	ward_cleanup_free char *dir = realpath(slash ? (*copy ? copy : "/") : ".", NULL);
	if (!dir)
		return ward_err_sys(err, -errno, "%s", arg);
	const char *above = strcmp(dir, "/") == 0 ? "" : dir;
	if (asprintf(ret, "%s/%s", above, slash ? slash + 1 : copy) < 0)
		return ward_err_sys(err, -ENOMEM, "%s", arg);
	return 0;
}

/* The caller can fix it: another exit status than that of a host that lacks something. */
static int wrong_argument(int r)
{
	return r == 0 ? 0 : -EINVAL;
}

static int check_point(const char *mountpoint, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	ward_cleanup_fd int fd = -1;
	int r = ward_patient_reach(mountpoint, err);
	if (r < 0)
		return wrong_argument(ward_err_wrap(err, "mount point"));
	r = ward_plain_dir(mountpoint, &fd, err);
	if (r < 0)
		return wrong_argument(r);
	/* A list of processes would wait for the daemon, and the daemon's start makes one.
	 */
	struct statfs fs;
	if (fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC)
		return ward_err_set(
			err, -EINVAL, "mount point %s: choose a path outside /proc", mountpoint);
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	r = mountpoint_path(mountpoint, &path, err);
	if (r == 0 && ward_fusemount_is_ours(path))
		return ward_err_set(err, -EINVAL,
			"mount point %s: wardfs is already mounted there (wardfs umount %s)",
			mountpoint, ward_shell_quoted(&word, mountpoint));
	return r;
}

/* A policy that gives nothing on the tree's root would serve an empty place that cannot be entered.
 */
static int check_tree(const struct ward_run_plan *p, struct ward_err *err)
{
	const char *path = p->trees[0].path;
	const struct ward_state *s = NULL;
	int r = ward_policy_walk(p->policy, path, strlen(path), &s);
	if (r < 0)
		return ward_err_set(
			err, -EINVAL, "--tree %s: write an absolute path inside the sandbox", path);
	const struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = WARD_RIGHT_STAT,
		.flags = WARD_REQUEST_DIR,
		.state = s};
	struct ward_decision d = ward_policy_decide(p->policy, &req, NULL);
	ward_policy_state_put(p->policy, s);
	if (d.verdict == WARD_VERDICT_ALLOW)
		return 0;
	return ward_err_set(err, -EINVAL,
		"--tree %s: the policy hides everything at this path; write a rule for it", path);
}

/* The source as it was named, "." and ".." taken away as text. */
static int named_source(const char *source, struct ward_buf *ret)
{
	ward_cleanup(ward_buf_clear) struct ward_buf whole = WARD_BUF_INIT;
	ward_cleanup_free char *cwd = getcwd(NULL, 0);
	const char *pwd = getenv("PWD");
	struct stat here, there;
	bool by_pwd = pwd && pwd[0] == '/' && stat(pwd, &there) == 0 && stat(".", &here) == 0 &&
		      there.st_dev == here.st_dev && there.st_ino == here.st_ino;
	if (source[0] != '/')
		ward_buf_printf(&whole, "%s/", by_pwd ? pwd : cwd ? cwd : "");
	ward_buf_puts(&whole, source);
	for (const char *s = ward_buf_str(&whole); *s;) {
		s += strspn(s, "/");
		size_t n = strcspn(s, "/");
		if (n == 2 && memcmp(s, "..", 2) == 0) {
			char *slash = ret->data ? strrchr(ret->data, '/') : NULL;
			ret->len = slash ? (size_t)(slash - ret->data) : 0;
			if (ret->data)
				ret->data[ret->len] = '\0';
		} else if (n > 0 && !(n == 1 && *s == '.')) {
			ward_buf_putc(ret, '/');
			ward_buf_add(ret, s, n);
		}
		s += n;
	}
	return ward_buf_error(&whole) < 0 ? -ENOMEM : ward_buf_error(ret);
}

/*
 * A session can put a link in the place of a directory that the owner has a policy for: what that
 * leads to is not served under another one.
 */
static int check_named(
	const struct ward_run_plan *p, const struct ward_mount_options *o, struct ward_err *err)
{
	struct ward_chosen chosen = {.state = NULL};
	ward_cleanup(ward_buf_clear) struct ward_buf named = WARD_BUF_INIT;
	ward_cleanup_free char *left = NULL;
	if (o->policy)
		return 0;
	int r = named_source(o->source, &named);
	if (r < 0)
		return ward_err_sys(err, r, "source %s", o->source);
	r = ward_chosen_begin(&chosen, NULL, getuid(), err);
	if (r == 0)
		r = ward_chosen_left(&chosen, ward_buf_str(&named), p->project.path, &left);
	ward_chosen_clear(&chosen);
	if (r < 0 || !left)
		return r < 0 ? ward_err_sys(err, r, "source %s", o->source) : 0;
	return ward_err_set(err, -EINVAL,
		"you have a policy for %s, and a symbolic link leads from there to %s, where "
		"that policy does not apply (fix: remove the link, or name %s)",
		left, p->project.path, p->project.path);
}

static int plan(struct mount_run *m, struct ward_err *err)
{
	struct ward_run_plan *p = &m->served.plan;
	const struct ward_mount_options *o = m->options;
	int r = 0;
	if (o->session && !ward_session_name_ok(o->session))
		return ward_err_set(
			err, -EINVAL, "--session '%s': %s", o->session, WARD_SESSION_NAME_RULE);
	r = ward_patient_reach(o->source, err);
	if (r == 0)
		r = ward_plain_dir(o->source, &p->project.fd, err);
	if (r < 0)
		return wrong_argument(r);
	/* A name for messages, ~ and the choice of the policy: of what is served. Never opened. */
	r = ward_fd_path(p->project.fd, &p->project.path);
	if (r < 0)
		return wrong_argument(ward_err_sys(err, r, "source %s", o->source));
	r = check_named(p, o, err);
	if (r == 0)
		r = check_point(o->mountpoint, err);
	if (r < 0)
		return r;
	r = ward_identity_find(NULL, getuid(), 0, &p->id, err);
	if (r < 0)
		return r;
	if (o->allow_other && !p->id.root)
		return ward_err_set(err, -EPERM, "--allow-other: only root can serve other users");
	p->id.agent_uid = p->id.owner_uid;
	p->id.agent_gid = p->id.owner_gid;
	ward_cleanup_free char *config = NULL;
	r = ward_config_home(p->id.home, p->id.owner_uid == getuid(), &config, err);
	if (r < 0)
		return r;
	const char *path = o->tree ? o->tree : "/workspace";
	p->served_at = strcmp(path, "/workspace") == 0 ? NULL : path;
	if (path[0] != '/')
		return ward_err_set(err, -EINVAL, "--tree %s: write an absolute path", o->tree);
	struct ward_load l = {.policy = o->policy,
		.served_at = p->served_at,
		.config_home = config,
		.tree_fd = p->project.fd,
		.tree_path = p->project.path,
		.home = p->id.home,
		.known = &p->known};
	r = ward_store_default_path(
		geteuid(), getenv("XDG_STATE_HOME"), p->id.home, &p->state, err);
	if (r == 0)
		r = ward_remembered_read(&p->id, p->state, &p->known, err);
	if (r < 0)
		return r;
	r = ward_policy_load_owned(&p->id, &l, &p->policy, err);
	if (r < 0)
		return r == -ENOMEM ? r : wrong_argument(r);
	p->settings = ward_policy_settings(p->policy);
	p->trees[0] = (struct ward_run_plan_tree){.path = path,
		.source = strdup(p->project.path),
		.backing = fcntl(p->project.fd, F_DUPFD_CLOEXEC, 3)};
	p->n_trees = 1;
	if (!p->trees[0].source || p->trees[0].backing < 0)
		return ward_err_sys(err, -ENOMEM, "%s", o->source);
	r = check_tree(p, err);
	if (r == 0)
		r = ward_plan_staged_mount(o->review || o->from, o->allow_other, p, err);
	if (r == 0 && p->known.n_trees)
		r = ward_remembered_write(&p->id, p->state, &p->known, err);
	if (r == 0 && o->say)
		r = ward_trees_say(p, o->say, err);
	m->served.users = (struct ward_control_users){
		.owner = p->id.owner_uid, .chooser = o->policy ? geteuid() : p->id.owner_uid};
	return r < 0 ? r : ward_control_runtime(&p->runtime, err);
}

static int start(struct mount_run *m, struct ward_err *err)
{
	struct ward_served *s = &m->served;
	const struct ward_identity *id = &s->plan.id;
	ward_cleanup_fd int fuse = -1;
	int r = ward_served_open(s, err);
	if (r == 0)
		r = ward_fusemount(m->options->mountpoint, id->owner_uid, id->owner_gid,
			m->options->allow_other, &m->mount, &fuse, err);
	if (r < 0)
		return r;
	m->mounted = true;
	uint32_t flags = id->root ? WARD_FS_ROOT | WARD_FS_PASSTHROUGH : 0;
	if (m->options->allow_other)
		flags |= WARD_FS_ALLOW_OTHER | WARD_FS_SETUID;
	else if (!id->root && !m->mount.by_helper)
		flags |= WARD_FS_MASK_IDS;
	r = ward_served_go(s, &fuse, flags, err);
	close(ward_steal_fd(&fuse));
	if (r == 0)
		r = ward_fusemount_meet(&m->mount, err);
	return r == 0 ? ward_served_begin(s, &(struct ward_record_start){.verb = "mount"}, err) : r;
}

static void on_status(void *arg, struct ward_control_request *q)
{
	const struct mount_run *m = arg;
	json_t *o = ward_served_status(&m->served, "mount");
	/* once unmounted it is no longer the one there, though it may take a while to end */
	if (m->mounted)
		json_object_update_new(
			o, json_pack("{s:o, s:I}", "mountpoint", ward_control_text(m->mount.path),
				   "mount_id", (json_int_t)m->mount.mnt_id));
	json_object_set_new(o, "argv",
		ward_control_argv(
			(char *const[]){m->served.plan.project.path, m->mount.path, NULL}));
	ward_control_reply(q, o);
}

/* A mount that has ended already is no error of a kill. */
static void unmount(
	struct mount_run *m, struct ward_control_request *q, bool lazy, bool kill, int not_mounted)
{
	struct ward_err err = WARD_ERR_INIT;
	int r = m->mounted ? ward_fusemount_undo(&m->mount, lazy, &err) : not_mounted;
	/* A kill ends the session even so; finish() tells what is left. */
	if (kill && r == -EEXIST) {
		m->served.over = true;
		r = 0;
	} else if (r == 0) {
		m->mounted = false;
		m->served.over = m->served.over || kill;
		m->served.cause = "unmounted";
	}
	/* Once the session has ended there is more to say. */
	if (r == 0 && !kill && m->served.guard.review >= 0 && m->told < 0)
		m->told = ward_steal_fd(&q->client);
	else
		ward_control_reply(q, json_pack("{s:b, s:i}", "ok", r == 0, "errno", -r));
}

static void on_kill(void *arg, struct ward_control_request *q)
{
	unmount(arg, q, true, true, 0);
}

static void on_umount(void *arg, struct ward_control_request *q)
{
	unmount(arg, q, json_is_true(json_object_get(q->body, "lazy")), false, -ENOENT);
}

static void on_reload_asked(void *arg, struct ward_control_request *q)
{
	struct mount_run *m = arg;
	struct ward_reload *l = &m->served.reload;
	if (!l->trees[0])
		l->trees[0] = strdup(m->mount.path);
	l->guard = &m->served.guard;
	l->ask = &m->served.ask_fs;
	l->plan = &m->served.plan;
	ward_reload_begin(l, &q->client, q->fds[0]);
}

static void on_ask_fs(void *arg, struct ward_control_request *q)
{
	struct mount_run *m = arg;
	ward_ask_fs_client(&m->served.ask_fs, m->served.guard.fs.control, q->what, &q->client);
}

static void on_steps(void *arg, struct ward_control_request *q)
{
	struct mount_run *m = arg;
	ward_run_steps_hand(&m->served.ask_fs, &m->served.guard, q);
}

/* To whoever waits for the end. */
static void tell_staged(struct mount_run *m)
{
	const char *line = m->served.staged;
	if (line && m->options->say)
		m->options->say(line);
	if (m->told < 0)
		return;
	const struct ward_control_request q = {.client = m->told};
	ward_control_reply(&q, json_pack("{s:b, s:i, s:o*}", "ok", 1, "errno", 0, "staged",
				       line ? ward_control_text(line) : NULL));
	ward_fd_drop(m->told);
	m->told = -1;
}

static int finish(struct mount_run *m, int r, struct ward_err *err)
{
	struct ward_err why = WARD_ERR_INIT;
	if (m->mounted && ward_fusemount_undo(&m->mount, true, &why) < 0 && r == 0) {
		*err = why;
		r = why.code;
	}
	r = ward_served_finish(&m->served, r, NULL, err);
	tell_staged(m);
	return r;
}

int ward_mount(const struct ward_mount_options *o, void (*ready)(void *), void *ready_arg,
	struct ward_err *err)
{
	static const struct ward_control_handlers handlers = {.status = on_status,
		.kill = on_kill,
		.umount = on_umount,
		.reload = on_reload_asked,
		.ask_fs = on_ask_fs,
		.steps = on_steps};
	struct mount_run m = {.options = o, .told = -1};
	int status = WARD_EXIT_SETUP;
	ward_served_init(&m.served, err);
	m.served.session = o->session;
	m.served.from = o->from;
	m.served.handlers = &handlers;
	m.served.arg = &m;
	int r = plan(&m, err);
	if (r == -EINVAL || r == -ENOENT)
		status = WARD_EXIT_USAGE;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (r == 0)
		r = start(&m, err);
	if (r == 0) {
		ready(ready_arg);
		r = ward_served_loop(&m.served);
		r = finish(&m, r, err);
		if (r == 0)
			status = 0;
	} else {
		if (m.mounted)
			(void)!ward_fusemount_undo(&m.mount, true, NULL);
		ward_run_unstage(&m.served.guard);
		ward_record_not_started(&m.served.guard, err->text);
	}
	ward_served_close(&m.served);
	ward_fusemount_clear(&m.mount);
	return status;
}

/*
 * Asks each running session whether it is the one mounted on path. Returns its name or NULL; then
 * *ret_silent is the name of one that did not answer, if there is one. *ret_elsewhere: of one whose
 * mount has this path in another mount namespace. *ret_staged: the one found stages its changes.
 */
static char *session_of(const char *runtime, const char *path, char **ret_silent,
	char **ret_elsewhere, bool *ret_staged)
{
	ward_cleanup_dir DIR *d = opendir(runtime);
	const struct dirent *e = NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf wanted = WARD_BUF_INIT;
	ward_cleanup_free char *silent = NULL;
	ward_escape(&wanted, path, strlen(path));
	while (d && (e = readdir(d))) {
		ward_cleanup_free char *answer = NULL;
		if (!ward_session_name_ok(e->d_name))
			continue;
		int r = ward_control_ask(
			runtime, e->d_name, "{\"verb\":\"status\"}", &answer, NULL);
		if (r == -ETIMEDOUT && !silent)
			silent = strdup(e->d_name);
		if (r < 0)
			continue;
		json_t *o = json_loads(answer, 0, NULL);
		const char *at = o ? json_string_value(json_object_get(o, "mountpoint")) : NULL;
		const struct ward_fusemount m = {
			.mnt_id = (uint64_t)json_integer_value(json_object_get(o, "mount_id"))};
		const bool it = at && strcmp(at, ward_buf_str(&wanted)) == 0;
		/* Two mount namespaces may have a mount each at this path. */
		const bool here = it && ward_fusemount_is_here(&m);
		*ret_staged = json_is_true(json_object_get(o, "staged"));
		json_decref(o);
		if (it && !here && !*ret_elsewhere)
			*ret_elsewhere = strdup(e->d_name);
		if (here)
			return strdup(e->d_name);
	}
	*ret_silent = ward_steal_ptr(&silent);
	return NULL;
}

static int look_served(int at, const char *path, struct ward_patient_found *ret)
{
	struct statfs st;
	(void)at;
	(void)ret;
	return statfs(path, &st) < 0 ? -errno : 0;
}

/* Has the mount a server? One that does not answer is one, too. */
static bool is_served(const char *path)
{
	struct ward_patient_found found;
	int r = ward_patient(look_served, AT_FDCWD, path, WARD_PATIENT_NS, &found);
	if (r == 0 && found.fd >= 0)
		close(found.fd);
	return r != -ENOTCONN && r != -ECONNABORTED;
}

/* Nobody says that the mount is theirs. */
static int umount_left(
	const char *path, bool lazy, struct ward_umount_left *left, struct ward_err *err)
{
	struct ward_fusemount m = {.path = (char *)path};
	if (!ward_fusemount_is_ours(path))
		return ward_err_set(err, -EINVAL, "%s is not a mount of wardfs", path);
	left->foreign = is_served(path);
	/* What has no server is nobody's any more. */
	if (!left->foreign) {
		free(left->session);
		left->session = NULL;
	}
	left->silent = left->session != NULL;
	if (left->silent && !lazy)
		return ward_err_set(err, -EBUSY,
			"session %s does not answer, and %s may be its mount. If somebody stopped its "
			"supervisor, continue that (kill -CONT). 'wardfs umount --lazy' takes the mount away all the same",
			left->session, path);
	int r = ward_fusemount_adopt(&m, err);
	return r < 0 ? r : ward_fusemount_undo(&m, lazy, err);
}

int ward_umount(
	const char *mountpoint, bool lazy, struct ward_umount_left *left, struct ward_err *err)
{
	ward_cleanup_free char *path = NULL;
	ward_cleanup_free char *runtime = NULL;
	int r = mountpoint_path(mountpoint, &path, err);
	if (r == 0)
		r = ward_control_runtime(&runtime, err);
	if (r != 0)
		return r;
	ward_cleanup_free char *elsewhere = NULL;
	bool staged = false;
	ward_cleanup_free char *session =
		session_of(runtime, path, &left->session, &elsewhere, &staged);
	if (!session && elsewhere && !ward_fusemount_is_ours(path))
		return ward_err_set(err, -EINVAL,
			"%s is a mount of session %s in another mount namespace. 'wardfs kill' takes it "
			"away, with the session",
			path, elsewhere);
	if (!session)
		return umount_left(path, lazy, left, err);
	ward_cleanup_free char *answer = NULL;
	const int wait_ms = lazy ? LAZY_WAIT_MS : END_WAIT_MS;
	const char *request =
		lazy ? "{\"verb\":\"umount\",\"lazy\":true}" : "{\"verb\":\"umount\"}";
	r = staged ? ward_control_ask_with(runtime, session, request, -1, wait_ms, &answer, err)
		   : ward_control_ask(runtime, session, request, &answer, err);
	/* One that stages answers when it has ended: it may take longer, or be killed. */
	if (r < 0 && staged && !ward_fusemount_is_ours(path)) {
		if (!ward_control_wait_gone(runtime, session, 0))
			left->session = ward_steal_ptr(&session);
		return 0;
	}
	if (r < 0)
		return r;
	json_t *o = json_loads(answer, 0, NULL);
	bool ok = o && json_is_true(json_object_get(o, "ok"));
	int e = o ? (int)json_integer_value(json_object_get(o, "errno")) : EIO;
	const char *line = json_string_value(json_object_get(o, "staged"));
	left->staged = line ? strdup(line) : NULL;
	json_decref(o);
	if (ok) {
		/* Lazily: until the last who is in the mount has left. */
		if (!ward_control_wait_gone(runtime, session, wait_ms))
			left->session = ward_steal_ptr(&session);
		return 0;
	}
	if (e == EEXIST)
		return ward_err_set(err, -EEXIST, WARD_FUSEMOUNT_COVERED, path);
	return ward_err_sys(err, e ? -e : -EIO,
		e == EBUSY ? "%s is in use (--lazy takes it away all the same)" : "%s", path);
}
