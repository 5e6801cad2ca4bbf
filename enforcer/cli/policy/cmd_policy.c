/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs policy: finds the verb and hands over. */
#include "enforcer/cli/base/cli.h"
#include "enforcer/cli/base/verbs.h"
#include "enforcer/cli/policy/policy_verbs.h"

static const struct ward_cli_verb verbs[] = {
	{"explain", ward_policy_cmd_explain, "wardfs policy explain",
		"tell what an action on a path would answer, and why"},
	{"check", ward_policy_cmd_check, "wardfs policy check",
		"look for errors and for rules that do not do what they seem to"},
	{"test", ward_policy_cmd_test, "wardfs policy test",
		"run the expectations that a policy holds in [test]"},
	{"add", ward_policy_cmd_add, "wardfs policy add",
		"add a rule to your file for this project"},
	{"remove", ward_policy_cmd_remove, "wardfs policy remove",
		"take a rule of your file for this project away"},
	{"edit", ward_policy_cmd_edit, "wardfs policy edit",
		"edit your file for this project; what does not load is not installed"},
	{"undo", ward_policy_cmd_undo, "wardfs policy undo",
		"take the last change of your file for this project back"},
	{"show", ward_policy_cmd_show, "wardfs policy show",
		"print the policy in force after all its sources"},
	{"diff", ward_policy_cmd_diff, "wardfs policy diff",
		"tell what one policy gives and another does not"},
	{"reload", ward_policy_cmd_reload, "wardfs policy reload",
		"put another policy in force in a running session"},
	{"forget", ward_policy_cmd_forget, "wardfs policy forget",
		"end the guards of a repository that is remembered"},
};

int ward_cmd_policy(int argc, char **argv)
{
	static const struct ward_cli_verbs all = {"wardfs policy",
		"What a policy permits, and why.\n", verbs, sizeof(verbs) / sizeof(*verbs)};
	return ward_cli_call(&all, argc, argv);
}
