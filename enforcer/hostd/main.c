/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-hostd: registers FUSE passthrough for sessions of ordinary users, which takes
 * CAP_SYS_ADMIN of who calls the ioctl (fs/fuse/passthrough.c of Linux). Started by systemd with
 * one listening socket (conf/systemd), under a user of its own, with three capabilities.
 *
 *   main        accepts, forks one process a connection (ipc/service.h):
 *   worker.c    acts as the user at the other end, and registers what checks.c lets pass
 *
 * SIGTERM ends main alone: sessions keep their workers. Without the service sessions read and write
 * through the page cache, as they do on hosts that do not have it.
 */
#include <getopt.h>
#include <stdlib.h>

#include "enforcer/base/out.h"
#include "enforcer/hostd/bounds.h"
#include "enforcer/hostd/checks.h"
#include "enforcer/hostd/rights.h"
#include "enforcer/hostd/worker.h"
#include "enforcer/ipc/service.h"

/* Connections at a time, and of one user: one a session. */
#define TOTAL_MAX 512
#define USER_MAX 64
#define USAGE 2

static const char help[] =
	"Usage: wardfs-hostd\n"
	"\n"
	"  Registers FUSE passthrough for the sessions of ordinary users, so that the kernel reads\n"
	"  and writes their files itself. Started by wardfs-host.socket, under a user of its own.\n";

struct hostd {
	int fusectl;
	struct ward_host_bounds *bounds;
};

static int serve(void *user, int conn, const struct ucred *peer)
{
	const struct hostd *h = user;
	const struct ward_host_worker w = {
		.conn = conn, .fusectl = h->fusectl, .bounds = h->bounds};

	return ward_host_worker_serve(&w, peer);
}

/* 0: goes on; else 1 + the exit status. */
static int take_options(int argc, char **argv)
{
	static const struct option options[] = {{"help", 0, NULL, 'h'}, {0}};
	opterr = 0;
	switch (getopt_long(argc, argv, "h", options, NULL)) {
	case 'h':
		ward_outf(help);
		return 1;
	case -1:
		if (optind == argc)
			return 0;
	}
	ward_tellf("wardfs-hostd: no argument is taken; see wardfs-hostd --help\n");
	return 1 + USAGE;
}

int main(int argc, char **argv)
{
	static struct hostd h;
	struct ward_err err = WARD_ERR_INIT;
	const struct ward_service l = {.program = "wardfs-hostd",
		.socket = "wardfs-host.socket",
		.too_many = "too many sessions at a time",
		.total_max = TOTAL_MAX,
		.user_max = USER_MAX,
		.serve = serve,
		.user = &h};
	int signals = -1;
	int said = take_options(argc, argv);
	if (said)
		return said - 1;
	if (ward_service_prepare(&l, &signals) < 0)
		return USAGE;
	h.fusectl = ward_host_fusectl();
	int r = h.fusectl < 0 ? ward_err_sys(&err, h.fusectl, "mounting fusectl") : 0;
	if (r == 0)
		r = ward_host_bounds_new(h.fusectl, &h.bounds);
	if (r == 0)
		r = ward_rights_main(&err);
	if (r < 0) {
		ward_tellf("wardfs-hostd: %s\n", err.text);
		return 1;
	}
	return ward_service_run(&l, signals) < 0;
}
