/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What commits inside carry: name and address of the owner's own git configuration, and settings
 * of taste. Nothing else of it is seen inside: it may name programs, helpers that hold passwords,
 * and addresses with tokens in them.
 */
#pragma once

#include "enforcer/base/err.h"
#include "enforcer/session/owner/identity.h"

/*
 * Reads ~/.config/git/config and ~/.gitconfig of the owner, as the owner and in git's order (the
 * last one decides); files that they include are not read. Gives the text of a configuration file
 * as gitconfig(5) has it, the caller's; NULL where there is nothing to tell. What cannot be opened
 * or read counts as absent, as git does for these two. 0, or -ENOMEM, or what ended acting as the
 * owner. Single-threaded callers only (as_owner.h).
 */
int ward_git_settings(
	const struct ward_identity *id, char **ret, struct ward_err *err) ward_must_check;
