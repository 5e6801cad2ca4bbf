/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a module's sections, whose bytes are hostile, as far as wardfs needs to. */
#include "enforcer/modes/wasm_module.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

/* More of each than programs have. */
#define ITEMS_MAX 200000
#define TABLES_MAX 16
#define PAGES_MAX 65535

static const char *const functions[] = {
#define WARD_WASI(name, parameters) #name,
#include "enforcer/wasm/host/wasi.def"
#undef WARD_WASI
	"proc_exit"};

/* Bytes before the first section. */
#define HEAD 8U

enum section {
	SECTION_CUSTOM = 0,
	SECTION_IMPORT = 2,
	SECTION_TABLE = 4,
	SECTION_MEMORY = 5,
	SECTION_EXPORT = 7
};
enum external { EXTERNAL_FUNCTION = 0, EXTERNAL_TABLE, EXTERNAL_MEMORY, EXTERNAL_GLOBAL };

/* What is left to read. An error sticks. */
struct reader {
	const uint8_t *p, *end;
	bool bad;
};

static uint8_t take_byte(struct reader *r)
{
	if (r->bad || r->p == r->end) {
		r->bad = true;
		return 0;
	}
	return *r->p++;
}

/* LEB128 of 32 bits: five bytes at most. */
static uint32_t take_number(struct reader *r)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 35; shift += 7) {
		uint8_t b = take_byte(r);
		v |= (uint64_t)(b & 127) << shift;
		if (!(b & 128)) {
			r->bad = r->bad || v > UINT32_MAX;
			return (uint32_t)v;
		}
	}
	r->bad = true;
	return 0;
}

static uint32_t take_count(struct reader *r)
{
	uint32_t n = take_number(r);
	r->bad = r->bad || n > ITEMS_MAX;
	return r->bad ? 0 : n;
}

struct name {
	const char *s;
	uint32_t len;
};

static struct name take_name(struct reader *r)
{
	struct name n = {"", take_number(r)};
	if (r->bad || n.len > (size_t)(r->end - r->p)) {
		r->bad = true;
		return (struct name){"", 0};
	}
	n.s = (const char *)r->p;
	r->p += n.len;
	return n;
}

static bool is(struct name n, const char *s)
{
	return strlen(s) == n.len && memcmp(n.s, s, n.len) == 0;
}

static bool is_function(struct name n)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (is(n, functions[i]))
			return true;
	return false;
}

/* At most this much of a name is shown. */
static int shown(struct name n)
{
	return n.len < 64 ? (int)n.len : 64;
}

static int look_at_imports(struct reader *r, struct ward_wasm_module *m, struct ward_err *err)
{
	static const char *const kinds[] = {"function", "table", "memory", "global"};
	uint32_t n = take_count(r);
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		struct name module = take_name(r), field = take_name(r);
		uint8_t kind = take_byte(r);
		if (r->bad)
			break;
		if (kind != EXTERNAL_FUNCTION || !is(module, "wasi_snapshot_preview1") ||
			!is_function(field))
			return ward_err_set(err, -EINVAL,
				"the module imports the %s %.*s.%.*s, which wardfs does not have: "
				"it runs programs of WASI preview 1, without sockets",
				kind < 4 ? kinds[kind] : "item", shown(module), module.s,
				shown(field), field.s);
		(void)take_number(r);
		m->imports = true;
	}
	return 0;
}

/* limits: with a maximum or without; shared and 64-bit memories are others. */
static uint32_t take_least(struct reader *r)
{
	uint8_t flags = take_byte(r);
	uint32_t least = take_number(r);
	if (flags == 1)
		(void)take_number(r);
	r->bad = r->bad || flags > 1;
	return least;
}

/* Of the next memory, whose flags are the first byte of its limits. */
static bool is_other_memory(const struct reader *r)
{
	return r->p != r->end && *r->p >= 2 && *r->p <= 7;
}

static int look_at_tables(struct reader *r, struct ward_err *err)
{
	uint32_t n = take_count(r);
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		(void)take_byte(r);
		if (take_least(r) > WARD_WASM_TABLE_MAX || n > TABLES_MAX)
			return ward_err_set(err, -EINVAL,
				"the module wants more or larger tables than wardfs gives: %d of "
				"%u entries",
				TABLES_MAX, WARD_WASM_TABLE_MAX);
	}
	return 0;
}

static int look_at_memories(struct reader *r, struct ward_err *err)
{
	uint32_t n = take_count(r);
	if (!r->bad && n == 1 && is_other_memory(r))
		return ward_err_set(err, -EINVAL,
			"the module wants a shared or 64-bit memory, which wardfs does not give");
	if (!r->bad && (n > 1 || (n == 1 && take_least(r) > PAGES_MAX)))
		return ward_err_set(err, -EINVAL,
			"the module wants more memory than wardfs gives: one of less than 4 GiB");
	return 0;
}

struct entries {
	bool memory, start, initialize;
};

/*
 * wasm2c writes a name into comments of its C as it stands. What it can hold is what identifiers of
 * compilers and linkers hold, and nothing that ends a comment or a line.
 */
#define NAME_LEN_MAX 512
static bool is_plain(struct name n)
{
	for (uint32_t i = 0; i < n.len; i++) {
		const char c = n.s[i];
		if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
			    c == '_' || c == '.' || c == '$' || c == '-'))
			return false;
	}
	return n.len <= NAME_LEN_MAX;
}

static int look_at_exports(struct reader *r, struct entries *ret, struct ward_err *err)
{
	uint32_t n = take_count(r);
	for (uint32_t i = 0; i < n && !r->bad; i++) {
		struct name name = take_name(r);
		uint8_t kind = take_byte(r);
		(void)take_number(r);
		if (!r->bad && !is_plain(name))
			return ward_err_set(err, -EINVAL,
				"the module exports a name that is longer than %d bytes or has other "
				"characters than A-Z a-z 0-9 _ . $ -",
				NAME_LEN_MAX);
		ret->memory |= kind == EXTERNAL_MEMORY && is(name, "memory");
		ret->start |= kind == EXTERNAL_FUNCTION && is(name, "_start");
		ret->initialize |= kind == EXTERNAL_FUNCTION && is(name, "_initialize");
	}
	return 0;
}

static int look_at_section(uint8_t id, struct reader *r, struct ward_wasm_module *m,
	struct entries *e, struct ward_err *err)
{
	int known = 0;
	switch (id) {
	case SECTION_IMPORT:
		known = look_at_imports(r, m, err);
		break;
	case SECTION_TABLE:
		known = look_at_tables(r, err);
		break;
	case SECTION_MEMORY:
		known = look_at_memories(r, err);
		break;
	case SECTION_EXPORT:
		known = look_at_exports(r, e, err);
		break;
	default:
		return 0;
	}
	if (known == 0 && (r->bad || r->p != r->end))
		return ward_err_set(err, -EINVAL, "the module is malformed in section %u", id);
	return known;
}

int ward_wasm_module_look(
	const void *data, size_t len, struct ward_wasm_module *ret, struct ward_err *err)
{
	static const uint8_t head[] = {0, 'a', 's', 'm', 1, 0, 0, 0};
	struct ward_wasm_module m = {false, false};
	struct entries e = {false, false, false};
	if (len < sizeof(head) || memcmp(data, head, 4) != 0)
		return ward_err_set(err, -EINVAL, "this is no WebAssembly");
	if (memcmp(data, head, sizeof(head)) != 0)
		return ward_err_set(err, -EINVAL, "this is no core module of WebAssembly 1");
	if (len > WARD_WASM_MODULE_MAX)
		return ward_err_set(err, -EINVAL, "the module has more than %zu MiB",
			WARD_WASM_MODULE_MAX >> 20);
	struct reader r = {
		(const uint8_t *)data + sizeof(head), (const uint8_t *)data + len, false};
	while (r.p != r.end) {
		uint8_t id = take_byte(&r);
		uint32_t size = take_number(&r);
		if (r.bad || size > (size_t)(r.end - r.p))
			return ward_err_set(
				err, -EINVAL, "the module is malformed: it ends in a section");
		struct reader section = {r.p, r.p + size, false};
		r.p += size;
		int known = look_at_section(id, &section, &m, &e, err);
		if (known < 0)
			return known;
	}
	if (!e.memory || (!e.start && !e.initialize))
		return ward_err_set(err, -EINVAL,
			"the module is no program of WASI: it exports no %s",
			e.memory ? "_start or _initialize" : "memory");
	m.reactor = !e.start;
	*ret = m;
	return 0;
}

int ward_wasm_module_bare(const void *data, size_t len, struct ward_buf *ret)
{
	struct reader r = {(const uint8_t *)data + HEAD, (const uint8_t *)data + len, false};
	ward_buf_add(ret, data, HEAD);
	while (!r.bad && r.p != r.end) {
		const uint8_t *from = r.p;
		uint8_t id = take_byte(&r);
		uint32_t size = take_number(&r);
		if (r.bad || size > (size_t)(r.end - r.p))
			return -EINVAL;
		r.p += size;
		if (id != SECTION_CUSTOM)
			ward_buf_add(ret, from, (size_t)(r.p - from));
	}
	return ward_buf_error(ret);
}
