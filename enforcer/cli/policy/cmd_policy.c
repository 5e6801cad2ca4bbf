/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy: finds the verb and hands over. */
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/verbs.h"
#include "enforcer/cli/policy/policy_verbs.h"

static const struct ward_cli_verb verbs[] = {
	{"explain", ward_policy_cmd_explain, "wardfs policy explain",
		"tell whether an action is allowed, and why"},
	{"check", ward_policy_cmd_check, "wardfs policy check",
		"find errors and misleading rules in a policy"},
	{"test", ward_policy_cmd_test, "wardfs policy test",
		"run the tests in section [test] of a policy"},
	{"add", ward_policy_cmd_add, "wardfs policy add",
		"add a rule to your file for this project"},
	{"remove", ward_policy_cmd_remove, "wardfs policy remove",
		"remove a rule from your file for this project"},
	{"edit", ward_policy_cmd_edit, "wardfs policy edit",
		"edit your file for this project, and check it before it is saved"},
	{"undo", ward_policy_cmd_undo, "wardfs policy undo",
		"undo the last change of your file for this project"},
	{"show", ward_policy_cmd_show, "wardfs policy show",
		"print the policy in force, merged from all its sources"},
	{"diff", ward_policy_cmd_diff, "wardfs policy diff",
		"compare the rights that two policies give"},
	{"reload", ward_policy_cmd_reload, "wardfs policy reload",
		"change the policy of a running session"},
	{"forget", ward_policy_cmd_forget, "wardfs policy forget",
		"stop guarding a repository that no longer exists"},
};

int ward_cmd_policy(int argc, char **argv)
{
	static const struct ward_cli_verbs all = {"wardfs policy",
		"Explains, checks and changes policies.\n", verbs, sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
