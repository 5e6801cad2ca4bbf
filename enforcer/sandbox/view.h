/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The minimal view: which entries of a plan make the file system that a command sees. Private to
 * this folder. Only looks at the host (readlink, read of nothing secret); changes nothing.
 */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/sandbox/plan.h"
#include "enforcer/sandbox/sandbox.h"

/* A growing list of entries; all strings are its own. */
struct ward_view_list {
	struct ward_plan_entry *v;
	size_t n, cap;
	int error; /* sticky, -ENOMEM or -E2BIG */
};

/*
 * Fills view with what spec asks for, ordered so that each entry comes after what it lies on.
 * -EINVAL with text for paths that are not absolute and normalised, for two mounts on one path,
 * for anything below a tree, and for trees over /proc, /sys, /dev and the like.
 */
int ward_view_build(const struct ward_sandbox_spec *spec, struct ward_view_list *view,
	struct ward_err *err) ward_must_check;
void ward_view_clear(struct ward_view_list *view);
