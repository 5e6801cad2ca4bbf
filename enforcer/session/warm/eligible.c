/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which runs may take a prepared session. */
#include "enforcer/session/warm/eligible.h"

#include <unistd.h>

#include "enforcer/session/terminal/given.h"

/* A terminal stays with the process that has it as its own, and a bad descriptor is an error that
 * a normal start reports. */
static bool are_plain(void)
{
	for (int i = 0; i < 3; i++) {
		struct ward_err none = WARD_ERR_INIT;
		enum ward_given given = WARD_GIVEN_FILE;
		if (ward_given_look(i, "", &given, &none) < 0 || given == WARD_GIVEN_TERMINAL)
			return false;
	}
	return true;
}

static bool seeds(const struct ward_settings *s)
{
	for (size_t i = 0; i < s->n_trees; i++)
		if (s->trees[i].seed.n || s->trees[i].seed_project.n)
			return true;
	return false;
}

static const char *of_options(const struct ward_run_options *o, bool agent)
{
	return o->keep					     ? "--keep"
	       : o->session				     ? "--session"
	       : o->review || o->from || o->discard	     ? "--review"
	       : o->tokens.n				     ? "--token"
	       : o->status_fd				     ? "--status-fd"
	       : o->image || o->engine || o->of_image	     ? "--image or --engine"
	       : o->base || o->learn || o->trial || o->weigh ? "it is no plain 'wardfs run'"
	       : agent					     ? "the command is a known agent"
							     : NULL;
}

static const char *of_policy(const struct ward_run_plan *p)
{
	const struct ward_settings *s = p->settings;
	return !(p->mode->takes & WARD_TAKES_WARM) ? "the mode is not restricted or process"
	       : p->weighed || p->picked	   ? "mode auto weighs each command"
	       : p->image.fd >= 0		   ? "it runs in an image"
	       : p->changes != WARD_CHANGES_DIRECT ? "its changes are staged"
	       : p->home.dir			   ? "it has a kept home ([home] mode = project)"
	       : seeds(s)			   ? "the policy seeds files of an agent"
	       : s->python != WARD_PYTHON_ANY	   ? "[process] python"
	       : s->seccomp == WARD_LIST_NO_EXEC   ? "[process] seccomp = no-exec"
	       : s->writer != WARD_WRITER_OWN	   ? "[audit] writer = system"
	       : s->net != WARD_NET_NONE && s->net != WARD_NET_ALLOWLIST
		       ? "[network] mode is not none or allowlist"
	       : s->net_publish.n || s->net_forward.n || s->net_socket.n
		       ? "[network] publish, forward or socket"
		       : NULL;
}

const char *ward_warm_why_not(
	const struct ward_run_plan *p, const struct ward_run_options *o, bool agent)
{
	const char *why = of_options(o, agent);
	if (!why)
		why = of_policy(p);
	if (!why && !o->prepared && !are_plain())
		why = "standard input, output or error is a terminal";
	return why;
}
