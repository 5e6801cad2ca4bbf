/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what a pattern covers in the trees of a session now, with some examples. A process of its
 * own does it: whoever serves a tree may not answer.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

#define PANEL_COUNT_TEXT_MAX 2048

struct panel_count {
	pid_t pid; /* 0: none is under way */
	int fd;	   /* says how it ends; -1 */
	size_t n;
	char text[PANEL_COUNT_TEXT_MAX];
};
#define PANEL_COUNT_INIT ((struct panel_count){.fd = -1})

/* status: what the session answers to "status". One that is under way ends. -errno. */
int panel_count_start(struct panel_count *c, const json_t *status, const char *pattern,
	const char *rights) ward_must_check;
/* fd is ready: the text, if it is whole, borrowed; else NULL. */
const char *panel_count_read(struct panel_count *c);
void panel_count_end(struct panel_count *c);
