/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the panel shows, and what keys do there. No terminal, no session: others read keys, fetch
 * questions, send answers, and write what panel_draw() says.
 *
 * An answer is to what a person can have read: keys count only when the question has been shown,
 * whole, for a moment; no other question takes its place; and until one is chosen, the answer is
 * no.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/buf.h"
#include "enforcer/cli/panel/keys.h"

/* A question is there for so long before a key counts. */
#define PANEL_GRACE_NS UINT64_C(500000000)
/* What an answer did stays for so long where the panel closes behind it. */
#define PANEL_RESULT_NS UINT64_C(700000000)

#define PANEL_PATTERN_MAX 1024

enum panel_answer { PANEL_NO = 0, PANEL_ONCE, PANEL_PATH, PANEL_PATTERN, PANEL_FOR, PANEL_ALWAYS };

struct panel {
	json_t *list;  /* array of questions, as the sessions list them; NULL: none */
	json_t *shown; /* one of them, owned; NULL: none */
	bool gone;     /* it has ended since */
	bool refused;  /* a key meant an answer that nobody signed */
	bool own;      /* by an answer that was given here */
	bool grown;    /* more paths have joined it than it shows */
	bool fits;     /* all of it is on the screen */
	bool opened;   /* at the terminal of a command: it closes when nothing waits any more */
	uint64_t list_ns, shown_ns, result_ns;
	unsigned silent; /* sessions that do not answer, so that nobody sees their questions */
	unsigned rows, columns;
	enum panel_answer chosen;
	bool editing;
	unsigned time;			 /* which one of those for PANEL_FOR */
	unsigned proposal;		 /* which pattern was proposed last */
	char pattern[PANEL_PATTERN_MAX]; /* "": none */
	char before[PANEL_PATTERN_MAX];	 /* that was edited */
	struct ward_buf counted;	 /* what the pattern or path would widen */
	bool count;			 /* it has to be counted */
	struct ward_buf result;
	/* For the caller, who takes them. */
	bool dirty, close, leave, escape;
	json_t *answer; /* a request for the session of `shown` */
};

void panel_clear(struct panel *p);
void panel_size(struct panel *p, unsigned rows, unsigned columns, uint64_t now_ns);
/* list is taken. */
void panel_list(struct panel *p, json_t *list, uint64_t now_ns);
void panel_key(
	struct panel *p, enum panel_key_kind kind, const char *data, size_t n, uint64_t now_ns);
/* What the answer did. */
void panel_result(struct panel *p, const char *text, uint64_t now_ns);
/* The pattern whose matches the caller counts; the caller frees it. NULL: none. Returned once. */
char *panel_to_count(struct panel *p);
void panel_counted(struct panel *p, const char *text);
/* Time has passed. */
void panel_tick(struct panel *p, uint64_t now_ns);
/* Milliseconds until there is something to do; -1: never. */
int panel_timeout(const struct panel *p, uint64_t now_ns);

/* A member of the question that is shown; "": it has none. */
const char *panel_member(const struct panel *p, const char *name);
const char *panel_time(const struct panel *p);
/* How many paths it shows. */
size_t panel_paths(const struct panel *p);
/* How many signatures an answer needs that gives something; 0: none. The panel signs nothing. */
long long panel_signers(const struct panel *p);
/* draw.h: all that is on the screen. Sets p->fits. */
void panel_draw(struct panel *p, uint64_t now_ns, struct ward_buf *b);
