/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy for each request, and records refusals. */
#include "fs/gate/gate.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "enforcer/ipc/helper.h"
#include "fs/gate/contain_walk.h"
#include "fs/gate/granted.h"
#include "fs/gate/spelling.h"
#include "fs/handle/writers.h"
#include "fs/node/node_grants.h"
#include "fs/request/fs_records.h"
#include "fs/request/questions.h"
#include "fs/resolve/links_known.h"
#include "fs/resolve/resolve_node.h"
#include "fs/resolve/secret_facts.h"
#include "fs/resolve/trees_beneath.h"

/* What an unknown further link leaves of a file's content ([tree] hardlinks). */
#define CEILING_DENY (WARD_RIGHT_STAT | WARD_RIGHT_REMOVE | WARD_RIGHT_CREATE)
#define CEILING_READ (CEILING_DENY | WARD_RIGHT_LIST | WARD_RIGHT_READ | WARD_RIGHT_EXEC)

static const char beneath_text[] = "another tree lies there, or beneath it";

static const char elsewhere_text[] = "another tree serves what is there, under other rules";

static const char link_text[] = "a symbolic link there would lead past the rule";

/* A refusal: recorded, and turned into what the system call answers. flags: of the request. */
static int refuse(struct ward_op *op, const struct ward_record_paths *paths, uint32_t asked,
	const struct ward_decision *d, uint32_t flags)
{
	const bool beneath =
		flags & WARD_REQUEST_COVERED || (flags & WARD_REQUEST_LEADS && d->error == EBUSY);
	int r;

	op->question = 0;
	if (d->verdict == WARD_VERDICT_ASK &&
		ward_question_put(op, paths, asked, d, paths->name ? NULL : &paths->node->id))
		return WARD_GATE_WAITS;
	r = ward_record_deny(op, paths, asked, d,
		beneath				 ? beneath_text
		: flags & WARD_REQUEST_ELSEWHERE ? elsewhere_text
		: d->link			 ? link_text
						 : NULL);

	if (r < 0)
		return r;
	return d->error > 0 ? -d->error : -EACCES;
}

static uint32_t staged(const struct ward_fs_tree *tree)
{
	return tree->stages ? WARD_REQUEST_STAGED : 0;
}

/* Asks for req's rights, then for alt; *d is what decided. */
static bool allowed(const struct ward_policy *policy, struct ward_request *req, uint32_t alt,
	struct ward_decision *d)
{
	struct ward_decision second;

	*d = ward_policy_decide(policy, req, NULL);
	if (d->verdict == WARD_VERDICT_ALLOW)
		return true;
	if (!alt)
		return false;
	req->rights = alt;
	second = ward_policy_decide(policy, req, NULL);
	if (second.verdict != WARD_VERDICT_ALLOW)
		return false; /* the record names what was asked first */
	*d = second;
	return true;
}

/* What links that nobody here knows leave; 0: everything. */
static uint32_t unknown_leave(const struct ward_fs_tree *tree)
{
	switch (tree->hardlinks) {
	case WARD_HARDLINKS_DENY:
		return CEILING_DENY;
	case WARD_HARDLINKS_READ:
		return CEILING_READ;
	case WARD_HARDLINKS_ALLOW:
		return 0;
	}
	return CEILING_DENY;
}

static uint32_t ceiling(const struct ward_fs_tree *tree, const struct ward_node *node,
	const struct ward_states *states, uint64_t nlink)
{
	/* Ghosts: what is left of a file without a name is for those who had it open. */
	return node->dir || nlink <= states->n_names ? 0 : unknown_leave(tree);
}

/*
 * A name that others removed a moment ago would stand for a link that is not known here: where all
 * are known, and it matters, the names are looked at.
 */
static uint32_t sure_ceiling(struct ward_fs_tree *tree, struct ward_node *node,
	const struct ward_states *states, uint64_t nlink, uint32_t asked)
{
	const uint32_t least = unknown_leave(tree);

	if (node->dir || nlink <= 1 || nlink > states->n_names || !least || !(asked & ~least))
		return ceiling(tree, node, states, nlink);
	return ward_links_known(tree, node, nlink, states->n_names) ? 0 : least;
}

static bool any_secret(const struct ward_states *states)
{
	for (size_t i = 0; i < states->n; i++)
		if (ward_policy_secret(states->v[i]))
			return true;
	return false;
}

/* What is known of the node's file, where that counts. fd: of it, -1: none is at hand. */
static int find_fact(struct ward_fs_tree *tree, struct ward_node *node,
	const struct ward_states *states, int fd, enum ward_fact *ret)
{
	struct ward_fdref ref = {.fd = -1};
	struct ward_file file;
	int r = 0;

	*ret = WARD_FACT_THERE;
	if (!any_secret(states)) {
		atomic_store(&node->fact, 0);
		return 0;
	}
	if (fd < 0)
		r = ward_resolve_fd(tree, node, &ref);
	if (r == 0)
		r = ward_backing_fstat(fd < 0 ? ref.fd : fd, &file);
	if (r == 0) {
		*ret = ward_secret_fact(tree, fd < 0 ? ref.fd : fd, &file, node, NULL);
		atomic_store(&node->fact, (uint8_t)(1 + *ret));
	}
	ward_fdref_put(tree, &ref);
	return r;
}

bool ward_gate_secret(const struct ward_node *node, enum ward_fact fact)
{
	return atomic_load(&node->fact) == 1 + fact;
}

static int gate_node(struct ward_op *op, struct ward_node *node, uint32_t rights, uint32_t alt,
	uint64_t nlink, int fd, struct ward_decision *ret)
{
	struct ward_fs_tree *tree = op->tree;
	const struct ward_record_paths paths = {.node = node};
	struct ward_states states;
	struct ward_decision d;
	struct ward_request req;
	enum ward_fact fact;
	int r = ward_node_states(tree->nodes, node, &states);

	if (r < 0)
		return r == -EMLINK ? -EACCES : r;
	r = find_fact(tree, node, &states, fd, &fact);
	if (r < 0) {
		ward_states_put(tree->nodes, &states);
		return r;
	}
	req = (struct ward_request){
		.action = WARD_ACTION_ACCESS,
		.rights = rights,
		.flags = (node->dir ? WARD_REQUEST_DIR : 0) | staged(tree) |
			 ward_beneath_flags(tree, node, NULL),
		.state = states.v[0],
		.others = states.v + 1,
		.n_others = states.n - 1,
		.ceiling = sure_ceiling(tree, node, &states, nlink, rights | alt),
		.fact = fact,
	};
	if (!allowed(tree->fs->policy, &req, alt, &d) && ward_grants_any(tree->fs->grants))
		r = ward_granted_node(
			op, node, req, &(const struct ward_granted_ask){&paths, rights, alt}, &d);
	if (r >= 0 && d.verdict != WARD_VERDICT_ALLOW)
		r = refuse(op, &paths, rights, &d, req.flags);
	else if (r >= 0)
		r = 0;
	if (r == 0 && ret)
		*ret = d;
	ward_states_put(tree->nodes, &states);
	return r;
}

int ward_gate_node(struct ward_op *op, struct ward_node *node, uint32_t rights, uint32_t alt,
	uint64_t nlink, struct ward_decision *ret)
{
	return gate_node(op, node, rights, alt, nlink, -1, ret);
}

int ward_gate_opened(struct ward_op *op, struct ward_node *node, uint32_t rights, uint32_t alt,
	uint64_t nlink, int fd, struct ward_decision *ret)
{
	return gate_node(op, node, rights, alt, nlink, fd, ret);
}

int ward_gate_own(struct ward_op *op, struct ward_node *node, int fd)
{
	int r = ward_secret_own(op->tree, fd);

	if (r == 0)
		atomic_store(&node->fact, 1 + WARD_FACT_OWN);
	return r;
}

int ward_gate_made(struct ward_op *op, struct ward_node *parent, const char *name, int fd,
	struct ward_node *node)
{
	const struct ward_state *state = NULL;
	int r = name ? ward_node_child_state(op->tree->nodes, parent, name, &state) : 0;
	struct ward_states states = {.n = 0};

	if (!name)
		r = ward_node_states(op->tree->nodes, parent, &states);
	if (r == 0 && ward_policy_secret(name ? state : states.v[0]))
		r = node ? ward_gate_own(op, node, fd) : ward_secret_own(op->tree, fd);
	ward_policy_state_put(op->tree->fs->policy, state);
	ward_states_put(op->tree->nodes, &states);
	return r;
}

uint32_t ward_gate_rights_granted(struct ward_fs_tree *tree, struct ward_node *node, uint32_t pid)
{
	struct ward_node_grants g;
	uint32_t rights = WARD_RIGHTS_ALL;
	int r = ward_node_grants_locked(tree->nodes, node, pid, &g);

	for (size_t i = 0; r == 0 && i < g.n; i++)
		rights &= ward_policy_rights_held(tree->fs->policy, g.states[i], &g.grants[i]);
	ward_node_grants_put(tree->nodes, &g);
	return r < 0 ? 0 : rights;
}

uint32_t ward_gate_rights(struct ward_fs_tree *tree, struct ward_node *node)
{
	const uint8_t fact = atomic_load(&node->fact);
	struct ward_states states;
	struct ward_decision d;

	if (ward_node_states_locked(tree->nodes, node, &states) < 0)
		return 0;
	d = ward_policy_decide(tree->fs->policy,
		&(const struct ward_request){
			.action = WARD_ACTION_ACCESS,
			.rights = WARD_RIGHT_STAT,
			.flags = (node->dir ? WARD_REQUEST_DIR : 0) | staged(tree) |
				 ward_beneath_flags_locked(tree, node, NULL),
			.state = states.v[0],
			.others = states.v + 1,
			.n_others = states.n - 1,
			.ceiling = ceiling(tree, node, &states, node->nlink),
			.fact = fact ? (enum ward_fact)(fact - 1) : WARD_FACT_THERE,
		},
		NULL);
	ward_states_put(tree->nodes, &states);
	return d.granted;
}

int ward_gate_refuse(
	struct ward_op *op, struct ward_node *parent, const char *name, int error, const char *text)
{
	const struct ward_record_paths paths = {.node = parent, .name = name};
	const struct ward_decision d = {.verdict = WARD_VERDICT_DENY, .error = error};
	int r = ward_record_deny(op, &paths, WARD_RIGHT_STAT, &d, text);

	return r < 0 ? r : -error;
}

int ward_gate_spelling(struct ward_op *op, struct ward_node *parent, const char *name)
{
	const char *why = op->tree->folds ? ward_spelling_wrong(op->tree, parent, name) : NULL;

	return why ? ward_gate_refuse(op, parent, name, EACCES, why) : 0;
}

/* Of a name in parent. No lock is held. */
static int fact_in(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	const struct ward_state *state, enum ward_fact *ret)
{
	struct ward_dirref dir;
	int r;

	*ret = WARD_FACT_THERE;
	if (!ward_policy_secret(state))
		return 0;
	r = ward_resolve_dir(tree, parent, &dir);
	if (r < 0)
		return r;
	*ret = ward_secret_fact_at(tree, dir.fd, parent, name, NULL);
	ward_dirref_put(tree, &dir);
	return 0;
}

/* The same where the descriptor of parent is at hand. */
static enum ward_fact fact_at(struct ward_fs_tree *tree, int dirfd, struct ward_node *parent,
	const char *name, const struct ward_state *state, const struct ward_file *expect)
{
	return ward_policy_secret(state) ? ward_secret_fact_at(tree, dirfd, parent, name, expect)
					 : WARD_FACT_THERE;
}

/* Of a file that is held at a name; fd -1: none is. */
static enum ward_fact fact_of(struct ward_fs_tree *tree, int fd, struct ward_node *parent,
	const char *name, const struct ward_state *state, enum ward_fact none)
{
	struct ward_file file;

	if (!ward_policy_secret(state))
		return WARD_FACT_THERE;
	if (fd < 0)
		return none;
	return ward_backing_fstat(fd, &file) < 0 ? WARD_FACT_THERE
						 : ward_secret_fact(tree, fd, &file, parent, name);
}

int ward_gate_name(struct ward_op *op, struct ward_node *parent, const char *name,
	enum ward_action action, uint32_t rights, uint32_t alt, mode_t type,
	struct ward_decision *ret)
{
	struct ward_fs_tree *tree = op->tree;
	const struct ward_record_paths paths = {.node = parent, .name = name};
	const struct ward_state *state;
	struct ward_decision d;
	struct ward_request req;
	enum ward_fact fact;
	int r = ward_gate_spelling(op, parent, name);

	if (r == 0)
		r = ward_node_child_state(tree->nodes, parent, name, &state);
	if (r < 0)
		return r;
	r = fact_in(tree, parent, name, state, &fact);
	if (r < 0) {
		ward_policy_state_put(tree->fs->policy, state);
		return r;
	}
	req = (struct ward_request){
		.fact = fact,
		.action = action,
		.rights = rights,
		.flags = (S_ISDIR(type) ? WARD_REQUEST_DIR : 0) |
			 (S_ISLNK(type) ? WARD_REQUEST_SYMLINK : 0) | staged(tree) |
			 ward_beneath_flags(tree, parent, name),
		.state = state,
		.root = tree->nodes->root_state,
	};
	if (!allowed(tree->fs->policy, &req, alt, &d) && ward_grants_any(tree->fs->grants))
		r = ward_granted_name(
			op, req, &(const struct ward_granted_ask){&paths, rights, alt}, &d);
	if (r >= 0 && d.verdict != WARD_VERDICT_ALLOW) {
		if (action == WARD_ACTION_CREATE)
			rights |= WARD_RIGHT_CREATE;
		if (action == WARD_ACTION_REMOVE)
			rights |= WARD_RIGHT_REMOVE;
		r = refuse(op, &paths, rights, &d, req.flags);
	} else if (r >= 0) {
		r = 0;
	}
	if (r == 0 && ret)
		*ret = d;
	ward_policy_state_put(tree->fs->policy, state);
	return r;
}

int ward_gate_unnamed(
	struct ward_op *op, struct ward_node *parent, uint32_t rights, struct ward_decision *ret)
{
	const struct ward_record_paths paths = {.node = parent};
	struct ward_decision d;
	/* In a place, or beneath one: not at it. */
	struct ward_request req = {.action = WARD_ACTION_CREATE,
		.rights = rights,
		.flags = staged(op->tree) |
			 (ward_beneath_flags(op->tree, parent, NULL) & WARD_REQUEST_COVERED),
		.fact = WARD_FACT_ABSENT};
	struct ward_states states;
	int r = ward_node_states(op->tree->nodes, parent, &states);

	if (r < 0)
		return r;
	req.state = states.v[0];
	if (allowed(op->tree->fs->policy, &req, 0, &d)) {
		if (ret)
			*ret = d;
	} else {
		r = refuse(op, &paths, rights | WARD_RIGHT_CREATE, &d, req.flags);
	}
	ward_states_put(op->tree->nodes, &states);
	return r;
}

static const char open_text[] = "open for writing, which the policy does not allow at the new path";

/*
 * What the policy allows, once more for what is open: -EXDEV, at which mv and cp copy. from NULL:
 * names do not change places.
 */
static int check_writers(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_state *to, const struct ward_state *from)
{
	struct ward_nodes *nodes = op->tree->nodes;
	const struct ward_decision d = {.verdict = WARD_VERDICT_DENY, .error = EXDEV};
	int r = ward_writers_check(nodes, paths->node, paths->name, to);

	if (r == 0 && from)
		r = ward_writers_check(nodes, paths->node2, paths->name2, from);
	if (r == -EXDEV) {
		r = ward_record_deny(op, paths, WARD_RIGHT_CREATE, &d, open_text);
		return r < 0 ? r : -EXDEV;
	}
	return r;
}

void ward_gate_settle(struct ward_op *op, struct ward_node *node, const char *name,
	struct ward_node *parent2, const char *name2)
{
	const struct ward_state *from = NULL, *to = NULL;

	if (!ward_ends_late(op->tree) ||
		ward_node_child_state(op->tree->nodes, parent2, name2, &to) < 0)
		return;
	if (!name || ward_node_child_state(op->tree->nodes, node, name, &from) < 0 ||
		!ward_policy_same_state(from, to))
		ward_writers_settle(op->tree->nodes, node, name, to);
	ward_policy_state_put(op->tree->fs->policy, from);
	ward_policy_state_put(op->tree->fs->policy, to);
}

/* If the rules alone leave a move open, the existing files decide. */
static bool look_allows(const struct ward_fs_tree *tree, struct ward_request *req,
	const int dirs[2], const char *name, const char *name2, struct ward_decision *d)
{
	int r = 0;

	if (req->flags & WARD_REQUEST_DIR)
		r = ward_contain_walk(tree, req->state, req->state2, dirs[0], name);
	if (r == 0 && req->flags & WARD_REQUEST_EXCHANGE && req->flags & WARD_REQUEST_DST_DIR)
		r = ward_contain_walk(tree, req->state2, req->state, dirs[1], name2);
	if (r < 0)
		return false;
	req->flags |= WARD_REQUEST_LOOKED;
	*d = ward_policy_decide(tree->fs->policy, req, NULL);
	return d->verdict == WARD_VERDICT_ALLOW;
}

/* The state of a name, and what grants give there: asked of both names in any case, since what a
 * grant gives at the new one is a gain. */
static int name_state(struct ward_op *op, struct ward_node *parent, const char *name,
	const struct ward_state **ret, struct ward_granted *ret_grants)
{
	struct ward_nodes *nodes = op->tree->nodes;

	if (!ward_grants_any(op->tree->fs->grants))
		return ward_node_child_state(nodes, parent, name, ret);
	return ward_child_grants(nodes, parent, name, op->pid, ret, ret_grants);
}

/* Counts what was allowed by grants at the two names; one that is spent refuses it after all. */
static int use_both(struct ward_op *op, const struct ward_record_paths *paths,
	const struct ward_granted grants[2], const struct ward_decision *d)
{
	const struct ward_decision spent = {.verdict = WARD_VERDICT_DENY, .error = EACCES};
	int r = ward_granted_use(op, paths, &grants[0], 1, d->by_grant, d->by_glass);

	if (r == 0)
		r = ward_granted_use(op, paths, &grants[1], 1, d->by_grant2, d->by_glass);
	return r == -EDQUOT ? refuse(op, paths, WARD_RIGHT_REMOVE | WARD_RIGHT_CREATE, &spent, 0)
			    : r;
}

int ward_gate_rename(struct ward_op *op, struct ward_node *parent, const char *name,
	struct ward_node *parent2, const char *name2, const int fds[4], uint32_t flags,
	struct ward_decision *ret)
{
	struct ward_fs_tree *tree = op->tree;
	const struct ward_record_paths paths = {
		.node = parent, .name = name, .node2 = parent2, .name2 = name2};
	const struct ward_state *from = NULL, *to = NULL;
	struct ward_granted grants[2] = {{.rights = 0}, {.rights = 0}};
	struct ward_decision d;
	int r;

	r = ward_gate_spelling(op, parent, name);
	if (r == 0)
		r = ward_gate_spelling(op, parent2, name2);
	if (r == 0)
		r = name_state(op, parent, name, &from, &grants[0]);
	if (r == 0)
		r = name_state(op, parent2, name2, &to, &grants[1]);
	if (r == 0)
		r = ward_granted_rename(op, &paths, grants);
	flags |= staged(tree) | ward_beneath_flags(tree, parent, name) |
		 ward_beneath_flags(tree, parent2, name2);
	if (r == 0) {
		struct ward_request req = {.action = WARD_ACTION_RENAME,
			.flags = flags,
			.state = from,
			.state2 = to,
			.fact = fact_of(tree, fds[2], parent, name, from, WARD_FACT_THERE),
			.fact2 = fact_of(tree, fds[3], parent2, name2, to,
				flags & WARD_REQUEST_DST_EXISTS ? WARD_FACT_THERE
								: WARD_FACT_ABSENT),
			.root = tree->nodes->root_state,
			.grants = &grants[0],
			.grants2 = &grants[1]};

		d = ward_policy_decide(tree->fs->policy, &req, NULL);
		if (d.verdict != WARD_VERDICT_ALLOW &&
			!(d.look && look_allows(tree, &req, fds, name, name2, &d)))
			r = refuse(op, &paths, WARD_RIGHT_REMOVE | WARD_RIGHT_CREATE, &d, flags);
		else if (!ward_policy_same_state(from, to))
			/* The same state takes no right away, and there may be many writers. */
			r = check_writers(
				op, &paths, to, flags & WARD_REQUEST_EXCHANGE ? from : NULL);
		if (r == 0)
			r = use_both(op, &paths, grants, &d);
		if (r == 0 && ret)
			*ret = d;
	}
	ward_policy_state_put(tree->fs->policy, from);
	ward_policy_state_put(tree->fs->policy, to);
	return r;
}

int ward_gate_link(struct ward_op *op, struct ward_node *node, const struct ward_file *file,
	const int fds[2], struct ward_node *parent2, const char *name2, struct ward_decision *ret)
{
	struct ward_fs_tree *tree = op->tree;
	const struct ward_record_paths paths = {.node = node, .node2 = parent2, .name2 = name2};
	const struct ward_state *to = NULL;
	struct ward_granted grants[2] = {{.rights = 0}, {.rights = 0}};
	struct ward_states states;
	struct ward_decision d;
	int r = ward_gate_spelling(op, parent2, name2);

	if (r < 0)
		return r;
	r = ward_node_states(tree->nodes, node, &states);
	if (r < 0)
		return r == -EMLINK ? -EACCES : r;
	/* Of the file's own names the rules count: it can have a new one where a grant gives no
	 * more. */
	r = name_state(op, parent2, name2, &to, &grants[1]);
	if (r == 0) {
		ward_granted_link(op, node, &grants[1]);
		const struct ward_request req = {.action = WARD_ACTION_LINK,
			.flags = (S_ISLNK(file->st.st_mode) ? WARD_REQUEST_SYMLINK : 0) |
				 (file->st.st_nlink ? WARD_REQUEST_LINKED : 0) | staged(tree) |
				 ward_beneath_flags(tree, node, NULL) |
				 ward_beneath_flags(tree, parent2, name2),
			.state = states.v[0],
			.others = states.v + 1,
			.n_others = states.n - 1,
			.state2 = to,
			.ceiling = ceiling(tree, node, &states, file->st.st_nlink),
			.fact = any_secret(&states)
					? ward_secret_fact(tree, fds[0], file, node, NULL)
					: WARD_FACT_THERE,
			.fact2 = fact_at(tree, fds[1], parent2, name2, to, NULL),
			.root = tree->nodes->root_state,
			.grants2 = &grants[1]};

		d = ward_policy_decide(tree->fs->policy, &req, NULL);
		if (d.verdict != WARD_VERDICT_ALLOW)
			r = refuse(op, &paths, WARD_RIGHT_CREATE, &d, req.flags);
		else
			r = check_writers(op, &paths, to, NULL);
		if (r == 0)
			r = use_both(op, &paths, grants, &d);
		if (r == 0 && ret)
			*ret = d;
	}
	ward_policy_state_put(tree->fs->policy, to);
	ward_states_put(tree->nodes, &states);
	return r;
}

/* The same with grants, where the rules hide it. pid: who asks, 0: nobody. */
static void decide_granted(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	uint32_t pid, struct ward_request *req, struct ward_decision *ret)
{
	struct ward_granted granted;

	if (ret->verdict == WARD_VERDICT_ALLOW || !ward_grants_any(tree->fs->grants) ||
		ward_child_grants(tree->nodes, parent, name, pid, &req->state, &granted) < 0)
		return;
	req->grants = &granted;
	*ret = ward_policy_decide(tree->fs->policy, req, NULL);
	ward_policy_state_put(tree->fs->policy, req->state);
}

/* file: what was seen there; NULL: nothing is, or nobody has looked. */
static int decide_visible(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	uint32_t flags, int dirfd, const struct ward_file *file, uint32_t pid,
	struct ward_decision *ret)
{
	struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = WARD_RIGHT_STAT};
	int r = ward_node_child_state(tree->nodes, parent, name, &req.state);

	if (r < 0)
		return r;
	req.flags = flags;
	req.fact = dirfd == WARD_GATE_ABSENT ? WARD_FACT_ABSENT
					     : fact_at(tree, dirfd, parent, name, req.state, file);
	*ret = ward_policy_decide(tree->fs->policy, &req, NULL);
	ward_policy_state_put(tree->fs->policy, req.state);
	decide_granted(tree, parent, name, pid, &req, ret);
	return 0;
}

int ward_gate_lookup(struct ward_op *op, struct ward_node *parent, const char *name, bool is_dir,
	int dirfd, const struct ward_file *file)
{
	const struct ward_record_paths paths = {.node = parent, .name = name};
	const uint32_t flags =
		(is_dir ? WARD_REQUEST_DIR : 0) | ward_beneath_flags(op->tree, parent, name);
	struct ward_decision d = {.verdict = WARD_VERDICT_DENY};
	int r = decide_visible(op->tree, parent, name, flags, dirfd, file, op->pid, &d);

	op->shown = op->shown || d.by_grant;
	if (r < 0 || d.verdict == WARD_VERDICT_ALLOW)
		return r;
	r = refuse(op, &paths, WARD_RIGHT_STAT, &d, flags);
	if (flags & WARD_REQUEST_COVERED)
		return r;
	/* Whatever the verdict is called: without STAT the name does not show itself. */
	return r == -EIO ? r : -ENOENT;
}

int ward_gate_visible(struct ward_fs_tree *tree, struct ward_node *parent, const char *name,
	bool is_dir, int dirfd)
{
	struct ward_decision d;
	int r;

	if (tree->folds && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		ward_spelling_wrong(tree, parent, name))
		return 0;
	/* Where rules hide the way to another tree, listings do too. */
	r = decide_visible(tree, parent, name, is_dir ? WARD_REQUEST_DIR : 0, dirfd, NULL, 0, &d);
	if (r < 0 || d.verdict != WARD_VERDICT_ALLOW)
		return r < 0 ? r : 0;
	return d.by_grant ? 2 : 1;
}

bool ward_gate_readable(
	struct ward_fs_tree *tree, struct ward_node *node, const char *name, bool is_dir)
{
	struct ward_request req = {.action = WARD_ACTION_ACCESS,
		.rights = is_dir ? WARD_RIGHT_LIST : WARD_RIGHT_READ,
		.flags = (is_dir ? WARD_REQUEST_DIR : 0) | ward_beneath_flags(tree, node, name)};
	struct ward_states states;
	struct ward_decision d;

	if (!name) {
		if (ward_node_states(tree->nodes, node, &states) < 0)
			return false;
		req.state = states.v[0];
		req.others = states.v + 1;
		req.n_others = states.n - 1;
		d = ward_policy_decide(tree->fs->policy, &req, NULL);
		ward_states_put(tree->nodes, &states);
		return d.verdict == WARD_VERDICT_ALLOW;
	}
	if ((tree->folds && ward_spelling_wrong(tree, node, name)) ||
		ward_node_child_state(tree->nodes, node, name, &req.state) < 0)
		return false;
	d = ward_policy_decide(tree->fs->policy, &req, NULL);
	ward_policy_state_put(tree->fs->policy, req.state);
	return d.verdict == WARD_VERDICT_ALLOW;
}

int ward_gate_mode(
	struct ward_op *op, struct ward_node *node, const char *name, mode_t mode, mode_t now)
{
	mode_t bits = mode & (S_ISUID | S_ISGID);

	/* A directory's run nothing. A file's may not even stay: a write that takes it off, and
	 * puts other content under it, can come between our look and the chmod. */
	if (S_ISDIR(now) || !bits || op->tree->fs->flags & WARD_FS_SETUID)
		return 0;
	return ward_gate_refuse(
		op, node, name, EPERM, "setuid and setgid are not the agent's to give");
}
