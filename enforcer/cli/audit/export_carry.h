/* SPDX-License-Identifier: Apache-2.0 */
/* Has wardfs-send (enforcer/send/send.h) carry one batch over a connection of its own. */
#pragma once

#include <stdbool.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"
#include "enforcer/cli/audit/dial.h"
#include "enforcer/send/send.h"

struct ward_carrier {
	bool http; /* else syslog */
	bool tls;
	char host[WARD_DIAL_HOST_MAX];
	char port[WARD_DIAL_PORT_MAX];
	int ca, cert, key; /* -1: there is none */
	unsigned seconds;  /* the other side may take nothing, or say nothing, for so long */
};

/*
 * What came of it, told and text (at most WARD_SEND_TEXT_MAX bytes, foreign): also that the host
 * was not reached or took too long, which is WARD_SEND_CUT. A negative errno if wardfs-send could
 * not be had, or died.
 */
int ward_carry(const struct ward_carrier *c, const struct ward_buf *batch,
	struct ward_send_told *ret, struct ward_buf *ret_text,
	struct ward_err *err) ward_must_check;
