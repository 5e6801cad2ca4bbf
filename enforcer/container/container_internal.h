/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of this folder. */
#pragma once

#include "conf/embedded.h"
#include "enforcer/container/container.h"

/* Fills in argv and exec_argv of c. -ENOMEM. */
typedef int (*ward_container_fn)(struct ward_container *c, const struct ward_sandbox_spec *spec);

struct ward_engine {
	const char *word;
	const char *names[3]; /* of its program; NULL-terminated */
	const char *why;      /* NULL: it can be started */
	const char *instead;  /* for why; NULL: nothing */
	ward_container_fn make;
	const char *asks; /* the word that lists what it offers; NULL: every version is alike */
	bool own_kernel;
	const char *lacks[6]; /* ward_engine_lacks() */
	const char *package;  /* of Debian, if it has another name */
	/* What it starts besides, found as it is; NULL-terminated. */
	const char *needs[5];
	uint32_t how;	    /* set of enum ward_sandbox_engine_how */
	uint32_t no_probes; /* set of 1 << enum ward_probe */
};

/* command_lines.c */
int ward_container_runc(struct ward_container *c, const struct ward_sandbox_spec *spec);
int ward_container_crun(struct ward_container *c, const struct ward_sandbox_spec *spec);
int ward_container_runsc(struct ward_container *c, const struct ward_sandbox_spec *spec);
int ward_container_kata(struct ward_container *c, const struct ward_sandbox_spec *spec);
int ward_container_podman(struct ward_container *c, const struct ward_sandbox_spec *spec);
int ward_container_docker(struct ward_container *c, const struct ward_sandbox_spec *spec);

/* config.c: config.json as text, the caller's; NULL: out of memory. */
char *ward_container_config(const struct ward_engine *e, const struct ward_sandbox_spec *spec);

/* config.c: what /proc says about the host; ends with NULL. */
extern const char *const ward_container_masked[];
/* Made while wardfs is built: the files of bundle/. */
extern const struct ward_embedded ward_embedded_bundle[];
/* Made while wardfs is built (oci_seccomp.py): the member `seccomp` of config.json. */
extern const char ward_oci_seccomp[];
