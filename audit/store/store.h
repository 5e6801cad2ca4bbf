/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where trails lie (audit/format.h draws the directory) and how sessions get their names. Used by
 * the supervisor, which makes a session and hands the descriptors to wardfs-audit, and by the
 * commands that read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "audit/format.h"
#include "audit/log/log.h"
#include "audit/write/ledger_tree.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

struct ward_store;

/*
 * The state directory: xdg_state_home/wardfs if that is an absolute path (the value of
 * $XDG_STATE_HOME, NULL: unset), else /var/lib/wardfs for uid 0, else home/.local/state/wardfs
 * (home: of the owner). *ret_path is the caller's (free()).
 */
int ward_store_default_path(uid_t uid, const char *xdg_state_home, const char *home,
	char **ret_path, struct ward_err *err) ward_must_check;

/*
 * Opens the state directory; create: makes it and what is missing above (0700), the root key and
 * the signing key.
 * Refused (-EPERM) when others can write to it, or it belongs to another uid than the process'
 * (root may read it nevertheless).
 * -ENOENT if it does not exist. *ret is the caller's.
 */
int ward_store_open(const char *path, bool create, struct ward_store **ret,
	struct ward_err *err) ward_must_check;
/*
 * Before something else than trails is changed in the state directory: 0 if only the caller can
 * change it, or if it does not exist. -EPERM: it belongs to another user (whose links root would
 * follow), or others can write to it.
 */
int ward_store_is_ours(const char *path, struct ward_err *err) ward_must_check;
/*
 * The state directory that the system's writer keeps for a user, top/UID, to be read: by that user,
 * or by root. -ENOENT: it has none. -EPERM: it does not belong to whom top belongs to, or to the
 * user, or others can write to one of them. The root key can then mostly not be read
 * (ward_store_read_key(): -EACCES). *ret is the caller's.
 */
int ward_store_open_system(
	const char *top, uid_t uid, struct ward_store **ret, struct ward_err *err) ward_must_check;
/* A file of public keys is no longer. */
#define WARD_STORE_KEYS_MAX 65536
/*
 * Lets uid read trails, those that are there and those that come, and the public keys that sign
 * them (a file that it adds the present one to), by access control lists (acl(5)). Keys and ledger
 * stay ours: who can open a file can lock it (flock(2)), and writers lock the ledger. What exists
 * below sessions is not gone through: call it when the directory is made. -EOPNOTSUPP: the file
 * system has no such lists.
 */
int ward_store_let_read(struct ward_store *st, uid_t uid, struct ward_err *err) ward_must_check;
/* Those keys, one a line. *ret_fd is the caller's. -ENOENT: not a directory of that kind. */
int ward_store_open_public_keys(
	struct ward_store *st, int *ret_fd, struct ward_err *err) ward_must_check;
void ward_store_close(struct ward_store *st);
/*
 * The index over the trails (index.h) shall lie in dir (make: which is made): those of the system's
 * writer are in a directory that their reader cannot write to. owner: whose trails they are.
 */
int ward_store_place_index(struct ward_store *st, const char *dir, bool make, uid_t owner,
	struct ward_err *err) ward_must_check;
/* Where it lies, the caller's; NULL without memory, or if the directory has no path. */
char *ward_store_index_path(const struct ward_store *st);
/*
 * Is it in a directory of the caller's? What another user puts beside a database, such as a
 * journal, has SQLite write and delete files.
 */
bool ward_store_index_ours(const struct ward_store *st);
/* The directory, open (O_PATH); borrowed. */
int ward_store_dir(const struct ward_store *st);
/* The path as it was given; borrowed. */
const char *ward_store_path(const struct ward_store *st);

/* "20260102T030405Z-x7k2qp" and NUL: sorts by time. */
#define WARD_SESSION_ID_MAX 32
int ward_store_session_id(char ret[WARD_SESSION_ID_MAX], struct ward_err *err) ward_must_check;

/* A session's files, opened for writing; each descriptor is close-on-exec. */
struct ward_store_session {
	char name[WARD_SESSION_NAME_MAX + 1];
	int dir_fd;	  /* O_PATH: sessions/NAME */
	int log_fd;	  /* O_RDWR|O_APPEND: the segment that is written */
	unsigned segment; /* its number */
	struct ward_ledger_files ledger;
	int key_fd;	    /* O_RDONLY */
	int sign_fd;	    /* O_RDONLY: the signing key's seed */
	int checkpoints_fd; /* O_RDWR|O_APPEND, new */
};
#define WARD_STORE_SESSION_INIT                                                                    \
	((struct ward_store_session){.dir_fd = -1,                                                 \
		.log_fd = -1,                                                                      \
		.ledger = WARD_LEDGER_FILES_INIT,                                                  \
		.key_fd = -1,                                                                      \
		.sign_fd = -1,                                                                     \
		.checkpoints_fd = -1})

/*
 * Makes a session. name NULL: a fresh ward_store_session_id(); a name that exists gets a number
 * ("NAME.2"). policy (len bytes) is kept beside the trail. On disk only after ward_store_sync():
 * -EINVAL for a bad name; whatever open(2) and write(2) answer where the trail cannot be written:
 * then nothing must start. *ret is the caller's (ward_store_session_close()).
 */
int ward_store_create_session(struct ward_store *st, const char *name, const void *policy,
	size_t len, struct ward_store_session *ret, struct ward_err *err) ward_must_check;
/*
 * Closes s and removes its directory. Used when the session's writer did not become ready. Does
 * nothing to a trail that is not empty.
 */
void ward_store_discard_session(struct ward_store *st, struct ward_store_session *s);
/*
 * Deletes the trail of a session that has ended, with what lies beside it. -EBUSY: a writer has it.
 * Say so in the ledger before (ward_ledger_removed()).
 */
int ward_store_remove_session(
	struct ward_store *st, const char *session, struct ward_err *err) ward_must_check;
void ward_store_session_close(struct ward_store_session *s);

/*
 * Keeps the text of a policy that comes into force later beside the first one: "policy.N". On disk
 * when it returns. N from 1.
 */
int ward_store_add_policy(struct ward_store_session *s, unsigned n, const void *policy, size_t len,
	struct ward_err *err) ward_must_check;
/* It did not come into force. */
void ward_store_drop_policy(struct ward_store_session *s, unsigned n);

/* Names, sorted; free()d by ward_store_names_free(). */
struct ward_store_names {
	char **v;
	size_t n;
};
/*
 * The mark of a session that began and has not ended: a file running/NAME with a text, locked
 * (flock(2)) by its supervisor for as long as that lives. It gets its name by ward_store_sync();
 * *ret_fd holds the lock and is the caller's.
 */
int ward_store_mark(struct ward_store *st, const char *session, const char *text, int *ret_fd,
	struct ward_err *err) ward_must_check;
/*
 * A session that was just made, and its mark, to disk, in this order: files, names, the mark's
 * name. Before this nothing may be written into trail or ledger. All at once: what several files
 * need is mostly one commit of the file system's journal. Failing leaves no mark.
 */
int ward_store_sync(struct ward_store *st, const struct ward_store_session *s, int mark_fd,
	struct ward_err *err) ward_must_check;
/*
 * Removes what is left of starts that were killed before ward_store_sync(): their marks, and their
 * sessions, which have no record.
 */
void ward_store_sweep(struct ward_store *st);

/*
 * The same where the start was killed before even its mark was there: directories without a record,
 * older than before_s (seconds since 1970, by their time of change), that the ledger does not know.
 */
typedef bool ward_store_knows(const void *user, const char *session);
void ward_store_drop_unborn(
	struct ward_store *st, uint64_t before_s, ward_store_knows *knows, const void *user);
/* The session ended. 0 also if there is no mark. */
int ward_store_unmark(struct ward_store *st, const char *session) ward_must_check;
int ward_store_list_marks(
	struct ward_store *st, struct ward_store_names *ret, struct ward_err *err) ward_must_check;
/*
 * Takes the mark of a session whose supervisor is gone, and its text. -EWOULDBLOCK: supervisor,
 * writer or another one who took it still live. -ENOENT: it is gone.
 */
int ward_store_take_mark(struct ward_store *st, const char *session, int *ret_fd,
	struct ward_buf *ret_text, struct ward_err *err) ward_must_check;
/* The files of a session that is there, as ward_store_create_session() opens them. */
int ward_store_reopen_session(struct ward_store *st, const char *session,
	struct ward_store_session *ret, struct ward_err *err) ward_must_check;

/* log_fd and segment become those that a recovery writer goes on in (ward_segment_last()). */
int ward_store_last_segment(struct ward_store_session *s, struct ward_err *err) ward_must_check;

/* The directory of a session; *ret_fd is the caller's. -ENOENT. */
int ward_store_open_session(struct ward_store *st, const char *session, int *ret_fd,
	struct ward_err *err) ward_must_check;
/*
 * True if `every` seconds went by since it was last, or if it never was; from now on it was. The
 * file "pruned" remembers. False also where that cannot be written.
 */
bool ward_store_daily(struct ward_store *st, uint64_t now_s, uint64_t every);
/* As if it never was. */
void ward_store_daily_again(struct ward_store *st);

/*
 * True if `text`, one line, is news to the reader of this directory: no line of the file `said`, a
 * name in it, says it. From now on one does. True also where that cannot be written.
 */
bool ward_store_is_news(struct ward_store *st, const char *said, const char *text);

/*
 * What the directory of the sessions looks like from outside: its times change when a directory of
 * a session comes or goes. -ENOENT: it is not there.
 */
int ward_store_stat_sessions(struct ward_store *st, struct stat *ret) ward_must_check;
/* Names of the sessions that have a directory. */
int ward_store_list(
	struct ward_store *st, struct ward_store_names *ret, struct ward_err *err) ward_must_check;
void ward_store_names_free(struct ward_store_names *names);

/* Is it this session that is looked for? */
struct ward_store_wanted {
	bool (*is)(void *user, const char *name);
	void *user;
};
/*
 * Of those that are wanted (NULL: of all) the one that the ledger saw start last. As
 * ward_store_find(). *ret_missing: the last session that started after it and whose directory is
 * gone, while no entry says so; NULL: none. The caller frees both.
 */
int ward_store_find_last(struct ward_store *st, const struct ward_store_wanted *wanted,
	char **ret_name, char **ret_missing, struct ward_err *err) ward_must_check;
/*
 * The session that `what` means: NULL or "latest" the one that the ledger saw start last, else an
 * exact name, else the only one that begins so. -ENOENT: none; -EEXIST: several (err lists them).
 * *ret_name is the caller's (free()).
 */
int ward_store_find(struct ward_store *st, const char *what, char **ret_name,
	struct ward_err *err) ward_must_check;

/* For reading; what is opened is the caller's. -ENOENT where there is none. */
int ward_store_open_log(struct ward_store *st, const char *session, struct ward_log **ret,
	struct ward_err *err) ward_must_check;
int ward_store_open_checkpoints(struct ward_store *st, const char *session, int *ret_fd,
	struct ward_err *err) ward_must_check;
int ward_store_open_policy(struct ward_store *st, const char *session, int *ret_fd,
	struct ward_err *err) ward_must_check;
int ward_store_open_ledger(
	struct ward_store *st, int *ret_fd, struct ward_err *err) ward_must_check;
/* Its checkpoints, and those that witnesses cosigned. -ENOENT: there are none. */
int ward_store_open_ledger_checkpoints(
	struct ward_store *st, int *ret_fd, struct ward_err *err) ward_must_check;
int ward_store_open_cosigned(
	struct ward_store *st, int *ret_fd, struct ward_err *err) ward_must_check;
/*
 * What an earlier reading of the ledger found (verify/ledger_seen.h). -ENOENT: there is none, or it
 * is not a file that the directory's owner alone writes, who is the caller if the caller is not
 * root.
 */
int ward_store_read_seen(struct ward_store *st, struct ward_buf *ret) ward_must_check;
/* Replaces it; the owner of the directory gets it. -EPERM: the directory is another user's, and the
 * caller is not root. */
int ward_store_write_seen(struct ward_store *st, const struct ward_buf *b) ward_must_check;
/* For a further entry; made where they are missing. ward_ledger_files_close(). */
int ward_store_extend_ledger(
	struct ward_store *st, struct ward_ledger_files *ret, struct ward_err *err) ward_must_check;
/* For a further one that was cosigned: O_RDWR|O_APPEND. */
int ward_store_extend_cosigned(
	struct ward_store *st, int *ret_fd, struct ward_err *err) ward_must_check;
/*
 * The root key, and the seed of the signing key. -EINVAL if the file is not one. Wipe them after
 * use (ward_chain_wipe()).
 */
int ward_store_read_key(
	struct ward_store *st, uint8_t ret[WARD_KEY_BYTES], struct ward_err *err) ward_must_check;
int ward_store_read_seed(
	struct ward_store *st, uint8_t ret[WARD_KEY_BYTES], struct ward_err *err) ward_must_check;
/*
 * Waits until no other command changes the keys; until the store is closed none will. Needed where
 * what was read decides what is written.
 */
int ward_store_lock(struct ward_store *st, struct ward_err *err) ward_must_check;
/* Replaces the present signing key by a fresh one, and removes the old file. */
int ward_store_rotate_seed(struct ward_store *st, struct ward_err *err) ward_must_check;
