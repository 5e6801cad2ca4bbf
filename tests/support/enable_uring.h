/* SPDX-License-Identifier: Apache-2.0 */
/* FUSE over io_uring allowed on this host for a moment, or not, whatever the host's setting is. */
#pragma once

/*
 * Allows ('Y') or forbids ('N') it until enable_uring_end() or the caller's end, and keeps other
 * tests from changing it meanwhile: a process of its own waits for that, and puts back what was
 * there. Returns a descriptor, or a negative errno: -ENOENT on a kernel that does not know it,
 * -EACCES without root. A mount made meanwhile goes on with it.
 */
int enable_uring_begin(char value);
void enable_uring_end(int fd);
