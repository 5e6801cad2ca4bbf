/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start-up probes: attempts that the command's own process makes, under all that confines it, right
 * before it becomes the command. Each names one layer, is such that this layer answers before any
 * other could, and has a control: the same call where it is allowed. What a probe answers is judged
 * here, by the supervisor; wardfs-init (init/probe.c) only attempts and reports.
 *
 * A probe fails if its answer is not the answer of its layer. That includes a refusal by another
 * layer: then the layer under test is missing. Pure: no I/O.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "enforcer/base/err.h"

/* Numbers travel between our programs alone (blueprint.h); the names are the trail's. */
enum ward_probe {
	WARD_PROBE_NONE = 0,
	WARD_PROBE_CAPABILITIES, /* mount a tmpfs, before Landlock and the filter are there */
	WARD_PROBE_USERNS,	 /* a new user namespace, before they are */
	WARD_PROBE_LANDLOCK,	 /* a signal to pid 1, which has the same uid (ABI 6) */
	WARD_PROBE_PTRACE,	 /* ptrace(2) of nobody */
	WARD_PROBE_MOUNT,	 /* mount(2) with bad pointers */
	WARD_PROBE_OUTSIDE,	 /* open a directory of the host */
	WARD_PROBE_READONLY,	 /* mkdir(2) in /usr */
	WARD_PROBE_CONNECT,	 /* connect to an abstract socket of the host */
	WARD_PROBE_HIDDEN,	 /* stat a name that the policy hides and the host has */
	WARD_PROBE_WRITE,	 /* mkdir where the policy gives no right to */
	WARD_PROBE_COUNT_,
};

/* What a process saw; errno values, 0: it succeeded. */
struct ward_probe_result {
	enum ward_probe probe;
	bool made;	 /* false: not applicable here, attempt and control are 0 */
	int32_t attempt; /* the call that the layer must refuse */
	int32_t control;
};

/* Value 0 refuses. */
enum ward_probe_verdict {
	WARD_PROBE_FAILED = 0, /* the layer does not hold */
	WARD_PROBE_NO_CONTROL, /* it may, but the control says the attempt proves nothing */
	WARD_PROBE_HELD,
	WARD_PROBE_SKIPPED, /* not made: this session has nothing that it could be made with */
};

enum ward_probe_verdict ward_probe_judge(const struct ward_probe_result *r);
/* False where a mode with these layers (set of enum ward_layer) has nothing that this could show.
 */
bool ward_probe_applies(enum ward_probe p, uint32_t layers);

/*
 * For a result that is FAILED or NO_CONTROL: "probe connect: the network namespace does not hold:
 * …". Returns -EPERM.
 */
int ward_probe_explain(const struct ward_probe_result *r, struct ward_err *err);

/* For people and the trail; "?" out of range. */
const char *ward_probe_name(enum ward_probe p);	   /* "connect" */
const char *ward_probe_layer(enum ward_probe p);   /* "network namespace" */
const char *ward_probe_what(enum ward_probe p);	   /* "connect to a socket of the host" */
const char *ward_probe_control(enum ward_probe p); /* "connect to a socket of its own" */
/* Why a probe was not made, and what then says that the layer is there. */
const char *ward_probe_why_skipped(enum ward_probe p);
const char *ward_probe_verdict_name(enum ward_probe_verdict v);
