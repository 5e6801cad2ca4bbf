/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the staged layer share. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#include "enforcer/base/buf.h"
#include "enforcer/ipc/helper.h"
#include "fs/review/journal.h"
#include "fs/review/review.h"
#include "fs/review/review_size.h"
#include "fs/review/steps.h"

#define WARD_REVIEW_MASK (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)
#define WARD_REVIEW_NAME 16U /* of an object: a number, and NUL */

/* A path beneath the tree `root`; NULL: there is none. */
struct ward_review_path {
	size_t root;
	char *text;
};

/* A further place of a file of the host's: `P` of the journal. */
struct ward_review_place {
	struct ward_review_place *next;
	size_t root;
	char *path;
	bool left; /* as of a file */
};

/* The content of a file at a step: steps/STEP/NUMBER, or that of the host's file. */
struct ward_review_kept {
	struct ward_review_kept *next; /* of an earlier step */
	uint32_t step;
	bool borrowed;		     /* as that of a file */
	bool lower;		     /* it was not staged then */
	uint64_t bytes;		     /* that the copy takes */
	uint64_t counted;	     /* for [review] size; 0: others that share it count */
	struct timespec lower_ctime; /* of the file: the host's that it comes from */
};

/* A file of the host or of the store. */
struct ward_review_key {
	uint64_t dev, ino, btime_ns;
};

LIST_HEAD(ward_review_names, ward_review_name);

struct ward_review_file {
	uint32_t number; /* the object's name */
	mode_t type;
	bool has_lower; /* the host has it */
	bool staged;	/* objects/number is there */
	bool hashed;	/* its object is known, if only by a descriptor (O_TMPFILE) */
	bool gone;	/* no name leads to it: the object has been removed */
	bool foreign;	/* owned by somebody else on the host: the object could not be given away */
	struct ward_review_key lower, object;
	struct ward_file_id id; /* what the session knows it by */
	size_t root;		/* of the host's path */
	char *path;		/* the host's, relative to the root; "" is the root itself */
	bool left;		/* that name leads elsewhere, or to nothing */
	struct ward_review_place *places;	/* further ones (review_places.c) */
	struct ward_review_file *unplaced_next; /* in unplaced */
	bool unplaced;
	int64_t nlink; /* of the session's: links; of the host's: how many more or less */
	uint64_t lower_nlink;
	uid_t uid;
	gid_t gid;
	/* The object has the time of change of the host's file, until it has another one than: */
	struct timespec copied_ctime, lower_ctime;
	struct ward_review_names names; /* of a directory: those that differ from the host's */
	size_t n_names;
	struct ward_review_file *lower_next, *object_next, *all_next;

	/* Steps (steps.h). */
	uint32_t born;	/* the last step when it was made: it is in none up to that */
	bool shared;	/* its object is a kept content, too: the same inode */
	bool loaded;	/* the session began with it */
	bool secret;	/* who made it counts for who sees it (struct ward_back_calls) */
	bool borrowed;	/* its object is another session's, too: never written to */
	bool no_object; /* it was removed, and no step has it */
	bool lingers;	/* gone, and its object is there for those alone who have it open */
	bool attrs;	/* a directory: the session has set attributes */
	/* This is no file, but the key that the object of this one had before a step back. */
	struct ward_review_file *alias;
	atomic_bool opened;	       /* to write, and listed among steps.writers */
	struct ward_review_kept *kept; /* newest first */

	/* Sizes (review_size.h): size.lock. */
	uint64_t bytes;	     /* counted for the object */
	uint64_t extra;	     /* of these: extended attributes */
	uint64_t keep_end;   /* space is kept up to here, 0: not beyond the end */
	uint64_t base_bytes; /* counted for what it had in it; rv->lock */
	struct ward_review_file *held_next;
	bool held, held_new;

	/* While a step back, or a list of changes, is made (steps_paths.c): */
	struct ward_review_name *at; /* some name that leads to it */
	bool changing;
	uint32_t seen_round;
	struct ward_review_path seen, before;
	int net; /* names of a directory that came, less those that went */
};

struct ward_review_name {
	struct ward_review_file *dir;
	struct ward_review_file *file; /* what it leads to; NULL: nothing */
	struct ward_review_file *was;  /* what it leads to on the host; NULL: nothing */
	struct ward_review_name *hash_next;
	LIST_ENTRY(ward_review_name) in_dir;
	uint8_t len;
	char text[];
};

struct ward_review_table {
	void **v;
	size_t n, mask;
};

struct ward_steps_one {
	struct ward_step_seen seen;
	size_t n_undo; /* names that had changed before */
};

/* What a name led to before it changed. */
struct ward_review_undo {
	struct ward_review_file *dir, *before, *was;
	char *name;
};

/* Locked as the rest, but for `writers`. */
struct ward_steps_all {
	int fd;		/* steps/; -1: there has been no step */
	uint32_t last;	/* of those that are not given up; 0: none */
	uint32_t given; /* the last number that a step has had */
	struct ward_steps_one *v[WARD_STEPS_MAX];
	size_t n;
	struct ward_review_undo *undo; /* since the first step */
	size_t n_undo, room_undo;
	uint64_t bytes;	  /* kept */
	uint64_t changes; /* since the last step */
	atomic_uint_fast64_t all;
	uint32_t round; /* of seen_round */
	struct ward_steps_news back;
	pthread_mutex_t writers_lock; /* the innermost */
	struct ward_review_file **writers;
	size_t n_writers, room_writers;
	bool writers_lost; /* some may be missing there */
	bool lingering;	   /* there may be objects that ward_steps_lingers() kept */
};

/* Files that share a lock: as many as threads could ever need, and more. */
#define WARD_SIZE_LOCKS 64U
struct ward_review_sizes {
	bool counts; /* there is a limit */
	struct ward_review_size_calls calls;
	pthread_mutex_t files[WARD_SIZE_LOCKS]; /* before ward_review.lock */
	pthread_mutex_t lock;			/* the innermost */
	struct ward_review_file *held;		/* without a name, and somebody may have it open */
	atomic_bool any_held, any_new;
};

struct ward_review {
	pthread_rwlock_t lock; /* protects what follows, but for the numbers */
	int store_fd, objects_fd, bases_fd, journal_fd;
	off_t journal_len;
	bool owes_end; /* `D` could not be written: before what is written next */
	uint64_t store_dev;
	size_t name_max;  /* of a name in any of the trees */
	uid_t uid_served; /* whom the process acts as: it may not ask while it serves */
	uint32_t next;	  /* the number of the next file */
	atomic_uint next_copy;
	struct {
		int fd;
		uint64_t dev;
		char *path; /* as the kernel names the descriptor */
		bool stages;
	} roots[WARD_TREES_MAX];
	size_t n_roots;
	struct ward_review_table lowers, objects, names;
	struct ward_review_file *all;
	struct ward_review_file *unplaced; /* see ward_review_unplaced() */
	atomic_bool any_unplaced;
	void (*on_staged)(void *user, const struct ward_file_id *id);
	void *user;
	struct ward_steps_all steps;
	struct ward_review_sizes size;
};

/* What open and change functions answer where the content of *ret_keep is to be kept first. */
#define WARD_REVIEW_KEEP 2

/* --- review_table.c: memory alone; the lock is held --- */
struct ward_review_key ward_review_key_of(const struct statx *stx);
struct ward_review_file *ward_review_by_key(
	const struct ward_review *rv, const struct ward_review_key *key);
struct ward_review_name *ward_review_find(
	const struct ward_review *rv, const struct ward_review_file *dir, const char *name);
/* A file that nothing leads to yet. NULL: no memory. */
struct ward_review_file *ward_review_file_new(struct ward_review *rv, mode_t type);
void ward_review_hash_lower(struct ward_review *rv, struct ward_review_file *f);
void ward_review_hash_object(struct ward_review *rv, struct ward_review_file *f);
/* f->object leads nowhere any more. */
void ward_review_unhash_object(struct ward_review *rv, struct ward_review_file *f);
struct ward_review_name *ward_review_name_new(
	struct ward_review *rv, struct ward_review_file *dir, const char *name);
void ward_review_name_free(struct ward_review *rv, struct ward_review_name *n);
void ward_review_object_name(const struct ward_review_file *f, char ret[WARD_REVIEW_NAME]);
/* "STEP/NUMBER", in steps/. */
#define WARD_STEPS_NAME 24U
void ward_steps_name(uint32_t step, const struct ward_review_file *f, char ret[WARD_STEPS_NAME]);

/* --- review_journal.c: lines of the journal (journal.h). Locked for writing. --- */
/* A file is known from now on; base: of the host's, as it was seen, NULL: the session made it. */
int ward_review_log_file(struct ward_review *rv, const struct ward_review_file *f,
	const struct statx *base) ward_must_check;
/* It has its object; base: what was copied. */
int ward_review_log_staged(struct ward_review *rv, const struct ward_review_file *f,
	const struct statx *base) ward_must_check;
/* Several names make one line: all of them, or none. */
void ward_review_put_name(struct ward_buf *line, const struct ward_review_file *dir,
	const char *name, const struct ward_review_file *file, const struct ward_review_file *was);
void ward_review_put_root(struct ward_buf *line, size_t i, const char *path);
int ward_review_log_place(struct ward_review *rv, const struct ward_review_file *f,
	const struct ward_review_place *p) ward_must_check;
int ward_review_write(struct ward_review *rv, struct ward_buf *line) ward_must_check;
/* So many bytes more can be written, whatever is left on the disk then. */
int ward_review_reserve(struct ward_review *rv, size_t bytes) ward_must_check;
void ward_review_put_staged(
	struct ward_buf *line, const struct ward_review_file *f, const struct statx *base);

/* --- review_size.c: nothing happens where there is no limit --- */
/* WARD_SIZE_FULL, which is no errno: it becomes one by _refuse(), or _say(). */
#define WARD_SIZE_FULL (-5000)
int ward_size_take(struct ward_review *rv, uint64_t bytes) ward_must_check;
void ward_size_give(struct ward_review *rv, uint64_t bytes);
/* What keeping the object of f would take, *ret, is taken. */
int ward_size_take_copy(
	struct ward_review *rv, const struct ward_review_file *f, uint64_t *ret) ward_must_check;
/* r was answered for f, or the file of fd: what the request gets. No lock is held. */
int ward_size_refuse(
	struct ward_review *rv, const struct ward_review_file *f, int r) ward_must_check;
int ward_size_refuse_fd(struct ward_review *rv, int fd, int r) ward_must_check;
/* The same of a step, in words: -EDQUOT. */
int ward_size_say(struct ward_review *rv, int r, const char *what, struct ward_err *err);
/* The object of f is another one, for which so much has been taken; of the one before, it is given
 * back. */
void ward_size_object(struct ward_review *rv, struct ward_review_file *f, uint64_t bytes);
/* What a file that nobody writes to counts. */
uint64_t ward_size_kept(const struct statx *stx);
/* f has no name, and somebody has it open: given back by ward_review_forgotten(). */
void ward_size_await(struct ward_review *rv, struct ward_review_file *f);
/* After that, and no lock is held. */
void ward_size_hold(struct ward_review *rv);
/* Before k's file `name` in steps/ goes. Locked for writing. */
void ward_size_drop_kept(struct ward_review *rv, struct ward_review_file *f,
	struct ward_review_kept *k, const char *name);
/* Some kept content that is the object of f; NULL: there is none. Locked. */
struct ward_review_kept *ward_size_shared(
	const struct ward_review *rv, const struct ward_review_file *f);

/* --- review_count.c: the same. Locked for writing. --- */
/* The object of f, which is still there, is about to lose its name. */
void ward_size_gone(struct ward_review *rv, struct ward_review_file *f);
/* No request is under way. */
void ward_size_recount(struct ward_review *rv);

/* --- review_lower.c: the host's files --- */
int ward_review_statx(int dirfd, const char *name, struct statx *ret) ward_must_check;
/* Is anything on this device staged? */
bool ward_review_covers(const struct ward_review *rv, const struct statx *stx);
/*
 * 0: it is in a tree whose changes are staged; WARD_REVIEW_LOWER: in one whose changes are not;
 * -ESTALE: it is in none, or nowhere.
 */
int ward_review_inside(const struct ward_review *rv, int fd) ward_must_check;
/* The path beneath its tree of name in fd, or of fd; *ret is the caller's. -ESTALE. */
int ward_review_host_path(const struct ward_review *rv, int fd, const char *name, size_t *ret_root,
	char **ret) ward_must_check;
/*
 * The file of the host at name in the directory fd (name NULL: fd itself), which stx is of. Known,
 * and in the journal, from now on. -ESTALE: it has no path any more. Locked for writing.
 */
int ward_review_declare(struct ward_review *rv, int fd, const char *name, const struct statx *stx,
	struct ward_review_file **ret) ward_must_check;
/* Opens the host's file, where the journal has it. -ESTALE: another one is there. */
int ward_review_open_lower(const struct ward_review *rv, const struct ward_review_file *f,
	int flags, int *ret_fd) ward_must_check;
/* Opens the file of an O_PATH descriptor. */
int ward_review_open_again(int fd, int flags, int *ret_fd) ward_must_check;

/* --- review_object.c --- */
struct timespec ward_review_time(const struct statx_timestamp *t);
/* size bytes with their holes. 1: to shares the blocks of from; 0: it has a copy. */
int ward_review_copy_content(int from, int to, off_t size) ward_must_check;
int ward_review_copy_xattrs(int from, int to) ward_must_check;
/* Owner, mode, times; to is O_PATH. */
int ward_review_copy_attributes(int to, const struct statx *st) ward_must_check;
int ward_review_open_object(const struct ward_review *rv, const struct ward_review_file *f,
	int flags, int *ret_fd) ward_must_check;
/*
 * Makes to_name in `to` what from_name in `from` is: content, attributes. *ret_bytes: those that
 * were copied; 0 where blocks are shared.
 */
int ward_review_clone(int from, const char *from_name, int to, const char *to_name,
	uint64_t *ret_bytes) ward_must_check;
/* Gives the file `name` in `at` the content and attributes of the open or O_PATH file `from`, in
 * place; of a directory, attributes alone, and its times are those of now. */
int ward_review_overwrite(int from, int at, const char *name) ward_must_check;

/* --- review_copy.c: objects --- */
/* The object is there: looked at, and in the journal. Locked for writing. */
int ward_review_placed(struct ward_review *rv, struct ward_review_file *f,
	const struct statx *base) ward_must_check;
/* Gives a directory its object, unless it has one; lower_fd: the host's. Locked for writing. */
int ward_review_stage_dir(
	struct ward_review *rv, struct ward_review_file *dir, int lower_fd) ward_must_check;
/* Stages the file of fd, which is not a directory. No lock is held. */
int ward_review_copy_up(struct ward_review *rv, int fd) ward_must_check;

/* --- review_content.c: no lock is held, but for ward_review_base_keep() --- */
/* Has nobody written to it in between? */
bool ward_review_same_times(const struct statx *a, const struct statx *b);
/* bases/ (journal.h): copies size bytes to a name for the moment. False: there is no copy. */
bool ward_review_base_begin(
	struct ward_review *rv, int from, off_t size, char ret[WARD_REVIEW_NAME]) ward_must_check;
/* It is what f had in it, from now on, unless that is known: then the answer is false. */
bool ward_review_base_keep(
	struct ward_review *rv, const struct ward_review_file *f, const char *begun);
void ward_review_base_drop(struct ward_review *rv, const char *begun);

/* --- steps_keep.c --- */
/* A name in dir is about to lead elsewhere: room to remember it. Locked for writing. */
int ward_steps_room(struct ward_review *rv) ward_must_check;
/* It does. name's bytes are copied by ward_steps_room()'s caller. */
void ward_steps_note(struct ward_review *rv, struct ward_review_file *dir, char *name,
	struct ward_review_file *before, struct ward_review_file *was);
/* Must the content, or of a directory the attributes, be kept before they change? Locked. */
bool ward_steps_needs(const struct ward_review *rv, const struct ward_review_file *f, bool attrs);
/* Keeps it. No lock is held. */
int ward_steps_keep(struct ward_review *rv, struct ward_review_file *f, bool attrs) ward_must_check;
/* The host's file was staged: it was not, at the last step. Locked for writing. */
void ward_steps_staged(struct ward_review *rv, struct ward_review_file *f);
/* f was opened to write. Locked for reading, at least. */
void ward_steps_opened(struct ward_review *rv, struct ward_review_file *f);
/* Looks at some that were, and forgets those that nobody has open to write any more. Locked for
 * writing. */
void ward_steps_trim(struct ward_review *rv);
/* No name leads to f: is its object what a step has? Locked. */
bool ward_steps_holds(const struct ward_review *rv, const struct ward_review_file *f);
/* Is f in some step, so that a step back may bring it back? Locked. */
bool ward_steps_may_return(const struct ward_review *rv, const struct ward_review_file *f);
/*
 * No name leads to f, and no step needs its object. Does it stay nevertheless? Who has it open has
 * that inode, perhaps in passthrough, and the kernel takes no second one for the same file. Locked
 * for writing.
 */
bool ward_steps_lingers(struct ward_review *rv, const struct ward_review_file *f);
/* What was kept of f at that step, or at the first one behind it; NULL: nothing, or f was not there
 * yet. */
struct ward_review_kept *ward_steps_kept_from(const struct ward_review_file *f, uint32_t step);
int ward_steps_add_kept(struct ward_review *rv, struct ward_review_file *f, uint32_t step,
	bool lower, uint64_t bytes) ward_must_check;
/* May somebody have it open? lease: F_RDLCK: to write; F_WRLCK: at all. Locked for writing. */
bool ward_steps_is_open(struct ward_review *rv, const struct ward_review_file *f, int lease);
/* The object of f is another inode: descriptors of the one before stand for f still. */
int ward_steps_known_anew(struct ward_review *rv, struct ward_review_file *f) ward_must_check;
/* It has none any more. */
void ward_steps_leave_alias(struct ward_review *rv, struct ward_review_file *f);
/* objects/N is no kept content any more. Locked for writing. */
int ward_steps_detach(
	struct ward_review *rv, struct ward_review_file *f, const char *copy) ward_must_check;

/* --- steps.c --- */
/* The last step is given up. */
int ward_steps_give_up_last(struct ward_review *rv) ward_must_check;
int ward_steps_mark_locked(struct ward_review *rv, const struct ward_step_asked *asked,
	size_t n_undo, uint32_t *ret_id, struct ward_err *err) ward_must_check;

/* --- steps_paths.c. Locked for writing. --- */
/* Finds out where everything is: before ward_steps_path(). -ENOMEM. */
struct ward_steps_moved;
int ward_steps_paths_begin(struct ward_review *rv, struct ward_steps_moved **ret) ward_must_check;
/* f's path as the session sees it, or NULL; borrowed until the end. -ENOMEM. */
int ward_steps_path(struct ward_review *rv, struct ward_steps_moved *m, struct ward_review_file *f,
	const struct ward_review_path **ret) ward_must_check;
void ward_steps_paths_end(struct ward_review *rv, struct ward_steps_moved *m);
/* Goes on with the places of now; f->before stays. *m is another one. -ENOMEM. */
int ward_steps_paths_again(struct ward_review *rv, struct ward_steps_moved **io_m) ward_must_check;

/* --- steps_content.c. Locked for writing. --- */
/*
 * What takes room and can fail, before the journal says that the step back is done: what f has now
 * is kept, where its object is to be written over. Adds the bytes that writing takes. f, k, before
 * as of ward_steps_restore().
 */
int ward_steps_prepare(struct ward_review *rv, struct ward_review_file *f,
	const struct ward_review_kept *k, uint32_t before, uint64_t *io_bytes) ward_must_check;
/* f's content becomes what was kept, k. before: the step for what it has now. Where the host's file
 * was copied once more, `S` is appended to line. */
int ward_steps_restore(struct ward_review *rv, struct ward_review_file *f,
	const struct ward_review_kept *k, uint32_t before, struct ward_buf *line) ward_must_check;
/* That failed: the object stays what it is, and an `S` that says so is appended to line. */
void ward_steps_left(struct ward_review *rv, struct ward_review_file *f,
	const struct ward_review_kept *k, uint32_t before, struct ward_buf *line);

/* --- review_look.c: what stands at a name. Locked. --- */
struct ward_review_at {
	struct ward_review_file *dir;	/* NULL: nothing of it is known */
	struct ward_review_name *entry; /* NULL: what the host has there counts */
	struct ward_review_file *file;	/* NULL: the host's, unknown; or nothing */
	bool there;
	struct statx dir_stx;
	struct statx lower; /* what the host has there, if there is no entry */
};
/* 0 whether or not it is there; WARD_REVIEW_LOWER: not in a tree of the session's. */
int ward_review_look(struct ward_review *rv, int dirfd, const char *name,
	struct ward_review_at *ret) ward_must_check;
/* The type bits of what is there. */
mode_t ward_review_type_at(const struct ward_review_at *at);
/* All entries of the directory fd (open to read), see ward_review_list(). */
int ward_review_list_locked(
	struct ward_review *rv, int fd, struct ward_review_entries *ret) ward_must_check;
/* What is there, as far as it is known, with what the session is to see. */
void ward_review_adjust(struct ward_review *rv, const struct ward_review_file *f, bool is_object,
	struct ward_file *file);
/* A descriptor of what is there: O_PATH, or to read; to write, the host's as a test. */
int ward_review_open_at(struct ward_review *rv, int dirfd, const char *name,
	const struct ward_review_at *at, int flags, int *ret_fd) ward_must_check;

/* --- review_places.c: where the host has a file. Locked for writing. --- */
/* A name in dir, where the host has `was`, is about to lead elsewhere (left), or there again. */
void ward_review_place_leaves(struct ward_review *rv, const struct ward_review_file *dir,
	const char *name, struct ward_review_file *was, bool left);
/* A further one. path: taken, also by an error. */
int ward_review_place_add(struct ward_review *rv, struct ward_review_file *f, size_t root,
	char *path, bool log) ward_must_check;
/* One that the session sees there, perhaps beneath a directory that it moved; NULL: none that is
 * known. Locked. */
const char *ward_review_place(const struct ward_review_file *f, size_t *ret_root);
/* Is name in dirfd, which was looked at, a place of a file that has no other one? Locked. */
bool ward_review_is_wanted(const struct ward_review_at *at);
/* Then it is one of its places from now on. No lock is held. */
int ward_review_place_found(struct ward_review *rv, int dirfd, const char *name) ward_must_check;

/* --- review_names.c --- */
/* A new file (O_CREAT with O_EXCL), or one without a name (O_TMPFILE). Takes the lock. */
int ward_review_create(struct ward_review *rv, int dirfd, const char *name, int flags, mode_t mode,
	int *ret_fd) ward_must_check;
