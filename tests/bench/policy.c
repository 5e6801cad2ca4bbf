/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_policy: what a policy costs. For 10, 1,000 and 10,000 rules prints "compile-N SECONDS" and
 * "step-N SECONDS": the time to compile them, and that of one warm step to a child (the best of
 * several passes: what interrupts a pass is not the automaton's). Then "decide-N SECONDS" and
 * "refuse-N SECONDS", for N live grants: one decision that the rules allow, and one that they
 * refuse and no grant is near, as the filesystem asks; and "granted-N": one that a grant allows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/policy/grants.h"
#include "enforcer/policy/policy.h"

#define NAMES 256
#define PASSES 9
#define STEPS 400000
/* Short ones, so that on a busy host some are not interrupted. */
#define DECISION_PASSES 600
#define DECISIONS 4000

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* As people write them: most name a path, some a name at any depth, few have a wildcard. */
static void make_text(unsigned rules, struct ward_buf *b)
{
	static const char *const verbs[] = {"read", "deny", "write", "append"};
	ward_buf_puts(b, "[policy]\nversion = 1\n[files]\nwrite = /workspace\n");
	for (unsigned i = 1; i < rules; i++) {
		const char *verb = verbs[i % 4];
		if (i % 100 == 0)
			ward_buf_printf(b, "%s = part%u-*.log\n", verb, i);
		else if (i % 10 == 0)
			ward_buf_printf(b, "%s = name%u.txt\n", verb, i);
		else
			ward_buf_printf(b, "%s = /workspace/dir%u/sub%u/file%u\n", verb, i / 100,
				i / 10, i);
	}
}

static int steps(const struct ward_policy *p, double *ret)
{
	const struct ward_state *top = NULL, *s = NULL;
	static const char path[] = "/workspace/dir0";
	char names[NAMES][16];
	for (unsigned i = 0; i < NAMES; i++)
		snprintf(names[i], sizeof(names[i]), i % 4 ? "file-%u.c" : "sub%u", i);
	int r = ward_policy_walk(p, path, sizeof(path) - 1, &top);
	if (r < 0)
		return r;
	double best = 1;
	for (unsigned pass = 0; r == 0 && pass < PASSES; pass++) {
		double began = now();
		for (unsigned i = 0; r == 0 && i < STEPS; i++) {
			const char *name = names[i % NAMES];
			r = ward_policy_step(p, top, name, strlen(name), &s);
			if (r == 0)
				ward_policy_state_put(p, s);
		}
		double took = (now() - began) / STEPS;
		if (took < best)
			best = took;
	}
	ward_policy_state_put(p, top);
	*ret = best;
	return r;
}

static int measure(unsigned rules)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	make_text(rules, &text);
	const struct ward_source_text source = {.kind = WARD_SOURCE_BASE,
		.file = "bench",
		.text = ward_buf_str(&text),
		.len = text.len};
	struct ward_policy *p = NULL;
	struct ward_err err = WARD_ERR_INIT;
	double began = now(), step = 0;
	int r = ward_policy_compile(&source, 1, &p, &err);
	double took = now() - began;
	if (r < 0) {
		fprintf(stderr, "bench_policy: %s\n", err.text);
		return r;
	}
	r = steps(p, &step);
	ward_policy_unref(p);
	printf("compile-%u %.9f\nstep-%u %.12f\n", rules, took, rules, step);
	return r;
}

static int give(struct ward_grants *s, unsigned n)
{
	char pattern[64];
	struct ward_grant g = {
		.rights = WARD_RIGHTS_ALL, .pattern = pattern, .issuer = (char *)"bench"};
	int r = 0;
	for (unsigned i = 0; r == 0 && i < n; i++) {
		/* Many beside what is asked for, and many that begin as it does. */
		snprintf(pattern, sizeof(pattern),
			i % 2 ? "/workspace/granted%u/**" : "/workspace/src/module%u/docs/**", i);
		r = ward_grants_add(s, &g, NULL, NULL);
	}
	return r;
}

/* As the filesystem asks: for grants only where the rules refuse. */
static enum ward_verdict decide(const struct ward_policy *p, struct ward_grants *s,
	struct ward_request *req, const char *path, size_t len)
{
	struct ward_granted granted;
	struct ward_decision d = ward_policy_decide(p, req, NULL);
	if (d.verdict == WARD_VERDICT_ALLOW || !ward_grants_near(s, path, len) ||
		ward_grants_match(s, path, len, 1, ward_clock_boot_ns(), &granted) < 0)
		return d.verdict;
	req->grants = &granted;
	d = ward_policy_decide(p, req, NULL);
	req->grants = NULL;
	return d.verdict;
}

static int decisions(const struct ward_policy *p, unsigned n)
{
	static const struct {
		const char *name, *path;
		uint32_t rights;
		bool needs_grant;
	} v[] = {{"decide", "/workspace/src/main/file.c", WARD_RIGHT_READ, false},
		{"refuse", "/workspace/src/main/file.c", WARD_RIGHT_WRITE, false},
		{"granted", "/workspace/granted7/file.c", WARD_RIGHT_WRITE, true}};
	struct ward_grants *s = NULL;
	int r = ward_grants_new(&s);
	if (r == 0)
		r = give(s, n);
	for (size_t k = 0; r == 0 && k < sizeof(v) / sizeof(v[0]); k++) {
		struct ward_request req = {.action = WARD_ACTION_ACCESS, .rights = v[k].rights};
		double best = 1;
		const size_t len = strlen(v[k].path);
		unsigned allowed = 0;
		if (v[k].needs_grant && n == 0)
			continue;
		r = ward_policy_walk(p, v[k].path, len, &req.state);
		for (unsigned pass = 0; r == 0 && pass < DECISION_PASSES; pass++) {
			const double began = now();
			for (unsigned i = 0; i < DECISIONS; i++)
				allowed += decide(p, s, &req, v[k].path, len) == WARD_VERDICT_ALLOW;
			const double took = (now() - began) / DECISIONS;
			best = took < best ? took : best;
		}
		ward_policy_state_put(p, req.state);
		if (r == 0 && (allowed > 0) == (k == 1))
			r = -1; /* something else was measured */
		if (r == 0)
			printf("%s-%u %.12f\n", v[k].name, n, best);
	}
	ward_grants_free(s);
	return r;
}

static int measure_decisions(void)
{
	static const char text[] = "[policy]\nversion = 1\n[files]\nread = /workspace\n";
	const struct ward_source_text source = {
		.kind = WARD_SOURCE_BASE, .file = "bench", .text = text, .len = sizeof(text) - 1};
	struct ward_policy *p = NULL;
	int r = ward_policy_compile(&source, 1, &p, NULL);
	if (r == 0)
		r = decisions(p, 0);
	if (r == 0)
		r = decisions(p, 1000);
	ward_policy_unref(p);
	return r;
}

int main(void)
{
	static const unsigned sizes[] = {10, 1000, 10000};
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (measure(sizes[i]) < 0)
			return 1;
	return measure_decisions() < 0;
}
