/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a command writes where -o says. The directory may be a project that an agent wrote:
 * a name there may be a link, a pipe, or a second name of another file. So the text goes into a new
 * file beside the name, which then takes the name's place; nothing that is there is opened.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/err.h"

struct ward_output {
	int fd;		  /* to be written to; -1: none */
	int dir;	  /* of both names */
	const char *path; /* as it was given: borrowed */
	char *beside;	  /* owned: the new file's name in dir */
	bool replace;
	mode_t mode;
};

#define WARD_OUTPUT_INIT ((struct ward_output){.fd = -1, .dir = -1})

/*
 * Makes the new file of this mode; *ret is cleared with ward_output_drop(), after
 * ward_output_finish() too. replace: a regular file of that name may be replaced, whose
 * owner the new one gets, and of whose mode what the new one may have; else such a file is -EEXIST.
 * Under sudo a file that is made in a directory of the invoking user's is that user's, as what
 * `run` writes is. -ELOOP: a symbolic link is in the way, in the last name or before it (links of
 * root's before it are followed: /home may be one). -EINVAL: no regular file. The error names path.
 */
int ward_output_begin(const char *path, mode_t mode, bool replace, struct ward_output *ret,
	struct ward_err *err) ward_must_check;

/*
 * A file that is read and written in its place from call to call, made with mode where there is
 * none. As above; also -EMLINK: it has a second name. *ret_fd (O_RDWR) is the caller's.
 */
int ward_output_keep(
	const char *path, mode_t mode, int *ret_fd, struct ward_err *err) ward_must_check;

/* Gives the file its name, once it is on the disk. On failure what was there is there. */
int ward_output_finish(struct ward_output *o, struct ward_err *err) ward_must_check;

/* Takes away what was not finished, and closes. Idempotent; for ward_cleanup(). */
void ward_output_drop(struct ward_output *o);

/* Writes all of b to path, made as above with mode 0644; NULL: to stdout, escaped
 * as ward_out_lines() does. */
int ward_output_write(const char *path, bool replace, const struct ward_buf *b,
	struct ward_err *err) ward_must_check;
