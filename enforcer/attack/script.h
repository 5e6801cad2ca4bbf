/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts as a script: for sandboxes that run JavaScript alone, such as modes deno and wasm.
 * script/attack.mjs is the inside; the controls run the same script under Deno or node.
 */
#pragma once

#include "enforcer/attack/world.h"

/*
 * Changes a world that was made (world.h): the sandbox then gets the script as its program, and so
 * do the controls. Without Deno and node on the caller's PATH there are no controls. 0, or -1 with
 * what could not be made in why. Call it before ward_world_tell().
 */
int ward_script_use(struct ward_world *w, char *why, size_t size) ward_must_check;
