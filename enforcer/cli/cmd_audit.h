/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of `wardfs audit`. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "audit/store.h"
#include "audit/verify.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit_filter.h"

struct audit_cmd {
	bool json;
	bool all;
	bool rebuild;  /* index */
	bool verify;   /* the whole trail, also where the index answered */
	bool no_index; /* look at every line */
	bool proof;    /* show, file, process: with proofs */
	bool color;
	bool follow;
	uint64_t lines; /* tail: so many records; 0: ten */
	struct audit_filter *filter;
	const char *output; /* report: a file; NULL: stdout */
	const char *format; /* export; NULL: jsonl */
	const char *to;	    /* export: unix:PATH or tcp:HOST:PORT; NULL: stdout */
	const char *cursor; /* export: the file that says how far it came */
	/* verify: public keys; with them neither root key nor ledger is looked at */
	struct ward_public_key keys[WARD_VERIFY_KEYS_MAX];
	size_t n_keys;
	const char *checkpoints; /* verify: where a FILE's checkpoints are; NULL: beside it */
	bool has_from;		 /* prove: consistency */
	uint64_t from;		 /* prove: size of the earlier checkpoint */
	const char *prove_file;	 /* prove: all records of this file */
	uint64_t size;		 /* prove: of the (later) checkpoint; 0: the last one */
	uint64_t after;		 /* export: records with a larger seq only */
	const char *verb;	 /* for the ledger */
	const char *object;	 /* file, process: what is asked about */
	const char *session;	 /* as given; NULL: the latest */
	struct ward_store *store;
	bool system; /* it is the one that the system's writer keeps of owner */
	bool owner_given;
	uid_t owner;
};

/* Each returns the exit status, or a negative errno with err. */
int audit_cmd_list(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_show(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_file(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_process(struct audit_cmd *c, struct ward_err *err);
/*
 * Those three with --proof: the proofs of what the filter matches (path not NULL: of this file, as
 * it was given) to stdout; --json: each record beside its own.
 */
int audit_cmd_show_proofs(struct audit_cmd *c, const char *path, struct ward_err *err);
int audit_cmd_export(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_summary(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_denials(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_key(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_tail(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_diff(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_index(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_sql(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_report(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_attest(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_prove(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_verify(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_remove(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_prune(struct audit_cmd *c, struct ward_err *err);
int audit_cmd_bundle(struct audit_cmd *c, struct ward_err *err);

/* Says so on stderr, with where to read more. Returns 2, the exit status. */
int audit_cmd_usage(const char *what, const char *arg);

/* That the session's trail is read goes to the ledger; if it cannot, stderr says so. */
void audit_cmd_note_read(struct audit_cmd *c, const char *session);
/* The same of a question to all trails. */
void audit_cmd_note_question(struct audit_cmd *c, const char *question);

/*
 * Where the root key is the system's writer's: takes the public keys that it keeps beside the
 * trails, which nobody but it can write, in place of --key, and says so on stderr.
 */
int audit_cmd_system_keys(struct audit_cmd *c, struct ward_err *err) ward_must_check;
/* The public key that the host signs with now. */
int audit_cmd_present_key(
	struct audit_cmd *c, char ret[WARD_VKEY_MAX], struct ward_err *err) ward_must_check;
/* Takes --key: a public key, or a file with one a line. False if it is neither. */
bool audit_cmd_add_key(struct audit_cmd *c, const char *arg);

/* Finds the session and opens its log, and has the ledger say so. *ret_name and *ret are the
 * caller's. */
int audit_cmd_open(struct audit_cmd *c, char **ret_name, struct ward_log **ret,
	struct ward_err *err) ward_must_check;
/* To --output, else to stdout. */
int audit_cmd_write_out(
	const struct audit_cmd *c, const struct ward_buf *b, struct ward_err *err) ward_must_check;
/* Appends the signed statement about the session. *ret_intact: it says that the trail is. */
int audit_cmd_attest_make(struct audit_cmd *c, struct ward_buf *ret, bool *ret_intact,
	struct ward_err *err) ward_must_check;
/* On stderr: the names that the file had besides the one that was asked for, each once. NULL: none.
 */
void audit_cmd_say_names(const struct ward_file_names *names);
/* A path as it is called inside, escaped; a relative one is meant from the project. */
void audit_cmd_inside(const char *path, struct ward_buf *ret);
/* Prints a record in one line; rec NULL: the line is none. */
void audit_cmd_print(const struct audit_cmd *c, const json_t *rec);
/* "  read,write" for a set; nothing for an empty or missing one. */
void audit_cmd_print_rights(const json_t *set);
/* before, text, after, unless text is NULL or empty. */
void audit_cmd_print_text(const char *before, const char *text, const char *after);
/*
 * r: what came of looking for the session `what`. -ENOENT: err becomes what the ledger knows of it,
 * if it does. Returns r.
 */
int audit_cmd_gone(
	struct audit_cmd *c, const char *what, int r, struct ward_err *err) ward_must_check;
/* "removed TIME by user N" or "expired TIME"; nothing of what the ledger does not say so. */
void audit_cmd_gone_text(const struct ward_ledger_session *s, struct ward_buf *ret);
/* The ledger, verified. */
int audit_cmd_ledger(struct audit_cmd *c, const uint8_t root[WARD_KEY_BYTES],
	struct ward_ledger_view *ret, struct ward_err *err) ward_must_check;
/* On stderr, if the trail is not intact (or still being written). */
void audit_cmd_warn(struct audit_cmd *c, const char *session, struct ward_log *log);
