/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the staged layer share. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#include "enforcer/base/buf.h"
#include "enforcer/ipc/helper.h"
#include "fs/review/review.h"

#define WARD_REVIEW_MASK (STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID)
#define WARD_REVIEW_NAME 16U /* of an object: a number, and NUL */

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
	int64_t nlink;		/* of the session's: links; of the host's: how many more or less */
	uint64_t lower_nlink;
	uid_t uid;
	gid_t gid;
	/* The object has the time of change of the host's file, until it has another one than: */
	struct timespec copied_ctime, lower_ctime;
	struct ward_review_names names; /* of a directory: those that differ from the host's */
	size_t n_names;
	struct ward_review_file *lower_next, *object_next, *all_next;
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

struct ward_review {
	pthread_rwlock_t lock; /* protects what follows, but for the numbers */
	int store_fd, objects_fd, journal_fd;
	off_t journal_len;
	uint64_t store_dev;
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
	void (*on_staged)(void *user, const struct ward_file_id *id);
	void *user;
};

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
struct ward_review_name *ward_review_name_new(
	struct ward_review *rv, struct ward_review_file *dir, const char *name);
void ward_review_name_free(struct ward_review *rv, struct ward_review_name *n);
void ward_review_object_name(const struct ward_review_file *f, char ret[WARD_REVIEW_NAME]);

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
int ward_review_write(struct ward_review *rv, struct ward_buf *line) ward_must_check;

/* --- review_lower.c: the host's files --- */
int ward_review_statx(int dirfd, const char *name, struct statx *ret) ward_must_check;
/* Is anything on this device staged? */
bool ward_review_covers(const struct ward_review *rv, const struct statx *stx);
/*
 * 0: it is in a tree whose changes are staged; WARD_REVIEW_LOWER: in one whose changes are not;
 * -ESTALE: it is in none, or nowhere.
 */
int ward_review_inside(const struct ward_review *rv, int fd) ward_must_check;
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

/* --- review_copy.c: objects --- */
int ward_review_open_object(const struct ward_review *rv, const struct ward_review_file *f,
	int flags, int *ret_fd) ward_must_check;
/* The object is there: looked at, and in the journal. Locked for writing. */
int ward_review_placed(struct ward_review *rv, struct ward_review_file *f,
	const struct statx *base) ward_must_check;
/* Gives a directory its object, unless it has one; lower_fd: the host's. Locked for writing. */
int ward_review_stage_dir(
	struct ward_review *rv, struct ward_review_file *dir, int lower_fd) ward_must_check;
/* Stages the file of fd, which is not a directory. No lock is held. */
int ward_review_copy_up(struct ward_review *rv, int fd) ward_must_check;

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

/* --- review_names.c --- */
/* A new file (O_CREAT with O_EXCL), or one without a name (O_TMPFILE). Takes the lock. */
int ward_review_create(struct ward_review *rv, int dirfd, const char *name, int flags, mode_t mode,
	int *ret_fd) ward_must_check;
