/* SPDX-License-Identifier: Apache-2.0 */
/* The running sessions of the caller. */
#pragma once

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>

/*
 * What every session answers to "status" (enforcer/session/control/control.h), as an array; never
 * NULL but for want of memory. Directories of dead ones (their supervisor was killed) are removed.
 * A session that does not answer is left out without a word on stderr.
 */
json_t *ward_sessions_running(const char *runtime);

/*
 * The session that a word of the command line means. "latest" (no session has that name): the one
 * of this project that was started last of those that run; outside of any project, of all. NAME:
 * the newest of NAME, NAME.2, NAME.3, …, as the store numbers sessions of one name, that runs;
 * NAME.1 is the first of them. Where that is not what was written, it is said on stderr. The
 * caller's to free. NULL after a message: none runs, or there is no memory.
 */
char *ward_sessions_meant(const char *word);
/* The same for what cannot be taken back: NULL after a message where several of the name run. */
char *ward_sessions_meant_alone(const char *word);

/* What a verb about running sessions is asked. */
struct ward_sessions_asked {
	const char *session; /* NULL: all of them */
	bool json;
};
/*
 * Its parser: one session at most, and -j. state->input: a struct ward_sessions_asked, or one that
 * begins with it, of a verb whose parser passes on what it does not take itself.
 */
error_t ward_sessions_parse(int key, char *arg, struct argp_state *state);

/* For ARGP_KEY_END of a verb that needs a session: wrong use (argp_error()) where none was named.
 */
void ward_sessions_need(const struct argp_state *state, const char *session);

/*
 * Those, or the one named alone (session not NULL; "latest" as above). 0, or 1 after a message
 * where it does not run; *ret_runtime, for ward_sessions_ask(), is the caller's to free and
 * *ret_all to decref, NULL where there is no runtime directory. *ret_silent: some of those that
 * were meant do not answer, which a message says; whether they run is not known.
 */
int ward_sessions_choose(
	const char *session, char **ret_runtime, json_t **ret_all, bool *ret_silent);

/* Says on stderr that no session of the caller runs, and what to type. */
void ward_sessions_say_none(void);

/* What a session answers to a request: an object without "error", or NULL after a message. */
json_t *ward_sessions_ask(const char *runtime, const char *session, const char *request);
