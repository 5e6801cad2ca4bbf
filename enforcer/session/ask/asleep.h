/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hears before the host goes to sleep. The kernel freezes every process then, and cannot freeze one
 * that waits for an answer of wardfs-fs: after 20 seconds the suspend fails. So those that wait for
 * a person get their refusal first.
 *
 * Who knows is logind, on the system bus: an inhibitor lock of mode "delay", and the signal
 * PrepareForSleep (org.freedesktop.login1(5)). Without logind nobody tells. Spoken is as much of
 * the D-Bus Specification 0.43 as that takes; nothing here waits for the other side.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/pollset.h"

struct ward_asleep;

/*
 * soon: the host is about to sleep, and waits for ward_asleep_done() (logind: five seconds at
 * most); else it is awake again.
 */
typedef void ward_asleep_fn(void *arg, bool soon);

/*
 * Connects, and waits in the set for what comes. Where *a is connected already, nothing happens;
 * where that connection broke, it is made anew. -ENOENT and other negative errnos: nobody tells.
 */
int ward_asleep_watch(struct ward_asleep **a, struct ward_pollset *set, unsigned rank,
	ward_asleep_fn *fn, void *arg) ward_must_check;
bool ward_asleep_is_heard(const struct ward_asleep *a);
/* As far as we are concerned it may sleep. */
void ward_asleep_done(struct ward_asleep *a);
/* NULL: nothing happens. */
void ward_asleep_free(struct ward_asleep *a);
