/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a terminal sends, taken apart: keys that a person pressed, and reports, which answer what a
 * program asked the terminal before. A report is never a key, whatever text it holds.
 *
 * Left out are the mouse, focus, pasted text, and keys that mean nothing here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum panel_key_kind {
	PANEL_KEY_NONE = 0,
	PANEL_KEY_CHAR, /* one byte of text, also of UTF-8 */
	PANEL_KEY_ENTER,
	PANEL_KEY_TAB,
	PANEL_KEY_ERASE,
	PANEL_KEY_CANCEL, /* Esc, Ctrl-C */
	PANEL_KEY_ESCAPE, /* WARD_ESCAPE_KEY */
	PANEL_KEY_REPORT, /* bytes, whole or in parts */
};

typedef void panel_key_fn(void *user, enum panel_key_kind kind, const char *data, size_t n);

/* Longer ones are reported in parts. */
#define PANEL_KEYS_MAX 1024

/* Zero is where it begins. The members are the module's own. */
struct panel_keys {
	char data[PANEL_KEYS_MAX];
	size_t n;
	uint64_t since_ns; /* the sequence under way began */
	bool pasting;
	bool in_parts;	/* of the report under way a part was given */
	unsigned mouse; /* bytes that an old mouse report still has */
};

void panel_keys_read(struct panel_keys *k, const char *data, size_t n, uint64_t now_ns,
	panel_key_fn *fn, void *user);
/* Time has passed: a lone Esc is a key, and what does not end is nothing. */
void panel_keys_tick(struct panel_keys *k, uint64_t now_ns, panel_key_fn *fn, void *user);
/* Milliseconds until there is something to do; -1: never. */
int panel_keys_timeout(const struct panel_keys *k, uint64_t now_ns);
