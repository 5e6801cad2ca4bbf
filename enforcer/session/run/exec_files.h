/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files are executed: each record of kind exec names one (dev, ino), and the SHA-256 of a
 * program stands once in a record of its own (kind program), by a thread that nobody waits for.
 *
 * Only of programs that nothing inside can change or make: regular files on mounts that are
 * read-only there (/usr and the like) and that the command may execute, never of a tree or /proc.
 * What the agent can write it can also exchange between this look and the kernel's, and reading it
 * is wardfs-fs' to do ([audit] hash).
 */
#pragma once

#include "enforcer/session/guard/guard.h"
#include "enforcer/session/owner/identity.h"

struct ward_exec_files;

/* id must outlive it: digests are made with the rights of the command. */
int ward_exec_files_new(struct ward_guard *g, const struct ward_identity *id,
	struct ward_exec_files **ret, struct ward_err *err) ward_must_check;
/*
 * The program of an O_PATH descriptor, which stays the caller's; path: as it is called inside. Adds
 * dev and ino to the event; has its digest made if it was not yet. The calling thread has the
 * rights of the command (exec_path.h).
 */
void ward_exec_files_seen(
	struct ward_exec_files *x, int fd, const char *path, struct ward_event *ev);
/* Waits for digests that are being made, but not for long. NULL is fine. */
void ward_exec_files_free(struct ward_exec_files *x);
