/* SPDX-License-Identifier: Apache-2.0 */
/* How a run comes to its end, and what is in force while it goes on. */
#include "enforcer/session/run/running.h"

#include <errno.h>
#include <signal.h>
#include <sys/timerfd.h>

#include "enforcer/base/clock.h"

void ward_running_continue(struct ward_running *r)
{
	const struct ward_helper *const all[WARD_RUNNING_HELPERS] = {
		&r->guard.audit, &r->guard.fs, &r->network.helper};
	for (size_t i = 0; i < WARD_RUNNING_HELPERS; i++)
		if (ward_helper_continue(all[i]))
			r->continued[i] = all[i]->name;
}

void ward_running_over(struct ward_running *r)
{
	r->over = true;
	ward_pollset_stop(&r->set);
}

void ward_running_kill(struct ward_running *r, int status, const char *cause)
{
	if (r->over)
		return;
	ward_running_over(r);
	r->status = status;
	r->cause = cause;
	ward_running_continue(r);
	ward_mode_stop(r->confined);
	if (status == WARD_EXIT_SETUP)
		ward_err_set(r->err, -EIO, "%s", cause);
}

static void arm(int timer, uint64_t ns)
{
	struct itimerspec its = {.it_value = {.tv_sec = (time_t)(ns / WARD_NS_PER_SEC),
					 .tv_nsec = (long)(ns % WARD_NS_PER_SEC)}};
	timerfd_settime(timer, 0, &its, NULL);
}

void ward_running_end(struct ward_running *r, int status, const char *cause)
{
	if (r->ending)
		return;
	r->ending = true;
	r->status = status;
	r->cause = cause;
	/* What ends closes its files first, and waits for wardfs-fs with that. */
	ward_running_continue(r);
	/* Whose first command is over has nobody to be asked. */
	if (r->let_go || ward_mode_signal(r->confined, 0, SIGTERM) < 0)
		arm(r->clock, 1);
	else
		arm(r->clock, r->plan->settings->grace_ns + 1);
	/* What is stopped hears no SIGTERM. */
	if (r->stopped)
		(void)!ward_mode_signal(r->confined, 0, SIGCONT);
}

const struct ward_policy *ward_running_policy(const struct ward_running *r)
{
	return r->reload.current ? r->reload.current : r->plan->policy;
}

unsigned ward_running_apart(const struct ward_run_plan *p)
{
	return ward_given_apart(p->mode->guarantees, p->settings->net != WARD_NET_HOST);
}

uid_t ward_running_uid(const struct ward_run_plan *p)
{
	return p->id.root ? p->id.agent_uid : p->id.owner_uid;
}

int ward_running_relay(struct ward_running *r, struct ward_err *err)
{
	const struct ward_settings *s = r->plan->settings;
	struct ward_relay_spec spec = {.flags = s->terminal ? WARD_RELAY_TERMINAL : 0,
		.apart = ward_running_apart(r->plan),
		.owner = ward_running_uid(r->plan)};
	if (s->idle_ns != WARD_UNLIMITED && !ward_limits_idle_is_default(r->plan->policy))
		spec.flags |= WARD_RELAY_COUNT;
	int e = ward_relay_open(&spec, &r->relay, err);
	if (e == 0 && s->file_size != WARD_UNLIMITED)
		ward_relay_bound(r->relay, s->file_size);
	return e;
}
