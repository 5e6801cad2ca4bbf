/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where requests ask the policy (why_attribute.c alone calls ward_policy_decide() too, to tell),
 * and where every refusal enters the trail. Each function returns 0 where the policy allows, else
 * the negative errno to answer with; -EIO when the record could not be kept. *ret (it may be NULL)
 * is what allowed it: the rule, for the record of what is then done, and in `granted` all rights of
 * the path. Its rule lives as long as the request's turn.
 */
#pragma once

#include <errno.h>

#include "fs/request/op.h"

/*
 * Where op->may_wait: a person is asked (questions.h), nothing is refused and nothing recorded yet.
 * The request waits, and asks again.
 */
#define WARD_GATE_WAITS (-ERESTART)

/*
 * Access to what stands at node. Tries `rights`, and if the policy does not give these, `alt` (0:
 * nothing else will do). nlink: links of the file as just seen, 0: not known; where there are more
 * links than names known here, [tree] hardlinks is the ceiling.
 */
int ward_gate_node(struct ward_op *op, struct ward_node *node, uint32_t rights, uint32_t alt,
	uint64_t nlink, struct ward_decision *ret) ward_must_check;

/*
 * The same of what was just opened there, at fd: under a rule of `secret` the file itself decides,
 * whatever the name stood for a moment ago.
 */
int ward_gate_opened(struct ward_op *op, struct ward_node *node, uint32_t rights, uint32_t alt,
	uint64_t nlink, int fd, struct ward_decision *ret) ward_must_check;
/* Is this what was known of node when it was asked for last, under such a rule? */
bool ward_gate_secret(const struct ward_node *node, enum ward_fact fact);
/* The session changes the file of node, which is at fd: it is its own from now on. */
int ward_gate_own(struct ward_op *op, struct ward_node *node, int fd) ward_must_check;
/*
 * The session has put the file of fd at name in parent; name NULL: without a name in parent. Where
 * a rule of `secret` covers that, it is remembered. node: its node, or NULL. -ENOMEM, -ENFILE: the
 * file is there and hidden.
 */
int ward_gate_made(struct ward_op *op, struct ward_node *parent, const char *name, int fd,
	struct ward_node *node) ward_must_check;

/*
 * All rights of node under the policy in force, for what is open already. Locked (nodes->lock). 0
 * where they are unknown.
 */
uint32_t ward_gate_rights(struct ward_fs_tree *tree, struct ward_node *node);

/* The same with what grants give, for what was opened under one. */
uint32_t ward_gate_rights_granted(struct ward_fs_tree *tree, struct ward_node *node, uint32_t pid);

/*
 * Where the backing takes several spellings for one name: -EACCES for a name that may be another
 * spelling of what a rule is on, whether it exists or not. Asked before a look; the functions below
 * ask by themselves.
 */
int ward_gate_spelling(
	struct ward_op *op, struct ward_node *parent, const char *name) ward_must_check;

/*
 * A name below parent: CREATE (then rights, or else alt, on it) or REMOVE. type: its S_IF… bits.
 */
int ward_gate_name(struct ward_op *op, struct ward_node *parent, const char *name,
	enum ward_action action, uint32_t rights, uint32_t alt, mode_t type,
	struct ward_decision *ret) ward_must_check;

/* A file without a name in directory parent (O_TMPFILE): CREATE and rights, by parent's own state.
 */
int ward_gate_unnamed(struct ward_op *op, struct ward_node *parent, uint32_t rights,
	struct ward_decision *ret) ward_must_check;

/*
 * RENAME of name to name2; flags: set of ward_request_flag; fds: of both parents, and of both files
 * where a rule of `secret` covers one (-1: not there). Where the rules leave open what a directory
 * would gain, what exists beneath it is looked at. Here and for LINK: renames_lock is held for
 * writing, and what is open for writing where the new name takes that right is -EXDEV.
 */
int ward_gate_rename(struct ward_op *op, struct ward_node *parent, const char *name,
	struct ward_node *parent2, const char *name2, const int fds[4], uint32_t flags,
	struct ward_decision *ret) ward_must_check;
/*
 * Before either, without any lock: waits for ends of handles that are late, so that it does not
 * refuse for what is closed (writers.h). name NULL: of node itself.
 */
void ward_gate_settle(struct ward_op *op, struct ward_node *node, const char *name,
	struct ward_node *parent2, const char *name2);
/* LINK: a further name for node; file: as just seen; fds: of the file, and of parent2. */
int ward_gate_link(struct ward_op *op, struct ward_node *node, const struct ward_file *file,
	const int fds[2], struct ward_node *parent2, const char *name2,
	struct ward_decision *ret) ward_must_check;

/* In place of the descriptor of a directory: as if nothing were at the name. */
#define WARD_GATE_ABSENT (-2)
/*
 * LOOKUP of a name, whether something is there or not: 0, or -ENOENT with a record where it is
 * hidden; -EACCES beneath another tree's place. is_dir: a directory is there. dirfd: of parent, -1
 * where it cannot be obtained: whatever may be a secret is one then. file: what was seen there, or
 * NULL.
 */
int ward_gate_lookup(struct ward_op *op, struct ward_node *parent, const char *name, bool is_dir,
	int dirfd, const struct ward_file *file) ward_must_check;
/* The same for an entry of a listing, without a record: 1 visible, 2 by a grant alone, 0 not. */
int ward_gate_visible(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	bool is_dir, int dirfd) ward_must_check;

/*
 * May the agent read (a directory: list) name below node, or node itself if that is NULL? Without a
 * record: it did not ask.
 */
bool ward_gate_readable(
	struct ward_fs_tree *tree, struct ward_node *node, const char *name, bool is_dir);

/*
 * The mode that a new or changed file is to have, all of its bits; now: those that it has, with its
 * type (0: it is new, and no directory). Setuid
 * and setgid files of the agent's would run on the host as the owner: -EPERM, unless every caller
 * acts with its own ids. name NULL: node itself; else a name below it.
 */
int ward_gate_mode(struct ward_op *op, struct ward_node *node, const char *name, mode_t mode,
	mode_t now) ward_must_check;

/* A refusal for another reason than the policy (another file system is mounted there): recorded
 * like one of the policy. */
int ward_gate_refuse(struct ward_op *op, struct ward_node *parent, const char *name, int error,
	const char *text) ward_must_check;
