/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges the policy of a running session, step by step. */
#include "enforcer/session/reload/reload.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/session/owner/exit_status.h"
#include "enforcer/session/records/session_records.h"
#include "enforcer/session/reload/reload_child.h"

/* The encoded text of a policy: its sources of 4 MiB each. */
#define BLOB_MAX ((size_t)64 << 20)

/* The policy in force. */
static const struct ward_policy *current_policy(const struct ward_reload *r)
{
	return r->current ? r->current : r->plan->policy;
}

/* --- ends --- */

static void tell(struct ward_reload *r, json_t *o)
{
	ward_cleanup_free char *text = json_dumps(o, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(o);
	if (r->client < 0)
		return;
	if (text)
		(void)!send(r->client, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
	ward_fd_drop(r->client);
	r->client = -1;
}

/* A child that hangs in a file system is not waited for. */
static void end_child(struct ward_reload *r)
{
	if (r->child >= 0)
		close(r->child);
	r->child = -1;
	if (r->ended > 0 && waitpid(r->ended, NULL, WNOHANG) == r->ended)
		r->ended = 0;
	if (r->pid <= 0)
		return;
	kill(r->pid, SIGKILL); /* our unreaped child: the pid cannot be another's */
	if (waitpid(r->pid, NULL, WNOHANG) != r->pid)
		r->ended = r->pid;
	r->pid = 0;
}

static void reset(struct ward_reload *r)
{
	end_child(r);
	ward_policy_unref(r->next);
	r->next = NULL;
	free(r->answer);
	free(r->notes);
	free(r->why_left);
	r->answer = r->notes = r->why_left = NULL;
	r->left = 0;
	r->step = WARD_RELOAD_IDLE;
}

/* The old policy stays: the client learns why, and so does the trail. */
static void refuse(struct ward_reload *r, int status, const char *text)
{
	if (ward_record_reload(r->guard, current_policy(r), r->next, false, r->by, text, 0) < 0)
		status = WARD_EXIT_SETUP;
	tell(r, json_pack("{s:b, s:i, s:s}", "ok", 0, "status", status, "error", text));
	reset(r);
}

static json_t *lines(const char *text)
{
	json_t *list = json_array();
	while (text && *text) {
		size_t n = strcspn(text, "\n");
		if (n)
			json_array_append_new(list, json_stringn(text, n));
		text += n + (text[n] == '\n');
	}
	return list;
}

/* The new policy is in force, what could be taken back is. */
static void finish(struct ward_reload *r, const struct ward_policy *before)
{
	static const char *const copied[] = {"checked", "directories", "passthrough", "forgotten"};
	json_t *got = r->answer ? json_loads(r->answer, 0, NULL) : NULL;
	json_t *o = json_pack("{s:b, s:i, s:s, s:s}", "ok", 1, "status", 0, "digest",
		ward_policy_digest(current_policy(r)), "before", ward_policy_digest(before));
	for (size_t i = 0; i < sizeof(copied) / sizeof(*copied); i++)
		json_object_set(o, copied[i], json_object_get(got, copied[i]));
	json_object_set_new(o, "left", json_integer((json_int_t)r->left));
	if (r->why_left)
		json_object_set_new(o, "why_left", json_string(r->why_left));
	json_object_set_new(o, "notes", lines(r->notes));
	json_decref(got);
	tell(r, o);
	reset(r);
}

/* --- taking back --- */

static void ask_retired(struct ward_reload *r);

static void done(struct ward_reload *r)
{
	/* The policy before is the one that `next` holds by now (in_force()). */
	finish(r, r->next);
}

/* What wardfs-fs still waits for: the child asks the kernel about it. */
static void on_retired(void *arg, const char *json)
{
	struct ward_reload *r = arg;
	json_t *o = json ? json_loads(json, 0, NULL) : NULL;
	const json_t *list = json_object_get(o, "inodes");
	const json_t *e = NULL;
	size_t n = json_array_size(list), i = 0;
	uint64_t all = n + (uint64_t)json_integer_value(json_object_get(o, "more"));
	struct ward_msg m;
	/* Told already, or no further than the last time. */
	bool stuck = r->step != WARD_RELOAD_REVOKING || (r->left && all >= r->left);
	r->left = json ? all : r->left;
	if (stuck || !n || n > WARD_RELOAD_REVOKE_MAX || r->child < 0) {
		json_decref(o);
		if (r->step == WARD_RELOAD_REVOKING)
			done(r);
		return;
	}
	ward_msg_init(&m, WARD_RELOAD_REVOKE);
	ward_msg_put_u32(&m, (uint32_t)n);
	json_array_foreach(list, i, e)
	{
		ward_msg_put_u32(&m, (uint32_t)json_integer_value(json_array_get(e, 0)));
		ward_msg_put_u64(&m, (uint64_t)json_integer_value(json_array_get(e, 1)));
	}
	json_decref(o);
	int sent = ward_msg_send(r->child, &m, NULL, 0);
	ward_msg_clear(&m);
	if (sent < 0)
		done(r);
}

static void ask_retired(struct ward_reload *r)
{
	ward_ask_fs_own(r->ask, r->guard->fs.control, WARD_FS_QUERY_RETIRED, -1, on_retired, r);
}

/* --- the exchange --- */

/* Where it does not arrive wardfs-net is dead, and so is the session. */
static void tell_net(const struct ward_reload *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	struct ward_msg m;
	if (r->net_control < 0)
		return;
	ward_msg_init(&m, WARD_MSG_NET_POLICY);
	if (ward_policy_encode(r->current, &blob) < 0 ||
		ward_fd_sealed("wardfs-policy", blob.data, blob.len, &fd, NULL) < 0 ||
		ward_msg_send(r->net_control, &m, &fd, 1) < 0)
		(void)shutdown(r->net_control, SHUT_RDWR);
	ward_msg_clear(&m);
}

static void in_force(struct ward_reload *r, const json_t *answer)
{
	const struct ward_policy *before = current_policy(r);
	uint64_t mono = (uint64_t)json_integer_value(json_object_get(answer, "mono"));
	/* A trail that fails here fails everything that follows in the session, too. */
	if (ward_record_reload(r->guard, before, r->next, true, r->by, r->notes, mono) < 0)
		r->guard->broken = true;
	struct ward_policy *old = r->current ? r->current : ward_policy_ref(r->plan->policy);
	r->current = r->next;
	r->next = old;
	r->plan->settings = ward_policy_settings(r->current);
	tell_net(r);
	if (json_integer_value(json_object_get(answer, "passthrough")) == 0) {
		done(r);
		return;
	}
	r->step = WARD_RELOAD_REVOKING;
	ask_retired(r);
}

static void on_swapped(void *arg, const char *json)
{
	struct ward_reload *r = arg;
	json_t *o = json ? json_loads(json, 0, NULL) : NULL;
	const char *error = json_string_value(json_object_get(o, "error"));
	if (json && json_is_true(json_object_get(o, "ok"))) {
		r->answer = strdup(json);
		in_force(r, o);
	} else {
		if (json)
			ward_guard_drop_policy(r->guard, r->n--);
		refuse(r, 1, error ? error : "wardfs-fs gave no answer; the session ends");
	}
	json_decref(o);
}

/* Text first: no policy is in force that the trail does not have. */
static void exchange(struct ward_reload *r, int blob_fd)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	int e = ward_fd_pread_all(blob_fd, BLOB_MAX, &blob);
	if (e < 0)
		ward_err_sys(&err, e, "policy");
	if (e == 0)
		e = ward_policy_decode(blob.data, blob.len, &r->next, &err);
	if (e == 0)
		e = ward_guard_add_policy(r->guard, ++r->n, blob.data, blob.len, &err);
	if (e == 0) {
		e = ward_record_policy(r->guard, r->next);
		if (e < 0)
			ward_err_sys(&err, e, "cannot write the trail");
	}
	if (e < 0) {
		close(blob_fd);
		refuse(r, WARD_EXIT_SETUP, err.text);
		return;
	}
	r->step = WARD_RELOAD_SWAPPING;
	ward_ask_fs_own(r->ask, r->guard->fs.control, 0, blob_fd, on_swapped, r);
}

/* --- the child --- */

static void start_child(struct ward_reload *r, int base)
{
	int s[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0) {
		refuse(r, WARD_EXIT_SETUP, "no socket could be had");
		return;
	}
	pid_t pid = fork();
	if (pid == 0)
		ward_reload_child(r, s[1], base);
	close(s[1]);
	r->child = s[0];
	r->pid = pid > 0 ? pid : 0;
	if (pid < 0)
		refuse(r, WARD_EXIT_SETUP, "no process could be started");
}

void ward_reload_begin(struct ward_reload *r, int *client, int base)
{
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t len = sizeof(peer);
	if (r->step != WARD_RELOAD_IDLE) {
		static const char busy[] = "{\"ok\":false,\"status\":1,\"error\":"
					   "\"another reload is under way\"}";
		(void)!send(*client, busy, strlen(busy), MSG_NOSIGNAL | MSG_DONTWAIT);
		return;
	}
	r->client = ward_steal_fd(client);
	(void)getsockopt(r->client, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	r->by = peer.uid;
	r->until_ns = ward_clock_mono_ns() + WARD_RELOAD_MS * UINT64_C(1000000);
	r->step = WARD_RELOAD_LOADING;
	start_child(r, base);
}

static void on_loaded(struct ward_reload *r, struct ward_msg_reader *m, int fd)
{
	char *notes = ward_msg_get_str(m);
	if (r->step != WARD_RELOAD_LOADING || fd < 0 || !notes || ward_msg_done(m) < 0) {
		if (fd >= 0)
			close(fd);
		free(notes);
		refuse(r, WARD_EXIT_SETUP, "loading the policy failed");
		return;
	}
	r->notes = notes;
	exchange(r, fd);
}

void ward_reload_event(struct ward_reload *r)
{
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	int fd = -1;
	size_t n_fds = 1;
	ssize_t len = buf ? ward_msg_recv(r->child, buf, WARD_MSG_MAX, &fd, &n_fds) : -ENOMEM;
	struct ward_msg_reader m = {.type = 0};
	if (len > 0)
		ward_msg_reader_init(&m, buf, (size_t)len);
	if (m.type == WARD_RELOAD_LOADED) {
		on_loaded(r, &m, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (m.type == WARD_RELOAD_REVOKED && r->step == WARD_RELOAD_REVOKING) {
		uint32_t failed = ward_msg_get_u32(&m);
		free(r->why_left);
		r->why_left = ward_msg_get_str(&m);
		if (!failed) {
			free(r->why_left);
			r->why_left = NULL;
		}
		ask_retired(r);
	} else if (m.type == WARD_RELOAD_FAILED && r->step == WARD_RELOAD_LOADING) {
		uint32_t status = ward_msg_get_u32(&m);
		ward_cleanup_free char *text = ward_msg_get_str(&m);
		refuse(r, status == WARD_EXIT_USAGE ? WARD_EXIT_USAGE : WARD_EXIT_SETUP,
			text ? text : "loading the policy failed");
	} else if (r->step == WARD_RELOAD_LOADING) {
		refuse(r, WARD_EXIT_SETUP, "the process that loads the policy died");
	} else if (r->step == WARD_RELOAD_REVOKING) {
		r->why_left = r->why_left ? r->why_left : strdup("the process that asks died");
		done(r);
	} else {
		end_child(r);
	}
}

/* --- in the supervisor's loop --- */

int ward_reload_fd(const struct ward_reload *r)
{
	return r->child;
}

int ward_reload_timeout(const struct ward_reload *r)
{
	uint64_t now = ward_clock_mono_ns();
	if (r->step == WARD_RELOAD_IDLE || (r->step == WARD_RELOAD_SWAPPING && r->client < 0))
		return -1;
	return r->until_ns <= now ? 0 : (int)((r->until_ns - now) / 1000000) + 1;
}

void ward_reload_tick(struct ward_reload *r)
{
	if (ward_reload_timeout(r) != 0)
		return;
	if (r->step == WARD_RELOAD_LOADING) {
		refuse(r, WARD_EXIT_SETUP,
			"loading the policy took too long ('wardfs quota' tells whether wardfs-fs "
			"answers)");
	} else if (r->step == WARD_RELOAD_SWAPPING) {
		/* Whatever it answers is recorded. */
		tell(r, json_pack("{s:b, s:i, s:s}", "ok", 0, "status", 1, "error",
				"wardfs-fs does not answer yet: which policy is in force is not "
				"known (wardfs ps --json tells it later)"));
	} else {
		r->why_left = r->why_left ? r->why_left : strdup("it took too long");
		done(r);
	}
}

void ward_reload_clear(struct ward_reload *r)
{
	if (r->client >= 0)
		tell(r, json_pack("{s:b, s:i, s:s}", "ok", 0, "status", 1, "error",
				"the session has ended"));
	reset(r);
	/* Its descriptors are closed; what it hung in is gone, or will be. */
	if (r->ended > 0)
		waitpid(r->ended, NULL, WNOHANG);
	/* The plan outlives us, and its settings may be those of `current` (in_force()). */
	if (r->current)
		r->plan->settings = ward_policy_settings(r->plan->policy);
	ward_policy_unref(r->current);
	r->current = NULL;
	for (size_t i = 0; i < WARD_TREES_MAX; i++)
		free(r->trees[i]);
}
