/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of attempts, one file each, and what their functions share (attempt_parts.c). */
#pragma once

#include "enforcer/attack/attack.h"

extern const struct ward_attack_table ward_attempts_outside, ward_attempts_network,
	ward_attempts_processes, ward_attempts_persist, ward_attempts_kernel, ward_attempts_calls,
	ward_attempts_surface, ward_attempts_confinement, ward_attempts_exhaust,
	ward_attempts_descriptors, ward_attempts_terminal, ward_attempts_trail,
	ward_attempts_approvals, ward_attempts_script;

/* A row: P, H or R for the severity. */
#define WARD_ATTEMPT(sev, seen, name_, what_, stops_, ref_, fn)                                    \
	{                                                                                          \
		.name = (name_), .severity = WARD_ATTACK_##sev, .evidence = WARD_SEEN_##seen,      \
		.what = (what_), .stops = (stops_), .reference = (ref_), .act = (fn)               \
	}
#define WARD_ATTEMPT_TABLE(group_, id, what_, rows)                                                \
	const struct ward_attack_table ward_attempts_##group_ = {                                  \
		(id), #group_, (what_), (rows), sizeof(rows) / sizeof(*(rows))}

/* The first word of a descriptor or file: 0, or -1 with errno (ENODATA: there is none). */
int ward_proof_of_fd(int fd, char proof[WARD_PROOF_SIZE]);
int ward_proof_of_file(const char *path, char proof[WARD_PROOF_SIZE]);

/*
 * "WORK/NAME" in ret. Removes what is there, and makes sure that the workspace takes a new file of
 * that name and gives it away again: 0, or WARD_UNREADY.
 */
int ward_attempt_work(const struct ward_facts *f, const char *name, char *ret, size_t size);

/* r of a step before the attempt itself: WARD_UNREADY where it failed. */
int ward_attempt_step(int r);

/* open(2), never waiting. -1 with ENODEV: another file lies over it, the null device. */
int ward_attempt_open(const char *path, int flags);

/* Fails with ENODEV where the world lacks what an attempt needs: the verdict is n/a. */
int ward_attempt_lacks(void);
