/* SPDX-License-Identifier: Apache-2.0 */
/* Signals as events of a poll loop. */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"

/*
 * Blocks n signals; from then on they are read from *ret_fd (signalfd(2), non-blocking), the
 * caller's. SIGPIPE is ignored: who writes sees EPIPE.
 */
int ward_signals_catch(
	const int *signals, size_t n, int *ret_fd, struct ward_err *err) ward_must_check;
