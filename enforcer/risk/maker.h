/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who brought a program that is of no package of the distribution: what npm, pip, pipx and cargo
 * write beside the programs that they install. wardfs starts none of them.
 *
 *   npm    …/node_modules/[@SCOPE/]NAME/package.json: name, version
 *   pipx   VENV/pipx_metadata.json: main_package, if its apps have VENV/bin/PROGRAM
 *   pip    VENV/lib/pythonX.Y/{site,dist}-packages/NAME-VERSION.dist-info/RECORD, with a line
 *          for ../../../bin/PROGRAM
 *   cargo  ROOT/.crates2.json: installs, if its bins have ROOT/bin/PROGRAM
 *
 * The owner can write these files, and so can anybody who can write the program. They say where a
 * program comes from, and do not prove it.
 */
#pragma once

#include <stddef.h>

#include "enforcer/base/err.h"

struct ward_maker_place {
	/* Directories that sessions can write: nothing in them is believed. */
	const char *const *written;
	size_t n_written;
};
/*
 * path: absolute, without links. *ret is the caller's: "npm NAME VERSION", "pipx …", "venv …" (pip
 * in a venv), "pip …", "cargo …"; NULL: nobody says. -ENOMEM.
 */
int ward_maker_find(
	const struct ward_maker_place *where, const char *path, char **ret) ward_must_check;
