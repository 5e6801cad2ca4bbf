/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy: what a tree's paths may be used for, and the settings of a session.
 *
 * A policy is compiled from the texts of its sources (base, floor, project file, command line). Its
 * patterns form one deterministic automaton over path components: a filesystem node keeps a
 * `ward_state`; the state of a child is one ward_policy_step() away. ward_policy_decide() is the
 * only function that decides anything; the filesystem, `policy explain` and the tests call the same
 * one.
 *
 * Everything here is thread-safe on one policy unless it says otherwise. wardfs-policy(5) is the
 * language in prose.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/policy/settings.h"

struct ward_policy;
struct ward_state;

/* A name of 255 bytes and NUL. */
#define WARD_LOOK_NAME_SIZE 256
/* Entries that ward_policy_look() looks at, and levels beneath the directory: the mover waits. */
#define WARD_LOOK_ENTRIES_MAX 10000U
#define WARD_LOOK_DEPTH_MAX 32U

/* A verb of [files] and [guard]. 0 is the safe one. */
enum ward_verb {
	WARD_VERB_HIDE = 0,
	WARD_VERB_DENY,
	WARD_VERB_READ,
	WARD_VERB_APPEND,
	WARD_VERB_WRITE,
	WARD_VERB_ASK,
	WARD_VERB_NOEXEC,
	WARD_VERB_SECRET,    /* nothing of what was there before, but what git has committed */
	WARD_VERB_LIFT_READ, /* of [lift], no verbs of [files] */
	WARD_VERB_LIFT_WRITE,
	WARD_VERB_PROGRAM, /* of [process] exec, no verb of [files] */
	WARD_VERB_COUNT_,
};

/* The rights that a path has, as a set. The table verb → rights stands in wardfs-policy(5). */
enum ward_right {
	WARD_RIGHT_STAT = 1U << 0,   /* the name is visible: lookup, stat, readlink, in listings */
	WARD_RIGHT_LIST = 1U << 1,   /* a directory may be listed and traversed */
	WARD_RIGHT_READ = 1U << 2,   /* content and extended attributes read */
	WARD_RIGHT_EXEC = 1U << 3,   /* execve; implies nothing about READ */
	WARD_RIGHT_APPEND = 1U << 4, /* bytes added at the end */
	WARD_RIGHT_CREATE = 1U << 5, /* this name may come into being */
	WARD_RIGHT_WRITE = 1U << 6,  /* written anywhere, truncated */
	WARD_RIGHT_REMOVE = 1U << 7, /* this name may go: unlink, rmdir, renamed away, replaced */
	WARD_RIGHT_ATTR = 1U << 8,   /* mode, owner, times, extended attributes changed */
};
#define WARD_RIGHTS_ALL ((1U << 9) - 1)

#define WARD_RIGHTS_COUNT 9

/*
 * What live grants give at one name (grants.h). Zero: nothing, as where nobody looked.
 */
struct ward_grant_held;
struct ward_granted {
	uint32_t rights; /* that grants covering the name give */
	uint32_t holds;	 /* the same for what was opened before: those that are spent count */
	bool passage;	 /* a grant may cover something beneath it */
	struct ward_grant_held
		*by[WARD_RIGHTS_COUNT]; /* per right: the grant that gives it, or NULL */
	/*
	 * The last break-glass grant that covers the name; NULL: none. Its rights are not among
	 * those above: what it lifts does not count for them alone.
	 */
	struct ward_grant_held *glass;
	uint32_t glass_rights, glass_holds;
};

/* What is asked of ward_policy_decide(). explain's action names map onto these. */
enum ward_action {
	WARD_ACTION_NONE = 0, /* refused */
	WARD_ACTION_ACCESS,   /* `rights` on one path that exists */
	WARD_ACTION_CREATE,   /* a name that does not exist comes into being, then `rights` on it */
	WARD_ACTION_REMOVE,   /* unlink, rmdir */
	WARD_ACTION_RENAME, /* `state` → `state2`; flags tell what is moved and whether replaced */
	WARD_ACTION_LINK,   /* a second name `state2` for the file at `state` */
};

enum ward_request_flag {
	WARD_REQUEST_DIR = 1U << 0, /* the object is a directory */
	WARD_REQUEST_DST_EXISTS = 1U
				  << 1,	 /* rename: a target is replaced (REMOVE is needed there) */
	WARD_REQUEST_EXCHANGE = 1U << 2, /* rename: RENAME_EXCHANGE, checked both ways */
	WARD_REQUEST_DST_DIR =
		1U << 3,	       /* rename: the replaced or exchanged target is a directory */
	WARD_REQUEST_LOOKED = 1U << 4, /* rename: ward_policy_look() found nothing that gains */
	/* Asked of a tree beneath which others lie (docs/adr/0025); of either name. */
	WARD_REQUEST_LEADS = 1U << 5,	/* another tree's place, or a directory above it */
	WARD_REQUEST_COVERED = 1U << 6, /* another tree's place, or what lies beneath it */
	/* The object is a symbolic link: CREATE, RENAME (what is moved), LINK. */
	WARD_REQUEST_SYMLINK = 1U << 7,
	WARD_REQUEST_DST_SYMLINK = 1U << 8, /* rename: the exchanged target is one */
	/* The top of a directory that another tree serves under rules that this one has not; what
	 * lies beneath it is COVERED. Of either name. */
	WARD_REQUEST_ELSEWHERE = 1U << 9,
	/* The file keeps another name, beside the one that comes or goes: RENAME (what is moved),
	   LINK. */
	WARD_REQUEST_LINKED = 1U << 10,
	WARD_REQUEST_DST_LINKED = 1U << 11, /* rename: so does the exchanged target */
	/* Changes are staged, for a person to look at ([tree] changes): where `ask` covers them
	 * they are allowed, and need a yes of their own before they come into the project. Reading
	 * is asked about as ever. */
	WARD_REQUEST_STAGED = 1U << 12,
};

/*
 * What is known of the file behind a name; it counts under a rule of `secret` alone. The caller
 * finds it out, from the file itself: the filesystem and `policy explain` (ward_policy_found()),
 * [test] by what a line says.
 */
enum ward_fact {
	WARD_FACT_THERE = 0, /* something is there: hidden */
	WARD_FACT_DIFFERS,   /* git tracks the name, and not this content: refused */
	WARD_FACT_COMMITTED, /* git has this content, so everybody who reads the repository has it
			      */
	WARD_FACT_OWN,	     /* this session put it there */
	WARD_FACT_ABSENT,    /* nothing is there */
	WARD_FACT_COUNT_,
};

/* The states of a file's other known names: content has the intersection of their rights. */
struct ward_request {
	enum ward_action action;
	uint32_t rights;			/* ACCESS, CREATE: set of ward_right asked for */
	uint32_t flags;				/* set of ward_request_flag */
	const struct ward_state *state;		/* never NULL */
	const struct ward_state *state2;	/* RENAME, LINK: the destination name's */
	const struct ward_state *const *others; /* hard links: states of the other known names */
	size_t n_others;
	uint32_t ceiling; /* rights never given, as a complement: 0 means no ceiling beyond the
			     policy; else granted &= ceiling ([tree] hardlinks) */
	/* Read with the flags about symbolic links alone: the state of the tree's root. A `**` that
	 * is in force there holds wherever a link in the tree leads. NULL: not known. */
	const struct ward_state *root;
	enum ward_fact fact;  /* of what stands at `state`, and so at the others: one file */
	enum ward_fact fact2; /* of what stands at `state2` */
	/*
	 * What live grants give at `state`, at `state2`, and at each of `others`; NULL: nothing.
	 * ACCESS and CREATE may leave them out for as long as the rules allow. RENAME and LINK may
	 * not: what a grant gives at `state2` is a right that is gained there.
	 */
	const struct ward_granted *grants, *grants2, *other_grants;
};

enum ward_verdict {
	WARD_VERDICT_DENY = 0,
	WARD_VERDICT_HIDE, /* refused, and the name does not show itself */
	WARD_VERDICT_ASK,  /* a person decides; a caller that cannot ask refuses */
	WARD_VERDICT_ALLOW,
};

/* Where a rule comes from; the order is that of wardfs-policy(5). */
enum ward_source_kind {
	WARD_SOURCE_NONE = 0, /* no rule: the default */
	WARD_SOURCE_PROFILE,  /* the shipped profile or file that the base extends */
	WARD_SOURCE_BASE,
	WARD_SOURCE_FLOOR,
	WARD_SOURCE_PROJECT,
	WARD_SOURCE_RUN,   /* the command line of one run */
	WARD_SOURCE_FOUND, /* no rules: what was found of secrets (ward_policy_set_found()) */
	WARD_SOURCE_HOST,  /* no rules: the memory and CPUs that shares refer to */
	WARD_SOURCE_GRANT, /* no file: a person gave it to the running session (grants.h) */
	WARD_SOURCE_COUNT_,
};

/*
 * Where a rule or a key stands, for printf: "FILE:LINE". What an option of the command line says
 * has no line that anyone could open: `file` is the option as it was typed, and `line` is 0.
 */
#define WARD_PLACE_FMT "%s%s%.0u"
#define WARD_PLACE(file, line) (file), (line) ? ":" : "", (line)

/* One rule as it stands in its file. Borrowed: lives as long as the policy. */
struct ward_rule {
	enum ward_source_kind source;
	const char *file;   /* display name of the source: path, profile name, or an option */
	unsigned line;	    /* from 1; 0: WARD_PLACE */
	unsigned text_line; /* the line of the source's text, from 1 */
	bool guard;	    /* of [guard]: a ceiling */
	bool liftable;	    /* of a shipped profile, for secrets: [lift] takes it back */
	enum ward_verb verb;
	const char *pattern; /* as written, NUL-terminated */
};

struct ward_decision {
	enum ward_verdict verdict;
	int error;	  /* what the system call answers: 0, or a positive errno */
	uint32_t granted; /* rights of the path after all sources (not only those asked) */
	const struct ward_rule *rule; /* what decided; NULL: the default (hide) */
	bool look; /* a rename refused only for what may be beneath a directory: a look at what is
		      there (ward_policy_look()) may settle it */
	bool link; /* refused since the object is a symbolic link: `rule` is on a name beneath it */
	/* Of what was asked for, the rights that grants alone give at `state` or at one of the
	 * others, and at `state2`: a use of those grants. */
	uint32_t by_grant, by_grant2;
	uint32_t by_glass; /* of both: those that break-glass grants give */
};

/* One source's opinion, for explain. */
struct ward_trace_entry {
	const struct ward_rule *rule;
	uint32_t rights; /* what this rule leaves or gives */
	bool decides;	 /* false: a rule that matched but was beaten */
};
#define WARD_TRACE_MAX 64
struct ward_trace {
	struct ward_trace_entry entries[WARD_TRACE_MAX]; /* what does not fit is counted */
	size_t n;
	size_t left_out;
};

/* The text of one source. Borrowed during compile. */
struct ward_source_text {
	enum ward_source_kind kind;
	const char *file; /* display name, also the base of relative paths if absolute */
	const char *text; /* need not be NUL-terminated; NUL bytes are an error */
	size_t len;
};

/*
 * Compiles sources (at most one of each kind but PROFILE, which a BASE `extends`; the caller loads
 * it, see load.h). On failure err says "FILE:LINE: what is wrong; nearest right spelling". Errors:
 * -EINVAL (text), -ENOMEM. *ret is one reference.
 */
int ward_policy_compile(const struct ward_source_text *sources, size_t n, struct ward_policy **ret,
	struct ward_err *err) ward_must_check;

/* The sources as one blob that travels to the helpers and into the trail, and back. */
int ward_policy_encode(const struct ward_policy *p, struct ward_buf *ret_blob) ward_must_check;
int ward_policy_decode(const void *blob, size_t len, struct ward_policy **ret,
	struct ward_err *err) ward_must_check;
/*
 * The same for who asks about settings and the network alone, in half the time: no path may be
 * asked about (ward_policy_root() and what takes a state).
 */
int ward_policy_decode_network(const void *blob, size_t len, struct ward_policy **ret,
	struct ward_err *err) ward_must_check;

/*
 * The same with the letters of all rules matching both cases, but for [process] exec. Where a state
 * of it is that of the policy itself (ward_policy_same_state()), no rule is on another spelling.
 */
int ward_policy_decode_folded(const void *blob, size_t len, struct ward_policy **ret,
	struct ward_err *err) ward_must_check;

/* The text of one source as it was compiled; *ret borrowed. False: it has none of this kind. */
bool ward_policy_source(const struct ward_policy *p, enum ward_source_kind kind,
	struct ward_source_text *ret) ward_must_check;

struct ward_policy *ward_policy_ref(struct ward_policy *p);
void ward_policy_unref(struct ward_policy *p);

/*
 * Until when (CLOCK_MONOTONIC) p is compared with others (diff.h) and its rules with each other
 * (check.h); what is left then is said to be left. 0: as long as the bounds of steps allow.
 */
void ward_policy_study_until(struct ward_policy *p, uint64_t until_ns);
/* Is that time over? */
bool ward_policy_study_over(const struct ward_policy *p);

/* SHA-256 of the meaning, as 64 hex digits and NUL; borrowed. */
#define WARD_POLICY_DIGEST_MAX 65
const char *ward_policy_digest(const struct ward_policy *p);
/*
 * The same of the rules for paths alone ([files], [guard], [lift], of all sources) that can concern
 * the tree at this sandbox path: other limits, hosts and trees leave it as it is. -ENOMEM.
 */
int ward_policy_rules_digest(const struct ward_policy *p, const char *tree,
	char ret[WARD_POLICY_DIGEST_MAX]) ward_must_check;

/* The effective settings after all sources; borrowed, never NULL. */
const struct ward_settings *ward_policy_settings(const struct ward_policy *p);

/* The i-th rule of all sources, in their order; NULL past the end. Lives as long as the policy. */
const struct ward_rule *ward_policy_rule(const struct ward_policy *p, size_t i);

/* The state of "/". Never NULL, never freed before the policy. */
const struct ward_state *ward_policy_root(const struct ward_policy *p);

/*
 * The state of child `name` (len bytes, one component, 1..255, no '/' and no NUL) of a path in
 * state `s`. Memoised: costs no allocation when this (state, name class) was seen. Up to the memory
 * limit states live as long as the policy; past it they are single objects: so each state got here
 * is given back once with ward_policy_state_put(). -ENOMEM, -EINVAL (bad name).
 */
int ward_policy_step(const struct ward_policy *p, const struct ward_state *s, const char *name,
	size_t len, const struct ward_state **ret) ward_must_check;
/* Steps through an absolute path ("/a/b", "." and ".." refused). Same ownership. */
int ward_policy_walk(const struct ward_policy *p, const char *path, size_t len,
	const struct ward_state **ret) ward_must_check;
/*
 * The state of the root of the tree in which path lies, for ward_request.root; same ownership. NULL
 * in *ret: it is in no tree. -ENOMEM, -EINVAL.
 */
int ward_policy_tree_root(const struct ward_policy *p, const char *path,
	const struct ward_state **ret) ward_must_check;
/* Takes another reference / gives one back. NULL is fine for put. */
const struct ward_state *ward_policy_state_get(const struct ward_state *s);
void ward_policy_state_put(const struct ward_policy *p, const struct ward_state *s);

/*
 * [expect]. Is a refusal of this sandbox path (len bytes), or of HOST:PORT[/udp] or HOST alone, one
 * that the base expects? absent: it is a look that was answered as if nothing were there, which is
 * all that `lookup` means. The line that says so is *ret_file (the policy's) and *ret_line. Pure;
 * decides nothing.
 */
bool ward_policy_expects_path(const struct ward_policy *p, const char *path, size_t len,
	bool absent, const char **ret_file, unsigned *ret_line);
bool ward_policy_expects_host(const struct ward_policy *p, const char *host_port,
	const char **ret_file, unsigned *ret_line);

/*
 * [process] exec. Is there a list of programs? Then only what it covers may be executed: in a tree
 * ward_policy_decide() says so, elsewhere the code that shows the path asks this. Pure.
 */
enum ward_listed {
	WARD_LISTED_NOT = 0, /* neither this path nor anything beneath it */
	WARD_LISTED_BENEATH, /* something beneath it may be */
	WARD_LISTED,	     /* it is, with all beneath; so is everything where there is no list */
};
bool ward_policy_has_programs(const struct ward_policy *p);
/* Where the list begins; NULL: there is none. */
const struct ward_rule *ward_policy_first_program(const struct ward_policy *p);
enum ward_listed ward_policy_listed(const struct ward_policy *p, const struct ward_state *s);

/* Has any source a `noexec` rule? */
bool ward_policy_has_noexec(const struct ward_policy *p);
/*
 * The paths that a `noexec` rule of any source names from the root and without wildcards: nothing
 * there or beneath it may be executed, whatever the other rules say. The root itself is "/". *ret
 * ends with NULL and is the caller's: free each, and the list. -ENOMEM.
 */
int ward_policy_noexec(const struct ward_policy *p, char ***ret) ward_must_check;

/*
 * [lift] of one file, by its absolute path. What of these rights does a shipped profile's guard for
 * secrets take there (*ret_lifts; NULL: there is nothing to lift), and what takes them whatever is
 * lifted (*ret_left; NULL: nothing)? Whether they are lifted already plays no part. -ENOMEM,
 * -EINVAL.
 */
int ward_policy_lift_look(const struct ward_policy *p, const char *path, uint32_t want,
	const struct ward_rule **ret_lifts, const struct ward_rule **ret_left) ward_must_check;
/* Calls fn for each line of [lift]; want: the rights that it gives back. */
void ward_policy_each_lift(const struct ward_policy *p,
	void (*fn)(void *user, const struct ward_rule *lift, uint32_t want), void *user);

/* Is a rule of `secret` in force there, so that facts count? Pure. */
bool ward_policy_secret(const struct ward_state *s);
/* Has the policy such a rule at all? */
bool ward_policy_has_secrets(const struct ward_policy *p);

/*
 * What was found of secrets when the policy was loaded (ward_policy_set_found()), asked about the
 * file that stands at an absolute path now. A file is known by its identity and times, so that one
 * which came later, or was changed, is not taken for it. A directory counts as committed where
 * something beneath it is tracked. Pure; never says OWN or ABSENT.
 */
struct ward_file_seen {
	uint64_t dev, ino;
	int64_t btime_ns; /* 0: the file system keeps none, and nothing is known of its files */
	int64_t mtime_ns, ctime_ns;
	uint64_t size;
	bool dir;
};
enum ward_fact ward_policy_found(const struct ward_policy *p, const struct ward_file_seen *file,
	const char *path, size_t len);
/*
 * Gives a policy that nobody shares yet what was found; it travels with ward_policy_encode(), and
 * is no part of the digest. text: lines, each ended by NUL, in any order, of
 *	committed DEV INO BTIME MTIME CTIME SIZE PATH	numbers in decimal
 *	differs DEV INO BTIME MTIME CTIME SIZE PATH	git tracks other content
 *	tracked PATH					git tracks it; the same or not
 *	unknown PATH					nothing is known at and beneath it
 *
 * -EINVAL: a line that is none of these; -ENOMEM.
 */
int ward_policy_set_found(
	struct ward_policy *p, const char *text, size_t len, struct ward_err *err) ward_must_check;
/* Calls fn for each of them; `unknown` counts as WARD_FACT_DIFFERS, as for unknown content. */
void ward_policy_each_found(const struct ward_policy *p,
	void (*fn)(void *user, enum ward_fact fact, const char *path), void *user);

/* Has the policy a rule of `ask` at all? */
bool ward_policy_asks(const struct ward_policy *p);
/* Has it a line of [network] ask? */
bool ward_policy_asks_hosts(const struct ward_policy *p);

/* [guard] fold. */
bool ward_policy_folds(const struct ward_policy *p);

/* Do the same rules cover both, and may the same come to? States of two policies of one text, too.
 */
bool ward_policy_same_state(const struct ward_state *a, const struct ward_state *b);

/*
 * Can a directory move so that something beneath may still be made, and no more be written to
 * anywhere? Only if a rule gives the one without the other (append): other rules that take the
 * right to write take the right to create, and refuse the move.
 */
bool ward_policy_appends(const struct ward_policy *p);

/* The rights that a path in this state has, after all sources. Pure. */
uint32_t ward_policy_rights(const struct ward_policy *p, const struct ward_state *s);

/* The same where changes are staged (WARD_REQUEST_STAGED). Pure. */
uint32_t ward_policy_rights_staged(const struct ward_policy *p, const struct ward_state *s);

/* The same with grants, for what was opened under them (ward_granted.holds). Pure. */
uint32_t ward_policy_rights_held(
	const struct ward_policy *p, const struct ward_state *s, const struct ward_granted *grants);

/*
 * Does this path show itself, and all beneath it, whatever the names there are? "No" may be said
 * where nothing is hidden, never the other way. Pure.
 */
bool ward_policy_shows_all(const struct ward_state *s);

/*
 * What guards, `noexec`, floor and project file leave of a path that is shown by another way than
 * [files]: a file of [system] read or --read. *ret_rule: the one that takes the first right of
 * `want` that is missing, borrowed; NULL: none of `want` is. Pure.
 */
uint32_t ward_policy_ceiling(const struct ward_policy *p, const struct ward_state *s, uint32_t want,
	const struct ward_rule **ret_rule);

/*
 * One directory has two names, in two trees. May the second one, or what lies beneath it, give a
 * right that guards, `noexec`, floor or project file take under the first? Asked of rules of these
 * sources: a set of 1 << enum ward_source_kind. *ret_rule, filled for true: one that does. "Yes"
 * may be said where nothing is given, never the other way. Pure.
 */
#define WARD_SOURCES_ALL ((1U << WARD_SOURCE_COUNT_) - 1)
bool ward_policy_reveals(const struct ward_policy *p, const struct ward_state *first,
	const struct ward_state *second, uint32_t sources, const struct ward_rule **ret_rule);

/*
 * The decision. Pure and total: no I/O, no lock, no allocation, no clock; any request gets an
 * answer, a malformed one is refused. trace may be NULL.
 */
struct ward_decision ward_policy_decide(
	const struct ward_policy *p, const struct ward_request *req, struct ward_trace *trace);

/*
 * Looking beneath a directory that is to move, where the rules alone leave open whether something
 * there would gain a right (ward_decision.look).
 *
 * All that exists beneath is stepped from src and from dst at once; subtrees in which the rules
 * alone rule a gain out are not entered. The caller reads the directories: `dir` and what open()
 * gives are its own. 0: nothing that exists gains; the rename is decided once more with
 * WARD_REQUEST_LOOKED. -EXDEV: something gains, or a bound is met; -ENOMEM; what a callback says.
 * The caller must keep out everybody who can make names there without this policy meanwhile, or the
 * answer is about what was there.
 */
struct ward_look_ops {
	/* Opens the directory `name` of dir. */
	int (*open)(void *user, void *dir, const char *name, void **ret);
	/* 1: the next entry, never "." or ".."; 0: no more; a negative errno. */
	int (*next)(void *user, void *dir, char name[WARD_LOOK_NAME_SIZE], bool *ret_is_dir);
	void (*close)(void *user, void *dir);
};
int ward_policy_look(const struct ward_policy *p, const struct ward_state *src,
	const struct ward_state *dst, const struct ward_look_ops *ops, void *user,
	void *dir) ward_must_check;

/*
 * Appends a pattern that matches exactly these bytes of a path or name: special characters get a
 * backslash, a byte that no policy file can hold (a control character) becomes '?'. A leading '/'
 * is what makes it anchored.
 */
void ward_pattern_quote(struct ward_buf *b, const char *path, size_t len);

/*
 * What a setting was said as. shipped: lines of shipped profiles alone say it, so it is a default:
 * nobody who is responsible for this host wrote it.
 */
struct ward_said {
	const char *value; /* as written: "75%"; borrowed */
	const char *file;  /* borrowed */
	unsigned line;
	uint64_t number; /* what it comes to; WARD_UNLIMITED: nobody says anything */
	bool share;	 /* a percentage, or all-N: number depends on the host */
	bool shipped;
};
/* offset: of a member of struct ward_settings. False: no source says it; a default holds. */
bool ward_policy_said(const struct ward_policy *p, size_t offset, struct ward_said *ret);
#define WARD_SAID(p, member, ret) ward_policy_said(p, offsetof(struct ward_settings, member), ret)

/* Names for people and for the trail; "?" for values out of range. */
const char *ward_verb_name(enum ward_verb v);
const char *ward_verdict_name(enum ward_verdict v);
const char *ward_fact_name(enum ward_fact f); /* "there", "differs", "committed", … */
const char *ward_source_name(enum ward_source_kind k);
/* Appends "read,append" style names of the set in bit order; "-" for none. */
void ward_rights_format(struct ward_buf *b, uint32_t rights);
