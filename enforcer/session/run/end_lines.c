/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the lines that a run prints at its end. */
#include "enforcer/session/run/end_lines.h"

#include <stdlib.h>
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/policy/policy.h"
#include "enforcer/session/run/run.h"

/* New files named on stderr; the trail has more of them. */
#define NAMED_MAX 20
/* Bytes of a name or of what a link says: they are the agent's choice. */
#define SAID_MAX 120
/* Of these so many are the last ones. */
#define SAID_END 40

/* A line of the owner's file for the project, whose name is long and says nothing new, or another's
 * place. own: that file's name as the trail has it. */
static void say_rule(struct ward_buf *b, const char *rule, const char *own)
{
	const size_t n = strlen(own);
	if (n && strncmp(rule, own, n) == 0 && rule[n] == ':')
		ward_buf_printf(b, "your policy%s", rule + n);
	else
		ward_buf_puts(b, rule);
}

char *ward_note_refused(const struct ward_guard_summary *s, const char *session, bool system,
	const char *owner_policy)
{
	const uint64_t shown = s->refusals > s->expected ? s->refusals - s->expected : 0;
	if (shown == 0)
		return NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf own = WARD_BUF_INIT;
	if (owner_policy)
		ward_escape(&own, owner_policy, strlen(owner_policy));
	ward_buf_printf(&b, "%llu refused:", (unsigned long long)shown);
	for (size_t i = 0; i < s->n_first; i++) {
		ward_buf_printf(
			&b, "%s %s %s (", i ? ";" : "", s->first[i].action, s->first[i].path);
		say_rule(&b, s->first[i].rule, ward_buf_str(&own));
		ward_buf_putc(&b, ')');
	}
	/* The report of a session counts these, too. */
	if (s->expected > 0)
		ward_buf_printf(
			&b, "; %llu more expected by the policy", (unsigned long long)s->expected);
	ward_buf_printf(&b, "%s more: wardfs audit%s denials %s", shown > s->n_first ? "; …" : ";",
		system ? " --system" : "", session);
	return ward_buf_steal(&b);
}

/* Prints the two ends of a long name. The last part says what the file is. */
static void say_ends(struct ward_buf *b, const char *s)
{
	const size_t n = strlen(s);
	if (n <= SAID_MAX) {
		ward_escape(b, s, n);
		return;
	}
	ward_escape(b, s, SAID_MAX - SAID_END);
	ward_buf_puts(b, "...");
	ward_escape(b, s + n - SAID_END, SAID_END);
}

static void say_missed(struct ward_buf *b, uint64_t n, const struct ward_asks_missed *list,
	const char *one, const char *several)
{
	if (!n)
		return;
	ward_buf_printf(b, "%s%llu question%s %s (", b->len ? ", " : "", (unsigned long long)n,
		n == 1 ? "" : "s", n == 1 ? one : several);
	for (size_t i = 0; i < n && i < WARD_ASKS_MISSED_MAX; i++) {
		ward_buf_printf(b, "%s%s %s ", i ? "; " : "", list[i].name, list[i].action);
		say_ends(b, list[i].path);
	}
	ward_buf_puts(b, n > WARD_ASKS_MISSED_MAX ? "; …)" : ")");
}

char *ward_note_asked(const struct ward_asks *a, const char *session, bool system)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (a->nobody) {
		ward_buf_printf(&b,
			"in mode %s nobody is asked, because the command could answer itself: wardfs "
			"refuses what 'ask' covers",
			a->nobody);
		return ward_buf_steal(&b);
	}
	say_missed(&b, a->n_refused, a->refused, "was refused", "were refused");
	say_missed(&b, a->n_missed, a->missed, "had no answer", "had no answer");
	if (!b.len)
		return NULL;
	ward_buf_printf(&b, "; what allows each: wardfs audit%s denials %s",
		system ? " --system" : "", session);
	return ward_buf_steal(&b);
}

char *ward_note_hidden(const struct ward_guard_summary *s, const char *session, bool system)
{
	if (!s->hidden || !*s->hidden)
		return NULL;
	for (size_t i = 0; i < s->n_first; i++)
		if (strcmp(s->first[i].path, s->hidden) == 0)
			return NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_printf(&b,
		"the command failed; it had looked for %s, which exists, but is hidden as a secret: "
		"wardfs audit%s denials --expected %s",
		s->hidden, system ? " --system" : "", session);
	return ward_buf_steal(&b);
}

/* The rule of `secret` that refuses to make a file there, since one exists; NULL: another reason.
 */
static const struct ward_rule *hides(const struct ward_policy *p, const struct ward_buf *path)
{
	static const char root[] = "/";
	struct ward_request req = {.action = WARD_ACTION_CREATE,
		.rights = WARD_RIGHT_CREATE | WARD_RIGHT_WRITE,
		.fact = WARD_FACT_THERE};
	const struct ward_rule *found = NULL;
	if (ward_policy_walk(p, root, 1, &req.root) < 0)
		return NULL;
	if (ward_policy_walk(p, path->data, path->len, &req.state) == 0) {
		const struct ward_decision d = ward_policy_decide(p, &req, NULL);
		if (d.verdict != WARD_VERDICT_ALLOW && d.rule && d.rule->verb == WARD_VERB_SECRET)
			found = d.rule;
		ward_policy_state_put(p, req.state);
	}
	ward_policy_state_put(p, req.root);
	return found;
}

char *ward_note_there(const struct ward_guard_summary *s, const struct ward_policy *policy)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < s->n_first; i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf path = WARD_BUF_INIT;
		const char *shown = s->first[i].path;
		if (strcmp(s->first[i].action, "create") != 0 ||
			ward_unescape(&path, shown, strlen(shown)) < 0 || ward_buf_error(&path))
			continue;
		const struct ward_rule *r = hides(policy, &path);
		if (!r || (!r->liftable && (r->guard || r->source > WARD_SOURCE_BASE)))
			continue;
		ward_buf_printf(&b,
			"%s existed before this session, and its name is that of a secret. If it is "
			"no secret (perhaps a test made it): wardfs policy add %swrite ",
			shown, r->liftable ? "--lift-guard " : "");
		ward_shell_word(&b, path.data);
		return ward_buf_steal(&b);
	}
	return NULL;
}

char *ward_note_listened(unsigned port)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!port)
		return NULL;
	ward_buf_printf(&b,
		"the command listened on port %u of its own network, and no port of this host led "
		"there: wardfs run --publish %u -- CMD, or wardfs policy add publish %u for this "
		"project",
		port, port, port);
	return ward_buf_steal(&b);
}

char *ward_note_unreached(const struct ward_guard_summary *s)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (!s->unreached || !*s->unreached)
		return NULL;
	ward_buf_printf(&b,
		"the command failed, and this host could not make a connection that the policy "
		"allows: %s",
		s->unreached);
	return ward_buf_steal(&b);
}

/* Does the path lie beneath a directory of that name? */
static bool beneath(const char *path, const char *dir)
{
	const size_t n = strlen(dir);
	for (const char *s = path; s; s = strchr(s, '/'), s += s != NULL)
		if (strncmp(s, dir, n) == 0 && s[n] == '/')
			return true;
	return false;
}

/*
 * What a package brings along for the CI of its own repository. The CI of this one reads such files
 * at the top alone, and programs of this host never do.
 */
static bool is_ci_of_package(const char *path)
{
	static const char *const dirs[] = {
		"node_modules", "vendor", "site-packages", "third_party"};
	static const char *const names[] = {"/.github/workflows", "/.github/actions",
		"/.gitea/workflows", "/.forgejo/workflows", "/.gitlab-ci.yml", "/.travis.yml",
		"/.buildkite", "/.drone.yml", "/.woodpecker.yml", "/azure-pipelines.yml",
		"/bitbucket-pipelines.yml", "/.circleci", "/Jenkinsfile"};
	const size_t n = strlen(path);
	bool ci = false, package = false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const size_t k = strlen(names[i]);
		ci = ci || (n > k && strcmp(path + n - k, names[i]) == 0);
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		package = package || beneath(path, dirs[i]);
	return ci && package;
}

/* Returns how many there are without those of packages, which are counted at the end. */
static size_t name_executed(const struct ward_executed *found, struct ward_buf *b)
{
	size_t n = 0;
	for (size_t i = 0; i < found->n; i++) {
		if (is_ci_of_package(found->paths[i]) || n++ >= NAMED_MAX)
			continue;
		ward_buf_puts(
			b, n == 1 ? "new or changed files that this host may execute: " : ", ");
		say_ends(b, found->paths[i]);
	}
	if (n > NAMED_MAX)
		ward_buf_printf(b, ", and %zu more", n - NAMED_MAX);
	if (n)
		ward_buf_puts(b, "; look at them before you use them");
	if (n && n < found->n)
		ward_buf_printf(b, " (and %zu CI file%s in installed packages, which no CI runs)",
			found->n - n, found->n - n == 1 ? "" : "s");
	return n;
}

char *ward_note_executed(const struct ward_executed *found, const char *session, bool system)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	const size_t n = name_executed(found, &b);
	if (n == 0 && found->whole)
		return NULL;
	if (!found->whole)
		ward_buf_printf(&b,
			"%snot all of the project could be searched for new files that this host may "
			"execute",
			n ? "; " : "");
	ward_buf_printf(
		&b, "; the trail: wardfs audit%s show %s", system ? " --system" : "", session);
	return ward_buf_steal(&b);
}

char *ward_note_silent(const char *point)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, "the file system mounted at ");
	ward_escape(&b, point, strlen(point));
	ward_buf_puts(&b,
		" does not answer: nothing beneath it was searched (fix: start its server "
		"again, or take it away with umount -l)");
	return ward_buf_steal(&b);
}

static void say_left(struct ward_buf *b, const struct ward_left *l)
{
	static const char *const kinds[] = {[WARD_LEFT_NONE] = "",
		[WARD_LEFT_PIPE] = "named pipe ",
		[WARD_LEFT_SOCKET] = "socket ",
		[WARD_LEFT_DEVICE] = "device ",
		[WARD_LEFT_OUT] = "link ",
		[WARD_LEFT_CLOSED] = "link "};
	ward_buf_puts(b, kinds[l->kind]);
	say_ends(b, l->path);
	if (l->to) {
		ward_buf_puts(b, " to ");
		say_ends(b, l->to);
	}
	if (l->kind == WARD_LEFT_CLOSED)
		ward_buf_puts(b, " (closed to the command)");
}

char *ward_note_left(const struct ward_executed *found, const char *session, bool system)
{
	if (found->n_left == 0)
		return NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_puts(&b, "left in the project, and no files of it:");
	for (size_t i = 0; i < found->n_left && i < NAMED_MAX; i++) {
		ward_buf_puts(&b, i ? ", " : " ");
		say_left(&b, &found->left[i]);
	}
	size_t more = found->left_more;
	more += found->n_left > NAMED_MAX ? found->n_left - NAMED_MAX : 0;
	if (more)
		ward_buf_printf(&b, ", and %zu more", more);
	ward_buf_printf(&b,
		"; who opens such a name waits, or gets something else; the trail: wardfs audit%s "
		"show %s",
		system ? " --system" : "", session);
	return ward_buf_steal(&b);
}

const char ward_note_offline[] =
	"the command looked for a host and has no network. To allow one: wardfs policy add allow HOST; for one "
	"run: wardfs run --net HOST; registries: wardfs init --registries";

const char ward_note_nested[] =
	"the command tried to make a sandbox of its own, and none can be made inside this one: run it "
	"without that (codex: sandbox_mode = \"danger-full-access\" in its config.toml, and CMD in "
	"place of 'codex sandbox -- CMD'); the policy of this session holds in any case";

const char ward_note_tracer[] =
	"the command started a program that traces others, and ptrace(2) is closed inside: run it outside, on a "
	"program that you trust";

void ward_run_notes_clear(struct ward_run_notes *n)
{
	free(n->limits);
	free(n->commands);
	free(n->refused);
	free(n->glass);
	free(n->asked);
	free(n->hidden);
	free(n->unreached);
	free(n->executed);
	free(n->listened);
	free(n->silent);
	free(n->staged);
	free(n->left);
	free(n->anchor);
	free(n->session);
	*n = (struct ward_run_notes){0};
}
