/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a list to classic BPF. libseccomp gives the numbers of the names; the program is made here,
 * because the list is ordered ("the first line that matches decides") and libseccomp cannot say
 * "else EPERM" after a condition: what no rule matches gets the default of the whole filter.
 *
 * The program: architecture, x32 bit, then a binary search over ranges of numbers with one answer;
 * a leaf is one RET, or the lines of one system call in their order.
 */
#include "enforcer/sandbox/filter.h"

#include <errno.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"

#define CONDITIONS_MAX 4
#define LINE_MAX_BYTES 512
#define RULES_MAX 2048
/* System call numbers that were given out since Linux 5.0 are the same on every architecture. */
#define UNIFIED_NUMBERS 424
#define NUMBER_MAX 1023
#define DEPTH_MAX 4
#define X32_BIT 0x40000000U

struct condition {
	unsigned arg; /* 0..5 */
	bool high;    /* its high 32 bits, not the low ones */
	uint32_t mask, value;
	bool equal;
};

struct rule {
	uint32_t nr;
	const char *list; /* whose line it is */
	unsigned line;
	unsigned depth;	 /* 0: the list itself, 1: what it includes, and so on */
	uint32_t action; /* SECCOMP_RET_… */
	struct condition conditions[CONDITIONS_MAX];
	size_t n_conditions;
};

struct list {
	const char *name;
	unsigned line;
	unsigned depth;
	struct rule *rules;
	size_t n;
};

static void list_clear(struct list *l)
{
	free(l->rules);
}

/* --- reading --- */

static int parse_errno(const char *s, uint32_t *ret)
{
	static const struct {
		const char *name;
		uint32_t code;
	} names[] = {{"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"EACCES", EACCES}, {"EINVAL", EINVAL},
		{"ENOTTY", ENOTTY}, {"ENOMEM", ENOMEM}, {"EAFNOSUPPORT", EAFNOSUPPORT},
		{"EOPNOTSUPP", EOPNOTSUPP}, {"EPROTONOSUPPORT", EPROTONOSUPPORT}};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(s, names[i].name) == 0) {
			*ret = SECCOMP_RET_ERRNO | names[i].code;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_action(const char *s, uint32_t *ret)
{
	if (strcmp(s, "allow") == 0)
		*ret = SECCOMP_RET_ALLOW;
	else if (strcmp(s, "deny") == 0)
		*ret = SECCOMP_RET_ERRNO | EPERM;
	else if (strcmp(s, "skip") == 0)
		*ret = SECCOMP_RET_ERRNO; /* of 0: the call answers 0 and is not made */
	else if (strcmp(s, "kill") == 0)
		*ret = SECCOMP_RET_KILL_PROCESS;
	else if (strcmp(s, "once") == 0)
		/* pid 1 answers until the command runs; without a listener ENOSYS (seccomp(2)). */
		*ret = SECCOMP_RET_USER_NOTIF;
	else if (strncmp(s, "deny:", 5) == 0)
		return parse_errno(s + 5, ret);
	else
		return -EINVAL;
	return 0;
}

static int parse_number(const char *s, char **end, uint32_t *ret)
{
	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	unsigned long long v = strtoull(s, end, 0);
	if (errno || v > UINT32_MAX)
		return -EINVAL;
	*ret = (uint32_t)v;
	return 0;
}

/* aN==V, aN!=V, aN&M==V, aN&M!=V; aN==NULL, which is two. Returns how many. */
static int parse_condition(const char *s, struct condition ret[2])
{
	struct condition c = {.mask = UINT32_MAX, .equal = true};
	char *end = NULL;
	if (s[0] != 'a' || s[1] < '0' || s[1] > '5')
		return -EINVAL;
	c.arg = (unsigned)(s[1] - '0');
	s += 2;
	if (strcmp(s, "==NULL") == 0) {
		ret[0] = ret[1] = c;
		ret[1].high = true;
		return 2;
	}
	if (*s == '&') {
		if (parse_number(s + 1, &end, &c.mask) < 0)
			return -EINVAL;
		s = end;
	}
	if ((s[0] != '=' && s[0] != '!') || s[1] != '=')
		return -EINVAL;
	c.equal = s[0] == '=';
	if (parse_number(s + 2, &end, &c.value) < 0 || *end != '\0' || c.value & ~c.mask)
		return -EINVAL;
	ret[0] = c;
	return 1;
}

/* Returns 1 for a name that this architecture does not have (the line is then left out). */
static int parse_name(char *name, uint32_t *ret)
{
	char *number = strchr(name, '=');
	if (number) {
		char *end = NULL;
		*number++ = '\0';
		if (parse_number(number, &end, ret) < 0 || *end != '\0' || *ret < UNIFIED_NUMBERS ||
			*ret > NUMBER_MAX)
			return -EINVAL;
	}
	int nr = seccomp_syscall_resolve_name(name);
	if (number && nr != __NR_SCMP_ERROR && nr != (int)*ret)
		return -EINVAL;
	if (number)
		return 0;
	if (nr == __NR_SCMP_ERROR || nr > NUMBER_MAX)
		return -EINVAL;
	if (nr < 0)
		return 1;
	*ret = (uint32_t)nr;
	return 0;
}

static int parse_list(struct list *l, const char *text, size_t len, struct ward_err *err);

/* The lines of a shipped list, in front of all of this one. */
static int include(struct list *l, const char *name, struct ward_err *err)
{
	struct list inner = *l;
	for (const struct ward_embedded *e = ward_embedded_seccomp; name && e->name; e++) {
		if (strcmp(e->name, name) != 0 || l->n > 0 || l->depth == DEPTH_MAX)
			continue;
		inner.name = e->name;
		inner.line = 0;
		inner.depth++;
		int r = parse_list(&inner, e->data, e->len, err);
		l->n = inner.n;
		return r;
	}
	return ward_err_set(err, -EINVAL,
		"%s:%u: include needs the name of a shipped list, and must be the first line",
		l->name, l->line);
}

static int parse_line(struct list *l, char *line, struct ward_err *err)
{
	char *save = NULL;
	char *hash = strchr(line, '#');
	struct rule r = {.list = l->name, .line = l->line, .depth = l->depth};
	if (hash)
		*hash = '\0';
	char *name = strtok_r(line, " \t", &save);
	if (!name)
		return 0;
	char *action = strtok_r(NULL, " \t", &save);
	if (strcmp(name, "include") == 0)
		return include(l, action, err);
	int code = parse_name(name, &r.nr);
	if (code < 0)
		return ward_err_set(
			err, -EINVAL, "%s:%u: unknown system call %s", l->name, l->line, name);
	bool absent = code == 1;
	if (!action || parse_action(action, &r.action) < 0)
		return ward_err_set(err, -EINVAL,
			"%s:%u: %s: the action must be allow, deny, deny:ERRNO, skip, kill or once",
			l->name, l->line, name);
	for (char *s = strtok_r(NULL, " \t", &save); s; s = strtok_r(NULL, " \t", &save)) {
		struct condition c[2];
		int n = parse_condition(s, c);
		if (n < 0 || r.n_conditions + (size_t)n > CONDITIONS_MAX)
			return ward_err_set(err, -EINVAL,
				"%s:%u: bad condition %s: aN==V, aN!=V, aN&MASK==V, aN&MASK!=V or "
				"aN==NULL, which counts twice (at most %d)",
				l->name, l->line, s, CONDITIONS_MAX);
		for (int i = 0; i < n; i++)
			r.conditions[r.n_conditions++] = c[i];
	}
	if (absent)
		return 0;
	if (l->n == RULES_MAX)
		return ward_err_set(err, -E2BIG, "%s:%u: too many lines", l->name, l->line);
	l->rules[l->n++] = r;
	return 0;
}

static int parse_list(struct list *l, const char *text, size_t len, struct ward_err *err)
{
	const char *end = text + len;
	while (text < end) {
		char line[LINE_MAX_BYTES];
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = stop ? (size_t)(stop - text) : (size_t)(end - text);
		l->line++;
		if (n >= sizeof(line) || memchr(text, '\0', n))
			return ward_err_set(err, -EINVAL,
				"%s:%u: the line is too long, or is not text", l->name, l->line);
		memcpy(line, text, n);
		line[n] = '\0';
		int r = parse_line(l, line, err);
		if (r < 0)
			return r;
		text += n + (stop ? 1 : 0);
	}
	return 0;
}

static int by_number(const void *left, const void *right)
{
	const struct rule *a = left;
	const struct rule *b = right;
	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Sorted: of each system call the lines of the outermost list that names it. */
static void keep_outermost(struct list *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++)
		if (n == 0 || l->rules[n - 1].nr != l->rules[i].nr ||
			l->rules[n - 1].depth == l->rules[i].depth)
			l->rules[n++] = l->rules[i];
	l->n = n;
}

/* Each system call ends with exactly one line without conditions: no silent default, no line that
 * can never decide. */
static int check_list(const struct list *l, struct ward_err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct rule *r = &l->rules[i];
		bool last = i + 1 == l->n || l->rules[i + 1].nr != r->nr;
		if (last && r->n_conditions > 0)
			return ward_err_set(err, -EINVAL,
				"%s:%u: the last line of a system call must have no condition",
				r->list, r->line);
		if (!last && r->n_conditions == 0)
			return ward_err_set(err, -EINVAL,
				"%s:%u: line %u of the same system call never decides", r->list,
				r->line, l->rules[i + 1].line);
	}
	return 0;
}

/* --- writing --- */

/* Numbers from `first` up to the next leaf's first: one answer. */
struct leaf {
	uint32_t first;
	uint32_t action;	  /* where n_rules is 0 */
	const struct rule *rules; /* the lines of one system call */
	size_t n_rules;
};

static void emit(struct ward_buf *b, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
	struct sock_filter f = {.code = code, .jt = jt, .jf = jf, .k = k};
	ward_buf_add(b, &f, sizeof(f));
}

static void emit_ret(struct ward_buf *b, uint32_t action)
{
	emit(b, BPF_RET | BPF_K, 0, 0, action);
}

/* One half of argument n (seccomp_data is in host byte order). */
static uint32_t arg_offset(unsigned n, bool high)
{
	uint32_t at = (uint32_t)(offsetof(struct seccomp_data, args) + n * sizeof(uint64_t));
	return (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) == high ? at : at + 4;
}

static void emit_rule(struct ward_buf *b, const struct rule *r)
{
	/* Instructions still to come after each comparison, up to the next line's first. */
	size_t left = 1;
	for (size_t i = 0; i < r->n_conditions; i++)
		left += 2 + (r->conditions[i].mask != UINT32_MAX);
	for (size_t i = 0; i < r->n_conditions; i++) {
		const struct condition *c = &r->conditions[i];
		bool masked = c->mask != UINT32_MAX;
		left -= 2 + masked;
		emit(b, BPF_LD | BPF_W | BPF_ABS, 0, 0, arg_offset(c->arg, c->high));
		if (masked)
			emit(b, BPF_ALU | BPF_AND | BPF_K, 0, 0, c->mask);
		/* At most 3 * CONDITIONS_MAX + 1: fits the eight bits of a jump. */
		emit(b, BPF_JMP | BPF_JEQ | BPF_K, c->equal ? 0 : (uint8_t)left,
			c->equal ? (uint8_t)left : 0, c->value);
	}
	emit_ret(b, r->action);
}

static void emit_leaf(struct ward_buf *b, const struct leaf *l)
{
	if (l->n_rules == 0)
		emit_ret(b, l->action);
	for (size_t i = 0; i < l->n_rules; i++)
		emit_rule(b, &l->rules[i]);
}

/* The number stands in the accumulator. Depth: log2 of the leaves. */
static void emit_tree(struct ward_buf *b, const struct leaf *leaves, size_t n)
{
	if (n == 1) {
		emit_leaf(b, leaves);
		return;
	}
	size_t half = n / 2;
	ward_cleanup(ward_buf_clear) struct ward_buf low = WARD_BUF_INIT;
	emit_tree(&low, leaves, half);
	uint32_t skip = (uint32_t)(low.len / sizeof(struct sock_filter));
	if (skip <= UINT8_MAX) {
		emit(b, BPF_JMP | BPF_JGE | BPF_K, (uint8_t)skip, 0, leaves[half].first);
	} else {
		/* Conditional jumps reach 255 instructions, BPF_JA any. */
		emit(b, BPF_JMP | BPF_JGE | BPF_K, 0, 1, leaves[half].first);
		emit(b, BPF_JMP | BPF_JA, 0, 0, skip);
	}
	ward_buf_add(b, low.data, low.len);
	if (ward_buf_error(&low))
		b->error = ward_buf_error(&low);
	emit_tree(b, leaves + half, n - half);
}

static void add_leaf(struct leaf *leaves, size_t *n, struct leaf l)
{
	/* The same answer goes on. */
	if (*n > 0 && l.n_rules == 0 && leaves[*n - 1].n_rules == 0 &&
		leaves[*n - 1].action == l.action)
		return;
	leaves[(*n)++] = l;
}

/* What the list does not name, newer system calls among it, is ENOSYS: programs then fall back. */
static size_t make_leaves(const struct list *l, struct leaf *leaves)
{
	const uint32_t unknown = SECCOMP_RET_ERRNO | ENOSYS;
	size_t n = 0;
	uint32_t next = 0;
	for (size_t i = 0; i < l->n;) {
		const struct rule *r = &l->rules[i];
		struct leaf leaf = {.first = r->nr, .action = r->action};
		size_t lines = 1;
		while (i + lines < l->n && l->rules[i + lines].nr == r->nr)
			lines++;
		if (lines > 1) {
			leaf.rules = r;
			leaf.n_rules = lines;
		}
		if (r->nr > next)
			add_leaf(leaves, &n, (struct leaf){.first = next, .action = unknown});
		add_leaf(leaves, &n, leaf);
		next = r->nr + 1;
		i += lines;
	}
	add_leaf(leaves, &n, (struct leaf){.first = next, .action = unknown});
	return n;
}

static int emit_program(const struct list *l, struct ward_buf *ret_bpf)
{
	uint32_t arch = seccomp_arch_native();
	ward_cleanup_free struct leaf *leaves = calloc(2 * l->n + 2, sizeof(*leaves));
	if (!leaves)
		return -ENOMEM;
	size_t n = make_leaves(l, leaves);
	emit(ret_bpf, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));
	emit(ret_bpf, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, arch);
	emit_ret(ret_bpf, SECCOMP_RET_KILL_PROCESS);
	emit(ret_bpf, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
	if (arch == AUDIT_ARCH_X86_64) {
		/* x32 shares the architecture, with this bit in the number. */
		emit(ret_bpf, BPF_JMP | BPF_JSET | BPF_K, 0, 1, X32_BIT);
		emit_ret(ret_bpf, SECCOMP_RET_KILL_PROCESS);
	}
	emit_tree(ret_bpf, leaves, n);
	if (ret_bpf->len / sizeof(struct sock_filter) > BPF_MAXINSNS)
		return -E2BIG;
	return ward_buf_error(ret_bpf);
}

int ward_seccomp_compile(const char *name, const char *text, size_t len, struct ward_buf *ret_bpf,
	struct ward_err *err)
{
	ward_cleanup(list_clear) struct list l = {.name = name};
	l.rules = calloc(RULES_MAX, sizeof(*l.rules));
	if (!l.rules)
		return ward_err_sys(err, -ENOMEM, "%s", name);
	int r = parse_list(&l, text, len, err);
	if (r < 0)
		return r;
	qsort(l.rules, l.n, sizeof(*l.rules), by_number);
	keep_outermost(&l);
	r = check_list(&l, err);
	if (r < 0)
		return r;
	r = emit_program(&l, ret_bpf);
	return r < 0 ? ward_err_sys(err, r, "%s: make the filter", name) : 0;
}
