/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repositories that a search for guards found, now or at an earlier start. A session may move HEAD,
 * objects or refs: git needs that. What is left then looks like no repository, and the next search
 * would guard nothing there. So what was found once is guarded until nothing stands at its path.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/*
 * Of one tree. A session can make any number of git directories. So a tree with more is guarded at
 * every depth (WARD_KNOWN_EVERY), and those beyond are not listed one by one.
 */
#define WARD_KNOWN_MAX 4096U

enum ward_known_class {
	WARD_KNOWN_NONE = 0,
	WARD_KNOWN_GIT,	 /* lines of class "git" of conf/host-executed.list */
	WARD_KNOWN_BARE, /* lines of class "bare" */
	/* Both, at this path and in every directory beneath: there were too many. */
	WARD_KNOWN_EVERY,
};

struct ward_known_repo {
	char *path;    /* absolute, on the host; owned */
	uint32_t hash; /* of path: most comparisons end here */
	enum ward_known_class class;
	bool before; /* an earlier start found it */
	bool now;    /* this search found it, too */
	bool gone;   /* nothing stands there any more */
};

/* A tree that was searched. */
struct ward_known_tree {
	char *path;    /* absolute, on the host; owned */
	char *stopped; /* the first directory that was not searched, absolute; NULL: all were */
};

struct ward_known {
	struct ward_known_repo *v; /* in no order */
	size_t n, cap;
	struct ward_known_tree *trees;
	size_t n_trees;
	/* Directories beneath a tree that this search found with a `.git` or a `.wardfs.policy`,
	 * absolute, on the host; each owned. WARD_KNOWN_MAX at most, nearest to the top first. */
	char **marked;
	size_t n_marked;
};
#define WARD_KNOWN_INIT ((struct ward_known){0})
void ward_known_clear(struct ward_known *k);

/* A repository of an earlier start. What is there already stays as it is. -ENOMEM. */
int ward_known_remember(
	struct ward_known *k, const char *path, enum ward_known_class class) ward_must_check;
bool ward_known_has(const struct ward_known *k, const char *path, enum ward_known_class class);
/* The repository dir/rel was found ("" for dir itself). -ENOMEM. */
int ward_known_found(struct ward_known *k, const char *dir, const char *rel,
	enum ward_known_class class) ward_must_check;
/* The same, where there is no room for another: it is marked if it is remembered. -ENOMEM. */
int ward_known_seen(struct ward_known *k, const char *dir, const char *rel,
	enum ward_known_class class) ward_must_check;
/* There is a `.git` or a `.wardfs.policy` in the directory dir/rel. -ENOMEM. */
int ward_known_marked(struct ward_known *k, const char *dir, const char *rel) ward_must_check;
/* A tree was searched; stopped as in ward_known_tree, relative to it. -ENOMEM. */
int ward_known_searched(
	struct ward_known *k, const char *path, const char *stopped) ward_must_check;

/* The part of an absolute path beneath another, "" for the same; NULL: it is not beneath. */
const char *ward_known_beneath(const char *path, const char *dir);
