/* SPDX-License-Identifier: Apache-2.0 */
/* Makes names of patterns, and changes them a little. */
#include "enforcer/cli/run/attack_path_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOP "/workspace"
#define PATTERN_MAX 1024

/*
 * The class behind '[' at `at`: a letter or digit that it has, or one that it has not. NULL: there
 * is none. *ret_end: its ']'.
 */
static const char *of_class(const char *at, bool in, const char **ret_end)
{
	static const char all[] = "qajxbzQAZ0519_-";
	const bool negated = *at == '!' || *at == '^';
	const char *first = at + negated, *end = strchr(first + (*first != '\0'), ']');

	*ret_end = end;
	for (const char *c = all; end && *c; c++) {
		bool has = false;
		for (const char *m = first; m < end; m++) {
			const bool range = m + 2 < end && m[1] == '-';
			has |= *c == *m || (range && *m <= *c && *c <= m[2]);
			m += range ? 2 : 0;
		}
		if ((has != negated) == in)
			return c;
	}
	/* A class of one rare byte. */
	return in && end && !negated ? first : NULL;
}

/*
 * One name that the pattern means: "**" stands for two levels, "*" and "?" for letters, a class for
 * one of its members; with `beside`, the last class for what is none.
 */
static bool instance(const char *pattern, bool beside, char ret[PATTERN_MAX])
{
	const char *last = beside ? strrchr(pattern, '[') : NULL;
	size_t n = 0;

	for (const char *at = pattern; *at; at++) {
		const char *put = NULL;
		size_t len = 1;
		if (strncmp(at, "**", 2) == 0) {
			put = "one/two";
			len = 7;
			at++;
		} else if (*at == '*' || *at == '?') {
			put = "q";
		} else if (*at == '[') {
			put = of_class(at + 1, at != last, &at);
			if (!put)
				return false;
		} else {
			at += *at == '\\' && at[1];
			put = at;
		}
		if (n + len >= PATTERN_MAX)
			return false;
		memcpy(ret + n, put, len);
		n += len;
	}
	while (n && ret[n - 1] == '/')
		n--;
	ret[n] = '\0';
	return n > 0;
}

/* Is one the directory of another, or the same? Then both cannot be files. */
static bool in_the_way(const struct ward_path_names *all, const char *path)
{
	const size_t len = strlen(path);
	for (size_t i = 0; i < all->n; i++) {
		const char *other = all->v[i].path;
		const size_t n = strlen(other);
		if (strncmp(other, path, n < len ? n : len) == 0 &&
			(n == len || (n < len ? path[n] == '/' : other[len] == '/')))
			return true;
	}
	return false;
}

/* In another tree: its source is no copy. */
static bool elsewhere(const struct ward_policy *p, const char *path)
{
	const struct ward_settings *s = ward_policy_settings(p);
	char full[2 * PATTERN_MAX];

	snprintf(full, sizeof(full), TOP "/%s", path);
	for (size_t i = 0; i < s->n_trees; i++) {
		const size_t n = strlen(s->trees[i].path);
		if (strcmp(s->trees[i].path, TOP) != 0 && strncmp(full, s->trees[i].path, n) == 0 &&
			(full[n] == '/' || !full[n]))
			return true;
	}
	return false;
}

static bool nameable(const char *path)
{
	for (const char *at = path; *at;) {
		const size_t n = strcspn(at, "/");
		if (n == 0 || n > 255 || (n == 1 && *at == '.') ||
			(n == 2 && memcmp(at, "..", 2) == 0))
			return false;
		at += n;
		at += *at == '/';
	}
	return *path && path[strlen(path) - 1] != '/';
}

static int add(struct ward_path_names *all, const struct ward_policy *p,
	const struct ward_rule *rule, const char *how, const char *path)
{
	/* The session's own source of rules: what stands there must be a policy. */
	if (strncmp(path, ".wardfs.policy", 14) == 0 && (!path[14] || path[14] == '/'))
		return 0;
	if (!nameable(path) || elsewhere(p, path) || in_the_way(all, path))
		return 0;
	if (all->n == WARD_PATH_NAMES_MAX) {
		all->left_out++;
		return 0;
	}
	char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	all->v[all->n++] = (struct ward_path_name){copy, rule, how};
	return 0;
}

/* Letters of other scripts, or with marks, that fold or decompose to others: what a file system
   that knows forms would take for one name, and a guard that compares bytes for two. */
static const struct {
	const char *how, *from, *to;
} forms[] = {
	{"case fold", "k", "\xe2\x84\xaa"},	   /* the Kelvin sign */
	{"case fold", "s", "\xc5\xbf"},		   /* the long s */
	{"Unicode form", "\xc3\xa9", "e\xcc\x81"}, /* é in two parts */
	{"Unicode form", "e\xcc\x81", "\xc3\xa9"}, /* and in one */
	{"Unicode form", "\xc3\xbc", "u\xcc\x88"}, /* ü */
	{"Unicode form", "u\xcc\x88", "\xc3\xbc"},
	{"Unicode form", "\xc3\xa4", "a\xcc\x88"}, /* ä */
	{"Unicode form", "\xc3\xb6", "o\xcc\x88"}, /* ö */
	{"Unicode form", "\xc3\xb1", "n\xcc\x83"}, /* ñ */
	{"case", "\xc3\xa9", "\xc3\x89"}, {"case", "\xc3\xbc", "\xc3\x9c"},
	{"case", "\xc3\xa4", "\xc3\x84"}, {"case", "\xc3\xb6", "\xc3\x96"},
	{"case", "\xc3\xb1", "\xc3\x91"},
	{"Unicode form", ".", "\xe2\x80\xa4"}, /* the one dot leader */
	{"Unicode form", "-", "\xe2\x80\x90"}, /* the hyphen */
};

static int add_forms(struct ward_path_names *all, const struct ward_policy *p,
	const struct ward_rule *rule, const char *path)
{
	char out[2 * PATTERN_MAX];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(forms) / sizeof(*forms); i++) {
		const char *at = strstr(name, forms[i].from);
		if (!at)
			continue;
		snprintf(out, sizeof(out), "%.*s%s%s", (int)(at - path), path, forms[i].to,
			at + strlen(forms[i].from));
		r = add(all, p, rule, forms[i].how, out);
	}
	return r;
}

/* Neighbours of the last name; dir ends in '/' or is empty. */
static int add_neighbours(struct ward_path_names *all, const struct ward_policy *p,
	const struct ward_rule *rule, const char *path)
{
	char out[2 * PATTERN_MAX];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const int dir = (int)(name - path);
	const size_t n = strlen(name);
	static const struct {
		const char *how, *before, *after;
	} around[] = {{"trailing space", "", " "}, {"trailing dot", "", "."},
		{"trailing tilde", "", "~"}, {"longer", "", "x"}, {"prefix", "x", ""},
		{"Unicode mark", "", "\xcc\x81"}, {"deeper", "deep/er/", ""}};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(around) / sizeof(*around); i++) {
		snprintf(out, sizeof(out), "%.*s%s%s%s", dir, path, around[i].before, name,
			around[i].after);
		r = add(all, p, rule, around[i].how, out);
	}
	if (r == 0 && n > 1) {
		snprintf(out, sizeof(out), "%.*s%.*s", dir, path, (int)n - 1, name);
		r = add(all, p, rule, "shorter", out);
	}
	snprintf(out, sizeof(out), "%s", path);
	for (char *at = out + dir; *at; at++)
		*at = (char)(islower((unsigned char)*at) ? toupper((unsigned char)*at)
							 : tolower((unsigned char)*at));
	if (r == 0)
		r = add(all, p, rule, "case", out);
	snprintf(out, sizeof(out), "%s", path);
	char *last = &out[strlen(out) - 1];
	*last = (char)(isalnum((unsigned char)*last) ? (*last == 'q' ? 'r' : *last ^ 1) : 'z');
	if (r == 0 && isalnum((unsigned char)*last))
		r = add(all, p, rule, "byte", out);
	/* Letters of full width look the same, and are the same after NFKC. */
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!isalpha((unsigned char)name[i]))
			continue;
		const unsigned c = 0xff00U + (unsigned char)name[i] - 0x20U;
		snprintf(out, sizeof(out), "%.*s%c%c%c%s", dir + (int)i, path,
			(int)(0xe0U | c >> 12), (int)(0x80U | (c >> 6 & 0x3fU)),
			(int)(0x80U | (c & 0x3fU)), name + i + 1);
		r = add(all, p, rule, "Unicode form", out);
		break;
	}
	return r;
}

/* The part of a name beneath /workspace; NULL: it lies elsewhere. */
static const char *beneath_top(const char *name)
{
	const size_t n = strlen(TOP);

	if (*name != '/')
		return name;
	if (strncmp(name, TOP, n) != 0 || (name[n] && name[n] != '/'))
		return NULL;
	return name + n + (name[n] == '/');
}

static int add_rule(
	struct ward_path_names *all, const struct ward_policy *p, const struct ward_rule *rule)
{
	char name[PATTERN_MAX], other[PATTERN_MAX], out[2 * PATTERN_MAX + 32];
	const bool anchored = *rule->pattern == '/';
	const char *path = instance(rule->pattern, false, name) ? beneath_top(name) : NULL;

	if (!path)
		return 0;
	/* A rule for a name also covers everything beneath. */
	snprintf(out, sizeof(out), "%s%s%s", anchored ? path : "deep/", anchored ? "" : path,
		anchored && !*path ? "beneath" : "/beneath");
	int r = add(all, p, rule, "beneath", out);
	if (r == 0 && *path)
		r = add(all, p, rule, "name", path);
	if (r == 0 && strchr(rule->pattern, '[') && instance(rule->pattern, true, other) &&
		beneath_top(other))
		r = add(all, p, rule, "outside the class", beneath_top(other));
	if (r == 0 && *path)
		r = add_neighbours(all, p, rule, path);
	return r == 0 && *path ? add_forms(all, p, rule, path) : r;
}

int ward_path_names_of(const struct ward_policy *p, struct ward_path_names *ret)
{
	const struct ward_rule *rule;
	int r = 0;

	*ret = (struct ward_path_names){.n = 0};
	for (size_t i = 0; r == 0 && (rule = ward_policy_rule(p, i)); i++)
		if (rule->verb <= WARD_VERB_SECRET)
			r = add_rule(ret, p, rule);
	if (r < 0)
		ward_path_names_clear(ret);
	return r;
}

void ward_path_names_clear(struct ward_path_names *n)
{
	for (size_t i = 0; i < n->n; i++)
		free(n->v[i].path);
	*n = (struct ward_path_names){.n = 0};
}
