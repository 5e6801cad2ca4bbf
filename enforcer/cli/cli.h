/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of the command line. Each takes its own argv (argv[0] is the verb) and returns the exit
 * status of the process. Data goes to stdout, messages to stderr.
 */
#pragma once

/* wardfs audit list|show|denials|verify; 0, 1 something is wrong with a trail, 2 usage. */
int ward_cmd_audit(int argc, char **argv);
