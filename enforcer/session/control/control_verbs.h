/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests at the control socket of a session (control.h): one table says which there are, how many
 * descriptors come with each, who may ask, and which handler answers. `wardfs run` and `wardfs
 * mount` each have their handlers; a request without one is refused.
 *
 * A new request: a row in control_verbs.c, a handler here, and its function in run_control.c or
 * guard/mount.c.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/base/pollset.h"

/* Who asks; the same user can be several of them. 0: nobody. */
enum ward_control_who {
	WARD_CONTROL_ROOT = 1,
	WARD_CONTROL_STARTER = 2, /* the user that the supervisor runs as */
	WARD_CONTROL_OWNER = 4,	  /* whom the session belongs to, where root started it for them */
	WARD_CONTROL_CHOOSER = 8, /* whose word the policy is */
};

/* The users of a session, to tell who asks. */
struct ward_control_users {
	uid_t owner;
	pid_t panel;   /* a child of ours that may ask (ward_control_accept()); 0: there is none */
	uid_t chooser; /* who gave --policy; without it the owner, whose policy file counts */
};

/* One more than any request takes: what is too many is seen, and refused. */
#define WARD_CONTROL_FDS_MAX 4

struct ward_control_request {
	int client;		       /* a handler that answers later takes it and leaves -1 */
	const json_t *body;	       /* the object, borrowed */
	uint32_t what;		       /* of the row: for handlers of several requests */
	int fds[WARD_CONTROL_FDS_MAX]; /* a handler that takes one leaves -1 */
	size_t n_fds;
	pid_t pid; /* who asks, as the kernel says */
	uid_t uid;
};

/* arg: the session. What the handler does not take is closed after it. */
typedef void ward_control_fn(void *arg, struct ward_control_request *q);

/* The handlers of one kind of session; NULL: it does not take that request. */
struct ward_control_handlers {
	ward_control_fn *status, *kill, *exec, *attach, *reload, *umount, *join;
	ward_control_fn *questions, *answer;
	ward_control_fn *ask_fs;       /* what: enum ward_fs_query */
	ward_control_fn *steps;	       /* what: enum ward_fs_step; "text" of the body */
	ward_control_fn *take, *unfit; /* of a prepared session (warm/take.h) */
	ward_control_fn *grants;       /* what: enum ward_granting_what */
};

/* A row of the table. Zero refuses: nobody may ask. */
struct ward_control_verb {
	const char *word;
	size_t fds;	/* exactly so many descriptors */
	unsigned who;	/* set of ward_control_who */
	size_t handler; /* offsetof(struct ward_control_handlers, …) */
	uint32_t what;
	const char *who_may; /* for those who may not, a sentence; NULL: none */
};
/* The row for a word; NULL: there is none. */
const struct ward_control_verb *ward_control_verb(const char *word);

/*
 * May `who` (a set) ask for it, with so many descriptors? -EPERM: not they. -EINVAL: another number
 * of descriptors belongs to it.
 */
int ward_control_check(const struct ward_control_verb *v, unsigned who, size_t n_fds,
	struct ward_err *err) ward_must_check;

/* A user as a set of ward_control_who; 0: nobody who may ask anything. */
unsigned ward_control_who(uid_t uid, const struct ward_control_users *users);

/* So many clients may be connected without a request. One more, and the first of them goes. */
#define WARD_CONTROL_WAITERS 8

struct ward_control_desk;
struct ward_control_waiter {
	struct ward_control_desk *desk;
	int fd;
	ward_pollset_id id; /* 0: this place is free */
	uint64_t number;    /* clients count up; the smallest came first */
};

/* Where clients arrive. The caller fills the first part, and keeps it all in one place. */
struct ward_control_desk {
	int listen_fd;
	struct ward_pollset *set;
	unsigned rank; /* of those that wait */
	struct ward_control_users users;
	const struct ward_control_handlers *handlers;
	void *arg; /* of the handlers */

	struct ward_control_waiter waiters[WARD_CONTROL_WAITERS];
	uint64_t last;
};

/*
 * A client waits at listen_fd: accepts it, and calls the handler or refuses. Never waits: a client
 * whose request is not there yet becomes a member of the set.
 */
void ward_control_serve(struct ward_control_desk *d);
/* Closes those that wait. */
void ward_control_desk_clear(struct ward_control_desk *d);
/* The part after the accept: q->client asks, and `who` (a set) is known. Takes all of q. */
void ward_control_hand_over(struct ward_control_request *q, unsigned who,
	const struct ward_control_handlers *handlers, void *arg);
/* Answers, if the client is still q's. o is taken; NULL (no memory): says nothing. */
void ward_control_reply(const struct ward_control_request *q, json_t *o);
