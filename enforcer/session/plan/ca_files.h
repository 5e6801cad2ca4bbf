/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates of a company's own authority. The caller's environment names them, in variables that
 * programs of every kind know; without them nothing inside reaches a host behind the company's
 * proxy. The variable is passed on, and its file is shown read-only, as [system] read shows one.
 */
#pragma once

#include "enforcer/session/plan/plan.h"

/*
 * Adds to the plan's reads what the variables name and the view lacks, and fills p->ca. After
 * ward_shown_check(). A file is opened with the owner's rights: root's environment, where it counts
 * at all (environment.h), shows nothing that the owner could not read. What is no file of
 * certificates, holds a private key or is closed by a rule is not shown: o->say names it and what
 * to type. -ENOMEM; -EPERM.
 */
int ward_ca_find(const struct ward_run_options *o, struct ward_run_plan *p,
	struct ward_err *err) ward_must_check;
