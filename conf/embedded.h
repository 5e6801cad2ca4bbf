/* SPDX-License-Identifier: Apache-2.0 */
/* Shipped data files inside the program; tables end with a NULL name (conf/embed.py). */
#pragma once

#include <stddef.h>

struct ward_embedded {
	const char *name; /* file name without directory and suffix */
	const char *data; /* NUL-terminated */
	size_t len;	  /* without the NUL */
};

extern const struct ward_embedded ward_embedded_profiles[];
extern const struct ward_embedded ward_embedded_seccomp[];
/* host-executed, home-dropped, open-hosts */
extern const struct ward_embedded ward_embedded_lists[];
/* Dockerfile, devcontainer (devcontainer.json): what `wardfs init --devcontainer` writes */
extern const struct ward_embedded ward_embedded_devcontainer[];
