/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which hosts and ports a project's own files speak of: registries of packages, and ports of
 * development servers. The files may be an agent's: nothing is executed, what is read is bounded,
 * and a name in them grants nothing. Known are three kinds of registries: those that the owner's
 * own configuration of npm, pip, cargo and go names; those of /etc/wardfs/registries and
 * CONFIG/wardfs/registries, "HOST[:PORT]" a line; and the usual ones of the project's kind
 * (ecosystems.h), unless the owner's configuration replaces them. Every other host is printed with
 * the file that names it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "enforcer/base/buf.h"
#include "enforcer/session/owner/identity.h"

/* Of more hosts the first are named and the rest is counted. */
#define INIT_HOSTS_MAX 32U
#define INIT_PORTS_MAX 8U

struct init_host {
	char host[256]; /* letters, digits, '-' and '.' alone, in lower case */
	unsigned port;	/* 1 to 65535 */
	bool known;	/* the owner's files name it, or it is usual for the project's kind */
	const char *ecosystem; /* whose usual registry it is, static; NULL: of none */
	const char *file; /* the first file that names it, static; NULL: of `ecosystem` alone */
	unsigned times;	  /* in the project; 0: it is where a tool goes that the project uses */
};
struct init_port {
	unsigned port;
	const char *why; /* static */
};
struct init_sources {
	struct init_host hosts[INIT_HOSTS_MAX];
	size_t n_hosts;
	unsigned left_out; /* names of hosts beyond */
	unsigned bad;	   /* what stands where a host should and is none */
	struct init_port ports[INIT_PORTS_MAX];
	size_t n_ports;
	struct ward_buf notes; /* comments, a line each: what was not looked at */
};
#define INIT_SOURCES_INIT ((struct init_sources){.notes = WARD_BUF_INIT})
void init_sources_clear(struct init_sources *s);

/* Looks at the files in the directory open as `project`, as the owner. config: the owner's
 * configuration directory or NULL. -ENOMEM, -EPERM. */
int init_sources_find(const struct ward_identity *id, const char *config, int project,
	struct init_sources *ret, struct ward_err *err) ward_must_check;

/* Appends what was found as comments of a policy; nothing where nothing was found. */
void init_sources_text(const struct init_sources *s, struct ward_buf *text);

/* "HOST:PORT" of a host, as [network] allow has it. */
void init_host_value(const struct init_host *h, struct ward_buf *b);
