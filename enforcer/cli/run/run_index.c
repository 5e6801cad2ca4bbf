/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a session that has ended to the index. */
#include "enforcer/cli/run/run_index.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/query/index.h"
#include "enforcer/base/cleanup.h"

/* The last of the descriptors that every process has. */
#define STANDARD 2
/* Bytes of a trail that the next question indexes in about ten milliseconds. */
#define SHORT_MAX ((uint64_t)1 << 20)
/* Of so many short sessions one brings the index up to date, for all of them. */
#define SHORT_ONE_IN 16

static bool is_short(struct ward_store *st, const char *session)
{
	struct ward_err none = WARD_ERR_INIT;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	uint64_t size = 0;
	return ward_store_open_log(st, session, &log, &none) == 0 &&
	       ward_log_size(log, &size) == 0 && size <= SHORT_MAX;
}

/* No terminal, no descriptor of a session. */
static void step_aside(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	(void)setsid();
	for (int fd = 0; null >= 0 && fd <= STANDARD; fd++)
		(void)dup2(null, fd);
	(void)close_range(STANDARD + 1, ~0U, 0);
	if (chdir("/") < 0)
		_exit(1);
}

/*
 * Last at processor and disk. Not for short trails: a question waits for the lock on the index, and
 * what takes milliseconds would take seconds on a busy host.
 */
static void go_last(void)
{
	const struct sched_param lowest = {0};
	(void)sched_setscheduler(0, SCHED_IDLE, &lowest);
	(void)setpriority(PRIO_PROCESS, 0, 19);
	(void)syscall(
		SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

/* By chance, so that nothing needs to be counted. */
static bool is_turn(void)
{
	unsigned char byte = 0;
	return getrandom(&byte, sizeof(byte), GRND_NONBLOCK) == sizeof(byte) &&
	       byte % SHORT_ONE_IN == 0;
}

void ward_run_index(const char *state, const char *session)
{
	struct ward_err none = WARD_ERR_INIT;
	struct ward_index_result all = {0};
	struct ward_store *st = NULL;
	if (!session || ward_store_open(state, false, &st, &none) < 0)
		return;
	const bool is_long = !is_short(st, session);
	ward_store_close(st);
	if ((!is_long && !is_turn()) || fork() != 0)
		return;
	step_aside();
	if (is_long)
		go_last();
	if (ward_chain_setup() < 0 || ward_store_open(state, false, &st, &none) < 0)
		_exit(1);
	_exit((is_long ? ward_index_add(st, session, &none)
		       : ward_index_update(st, false, &all, &none)) < 0);
}
