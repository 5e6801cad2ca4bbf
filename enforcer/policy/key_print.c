/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of keys for the documents that follow it: docs/wardfs-policy.5.md and the manual
 * page. */
#include <stdio.h>

#include "enforcer/policy/keys.h"

static const char *const merges[] = {[WARD_MERGE_BASE] = "base",
	[WARD_MERGE_MIN] = "min",
	[WARD_MERGE_MIN_OPEN] = "min",
	[WARD_MERGE_MAX] = "max",
	[WARD_MERGE_ADD] = "all",
	[WARD_MERGE_COMMON] = "both"};
static const char *const lives[] = {
	[WARD_LIVE_NO] = "no", [WARD_LIVE_VALUE] = "its value", [WARD_LIVE_YES] = "yes"};

/* The words that have their machinery, or all of them. */
static void put_words(const struct ward_key *k, bool ready)
{
	for (size_t i = 0, n = 0; k->words[i]; i++) {
		if (ready && !ward_key_word_ready(k, i))
			continue;
		printf("%s%s", n++ ? "|" : "", k->words[i]);
	}
}

static void put_ready(const struct ward_key *k)
{
	if (k->ready == WARD_READY_ALL)
		printf("yes");
	else if (k->words)
		put_words(k, true);
	else
		printf("%s", k->fallback ? k->fallback : "no");
}

/* A row: its members with a tab between them, words with a |, no default as "-". */
int main(void)
{
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		printf("%s\t%s\t", k->section->name, k->name);
		if (k->words)
			put_words(k, false);
		else
			printf("%s", ward_key_types[k->type].name);
		printf("\t%s\t%s\t%s\t%s\t%s\t", k->repeats ? "yes" : "no",
			k->fallback ? k->fallback : "-", merges[k->merge],
			k->by & WARD_BY_PROJECT	  ? "project"
			: !(k->by & WARD_BY_BASE) ? "floor only"
			: k->by & WARD_BY_FLOOR	  ? "floor"
						  : "base",
			lives[k->live]);
		put_ready(k);
		printf("\t%s\t%s\n", k->words ? k->words[0] : ward_key_types[k->type].example,
			k->doc);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
