/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the names that a session leaves in the tree and that can harm this host later. These are
 * files that this host may execute (conf/host-executed.list), named pipes, sockets, devices, and
 * symbolic links that lead out of the tree or to a file that the command could not write. A program
 * outside that opens such a name waits, or reads and writes another file. (Hard links need no look:
 * the guard gives no name more rights than the file has.)
 *
 * Before the command starts, wardfs notes each name in the tree that the list contains, with a
 * keyed digest. The digest covers inode, mode, owner, size, time of change, the target of a link,
 * and the content of a small file. It covers the same for everything beneath a directory and behind
 * a link, but behind a link not the content of a single file. At the end wardfs looks again. A name
 * counts as new if it did not exist, if its digest differs, or if its st_ctime is after the start.
 * No system call sets st_ctime, so wardfs also names files that were set back, and files that came
 * with a directory that was moved.
 *
 * If the first look reached a bound, wardfs judges what it did not see by st_ctime alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* Bounds of each look; what lies past those of the last is said, not passed over. */
#define WARD_EXECUTED_DEPTH_MAX 48U
#define WARD_EXECUTED_ENTRIES_MAX 1000000U
/* Of those outside of the tree, where links lead: all together. */
#define WARD_EXECUTED_OUTSIDE_MAX 4096
/* Of the last look; of the first, for which the command waits. */
#define WARD_EXECUTED_TIME_NS 3000000000ULL
#define WARD_EXECUTED_START_NS 500000000ULL
#define WARD_EXECUTED_FOUND_MAX 512U
/* Things taken down by one look; and links, pipes and the like besides. */
#define WARD_EXECUTED_ITEMS_MAX 65536U
#define WARD_LEFT_ITEMS_MAX 65536U
/* Files up to this size are read, of all together this much; of others their st_ctime tells. */
#define WARD_EXECUTED_READ_MAX (64U << 10)
#define WARD_EXECUTED_READ_ALL_MAX (64U << 20)

/* Something that is no file of the tree. */
enum ward_left_kind {
	WARD_LEFT_NONE = 0,
	WARD_LEFT_PIPE,
	WARD_LEFT_SOCKET,
	WARD_LEFT_DEVICE,
	WARD_LEFT_OUT,	  /* a symbolic link that leads out of the tree */
	WARD_LEFT_CLOSED, /* one to what the command could not write */
};
struct ward_left {
	enum ward_left_kind kind;
	char *path; /* owned; relative to the tree */
	char *to;   /* owned; what a link says, else NULL */
};

/* May the command write what stands at path (relative to the tree, not empty)? */
typedef bool ward_executed_may_fn(void *arg, const char *path);

/* Does the list name path (relative to a tree), or a directory that it lies in? Also without
 * memory.
 */
bool ward_executed_named(const char *path);
/*
 * A directory stands at path (relative to a tree) with what it had elsewhere: does the list name
 * something in it because of that path? has: is there something at this path beneath the directory
 * ("." is itself)? NULL: could there be? True also without memory.
 */
bool ward_executed_beneath(const char *path, ward_executed_may_fn *has, void *arg);
/*
 * How many bytes at the end of path matter to ward_executed_beneath(), and to what the list says of
 * names beneath path: its last names are the first ones of some line's. 0: none, or no memory.
 */
size_t ward_executed_tail(const char *path);

/* What was there before the command started. */
struct ward_executed_before;

struct ward_executed {
	char **paths; /* owned; relative to the tree; in the order of ward_executed_take() */
	size_t n;
	struct ward_left *left; /* owned; the same order; WARD_EXECUTED_FOUND_MAX at most */
	size_t n_left;
	size_t left_more; /* that are not named; some may have existed before */
	bool whole;	  /* of paths; false: a bound was met, or a directory could not be read */
};

/*
 * Looks through the tree (O_PATH directory, borrowed; other mounts beneath are not entered) before
 * the command starts, for at most time_ns. Directories and the small files among what the list
 * names are opened, by descriptor and without following links but those of the list's names.
 * -ENOMEM, -errno of the tree itself.
 */
int ward_executed_look(
	int tree, uint64_t time_ns, struct ward_executed_before **ret) ward_must_check;
void ward_executed_before_free(struct ward_executed_before *b);

/* Looks once more and tells what is new or changed. Errors as above. */
int ward_executed_find(int tree, uint64_t time_ns, const struct ward_executed_before *before,
	ward_executed_may_fn *may_write, void *arg, struct ward_executed *ret) ward_must_check;
/*
 * Adds what was found in another tree, whose paths get its own (absolute, on the host) in front;
 * what does not fit is left out, and all is not whole then. -ENOMEM.
 */
int ward_executed_add(struct ward_executed *all, const char *tree,
	const struct ward_executed *other) ward_must_check;
void ward_executed_clear(struct ward_executed *e);

/* What is new of a tree. */
struct ward_executed_new {
	const char *path;	  /* borrowed */
	const char *to;		  /* borrowed; what a link says, else NULL */
	bool git;		  /* a git directory, which may have any name */
	enum ward_left_kind left; /* for ward_executed_take_left() */
	unsigned depth;		  /* filled in, as is the next */
	size_t turn;
};
/*
 * Takes WARD_EXECUTED_FOUND_MAX of them: of each kind one, then of each kind a second one, and so
 * on; of a kind what lies near the top first, then the shortest paths. So nobody hides what is of
 * one kind behind many of another. The array is put into that order. -ENOMEM.
 */
int ward_executed_take(
	struct ward_executed *found, struct ward_executed_new *new, size_t n) ward_must_check;
/* The same for names that are no files of the tree. */
int ward_executed_take_left(
	struct ward_executed *found, struct ward_executed_new *new, size_t n) ward_must_check;

/* A look's tree, and what it is looked through for (executed_links.c). */
struct ward_links {
	int tree;	   /* O_PATH, borrowed */
	char root[4096];   /* its path on this host; "": not known */
	uint64_t since_ns; /* st_ctime from which a link is new; UINT64_MAX: none is */
	ward_executed_may_fn *may_write; /* NULL: not asked */
	void *arg;
};
void ward_links_init(struct ward_links *l, int tree);
/* The link at path (relative to the tree) that says `to`: does its text lead out of the tree? */
bool ward_links_leave(const struct ward_links *l, const char *path, const char *to);
/*
 * What the link at path (relative to the tree) leads to, O_PATH, in the tree or at least on its
 * mount: another file system may never answer. The caller's, or a negative errno; -EXDEV: it leads
 * further. *ret_out: it lies outside of the tree.
 */
int ward_links_open(const struct ward_links *l, const char *path, bool *ret_out);
/* The same and more, as the kernel follows it: NONE, OUT or CLOSED. */
enum ward_left_kind ward_links_judge(const struct ward_links *l, const char *path, const char *to);
/*
 * Of a link that was there before the session: NONE unless it leads out, or to what is closed, by
 * way of a link or a directory that the session made or moved. *ret_ns: when, at the latest.
 */
enum ward_left_kind ward_links_judge_again(
	const struct ward_links *l, const char *path, const char *to, uint64_t *ret_ns);
