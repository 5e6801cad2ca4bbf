/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of `wardfs policy`; each as those of cli.h. */
#pragma once

int ward_policy_cmd_add(int argc, char **argv);
int ward_policy_cmd_remove(int argc, char **argv);
int ward_policy_cmd_edit(int argc, char **argv);
int ward_policy_cmd_undo(int argc, char **argv);
int ward_policy_cmd_reload(int argc, char **argv);
int ward_policy_cmd_explain(int argc, char **argv);
int ward_policy_cmd_check(int argc, char **argv);
int ward_policy_cmd_test(int argc, char **argv);
int ward_policy_cmd_show(int argc, char **argv);
int ward_policy_cmd_diff(int argc, char **argv);
int ward_policy_cmd_forget(int argc, char **argv);
