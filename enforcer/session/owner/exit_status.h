/* SPDX-License-Identifier: Apache-2.0 */
/* What wardfs exits with where the status is not the command's own. */
#pragma once

/* Exit statuses of ours (design: they never collide with what a shell gives a command's own). */
enum {
	WARD_EXIT_USAGE = 2,
	WARD_EXIT_WALL = 124,
	WARD_EXIT_SETUP = 125,
	WARD_EXIT_NOT_EXECUTABLE = 126,
	WARD_EXIT_NOT_FOUND = 127,
	WARD_EXIT_MEMORY = 137, /* 128 + SIGKILL */
};
