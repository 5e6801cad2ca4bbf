/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of the world: servers that tell secrets, and a victim. They end with the observer. */
#pragma once

#include "enforcer/attack/attack.h"

/* The secret of each kind of server. */
struct ward_serve {
	const char *tcp, *udp, *path, *abstract, *runtime, *agent;
};

/*
 * Starts one process that serves all of them. Sets tcp, udp, socket, abstract and address of f; the
 * socket's file is base/socket. 0, or -1 with errno.
 */
int ward_servers_start(
	struct ward_facts *f, const char *base, const struct ward_serve *secrets, pid_t *ret);

/*
 * Starts the victim with secrets in its command line, environment, memory and an open file. Sets
 * victim, memory and group of f. *ret_page: the page that it has at f->memory, shared. Signals that
 * it gets are counted there. 0, or -1 with errno.
 */
int ward_victim_start(struct ward_facts *f, const char *argument, const char *environment,
	const char *memory, const char *file, char **ret_page);

/* What the victim runs: `wardfs-attack victim secret=ARGUMENT`. Does not return. */
_Noreturn void ward_victim_main(void);
