/* SPDX-License-Identifier: Apache-2.0 */
/* What a module in WebAssembly says of itself. */
#include "enforcer/modes/wasm_module.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "tests/support/suite.h"

#define HEAD "\0asm\1\0\0\0"
/* Sections, each with its id and its length. */
#define MEMORY "\5\3\1\0\1"
#define EXPORTS "\7\23\2\6memory\2\0\6_start\0\0"
#define REACTOR "\7\30\2\6memory\2\0\13_initialize\0\0"
#define WASI "\26wasi_snapshot_preview1"

struct piece {
	const char *bytes;
	size_t len;
	int want;
	const char *text; /* in the message; NULL: it is taken */
};
#define PIECE(bytes, want, text)                                                                   \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, want, text                                               \
	}

static const struct piece pieces[] = {PIECE(HEAD MEMORY EXPORTS, 0, NULL),
	PIECE(HEAD MEMORY REACTOR, 0, NULL),
	PIECE(HEAD "\2\43\1" WASI "\10fd_close\0\0" MEMORY EXPORTS, 0, NULL),
	PIECE("", -EINVAL, "no WebAssembly"), PIECE("\0asm", -EINVAL, "no WebAssembly"),
	PIECE("\177ELF\1\0\0\0", -EINVAL, "no WebAssembly"),
	PIECE("\0asm\15\0\1\0", -EINVAL, "no core module"),
	PIECE(HEAD, -EINVAL, "exports no memory"),
	PIECE(HEAD EXPORTS "\5", -EINVAL, "ends in a section"),
	PIECE(HEAD EXPORTS "\5\11", -EINVAL, "ends in a section"),
	PIECE(HEAD "\7\12\1\6memory\2\0", -EINVAL, "exports no _start"),
	PIECE(HEAD "\7\12\1\6_start\0\0", -EINVAL, "exports no memory"),
	/* A function of that name is no memory. */
	PIECE(HEAD "\7\23\2\6memory\0\0\6_start\0\0", -EINVAL, "exports no memory"),
	/* Names that end a comment or a line in the C that wasm2c makes of them. */
	PIECE(HEAD MEMORY "\7\34\3\6memory\2\0\6_start\0\0\6a-b.$9\0\0", 0, NULL),
	PIECE(HEAD MEMORY "\7\34\3\6memory\2\0\6_start\0\0\6*/ab/*\0\0", -EINVAL, "characters"),
	PIECE(HEAD MEMORY "\7\34\3\6memory\2\0\6_start\0\0\6a\nb\\cd\0\0", -EINVAL, "characters"),
	PIECE(HEAD MEMORY "\7\34\3\6memory\2\0\6_start\0\0\6\303\244bcde\0\0", -EINVAL,
		"characters"),
	/* Imports: others' functions, a socket, a memory; a name longer than the section. */
	PIECE(HEAD "\2\12\1\3env\2go\0\0" MEMORY EXPORTS, -EINVAL, "function env.go"),
	PIECE(HEAD "\2\44\1" WASI "\11sock_send\0\0" MEMORY EXPORTS, -EINVAL,
		"wasi_snapshot_preview1.sock_send"),
	PIECE(HEAD "\2\17\1\3env\6memory\2\0\1" EXPORTS, -EINVAL, "memory env.memory"),
	PIECE(HEAD "\2\43\1" WASI "\10fd_close\2\0" EXPORTS, -EINVAL, "memory wasi"),
	PIECE(HEAD "\2\6\1\177envx" EXPORTS, -EINVAL, "malformed in section 2"),
	PIECE(HEAD "\2\6\177\3env\0" EXPORTS, -EINVAL, "malformed in section 2"),
	PIECE(HEAD "\2\5\377\377\377\377\17" EXPORTS, -EINVAL, "malformed in section 2"),
	/* Numbers that are too long, sections with something behind them. */
	PIECE(HEAD "\5\200\200\200\200\200\0", -EINVAL, "ends in a section"),
	PIECE(HEAD "\5\6\200\200\200\200\200\1" EXPORTS, -EINVAL, "malformed in section 5"),
	PIECE(HEAD "\5\4\1\0\1\0" EXPORTS, -EINVAL, "malformed in section 5"),
	/* Tables and memories. */
	PIECE(HEAD "\4\6\1\160\0\200\200\100" MEMORY EXPORTS, 0, NULL),
	PIECE(HEAD "\4\6\1\160\0\201\200\100" MEMORY EXPORTS, -EINVAL, "larger tables"),
	PIECE(HEAD "\5\5\1\0\200\200\4" EXPORTS, -EINVAL, "more memory"),
	PIECE(HEAD "\5\5\2\0\1\0\1" EXPORTS, -EINVAL, "more memory"),
	/* Shared, of 64 bits. */
	PIECE(HEAD "\5\4\1\3\1\2" EXPORTS, -EINVAL, "shared or 64-bit memory"),
	PIECE(HEAD "\5\3\1\4\1" EXPORTS, -EINVAL, "shared or 64-bit memory"),
	PIECE(HEAD "\5\3\1\10\1" EXPORTS, -EINVAL, "malformed in section 5")};

START_TEST(each_piece)
{
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		const struct piece *p = &pieces[i];
		struct ward_err err = WARD_ERR_INIT;
		struct ward_wasm_module m = {true, true};
		int r = ward_wasm_module_look(p->bytes, p->len, &m, &err);
		ck_assert_msg(r == p->want, "%zu: %d instead of %d: %s", i, r, p->want, err.text);
		if (p->text)
			ck_assert_msg(strstr(err.text, p->text), "%zu: %s", i, err.text);
	}
}
END_TEST

START_TEST(what_it_is)
{
	struct ward_wasm_module m;
	ck_assert_int_eq(ward_wasm_module_look(pieces[0].bytes, pieces[0].len, &m, NULL), 0);
	ck_assert(!m.imports && !m.reactor);
	ck_assert_int_eq(ward_wasm_module_look(pieces[1].bytes, pieces[1].len, &m, NULL), 0);
	ck_assert(!m.imports && m.reactor);
	ck_assert_int_eq(ward_wasm_module_look(pieces[2].bytes, pieces[2].len, &m, NULL), 0);
	ck_assert(m.imports && !m.reactor);
}
END_TEST

/* What is left for the tools has the sections that count and no others. */
START_TEST(bare)
{
	static const char dressed[] = HEAD "\0\6\4nameX" MEMORY "\0\1\0" EXPORTS "\0\5\3abcd";
	static const char plain[] = HEAD MEMORY EXPORTS;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ck_assert_int_eq(ward_wasm_module_bare(dressed, sizeof(dressed) - 1, &b), 0);
	ck_assert_uint_eq(b.len, sizeof(plain) - 1);
	ck_assert_mem_eq(b.data, plain, b.len);
	ck_assert_int_eq(ward_wasm_module_bare(dressed, sizeof(dressed) - 3, &b), -EINVAL);
}
END_TEST

/* No prefix of a module is read beyond its end: each lies at the end of memory of its own. */
START_TEST(each_prefix)
{
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		for (size_t len = 0; len <= pieces[i].len; len++) {
			struct ward_wasm_module m;
			char *copy = malloc(len + 1);
			ck_assert_ptr_nonnull(copy);
			memcpy(copy + 1, pieces[i].bytes, len);
			(void)!ward_wasm_module_look(copy + 1, len, &m, NULL);
			free(copy);
		}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("wasm_module");
	TCase *t = tcase_create("look");
	tcase_add_test(t, each_piece);
	tcase_add_test(t, what_it_is);
	tcase_add_test(t, bare);
	tcase_add_test(t, each_prefix);
	suite_add_tcase(s, t);
	return suite_run(s);
}
