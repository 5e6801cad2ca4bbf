/* SPDX-License-Identifier: Apache-2.0 */
/* Says in words what a decision means, and what would permit a refusal. */
#include "enforcer/policy/explain.h"

#include <errno.h>
#include <string.h>

#include "enforcer/base/escape.h"
#include "enforcer/policy/git_guards.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/load.h"

int ward_explain_action(const char *name, struct ward_request *ret, struct ward_err *err)
{
	static const struct {
		const char *name;
		enum ward_action action;
		uint32_t rights;
		uint32_t flags;
	} actions[] = {
		{"stat", WARD_ACTION_ACCESS, WARD_RIGHT_STAT, 0},
		{"list", WARD_ACTION_ACCESS, WARD_RIGHT_LIST, WARD_REQUEST_DIR},
		{"read", WARD_ACTION_ACCESS, WARD_RIGHT_READ, 0},
		{"exec", WARD_ACTION_ACCESS, WARD_RIGHT_EXEC, 0},
		{"append", WARD_ACTION_ACCESS, WARD_RIGHT_APPEND, 0},
		{"create", WARD_ACTION_CREATE, 0, 0},
		{"symlink", WARD_ACTION_CREATE, 0, WARD_REQUEST_SYMLINK},
		{"write", WARD_ACTION_ACCESS, WARD_RIGHT_WRITE, 0},
		{"remove", WARD_ACTION_REMOVE, 0, 0},
		{"rename", WARD_ACTION_RENAME, 0, 0},
		{"link", WARD_ACTION_LINK, 0, 0},
		{"chmod", WARD_ACTION_ACCESS, WARD_RIGHT_ATTR, 0},
	};
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].name, name) != 0)
			continue;
		*ret = (struct ward_request){.action = actions[i].action,
			.rights = actions[i].rights,
			.flags = actions[i].flags};
		return 0;
	}
	return ward_err_set(err, -EINVAL, "unknown action '%s': use " WARD_EXPLAIN_ACTIONS, name);
}

int ward_fact_find(const char *name, enum ward_fact *ret)
{
	for (unsigned f = 0; f < WARD_FACT_COUNT_; f++)
		if (strcmp(ward_fact_name((enum ward_fact)f), name) == 0) {
			*ret = (enum ward_fact)f;
			return 0;
		}
	return -EINVAL;
}

void ward_rule_place(const struct ward_rule *r, struct ward_buf *b)
{
	if (r)
		ward_buf_printf(b, WARD_PLACE_FMT, WARD_PLACE(r->file, r->line));
	else
		ward_buf_puts(b, "default");
}

const char *ward_rule_section(const struct ward_rule *r)
{
	return r->verb == WARD_VERB_PROGRAM ? "process"
	       : ward_rule_lifts(r)	    ? "lift"
	       : r->guard		    ? "guard"
					    : "files";
}

void ward_rule_text(const struct ward_rule *r, struct ward_buf *b)
{
	if (r)
		ward_buf_printf(b, "[%s] %s = %s", ward_rule_section(r), ward_verb_name(r->verb),
			r->pattern);
}

/* The weakest verb that gives all of want. */
static enum ward_verb verb_for(uint32_t want)
{
	static const enum ward_verb verbs[] = {WARD_VERB_READ, WARD_VERB_APPEND};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!(want & ~ward_verb_rights(verbs[i])))
			return verbs[i];
	return WARD_VERB_WRITE;
}

/* A rule that asks leaves it to a person; whether a line permits it as well, the rule's place says.
 */
static bool explain_asked(const struct ward_decision *d, struct ward_buf *b)
{
	const struct ward_rule *r = d->rule;
	if (d->verdict != WARD_VERDICT_ASK)
		return false;
	ward_buf_puts(b, "a session asks a person, who answers with 'wardfs approve'");
	if (r && !r->guard && ward_rule_group(r) == WARD_GROUP_BASE) {
		ward_buf_puts(b, "; without a question: ");
		return false;
	}
	if (r) {
		ward_buf_puts(b, "; nothing lifts the question of ");
		ward_rule_place(r, b);
		ward_buf_puts(b, " ");
		ward_rule_text(r, b);
	}
	return true;
}

static void explain_program(const struct ward_rule *r, const char *path, struct ward_buf *b)
{
	ward_buf_puts(
		b, "only programs of the list [process] exec may be executed, which begins at ");
	ward_rule_place(r, b);
	ward_buf_puts(b, ": add 'exec = ");
	ward_pattern_quote(b, path, strlen(path));
	ward_buf_puts(b, "' in [process] there");
}

void ward_explain_permit(const struct ward_decision *d, uint32_t want, const char *path,
	const char *owner_file, struct ward_buf *b)
{
	const struct ward_rule *r = d->rule;
	const char *owner = owner_file ? owner_file : "the policy";
	if (explain_asked(d, b))
		return;
	if (d->error == EXDEV) {
		ward_buf_puts(
			b, "moving it would change its rights, or those of something beneath it");
		if (r) {
			ward_buf_puts(b, ", because the two places differ under ");
			ward_rule_place(r, b);
			ward_buf_puts(b, " ");
			ward_rule_text(r, b);
		}
		ward_buf_puts(b, ": copy it instead (mv does that by itself)");
		return;
	}
	if (d->link) {
		ward_buf_puts(b, "a symbolic link there would lead past ");
		ward_rule_place(r, b);
		ward_buf_puts(b, " ");
		ward_rule_text(r, b);
		ward_buf_puts(b, ", a rule on a name beneath it: make a directory instead");
		return;
	}
	if (r && r->verb == WARD_VERB_PROGRAM) {
		explain_program(r, path, b);
		return;
	}
	if (r && r->verb == WARD_VERB_SECRET && (r->liftable || !r->guard)) {
		ward_buf_printf(b, "'secret = %s' (", r->pattern);
		ward_rule_place(r, b);
		ward_buf_puts(b,
			") hides files that existed before the session, unless git has committed them");
		if (r->liftable) {
			ward_buf_printf(b, ": 'wardfs policy add --lift-guard %s ",
				want & ~ward_verb_rights(WARD_VERB_READ) ? "write" : "read");
			ward_shell_word(b, path);
			ward_buf_puts(b, "' lifts it for this one file");
		} else if (!r->guard && ward_rule_group(r) == WARD_GROUP_BASE) {
			ward_buf_printf(b, ": '%s = ", ward_verb_name(verb_for(want)));
			ward_pattern_quote(b, path, strlen(path));
			ward_buf_printf(b, "' at the end of [files] in %s", owner);
		} else {
			ward_buf_puts(b, ": only a policy without this line shows it");
		}
		return;
	}
	if (r && r->liftable) {
		ward_buf_printf(b, "'%s = %s' (", ward_verb_name(r->verb), r->pattern);
		ward_rule_place(r, b);
		ward_buf_printf(b, ") is a shipped guard: 'wardfs policy add --lift-guard %s ",
			want & ~ward_verb_rights(WARD_VERB_READ) ? "write" : "read");
		ward_shell_word(b, path);
		ward_buf_puts(b, "' lifts it for this one file");
		return;
	}
	if (r && r->source == WARD_SOURCE_RUN && strncmp(r->file, "--", 2) == 0) {
		ward_buf_printf(b, "start the session without '%s'", r->file);
		return;
	}
	if (r && (r->guard || r->verb == WARD_VERB_NOEXEC)) {
		ward_buf_printf(b, "use a policy without %s'%s = %s' (",
			r->guard ? "the guard " : "", ward_verb_name(r->verb), r->pattern);
		ward_rule_place(r, b);
		ward_buf_puts(b, r->guard ? "): no other line lifts a guard"
					  : "): no other line lifts noexec");
		return;
	}
	if (r && (r->source == WARD_SOURCE_FLOOR || r->source == WARD_SOURCE_PROJECT)) {
		ward_buf_puts(b, "the right is taken away by ");
		ward_rule_place(r, b);
		ward_buf_printf(b, " (%s = %s), which only that file can change",
			ward_verb_name(r->verb), r->pattern);
		return;
	}
	ward_buf_printf(b, "'%s = ", ward_verb_name(verb_for(want)));
	ward_pattern_quote(b, path, strlen(path));
	ward_buf_printf(b, "' at the end of [files] in %s", owner);
}

bool ward_rule_remembered(const struct ward_policy *p, const struct ward_rule *r)
{
	struct ward_source_text t;
	bool remembered = false;
	if (!r || !r->guard || !ward_policy_source(p, r->source, &t))
		return false;
	const char *s = t.text;
	for (unsigned line = 1; line < r->text_line && *s; line++) {
		if (*s == '[')
			remembered = false;
		else if (strncmp(s, WARD_REMEMBERED_MARK "\n", sizeof(WARD_REMEMBERED_MARK)) == 0)
			remembered = true;
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	return remembered;
}

/* The i-th [system] read; NULL: there are fewer. */
static const struct ward_entry *find_shown(const struct ward_policy *p, size_t i)
{
	for (size_t k = 0; k < p->n_effective; k++)
		if (WARD_ENTRY_IS(p->effective[k], system_read) && i-- == 0)
			return p->effective[k];
	return NULL;
}

bool ward_policy_shows_shipped(const struct ward_policy *p, size_t i)
{
	const struct ward_entry *e = find_shown(p, i);
	size_t len = 0;
	return e && ward_profile_text(e->file, &len);
}

void ward_explain_shown(const struct ward_policy *p, size_t i, struct ward_buf *ret_place,
	struct ward_buf *ret_text)
{
	const struct ward_entry *e = find_shown(p, i);
	if (!e)
		return;
	ward_buf_printf(ret_place, WARD_PLACE_FMT, WARD_PLACE(e->file, e->line));
	ward_buf_printf(ret_text, "[system] %s = %s", e->key->name, e->value);
}

void ward_explain_rules(uint32_t rights, const struct ward_trace *trace, struct ward_buf *b)
{
	ward_buf_puts(b, "  rights  ");
	ward_rights_format(b, rights);
	ward_buf_putc(b, '\n');
	if (trace->n)
		ward_buf_puts(b, "  all rules that cover it, in order:\n");
	for (size_t i = 0; i < trace->n; i++) {
		const struct ward_trace_entry *e = &trace->entries[i];
		ward_buf_puts(b, "    ");
		ward_rule_place(e->rule, b);
		ward_buf_puts(b, "  ");
		ward_rule_text(e->rule, b);
		ward_buf_puts(b, e->decides ? "\n" : "  (overridden by a later line)\n");
	}
	if (trace->left_out)
		ward_buf_printf(b, "    and %zu more\n", trace->left_out);
}
