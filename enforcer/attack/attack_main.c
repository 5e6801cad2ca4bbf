/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs-attack: what `wardfs attack` calls; a program that stands alone, wherever it is copied to.
 */
#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/attack/by_hand.h"
#include "enforcer/attack/inside.h"
#include "enforcer/attack/knock.h"
#include "enforcer/attack/matrix.h"
#include "enforcer/attack/paths_inside.h"
#include "enforcer/attack/presets.h"
#include "enforcer/attack/report.h"
#include "enforcer/attack/script.h"
#include "enforcer/attack/servers.h"
#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"

#define EXIT_USAGE 2
#define EXIT_SETUP 125
enum {
	KEY_SANDBOX = 1000,
	KEY_PRESET,
	KEY_ONLY,
	KEY_GROUP,
	KEY_LIST,
	KEY_EXPLAIN,
	KEY_JSON,
	KEY_JUNIT,
	KEY_SARIF,
	KEY_KNOW,
	KEY_WARDFS,
	KEY_IMAGE,
	KEY_POLICY,
	KEY_MODE,
	KEY_CERTIFICATE,
	KEY_KEY,
	KEY_STATEMENT,
	KEY_KNOCK_OUT,
	KEY_REPEAT,
	KEY_SEED,
	KEY_REPORT,
	KEY_FACTS,
	KEY_PATH_RULES,
	KEY_SCRIPT,
	KEY_SHELL,
};

struct args {
	const char *sandbox, *preset, *only, *group, *explain, *junit, *sarif, *wardfs, *image,
		*policy, *mode, *certificate, *statement, *knock_out, *report, *facts;
	unsigned long repeat, seed;
	bool list, json, verbose, know, script, shell;
};

static const struct argp_option options[] = {
	{"policy", 'p', "FILE|PROFILE", 0, "wardfs's policy, as for run", 0},
	{"mode", 'm', "MODE", 0, "wardfs's isolation mode, as for run", 0},
	{"sandbox", KEY_SANDBOX, "COMMAND", 0,
		"Attack this sandbox: a command line, to which wardfs adds a program and its arguments; {work} is the workspace",
		0},
	{"preset", KEY_PRESET, "NAME", 0,
		"Attack a known sandbox: wardfs, none, bwrap, firejail, docker, podman, gvisor, srt, codex",
		0},
	{"image", KEY_IMAGE, "IMAGE", 0, "The image for docker, podman and gvisor", 0},
	{"only", KEY_ONLY, "NAME,...", 0, "These attempts only", 0},
	{"group", KEY_GROUP, "NAME,...", 0, "The attempts of these groups only", 0},
	{"knock-out", KEY_KNOCK_OUT, "LAYER,...|all", 0,
		"Attack wardfs without each of these layers, and tell which attempts notice; in a "
		"build directory only",
		0},
	{"script", KEY_SCRIPT, NULL, 0,
		"Attack by a script, for a sandbox that runs JavaScript alone; modes deno and wasm "
		"imply it",
		0},
	{"facts", KEY_FACTS, "FILE", 0,
		"What is otherwise inside the sandbox, as KEY=VALUE lines: work=/workspace", 0},
	{"path-rules", KEY_PATH_RULES, "POLICY", 0,
		"Try every operation on names that the rules of this policy mean, and on neighbours",
		0},
	{"shell", KEY_SHELL, NULL, 0,
		"Start a shell in the sandbox to make attempts by hand, as --explain says", 0},
	{"list", KEY_LIST, NULL, 0, "List all attempts", 0},
	{"explain", KEY_EXPLAIN, "NAME", 0, "Say what an attempt does, and what would stop it", 0},
	{"json", KEY_JSON, NULL, 0, "One JSON object", 0},
	{"junit", KEY_JUNIT, "FILE", 0, "Also write JUnit XML", 0},
	{"sarif", KEY_SARIF, "FILE", 0, "Also write SARIF, for code scanning", 0},
	{"certificate", KEY_CERTIFICATE, "FILE", 0,
		"Also write what was found to this new file, signed with the host's key", 0},
	{"key", KEY_KEY, "KEY", 0,
		"With verify: a public key, or a file of them, in place of the host's own; repeats",
		0},
	{"report", KEY_REPORT, "FILE", 0, "Also write a page of HTML", 0},
	{"repeat", KEY_REPEAT, "N", 0,
		"Make all attempts N times; one that is broken once is broken", 0},
	{"seed", KEY_SEED, "N", 0,
		"Make the attempts in the order that N shuffles them to; --repeat counts it up", 0},
	{"verbose", 'v', NULL, 0, "Also print what held, and the sandbox's own messages", 0},
	{"i-know", KEY_KNOW, NULL, 0, "As root, attack without a sandbox all the same", 0},
	{"wardfs", KEY_WARDFS, "PATH", OPTION_HIDDEN, "The program wardfs", 0},
	{"statement", KEY_STATEMENT, "FD", OPTION_HIDDEN, "Where the statement goes", 0},
	{0},
};

/* Of a shuffled order, 0 is the catalogue's; of repeats, 1000 are more than anybody waits for. */
static error_t take_number(unsigned long *to, bool any, const char *arg, struct argp_state *state)
{
	char *end;

	errno = 0;
	*to = strtoul(arg, &end, 10);
	if (errno || end == arg || *end || *arg == '-' || (!any && (*to < 1 || *to > 1000))) {
		argp_error(state, any ? "--seed: a number is meant"
				      : "--repeat: a number from 1 to 1000 is meant");
		return EINVAL;
	}
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;
	const struct {
		int key;
		const char **to;
	} texts[] = {{KEY_SANDBOX, &a->sandbox}, {KEY_PRESET, &a->preset}, {KEY_ONLY, &a->only},
		{KEY_GROUP, &a->group}, {KEY_EXPLAIN, &a->explain}, {KEY_JUNIT, &a->junit},
		{KEY_SARIF, &a->sarif}, {KEY_WARDFS, &a->wardfs}, {KEY_IMAGE, &a->image},
		{KEY_CERTIFICATE, &a->certificate}, {KEY_STATEMENT, &a->statement},
		{KEY_KNOCK_OUT, &a->knock_out}, {KEY_REPORT, &a->report}, {KEY_FACTS, &a->facts},
		{'p', &a->policy}, {'m', &a->mode}};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].key == key) {
			*texts[i].to = arg;
			return 0;
		}
	switch (key) {
	case KEY_REPEAT:
	case KEY_SEED:
		return take_number(
			key == KEY_SEED ? &a->seed : &a->repeat, key == KEY_SEED, arg, state);
	case KEY_LIST:
		a->list = true;
		return 0;
	case KEY_JSON:
		a->json = true;
		return 0;
	case KEY_SCRIPT:
		a->script = true;
		return 0;
	case KEY_SHELL:
		a->shell = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	case KEY_KNOW:
		a->know = true;
		return 0;
	case KEY_PATH_RULES:
		argp_error(state,
			"--path-rules needs a policy's rules: start this as 'wardfs attack'");
		return EINVAL;
	case KEY_KEY:
		argp_error(state, "--key belongs to verify: wardfs attack verify --key KEY FILE");
		return EINVAL;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument '%s'", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, "[verify FILE]",
	"Tries to break out of a sandbox, in this directory, and says which attempts succeed. Every attempt is also made outside, where it must succeed; the verdict comes from what changed outside. Without an option it attacks what `wardfs run` would start here. verify checks a certificate and prints what it says.\v"
	"Exit status: 0 nothing is broken, or the certificate is genuine; 1 something is, or it is not genuine; 2 usage; 3 something could not be tested; 125 the sandbox did not start.",
	NULL, NULL, NULL};

/* Is the word one of a list with commas? Without a list every word is. */
static bool listed(const char *list, const char *word)
{
	const size_t n = strlen(word);
	for (const char *at = list; at;) {
		if (strncmp(at, word, n) == 0 && (at[n] == ',' || !at[n]))
			return true;
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return !list;
}

/* False: a word of the list names nothing. */
static bool known(const char *list, bool groups)
{
	char word[64];
	for (const char *at = list; at && *at;) {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, ","), at);
		bool found = !groups && ward_attack_find(word, NULL);
		for (int g = 0; groups && g < WARD_ATTACK_GROUPS; g++)
			found |= strcmp(ward_attack_tables[g]->name, word) == 0;
		if (!found) {
			ward_tellf(
				"wardfs attack: no %s is called '%s'; see wardfs attack --list\n",
				groups ? "group" : "attempt", word);
			return false;
		}
		at += strcspn(at, ",");
		at += *at == ',';
	}
	return true;
}

static struct ward_attack_outcome *choose(const struct args *a, size_t *ret_n)
{
	size_t max = 0, n = 0;
	for (int g = 0; g < WARD_ATTACK_GROUPS; g++)
		max += ward_attack_tables[g]->n;
	struct ward_attack_outcome *v = calloc(max, sizeof(*v));
	for (int g = 0; v && g < WARD_ATTACK_GROUPS; g++)
		for (size_t i = 0; i < ward_attack_tables[g]->n; i++)
			if ((ward_attack_tables[g]->v[i].act || a->script) &&
				listed(a->group, ward_attack_tables[g]->name) &&
				listed(a->only, ward_attack_tables[g]->v[i].name)) {
				v[n].attempt = &ward_attack_tables[g]->v[i];
				v[n++].group = (enum ward_attack_group)g;
			}
	*ret_n = n;
	return v;
}

/* The words of the sandbox's command line in *ret (NULL: none); what it is called in *sandbox. */
static int sandbox_of(
	const struct args *a, const struct ward_world *w, char ***ret, const char **sandbox)
{
	const struct ward_preset *p = ward_preset_find(a->preset ? a->preset : "wardfs");

	*ret = NULL;
	*sandbox = a->sandbox ? a->sandbox : p->what;
	if (a->sandbox)
		*ret = ward_words_split(a->sandbox, w, a->image);
	else if (strcmp(p->name, "wardfs") == 0)
		*ret = ward_words_wardfs(
			a->wardfs ? a->wardfs : "wardfs", a->policy, a->mode, w->session);
	else if (!*p->words)
		return 0;
	else
		*ret = ward_words_split(p->words, w, a->image);
	return *ret ? 0 : -1;
}

static int write_files(const struct args *a, const struct ward_attack_run *r)
{
	if (a->junit && ward_report_junit(r, a->junit) < 0) {
		ward_tellf("wardfs attack: cannot write %s: %s\n", a->junit, strerror(errno));
		return EXIT_SETUP;
	}
	if (a->sarif && ward_report_sarif(r, a->sarif) < 0) {
		ward_tellf("wardfs attack: cannot write %s: %s\n", a->sarif, strerror(errno));
		return EXIT_SETUP;
	}
	if (a->report && ward_report_page(r, a->report) < 0) {
		ward_tellf("wardfs attack: cannot write %s: %s\n", a->report, strerror(errno));
		return EXIT_SETUP;
	}
	if (a->certificate && ward_report_statement(r, a->certificate, atoi(a->statement)) < 0) {
		ward_tellf("wardfs attack: cannot make the statement: %s\n", strerror(errno));
		return EXIT_SETUP;
	}
	return 0;
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int tell(const struct args *a, const struct ward_attack_run *r)
{
	if (a->json)
		ward_report_json(r);
	else
		ward_report_table(r, a->verbose);
	const int status = write_files(a, r);
	return status ? status : ward_report_status(r);
}

static void tell_start(char *why, bool script)
{
	ward_tellf("wardfs attack: the sandbox did not start wardfs-attack%s\n",
		*why ? ". It says:" : "");
	for (char *line = strtok(why, "\n"); line; line = strtok(NULL, "\n"))
		ward_tellf("  %s\n", line);
	if (!script)
		ward_tellf("If this sandbox runs JavaScript alone, add --script.\n");
}

static int attack_without(const struct args *a)
{
	const struct ward_matrix_of of = {
		a->wardfs ? a->wardfs : "", a->policy, a->mode, a->knock_out, a->json};
	char why[2048];
	size_t n;
	struct ward_attack_outcome *v = choose(a, &n);

	errno = 0;
	const int r = v ? ward_matrix(&of, v, n, why, sizeof(why)) : -1;
	const bool installed = r < 0 && errno == ENOENT;
	free(v);
	if (installed)
		ward_tellf("wardfs attack: --knock-out needs a build directory with tests "
			   "('./bootstrap test --list' makes one, for build/wardfs); an installed "
			   "wardfs cannot leave a layer out\n");
	else if (r < 0)
		tell_start(why, true);
	return installed ? EXIT_USAGE : r < 0 ? EXIT_SETUP : r;
}

/* Fisher and Yates, by the numbers of rand_r(3): the same seed, the same order. */
static void shuffle(struct ward_attack_outcome *v, size_t n, unsigned long seed)
{
	unsigned state = (unsigned)seed;

	for (size_t i = n; seed && i > 1; i--) {
		const size_t j = (size_t)rand_r(&state) % i;
		const struct ward_attack_outcome o = v[j];
		v[j] = v[i - 1];
		v[i - 1] = o;
	}
}

/* What was broken once stays so; else the worst counts: untested before held. */
static void merge(struct ward_attack_outcome *all, const struct ward_attack_outcome *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ward_attack_outcome *o = NULL;
		for (size_t k = 0; k < n && !o; k++)
			o = all[k].attempt == v[i].attempt ? &all[k] : NULL;
		const unsigned runs = o->runs + 1,
			       broke = o->broke + (v[i].verdict == WARD_ATTACK_BROKEN);
		const bool worse =
			v[i].verdict == WARD_ATTACK_BROKEN ||
			(o->verdict != WARD_ATTACK_BROKEN && v[i].verdict == WARD_ATTACK_UNTESTED);
		if (!o->runs || worse)
			*o = v[i];
		o->runs = runs;
		o->broke = broke;
	}
}

/* One run in a world of its own, merged into all; the last one is reported before it ends. */
static int attack_once(const struct args *a, struct ward_attack_outcome *all, size_t n,
	unsigned long nth, double began)
{
	struct ward_world w;
	char why[2048], **words = NULL;
	const char *sandbox;
	int status = EXIT_SETUP;
	struct ward_attack_outcome *v = calloc(n + 1, sizeof(*v));

	if (!v || ward_world_make(&w, why, sizeof(why)) < 0) {
		ward_tellf("wardfs attack: cannot make %s\n", v ? why : "room");
		free(v);
		return status;
	}
	for (size_t i = 0; i < n; i++)
		v[i] = (struct ward_attack_outcome){
			.attempt = all[i].attempt, .group = all[i].group};
	shuffle(v, n, a->seed ? a->seed + nth : 0);
	if (a->script && ward_script_use(&w, why, sizeof(why)) < 0) {
		ward_tellf("wardfs attack: cannot make %s\n", why);
	} else if (a->facts && ward_world_tell(&w, a->facts, why, sizeof(why)) < 0) {
		ward_tellf("wardfs attack: %s\n", why);
		status = EXIT_USAGE;
	} else if (sandbox_of(a, &w, &words, &sandbox) == 0) {
		if (!a->sandbox && (!a->preset || strcmp(a->preset, "wardfs") == 0))
			w.wardfs = words[0];
		if (ward_observe(&w, words, a->verbose, v, n, why, sizeof(why)) < 0) {
			tell_start(why, a->script);
		} else {
			const bool ours =
				!a->sandbox && (!a->preset || strcmp(a->preset, "wardfs") == 0);
			const struct ward_attack_run r = {sandbox, words, all, n, now() - began,
				ours ? w.session : NULL, a->repeat ? a->repeat : 1, a->seed};
			merge(all, v, n);
			status = nth + 1 < r.repeat ? 0 : tell(a, &r);
		}
	}
	ward_words_free(words);
	ward_world_clear(&w);
	free(v);
	return status;
}

/* The person makes the attempts. */
static int attack_by_hand(const struct args *a)
{
	struct ward_world w;
	char why[2048], **words = NULL;
	const char *sandbox;
	int status = EXIT_SETUP;

	if (ward_world_make(&w, why, sizeof(why)) < 0) {
		ward_tellf("wardfs attack: cannot make %s\n", why);
		return status;
	}
	if (a->facts && ward_world_tell(&w, a->facts, why, sizeof(why)) < 0)
		ward_tellf("wardfs attack: %s\n", why);
	else if (sandbox_of(a, &w, &words, &sandbox) == 0 &&
		 ward_by_hand(&w, words, sandbox, why, sizeof(why)) < 0)
		ward_tellf("wardfs attack: cannot start %s\n", why);
	else
		status = 0;
	ward_words_free(words);
	ward_world_clear(&w);
	return status;
}

static int attack(const struct args *a)
{
	size_t n;
	struct ward_attack_outcome *all = choose(a, &n);
	const double began = now();
	int status = all ? 0 : EXIT_SETUP;

	for (unsigned long i = 0; status == 0 && i < (a->repeat ? a->repeat : 1); i++)
		status = attack_once(a, all, n, i, began);
	free(all);
	return status;
}

/* False: all that is asked for takes a script, and none was asked for. */
static bool can_make(const struct args *a)
{
	size_t n;
	struct args with = *a;
	struct ward_attack_outcome *v = choose(a, &n);

	free(v);
	with.script = true;
	v = n ? NULL : choose(&with, &n);
	if (v && n)
		ward_tellf("wardfs attack: only a script makes %s; add --script\n",
			v[0].attempt->name);
	const bool can = !v;
	free(v);
	return can;
}

static bool sensible(const struct args *a)
{
	if (!known(a->only, false) || !known(a->group, true) || !can_make(a))
		return false;
	if (a->preset && !ward_preset_find(a->preset)) {
		ward_tellf("wardfs attack: no preset is called '%s'\n", a->preset);
		return false;
	}
	if (a->preset && strstr(ward_preset_find(a->preset)->words, "{image}") && !a->image) {
		ward_tellf("wardfs attack: preset %s needs --image\n", a->preset);
		return false;
	}
	if (a->shell && a->script) {
		ward_tellf("wardfs attack: --shell needs a sandbox that runs programs, not only "
			   "scripts\n");
		return false;
	}
	if (a->knock_out && (a->sandbox || (a->preset && strcmp(a->preset, "wardfs") != 0))) {
		ward_tellf("wardfs attack: --knock-out is for wardfs alone\n");
		return false;
	}
	for (const char *at = a->knock_out; at && *at && strcmp(a->knock_out, "all") != 0;
		at += strcspn(at, ","), at += *at == ',') {
		char word[64];
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(at, ","), at);
		if (!ward_knock_find(word)) {
			ward_tellf("wardfs attack: no layer is called '%s'\n", word);
			return false;
		}
	}
	if (a->certificate && !a->statement) {
		ward_tellf("wardfs attack: --certificate needs a host's key: start this as 'wardfs "
			   "attack'\n");
		return false;
	}
	if (a->certificate && access(a->certificate, F_OK) == 0) {
		ward_tellf(
			"wardfs attack: %s exists; a certificate is a new file\n", a->certificate);
		return false;
	}
	if (a->preset && strcmp(a->preset, "none") == 0 && getuid() == 0 && !a->know) {
		ward_tellf("wardfs attack: as root, attempts without a sandbox reach this host. "
			   "Add --i-know to make them all the same.\n");
		return false;
	}
	return true;
}

/* The options that choose what is attacked, as a shell takes them: " --policy 'a b'". */
static char *same_target(const struct args *a)
{
	const struct {
		const char *option, *value;
	} all[] = {{"--policy", a->policy}, {"--mode", a->mode}, {"--sandbox", a->sandbox},
		{"--preset", a->preset}, {"--image", a->image}};
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (!all[i].value)
			continue;
		ward_buf_printf(&b, " %s ", all[i].option);
		ward_shell_word(&b, all[i].value);
	}
	return ward_buf_steal(&b);
}

int main(int argc, char **argv)
{
	struct args a = {0};
	int status = EXIT_USAGE;

	if (argc > 2 && strcmp(argv[1], "inside") == 0)
		return ward_attack_inside(argv[2], argv + 3);
	if (argc > 3 && strcmp(argv[1], "try") == 0)
		return ward_by_hand_try(argv[2], argv[3]);
	if (argc > 2 && strcmp(argv[1], "victim") == 0)
		ward_victim_main();
	if (argc == 2 && strcmp(argv[1], "paths") == 0)
		return ward_attack_paths_inside();
	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, 0, NULL, &a) != 0)
		return EXIT_USAGE;
	a.script |= a.mode && (strcmp(a.mode, "deno") == 0 || strcmp(a.mode, "wasm") == 0);
	/* Nothing of ours goes into a sandbox. */
	if (a.statement)
		(void)fcntl(atoi(a.statement), F_SETFD, FD_CLOEXEC);
	enum ward_attack_group group;
	const struct ward_attempt *one = a.explain ? ward_attack_find(a.explain, &group) : NULL;
	if (a.list) {
		ward_report_list();
		status = 0;
	} else if (one) {
		char *again = same_target(&a);
		ward_report_explain(one, group, again ? again : "");
		free(again);
		status = 0;
	} else if (a.explain) {
		ward_tellf("wardfs attack: no attempt is called '%s'; see wardfs attack --list\n",
			a.explain);
	} else if (sensible(&a)) {
		status = a.shell       ? attack_by_hand(&a)
			 : a.knock_out ? attack_without(&a)
				       : attack(&a);
	}
	return ward_out_flush() < 0 && status == 0 ? EXIT_SETUP : status;
}
