/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program of somebody else's that asks libwardpolicy: third POLICY ACTION PATH. Prints version,
 * verdict, rule and what would permit it; exits with 0 for allow, 1 otherwise, 2 for an error.
 * Built against the installed headers alone (tests/cases/policy/library.sh).
 */
#include <stdio.h>
#include <string.h>

#include <enforcer/policy/explain.h>
#include <enforcer/policy/load.h>
#include <enforcer/policy/version.h>

static int explain(const struct ward_policy *policy, const char *action, const char *path)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_request request;
	const struct ward_state *state = NULL;
	if (ward_explain_action(action, &request, &err) < 0) {
		fprintf(stderr, "third: %s\n", err.text);
		return 2;
	}
	if (ward_policy_walk(policy, path, strlen(path), &state) < 0)
		return 2;
	request.state = state;
	struct ward_decision d = ward_policy_decide(policy, &request, NULL);
	struct ward_buf place = WARD_BUF_INIT, permit = WARD_BUF_INIT;
	ward_rule_place(d.rule, &place);
	if (d.verdict != WARD_VERDICT_ALLOW)
		ward_explain_permit(&d, request.rights, path, NULL, &permit);
	printf("%s %s %s\n%s\n", ward_policy_version(), ward_verdict_name(d.verdict),
		ward_buf_str(&place), ward_buf_str(&permit));
	ward_buf_clear(&place);
	ward_buf_clear(&permit);
	ward_policy_state_put(policy, state);
	return d.verdict == WARD_VERDICT_ALLOW ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	struct ward_err err = WARD_ERR_INIT;
	struct ward_policy *policy = NULL;
	if (ward_policy_load_alone(argv[1], &policy, &err) < 0) {
		fprintf(stderr, "third: %s\n", err.text);
		return 2;
	}
	int status = explain(policy, argv[2], argv[3]);
	ward_policy_unref(policy);
	return status;
}
