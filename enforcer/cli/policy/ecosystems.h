/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of what init knows about languages and their package managers: by which files a
 * project is recognised, where its packages come from, and where its development servers listen.
 * A new language is one row in ecosystems.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define ECOSYSTEM_MARKS_MAX 10
#define ECOSYSTEM_HOSTS_MAX 4
#define ECOSYSTEM_FILES_MAX 3
#define ECOSYSTEM_NAME_MAX 16

/* Lists end with NULL, unless they are full. */
struct ecosystem {
	const char *name;			/* "node" */
	const char *marks[ECOSYSTEM_MARKS_MAX]; /* a file at the project's top; one is enough */
	/* Hosts that the package manager connects to on port 443 unless its configuration says
	 * otherwise. */
	const char *registries[ECOSYSTEM_HOSTS_MAX];
	/* Files beneath the home that tell the package manager another registry. */
	const char *settings[ECOSYSTEM_FILES_MAX];
	/* Directories beneath the home with tools and packages, without secrets. */
	const char *tools[ECOSYSTEM_FILES_MAX];
	/* Comments for the policy: what somebody may want to guard. NULL: none. */
	const char *guards;
};

/* The table; sets *ret_n to the number of rows. */
const struct ecosystem *ecosystems(size_t *ret_n);

/* Whether the project whose top is open as dir has a mark of it. Follows no symbolic link. */
bool ecosystem_is(const struct ecosystem *e, int dir);

/* A package whose development server listens on a port of its own choice. */
struct ecosystem_server {
	const char *ecosystem; /* a name of the table above */
	const char *package;
	unsigned port;
};
const struct ecosystem_server *ecosystem_servers(size_t *ret_n);
