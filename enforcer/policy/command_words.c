/* SPDX-License-Identifier: Apache-2.0 */
/* Tells which words of a command line a shell would run. */
#include "enforcer/policy/command_words.h"

#include <stdbool.h>
#include <string.h>

/* What the next word is. */
enum expect {
	COMMAND,   /* a command begins */
	OPERAND,   /* the script of an interpreter, or an option of it */
	SOURCED,   /* a file that a shell reads */
	VALUE,	   /* of an option; the operand follows */
	ARGUMENTS, /* nothing more of the kind */
};

struct state {
	enum expect expect;
	bool shell;  /* OPERAND: "-c" has a command line, and "-e" no code */
	bool python; /* OPERAND: "-m" names a module */
	bool module; /* VALUE: of "-m" */
};

/* Substitutions in each other; deeper ones are not told apart. */
#define DEPTH_MAX 8U

static bool is(const char *w, size_t n, const char *word)
{
	return strlen(word) == n && memcmp(w, word, n) == 0;
}

static bool is_one(const char *w, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (is(w, n, *words))
			return true;
	return false;
}

/* The last name of a path. */
static const char *base(const char *w, size_t *n)
{
	const char *slash = memrchr(w, '/', *n);
	if (slash) {
		*n -= (size_t)(slash + 1 - w);
		w = slash + 1;
	}
	return w;
}

/* "python3.11" is python. */
static size_t without_version(const char *w, size_t n)
{
	while (n > 1 && ((w[n - 1] >= '0' && w[n - 1] <= '9') || w[n - 1] == '.'))
		n--;
	return n;
}

static bool is_python(const char *w, size_t n)
{
	static const char *const words[] = {"python", "pypy", NULL};
	w = base(w, &n);
	return is_one(w, without_version(w, n), words);
}

static bool is_shell(const char *w, size_t n)
{
	static const char *const words[] = {
		"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "busybox", NULL};
	w = base(w, &n);
	return is_one(w, n, words);
}

static bool is_interpreter(const char *w, size_t n)
{
	static const char *const words[] = {"node", "nodejs", "deno", "bun", "tsx", "ts-node",
		"perl", "ruby", "php", "lua", "luajit", "tclsh", "wish", "expect", "Rscript",
		"guile", "julia", "elixir", "escript", "groovy", "scala", "java", "osascript",
		"pwsh", NULL};
	w = base(w, &n);
	return is_python(w, n) || is_shell(w, n) || is_one(w, n, words) ||
	       is_one(w, without_version(w, n), words);
}

/* A command follows, or an option or a number before it. */
static bool is_wrapper(const char *w, size_t n)
{
	static const char *const words[] = {"env", "exec", "command", "eval", "nohup", "nice",
		"ionice", "time", "timeout", "setsid", "stdbuf", "xargs", "sudo", "doas", "chronic",
		"if", "then", "else", "elif", "while", "until", "do", "uv", "poetry", "pipenv",
		"run", NULL};
	w = base(w, &n);
	return is_one(w, n, words);
}

/* Options of interpreters that take the next word: a file that is run as well, or something else.
 */
static bool takes_file(const char *w, size_t n)
{
	static const char *const words[] = {"-r", "--require", "--import", "--loader",
		"--experimental-loader", "--rcfile", "--init-file", "--preload", "-jar", NULL};
	return is_one(w, n, words);
}

static bool takes_value(const char *w, size_t n)
{
	static const char *const words[] = {"-W", "-X", "-o", "+o", "-O", "+O", "-I", "-C",
		"--conditions", "--env-file", "-cp", "-classpath", NULL};
	return is_one(w, n, words);
}

static bool is_code(const char *w, size_t n)
{
	static const char *const words[] = {
		"-e", "-E", "-p", "-pe", "-ne", "--eval", "--print", "eval", NULL};
	return is_one(w, n, words);
}

/* "-c" of a shell, also among others ("-ec"): its text is a command line. */
static bool is_command_option(const char *w, size_t n)
{
	return n > 1 && w[0] == '-' && w[1] != '-' && w[n - 1] == 'c';
}

static bool is_number(const char *w, size_t n)
{
	return n > 0 && w[0] >= '0' && w[0] <= '9';
}

static bool is_assignment(const char *w, size_t n)
{
	const char *eq = memchr(w, '=', n);
	return eq && eq != w && !memchr(w, '/', (size_t)(eq - w)) && *w != '-';
}

/* A module that Python looks for in its directory first: "a.b" is a/b.py or a/b/__main__.py. */
static int tell_module(const char *w, size_t n, ward_word_fn fn, void *user)
{
	static const char *const ends[] = {".py", "/__main__.py"};
	char path[300];
	if (n + sizeof("/__main__.py") > sizeof(path))
		return 0;
	for (size_t i = 0; i < n; i++)
		path[i] = w[i] == '.' ? '/' : w[i];
	int r = 0;
	for (size_t i = 0; i < 2 && r == 0; i++) {
		memcpy(path + n, ends[i], strlen(ends[i]));
		r = fn(user, path, n + strlen(ends[i]), WARD_WORD_SCRIPT);
	}
	return r;
}

static enum ward_word command(struct state *s, const char *w, size_t n)
{
	if (is_assignment(w, n))
		return WARD_WORD_OTHER;
	if (*w == '-' || is_number(w, n))
		return WARD_WORD_OTHER;
	if (is_wrapper(w, n))
		return WARD_WORD_PROGRAM;
	s->python = is_python(w, n);
	s->shell = is_shell(w, n);
	s->expect = is_interpreter(w, n)		  ? OPERAND
		    : is(w, n, "source") || is(w, n, ".") ? SOURCED
							  : ARGUMENTS;
	return WARD_WORD_PROGRAM;
}

static enum ward_word operand(struct state *s, const char *w, size_t n)
{
	if (*w != '-' && *w != '+') {
		/* "busybox sh x", "deno run x" */
		if (is_interpreter(w, n)) {
			s->shell = is_shell(w, n);
			return WARD_WORD_PROGRAM;
		}
		if (is(w, n, "run"))
			return WARD_WORD_OTHER;
		s->expect = ARGUMENTS;
		return WARD_WORD_SCRIPT;
	}
	s->module = s->python && is(w, n, "-m");
	if (s->module || takes_value(w, n))
		s->expect = VALUE;
	else if (takes_file(w, n))
		s->expect = SOURCED;
	else if ((s->shell || s->python) && is_command_option(w, n))
		s->expect = s->shell ? COMMAND : ARGUMENTS;
	else if (!s->shell && is_code(w, n))
		s->expect = ARGUMENTS;
	return WARD_WORD_OTHER;
}

static int tell(
	struct state *s, const char *w, size_t n, bool variable, ward_word_fn fn, void *user)
{
	enum ward_word kind = WARD_WORD_OTHER;
	switch (s->expect) {
	case COMMAND:
		kind = command(s, w, n);
		break;
	case OPERAND:
		kind = operand(s, w, n);
		break;
	case SOURCED:
		kind = WARD_WORD_SCRIPT;
		s->expect = OPERAND;
		break;
	case VALUE:
		if (s->module) {
			s->expect = ARGUMENTS;
			return tell_module(w, n, fn, user);
		}
		s->expect = OPERAND;
		break;
	case ARGUMENTS:
		break;
	}
	/* "$ROOT/tools/x": where that leads is not known, but "tools/x" may be meant. */
	const char *slash = variable ? memchr(w, '/', n) : NULL;
	if (slash) {
		size_t skip = (size_t)(slash - w) + strspn(slash, "/");
		if (skip < n) {
			int r = fn(user, w + skip, n - skip,
				kind == WARD_WORD_OTHER ? kind : WARD_WORD_SCRIPT);
			if (r != 0)
				return r;
		}
	}
	return fn(user, w, n, kind);
}

/* Goes past what separates words; *variable: the next one stands behind a "$" or a substitution. */
static const char *separate(
	const char *at, struct state *s, struct state *outer, unsigned *depth, bool *variable)
{
	*variable = false;
	for (;; at++) {
		switch (*at) {
		case '$':
			*variable = true;
			if (at[1] == '{')
				at += strcspn(at, "}") - (at[strcspn(at, "}")] == 0);
			continue;
		case '(':
			if (*depth < DEPTH_MAX)
				outer[(*depth)++] = *s;
			*s = (struct state){.expect = COMMAND};
			continue;
		case ')':
			/* A substitution is a part of a word of what it stands in. */
			if (*depth > 0)
				*s = outer[--*depth];
			*variable = true;
			continue;
		case '\n':
		case '!':
		case '`':
		case ';':
		case '&':
		case '|':
		case '{':
		case '}':
			*s = (struct state){.expect = COMMAND};
			*variable = *at == '`';
			continue;
		case ' ':
		case '\t':
			*variable = false;
			continue;
		case '"':
		case '\'':
		case '<':
		case '>':
		case ',':
			continue;
		default:
			return at;
		}
	}
}

int ward_command_words(const char *text, ward_word_fn fn, void *user)
{
	struct state s = {.expect = COMMAND}, outer[DEPTH_MAX];
	unsigned depth = 0;
	for (const char *at = text; *at;) {
		bool variable = false;
		at = separate(at, &s, outer, &depth, &variable);
		size_t n = strcspn(at, "\n!`;&|(){} \t\"'<>,$");
		if (n == 0)
			break;
		/* "NAME=value" and "--option=value": the value is a word as well. */
		const char *eq = memchr(at, '=', n);
		int r = tell(&s, at, n, variable, fn, user);
		if (r == 0 && eq && (size_t)(eq + 1 - at) < n)
			r = fn(user, eq + 1, n - (size_t)(eq + 1 - at), WARD_WORD_OTHER);
		if (r != 0)
			return r;
		at += n;
	}
	return 0;
}
