/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run risks, in points, and the least isolation that suffices for them: `mode = auto` and
 * `wardfs risk`. docs/risk.md explains it to people.
 *
 * Three steps. Gatherers look at the policy, the program and earlier sessions, and fill in facts.
 * ward_risk_score() makes points of the facts by conf/risk.table; it is pure. ward_risk_choose()
 * picks a mode. No network, no program, nothing at random: the same facts give the same answer.
 *
 * The project and its files, a kept home and what an agent calls itself are the agent's to write.
 * So no fact makes the sum less, and a look that fails counts as the worse answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/limit.h"
#include "enforcer/modes/modes.h"
#include "enforcer/policy/auto.h"
#include "enforcer/policy/settings.h"

struct ward_store; /* audit/store/store.h */

/* Where a program comes from. 0 is the safe answer. */
enum ward_origin {
	WARD_ORIGIN_UNKNOWN = 0, /* it was not found */
	WARD_ORIGIN_PROJECT,	 /* in a tree, a kept home, or where everybody can write */
	WARD_ORIGIN_DOWNLOAD,
	WARD_ORIGIN_MANAGER, /* of npm, pipx, cargo and the like */
	WARD_ORIGIN_SYSTEM,  /* root's, of no package */
	WARD_ORIGIN_SIGNED,  /* of these three, and signed with a key of [auto] signers */
	WARD_ORIGIN_PACKAGE, /* of a package of the distribution */
	WARD_ORIGIN_NONE,    /* no command was given */
};

/* How long ago the program changed last. 0 is the safe answer. */
enum ward_age { WARD_AGE_DAY = 0, WARD_AGE_WEEK, WARD_AGE_MONTH, WARD_AGE_OLD };

#define WARD_RISK_DAY_NS (UINT64_C(24) * 3600 * 1000000000)
/* Is this tool in f->tools? */
#define WARD_RISK_WANTS(f, tool) ((f)->tools >> WARD_TOOL_##tool & 1)

/* What the signatures beside a program are worth. Of several the last one here counts. */
enum ward_signed_state {
	WARD_SIGNED_NONE = 0, /* there is none, or no key is named */
	WARD_SIGNED_FOREIGN,  /* with a key that is not named */
	WARD_SIGNED_GOOD,
	WARD_SIGNED_BAD, /* it does not verify, or cannot be checked */
};
const char *ward_signed_word(enum ward_signed_state s);
struct ward_signed {
	enum ward_signed_state state;
	char signer[17];    /* the key that the signature names; "": none */
	const char *suffix; /* of the file beside the program */
	const char *why;    /* of WARD_SIGNED_BAD */
};

/* The program, as it was found: the same file, unless its inode was changed since. */
struct ward_risk_program {
	char *path;    /* host path without links, owned; NULL: none was found */
	char *package; /* owned; NULL: not of a package */
	uint64_t dev, ino, size;
	int64_t ctime_ns; /* of the inode's last change, since 1970 */
	bool has_digest;  /* SHA-256 of its content */
	uint8_t digest[32];
	const char *no_digest; /* why there is none */
	char *made_by;	       /* "npm NAME VERSION" and the like, owned; NULL: nobody says */
	struct ward_signed sign;
};

struct ward_risk_facts {
	/* of the policy: ward_risk_look_policy() */
	bool writes_part; /* anything of /workspace */
	bool writes_project;
	unsigned writes_beyond; /* trees */
	bool host_executes;
	bool people_run;
	bool reads_secrets;
	unsigned lifts;		 /* lines */
	unsigned passes_secrets; /* variables */
	bool shows_host;
	bool runs_written;
	bool any_program;
	unsigned anti_patterns;
	uint32_t tools;	 /* set of 1 << enum ward_risk_tool */
	uint64_t budget; /* hundredths; WARD_UNLIMITED: none is said */
	enum ward_trust trust;
	enum ward_net net;
	unsigned hosts, wildcards, open_hosts, ways;
	enum ward_sni sni;
	uint64_t time_ns;     /* the least of wall, idle and CPU time; WARD_UNLIMITED: none */
	uint64_t memory;      /* bytes; WARD_UNLIMITED */
	uint64_t host_memory; /* bytes; 0: not known */
	uint64_t cpus;	      /* tenths; WARD_UNLIMITED */
	uint64_t growth;      /* bytes; WARD_UNLIMITED: a tree has no such quota */
	uint64_t processes;   /* WARD_UNLIMITED */
	bool limits_where_available;

	/* of the program: ward_risk_look_program() */
	bool named; /* a command was given */
	enum ward_origin origin;
	bool fetched;
	bool others_write;
	bool bad_signature;
	enum ward_age age;
	bool seen; /* ward_risk_look_past() */
	/* What runs in the end is not known: a name that leads elsewhere inside, or nowhere here;
	 * an option that is not understood. It counts as a new file of the project. */
	bool unresolved;
	struct ward_risk_program program;

	/* of earlier sessions: ward_risk_look_past() */
	unsigned past; /* sessions that were looked at */
	uint64_t past_refused;
	unsigned past_limits, past_probes, past_cut, past_loose, past_executed; /* sessions */
	unsigned past_gone; /* sessions that only the ledger of the user who keeps the trails has
			     */

	/* The line of the policy, or the fact, behind a row; owned, NULL: there is none. */
	char *behind[WARD_RISK_ROWS];
};
#define WARD_RISK_FACTS_INIT                                                                       \
	((struct ward_risk_facts){.age = WARD_AGE_OLD, .origin = WARD_ORIGIN_NONE})
void ward_risk_facts_clear(struct ward_risk_facts *f);
/* Adds to what is behind a row, with a comma; more than WARD_RISK_BEHIND_MAX bytes are cut. */
#define WARD_RISK_BEHIND_MAX 160U
void ward_risk_behind(struct ward_risk_facts *f, enum ward_risk_row row, const char *fmt, ...)
	ward_printf(3, 4);

/* --- gathering --- */

/*
 * From a policy that is loaded as a whole (ward_policy_load()). trust: what `run --trust` says,
 * which can only make it less; WARD_TRUST_HIGH says nothing. -ENOMEM.
 */
int ward_risk_look_policy(const struct ward_policy *p, enum ward_trust trust,
	struct ward_risk_facts *f, struct ward_err *err) ward_must_check;

/* A variable that the command gets besides ("NAME" or "NAME=VALUE"); where: "--env". */
void ward_risk_pass(struct ward_risk_facts *f, const char *variable, const char *where);

/*
 * From the host. Call it with the rights of the session's owner. What the command names is looked
 * at and never executed. At most WARD_RISK_DIGEST_MAX bytes of it are read, or as many as its
 * signature needs (signature.h).
 */
#define WARD_RISK_DIGEST_MAX ((size_t)2 << 20)
struct ward_risk_command {
	char *const *argv; /* NULL: none */
	const char *path;  /* PATH of the caller, or NULL */
	const char *cwd;   /* absolute */
	const char *home;  /* the owner's, or NULL */
	uint32_t owner;	   /* uid */
	/* Directories of the host that sessions can write: sources of trees, kept homes. */
	const char *const *written;
	size_t n_written;
	/* NULL: where dpkg keeps its lists. Only what root alone can write is believed. */
	const char *packages;
	const struct ward_strings *signers; /* [auto] signers; NULL: none */
	const char *const *env;		    /* NAME=VALUE or NAME, of --env */
	size_t n_env;
	struct timespec now; /* CLOCK_REALTIME */
};
int ward_risk_look_program(const struct ward_risk_command *c, struct ward_risk_facts *f,
	struct ward_err *err) ward_must_check;

/*
 * From the trails of the owner's latest sessions in this project (absolute host path), or of this
 * program where it is of no package. Of another owner's trail the first record is looked at, which
 * names the owner, and nothing counts. Call it with the rights of the user who keeps the trails,
 * after ward_risk_look_program(). No trail is verified: `wardfs audit verify` does that. -ENOMEM,
 * or what listing the sessions fails with.
 */
#define WARD_RISK_PAST_LISTED 512U /* sessions whose time is read */
#define WARD_RISK_PAST_BEGUN 24U   /* whose first record is read */
/* Of the others those count whose first record names the project, and this much of it is read. */
#define WARD_RISK_PAST_START (16U << 10)
#define WARD_RISK_PAST_MAX 8U		  /* whose further records are read */
#define WARD_RISK_PAST_BYTES (128U << 10) /* at each end of a trail; of the ledger, at its end */
int ward_risk_look_past(struct ward_store *st, const char *project, uint32_t owner,
	struct ward_risk_facts *f, struct ward_err *err) ward_must_check;

/* --- scoring --- */

struct ward_risk_scored {
	unsigned each, count, points; /* points = each * count */
};
struct ward_risk_report {
	unsigned points;
	struct ward_risk_scored rows[WARD_RISK_ROWS];
};
const char *ward_risk_sentence(enum ward_risk_row row);
/* Pure. s: for [auto] points; NULL: as shipped. */
void ward_risk_score(const struct ward_risk_facts *f, const struct ward_settings *s,
	struct ward_risk_report *ret);

/* --- choosing --- */

struct ward_risk_wish {
	const struct ward_settings *settings;
	const struct ward_mode *floor; /* of the floor's `mode`, or NULL */
	bool trusted;		       /* `run --trust high` */
	bool programs;		       /* the policy lists programs */
	/*
	 * Does the mode take this policy and, where there is one, this command, with what the
	 * host has? 0, or why not, as ward_mode_look(). NULL: nothing more is asked.
	 */
	int (*suits)(void *user, const struct ward_mode *m, struct ward_err *why);
	void *user;
};
struct ward_risk_choice {
	const struct ward_mode *mode;  /* NULL: none, and `passed` says why */
	const struct ward_mode *asked; /* what the points ask for at least */
	const struct ward_mode *least; /* what policy and floor ask for at least */
	char *passed;		       /* modes that would have sufficed, and why not; owned */
};
void ward_risk_choice_clear(struct ward_risk_choice *c);
/*
 * The weakest mode that suffices, can carry out what the policy asks for, works on this host and
 * takes this command. 0 also where there is none; -ENOMEM.
 */
int ward_risk_choose(unsigned points, const struct ward_risk_wish *w, struct ward_risk_choice *ret,
	struct ward_err *err) ward_must_check;
/* From how many points on this mode is taken, with [auto] from; WARD_RISK_NEVER. s may be NULL. */
unsigned ward_risk_threshold(const struct ward_mode *m, const struct ward_settings *s);

/* "57 points → restricted: writes files that this host executes (+20), …": the largest rows. */
void ward_risk_line(
	const struct ward_risk_report *r, const struct ward_risk_choice *c, struct ward_buf *ret);
