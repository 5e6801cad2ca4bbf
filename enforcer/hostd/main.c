/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-hostd: registers FUSE passthrough for sessions of ordinary users, which takes
 * CAP_SYS_ADMIN of who calls the ioctl (fs/fuse/passthrough.c of Linux); or, with --groups, makes
 * their control groups, which takes CAP_DAC_OVERRIDE. These are two services, each started by
 * systemd with one listening socket (conf/systemd), under a user of its own, with three
 * capabilities: no process has both.
 *
 *   main        accepts, forks one process a connection (ipc/service.h):
 *   worker.c    acts as the user at the other end, and registers what checks.c lets pass
 *   group_worker.c    makes the groups of one session, and removes them with the connection
 *
 * SIGTERM ends main alone: sessions keep their processes of the service. Without the service
 * sessions read and write through the page cache, as they do on hosts that do not have it.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "enforcer/base/host_size.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/hostd/bounds.h"
#include "enforcer/hostd/checks.h"
#include "enforcer/hostd/group_worker.h"
#include "enforcer/hostd/group_rights.h"
#include "enforcer/hostd/rights.h"
#include "enforcer/hostd/worker.h"
#include "enforcer/ipc/service.h"
#include "enforcer/sandbox/cgroup.h"

/* Connections at a time, and of one user: one a session. */
#define TOTAL_MAX 512
#define USER_MAX 64
#define USAGE 2

static const char help[] =
	"Usage: wardfs-hostd\n"
	"       wardfs-hostd --groups [--sessions N] [--memory SIZE] [--processes N]\n"
	"\n"
	"  Registers FUSE passthrough for the sessions of ordinary users, so that the kernel reads\n"
	"  and writes their files itself. Started by wardfs-host.socket, under a user of its own.\n"
	"\n"
	"  --groups         makes the control groups of these sessions instead. Started by\n"
	"                   wardfs-host-groups.socket, under a user of its own. One user may have:\n"
	"  --sessions N     so many sessions with groups at a time (64, at most 512)\n"
	"  --memory SIZE    so much memory in all of them together (90 %% of the host's)\n"
	"  --processes N    so many processes, threads among them, the same (16384)\n";

/* Of the user's memory and processes without options: what shipped profiles ask for fits. */
#define MEMORY_PERCENT 90
#define PROCESSES 16384
/* Of the host's processes there may not be more (PID_MAX_LIMIT of Linux). */
#define PROCESSES_MAX (4U << 20)

struct hostd {
	bool groups;
	uint64_t sessions;
	struct ward_host_groups of_user;
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

static int keep(void *user, int conn, const struct ucred *peer)
{
	const struct hostd *h = user;

	return ward_host_keeper_serve(&h->of_user, conn, peer);
}

/* 0: goes on; else 1 + the exit status. */
static int take_options(int argc, char **argv, struct hostd *h)
{
	static const struct option options[] = {{"help", 0, NULL, 'h'}, {"groups", 0, NULL, 'g'},
		{"sessions", 1, NULL, 's'}, {"memory", 1, NULL, 'm'}, {"processes", 1, NULL, 'p'},
		{0}};
	struct ward_err err = WARD_ERR_INIT;
	bool of_user = false;
	int c = 0, r = 0;

	opterr = 0;
	while (r == 0 && (c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		of_user |= c == 's' || c == 'm' || c == 'p';
		switch (c) {
		case 'h':
			ward_outf(help);
			return 1;
		case 'g':
			h->groups = true;
			break;
		case 's':
			r = ward_quantity_whole(optarg, 1, TOTAL_MAX, &h->sessions, &err);
			break;
		case 'm':
			r = ward_quantity_size(optarg, &h->of_user.memory, &err);
			break;
		case 'p':
			r = ward_quantity_whole(
				optarg, 1, PROCESSES_MAX, &h->of_user.processes, &err);
			break;
		default:
			r = -EINVAL;
		}
	}
	if (r == 0 && optind == argc && (h->groups || !of_user))
		return 0;
	ward_tellf("wardfs-hostd: %s; see wardfs-hostd --help\n",
		*err.text ? err.text : "no such argument is taken");
	return 1 + USAGE;
}

/* Removes the groups that nobody needs any more, with the rights for that. */
static int sweep(struct ward_err *err)
{
	int r = ward_keeper_raise();

	if (r < 0)
		return ward_err_sys(err, r, "capset");
	ward_cgroup_sweep_users();
	return ward_keeper_main(err);
}

/* What each of the services has for all of its processes, and its rights. */
static int prepare(struct hostd *h, struct ward_err *err)
{
	if (h->groups) {
		int r = ward_keeper_main(err);
		return r < 0 ? r : sweep(err);
	}
	h->fusectl = ward_host_fusectl();
	int r = h->fusectl < 0 ? ward_err_sys(err, h->fusectl, "mounting fusectl") : 0;
	if (r == 0)
		r = ward_host_bounds_new(h->fusectl, &h->bounds);
	return r < 0 ? r : ward_rights_main(err);
}

int main(int argc, char **argv)
{
	static struct hostd h = {.sessions = USER_MAX, .of_user = {.processes = PROCESSES}};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_service l = {.program = "wardfs-hostd",
		.too_many = "too many sessions at a time",
		.total_max = TOTAL_MAX,
		.user = &h};
	int signals = -1;

	h.of_user.memory = ward_host_size().memory / 100 * MEMORY_PERCENT;
	const int said = take_options(argc, argv, &h);
	if (said)
		return said - 1;
	l.socket = h.groups ? "wardfs-host-groups.socket" : "wardfs-host.socket";
	l.serve = h.groups ? keep : serve;
	l.user_max = h.groups ? h.sessions : USER_MAX;
	if (ward_service_prepare(&l, &signals) < 0)
		return USAGE;
	if (prepare(&h, &err) < 0) {
		ward_tellf("wardfs-hostd: %s\n", err.text);
		return 1;
	}
	int r = ward_service_run(&l, signals);
	/* Those of sessions that go on stay. */
	if (r == 0 && h.groups)
		r = sweep(&err);
	return r < 0;
}
