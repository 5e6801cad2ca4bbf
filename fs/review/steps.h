/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of a review session: a moment to which the session can be put back.
 *
 * A step is a position in the journal and the content of the objects at that moment. An object that
 * nobody can write to is kept when it is next changed: its content of then is cloned into
 * steps/STEP/N first. One that somebody may write to unseen (a handle, a mapping) is cloned at the
 * mark. So the content of object N at a step is that of the first steps/LATER/N from the step on,
 * else objects/N.
 *
 * ward_review_mark() and ward_review_back() are called while no request is under way, by one
 * thread. Stores through mappings go on meanwhile, unless the session is held still (fs_still.h).
 */
#pragma once

#include "fs/review/review.h"

/* So many steps are kept. One more takes the place of the oldest one that nobody asked for. */
#define WARD_STEPS_MAX 200U
/* Of these so many can be the agent's own: they never push out those that others made. */
#define WARD_STEPS_AGENT_MAX 64U
/* Bytes that steps keep, as far as they share no blocks with the objects. Beyond it a file that
 * changes for the first time since a step is refused with EDQUOT. */
#define WARD_STEPS_KEPT_MAX (4ULL << 30)
#define WARD_STEP_NAME_MAX 64U

/* Who made it. The letters stand in the journal. */
enum ward_step_kind {
	WARD_STEP_NONE = 0,
	WARD_STEP_OWNER = 'o', /* from outside */
	WARD_STEP_AGENT = 'a', /* from inside */
	WARD_STEP_EXEC = 'e',  /* the start of a `wardfs exec` */
	WARD_STEP_QUIET = 'q', /* [review] every */
	WARD_STEP_BACK = 'b',  /* before a step back */
};

/* Whoever asks. */
struct ward_stepper {
	enum ward_step_kind kind;
	uint32_t pid; /* 0: not from inside */
	uid_t uid;
};

struct ward_step_asked {
	enum ward_step_kind kind;
	const char *name; /* NULL: none */
	uid_t uid;
};

struct ward_step_seen {
	uint32_t id;
	enum ward_step_kind kind;
	uint64_t time_ns; /* CLOCK_REALTIME */
	uint64_t changes; /* between the step before and this one */
	uid_t uid;
	char name[WARD_STEP_NAME_MAX + 1]; /* "": none */
};

/*
 * A name is printable, valid UTF-8, without slashes and backslashes, and does not begin with ".",
 * "-" or a digit. -EINVAL: it is not good; -EEXIST: another step has it; -EDQUOT: there are too
 * many, or they keep too much; else what copying failed with. Nothing has changed then.
 */
int ward_review_mark(struct ward_review *rv, const struct ward_step_asked *asked, uint32_t *ret_id,
	struct ward_err *err) ward_must_check;

/* May somebody write to a staged file unseen, by a handle or a mapping? */
bool ward_review_is_open(struct ward_review *rv);

/* The step that was just made is given up. */
int ward_review_unmark(struct ward_review *rv, uint32_t id) ward_must_check;

/* Those there are, oldest first: *ret is the caller's (free(3)), *ret_n may be 0. */
int ward_review_list_steps(
	struct ward_review *rv, struct ward_step_seen **ret, size_t *ret_n) ward_must_check;

/* Of the session so far, for those inside. */
struct ward_steps_news {
	uint64_t changes; /* since the last step */
	uint64_t all;	  /* so far: who has seen another number looks again */
	uint32_t last;	  /* the last step; 0: none */
	uint64_t n_backs;
	uint32_t to; /* of the last one */
	enum ward_step_kind by;
	uid_t uid;
	uint64_t time_ns;
};
void ward_review_news(struct ward_review *rv, struct ward_steps_news *ret);

/* What a step back is about to do to a path. */
enum ward_back_what {
	WARD_BACK_REMOVE = 0, /* the name goes */
	WARD_BACK_CREATE,     /* it comes, and leads to what no name leads to now */
	WARD_BACK_RENAME,     /* it comes, and leads to what is at `from` */
	WARD_BACK_WRITE,      /* the content */
	WARD_BACK_ATTR,	      /* mode, owner, times of a directory */
};
struct ward_back_ask {
	enum ward_back_what what;
	size_t root;	  /* number of the tree */
	const char *path; /* beneath it */
	size_t from_root;
	const char *from;
	mode_t type;
	bool own; /* the session made the file */
};
struct ward_back_calls {
	/* A negative errno: it is not to be done; 0: it is; 1: it is, and whoever made the file
	 * counts for who sees it: `own` afterwards. */
	int (*gate)(void *user, const struct ward_back_ask *ask);
	/* The session made the file of this descriptor, which is another one now. */
	void (*own)(void *user, int fd);
	void *user;
};

struct ward_back_name {
	struct ward_file_id dir;
	const char *name; /* the layer's, for good */
};
struct ward_back_done {
	uint32_t before; /* the step that has what was there */
	struct ward_back_name *names;
	size_t n_names;
	struct ward_file_id *files; /* whose content is another one */
	size_t n_files;
};
void ward_back_done_clear(struct ward_back_done *d);

/*
 * Puts the session back to a step, all of it or nothing. What is there before becomes a step of its
 * own. Whatever it changes is asked of the gate first. -ENOENT: there is no such step; what the
 * gate answered, and err names the path.
 */
int ward_review_back(struct ward_review *rv, uint32_t id, const struct ward_step_asked *asked,
	const struct ward_back_calls *calls, struct ward_back_done *ret,
	struct ward_err *err) ward_must_check;

/*
 * The names that differ from the project's, and the files that are staged: fn with a letter (A, D,
 * M) and a path; it returns false to end it.
 */
int ward_review_each_change(struct ward_review *rv,
	bool (*fn)(void *user, char letter, size_t root, const char *path, mode_t type),
	void *user) ward_must_check;
