/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loose objects of git (gitformat-loose(5)): zlib's deflate over "TYPE SIZE\0CONTENT", named by the
 * digest of all that. A child process unpacks them, which has two pipes open and shares memory with
 * us: that for objects, and whatever else of ours is shared. The kernel ends it at any system call
 * but read, write and exit (SECCOMP_MODE_STRICT).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "enforcer/base/err.h"

/* Hexadecimal digits of SHA-256, and NUL; SHA-1 has 40. */
#define WARD_GIT_ID_SIZE 65U
/* Of a commit, packed and unpacked. */
#define WARD_GIT_OBJECT_MAX ((size_t)256 << 10)
#define WARD_GIT_PARENTS_MAX 16U

struct ward_git_unpacker {
	pid_t pid; /* 0: none */
	int to, from;
	struct ward_git_memory *shared;
};
/* *ret is the caller's; ward_git_unpacker_end(). */
int ward_git_unpacker_start(struct ward_git_unpacker *ret) ward_must_check;
void ward_git_unpacker_end(struct ward_git_unpacker *u);

struct ward_git_parsed {
	char tree[WARD_GIT_ID_SIZE];
	char parent[WARD_GIT_PARENTS_MAX][WARD_GIT_ID_SIZE];
	size_t n_parents;
};
/*
 * The commit `id` beneath the git directory. -ENOENT: there is no loose object of that name;
 * -EBADMSG: no object, no commit, or a wrong digest; -EFBIG; -EPIPE: the unpacker is dead.
 */
int ward_git_commit_read(struct ward_git_unpacker *u, int git_dir, const char *id,
	struct ward_git_parsed *ret) ward_must_check;

/* 40 or 64 hexadecimal digits, lower case, of n bytes. */
bool ward_git_id_valid(const char *id, size_t n);
