/* SPDX-License-Identifier: Apache-2.0 */
/* For the unit tests of policies, and of what asks them. Failures abort the test. */
#pragma once

#include "enforcer/policy/policy.h"

/* The text alone, compiled as the base; its rules stand in a file "f". The caller's to unref. */
struct ward_policy *policy_of(const char *text);
/* The state of a sandbox path, for ward_policy_state_put(). */
const struct ward_state *policy_walk(const struct ward_policy *p, const char *path);
/* What a path gives. */
uint32_t policy_rights(const struct ward_policy *p, const char *path);
/* A number below n, the same ones in every run of a test (each is a process of its own). */
unsigned rnd(unsigned n);
