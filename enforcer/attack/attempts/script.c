/* SPDX-License-Identifier: Apache-2.0 */
/* What only a script can try: parts of the engine that runs it. script/attack.mjs makes them. */
#include "enforcer/attack/attempts/attempts.h"

#define ENGINE(name, what, stops, ref) WARD_ATTEMPT(PROMISE, SECRET, name, what, stops, ref, NULL)
static const struct ward_attempt rows[] = {
	ENGINE("script-program", "Starts a program, which reads the file.",
		"an engine without processes, or a list of programs", "T1059.007"),
	ENGINE("script-worker", "Reads the file from a worker.",
		"rights that hold for workers as well", "CWE-269"),
	ENGINE("script-import", "Imports a module from outside the workspace.",
		"imports that are decided like reads", "CWE-829"),
	ENGINE("script-import-link", "Imports a link of the workspace that leads to such a module.",
		"a decision about the file, not its name", "CWE-61"),
	ENGINE("script-import-data", "Imports a file of data from outside the workspace.",
		"imports that are decided like reads", "CWE-829"),
	ENGINE("script-permission", "Asks the engine for the right to read, and reads.",
		"an engine that asks nobody inside", "CWE-269"),
	ENGINE("script-library", "Loads the C library and reads the file by it.",
		"an engine without foreign functions", "CWE-114"),
	ENGINE("script-engine", "Reads the file by parts of the engine that have other names.",
		"an engine that has no such parts", "CWE-693"),
};
WARD_ATTEMPT_TABLE(script, WARD_ATTACK_SCRIPT, "leave the engine that runs a script", rows);
