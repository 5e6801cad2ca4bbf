/* SPDX-License-Identifier: Apache-2.0 */
/* The panel: questions on the whole screen of a terminal, one at a time, answered with keys. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

struct ward_panel_options {
	const char *session; /* NULL: of all sessions of the caller */
	/* The terminal is a session's, whose supervisor or client waits for us at WARD_PANEL_FD
	 * (session/exec/panel.h). */
	bool opened;
};

/*
 * At standard input and output, which are a terminal, until the person closes it. Its modes and its
 * screen are as before afterwards. -errno: it cannot be shown.
 */
int ward_panel_show(const struct ward_panel_options *o, struct ward_err *err) ward_must_check;
