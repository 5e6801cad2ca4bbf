/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a session: every key of the policy that is not a path rule, after all sources
 * were merged. Filled by ward_policy_compile(); read-only afterwards. wardfs-policy(5) lists each
 * key with its type, default and merge rule.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/policy/proxy.h"

#include "enforcer/base/limit.h"

struct ward_mode; /* a row of the table of modes: enforcer/modes/table/mode.h */

/* Prepared sessions of one user on a host, of all projects together ([session] warm): each has
 * four processes and some memory. */
#define WARD_WARM_MAX 8U

enum ward_trust { WARD_TRUST_LOW = 0, WARD_TRUST_MEDIUM, WARD_TRUST_HIGH };
enum ward_hardlinks { WARD_HARDLINKS_DENY = 0, WARD_HARDLINKS_READ, WARD_HARDLINKS_ALLOW };
/* What becomes of changes of a tree: the closest first. */
enum ward_changes { WARD_CHANGES_DISCARD = 0, WARD_CHANGES_REVIEW, WARD_CHANGES_DIRECT };
enum ward_home { WARD_HOME_NONE = 0, WARD_HOME_TMPFS, WARD_HOME_PROJECT };
enum ward_net { WARD_NET_NONE = 0, WARD_NET_ALLOWLIST, WARD_NET_PROXY, WARD_NET_HOST };
enum ward_sni { WARD_SNI_REQUIRE = 0, WARD_SNI_LOG, WARD_SNI_OFF };
enum ward_view { WARD_VIEW_MINIMAL = 0, WARD_VIEW_READONLY };
/* What a run does about an image that the store lacks. */
enum ward_pull { WARD_PULL_NEVER = 0, WARD_PULL_MISSING, WARD_PULL_REGISTRY };
enum ward_audit_log { WARD_LOG_IO = 0, WARD_LOG_OPENS, WARD_LOG_DENIALS };
enum ward_audit_hash { WARD_HASH_ALL = 0, WARD_HASH_WRITES, WARD_HASH_NONE };
enum ward_audit_sync { WARD_SYNC_RECORD = 0, WARD_SYNC_BATCH, WARD_SYNC_CLOSE };
/* Whose process writes the trail, and with whose key. */
enum ward_audit_writer { WARD_WRITER_SYSTEM = 0, WARD_WRITER_OWN };
enum ward_redact { WARD_REDACT_ARGV = 0, WARD_REDACT_SNI, WARD_REDACT_NOTHING };
enum ward_on_failure { WARD_ON_FAILURE_STOP = 0, WARD_ON_FAILURE_DENY };

/* The closest first. */
enum ward_python { WARD_PYTHON_RESTRICTED = 0, WARD_PYTHON_ANY };

/* The closest first. */
enum ward_seccomp_list { WARD_LIST_NO_EXEC = 0, WARD_LIST_STRICT, WARD_LIST_DEFAULT };

/* A list of strings, each NUL-terminated. */
struct ward_strings {
	char **v;
	size_t n;
};

/* One [tree P]. */
struct ward_tree {
	char *path;   /* the sandbox path P, absolute, normalised */
	char *source; /* host path as written after ~ and relative resolution; NULL for tmpfs */
	uint64_t tmpfs_size; /* source = tmpfs:SIZE, else 0 */
	char *at;	     /* "same", "none" or an absolute path */
	enum ward_hardlinks hardlinks;
	bool acl; /* an ordinary user's session can read and set POSIX ACLs */
	enum ward_changes changes;
	bool of_run;			  /* of the command line */
	struct ward_strings seed;	  /* lines of files, as ward_seed_parse() takes apart */
	struct ward_strings seed_project; /* the same, once for each project */
};

/* One line of `seed`: "FILE[ if NAME]: TEXT". Names and text are borrowed. */
struct ward_seed_line {
	const char *file, *name; /* the file in the tree; a variable's name, or none */
	size_t file_len, name_len;
	const char *text;
};
/* What stands for the project's path inside, in a text. */
#define WARD_SEED_PROJECT "@PROJECT@"
struct ward_err;
/* -EINVAL; a file is a relative path of plain names. */
int ward_seed_parse(const char *value, struct ward_seed_line *ret, struct ward_err *err);

/* Components of P in [quota P]. */
#define WARD_QUOTA_DEPTH_MAX 64

/* Keys of [quota P], in the order in which their limits stand in struct ward_quota. */
enum ward_quota_key {
	WARD_QUOTA_GROWTH = 0, /* bytes */
	WARD_QUOTA_FILES,
	WARD_QUOTA_FILE,  /* bytes of one file */
	WARD_QUOTA_RATE,  /* bytes in a time */
	WARD_QUOTA_CHURN, /* files in a time */
	WARD_QUOTA_KEYS_,
};

struct ward_quota_limit {
	uint64_t value; /* WARD_UNLIMITED: nothing is said */
	uint32_t per_s; /* rate, churn: the time, in seconds; else 0 */
	char *text;	/* "growth = 10G" as written; NULL: nothing is said */
	char *place;	/* "FILE:LINE" */
};

/* One [quota P]. */
struct ward_quota {
	char *path; /* the sandbox path P, absolute, normalised */
	struct ward_quota_limit limits[WARD_QUOTA_KEYS_];
};

/* Words of a key that repeats: 1 << index of each that was said. */
struct ward_word_set {
	uint32_t bits;
};

static inline bool ward_word_said(struct ward_word_set s, unsigned word)
{
	return s.bits >> word & 1;
}

struct ward_settings {
	char *name;		      /* never NULL */
	const struct ward_mode *mode; /* never NULL */
	enum ward_trust trust;
	bool fold;		 /* guards match letters of both cases */
	struct ward_tree *trees; /* sorted by path; /workspace is always there */
	size_t n_trees;
	struct ward_quota *quotas; /* sorted by path; each with a tree in, at or above it */
	size_t n_quotas;

	/* [limits]; WARD_UNLIMITED: none */
	bool limits_where_available; /* require = where-available */
	uint64_t cpus;		     /* tenths of one */
	uint64_t memory;	     /* bytes of the session, swap off */
	uint64_t processes;	     /* of the session */
	uint64_t open_files;	     /* RLIMIT_NOFILE */
	uint64_t file_size;	     /* bytes, RLIMIT_FSIZE */
	uint64_t cpu_time_ns;	     /* of all processes together */
	uint64_t wall_ns;
	uint64_t command_ns;	 /* of each command: `wardfs exec`, and an agent's shell tool */
	uint64_t per_command_ns; /* of each `wardfs exec` */
	uint64_t idle_ns;
	uint64_t grace_ns;  /* from SIGTERM to SIGKILL */
	uint64_t tmp_bytes; /* /tmp, /var/tmp, /run, /dev/shm together */
	bool core;

	enum ward_home home;
	uint64_t home_size; /* bytes; WARD_UNLIMITED: none. Of WARD_HOME_PROJECT */

	/* [system] */
	enum ward_view view;
	struct ward_strings system_read; /* host paths */
	char *image; /* as image_name.h says; NULL: the host's programs and libraries */

	/* [container], for a mode with an engine */
	char *engine;	       /* a word or an absolute path; NULL: the first that works */
	char *container_image; /* as image; NULL: that */
	enum ward_pull pull;   /* in each mode with images */
	uint64_t pull_ns;      /* for the engines of one fetch together */

	/* [env] */
	struct ward_strings env_pass; /* names or globs */
	size_t env_pass_always; /* the first ones, this many, come from no policy: they are always
				   passed */
	struct ward_strings env_set; /* NAME=VALUE */

	/* [process] */
	enum ward_seccomp_list seccomp;
	enum ward_python python;
	struct ward_strings imports; /* modules that a restricted script may import */
	bool terminal;
	struct ward_strings shells; /* how a command of an agent's begins: "bash -c" */
	enum ward_net net;
	enum ward_sni sni;
	uint64_t net_upload;		 /* bytes, of the session */
	uint64_t net_rate;		 /* thousandths of a byte a second, per destination */
	uint64_t net_connections;	 /* at once, per destination */
	uint64_t net_connect_ns;	 /* for each address of a server */
	uint64_t net_handshake_ns;	 /* until a hello or a request's head is whole */
	uint64_t net_idle_ns;		 /* nothing moves */
	struct ward_strings net_publish; /* "8080", "8080:80" */
	struct ward_strings net_forward;
	struct ward_strings net_socket; /* host paths */
	struct ward_proxy net_proxy;	/* of mode proxy; port 0: none is named */
	char *net_identify;		/* the header that identifies; NULL: none */

	/* [agent], [auto]: enforcer/policy/auto.h */
	uint32_t agent_tools;		    /* set of 1 << enum ward_risk_tool */
	uint64_t budget;		    /* hundredths; WARD_UNLIMITED: none is said */
	const struct ward_mode *auto_least; /* never NULL */
	struct ward_strings auto_points;    /* "ROW POINTS" */
	struct ward_strings auto_from;	    /* "MODE POINTS" */
	struct ward_strings auto_signers;   /* public keys: enforcer/policy/signer.h */

	/* [approvals] */
	uint64_t ask_ns;		 /* how long a request waits for a person */
	char *ask_command;		 /* host path; NULL: none */
	struct ward_strings approvers;	 /* public keys whose tokens and answers count */
	uint64_t approvers_needed;	 /* signed answers that it takes; 0: none */
	struct ward_strings break_glass; /* public keys whose tokens may lift guards */
	struct ward_strings revoked;	 /* host paths: lists of tokens that do not count */

	/* [session] */
	uint64_t warm;	  /* prepared sessions that wait; at most WARD_WARM_MAX */
	uint64_t warm_ns; /* how long each waits */

	/* [audit] */
	enum ward_audit_log log;
	enum ward_audit_hash hash;
	bool exec;		     /* programs that are started are recorded */
	struct ward_strings anchors; /* journald, syslog, file:PATH, exec:PATH; `none` alone */
	size_t anchors_floor;	     /* the first ones, this many, are the floor's */
	struct ward_word_set redact; /* of enum ward_redact */
	enum ward_on_failure on_failure;
	enum ward_audit_sync sync;
	enum ward_audit_writer writer;
	uint64_t checkpoint_records; /* the smallest count given, 0: none was */
	uint64_t checkpoint_ms;	     /* the shortest time given, 0: none was */
	uint64_t rotate;	     /* bytes of a segment of the trail */
	uint64_t keep_ns;	     /* how long a trail is kept */
	uint64_t review_every_ns;    /* a step once the tree was quiet for so long; WARD_UNLIMITED:
					none */
	struct ward_quota_limit review_size; /* of what is staged, in bytes */
	bool review_require_check;	     /* nothing is applied that no check succeeded on */
	bool review_require_sign;	     /* nor what approvers have not signed */
	uint64_t review_keep_ns;	     /* how long what an apply displaced is kept */

	/*
	 * Keys that were set to something whose machinery does not exist yet, as "FILE:LINE:
	 * [section] key = value"; `run` refuses these by name.
	 */
	struct ward_strings unavailable;
};
