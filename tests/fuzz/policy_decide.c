/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions as properties. Input: lines "V PATTERN" (rules; V picks verb and source), an empty
 * line, then two paths. Whatever the rules: a source that takes away never widens, what is allowed
 * was granted, what is visible is reached through passages, and a move that is allowed gives
 * nothing more at the paths tried.
 */
#include <stdio.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/policy/policy.h"
#include "tests/fuzz/fuzz.h"

#define TEXT_MAX 2048

struct texts {
	struct ward_buf text[3]; /* base, floor, project */
};

static const char *const verbs[] = {
	"hide", "deny", "read", "append", "ask", "noexec", "secret", "write"};

/* One line of the input as a rule. Bytes that no policy holds end it. */
static void add_rule(struct texts *t, const char *line, size_t n)
{
	unsigned char v = (unsigned char)line[0];
	struct ward_buf *b = &t->text[v / 8 % 3];
	bool guard = v / 24 % 2;
	ward_buf_printf(b, "[%s]\n%s = ", guard ? "guard" : "files", verbs[v % (guard ? 7 : 8)]);
	for (size_t i = 1; i < n && (unsigned char)line[i] > ' ' && line[i] != 0x7f; i++)
		ward_buf_putc(b, line[i] == ';' ? ',' : line[i]);
	ward_buf_puts(b, "\n");
}

#define CHANGES                                                                                    \
	(WARD_RIGHT_APPEND | WARD_RIGHT_CREATE | WARD_RIGHT_WRITE | WARD_RIGHT_REMOVE |            \
		WARD_RIGHT_ATTR)

static uint32_t rights_of(const struct ward_policy *p, const char *path, size_t len,
	enum ward_fact fact, uint32_t flags)
{
	const struct ward_state *s = NULL;
	if (ward_policy_walk(p, path, len, &s) < 0)
		return 0;
	const struct ward_request req = {
		.action = WARD_ACTION_ACCESS, .flags = flags, .state = s, .fact = fact};
	uint32_t r = ward_policy_decide(p, &req, NULL).granted;
	ward_policy_state_put(p, s);
	return r;
}

static uint32_t rights(const struct ward_policy *p, const char *path, size_t len)
{
	const struct ward_state *s = NULL;
	if (ward_policy_walk(p, path, len, &s) < 0)
		return 0;
	uint32_t r = ward_policy_rights(p, s);
	ward_policy_state_put(p, s);
	return r;
}

/* The less is known of a file, the less it gives; what takes away takes of each. */
static void facts(
	const struct ward_policy *p, const struct ward_policy *q, const char *path, size_t len)
{
	for (unsigned f = 0; f < WARD_FACT_COUNT_; f++) {
		uint32_t all = rights_of(p, path, len, (enum ward_fact)f, 0);
		fuzz_insist(!(rights_of(q, path, len, (enum ward_fact)f, 0) & ~all));
		fuzz_insist(!(all & ~rights(p, path, len)));
	}
	uint32_t there = rights_of(q, path, len, WARD_FACT_THERE, 0);
	uint32_t differs = rights_of(q, path, len, WARD_FACT_DIFFERS, 0);
	fuzz_insist(!(there & ~differs) && !(differs & ~rights(q, path, len)));
}

/* Review allows what a person would be asked about, and of that changes alone. */
static void staged(const struct ward_policy *p, const char *path, size_t len)
{
	const struct ward_state *s = NULL;
	if (ward_policy_walk(p, path, len, &s) < 0)
		return;
	const uint32_t plain = ward_policy_rights(p, s), all = ward_policy_rights_staged(p, s);
	fuzz_insist(!(plain & ~all) && !(all & ~plain & ~(uint32_t)CHANGES));
	for (unsigned bit = 0; bit < WARD_RIGHTS_COUNT; bit++) {
		struct ward_request req = {.action = WARD_ACTION_ACCESS,
			.rights = 1U << bit,
			.state = s,
			.fact = WARD_FACT_OWN};
		const enum ward_verdict asked = ward_policy_decide(p, &req, NULL).verdict;
		req.flags = WARD_REQUEST_STAGED;
		const enum ward_verdict v = ward_policy_decide(p, &req, NULL).verdict;
		fuzz_insist(v == asked || (v == WARD_VERDICT_ALLOW && asked == WARD_VERDICT_ASK &&
						  all & ~plain & 1U << bit));
	}
	ward_policy_state_put(p, s);
}

static void passages(const struct ward_policy *p, const char *path, size_t len)
{
	if (!(rights(p, path, len) & WARD_RIGHT_STAT))
		return;
	for (; len > 0; len--) {
		if (path[len - 1] != '/')
			continue;
		const struct ward_state *s = NULL;
		if (ward_policy_walk(p, path, len, &s) < 0)
			return;
		const struct ward_request req = {.action = WARD_ACTION_ACCESS,
			.rights = WARD_RIGHT_STAT | WARD_RIGHT_LIST,
			.flags = WARD_REQUEST_DIR,
			.state = s,
			.fact = WARD_FACT_OWN};
		fuzz_insist(ward_policy_decide(p, &req, NULL).verdict == WARD_VERDICT_ALLOW);
		ward_policy_state_put(p, s);
	}
}

static void move(const struct ward_policy *p, const char *a, size_t n_a, const char *b, size_t n_b,
	uint32_t flags)
{
	static const char *const suffixes[] = {"", "/a", "/.env", "/a/b", "/.git/hooks", "/x/y/z"};
	const struct ward_state *s = NULL, *d = NULL;
	if (ward_policy_walk(p, a, n_a, &s) < 0 || ward_policy_walk(p, b, n_b, &d) < 0) {
		ward_policy_state_put(p, s);
		return;
	}
	const struct ward_request req = {.action = WARD_ACTION_RENAME,
		.flags = WARD_REQUEST_DIR | flags,
		.state = s,
		.state2 = d,
		.fact = WARD_FACT_OWN,
		.fact2 = WARD_FACT_ABSENT};
	enum ward_verdict v = ward_policy_decide(p, &req, NULL).verdict;
	ward_policy_state_put(p, s);
	ward_policy_state_put(p, d);
	for (size_t i = 0; v == WARD_VERDICT_ALLOW && i < sizeof(suffixes) / sizeof(suffixes[0]);
		i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf x = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf y = WARD_BUF_INIT;
		ward_buf_add(&x, a, n_a);
		ward_buf_puts(&x, suffixes[i]);
		ward_buf_add(&y, b, n_b);
		ward_buf_puts(&y, suffixes[i]);
		/* What is beneath keeps its fact; of the directory itself it is known. */
		for (unsigned f = 0; f < WARD_FACT_COUNT_; f++) {
			enum ward_fact fact = i ? (enum ward_fact)f : WARD_FACT_OWN;
			uint32_t before = rights_of(p, ward_buf_str(&x), x.len, fact, flags);
			uint32_t after = rights_of(p, ward_buf_str(&y), y.len, fact, flags);
			fuzz_insist(!(after & ~before));
		}
	}
}

static void decide(struct texts *t, const char *rest, size_t n)
{
	struct ward_source_text s[3];
	static const enum ward_source_kind kinds[] = {
		WARD_SOURCE_BASE, WARD_SOURCE_FLOOR, WARD_SOURCE_PROJECT};
	struct ward_policy *p = NULL, *q = NULL;
	for (size_t i = 0; i < 3; i++)
		s[i] = (struct ward_source_text){
			kinds[i], "f", ward_buf_str(&t->text[i]), t->text[i].len};
	if (ward_policy_compile(s, 1, &p, NULL) < 0 || ward_policy_compile(s, 3, &q, NULL) < 0) {
		ward_policy_unref(p);
		return;
	}
	const char *nl = memchr(rest, '\n', n);
	size_t n_a = nl ? (size_t)(nl - rest) : n;
	const char *b = nl ? nl + 1 : rest;
	size_t n_b = nl ? n - n_a - 1 : n;
	fuzz_insist(!(rights(q, rest, n_a) & ~rights(p, rest, n_a)));
	fuzz_insist(!(rights(q, b, n_b) & ~rights(p, b, n_b)));
	facts(p, q, rest, n_a);
	facts(p, q, b, n_b);
	passages(q, rest, n_a);
	staged(q, rest, n_a);
	move(q, rest, n_a, b, n_b, 0);
	move(q, rest, n_a, b, n_b, WARD_REQUEST_STAGED);
	ward_policy_unref(p);
	ward_policy_unref(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct texts t = {0};
	const char *p = (const char *)data, *end = p + size;
	if (size > TEXT_MAX)
		return 0;
	for (size_t i = 0; i < 3; i++)
		ward_buf_puts(&t.text[i], "[policy]\nversion = 1\n");
	while (p < end && *p != '\n') {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end;
		if (stop - p > 1)
			add_rule(&t, p, (size_t)(stop - p));
		p = nl ? nl + 1 : end;
	}
	if (p < end)
		decide(&t, p + 1, (size_t)(end - p - 1));
	for (size_t i = 0; i < 3; i++)
		ward_buf_clear(&t.text[i]);
	return 0;
}
