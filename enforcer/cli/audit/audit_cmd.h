/* SPDX-License-Identifier: Apache-2.0 */
/* What a command line of `wardfs audit` asks: its options and words, and the store that they name.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/log/tlog.h"
#include "audit/store/store.h"
#include "audit/verify/verify.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/audit_filter.h"

/* More than anybody reads at the end of a trail. */
#define AUDIT_LINES_MAX 1000000U

#define AUDIT_LIMIT_ALL UINT64_MAX

/* Seconds that somebody may wait for a collector. */
#define AUDIT_SECONDS_MAX 86400U

/* Labels that one question may name. */
#define AUDIT_LABELS_MAX 8

struct audit_cmd {
	bool json;
	bool all;
	bool expected; /* denials: also those that the policy expects */
	bool rebuild;  /* index */
	bool verify;   /* the whole trail, also where the index answered */
	bool no_index; /* look at every line */
	bool verbose;  /* show, tail, file, process: long details whole */
	bool blame;    /* file: its lines, with their sessions */
	bool proof;    /* show, file, process: with proofs */
	bool color;
	bool follow;
	uint64_t limit; /* list: so many sessions; 0: not given; AUDIT_LIMIT_ALL */
	uint64_t lines; /* tail: so many records, AUDIT_LINES_MAX; 0: ten */
	struct audit_filter filter;
	const char *output; /* report, attest, bundle, timestamp: a file; NULL: stdout */
	bool replace;	    /* and it may be there already */
	const char *format; /* export; NULL: jsonl */
	const char *to;	    /* export: where to (export_to.h); NULL: stdout */
	const char *cursor; /* export: the file that says how far it came */
	const char *ca, *cert, *client_key, *headers; /* export: files; NULL: not given */
	bool timeout_given, retry_given;	      /* export */
	uint64_t timeout_s, retry_s;
	/* verify: public keys; with them neither root key nor ledger is looked at */
	struct ward_public_key keys[WARD_VERIFY_KEYS_MAX];
	size_t n_keys;
	/* Lines "FROM TO SIGNATURE" that were given, and the last argument with some. */
	struct ward_buf rotations;
	const char *rotations_of;
	struct ward_note_key witness; /* witness, verify: its key */
	bool has_witness;
	struct ward_note_key ledger_key; /* verify: of a ledger, for proofs of its entries */
	bool has_ledger_key;
	bool ledger;		 /* key show, prove: of the ledger, not of a session */
	const char *verified;	 /* verify --all: what was verified before; NULL: all is read */
	const char *digest;	 /* which that file must have; NULL: any */
	const char *checkpoints; /* verify: where a FILE's checkpoints are; NULL: beside it */
	bool has_from;		 /* prove: consistency */
	uint64_t from;		 /* prove: size of the earlier checkpoint */
	const char *prove_file;	 /* prove: all records of this file */
	uint64_t size;		 /* prove: of the (later) checkpoint; 0: the last one */
	uint64_t after;		 /* export: records with a larger seq only */
	bool force;		 /* remove: before its time */
	const char *reason;	 /* remove, hold, release; NULL: none was given */
	const char *labels[AUDIT_LABELS_MAX]; /* KEY=VALUE: only sessions that have all */
	size_t n_labels;
	/* Only sessions of this login, and of this session of the kernel's audit. */
	bool has_login, has_audit_session;
	uint64_t login, audit_session;
	const char *host;		      /* network; NULL: all */
	const char *since;		      /* network, guarantees; as it was typed; NULL: all */
	char since_time[WARD_CLOCK_TEXT_MAX]; /* and as records have it */
	const char *until;		      /* the same */
	char until_time[WARD_CLOCK_TEXT_MAX];
	const char *at;			   /* policy: as it was typed; NULL: not given */
	char at_time[WARD_CLOCK_TEXT_MAX]; /* and as records have it */
	const char *verb;		   /* as it was typed, for messages and the ledger */
	const char *object;		   /* file, process: what is asked about */
	const char *session;		   /* as given; NULL: the latest */
	const char *state;		   /* --state; NULL: the default */
	bool another; /* the answer is about another session than the latest, which has no trail */
	struct ward_store *store;
	bool system; /* it is the one that the system's writer keeps of owner */
	bool owner_given;
	uid_t owner;
};
