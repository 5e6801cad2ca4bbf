/* SPDX-License-Identifier: Apache-2.0 */
/* [test]: what a policy says of itself, held against what it decides. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/explain.h"
#include "enforcer/policy/internal.h"

static int walk(const struct ward_policy *p, const char *path, const struct ward_state **ret)
{
	return ward_policy_walk(p, path, strlen(path), ret);
}

static bool ends_in_slash(const char *path)
{
	return path[0] && path[strlen(path) - 1] == '/';
}

/* 0: *ret is the name of the verdict. 1: it says what is wrong with the line. -ENOMEM. */
static int decide(const struct ward_policy *p, const struct ward_expectation *e, const char **ret)
{
	struct ward_request req;
	if (strcmp(e->action, "connect") == 0) {
		ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
		*ret = ward_verdict_name(ward_policy_connect(p, e->path, &place, &text));
		return 0;
	}
	ward_cleanup_free char *action = strdup(e->action);
	if (!action)
		return -ENOMEM;
	char *fact = strchr(action, ':');
	if (fact)
		*fact++ = 0;
	if (ward_explain_action(action, &req, NULL) < 0) {
		*ret = "unknown action; use " WARD_EXPLAIN_ACTIONS;
		return 1;
	}
	/* Nothing is looked at: what the request makes does not exist before, all else does. */
	req.fact = req.action == WARD_ACTION_CREATE ? WARD_FACT_ABSENT : WARD_FACT_THERE;
	req.fact2 = WARD_FACT_ABSENT;
	if (fact && ward_fact_find(fact, &req.fact) < 0) {
		*ret = "unknown word after the ':' of the action";
		return 1;
	}
	bool two = req.action == WARD_ACTION_RENAME || req.action == WARD_ACTION_LINK;
	if (two != (e->path2 != NULL)) {
		*ret = two ? "this action needs two paths" : "this action takes one path";
		return 1;
	}
	bool looks = req.action == WARD_ACTION_ACCESS &&
		     !(req.rights & ~(uint32_t)(WARD_RIGHT_STAT | WARD_RIGHT_LIST));
	if (looks || ends_in_slash(e->path))
		req.flags |= WARD_REQUEST_DIR;
	int r = walk(p, e->path, &req.state);
	if (r == 0 && two)
		r = walk(p, e->path2, &req.state2);
	if (r == 0)
		r = ward_policy_tree_root(p, e->path, &req.root);
	*ret = r == 0 ? ward_verdict_name(ward_policy_decide(p, &req, NULL).verdict)
		      : "not an absolute path";
	ward_state_put(req.state);
	ward_state_put(req.state2);
	ward_state_put(req.root);
	return r == -ENOMEM ? r : r < 0;
}

/* Takes the line apart in `words`, which is a copy of it. */
static void take_apart(char *words, struct ward_expectation *e)
{
	char *save = NULL;
	/* three or four words: checked when it was read */
	e->action = strtok_r(words, " \t", &save);
	e->path = strtok_r(NULL, " \t", &save);
	e->path2 = strtok_r(NULL, " \t", &save);
	e->want = strtok_r(NULL, " \t", &save);
	if (!e->want) {
		e->want = e->path2;
		e->path2 = NULL;
	}
}

int ward_policy_expectations(const struct ward_policy *p,
	void (*fn)(void *user, const struct ward_expectation *e), void *user)
{
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct ward_entry *entry = &p->entries[i];
		if (entry->key->type != WARD_KEY_TYPE_EXPECT)
			continue;
		ward_cleanup_free char *words = strdup(entry->value);
		if (!words)
			return -ENOMEM;
		struct ward_expectation e = {
			.file = entry->file, .line = entry->line, .text = entry->value};
		take_apart(words, &e);
		const char *got = "";
		int r = decide(p, &e, &got);
		if (r < 0)
			return r;
		e.got = got;
		e.wrong = r > 0;
		e.met = !e.wrong && strcmp(got, e.want) == 0;
		fn(user, &e);
	}
	return 0;
}
