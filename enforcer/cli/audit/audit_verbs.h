/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs of `wardfs audit`, in the files of their names: each takes its own argument vector and
 * returns the exit status. Their argp tells cmd_audit.c their options.
 */
#pragma once

#include <argp.h>

int ward_audit_cmd_list(int argc, char **argv);
int ward_audit_cmd_show(int argc, char **argv);
int ward_audit_cmd_tail(int argc, char **argv);
int ward_audit_cmd_file(int argc, char **argv);
int ward_audit_cmd_process(int argc, char **argv);
int ward_audit_cmd_summary(int argc, char **argv);
int ward_audit_cmd_denials(int argc, char **argv);
int ward_audit_cmd_diff(int argc, char **argv);
int ward_audit_cmd_export(int argc, char **argv);
int ward_audit_cmd_verify(int argc, char **argv);
int ward_audit_cmd_guarantees(int argc, char **argv);
int ward_audit_cmd_hold(int argc, char **argv);
int ward_audit_cmd_release(int argc, char **argv);
int ward_audit_cmd_index(int argc, char **argv);
int ward_audit_cmd_sql(int argc, char **argv);
int ward_audit_cmd_report(int argc, char **argv);
int ward_audit_cmd_attest(int argc, char **argv);
int ward_audit_cmd_network(int argc, char **argv);
int ward_audit_cmd_approvals(int argc, char **argv);
int ward_audit_cmd_policy(int argc, char **argv);
int ward_audit_cmd_prove(int argc, char **argv);
int ward_audit_cmd_witness(int argc, char **argv);
int ward_audit_cmd_timestamp(int argc, char **argv);
int ward_audit_cmd_bundle(int argc, char **argv);
int ward_audit_cmd_remove(int argc, char **argv);
int ward_audit_cmd_prune(int argc, char **argv);
/* Has verbs of its own. */
int ward_audit_cmd_key(int argc, char **argv);

extern const struct argp audit_list_argp;
extern const struct argp audit_show_argp;
extern const struct argp audit_tail_argp;
extern const struct argp audit_file_argp;
extern const struct argp audit_process_argp;
extern const struct argp audit_summary_argp;
extern const struct argp audit_denials_argp;
extern const struct argp audit_diff_argp;
extern const struct argp audit_export_argp;
extern const struct argp audit_verify_argp;
extern const struct argp audit_guarantees_argp;
extern const struct argp audit_hold_argp;
extern const struct argp audit_release_argp;
extern const struct argp audit_index_argp;
extern const struct argp audit_sql_argp;
extern const struct argp audit_report_argp;
extern const struct argp audit_attest_argp;
extern const struct argp audit_network_argp;
extern const struct argp audit_approvals_argp;
extern const struct argp audit_policy_argp;
extern const struct argp audit_prove_argp;
extern const struct argp audit_witness_argp;
extern const struct argp audit_timestamp_argp;
extern const struct argp audit_bundle_argp;
extern const struct argp audit_remove_argp;
extern const struct argp audit_prune_argp;
