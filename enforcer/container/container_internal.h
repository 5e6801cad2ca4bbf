/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of this folder. */
#pragma once

#include "enforcer/container/container.h"

/* Fills in argv and exec_argv of c. -ENOMEM. */
typedef int (*ward_container_fn)(struct ward_container *c, const struct ward_sandbox_spec *spec);

struct ward_engine {
	const char *word;
	const char *names[3]; /* of its program; NULL-terminated */
	const char *why;      /* NULL: it can be started */
	const char *instead;  /* for why; NULL: nothing */
	ward_container_fn make;
	bool own_kernel;
	uint32_t no_probes; /* set of 1 << enum ward_probe */
};

/* command_lines.c */
int ward_container_runc(struct ward_container *c, const struct ward_sandbox_spec *spec);
int ward_container_crun(struct ward_container *c, const struct ward_sandbox_spec *spec);
int ward_container_runsc(struct ward_container *c, const struct ward_sandbox_spec *spec);
int ward_container_kata(struct ward_container *c, const struct ward_sandbox_spec *spec);

/* config.c: config.json as text, the caller's; NULL: out of memory. */
char *ward_container_config(const struct ward_engine *e, const struct ward_sandbox_spec *spec);

/* Made while wardfs is built (oci_seccomp.py): the member `seccomp` of config.json. */
extern const char ward_oci_seccomp[];
