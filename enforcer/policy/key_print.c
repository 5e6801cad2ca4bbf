/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of keys for the documents that follow it: docs/policy.md, wardfs-policy(5). */
#include <stdio.h>

#include "enforcer/policy/keys.h"

/* What a value of a type is called, and one that the type takes. */
static const struct {
	const char *name, *example;
} types[] = {
	[WARD_KEY_TYPE_VERSION] = {"1", "1"},
	[WARD_KEY_TYPE_TEXT] = {"text", "example"},
	[WARD_KEY_TYPE_EXTENDS] = {"profile or path", "medium"},
	[WARD_KEY_TYPE_RULE] = {"pattern", "/workspace/example"},
	[WARD_KEY_TYPE_SIZE] = {"size", "10M"},
	[WARD_KEY_TYPE_COUNT] = {"count", "200"},
	[WARD_KEY_TYPE_TIME] = {"time", "10m"},
	[WARD_KEY_TYPE_SIZE_RATE] = {"size rate", "10M/s"},
	[WARD_KEY_TYPE_COUNT_RATE] = {"count rate", "100/m"},
	[WARD_KEY_TYPE_TENTHS] = {"number", "1.5"},
	[WARD_KEY_TYPE_HOST_PATH] = {"host path", "/opt/example"},
	[WARD_KEY_TYPE_TREE_SOURCE] = {"host path or tmpfs:SIZE", "."},
	[WARD_KEY_TYPE_TREE_AT] = {"same, none or path", "none"},
	[WARD_KEY_TYPE_ENV_PASS] = {"name or glob", "EXAMPLE_*"},
	[WARD_KEY_TYPE_ENV_SET] = {"NAME=VALUE", "EXAMPLE=1"},
	[WARD_KEY_TYPE_PROGRAM] = {"path or pattern", "/usr/bin/git"},
	[WARD_KEY_TYPE_HOST] = {"HOST[:PORT,...][/udp] or CIDR[:PORT,...]", "example.org:443"},
	[WARD_KEY_TYPE_PORTS] = {"port[:port]", "8080"},
	[WARD_KEY_TYPE_URL] = {"URL", "http://127.0.0.1:3128"},
	[WARD_KEY_TYPE_HEADER] = {"header name", "X-Session"},
	[WARD_KEY_TYPE_CHECKPOINT] = {"count or time", "5000"},
	[WARD_KEY_TYPE_ANCHOR] = {"journald, syslog, file:PATH, exec:PATH or none", "journald"},
	[WARD_KEY_TYPE_EXPECT] = {"ACTION PATH [PATH2] VERDICT", "read /workspace/x hide"},
};

static const char *const merges[] = {[WARD_MERGE_BASE] = "base",
	[WARD_MERGE_MIN] = "min",
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
		printf("%s\t%s\t", k->section, k->name);
		if (k->words)
			put_words(k, false);
		else
			printf("%s", types[k->type].name);
		printf("\t%s\t%s\t%s\t%s\t%s\t", k->repeats ? "yes" : "no",
			k->fallback ? k->fallback : "-", merges[k->merge],
			k->by & WARD_BY_PROJECT ? "project"
			: k->by & WARD_BY_FLOOR ? "floor"
						: "base",
			lives[k->live]);
		put_ready(k);
		printf("\t%s\t%s\n", k->words ? k->words[0] : types[k->type].example, k->doc);
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
