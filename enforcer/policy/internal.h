/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiled policy is made of. For the files of this folder alone. */
#pragma once

#include <stdatomic.h>

#include "enforcer/base/host_size.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/policy/automaton.h"
#include "enforcer/policy/keys.h"
#include "enforcer/policy/policy.h"

/* Bytes of everything that is built lazily; past it steps are slower, never wrong. */
#define WARD_POLICY_MEMORY_MAX ((size_t)64 << 20)
/* Rules of all sources together. */
#define WARD_POLICY_RULES_MAX 100000U
/* Keys that are no rules, of all sources together; each is compared with all before it. */
#define WARD_POLICY_ENTRIES_MAX 10000U

/* Lists of rules. In each list the last rule that matches decides. */
enum ward_rule_group {
	WARD_GROUP_BASE = 0, /* grants: profile, base, run */
	WARD_GROUP_FLOOR,    /* these only take away */
	WARD_GROUP_PROJECT,
	WARD_GROUP_COUNT_,
};

/* A source's text, owned. */
struct ward_source {
	enum ward_source_kind kind;
	char *file;
	char *text;
	size_t len;
};

/* A line of a source; file is borrowed from it. */
struct ward_place_of {
	const char *file;
	unsigned line;
};

/* A key that some source sets; not a rule. Strings are owned, but for file. */
struct ward_entry {
	const struct ward_key *key;
	char *instance; /* path of [tree P] and [quota P], else "" */
	char *value;	/* as written, but paths of the host resolved */
	uint64_t number;
	bool share;   /* a percentage or the like: number is what it comes to here */
	bool shipped; /* a line of a shipped profile, as it is shipped */
	enum ward_source_kind source;
	const char *file;
	unsigned line;
};

/* What is known of secrets (found.c): sorted, by file and by path. */
struct ward_found_file {
	struct ward_file_seen seen;
	bool differs; /* while the text is parsed */
};
struct ward_found_path {
	char *path; /* owned */
	enum ward_fact fact;
	bool unknown;		    /* of all that is beneath */
	struct ward_file_seen seen; /* of COMMITTED, and of DIFFERS where it was looked at */
};
struct ward_found {
	struct ward_found_file *files;
	size_t n_files, cap_files;
	struct ward_found_path *paths;
	size_t n_paths, cap_paths;
};
void ward_found_clear(struct ward_found *f);
int ward_found_parse(
	const char *text, size_t len, struct ward_found *ret, struct ward_err *err) ward_must_check;

/* What is left at s for grants where these guards do not count. Pure. */
struct ward_unlifted {
	uint32_t grantable;
	bool secret; /* a rule of `secret` still counts: nothing is given */
};
struct ward_unlifted ward_policy_unlifted(
	const struct ward_policy *p, const struct ward_state *s, const char *lifts);

struct ward_policy {
	_Atomic uint32_t refs;
	struct ward_source sources[WARD_SOURCE_COUNT_]; /* in the order of their kinds */
	size_t n_sources;
	char **origins; /* options of the command line, as places of rules and entries */
	size_t n_origins, cap_origins;
	/* in the order of lists (base, floor, project), then of source kinds, then of lines */
	struct ward_rule *rules;
	size_t n_rules, cap_rules;
	struct ward_entry *entries;
	size_t n_entries, cap_entries;
	/* what holds after the merge: entries of `entries`, in the order of ward_keys */
	const struct ward_entry **effective;
	size_t n_effective;
	char *trees[WARD_POLICY_TREES_MAX];			 /* paths of all [tree P], sorted */
	struct ward_place_of tree_places[WARD_POLICY_TREES_MAX]; /* where each was first named */
	size_t n_trees;
	struct ward_host_size host;	/* that shares refer to */
	bool host_known;		/* there is a source of kind WARD_SOURCE_HOST */
	bool fold_all;			/* WARD_POLICY_FOLD_ALL */
	bool programs;			/* there is a list of programs */
	uint32_t first_program;		/* 1 + number of its first rule; 0: none */
	struct ward_expected *expected; /* of [expect] path and lookup; expected.c */
	size_t n_expected;
	/* per group: 1 + number of the last rule without '/' in front that makes something visible
	 */
	uint32_t float_visible[WARD_GROUP_COUNT_];
	bool float_hides; /* one of them may hide what it meets */
	uint32_t *floats; /* rules whose pattern may begin at every depth, ascending */
	uint32_t n_floats;
	struct ward_automaton *automaton;
	struct ward_found found;
	struct ward_grants *grants; /* borrowed: to hosts (connect.c); NULL: nobody looks */
	struct ward_settings settings;
	uint64_t study_until_ns; /* 0: without end */
	char digest[WARD_POLICY_DIGEST_MAX];
};

/* Fills p->effective and p->settings from p->entries and p->trees (settings.c). */
int ward_policy_settle(struct ward_policy *p, struct ward_err *err) ward_must_check;
void ward_settings_clear(struct ward_settings *s);

/*
 * Entries of p->effective (entry.c). A key is named by its member of struct ward_settings:
 * WARD_ENTRY(p, net) is what holds of [network] mode, NULL where the default does.
 */
#define WARD_ENTRY(p, member) ward_entry_filling(p, offsetof(struct ward_settings, member))
#define WARD_ENTRY_IS(e, member) ward_key_fills((e)->key, offsetof(struct ward_settings, member))
const struct ward_entry *ward_entry_of(
	const struct ward_policy *p, const struct ward_key *k, const char *instance);
const struct ward_entry *ward_entry_filling(const struct ward_policy *p, size_t offset);
/* False: it speaks of a tree that the policy does not have, as a floor may. */
bool ward_entry_of_tree(const struct ward_policy *p, const struct ward_entry *e);
/* Appends "[tree /workspace] source". */
void ward_entry_name(struct ward_buf *b, const struct ward_entry *e);
/* Takes text. -ENOMEM, also where it is NULL. */
int ward_strings_add(struct ward_strings *s, char *text) ward_must_check;

/* trees.c: the trees of p->trees, without what their keys say; and the readers of two keys. */
int ward_trees_settle(struct ward_policy *p, struct ward_err *err) ward_must_check;
void ward_trees_clear(struct ward_settings *s);
int ward_tree_source_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err) ward_must_check;
int ward_tree_at_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err) ward_must_check;
/* The size of a source "tmpfs:SIZE"; NULL: it is a path. */
const char *ward_tree_tmpfs(const char *source);

/* quotas.c: a quota for each path that p->effective has, without limits; and what a key says. */
int ward_quotas_settle(struct ward_policy *p, struct ward_err *err) ward_must_check;
void ward_quotas_clear(struct ward_settings *s);
int ward_quota_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err) ward_must_check;

/*
 * shares.c. The values of keys that are shares of the host: number is a mark until
 * ward_shares_settle(), then what it comes to. -EINVAL.
 */
int ward_share_size(const char *value, uint64_t *ret, struct ward_err *err) ward_must_check;
int ward_share_cpus(const char *value, uint64_t *ret, struct ward_err *err) ward_must_check;
int ward_share_cpu_time(const char *value, uint64_t *ret, struct ward_err *err) ward_must_check;
/* Resolves the shares of p->entries by the source of kind WARD_SOURCE_HOST; without one every share
 * is more than any size. -EINVAL: that source is not valid. */
int ward_shares_settle(struct ward_policy *p, struct ward_err *err) ward_must_check;
/* A share of CPUs that is all of them limits nothing. */
void ward_shares_trim(struct ward_policy *p);
/* Appends the text of that source: "memory BYTES", "cpus TENTHS". -ENOMEM. */
int ward_host_text(const struct ward_host_size *s, struct ward_buf *b) ward_must_check;

/* key_types.c: the smallest count and the shortest time of [audit] checkpoint. */
int ward_checkpoint_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err) ward_must_check;

/* Of [audit] anchor the floor's come first. All count, once; `none` only where nobody names one. */
int ward_anchors_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err) ward_must_check;

/*
 * exec_rules.c. The n entries of [process] exec: keeps in p->effective those that every list
 * allows, as far as that can be seen from the patterns. -ENOMEM.
 */
int ward_programs_merge(
	struct ward_policy *p, const struct ward_entry *const *v, size_t n) ward_must_check;
/* Makes rules of them. -EINVAL where nothing was left. */
int ward_programs_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err) ward_must_check;
/* May what is beneath a directory go from src to dst without something becoming a program? */
bool ward_programs_fit(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, uint32_t *ret_rule);

/* auto.c: values of [auto] and [agent]. */
int ward_parse_least(const struct ward_key *k, const char *value, uint64_t *number,
	struct ward_err *err) ward_must_check;
int ward_parse_points(const struct ward_key *k, const char *value, uint64_t *number,
	struct ward_err *err) ward_must_check;
int ward_parse_from(const struct ward_key *k, const char *value, uint64_t *number,
	struct ward_err *err) ward_must_check;
int ward_parse_tools(const struct ward_key *k, const char *value, uint64_t *number,
	struct ward_err *err) ward_must_check;
int ward_parse_money(const struct ward_key *k, const char *value, uint64_t *number,
	struct ward_err *err) ward_must_check;
int ward_tools_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err) ward_must_check;

/* approver_key.c */
int ward_parse_approver(const struct ward_key *k, const char *value, uint64_t *number,
	struct ward_err *err) ward_must_check;
int ward_parse_approvers(const struct ward_key *k, const char *value, uint64_t *number,
	struct ward_err *err) ward_must_check;

/* signer.c */
int ward_parse_signer(const struct ward_key *k, const char *value, uint64_t *number,
	struct ward_err *err) ward_must_check;

/* expected.c: takes the patterns of [expect] path and lookup apart, one key a call, and
 * frees them. -ENOMEM. */
int ward_expected_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err) ward_must_check;
void ward_expected_clear(struct ward_policy *p);

/* What a policy is made of beside its settings and rules. */
#define WARD_POLICY_PATHS 1u  /* the automaton; without it nobody may ask about a path */
#define WARD_POLICY_DIGEST 2u /* without it the digest is empty */
/* The letters of all rules match both cases, whatever [guard] fold says. */
#define WARD_POLICY_FOLD_ALL 4u

/* As ward_policy_compile(), with these parts. */
int ward_policy_compile_parts(const struct ward_source_text *sources, size_t n, unsigned parts,
	struct ward_policy **ret, struct ward_err *err) ward_must_check;

/* Fills p->digest (canonical.c). */
int ward_policy_digest_fill(struct ward_policy *p, struct ward_err *err) ward_must_check;

/* What a verb of [files] gives, and what it leaves at most as a guard. `ask` and `noexec`: as far
 * as they do not depend on others (wardfs-policy(5)). */
uint32_t ward_verb_rights(enum ward_verb v);

enum ward_rule_group ward_rule_group(const struct ward_rule *r);

/* A rule of [lift], which gives back; it is no guard, though it counts as one that takes nothing.
 */
static inline bool ward_rule_lifts(const struct ward_rule *r)
{
	return r->verb == WARD_VERB_LIFT_READ || r->verb == WARD_VERB_LIFT_WRITE;
}

/* [guard] fold: do the letters of its pattern match both cases? */
static inline bool ward_rule_folds(const struct ward_policy *p, const struct ward_rule *r)
{
	return (p->fold_all || (p->settings.fold && r->guard)) && r->verb != WARD_VERB_PROGRAM &&
	       !ward_rule_lifts(r);
}

/* ward_outcome_fn; ctx is the struct ward_policy. */
void ward_policy_outcome(const void *ctx, const struct ward_automaton *a,
	const struct ward_state *s, struct ward_outcome *ret);
/* Does `secret` leave a file, which is one at both, rights at `to` that it does not leave at
 * `from`? */
bool ward_outcome_eases(const struct ward_outcome *from, const struct ward_outcome *to);

/* What a move must not do beneath a directory. */
enum ward_move_part {
	WARD_MOVE_GAIN = 1U << 0, /* no path gains a right */
	WARD_MOVE_LOSS = 1U << 1, /* what could be created at src can be at dst */
	WARD_MOVE_BOTH = WARD_MOVE_GAIN | WARD_MOVE_LOSS,
};

/*
 * Do the rules alone say that a directory may go from src to dst, with all that is or may come to
 * be beneath it? parts: set of ward_move_part. False: *ret_rule is 1 + the number of a rule that
 * makes the difference, where one does alone; else untouched. (contain.c)
 */
bool ward_policy_contains(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, unsigned parts, uint32_t *ret_rule);

/* Does the state stand at this position? */
bool ward_state_stands_at(const struct ward_state *s, uint32_t position);

/*
 * Would a symbolic link at s lead past a rule? A rule on a name beneath s that takes a right which
 * s gives is passed by a link: what the link leads to is under other rules. root: the state of the
 * tree's root, or NULL. True: *ret_rule is 1 + the number of such a rule. (symlink.c)
 */
bool ward_policy_link_passes(const struct ward_policy *p, const struct ward_state *s,
	const struct ward_state *root, uint32_t *ret_rule);

/* Would links that were made beneath src, and move with it to dst, lead past a rule there? As
 * above. */
bool ward_policy_links_move(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, uint32_t *ret_rule);

/* The rights, given or left to a person, that an object gains from src to dst by itself. */
uint32_t ward_policy_gain(const struct ward_state *src, const struct ward_state *dst, bool dir);

/* Same hits, same live positions: nothing tells them or what is beneath apart. */
bool ward_state_same(const struct ward_state *a, const struct ward_state *b);
