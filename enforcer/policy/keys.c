/* SPDX-License-Identifier: Apache-2.0 */
/* Finds keys in the table and checks their values. */
#include "enforcer/policy/keys.h"

#include <errno.h>
#include <string.h>

#include "enforcer/base/quantity.h"
#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/pattern.h"
#include "enforcer/policy/proxy.h"
#include "enforcer/policy/value.h"

bool ward_section_has_path(const char *section)
{
	return strcmp(section, "tree") == 0 || strcmp(section, "quota") == 0;
}

bool ward_section_of_project(const char *section)
{
	for (const struct ward_key *k = ward_keys; k->section; k++)
		if (k->by & WARD_BY_PROJECT && strcmp(k->section, section) == 0)
			return true;
	return false;
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

bool ward_key_word_ready(const struct ward_key *k, uint64_t word)
{
	if (k->words == ward_mode_words)
		return ward_mode_at(word)->ready;
	return k->ready == WARD_READY_ALL || k->ready >> word & 1 ||
	       (k->fallback && strcmp(k->words[word], k->fallback) == 0);
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
	int r = ward_quantity_size(value + 6, number, err);
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

static int check_time(const char *value, uint64_t *number, struct ward_err *err)
{
	return ward_quantity_duration(
		value, WARD_DURATION_BARE | WARD_DURATION_SEVERAL, number, err);
}

/* Per second, times 1000. */
static int check_rate(const char *value, bool size, uint64_t *number, struct ward_err *err)
{
	uint64_t n = 0;
	uint32_t per_s = 0;
	int r = ward_quantity_rate(value, size, &n, &per_s, err);
	if (r == 0)
		*number = n * 1000 / per_s;
	return r;
}

bool ward_checkpoint_is_time(const char *value)
{
	return strpbrk(value, "smhd");
}

int ward_key_check(
	const struct ward_key *k, const char *value, uint64_t *ret_number, struct ward_err *err)
{
	struct ward_proxy proxy;
	*ret_number = 0;
	switch (k->type) {
	case WARD_KEY_TYPE_VERSION:
		return strcmp(value, "1") == 0
			       ? 0
			       : ward_err_set(
					 err, -EINVAL, "version '%.20s' is not known: 1 is", value);
	case WARD_KEY_TYPE_TEXT:
	case WARD_KEY_TYPE_EXTENDS:
		return check_text(value, err);
	case WARD_KEY_TYPE_WORD:
		return ward_value_word(value, k->words, ret_number, err);
	case WARD_KEY_TYPE_RULE:
		return check_pattern(value, err);
	case WARD_KEY_TYPE_PROGRAM:
		/* A bare name would be any file that the command calls so. */
		if (value[0] != '/')
			return ward_err_set(err, -EINVAL,
				"write where the program is, such as /usr/bin/%.60s", value);
		return check_pattern(value, err);
	case WARD_KEY_TYPE_SIZE:
		return ward_quantity_size(value, ret_number, err);
	case WARD_KEY_TYPE_COUNT:
		return ward_quantity_count(value, ret_number, err);
	case WARD_KEY_TYPE_TIME:
		return check_time(value, ret_number, err);
	case WARD_KEY_TYPE_SIZE_RATE:
		return check_rate(value, true, ret_number, err);
	case WARD_KEY_TYPE_COUNT_RATE:
		return check_rate(value, false, ret_number, err);
	case WARD_KEY_TYPE_TENTHS:
		return ward_quantity_tenths(value, ret_number, err);
	case WARD_KEY_TYPE_HOST_PATH:
		return check_host_path(value, err);
	case WARD_KEY_TYPE_TREE_SOURCE:
		return check_source(value, ret_number, err);
	case WARD_KEY_TYPE_TREE_AT:
		return strcmp(value, "same") == 0 || strcmp(value, "none") == 0
			       ? 0
			       : ward_value_sandbox_path(value, false, err);
	case WARD_KEY_TYPE_ENV_PASS:
		return ward_value_env(value, false, err);
	case WARD_KEY_TYPE_ENV_SET:
		return ward_value_env(value, true, err);
	case WARD_KEY_TYPE_HOST:
		return ward_value_host(value, err);
	case WARD_KEY_TYPE_PORTS:
		return ward_value_ports(value, err);
	case WARD_KEY_TYPE_URL:
		return ward_proxy_parse(value, &proxy, err);
	case WARD_KEY_TYPE_HEADER:
		return ward_proxy_header(value, err);
	case WARD_KEY_TYPE_CHECKPOINT:
		return ward_checkpoint_is_time(value) ? check_time(value, ret_number, err)
						      : ward_quantity_count(value, ret_number, err);
	case WARD_KEY_TYPE_ANCHOR:
		return check_anchor(value, err);
	case WARD_KEY_TYPE_EXPECT:
		return check_expect(value, err);
	case WARD_KEY_TYPE_NONE:
		break;
	}
	return ward_err_set(err, -EINVAL, "a key without a type");
}
