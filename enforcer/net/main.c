/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-net: the session's only way out. Started by the supervisor with the descriptors and the
 * messages of enforcer/ipc/helper.h; becomes the owner, forks its children, reads the host's
 * resolver files, confines itself, all while the sandbox is made; then lets the children make the
 * wire, says that it is ready, serves until the supervisor is gone.
 */
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/net/base/net_limits.h"
#include "enforcer/net/conn/accept.h"
#include "enforcer/net/conn/conn.h"
#include "enforcer/net/conn/net_grants.h"
#include "enforcer/net/conn/net_questions.h"
#include "enforcer/net/conn/pipes.h"
#include "enforcer/net/conn/refused.h"
#include "enforcer/net/entry/front.h"
#include "enforcer/net/entry/nameserver.h"
#include "enforcer/net/entry/ports.h"
#include "enforcer/net/entry/reach.h"
#include "enforcer/net/entry/udp.h"
#include "enforcer/net/names/host_addresses.h"
#include "enforcer/net/names/name_table.h"
#include "enforcer/net/names/resolve.h"
#include "enforcer/net/setup/looker.h"
#include "enforcer/net/setup/net_confine.h"
#include "enforcer/policy/grants.h"

#define POLICY_MAX ((size_t)64 << 20)
/* The kernel's own bound on supplementary groups (limits.h: NGROUPS_MAX). */
#define GROUPS_MAX 65536U

struct config {
	uint32_t flags;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t n_groups;
};

/* [network] identify: what to sign tokens with. */
static int read_signer(struct ward_broker *net, struct ward_msg_reader *r)
{
	size_t n = 0;
	ward_cleanup_free char *grant = ward_msg_get_str(r);
	const uint8_t *seed = ward_msg_get_bytes(r, &n);
	if (!grant || r->bad || (*grant ? n != WARD_TOKEN_SEED_BYTES : n != 0))
		return -EBADMSG;
	if (!*grant)
		return 0;
	net->signer = calloc(1, sizeof(*net->signer));
	if (!net->signer || ward_chain_setup() < 0)
		return -ENOMEM;
	return ward_token_signer_open(grant, seed, net->signer);
}

static int read_groups(struct ward_msg_reader *r, struct config *c)
{
	const uint32_t n = ward_msg_get_u32(r);
	if (r->bad || n > GROUPS_MAX || n > r->left / sizeof(uint32_t))
		return -EBADMSG;
	c->groups = calloc(n ? n : 1, sizeof(*c->groups));
	if (!c->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		c->groups[i] = ward_msg_get_u32(r);
	c->n_groups = n;
	return 0;
}

/* [network] socket. */
static int read_sockets(struct ward_broker *net, struct ward_msg_reader *r)
{
	const uint32_t n = ward_msg_get_u32(r);
	if (r->bad || n > WARD_NET_SOCKETS_MAX)
		return -EBADMSG;
	for (; net->n_sockets < n; net->n_sockets++) {
		net->sockets[net->n_sockets] = ward_msg_get_str(r);
		if (!net->sockets[net->n_sockets])
			return -EBADMSG;
	}
	return 0;
}

static int read_config(struct ward_broker *net, struct config *c, struct ward_err *err)
{
	ward_cleanup_free char *buf = malloc(WARD_MSG_MAX);
	struct ward_msg_reader r;
	if (!buf)
		return ward_err_sys(err, -ENOMEM, "configuration");
	ssize_t n = ward_msg_recv(WARD_FD_CONTROL, buf, WARD_MSG_MAX, NULL, NULL);
	if (n <= 0)
		return ward_err_sys(err, n < 0 ? (int)n : -EPIPE, "configuration");
	ward_msg_reader_init(&r, buf, (size_t)n);
	if (r.type != WARD_MSG_CONFIG)
		return ward_err_set(err, -EBADMSG, "configuration: unexpected message");
	net->session = ward_msg_get_str(&r);
	c->flags = ward_msg_get_u32(&r);
	c->uid = ward_msg_get_u32(&r);
	c->gid = ward_msg_get_u32(&r);
	int e = read_groups(&r, c);
	if (e == 0)
		e = read_signer(net, &r);
	if (e == 0)
		e = read_sockets(net, &r);
	if (e == 0)
		net->via = ward_msg_get_str(&r);
	if (e == 0)
		e = ward_msg_done(&r);
	ward_chain_wipe(buf, WARD_MSG_MAX);
	if (e == 0 && (!net->session || !net->via || c->flags & ~(uint32_t)WARD_NET_ROOT))
		e = -EBADMSG;
	return e < 0 ? ward_err_sys(err, e, "configuration") : 0;
}

static int load_policy(struct ward_broker *net, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	int r = ward_fd_pread_all(WARD_FD_POLICY, POLICY_MAX, &blob);
	if (r < 0)
		return ward_err_sys(err, r, "policy");
	r = ward_policy_decode_network(blob.data, blob.len, &net->policy, err);
	if (r < 0)
		return ward_err_wrap(err, "policy");
	net->settings = ward_policy_settings(net->policy);
	ward_ring_sync(net->ring, net->settings->sync == WARD_SYNC_RECORD);
	return 0;
}

/* As the owner, before anything of the project's was read. */
static int fork_children(struct ward_broker *net, const struct config *c, struct ward_err *err)
{
	int r = ward_net_become_owner(
		c->uid, c->gid, c->groups, c->n_groups, c->flags & WARD_NET_ROOT, err);
	if (r == 0)
		r = ward_wire_fork(&net->wire, err);
	if (r == 0)
		r = ward_looker_make(&net->looker, err);
	return r < 0 ? r : ward_reach_make(net->sockets, net->n_sockets, &net->reach, err);
}

/* When the sandbox is there: its namespaces are for our children. */
static int make_wire(struct ward_broker *net, struct ward_err *err)
{
	int ns[2] = {-1, -1};
	size_t n_fds = 2;
	char data[64];
	struct ward_msg_reader m;
	ssize_t n = ward_msg_recv(WARD_FD_CONTROL, data, sizeof(data), ns, &n_fds);
	if (n <= 0)
		return ward_err_sys(err, n < 0 ? (int)n : -EPIPE, "namespaces");
	ward_cleanup_fd int user_ns = ns[0];
	ward_cleanup_fd int net_ns = ns[1];
	ward_msg_reader_init(&m, data, (size_t)n);
	pid_t pid1 = (pid_t)ward_msg_get_u32(&m);
	if (m.type != WARD_MSG_NET_WIRE || ward_msg_done(&m) < 0 || n_fds != 2)
		return ward_err_set(err, -EBADMSG, "namespaces: unexpected message");
	if (ward_looker_join(net->looker, user_ns, pid1) < 0)
		return ward_err_set(err, -EPIPE, "the child that looks at processes is gone");
	return ward_wire_join(&net->wire, user_ns, net_ns, err);
}

/* What can only be opened before confinement. */
static int prepare(struct ward_broker *net, struct ward_err *err)
{
	struct rlimit lim;
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
			return ward_err_sys(err, -errno, "RLIMIT_NOFILE");
	}
	net->spare = fcntl(WARD_FD_RING_WAKE, F_DUPFD_CLOEXEC, 3);
	net->base = event_base_new();
	if (!net->base || net->spare < 0)
		return ward_err_sys(err, -ENOMEM, "loop");
	int r = ward_near_open(net, err);
	if (r == 0)
		r = ward_resolver_open(net, err);
	if (r == 0)
		r = ward_ring_open(WARD_FD_RING, WARD_FD_RING_WAKE, &net->ring, err);
	if (r == 0)
		r = load_policy(net, err);
	return r < 0 ? r : ward_ports_bind(net, err);
}

/* Who comes to an address of the wire. */
static const struct ward_listener_ops listener_ops = {
	.connection = ward_conn_accept, .datagrams = ward_udp_ready, .gone = ward_udp_forget};

static int start(struct ward_broker *net, struct ward_err *err)
{
	int r = ward_net_grants_open(net, err);
	if (r == 0)
		r = ward_net_limits_open(net, err);
	if (r == 0)
		r = ward_net_names_open(net, &listener_ops, err);
	if (r == 0)
		r = ward_nameserver_open(net, err);
	if (r == 0)
		r = ward_front_open(net, err);
	if (r == 0)
		r = ward_ports_open(net, err);
	return r < 0 ? r : ward_refused_open(net, err);
}

static int tell(uint32_t type, const char *text)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, type);
	if (text)
		ward_msg_put_str(&m, text);
	return ward_msg_send(WARD_FD_CONTROL, &m, NULL, 0);
}

static void stop(struct ward_broker *net)
{
	if (net->ring) {
		ward_conn_end_all(net, "the session ended");
		ward_udp_end_all(net, "the session ended");
	}
	ward_refused_close(net);
	ward_front_close(net);
	ward_ports_close(net);
	if (net->ring)
		ward_net_turned_away(net);
	ward_nameserver_close(net);
	ward_net_names_close(net);
	/* Nothing is put into the ring any more; that is what the supervisor waits for. Without the
	 * word it takes us for dead. */
	if (net->dismissed)
		(void)tell(WARD_MSG_NET_ENDED, NULL);
	close(WARD_FD_CONTROL);
	ward_resolver_close(net);
	ward_near_close(net);
	ward_net_limits_close(net);
	ward_pipes_close(net);
	if (net->grants_clock)
		event_free(net->grants_clock);
	net->grants_clock = NULL;
	if (net->base)
		event_base_free(net->base);
	ward_wire_close(&net->wire);
	if (net->reach >= 0)
		close(net->reach);
	if (net->looker >= 0)
		close(net->looker);
	for (size_t i = 0; i < net->n_sockets; i++)
		free(net->sockets[i]);
	ward_ring_close(net->ring);
	ward_policy_unref(net->policy);
	ward_net_grants_close(net);
	ward_net_questions_close(net);
	if (net->signer)
		ward_chain_wipe(net->signer, sizeof(*net->signer));
	free(net->signer);
	free(net->session);
	free(net->via);
}

static int take_policy(struct ward_broker *net, int fd)
{
	ward_cleanup(ward_buf_clear) struct ward_buf blob = WARD_BUF_INIT;
	struct ward_policy *next = NULL;
	int r = ward_fd_pread_all(fd, POLICY_MAX, &blob);
	if (r == 0)
		r = ward_policy_decode_network(blob.data, blob.len, &next, NULL);
	if (r < 0)
		return r;
	ward_policy_unref(net->policy);
	net->policy = next;
	ward_policy_use_grants(next, net->grants);
	net->settings = ward_policy_settings(next);
	r = ward_net_names_reload(net);
	if (r == 0)
		ward_conn_reload(net);
	return r;
}

/* The longest message: a grant. */
#define CONTROL_MAX                                                                                \
	(WARD_GRANT_PATTERN_MAX + WARD_GRANT_REASON_MAX + 2 * WARD_GRANT_ISSUER_MAX + 256U)

static void take_answer(struct ward_broker *net, struct ward_msg_reader *r)
{
	uint32_t question = 0;
	bool refused = true;
	if (ward_net_question_message(net, r, &question, &refused) < 0)
		net->over = true;
	else
		ward_conn_answered(net, question, refused);
}

/* The supervisor is gone, or has another policy for us; everything else ends us. */
static void on_control(evutil_socket_t control, short what, void *user)
{
	struct ward_broker *net = user;
	char data[CONTROL_MAX];
	ward_cleanup_fd int fd = -1;
	size_t n_fds = 1;
	struct ward_msg_reader r = {.type = 0};
	ssize_t n = ward_msg_recv(WARD_FD_CONTROL, data, sizeof(data), &fd, &n_fds);
	net->dismissed = n == 0;
	if (n > 0)
		ward_msg_reader_init(&r, data, (size_t)n);
	if (n > 0 && n_fds == 0 && r.type == WARD_MSG_NET_ASK_END) {
		take_answer(net, &r);
		return;
	}
	if (n > 0 && n_fds == 0 && ward_net_grants_message(net, &r) == 0)
		return;
	if (r.type != WARD_MSG_NET_POLICY || ward_msg_done(&r) < 0 || n_fds != 1 ||
		take_policy(net, fd) < 0)
		net->over = true;
}

/*
 * A child is dead. Without a maker new listeners could not be made, and nobody may believe that
 * they were; without one of the others, records would say less, and sockets not answer.
 */
static void on_child(evutil_socket_t fd, short what, void *user)
{
	struct ward_broker *net = user;
	char byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr late = {.msg_iov = &iov, .msg_iovlen = 1};
	/* An answer that nobody waits for any more (child.h): read, and forgotten. */
	ssize_t n = fd == net->looker && net->looker_late ? recvmsg(fd, &late, MSG_DONTWAIT) : 0;
	net->over = n <= 0;
}

static int serve(struct ward_broker *net)
{
	struct event *control =
		event_new(net->base, WARD_FD_CONTROL, EV_READ | EV_PERSIST, on_control, net);
	const int children[] = {net->wire.outer, net->wire.inner, net->looker, net->reach};
	struct event *watched[sizeof(children) / sizeof(*children)] = {NULL};
	bool ok = control && event_add(control, NULL) == 0;
	for (size_t i = 0; ok && i < sizeof(children) / sizeof(*children); i++) {
		if (children[i] < 0)
			continue;
		watched[i] = event_new(net->base, children[i], EV_READ | EV_PERSIST, on_child, net);
		ok = watched[i] && event_add(watched[i], NULL) == 0;
	}
	ok = ok && tell(WARD_MSG_READY, ward_ports_published(net)) == 0;
	while (ok && !net->over)
		ok = event_base_loop(net->base, EVLOOP_ONCE) == 0;
	for (size_t i = 0; i < sizeof(children) / sizeof(*children); i++)
		if (watched[i])
			event_free(watched[i]);
	if (control)
		event_free(control);
	return ok ? 0 : 1;
}

int main(void)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_broker net = {.wire = WARD_WIRE_INIT, .looker = -1, .reach = -1, .spare = -1};
	struct config c = {0};
	LIST_INIT(&net.conns);
	LIST_INIT(&net.flows);
	LIST_INIT(&net.pipes);
	(void)signal(SIGPIPE, SIG_IGN);
	int r = read_config(&net, &c, &err);
	if (r == 0)
		r = fork_children(&net, &c, &err);
	if (r == 0)
		r = prepare(&net, &err);
	if (r == 0)
		r = ward_net_confine(&err);
	if (r == 0)
		r = make_wire(&net, &err);
	if (r == 0)
		r = start(&net, &err);
	free(c.groups);
	if (r < 0) {
		(void)tell(WARD_MSG_FAILED, err.text);
		_exit(1);
	}
	r = serve(&net);
	stop(&net);
	return r;
}
