/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The settings of a session: every key of the policy that is not a path rule, after all sources
 * were merged. Filled by ward_policy_compile(); read-only afterwards. docs/policy.md lists each key
 * with its type, default and merge rule.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/limit.h"

enum ward_mode {
	WARD_MODE_UNSET = 0, /* refused */
	WARD_MODE_NONE,
	WARD_MODE_PROCESS,
	WARD_MODE_RESTRICTED,
	WARD_MODE_DOCKER,
	WARD_MODE_DENO,
	WARD_MODE_WASM,
	WARD_MODE_AUTO,
};

enum ward_hardlinks { WARD_HARDLINKS_DENY = 0, WARD_HARDLINKS_READ, WARD_HARDLINKS_ALLOW };
enum ward_home { WARD_HOME_NONE = 0, WARD_HOME_TMPFS, WARD_HOME_PROJECT };
enum ward_net { WARD_NET_NONE = 0, WARD_NET_ALLOWLIST, WARD_NET_PROXY, WARD_NET_HOST };
enum ward_view { WARD_VIEW_MINIMAL = 0, WARD_VIEW_READONLY };
enum ward_audit_log { WARD_LOG_IO = 0, WARD_LOG_OPENS, WARD_LOG_DENIALS };
enum ward_audit_sync { WARD_SYNC_RECORD = 0, WARD_SYNC_BATCH, WARD_SYNC_CLOSE };
enum ward_on_failure { WARD_ON_FAILURE_STOP = 0, WARD_ON_FAILURE_DENY };

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
};

struct ward_settings {
	char *name;
	enum ward_mode mode;
	struct ward_tree *trees; /* sorted by path; /workspace is always there */
	size_t n_trees;

	/* [limits] */
	uint64_t processes;  /* RLIMIT_NPROC */
	uint64_t open_files; /* RLIMIT_NOFILE */
	uint64_t file_size;  /* bytes, RLIMIT_FSIZE */
	uint64_t wall_ns;
	uint64_t tmp_bytes; /* /tmp, /var/tmp, /run, /dev/shm together */
	bool core;

	enum ward_home home;

	/* [system] */
	enum ward_view view;
	struct ward_strings system_read; /* host paths */

	/* [env] */
	struct ward_strings env_pass; /* names or globs */
	struct ward_strings env_set;  /* NAME=VALUE */

	bool terminal;
	enum ward_net net;

	/* [audit] */
	enum ward_audit_log log;
	enum ward_on_failure on_failure;
	enum ward_audit_sync sync;
	uint64_t checkpoint_records; /* the smallest count given, 0: none was */
	uint64_t checkpoint_ms;	     /* the shortest time given, 0: none was */

	/*
	 * Keys that were set to something whose machinery does not exist yet, as "FILE:LINE:
	 * [section] key = value"; `run` refuses these by name.
	 */
	struct ward_strings unavailable;
};
