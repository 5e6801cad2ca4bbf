/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key that is wardfs' own at a terminal: Ctrl-] (telnet(1), virsh(1)). It comes as one byte,
 * or, in modes that the command has set there, as a sequence: kitty's keyboard protocol, xterm's
 * modifyOtherKeys, win32-input-mode.
 */
#pragma once

#include <stddef.h>

#define WARD_ESCAPE_KEY 0x1d

/* How many bytes at data the key is that was pressed (not: let go of); 0: it is another one. */
size_t ward_escape_key(const char *data, size_t n);
