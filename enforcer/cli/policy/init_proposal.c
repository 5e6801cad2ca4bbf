/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes over what a repository proposes. Only keys that add a right can stand in a proposal, so it
 * changes no guard and no limit; its comments are not taken over, since a later reader of the
 * owner's file would take them for the owner's. What is accepted is the text that was shown: the
 * file is read once.
 */
#include "enforcer/cli/policy/init_proposal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/cli/place/owner_file.h"
#include "enforcer/cli/place/proposal.h"
#include "enforcer/cli/base/ask.h"
#include "enforcer/cli/policy/policy_effect.h"
#include "enforcer/cli/policy/policy_lines.h"
#include "enforcer/policy/check.h"
#include "enforcer/policy/settings.h"

/* More lines nobody reads before they say yes. */
#define LINES_MAX 128U

/* What may stand in a proposal. */
static const struct additive {
	const char *section, *key;
} additive[] = {
	{"[files]", "read"},
	{"[files]", "append"},
	{"[files]", "write"},
	{"[network]", "allow"},
	{"[network]", "publish"},
	{"[env]", "pass"},
	{"[env]", "set"},
	{"[process]", "exec"},
};

struct proposing {
	const struct ward_policy_place *place;
	const struct init_answer *answer;
	char digest[WARD_PROPOSAL_DIGEST_SIZE];
	struct policy_lines lines;     /* what is proposed */
	struct policy_lines had;       /* what was accepted before */
	struct ward_buf owners, block; /* the owner's text; the lines as they would stand in it */
	struct ward_buf text;	       /* what the owner's file would be */
	struct policy_effect effect;
	bool declined;
};

static void proposing_clear(struct proposing *p)
{
	policy_lines_clear(&p->lines);
	policy_lines_clear(&p->had);
	ward_buf_clear(&p->owners);
	ward_buf_clear(&p->block);
	ward_buf_clear(&p->text);
	policy_effect_clear(&p->effect);
}

/* What each allow and publish brings along: people write it as in a policy. */
static bool is_mode(const struct policy_line *l)
{
	return strcmp(l->section, "[network]") == 0 && strcmp(l->key, "mode") == 0 &&
	       strcmp(l->value, "allowlist") == 0;
}

static int check_line(const struct policy_line *l, struct ward_err *err)
{
	bool known = (strcmp(l->section, "[policy]") == 0 && strcmp(l->key, "version") == 0) ||
		     is_mode(l);
	for (size_t i = 0; i < sizeof(additive) / sizeof(*additive); i++)
		known = known || (strcmp(l->section, additive[i].section) == 0 &&
					 strcmp(l->key, additive[i].key) == 0);
	if (!known)
		return ward_err_set(err, -EINVAL,
			WARD_PROPOSAL_FILE
			":%u: '%s' under %s cannot be proposed; a proposal has read, "
			"append and write under [files], allow and publish under "
			"[network], pass and set under [env], exec under [process]",
			l->line, l->key, l->section);
	if (strcmp(l->section, "[env]") == 0 && strcmp(l->key, "pass") == 0 &&
		strpbrk(l->value, "*?"))
		return ward_err_set(err, -EINVAL,
			WARD_PROPOSAL_FILE
			":%u: pass = %s: a proposal names each variable, since a "
			"wildcard passes keys that nobody looked at",
			l->line, l->value);
	return 0;
}

static int parse(struct proposing *p, const struct ward_buf *text, struct ward_err *err)
{
	int r = policy_lines_read(WARD_PROPOSAL_FILE, text, &p->lines, err);
	if (r == 0 && p->lines.n > LINES_MAX)
		r = ward_err_set(err, -E2BIG, WARD_PROPOSAL_FILE " has %zu lines; %u is the most",
			p->lines.n, LINES_MAX);
	for (size_t i = 0; r == 0 && i < p->lines.n; i++)
		r = check_line(&p->lines.v[i], err);
	return r;
}

/* A list of programs that only the proposal begins would close all others. */
static bool is_needless(const struct proposing *p, const struct policy_line *l)
{
	return strcmp(l->section, "[policy]") == 0 || is_mode(l) ||
	       (strcmp(l->key, "exec") == 0 && !ward_policy_has_programs(p->place->policy));
}

static bool has_mode(const struct policy_lines *lines, unsigned from, unsigned to)
{
	for (size_t i = 0; i < lines->n; i++)
		if ((lines->v[i].line < from || lines->v[i].line > to) &&
			strcmp(lines->v[i].section, "[network]") == 0 &&
			strcmp(lines->v[i].key, "mode") == 0)
			return true;
	return false;
}

static unsigned line_at(const struct ward_buf *text, size_t at)
{
	unsigned n = 1;
	for (size_t i = 0; i < at; i++)
		n += text->data[i] == '\n';
	return n;
}

/* The lines by their sections, and `mode = allowlist` where nothing else opens the network. */
static void make_block(struct proposing *p, bool mode)
{
	const char *section = "";
	for (size_t i = 0; i < p->lines.n; i++) {
		const struct policy_line *l = &p->lines.v[i];
		if (is_needless(p, l))
			continue;
		if (strcmp(section, l->section) != 0)
			ward_buf_printf(&p->block, "%s\n", l->section);
		section = l->section;
		if (!mode && strcmp(section, "[network]") == 0) {
			ward_buf_puts(&p->block, "mode = allowlist\n");
			mode = true;
		}
		ward_buf_printf(&p->block, "%s = %s\n", l->key, l->value);
	}
}

/* What stands behind the block. Without a header of its own it belongs to the old block's last one,
 * and the new block may end with another. */
static void put_rest(struct proposing *p, const char *rest)
{
	const char *s = rest;
	while (*s == '\n' || *s == ';' || *s == '#') {
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	if (*s && *s != '[' && p->had.n)
		ward_buf_printf(&p->text, "%s\n", p->had.v[p->had.n - 1].section);
	ward_buf_puts(&p->text, rest);
}

/* The owner's text with this block in place of the one that is there. */
static int make_text(struct proposing *p, struct ward_err *err)
{
	struct ward_proposal_block b;
	ward_cleanup(policy_lines_clear) struct policy_lines all = POLICY_LINES_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf old = WARD_BUF_INIT;
	const char *file = p->place->owner_file;
	ward_proposal_find_block(&p->owners, &b);
	int r = policy_lines_read(file, &p->owners, &all, err);
	const unsigned from = line_at(&p->owners, b.from), to = line_at(&p->owners, b.to);
	if (r == 0 && b.to > b.from) {
		ward_buf_add(&old, p->owners.data + b.from, b.to - b.from);
		r = policy_lines_read(file, &old, &p->had, err);
	}
	if (r < 0)
		return r;
	const bool none = b.from == b.to;
	/* without the block, what is the mode? Where it stands in the owner's file, that decides.
	 */
	const bool open = has_mode(&all, none ? 0 : from, none ? 0 : to) ||
			  (ward_policy_settings(p->place->policy)->net != WARD_NET_NONE &&
				  !has_mode(&p->had, 0, 0));
	make_block(p, open);
	ward_buf_add(&p->text, p->owners.data, none ? p->owners.len : b.from);
	ward_proposal_put_block(&p->text, p->digest, p->declined, &p->block);
	if (!none)
		put_rest(p, p->owners.data + b.to);
	r = ward_buf_error(&p->text);
	return r < 0 ? ward_err_sys(err, r, "%s", file) : 0;
}

/* --- what is shown --- */

static void show(const struct proposing *p, enum ward_proposal_state state)
{
	ward_outf("\nThe repository proposes (" WARD_PROPOSAL_FILE ", sha256 %s%s):\n", p->digest,
		state == WARD_PROPOSAL_CHANGED ? ", changed since you answered it" : "");
	for (size_t i = 0; i < p->lines.n; i++) {
		const struct policy_line *l = &p->lines.v[i];
		if (strcmp(l->section, "[policy]") == 0 || is_mode(l))
			continue;
		const bool had = policy_lines_find(&p->had, 0, l->section, l->key, l->value);
		ward_outf("%s %s %s = %s%s\n", had ? " " : "+", l->section, l->key, l->value,
			is_needless(p, l) ? "   (not needed: all programs may be executed)" : "");
	}
	for (size_t i = 0; i < p->had.n; i++) {
		const struct policy_line *l = &p->had.v[i];
		if (!policy_lines_find(&p->lines, 0, l->section, l->key, l->value) &&
			strcmp(l->key, "mode") != 0)
			ward_outf("- %s %s = %s\n", l->section, l->key, l->value);
	}
}

static void show_finding(void *user, const struct ward_finding *f)
{
	const struct proposing *p = user;
	struct ward_proposal_block b;
	const char *file = p->place->owner_file;
	ward_proposal_find_block(&p->text, &b);
	if (f->note || strncmp(f->file, file, strlen(file)) != 0 ||
		f->line <= line_at(&p->text, b.from) || f->line >= line_at(&p->text, b.to))
		return;
	ward_outf("  warning: %s: %s\n", f->what, f->why);
}

static char answer_of(const struct proposing *p)
{
	const struct init_answer *a = p->answer;
	if (a->decline)
		return 'd';
	if (a->accept)
		return strcmp(p->digest, a->accept) == 0 ? 'a' : 'x';
	if (!ask_possible())
		return 'n';
	return ask_word(
		"a: accept, d: decline and do not tell me again, n: not now [n]", "adn", 'n', 'n');
}

/* ward_owner_change.judge: what it would mean, and the question. */
static int judge(void *user, const struct ward_policy_place *after, struct ward_err *err)
{
	struct proposing *p = user;
	if (p->declined)
		return 0;
	int r = policy_effect_find(p->place, after->policy, &p->effect, err);
	if (r < 0)
		return r;
	ward_outf("What that changes:\n");
	policy_effect_print(&p->effect, NULL);
	r = ward_policy_check(after->policy, show_finding, p);
	if (r < 0)
		return ward_err_sys(err, r, "checking");
	switch (answer_of(p)) {
	case 'a':
		return 0;
	case 'd':
		p->declined = true;
		return -ECANCELED;
	case 'x':
		return ward_err_set(err, -EINVAL,
			"--accept %s: the proposal is another one, sha256 %s; nothing of it was taken "
			"over",
			p->answer->accept, p->digest);
	default:
		return -ECANCELED;
	}
}

static int change(struct proposing *p, struct ward_err *err)
{
	ward_cleanup(ward_policy_place_clear) struct ward_policy_place after = {
		.project = {.fd = -1}};
	const struct ward_owner_change c = {
		.text = &p->text, .was = &p->owners, .replace = true, .judge = judge, .user = p};
	return ward_owner_file_change(p->place, &c, &after, err);
}

/* No line, but the digest, so that run says nothing of this text again. */
static int decline(struct proposing *p, struct ward_err *err)
{
	policy_lines_clear(&p->lines);
	policy_lines_clear(&p->had);
	ward_buf_clear(&p->block);
	ward_buf_clear(&p->text);
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	*err = WARD_ERR_INIT;
	int r = make_text(p, err);
	if (r == 0)
		r = change(p, err);
	if (r == 0)
		ward_sayf("declined: %s. 'wardfs policy undo' takes that back",
			ward_shell_quoted(&word, p->place->owner_file));
	return r;
}

static int ask(struct proposing *p, enum ward_proposal_state state, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	int r = make_text(p, err);
	if (r < 0)
		return r;
	show(p, state);
	if (p->answer->dry)
		return 0;
	r = change(p, err);
	if (r == 0)
		ward_sayf("accepted: %s", ward_shell_quoted(&word, p->place->owner_file));
	if (r != -ECANCELED)
		return r;
	if (p->declined)
		return decline(p, err);
	*err = WARD_ERR_INIT;
	ward_sayf("you have not accepted what " WARD_PROPOSAL_FILE
		  " asks for. To accept it as shown: wardfs init --accept "
		  "%s; to hear no more of it: wardfs init --decline",
		p->digest);
	return 1;
}

int init_proposal(const struct ward_policy_place *place, const struct init_answer *answer,
	struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(proposing_clear) struct proposing p = {
		.place = place, .answer = answer, .effect = POLICY_EFFECT_INIT};
	int r = ward_proposal_read(&place->id, place->project.fd, &text, p.digest, err);
	if (r == 0 && answer->accept)
		return ward_err_set(err, -ENOENT, "--accept: there is no " WARD_PROPOSAL_FILE);
	if (r > 0)
		r = ward_owner_file_get(place->owner_file, &place->id, &p.owners, err) < 0
			    ? err->code
			    : 1;
	if (r <= 0)
		return r;
	const enum ward_proposal_state state = ward_proposal_compare(&p.owners, p.digest);
	if (state == WARD_PROPOSAL_ACCEPTED && !answer->decline) {
		ward_say(WARD_PROPOSAL_FILE " is accepted as it is");
		return 0;
	}
	if (state == WARD_PROPOSAL_DECLINED && !answer->accept) {
		ward_say(WARD_PROPOSAL_FILE " is declined as it is; --accept takes it over");
		return 0;
	}
	r = parse(&p, &text, err);
	if (r < 0)
		return ward_err_wrap(err, "nothing of the proposal was taken over");
	return ask(&p, state, err);
}
