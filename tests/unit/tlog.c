/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a ledger, held to the vectors of docs/audit-format.md, which another program made.
 */
#include "audit/log/tlog.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/log/chain.h"
#include "enforcer/base/cleanup.h"

#define ORIGIN "wardfs.8f0307eee16f45eb/ledger"
#define VKEY ORIGIN "+69b09be0+AUUNuBb87vAJxOq6wr+zie8KO14hYxWMXwSVd47JKb9O"
#define BODY ORIGIN "\n3\nw2UeVBcUxT1kjsx7rsp/4sNu9PplvM4ksdcShkN95WY=\n"
#define SIGNED                                                                                     \
	"\xe2\x80\x94 " ORIGIN                                                                     \
	" abCb4FewXRVhySZE01BE/dvXkRFGTchaZxnf5g/bcr3Hiy7xjiL5ieo9cmqzseAzlkDBZWLDWPSnEsk7LUU1"    \
	"Qws7aQM=\n"
#define WITNESS "witness.example/w1"
#define WITNESS_VKEY WITNESS "+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"
#define COSIGNED                                                                                   \
	"\xe2\x80\x94 " WITNESS                                                                    \
	" qkoJ0QAAAABlU/EAVbRO5OF16/NVHHqiEms5ftJgjblVL+AgVvMYvaMDWRec3n6AEya48N4STGJWkwpjuL3A"    \
	"vZ0eX10OxYvW9i5WCg==\n"
#define OTHER "\xe2\x80\x94 other.example/log AAAAAAAA\n"

static struct ward_tlog_key host_key(void)
{
	uint8_t root[WARD_KEY_BYTES];
	struct ward_tlog_key k;
	ck_assert_int_eq(ward_chain_setup(), 0);
	for (unsigned i = 0; i < sizeof(root); i++)
		root[i] = (uint8_t)i;
	ward_tlog_key_derive(root, &k);
	return k;
}

static struct ward_note_key key_of(const char *text)
{
	struct ward_note_key k;
	ck_assert_int_eq(ward_chain_setup(), 0);
	ck_assert_int_eq(ward_note_key_parse(text, strlen(text), &k), 0);
	return k;
}

static int parse(const char *text, struct ward_tlog_note *ret)
{
	return ward_tlog_parse(text, strlen(text), ret);
}

START_TEST(the_key_grows_from_the_root_key)
{
	char text[WARD_NOTE_VKEY_MAX];
	struct ward_tlog_key k = host_key();
	ward_note_key_print(&k.pub, text);
	ck_assert_str_eq(text, VKEY);
	struct ward_note_key again = key_of(VKEY);
	ck_assert_mem_eq(again.key, k.pub.key, sizeof(again.key));
	/* The id is that of the key, the name has neither spaces nor plus. */
	struct ward_note_key none;
	static const char *const wrong[] = {ORIGIN
		"+69b09be1+AUUNuBb87vAJxOq6wr+zie8KO14hYxWMXwSVd47JKb9O",
		"a b+69b09be0+AUUNuBb87vAJxOq6wr+zie8KO14hYxWMXwSVd47JKb9O", "", "+", "++",
		VKEY " "};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ck_assert_int_eq(ward_note_key_parse(wrong[i], strlen(wrong[i]), &none), -EINVAL);
}
END_TEST

START_TEST(a_checkpoint_is_signed_to_the_letter)
{
	static const char *const lines[] = {"first", "second", "third"};
	struct ward_tlog_key k = host_key();
	struct ward_merkle tree = {0};
	uint8_t h[WARD_HASH_BYTES];
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	for (size_t i = 0; i < 3; i++) {
		ward_merkle_leaf(lines[i], strlen(lines[i]), h);
		ward_merkle_add(&tree, h);
	}
	ward_merkle_root(&tree, h);
	ward_tlog_sign(&b, tree.n, h, &k);
	ck_assert_str_eq(ward_buf_str(&b), BODY "\n" SIGNED);
}
END_TEST

START_TEST(signatures_of_others_are_ignored)
{
	static const char text[] = BODY "\n" OTHER SIGNED COSIGNED OTHER;
	struct ward_tlog_note n;
	struct ward_tlog_key host = host_key();
	struct ward_note_key witness = key_of(WITNESS_VKEY);
	uint64_t time = 0;
	ck_assert_int_eq(parse(text, &n), 0);
	ck_assert_uint_eq(n.len, strlen(text));
	ck_assert_uint_eq(n.size, 3);
	ck_assert_int_eq(ward_tlog_check(&n, text, &host.pub, NULL), WARD_TLOG_GOOD);
	ck_assert_int_eq(ward_tlog_check(&n, text, &witness, &time), WARD_TLOG_GOOD);
	ck_assert_uint_eq(time, 1700000000);
	/* As a plain signature, the cosignature's key has another id. */
	witness.type = WARD_NOTE_ED25519;
	witness.id[0] ^= 1;
	ck_assert_int_eq(ward_tlog_check(&n, text, &witness, NULL), WARD_TLOG_UNKNOWN);
}
END_TEST

START_TEST(one_bit_spoils_it)
{
	static const char good[] = BODY "\n" SIGNED COSIGNED;
	struct ward_tlog_key host = host_key();
	struct ward_note_key witness = key_of(WITNESS_VKEY);
	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		char text[sizeof(good)];
		struct ward_tlog_note n;
		memcpy(text, good, sizeof(good));
		text[i] ^= 1;
		if (ward_tlog_parse(text, sizeof(good) - 1, &n) < 0)
			continue;
		bool whole = n.len == sizeof(good) - 1 &&
			     ward_tlog_check(&n, text, &host.pub, NULL) == WARD_TLOG_GOOD &&
			     ward_tlog_check(&n, text, &witness, NULL) == WARD_TLOG_GOOD;
		ck_assert_msg(!whole, "byte %zu can be changed", i);
	}
}
END_TEST

START_TEST(what_is_no_checkpoint)
{
	struct ward_tlog_note n;
	static const char *const wrong[] = {BODY "extension\n\n" SIGNED, "\n3\n", "a b\n3\n",
		"a+b\n3\n", ORIGIN "\n03\n", ORIGIN "\n18446744073709551616\n",
		ORIGIN "\n3\nAAAA\n", BODY "\nx", BODY "\n\xe2\x80\x94 x\n",
		BODY "\n\xe2\x80\x94 x AAAA\n", BODY "\n\xe2\x80\x94 x AA=A\n"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ck_assert_msg(parse(wrong[i], &n) == -EBADMSG, "%zu: %s", i, wrong[i]);
	/* Each beginning of a good one is one that was not written to its end. */
	static const char good[] = BODY "\n" SIGNED;
	struct ward_tlog_key host = host_key();
	for (size_t len = 0; len < sizeof(good) - 1; len++) {
		ck_assert_int_eq(ward_tlog_parse(good, len, &n), -ENODATA);
		ck_assert(ward_tlog_torn(good, len, &host.pub));
	}
	ck_assert(!ward_tlog_torn("nonsense", 8, &host.pub));
}
END_TEST

START_TEST(the_last_of_several_is_found)
{
	static const char text[] = "ut off\n" BODY "\n" SIGNED BODY "\n" SIGNED ORIGIN "\n4";
	struct ward_tlog_note n;
	size_t at = 0;
	const size_t one = strlen(BODY "\n" SIGNED);
	ck_assert(ward_tlog_last(text, strlen(text), NULL, &at, &n));
	ck_assert_uint_eq(at, strlen("ut off\n") + one);
	ck_assert(!ward_tlog_last(text, one, NULL, &at, &n));
	ck_assert(ward_tlog_is(text + 7, strlen(text) - 7));
	ck_assert(!ward_tlog_is(text, strlen(text)));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tlog");
	TCase *t = tcase_create("tlog");
	tcase_add_test(t, the_key_grows_from_the_root_key);
	tcase_add_test(t, a_checkpoint_is_signed_to_the_letter);
	tcase_add_test(t, signatures_of_others_are_ignored);
	tcase_add_test(t, one_bit_spoils_it);
	tcase_add_test(t, what_is_no_checkpoint);
	tcase_add_test(t, the_last_of_several_is_found);
	suite_add_tcase(s, t);
	SRunner *r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	int failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
