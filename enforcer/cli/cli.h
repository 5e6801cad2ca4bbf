/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of `wardfs`, one file each (cmd_VERB.c). Each takes its own argument vector (argv[0] is
 * "wardfs VERB"), prints data on stdout and messages on stderr, and returns the exit status.
 */
#pragma once

int ward_cmd_run(int argc, char **argv);
int ward_cmd_mount(int argc, char **argv);
int ward_cmd_umount(int argc, char **argv);
int ward_cmd_policy(int argc, char **argv);
int ward_cmd_audit(int argc, char **argv);
int ward_cmd_ps(int argc, char **argv);
int ward_cmd_kill(int argc, char **argv);
 * One function a verb of the command line. argv[0] is the verb. Each returns the exit code of the
 * program; data goes to stdout, messages to stderr.
 */
#pragma once

/*
 * `wardfs doctor [--json]`: what this host offers, what is missing, the exact fix. Everything is
 * really tried, in child processes. Exit code 1 if mode `restricted` could not run here, 2 usage.
 */
int ward_cmd_doctor(int argc, char **argv);
