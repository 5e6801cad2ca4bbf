/* SPDX-License-Identifier: Apache-2.0 */
/* What the types of keys do: a value from text, the merge where the rule of the row is not all. */
#include <errno.h>
#include <string.h>

#include "enforcer/base/quantity.h"
#include "enforcer/policy/image_name.h"
#include "enforcer/policy/internal.h"
#include "enforcer/policy/pattern.h"
#include "enforcer/policy/proxy.h"
#include "enforcer/policy/value.h"

/* The parse function of a type. *number is 0 before (ward_key_check()). */
#define PARSE(name)                                                                                \
	static int parse_##name(const struct ward_key *k __attribute__((unused)),                  \
		const char *value, uint64_t *number __attribute__((unused)), struct ward_err *err)

PARSE(version)
{
	return strcmp(value, "1") == 0
		       ? 0
		       : ward_err_set(err, -EINVAL, "unknown version '%.20s': write 1", value);
}

/* A part that begins with a line is private, and no script may name it. */
PARSE(module)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	for (const char *p = value;; p++) {
		size_t n = strspn(
			p, "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
		if (n == 0 || n > 100 || !strchr(letters, *p) || (p[n] && p[n] != '.'))
			return ward_err_set(err, -EINVAL,
				"'%.40s' is no module of Python: write math or xml.dom", value);
		p += n;
		if (!*p)
			return 0;
	}
}

PARSE(text)
{
	return strlen(value) <= 200
		       ? 0
		       : ward_err_set(err, -EINVAL, "the text has more than 200 bytes");
}

PARSE(warm)
{
	if (strlen(value) != 1 || *value < '0' || *value > '0' + (char)WARD_WARM_MAX)
		return ward_err_set(
			err, -EINVAL, "'%.20s': write a number from 0 to %u", value, WARD_WARM_MAX);
	*number = (uint64_t)(*value - '0');
	return 0;
}

PARSE(word)
{
	return ward_value_word(value, k->words, number, err);
}

PARSE(pattern)
{
	struct ward_pattern p;
	int r = ward_pattern_parse(value, false, &p, err);
	if (r == 0)
		ward_pattern_clear(&p);
	return r;
}

PARSE(seed)
{
	struct ward_seed_line line;
	return ward_seed_parse(value, &line, err);
}

PARSE(program)
{
	/* A bare name would be any file that the command calls so. */
	if (value[0] != '/')
		return ward_err_set(
			err, -EINVAL, "write where the program is, such as /usr/bin/%.60s", value);
	return parse_pattern(k, value, number, err);
}

PARSE(shell)
{
	size_t name = strcspn(value, " \t/");
	if (strlen(value) > 200 || name == 0 || value[name] == '/' || !value[name])
		return ward_err_set(err, -EINVAL,
			"write the program's name and the arguments it begins with, such as bash "
			"-c");
	return 0;
}

PARSE(expected_path)
{
	/* A bare name would be silent wherever it stands. */
	if (value[0] != '/')
		return ward_err_set(err, -EINVAL,
			"write the whole path, such as /var/agent/example/%.60s", value);
	return parse_pattern(k, value, number, err);
}

/* `none` takes back what a profile bounds; a key with a default of its own always has a bound. */
static bool is_none(const struct ward_key *k, const char *value, uint64_t *number)
{
	const bool bounds =
		ward_key_in(k, WARD_SECTION_LIMITS) || ward_key_in(k, WARD_SECTION_QUOTA);
	if (!bounds || k->fallback || strcmp(value, "none") != 0)
		return false;
	*number = WARD_UNLIMITED;
	return true;
}

PARSE(size)
{
	return is_none(k, value, number) ? 0 : ward_quantity_size(value, number, err);
}

PARSE(count)
{
	return is_none(k, value, number) ? 0 : ward_quantity_count(value, number, err);
}

PARSE(time)
{
	if (is_none(k, value, number))
		return 0;
	return ward_quantity_duration(
		value, WARD_DURATION_BARE | WARD_DURATION_SEVERAL, number, err);
}

/* Per second, times 1000. */
static int rate(const char *value, bool size, uint64_t *number, struct ward_err *err)
{
	uint64_t n = 0;
	uint32_t per_s = 0;
	int r = ward_quantity_rate(value, size, &n, &per_s, err);
	if (r == 0)
		*number = n * 1000 / per_s;
	return r;
}

PARSE(size_rate)
{
	return is_none(k, value, number) ? 0 : rate(value, true, number, err);
}

PARSE(count_rate)
{
	return is_none(k, value, number) ? 0 : rate(value, false, number, err);
}

PARSE(size_share)
{
	return is_none(k, value, number) ? 0 : ward_share_size(value, number, err);
}

PARSE(cpus)
{
	return is_none(k, value, number) ? 0 : ward_share_cpus(value, number, err);
}

PARSE(cpu_time)
{
	return is_none(k, value, number) ? 0 : ward_share_cpu_time(value, number, err);
}

PARSE(host_path)
{
	if (value[0] == '~' && value[1] && value[1] != '/')
		return ward_err_set(err, -EINVAL, "'%s': only the owner's own ~/ is known", value);
	return strlen(value) < 4096
		       ? 0
		       : ward_err_set(err, -EINVAL, "the path has more than 4095 bytes");
}

PARSE(image)
{
	return ward_image_name_check(value, err);
}

PARSE(engine)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
	return value[0] == '/' || value[strspn(value, letters)] == '\0'
		       ? parse_host_path(k, value, number, err)
		       : ward_err_set(err, -EINVAL,
				 "'%s': expected the word for an engine, or an absolute path",
				 value);
}

PARSE(source)
{
	const char *size = ward_tree_tmpfs(value);
	if (!size)
		return parse_host_path(k, value, number, err);
	int r = ward_share_size(size, number, err);
	if (r == 0 && *number < 4096)
		return ward_err_set(err, -EINVAL, "the tmpfs has less than 4K");
	return r;
}

PARSE(at)
{
	return strcmp(value, "same") == 0 || strcmp(value, "none") == 0
		       ? 0
		       : ward_value_sandbox_path(value, false, err);
}

PARSE(env_pass)
{
	return ward_value_env(value, false, err);
}

PARSE(env_set)
{
	return ward_value_env(value, true, err);
}

PARSE(host)
{
	return ward_value_host(value, err);
}

PARSE(ports)
{
	return ward_value_ports(value, err);
}

PARSE(url)
{
	struct ward_proxy proxy;
	return ward_proxy_parse(value, &proxy, err);
}

PARSE(header)
{
	return ward_proxy_header(value, err);
}

/* One file: what a wildcard would lift besides, nobody has seen. */
PARSE(lift)
{
	if (value[0] != '/' || strpbrk(value, "*?[\\") || strlen(value) < 2 ||
		value[strlen(value) - 1] == '/')
		return ward_err_set(err, -EINVAL,
			"'%s': one file, as an absolute path inside without wildcards, such as "
			"/workspace/.env",
			value);
	return ward_value_sandbox_path(value, false, err);
}

/* A time, or a count? */
static bool is_time(const char *value)
{
	return strpbrk(value, "smhd");
}

PARSE(checkpoint)
{
	return is_time(value) ? parse_time(k, value, number, err)
			      : ward_quantity_count(value, number, err);
}

PARSE(anchor)
{
	if (strcmp(value, "journald") == 0 || strcmp(value, "syslog") == 0 ||
		strcmp(value, "none") == 0)
		return 0;
	if (strncmp(value, "file:", 5) == 0 || strncmp(value, "exec:", 5) == 0)
		return ward_value_sandbox_path(value + 5, false, err);
	return ward_err_set(err, -EINVAL,
		"'%s' is not one of: journald, syslog, file:PATH, exec:PATH, none", value);
}

/* ACTION PATH [PATH2] VERDICT, taken apart where it is run; here only counted and the ends known.
 */
PARSE(expect)
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

/* What a destination is written as. */
#define HOST "HOST[:PORT,...][/udp] or CIDR[:PORT,...]"

/* clang-format off */
const struct ward_key_type_ops ward_key_types[WARD_KEY_TYPE_COUNT_] = {
	[WARD_KEY_TYPE_VERSION] = {"1", "1", .parse = parse_version},
	[WARD_KEY_TYPE_TEXT] = {"text", "example", .parse = parse_text},
	[WARD_KEY_TYPE_EXTENDS] = {"profile or path", "medium", .parse = parse_text},
	[WARD_KEY_TYPE_WORD] = {.parse = parse_word},
	[WARD_KEY_TYPE_RULE] = {"pattern", "/workspace/example", .parse = parse_pattern},
	[WARD_KEY_TYPE_LIFT] = {"path", "/workspace/.env", .parse = parse_lift},
	[WARD_KEY_TYPE_SIZE] = {"size", "10M", .parse = parse_size},
	[WARD_KEY_TYPE_COUNT] = {"count", "200", .parse = parse_count},
	[WARD_KEY_TYPE_TIME] = {"time", "10m", .parse = parse_time},
	[WARD_KEY_TYPE_SIZE_RATE] = {"size rate", "10M/s", .parse = parse_size_rate},
	[WARD_KEY_TYPE_COUNT_RATE] = {"count rate", "100/m", .parse = parse_count_rate},
	[WARD_KEY_TYPE_SIZE_SHARE] = {"size or percentage", "10M", .parse = parse_size_share},
	[WARD_KEY_TYPE_CPUS] = {"number, percentage or all-N", "1.5", .parse = parse_cpus},
	[WARD_KEY_TYPE_CPU_TIME] = {"time or TIME/cpu", "10m", .parse = parse_cpu_time},
	[WARD_KEY_TYPE_HOST_PATH] = {"host path", "/opt/example", .host_path = true, .parse = parse_host_path},
	[WARD_KEY_TYPE_IMAGE] = {"image", "debian:12", .host_path = true, .parse = parse_image},
	[WARD_KEY_TYPE_ENGINE] = {"word or path", "runsc", .parse = parse_engine},
	[WARD_KEY_TYPE_TREE_SOURCE] = {"host path or tmpfs:SIZE", ".", .host_path = true, .parse = parse_source},
	[WARD_KEY_TYPE_TREE_AT] = {"same, none or path", "none", .parse = parse_at},
	[WARD_KEY_TYPE_ENV_PASS] = {"name or glob", "EXAMPLE_*", .parse = parse_env_pass},
	[WARD_KEY_TYPE_ENV_SET] = {"NAME=VALUE", "EXAMPLE=1", .parse = parse_env_set},
	[WARD_KEY_TYPE_SEED] = {"FILE: TEXT or FILE if NAME: TEXT", "config.toml: example = 1",
		.parse = parse_seed},
	[WARD_KEY_TYPE_PROGRAM] = {"path or pattern", "/usr/bin/git", .parse = parse_program,
		.merge = ward_programs_merge},
	[WARD_KEY_TYPE_SHELL] = {"program and arguments", "bash -c", .parse = parse_shell},
	[WARD_KEY_TYPE_MODULE] = {"module", "math", .parse = parse_module},
	[WARD_KEY_TYPE_ALLOW] = {HOST, "example.org:443", .any_case = true, .parse = parse_host},
	[WARD_KEY_TYPE_DENY] = {HOST, "example.org:443", .any_case = true, .parse = parse_host},
	[WARD_KEY_TYPE_ASK_HOST] = {HOST, "example.org:443", .any_case = true, .parse = parse_host},
	[WARD_KEY_TYPE_PORTS] = {"port[:port]", "8080", .parse = parse_ports},
	[WARD_KEY_TYPE_URL] = {"URL", "http://127.0.0.1:3128", .parse = parse_url},
	[WARD_KEY_TYPE_HEADER] = {"header name", "X-Session", .parse = parse_header},
	[WARD_KEY_TYPE_CHECKPOINT] = {"count or time", "5000", .parse = parse_checkpoint},
	[WARD_KEY_TYPE_ANCHOR] = {"journald, syslog, file:PATH, exec:PATH or none", "journald",
		.parse = parse_anchor},
	[WARD_KEY_TYPE_PUBLIC_KEY] = {"public key",
		"wardfs/6d908e8477ce54ac+76e1d457+AUMMAXyT7N7/SCN53aRDVzVfut1OX3nszT11bX1c1u4P",
		.parse = ward_parse_approver},
	[WARD_KEY_TYPE_WARM] = {"0 to 8", "1", .parse = parse_warm},
	[WARD_KEY_TYPE_APPROVERS] = {"0 to 4", "2", .parse = ward_parse_approvers},
	[WARD_KEY_TYPE_EXPECTED_PATH] = {"path or pattern", "/var/agent/example",
		.parse = parse_expected_path},
	[WARD_KEY_TYPE_EXPECTED_LOOK] = {"path or pattern", "/workspace/example",
		.parse = parse_expected_path},
	[WARD_KEY_TYPE_EXPECTED_HOST] = {HOST, "example.org:443", .any_case = true, .parse = parse_host},
	[WARD_KEY_TYPE_LEAST] = {"mode", "process", .parse = ward_parse_least},
	[WARD_KEY_TYPE_RISK_POINTS] = {"ROW POINTS", "no-time 20", .parse = ward_parse_points},
	[WARD_KEY_TYPE_RISK_FROM] = {"MODE POINTS", "restricted 10", .parse = ward_parse_from},
	[WARD_KEY_TYPE_SIGNER] = {"public key",
		"RWRleGFtcGxlIQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f", .parse = ward_parse_signer},
	[WARD_KEY_TYPE_TOOLS] = {"tools with commas", "files, terminal", .parse = ward_parse_tools},
	[WARD_KEY_TYPE_MONEY] = {"amount", "20", .parse = ward_parse_money},
	[WARD_KEY_TYPE_EXPECT] = {"ACTION[:FACT] PATH [PATH2] VERDICT", "read /workspace/x hide",
		.parse = parse_expect},
};
/* clang-format on */

int ward_checkpoint_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err)
{
	struct ward_settings *s = base;
	(void)instance, (void)err;
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (e->key != k)
			continue;
		uint64_t v = is_time(e->value) ? e->number / 1000000 : e->number;
		uint64_t *to = is_time(e->value) ? &s->checkpoint_ms : &s->checkpoint_records;
		/* 0 stands for the default: the least that can be meant is 1. */
		v = v ? v : 1;
		if (*to == 0 || v < *to)
			*to = v;
	}
	return 0;
}

static bool has_string(const struct ward_strings *s, const char *text)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i], text) == 0)
			return true;
	return false;
}

int ward_anchors_read(struct ward_policy *p, const struct ward_key *k, const char *instance,
	void *base, struct ward_err *err)
{
	struct ward_settings *s = base;
	bool none = false;
	int r = 0;
	(void)instance, (void)err;
	for (int floor = 1; floor >= 0; floor--) {
		for (size_t i = 0; r == 0 && i < p->n_effective; i++) {
			const struct ward_entry *e = p->effective[i];
			if (e->key != k || (e->source == WARD_SOURCE_FLOOR) != floor)
				continue;
			const bool is_none = strcmp(e->value, "none") == 0;
			none = none || is_none;
			if (!is_none && !has_string(&s->anchors, e->value))
				r = ward_strings_add(&s->anchors, strdup(e->value));
		}
		if (floor)
			s->anchors_floor = s->anchors.n;
	}
	if (r == 0 && none && s->anchors.n == 0)
		r = ward_strings_add(&s->anchors, strdup("none"));
	return r;
}
