/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of `wardfs`, one file each (cmd_VERB.c). Each takes its own argument vector (argv[0] is
 * "wardfs VERB"), prints data on stdout and messages on stderr, and returns the exit status.
 */
#pragma once

int ward_cmd_run(int argc, char **argv);
int ward_cmd_attack(int argc, char **argv);
int ward_cmd_mount(int argc, char **argv);
int ward_cmd_umount(int argc, char **argv);
int ward_cmd_init(int argc, char **argv);
int ward_cmd_policy(int argc, char **argv);
int ward_cmd_profile(int argc, char **argv);
int ward_cmd_audit(int argc, char **argv);
int ward_cmd_approve(int argc, char **argv);
int ward_cmd_exec(int argc, char **argv);
int ward_cmd_net(int argc, char **argv);
int ward_cmd_attach(int argc, char **argv);
int ward_cmd_seccomp(int argc, char **argv);
int ward_cmd_ps(int argc, char **argv);
int ward_cmd_top(int argc, char **argv);
int ward_cmd_quota(int argc, char **argv);
int ward_cmd_risk(int argc, char **argv);
int ward_cmd_review(int argc, char **argv);
int ward_cmd_home(int argc, char **argv);
int ward_cmd_image(int argc, char **argv);
int ward_cmd_learn(int argc, char **argv);
int ward_cmd_kill(int argc, char **argv);
int ward_cmd_grant(int argc, char **argv);
int ward_cmd_grants(int argc, char **argv);
int ward_cmd_token(int argc, char **argv);
int ward_cmd_revoke(int argc, char **argv);
int ward_cmd_doctor(int argc, char **argv);
