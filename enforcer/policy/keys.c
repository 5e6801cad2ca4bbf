/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/policy/keys.h"

#include <errno.h>
#include <string.h>

#include "enforcer/policy/pattern.h"
#include "enforcer/policy/proxy.h"
#include "enforcer/policy/value.h"

static const char *const flag[] = {"no", "yes", NULL};
static const char *const mode[] = {
	"wasm", "deno", "docker", "restricted", "process", "none", "auto", NULL};
static const char *const trust[] = {"low", "medium", "high", NULL};
static const char *const changes[] = {"discard", "review", "keep", NULL};
static const char *const hardlinks[] = {"deny", "read", "allow", NULL};
static const char *const require[] = {"yes", "where-available", NULL};
static const char *const home[] = {"none", "tmpfs", "project", NULL};
static const char *const view[] = {"minimal", "readonly", NULL};
static const char *const seccomp[] = {"no-exec", "strict", "default", NULL};
static const char *const net[] = {"none", "allowlist", "proxy", "host", NULL};
static const char *const sni[] = {"require", "log", "off", NULL};
static const char *const audit_log[] = {"io", "opens", "denials", NULL};
static const char *const audit_hash[] = {"all", "writes", "none", NULL};
static const char *const on_failure[] = {"stop", "deny", NULL};
static const char *const audit_sync[] = {"record", "batch", "close", NULL};
static const char *const audit_writer[] = {"system", "own", NULL};
static const char *const redact[] = {"argv", "sni", "none", NULL};

#define RULE(section, verb)                                                                        \
	{                                                                                          \
		section, verb, WARD_TYPE_RULE, WARD_MERGE_ADD, WARD_READY_ALL, true, true, NULL,   \
			NULL                                                                       \
	}
#define KEY(section, name, type, merge, ready, project, fallback)                                  \
	{                                                                                          \
		section, name, WARD_TYPE_##type, WARD_MERGE_##merge, WARD_READY_##ready, false,    \
			project, fallback, NULL                                                    \
	}
#define LIST(section, name, type, merge, ready, project, fallback)                                 \
	{                                                                                          \
		section, name, WARD_TYPE_##type, WARD_MERGE_##merge, WARD_READY_##ready, true,     \
			project, fallback, NULL                                                    \
	}
#define WORD(section, name, words, merge, ready, project, fallback)                                \
	{                                                                                          \
		section, name, WARD_TYPE_WORD, WARD_MERGE_##merge, ready, false, project,          \
			fallback, words                                                            \
	}
#define WORDS(section, name, words, merge, ready, project, fallback)                               \
	{                                                                                          \
		section, name, WARD_TYPE_WORD, WARD_MERGE_##merge, ready, true, project, fallback, \
			words                                                                      \
	}

const struct ward_key ward_keys[] = {
	KEY("policy", "version", VERSION, BASE, ALL, true, NULL),
	KEY("policy", "extends", EXTENDS, BASE, ALL, false, NULL),
	WORD("policy", "mode", mode, MIN, 1U << 3 | 1U << 4 | 1U << 5, false, "restricted"),
	WORD("policy", "trust", trust, MIN, 0, false, "medium"),
	KEY("policy", "name", TEXT, BASE, ALL, false, NULL),
	KEY("tree", "source", TREE_SOURCE, BASE, ALL, false, NULL),
	KEY("tree", "at", TREE_AT, BASE, ALL, false, "same"),
	WORD("tree", "changes", changes, MIN, 0, false, "keep"),
	WORD("tree", "hardlinks", hardlinks, MIN, WARD_READY_ALL, false, "read"),
	RULE("guard", "hide"),
	RULE("guard", "deny"),
	RULE("guard", "read"),
	RULE("guard", "append"),
	RULE("guard", "ask"),
	RULE("guard", "noexec"),
	WORD("guard", "fold", flag, MAX, WARD_READY_ALL, true, "no"),
	RULE("files", "hide"),
	RULE("files", "deny"),
	RULE("files", "read"),
	RULE("files", "write"),
	RULE("files", "append"),
	RULE("files", "ask"),
	RULE("files", "noexec"),
	KEY("quota", "growth", SIZE, MIN, ALL, true, NULL),
	KEY("quota", "files", COUNT, MIN, ALL, true, NULL),
	KEY("quota", "file", SIZE, MIN, ALL, true, NULL),
	KEY("quota", "rate", SIZE_RATE, MIN, ALL, true, NULL),
	KEY("quota", "churn", COUNT_RATE, MIN, ALL, true, NULL),
	WORD("limits", "require", require, MIN, WARD_READY_ALL, true, "yes"),
	KEY("limits", "cpus", TENTHS, MIN, ALL, true, NULL),
	KEY("limits", "memory", SIZE, MIN, ALL, true, NULL),
	KEY("limits", "processes", COUNT, MIN, ALL, true, "512"),
	KEY("limits", "open-files", COUNT, MIN, ALL, true, "4096"),
	KEY("limits", "file", SIZE, MIN, ALL, true, NULL),
	KEY("limits", "cpu-time", TIME, MIN, ALL, true, NULL),
	KEY("limits", "wall", TIME, MIN, ALL, true, NULL),
	KEY("limits", "idle", TIME, MIN, ALL, true, NULL),
	KEY("limits", "grace", TIME, MIN, ALL, true, "2s"),
	KEY("limits", "per-command", TIME, MIN, ALL, true, NULL),
	KEY("limits", "tmp", SIZE, MIN, ALL, true, "1G"),
	WORD("limits", "core", flag, MIN, WARD_READY_ALL, true, "no"),
	WORD("home", "mode", home, MIN, WARD_READY_ALL, false, "tmpfs"),
	KEY("home", "size", SIZE, MIN, ALL, false, NULL),
	WORD("system", "view", view, MIN, WARD_READY_ALL, false, "minimal"),
	LIST("system", "read", HOST_PATH, BASE, ALL, false, NULL),
	LIST("env", "pass", ENV_PASS, BASE, ALL, false, NULL),
	LIST("env", "set", ENV_SET, BASE, ALL, false, NULL),
	WORD("process", "seccomp", seccomp, MIN, WARD_READY_ALL, false, "default"),
	LIST("process", "exec", PROGRAM, COMMON, ALL, false, NULL),
	WORD("process", "terminal", flag, MIN, WARD_READY_ALL, false, "yes"),
	WORD("network", "mode", net, MIN, WARD_READY_ALL, true, "none"),
	LIST("network", "allow", HOST, COMMON, ALL, false, NULL),
	/* whoever denies more while there is no network at all has what they ask for */
	LIST("network", "deny", HOST, ADD, ALL, true, NULL),
	KEY("network", "proxy", URL, BASE, ALL, false, NULL),
	KEY("network", "identify", HEADER, BASE, ALL, false, NULL),
	WORD("network", "sni", sni, MIN, WARD_READY_ALL, false, "require"),
	KEY("network", "upload", SIZE, MIN, ALL, false, NULL),
	KEY("network", "rate", SIZE_RATE, MIN, ALL, false, NULL),
	KEY("network", "connections", COUNT, MIN, ALL, false, NULL),
	KEY("network", "connect-time", TIME, MIN, ALL, false, "10s"),
	KEY("network", "handshake-time", TIME, MIN, ALL, false, "30s"),
	KEY("network", "idle", TIME, MIN, ALL, false, "1h"),
	LIST("network", "publish", PORTS, BASE, ALL, false, NULL),
	LIST("network", "forward", PORTS, BASE, ALL, false, NULL),
	LIST("network", "socket", HOST_PATH, BASE, ALL, false, NULL),
	WORD("audit", "log", audit_log, MIN, WARD_READY_ALL, false, "opens"),
	WORD("audit", "hash", audit_hash, MIN, WARD_READY_ALL, false, "none"),
	WORD("audit", "exec", flag, MAX, WARD_READY_ALL, false, "yes"),
	WORD("audit", "on-failure", on_failure, MIN, WARD_READY_ALL, false, "deny"),
	WORD("audit", "sync", audit_sync, MIN, WARD_READY_ALL, false, "batch"),
	WORD("audit", "writer", audit_writer, MIN, WARD_READY_ALL, false, "own"),
	LIST("audit", "checkpoint", CHECKPOINT, ADD, ALL, false, "10000"),
	LIST("audit", "anchor", ANCHOR, BASE, ALL, false, NULL),
	KEY("audit", "rotate", SIZE, MIN, ALL, false, "256M"),
	KEY("audit", "keep", TIME, MAX, ALL, false, "90d"),
	WORDS("audit", "redact", redact, ADD, WARD_READY_ALL, true, "none"),
	LIST("test", "expect", EXPECT, ADD, ALL, true, NULL),
	{0},
};

const char *const ward_sections[] = {"policy", "tree", "guard", "files", "quota", "limits", "home",
	"system", "env", "process", "network", "audit", "test", NULL};

bool ward_section_has_path(const char *section)
{
	return strcmp(section, "tree") == 0 || strcmp(section, "quota") == 0;
}

/* Spellings farther off than this are no slip of the finger. */
#define NEAR 3U

int ward_section_find(const char *name, const char **ret, struct ward_err *err)
{
	const char *near = NULL;
	unsigned best = NEAR;
	for (size_t i = 0; ward_sections[i]; i++) {
		unsigned d = ward_value_distance(name, ward_sections[i], NEAR);
		if (d == 0) {
			*ret = ward_sections[i];
			return 0;
		}
		if (d < best) {
			best = d;
			near = ward_sections[i];
		}
	}
	if (near)
		return ward_err_set(
			err, -EINVAL, "no section [%.60s]: did you mean [%s]?", name, near);
	return ward_err_set(err, -EINVAL, "no section [%.60s]", name);
}

static int unknown_key(const char *section, const char *name, struct ward_err *err)
{
	const struct ward_key *near = NULL;
	unsigned best = NEAR + 1;
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		bool here = strcmp(k->section, section) == 0;
		unsigned d = ward_value_distance(name, k->name, NEAR);
		/* of other sections only what is spelt exactly so, the section being the slip */
		if (!here && d > 0)
			continue;
		if (!here)
			d = 1;
		if (d < best && d < NEAR) {
			best = d;
			near = k;
		}
	}
	if (!near)
		return ward_err_set(err, -EINVAL, "no key '%s' in [%s]", name, section);
	if (strcmp(near->section, section) == 0)
		return ward_err_set(err, -EINVAL, "no key '%s' in [%s]: did you mean '%s'?", name,
			section, near->name);
	return ward_err_set(err, -EINVAL, "no key '%s' in [%s]: it stands in [%s]", name, section,
		near->section);
}

int ward_key_find(
	const char *section, const char *name, const struct ward_key **ret, struct ward_err *err)
{
	for (const struct ward_key *k = ward_keys; k->section; k++) {
		if (strcmp(k->section, section) == 0 && strcmp(k->name, name) == 0) {
			*ret = k;
			return 0;
		}
	}
	if (strcmp(section, "guard") == 0 && strcmp(name, "write") == 0)
		return ward_err_set(err, -EINVAL,
			"no key 'write' in [guard]: a guard only takes away; 'write' stands in [files]");
	return unknown_key(section, name, err);
}

static int check_pattern(const char *value, struct ward_err *err)
{
	struct ward_pattern p;
	int r = ward_pattern_parse(value, false, &p, err);
	if (r == 0)
		ward_pattern_clear(&p);
	return r;
}

static int check_host_path(const char *value, struct ward_err *err)
{
	if (value[0] == '~' && value[1] && value[1] != '/')
		return ward_err_set(err, -EINVAL, "'%s': only the owner's own ~/ is known", value);
	return strlen(value) < 4096 ? 0 : ward_err_set(err, -EINVAL, "a path over 4095 bytes");
}

static int check_source(const char *value, uint64_t *number, struct ward_err *err)
{
	if (strncmp(value, "tmpfs:", 6) != 0)
		return check_host_path(value, err);
	int r = ward_value_size(value + 6, number, err);
	if (r == 0 && *number < 4096)
		return ward_err_set(err, -EINVAL, "a tmpfs of less than 4K");
	return r;
}

static int check_text(const char *value, struct ward_err *err)
{
	return strlen(value) <= 200 ? 0 : ward_err_set(err, -EINVAL, "a text over 200 bytes");
}

static int check_anchor(const char *value, struct ward_err *err)
{
	if (strcmp(value, "journald") == 0 || strcmp(value, "syslog") == 0 ||
		strcmp(value, "none") == 0)
		return 0;
	if (strncmp(value, "file:", 5) == 0 || strncmp(value, "exec:", 5) == 0)
		return ward_value_sandbox_path(value + 5, false, err);
	return ward_err_set(err, -EINVAL,
		"'%s' is none of: journald, syslog, file:PATH, exec:PATH, none", value);
}

/* ACTION PATH [PATH2] VERDICT, taken apart where it is run; here only counted and the ends known.
 */
static int check_expect(const char *value, struct ward_err *err)
{
	static const char *const verdicts[] = {"allow", "deny", "hide", "ask"};
	size_t fields = 0;
	const char *last = "";
	for (const char *s = value; *s;) {
		last = s;
		fields++;
		s += strcspn(s, " \t");
		s += strspn(s, " \t");
	}
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (strcmp(last, verdicts[i]) == 0 && (fields == 3 || fields == 4))
			return 0;
	return ward_err_set(err, -EINVAL,
		"write ACTION PATH [PATH2] VERDICT, the verdict one of: allow, deny, hide, ask");
}

int ward_key_check(
	const struct ward_key *k, const char *value, uint64_t *ret_number, struct ward_err *err)
{
	struct ward_proxy proxy;
	*ret_number = 0;
	switch (k->type) {
	case WARD_TYPE_VERSION:
		return strcmp(value, "1") == 0
			       ? 0
			       : ward_err_set(
					 err, -EINVAL, "version '%.20s' is not known: 1 is", value);
	case WARD_TYPE_TEXT:
	case WARD_TYPE_EXTENDS:
		return check_text(value, err);
	case WARD_TYPE_WORD:
		return ward_value_word(value, k->words, ret_number, err);
	case WARD_TYPE_RULE:
		return check_pattern(value, err);
	case WARD_TYPE_PROGRAM:
		/* A bare name would be any file that the command calls so. */
		if (value[0] != '/')
			return ward_err_set(err, -EINVAL,
				"write where the program is, such as /usr/bin/%.60s", value);
		return check_pattern(value, err);
	case WARD_TYPE_SIZE:
		return ward_value_size(value, ret_number, err);
	case WARD_TYPE_COUNT:
		return ward_value_count(value, ret_number, err);
	case WARD_TYPE_TIME:
		return ward_value_time(value, ret_number, err);
	case WARD_TYPE_SIZE_RATE:
		return ward_value_rate(value, true, ret_number, err);
	case WARD_TYPE_COUNT_RATE:
		return ward_value_rate(value, false, ret_number, err);
	case WARD_TYPE_TENTHS:
		return ward_value_tenths(value, ret_number, err);
	case WARD_TYPE_HOST_PATH:
		return check_host_path(value, err);
	case WARD_TYPE_TREE_SOURCE:
		return check_source(value, ret_number, err);
	case WARD_TYPE_TREE_AT:
		return strcmp(value, "same") == 0 || strcmp(value, "none") == 0
			       ? 0
			       : ward_value_sandbox_path(value, false, err);
	case WARD_TYPE_ENV_PASS:
		return ward_value_env(value, false, err);
	case WARD_TYPE_ENV_SET:
		return ward_value_env(value, true, err);
	case WARD_TYPE_HOST:
		return ward_value_host(value, err);
	case WARD_TYPE_PORTS:
		return ward_value_ports(value, err);
	case WARD_TYPE_URL:
		return ward_proxy_parse(value, &proxy, err);
	case WARD_TYPE_HEADER:
		return ward_proxy_header(value, err);
	case WARD_TYPE_CHECKPOINT:
		return strpbrk(value, "smhd") ? ward_value_time(value, ret_number, err)
					      : ward_value_count(value, ret_number, err);
	case WARD_TYPE_ANCHOR:
		return check_anchor(value, err);
	case WARD_TYPE_EXPECT:
		return check_expect(value, err);
	case WARD_TYPE_NONE:
		break;
	}
	return ward_err_set(err, -EINVAL, "a key without a type");
}
