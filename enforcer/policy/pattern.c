/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a pattern into components. */
#include "enforcer/policy/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/policy/policy.h"

struct parser {
	struct ward_pattern *p;
	const char *s;
	bool fold;
	struct ward_err *err;
};

static bool is_alpha(uint8_t b)
{
	return (b | 0x20) >= 'a' && (b | 0x20) <= 'z';
}

static bool is_digit(uint8_t b)
{
	return b >= '0' && b <= '9';
}

static void set_add(struct ward_byte_set *s, uint8_t b)
{
	s->bits[b >> 6] |= UINT64_C(1) << (b & 63);
}

static void emit(struct parser *ps, struct ward_component *c, uint8_t kind, uint8_t byte)
{
	struct ward_pattern *p = ps->p;
	struct ward_glob_elem e = {.kind = kind, .byte = byte};
	if (kind == WARD_GLOB_BYTE && ps->fold && is_alpha(byte)) {
		struct ward_byte_set *s = &p->sets[p->n_sets];
		memset(s, 0, sizeof(*s));
		set_add(s, byte | 0x20);
		set_add(s, byte & (uint8_t)~0x20);
		e.kind = WARD_GLOB_SET;
		e.set = (uint32_t)p->n_sets++;
	}
	if (e.kind != WARD_GLOB_BYTE)
		c->literal = false;
	/* "**" within a name was refused: stars are never doubled */
	p->elems[p->n_elems++] = e;
	c->n++;
}

/* After a backslash. Letters and digits are kept for meanings to come. */
static int escaped(struct parser *ps, uint8_t *ret)
{
	uint8_t b = (uint8_t)*ps->s;
	if (!b)
		return ward_err_set(ps->err, -EINVAL,
			"the pattern ends in a backslash (a blank at the end of a name is [ ])");
	if (b == '/')
		return ward_err_set(
			ps->err, -EINVAL, "a backslash before '/': no name contains a '/'");
	if (is_alpha(b) || is_digit(b))
		return ward_err_set(ps->err, -EINVAL,
			"'\\%c' means nothing: write a backslash only before punctuation ('\\\\' is a backslash)",
			b);
	ps->s++;
	*ret = b;
	return 0;
}

static int set_byte(struct parser *ps, uint8_t *ret)
{
	uint8_t b = (uint8_t)*ps->s;
	if (!b || b == '/')
		return ward_err_set(ps->err, -EINVAL,
			"'[' without a ']' in the same name (for the character itself write \\[)");
	ps->s++;
	if (b == '\\')
		return escaped(ps, ret);
	if (b == '[' && (*ps->s == ':' || *ps->s == '.' || *ps->s == '='))
		return ward_err_set(ps->err, -EINVAL,
			"named classes such as [[:alpha:]] do not exist here: write [a-z]");
	*ret = b;
	return 0;
}

/* After '['. */
static int set(struct parser *ps, struct ward_component *c)
{
	struct ward_byte_set s = {0};
	bool negated = *ps->s == '!';
	if (*ps->s == '^')
		return ward_err_set(ps->err, -EINVAL, "[^…]: write [!…]");
	if (negated)
		ps->s++;
	for (bool first = true; first || *ps->s != ']'; first = false) {
		uint8_t lo, hi;
		int r = set_byte(ps, &lo);
		if (r < 0)
			return r;
		hi = lo;
		if (ps->s[0] == '-' && ps->s[1] && ps->s[1] != ']') {
			ps->s++;
			r = set_byte(ps, &hi);
			if (r < 0)
				return r;
		}
		if (hi < lo)
			return ward_err_set(
				ps->err, -EINVAL, "the range %c-%c runs backwards", lo, hi);
		for (unsigned b = lo; b <= hi; b++) {
			set_add(&s, (uint8_t)b);
			if (ps->fold && is_alpha((uint8_t)b)) {
				set_add(&s, (uint8_t)(b ^ 0x20));
			}
		}
	}
	ps->s++;
	for (int i = 0; negated && i < 4; i++)
		s.bits[i] = ~s.bits[i];
	ps->p->sets[ps->p->n_sets] = s;
	ps->p->elems[ps->p->n_elems++] =
		(struct ward_glob_elem){.kind = WARD_GLOB_SET, .set = (uint32_t)ps->p->n_sets++};
	c->n++;
	c->literal = false;
	return 0;
}

/* One byte of a name that means something. */
static int special(struct parser *ps, struct ward_component *c, uint8_t b)
{
	switch (b) {
	case '*':
		if (*ps->s == '*')
			return ward_err_set(ps->err, -EINVAL,
				"'**' stands for whole names: write **/*.c, or one '*' within a name");
		emit(ps, c, WARD_GLOB_STAR, 0);
		return 0;
	case '?':
		emit(ps, c, WARD_GLOB_ANY, 0);
		return 0;
	case '[':
		return set(ps, c);
	case '{':
		return ward_err_set(ps->err, -EINVAL,
			"braces do not mean alternatives here: write one rule for each (for the character write \\{)");
	case '\\': {
		int r = escaped(ps, &b);
		if (r < 0)
			return r;
		emit(ps, c, WARD_GLOB_BYTE, b);
		return 0;
	}
	default:
		emit(ps, c, WARD_GLOB_BYTE, b);
		return 0;
	}
}

/* One name, up to '/' or the end. */
static int component(struct parser *ps, bool loop)
{
	struct ward_pattern *p = ps->p;
	if (p->n == WARD_PATTERN_COMPONENTS_MAX)
		return ward_err_set(ps->err, -EINVAL, "more than 128 names in a pattern");
	struct ward_component *c = &p->components[p->n];
	*c = (struct ward_component){.loop = loop, .literal = true, .first = p->n_elems};
	const char *from = ps->s;
	while (*ps->s && *ps->s != '/') {
		uint8_t b = (uint8_t)*ps->s++;
		int r = special(ps, c, b);
		if (r < 0)
			return r;
	}
	size_t len = (size_t)(ps->s - from);
	if (len == 0)
		return ward_err_set(ps->err, -EINVAL, "an empty name ('//')");
	if ((len == 1 && from[0] == '.') || (len == 2 && memcmp(from, "..", 2) == 0))
		return ward_err_set(ps->err, -EINVAL,
			"'%.*s' is not a name in a path: patterns are written from the root "
			"(/workspace/x) or match at every depth (x)",
			(int)len, from);
	size_t bytes = 0;
	for (size_t i = 0; i < c->n; i++)
		bytes += p->elems[c->first + i].kind != WARD_GLOB_STAR;
	if (bytes > WARD_NAME_MAX)
		return ward_err_set(ps->err, -EINVAL, "a name has more than 255 bytes");
	p->n++;
	return 0;
}

static int parse(struct parser *ps)
{
	if (ps->s[0] == '!')
		return ward_err_set(ps->err, -EINVAL,
			"'!' does not negate here: the last rule that matches decides (for the character write \\!)");
	if (ps->s[0] == '~' && (ps->s[1] == '/' || !ps->s[1]))
		return ward_err_set(ps->err, -EINVAL,
			"patterns name paths inside, and '~' is a path of the host (for the character write \\~)");
	bool loop = *ps->s != '/';
	if (!loop)
		ps->s++;
	bool beneath = false;
	while (*ps->s) {
		beneath = ps->s[0] == '*' && ps->s[1] == '*' && (!ps->s[2] || ps->s[2] == '/');
		if (beneath) {
			ps->s += 2;
			loop = true;
		} else {
			int r = component(ps, loop);
			if (r < 0)
				return r;
			loop = false;
		}
		if (*ps->s == '/')
			ps->s++;
	}
	if (beneath) {
		struct ward_pattern *p = ps->p;
		if (p->n == WARD_PATTERN_COMPONENTS_MAX)
			return ward_err_set(ps->err, -EINVAL, "more than 128 names in a pattern");
		p->components[p->n++] = (struct ward_component){.first = p->n_elems, .n = 1};
		p->elems[p->n_elems++] = (struct ward_glob_elem){.kind = WARD_GLOB_STAR};
	}
	return 0;
}

int ward_pattern_parse(const char *text, bool fold, struct ward_pattern *ret, struct ward_err *err)
{
	/* a byte of text makes at most one element, set or component */
	size_t n = strlen(text) + 1;
	struct ward_pattern p = {0};
	struct parser ps = {.p = &p, .s = text, .fold = fold, .err = err};
	if (n == 1)
		return ward_err_set(err, -EINVAL, "an empty pattern");
	p.components = calloc(n, sizeof(*p.components));
	p.elems = calloc(n, sizeof(*p.elems));
	p.sets = calloc(n, sizeof(*p.sets));
	int r = -ENOMEM;
	if (p.components && p.elems && p.sets)
		r = parse(&ps);
	else
		ward_err_set(err, -ENOMEM, "out of memory");
	if (r < 0) {
		ward_pattern_clear(&p);
		return r;
	}
	*ret = p;
	return 0;
}

void ward_pattern_clear(struct ward_pattern *p)
{
	free(p->components);
	free(p->elems);
	free(p->sets);
	*p = (struct ward_pattern){0};
}

void ward_pattern_quote(struct ward_buf *b, const char *path, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)path[i];
		bool first = i == 0 || path[i - 1] == '/', last = i + 1 == len;
		if (c < 0x20 || c == 0x7f)
			ward_buf_putc(b, '?');
		else if (c == ' ' && (i == 0 || last || path[i + 1] == ';'))
			/* a comment begins at " ;", and blanks at both ends of a value are cut */
			ward_buf_puts(b, "[ ]");
		else if (strchr("*?[{\\", c) || (first && strchr("!~;#", c)))
			ward_buf_printf(b, "\\%c", c);
		else
			ward_buf_putc(b, (char)c);
	}
}

bool ward_component_matches(const struct ward_pattern *p, const struct ward_component *c,
	const uint8_t *name, size_t len)
{
	const struct ward_glob_elem *e = p->elems + c->first;
	const size_t n = c->n;
	size_t i = 0, at = 0, star = SIZE_MAX, back = 0;
	while (at < len) {
		if (i < n && e[i].kind == WARD_GLOB_STAR) {
			star = i++;
			back = at;
			continue;
		}
		if (i < n && (e[i].kind == WARD_GLOB_ANY ||
				     (e[i].kind == WARD_GLOB_BYTE && e[i].byte == name[at]) ||
				     (e[i].kind == WARD_GLOB_SET &&
					     ward_byte_set_has(&p->sets[e[i].set], name[at])))) {
			i++;
			at++;
			continue;
		}
		if (star == SIZE_MAX)
			return false;
		i = star + 1;
		at = ++back;
	}
	while (i < n && e[i].kind == WARD_GLOB_STAR)
		i++;
	return i == n;
}

bool ward_pattern_covers_path(const struct ward_pattern *p, const char *path, size_t len)
{
	size_t at = 0, i = 0, back = 0, loop = SIZE_MAX;
	while (i < p->n) {
		while (at < len && path[at] == '/')
			at++;
		if (at == len)
			return false;
		const char *slash = memchr(path + at, '/', len - at);
		const size_t end = slash ? (size_t)(slash - path) : len;
		/* The last "any names before" can always take more: no earlier one has to. */
		if (p->components[i].loop && loop != i) {
			loop = i;
			back = at;
		}
		if (ward_component_matches(
			    p, &p->components[i], (const uint8_t *)path + at, end - at)) {
			i++;
			at = end;
			continue;
		}
		if (loop == SIZE_MAX)
			return false;
		slash = memchr(path + back, '/', len - back);
		if (!slash)
			return false;
		back = (size_t)(slash - path) + 1;
		at = back;
		i = loop;
	}
	return true;
}
