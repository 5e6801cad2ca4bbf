/* SPDX-License-Identifier: Apache-2.0 */
/* The program that asks, as /proc tells of it now: for people, who decide by it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* Ancestors that a question names. */
#define WARD_ASKER_ANCESTORS 8
/* How long reading a command line may take: it is in memory that its owner can make wait. */
#define WARD_ASKER_MS 200

/* Of a name that a process gives itself, with its end. */
#define WARD_ASKER_NAME_MAX 64
/* That name (comm), as /proc has it now. False: the process is gone. */
bool ward_asker_name(pid_t pid, char ret[WARD_ASKER_NAME_MAX]);

/*
 * Adds "pid", "program", "exe" and "ancestors" (nearest first, as "NAME (PID)", up to the process
 * `top`, which is left out) to o, and, if line, "argv". What is not known is left out.
 */
void ward_asker_add(json_t *o, pid_t pid, pid_t top, bool line);
