/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One function a verb of the command line. argv[0] is the verb. Each returns the exit code of the
 * program; data goes to stdout, messages to stderr.
 */
#pragma once

/*
 * `wardfs doctor [--json]`: what this host offers, what is missing, the exact fix. Everything is
 * really tried, in child processes. Exit code 1 if mode `restricted` could not run here, 2 usage.
 */
int ward_cmd_doctor(int argc, char **argv);
