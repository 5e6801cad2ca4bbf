/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit: finds the verb and hands over. */
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/verbs.h"

static const struct ward_cli_verb verbs[] = {
	{"list", ward_audit_cmd_list, "wardfs audit list",
		"list sessions, or only those with matching records", &audit_list_argp},
	{"show", ward_audit_cmd_show, "wardfs audit show", "print the records of a session",
		&audit_show_argp},
	{"tail", ward_audit_cmd_tail, "wardfs audit tail",
		"print the last records, and follow new ones", &audit_tail_argp},
	{"file", ward_audit_cmd_file, "wardfs audit file",
		"print the records of one file, under all its names", &audit_file_argp},
	{"process", ward_audit_cmd_process, "wardfs audit process",
		"print the records of one process", &audit_process_argp},
	{"denials", ward_audit_cmd_denials, "wardfs audit denials",
		"list refusals, and the line that would permit each", &audit_denials_argp},
	{"summary", ward_audit_cmd_summary, "wardfs audit summary", "print the totals of a session",
		&audit_summary_argp},
	{"diff", ward_audit_cmd_diff, "wardfs audit diff", "compare what two sessions did",
		&audit_diff_argp},
	{"export", ward_audit_cmd_export, "wardfs audit export",
		"write the records for other programs", &audit_export_argp},
	{"verify", ward_audit_cmd_verify, "wardfs audit verify",
		"verify that nobody changed a trail", &audit_verify_argp},
	{"index", ward_audit_cmd_index, "wardfs audit index",
		"bring the index over all trails up to date", &audit_index_argp},
	{"sql", ward_audit_cmd_sql, "wardfs audit sql", "query all trails with SQL",
		&audit_sql_argp},
	{"approvals", ward_audit_cmd_approvals, "wardfs audit approvals",
		"list who allowed what, for how long, having seen what", &audit_approvals_argp},
	{"network", ward_audit_cmd_network, "wardfs audit network",
		"list connections, and those that were refused", &audit_network_argp},
	{"guarantees", ward_audit_cmd_guarantees, "wardfs audit guarantees",
		"tell which boundaries held, across sessions", &audit_guarantees_argp},
	{"policy", ward_audit_cmd_policy, "wardfs audit policy",
		"print the policies that were in force", &audit_policy_argp},
	{"report", ward_audit_cmd_report, "wardfs audit report", "write a report about a session",
		&audit_report_argp},
	{"attest", ward_audit_cmd_attest, "wardfs audit attest",
		"write a signed statement of what was in force", &audit_attest_argp},
	{"key", ward_audit_cmd_key, "wardfs audit key",
		"show, rotate, enroll or revoke the keys that sign", NULL},
	{"prove", ward_audit_cmd_prove, "wardfs audit prove",
		"write a proof that records are in the trail", &audit_prove_argp},
	{"witness", ward_audit_cmd_witness, "wardfs audit witness",
		"ask a witness to cosign the ledger's checkpoint", &audit_witness_argp},
	{"timestamp", ward_audit_cmd_timestamp, "wardfs audit timestamp",
		"ask an authority to time-stamp the ledger's checkpoint", &audit_timestamp_argp},
	{"bundle", ward_audit_cmd_bundle, "wardfs audit bundle",
		"write a trail and all that verifies it to an archive", &audit_bundle_argp},
	{"hold", ward_audit_cmd_hold, "wardfs audit hold", "keep a trail until you release it",
		&audit_hold_argp},
	{"release", ward_audit_cmd_release, "wardfs audit release",
		"end a hold; the trail expires as its policy says", &audit_release_argp},
	{"remove", ward_audit_cmd_remove, "wardfs audit remove", "delete the trail of a session",
		&audit_remove_argp},
	{"prune", ward_audit_cmd_prune, "wardfs audit prune",
		"delete expired trails, and compress the others", &audit_prune_argp},
};

int ward_cmd_audit(int argc, char **argv)
{
	static const struct ward_cli_verbs all = {"wardfs audit",
		"Reads, searches and verifies the trails of sessions.\n", verbs,
		sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
