/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a long session that has ended to the index. */
#include "enforcer/cli/run/run_index.h"

#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/query/index.h"
#include "enforcer/base/cleanup.h"

/* The last of the descriptors that every process has. */
#define STANDARD 2
/* Bytes of a trail that the next question indexes, in about ten milliseconds. */
#define SHORT_MAX ((uint64_t)1 << 20)

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

/* Last at processor and disk. */
static void go_last(void)
{
	const struct sched_param lowest = {0};
	(void)sched_setscheduler(0, SCHED_IDLE, &lowest);
	(void)setpriority(PRIO_PROCESS, 0, 19);
	(void)syscall(
		SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

void ward_run_index(const char *state, const char *session)
{
	struct ward_err none = WARD_ERR_INIT;
	struct ward_store *st = NULL;
	if (!session || ward_store_open(state, false, &st, &none) < 0)
		return;
	const bool leave_it = is_short(st, session);
	ward_store_close(st);
	if (leave_it || fork() != 0)
		return;
	step_aside();
	go_last();
	if (ward_chain_setup() < 0 || ward_store_open(state, false, &st, &none) < 0)
		_exit(1);
	_exit(ward_index_add(st, session, &none) < 0);
}
