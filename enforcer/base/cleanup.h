/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ownership at the declaration: `ward_cleanup_fd int fd = -1;` closes at the end of the scope, and
 * leaves it only through ward_steal_fd() / ward_steal_ptr().
 */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void ward_cleanup_fd_fn(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void ward_cleanup_free_fn(void *p)
{
	free(*(void **)p);
}

static inline void ward_cleanup_file_fn(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

static inline void ward_cleanup_dir_fn(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define ward_cleanup_fd __attribute__((cleanup(ward_cleanup_fd_fn)))
#define ward_cleanup_free __attribute__((cleanup(ward_cleanup_free_fn)))
#define ward_cleanup_file __attribute__((cleanup(ward_cleanup_file_fn)))
#define ward_cleanup_dir __attribute__((cleanup(ward_cleanup_dir_fn)))
/* For module types: ward_cleanup(ward_buf_free_content) struct ward_buf b = …; */
#define ward_cleanup(fn) __attribute__((cleanup(fn)))

/* Returns *fd and leaves -1 behind: the caller owns it now. */
static inline int ward_steal_fd(int *fd)
{
	int r = *fd;
	*fd = -1;
	return r;
}

/* Returns *(void **)pp and leaves NULL behind: the caller owns it now. */
#define ward_steal_ptr(pp)                                                                         \
	({                                                                                         \
		__typeof__(*(pp)) ward_stolen_ = *(pp);                                            \
		*(pp) = NULL;                                                                      \
		ward_stolen_;                                                                      \
	})
