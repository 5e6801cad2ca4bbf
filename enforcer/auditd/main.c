/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-auditd: has the trails of all users of a host written under a uid of its own ([audit]
 * writer = system), so that they bind the owner too. Started by systemd with one listening socket
 * (sd_listen_fds(3); conf/systemd), never as root.
 *
 *   main      accepts, asks the kernel who it is (SO_PEERCRED), forks:
 *   keeper.c  one process a connection: opens the files of that user's trail, starts
 *   wardfs-audit, the writer, as it is everywhere
 *
 * SIGTERM ends main alone: sessions go on to their end.
 */
#include <getopt.h>
#include <stdlib.h>
#include <time.h>

#include "audit/log/chain.h"
#include "enforcer/auditd/keeper.h"
#include "enforcer/base/out.h"
#include "enforcer/base/quantity.h"
#include "enforcer/ipc/service.h"
#include "enforcer/ipc/system.h"

/* Connections at a time, and of one user, unless --sessions says otherwise. */
#define TOTAL_MAX 1024
#define USER_MAX 64
#define USAGE 2

static const char help[] =
	"Usage: wardfs-auditd [--keep DAYS] [--sessions N]\n"
	"\n"
	"  Writes the trails of all users whose policy says [audit] writer = system. Started by\n"
	"  wardfs-audit.socket, under a user of its own.\n"
	"\n"
	"  --keep DAYS   keeps trails for at least so long, whatever their policy says (default: 200)\n"
	"  --sessions N  of one user at a time (default: 64, at most 1024)\n";

struct auditd {
	const char *top;
	uint64_t keep_min;
	uint64_t user_max;
};

static int keep(void *user, int conn, const struct ucred *peer)
{
	const struct auditd *a = user;
	struct ward_keeper k = {
		.conn = conn, .uid = peer->uid, .top = a->top, .keep_min = a->keep_min};

	return ward_keeper_serve(&k);
}

/* Names the word that is wrong: what getopt_long(3) prints itself is escaped by nobody. */
static int wrong(const char *what, const char *word)
{
	ward_tellf("wardfs-auditd: %s: %s; see wardfs-auditd --help\n", word, what);
	return USAGE;
}

/* 0: goes on; else 1 + the exit status. */
static int take_options(struct auditd *a, int argc, char **argv)
{
	static const struct option options[] = {
		{"keep", 1, NULL, 'k'}, {"sessions", 1, NULL, 's'}, {"help", 0, NULL, 'h'}, {0}};
	opterr = 0;
	for (int o = 0; (o = getopt_long(argc, argv, ":h", options, NULL)) != -1;) {
		if (o == 'h') {
			ward_outf(help);
			return 1;
		}
		/* optind has gone past it, but within a word of several letters. */
		if (o == ':' || o == '?')
			return 1 + wrong(o == ':' ? "a value is missing" : "no such option",
					   argv[optind > 1 ? optind - 1 : 1]);
		if (o == 'k' && ward_quantity_whole(optarg, 1, 36500, &a->keep_min, NULL) < 0)
			return 1 + wrong("--keep takes days, from 1 to 36500", optarg);
		if (o == 's' && ward_quantity_whole(optarg, 1, TOTAL_MAX, &a->user_max, NULL) < 0)
			return 1 + wrong("--sessions takes a number from 1 to 1024", optarg);
	}
	return optind < argc ? 1 + wrong("no argument is taken", argv[optind]) : 0;
}

int main(int argc, char **argv)
{
	static struct auditd a = {.keep_min = 200, .user_max = USER_MAX};
	int signals = -1;
	int said = take_options(&a, argc, argv);
	if (said)
		return said - 1;
	a.keep_min *= (uint64_t)24 * 60 * 60;
	const char *top = getenv("STATE_DIRECTORY"); /* systemd.exec(5) */
	a.top = top && top[0] == '/' ? top : WARD_SYSTEM_STATE;
	const struct ward_service l = {.program = "wardfs-auditd",
		.socket = "wardfs-audit.socket",
		.too_many = "too many sessions at a time",
		.total_max = TOTAL_MAX,
		.user_max = a.user_max,
		.serve = keep,
		.user = &a};
	if (ward_service_prepare(&l, &signals) < 0)
		return USAGE;
	if (ward_chain_setup() < 0) {
		ward_tellf("wardfs-auditd: its cryptography does not work\n");
		return USAGE;
	}
	return ward_service_run(&l, signals) < 0;
}
