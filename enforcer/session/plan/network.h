/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network of a session, as [network] has it: what the sandbox gets, and wardfs-net beside it.
 * With mode none there is no helper and nothing to do.
 */
#pragma once

#include <jansson.h>

#include "enforcer/sandbox/sandbox.h"
#include "enforcer/session/guard/guard.h"
#include "enforcer/session/plan/plan.h"
#include "enforcer/session/plan/sockets.h"

/* Of [network] publish; WARD_PORTS_MAX of net/entry/ports.h bounds them. */
#define WARD_PUBLISHED_MAX 64
struct ward_published {
	unsigned asked, port, inside; /* port 0: none was free */
};

/* Bytes of a message of wardfs-net: of a question, two texts of rules and a host. */
#define WARD_NETWORK_SAYS_MAX 8192

struct ward_network {
	enum ward_net mode;
	struct ward_published published[WARD_PUBLISHED_MAX]; /* from ward_network_wait() on */
	size_t n_published;
	bool identify; /* the proxy gets a token that says who asks */
	struct ward_sockets sockets;
	bool ended;		   /* it has written its last record */
	struct ward_helper helper; /* not running where mode needs none */
};

#define WARD_NETWORK_INIT                                                                          \
	((struct ward_network){.helper = WARD_HELPER_INIT, .sockets = WARD_SOCKETS_INIT})

/* True if wardfs-net is part of this session. */
bool ward_network_brokered(const struct ward_network *n);

/*
 * Call it before the sandbox is made, because the sandbox takes its lifeline. runtime_dir: the
 * session's runtime directory, borrowed until the sandbox is ready. -EINVAL: not in this mode.
 */
int ward_network_prepare(const struct ward_run_plan *p, int runtime_dir, const char *session,
	struct ward_network *ret, struct ward_err *err) ward_must_check;
/* Fills in the sandbox's network. */
void ward_network_describe(const struct ward_network *n, struct ward_sandbox_spec *spec);

/* While the sandbox is made, after ward_guard_start(): starts the helper, which prepares itself. */
int ward_network_spawn(struct ward_network *n, const struct ward_guard *g,
	const struct ward_run_plan *p, struct ward_err *err) ward_must_check;
/* After the sandbox was made: hands its namespaces to the helper; does not wait for it. */
int ward_network_start(
	struct ward_network *n, struct ward_sandbox *sb, struct ward_err *err) ward_must_check;
/* The same for a network namespace of others, which user_ns owns; both stay the caller's. pid1: the
 * first of the processes there. */
int ward_network_join(struct ward_network *n, int user_ns, int net_ns, pid_t pid1,
	struct ward_err *err) ward_must_check;
/* What /etc/resolv.conf says there; static. */
const char *ward_network_resolv(void);
/* Waits until names and connections are served, and fills in what is published. */
int ward_network_wait(struct ward_network *n, struct ward_err *err) ward_must_check;
/* Where the ports lead that an option of o publishes, and those that are other ones than the policy
 * names, for people; NULL: none. The caller's. */
char *ward_network_leads(const struct ward_network *n, const struct ward_run_options *o);
/* [{"port": of the host, "inside": port}, …] */
json_t *ward_network_published(const struct ward_network *n);
/*
 * Starting failed elsewhere, r: if that is because the helper gave up (its end ends the sandbox),
 * err says why it did. Returns r.
 */
int ward_network_explain(struct ward_network *n, int r, struct ward_err *err) ward_must_check;

enum ward_network_end {
	WARD_NETWORK_DIED = 0, /* before it had said that all its records are there */
	WARD_NETWORK_LATE,     /* it hung and was killed: ends of connections can be missing */
	WARD_NETWORK_ENDED,    /* or there is none */
};
/*
 * After everything inside is dead: lets the helper write its last records and waits for that, not
 * for its end.
 */
enum ward_network_end ward_network_end(struct ward_network *n);
void ward_network_close(struct ward_network *n);

/* "none", "allowlist", …; for the trail. */
const char *ward_network_name(enum ward_net mode);
