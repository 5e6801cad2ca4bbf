/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept homes ([home] mode = project): one for each owner and project, beneath the state directory.
 *
 *   homes/UID/NAME-HASH/    whose owner UID is; HASH of the project's path
 *     home/                 the tree: the owner's, 0700
 *     project               the project's path
 *     bound                 which directory that was (home_bound.h)
 *     before                projects in it that no session made (owner/chosen.h)
 *     used                  what it holds (home_used.h)
 *     lock                  flock(2): shared by its sessions, whole by who clears it
 *
 * Everything but what is in home/ is ours. The sandbox sees home/ through the guard, as a tree at
 * WARD_HOME_PATH, with the quota that [home] size leaves.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "enforcer/ipc/helper.h"
#include "enforcer/policy/known.h"
#include "enforcer/policy/policy.h"
#include "enforcer/session/home/home_bound.h"
#include "enforcer/session/home/home_tree.h"
#include "enforcer/session/home/home_used.h"
#include "enforcer/session/owner/identity.h"
#include "enforcer/session/owner/project.h"

struct ward_kept_home {
	char *dir;    /* host path of homes/UID/NAME-HASH, owned; NULL: none */
	char *source; /* of home/ in it, owned */
	int lock;     /* shared, while the session lives; -1 */
	int home;     /* home/, O_PATH; -1: not there yet, or not looked at */
	int at;	      /* homes/UID/NAME-HASH, once it is locked; -1 */
	struct ward_home_used used;
	char bound[WARD_HOME_BOUND_MAX]; /* of the project as it is now */
	bool other;			 /* it is kept for another directory of that path */
};
#define WARD_HOME_INIT ((struct ward_kept_home){.lock = -1, .home = -1, .at = -1})
void ward_home_clear(struct ward_kept_home *h);

/*
 * Where it is, or would be, and what there is of it; nothing is made. project: its path, project_fd
 * the directory itself. With our own rights: the state directory is nobody else's.
 */
int ward_home_look(const char *state, uid_t uid, const char *project, int project_fd,
	struct ward_kept_home *ret, struct ward_err *err) ward_must_check;

/*
 * Appends the tree, its rule and its quota as policy text: The quota is size (WARD_UNLIMITED: none)
 * less what the home contains now. That figure is stored (home_used.h), or else counted, perhaps
 * with the owner's rights. Appends nothing if p asks for no kept home, or the mode has none.
 * -EINVAL: a tree of the policy's is at, above or beneath WARD_HOME_PATH, or the state directory
 * has a name that no policy can hold.
 */
int ward_home_text(struct ward_kept_home *h, const struct ward_policy *p,
	const struct ward_mode *mode, struct ward_buf *b, struct ward_err *err) ward_must_check;

/*
 * Makes what is missing (store: the state directory, which is there), takes the lock and, if no
 * other session has it, removes what a home does not keep (conf/home-dropped.list). *ret_backing:
 * O_PATH, the caller's. Binds a home that is not bound. -EBUSY: it is being cleared, or was bound
 * to another directory meanwhile. known: what the search of this start found in the project.
 */
int ward_home_open(struct ward_kept_home *h, const struct ward_identity *id, const char *state,
	const char *project, const struct ward_known *known, int *ret_backing,
	struct ward_err *err) ward_must_check;

/*
 * A session without a kept home: makes an empty one all the same, which the session is not shown.
 * It says that a session was at this path (owner/chosen.h), so that nothing which sessions leave
 * there makes a project of its own. Not where something else says that. -EBUSY as above.
 */
int ward_home_mark(const struct ward_identity *id, const char *state,
	const struct ward_project *project, const struct ward_known *known,
	struct ward_err *err) ward_must_check;

/*
 * The session has ended as it should: nothing of it runs, and its quota has counted that many bytes
 * added. Gives up the lock.
 */
void ward_home_ended(struct ward_kept_home *h, uint64_t added);

/*
 * A symbolic link at rel, which leads to what the host shows inside at target. What the command
 * put there in its place goes if it is a link, and stays if it is anything else.
 */
int ward_home_link(int backing, const struct ward_identity *id, const char *rel, const char *target,
	struct ward_err *err) ward_must_check;

/* One home of those that are there. */
struct ward_home_entry {
	const char *name;    /* NAME-HASH */
	const char *project; /* path; "" where that cannot be read */
	const char *path;    /* host path of home/ */
	uid_t uid;
	bool busy; /* a session has it */
	int dir;   /* of homes/UID/NAME-HASH */
	int home;  /* of home/ in it, O_PATH; -1: not there */
	int above; /* of homes/UID */
};
/* 0 goes on, a negative errno ends the walk. All is the callee's for the call alone. */
typedef int ward_home_visit(void *user, const struct ward_home_entry *e, struct ward_err *err);
/* Calls visit for each home beneath state, in the order of uids and names. None is no error. */
int ward_home_each(const char *state, ward_home_visit *visit, void *user,
	struct ward_err *err) ward_must_check;

/* Binds a home to the directory that its project's path stands for now. */
int ward_home_bind(const struct ward_home_entry *e, struct ward_err *err) ward_must_check;

/* Takes a home away, as a whole. -EBUSY: a session has it. */
int ward_home_delete(const struct ward_home_entry *e, ward_home_progress *progress, void *user,
	struct ward_err *err) ward_must_check;
