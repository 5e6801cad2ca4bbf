/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of wardfs top at a terminal. Without one as standard input there are none. */
#pragma once

#include <stdbool.h>
#include <termios.h>

struct top_keys {
	bool on;
	struct termios saved;
	int signals;  /* signalfd; -1 */
	int ended_by; /* a signal that came; 0 */
};

enum top_key { TOP_KEY_NONE = 0, TOP_KEY_QUIT, TOP_KEY_QUESTIONS };

/* From here on keys need no Enter, and a signal that ends us puts the terminal back. */
void top_keys_begin(struct top_keys *k);
/* Waits for so long, or for a key. */
enum top_key top_keys_wait(struct top_keys *k, int ms);
/* The terminal is as before. If a signal came, the process ends by it. */
void top_keys_end(struct top_keys *k);
