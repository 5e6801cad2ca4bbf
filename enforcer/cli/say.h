/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to people. */
#pragma once

/*
 * Prints "wardfs: TEXT" on stderr. Text may carry names from a hostile repository or the agent:
 * everything but newlines and backslashes is escaped (base/escape.h), so that it cannot steer a
 * terminal.
 */
void ward_say(const char *text);
