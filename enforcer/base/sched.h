/* SPDX-License-Identifier: Apache-2.0 */
/* How long this process keeps a processor when others want it, and how fast one wakes for it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Asks for turns of that length (sched_setattr(2), sched_runtime of SCHED_OTHER and SCHED_BATCH;
 * Linux 6.12 takes 0.1 to 100 ms and lets who wakes with a shorter one go first). The share of the
 * processor stays what it is. policy: one of these two. For the calling thread and those it starts
 * from here on. Where the host does not know it or refuses, nothing changes: it is a hint.
 */
void ward_sched_turn(int policy, uint64_t ns);

/*
 * Idle processors of this host stay awake (on) or sleep as they like (off): who waits for a moment
 * many times, as a start does, then waits for no waking. /dev/cpu_dma_latency
 * (Documentation/power/pm_qos_interface.rst), root alone; elsewhere nothing changes. Held by this
 * process, and over with it at the latest. Main thread.
 */
void ward_sched_awake(bool on);
