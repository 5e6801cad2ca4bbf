/* SPDX-License-Identifier: Apache-2.0 */
/* Between the files of mode deno alone. */
#pragma once

#include "enforcer/modes/modes.h"

/*
 * Finds Deno on the host: PATH of the caller, then where Deno's own installer and npm put it. Of
 * npm's package it takes the program, not the script in front of it. Directories that do not
 * answer are passed over. -ENOTSUP: not found, or it lies in the project.
 */
int ward_deno_find(const struct ward_mode_host *h, struct ward_mode_found *ret,
	struct ward_err *err) ward_must_check;

/* Appends Deno's flags, from the policy. -ENOMEM. */
int ward_deno_flags(const struct ward_mode_asked *a, struct ward_mode_command *ret,
	struct ward_err *err) ward_must_check;

/* Sets ret->envp: envp without variables that change what the flags mean. -ENOMEM. */
int ward_deno_env(char *const *envp, struct ward_mode_command *ret) ward_must_check;
