/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of hashes, signed checkpoints, and what they find without the root key. */
#include <check.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/log/merkle.h"
#include "audit/log/note.h"
#include "audit/verify/proof.h"
#include "enforcer/base/fd.h"
#include "tests/support/suite.h"
#include "tests/support/trail_session.h"

/* --- the tree --- */

#define LEAVES 70
typedef uint8_t hash[WARD_HASH_BYTES];

/* RFC 6962, section 2.1, word by word. */
static void slow_root(const hash *leaf, size_t n, uint8_t *ret)
{
	if (n == 0) {
		crypto_hash_sha256(ret, NULL, 0);
		return;
	}
	if (n == 1) {
		memcpy(ret, leaf[0], WARD_HASH_BYTES);
		return;
	}
	size_t k = 1;
	while (2 * k < n)
		k *= 2;
	uint8_t in[1 + 2 * WARD_HASH_BYTES] = {1};
	slow_root(leaf, k, in + 1);
	slow_root(leaf + k, n - k, in + 1 + WARD_HASH_BYTES);
	crypto_hash_sha256(ret, in, sizeof(in));
}

static void make_leaves(hash *leaf)
{
	for (int i = 0; i < LEAVES; i++) {
		char text[16];
		snprintf(text, sizeof(text), "leaf %d", i);
		ward_merkle_leaf(text, strlen(text), leaf[i]);
	}
}

static size_t nodes_of(const struct ward_merkle_plan *p, const hash *leaf, hash *ret)
{
	for (size_t i = 0; i < p->n; i++)
		slow_root(leaf + p->v[i].from, (size_t)(p->v[i].to - p->v[i].from), ret[i]);
	return p->n;
}

START_TEST(the_tree_is_that_of_the_standard)
{
	/* The test vectors of Certificate Transparency's reference implementation. */
	static const struct {
		const char *hex;
		const char *root;
	} t[] = {{"", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
		{"00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
		{"10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
		{"2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"},
		{"3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
		{"40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
		{"5051525354555657",
			"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
		{"606162636465666768696a6b6c6d6e6f",
			"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"}};
	struct ward_merkle m = {0};
	hash root, want, leaf;
	ward_merkle_root(&m, root);
	crypto_hash_sha256(want, NULL, 0);
	ck_assert_mem_eq(root, want, sizeof(root));
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		uint8_t data[16];
		size_t n = 0;
		ck_assert_int_eq(sodium_hex2bin(data, sizeof(data), t[i].hex, strlen(t[i].hex),
					 NULL, &n, NULL),
			0);
		ward_merkle_leaf(data, n, leaf);
		ward_merkle_add(&m, leaf);
		ward_merkle_root(&m, root);
		char hex[65];
		ck_assert_str_eq(sodium_bin2hex(hex, sizeof(hex), root, sizeof(root)), t[i].root);
	}
}
END_TEST

START_TEST(every_leaf_can_be_proved_and_no_other)
{
	static hash leaf[LEAVES];
	hash path[WARD_PROOF_MAX], root, other;
	struct ward_merkle m = {0};
	make_leaves(leaf);
	for (size_t n = 1; n <= LEAVES; n++) {
		ward_merkle_add(&m, leaf[n - 1]);
		ward_merkle_root(&m, root);
		slow_root(leaf, n, other);
		ck_assert_mem_eq(root, other, sizeof(root));
		for (size_t i = 0; i < n; i++) {
			struct ward_merkle_plan p;
			ck_assert_int_eq(ward_merkle_plan_inclusion(i, n, &p), 0);
			size_t k = nodes_of(&p, leaf, path);
			const hash *at = path;
			ck_assert(ward_merkle_check_inclusion(leaf[i], i, n, at, k, root));
			ck_assert(!ward_merkle_check_inclusion(
				leaf[(i + 1) % LEAVES], i, n, at, k, root));
			for (size_t j = 0; j < n; j++)
				ck_assert(j == i ||
					  !ward_merkle_check_inclusion(leaf[i], j, n, at, k, root));
			ck_assert(k == 0 ||
				  !ward_merkle_check_inclusion(leaf[i], i, n, at, k - 1, root));
			for (size_t j = 0; j < k; j++) {
				path[j][i % 32] ^= 1;
				ck_assert(!ward_merkle_check_inclusion(leaf[i], i, n, at, k, root));
				path[j][i % 32] ^= 1;
			}
			ck_assert_int_eq(ward_merkle_plan_inclusion(n, n, &p), -EINVAL);
			ck_assert(!ward_merkle_check_inclusion(leaf[i], n, n, at, k, root));
		}
	}
}
END_TEST

START_TEST(every_beginning_can_be_proved_and_no_other_tree)
{
	static hash leaf[LEAVES];
	hash path[WARD_PROOF_MAX], first, second, wrong;
	make_leaves(leaf);
	for (size_t n = 0; n <= LEAVES; n++)
		for (size_t m = 0; m <= n; m++) {
			struct ward_merkle_plan p;
			slow_root(leaf, m, first);
			slow_root(leaf, n, second);
			ck_assert_int_eq(ward_merkle_plan_consistency(m, n, &p), 0);
			size_t k = nodes_of(&p, leaf, path);
			const hash *at = path;
			ck_assert(ward_merkle_check_consistency(m, first, n, second, at, k));
			if (m == 0)
				continue;
			memcpy(wrong, first, sizeof(wrong));
			wrong[3] ^= 4;
			ck_assert(!ward_merkle_check_consistency(m, wrong, n, second, at, k));
			ck_assert(!ward_merkle_check_consistency(n + 1, first, n, second, at, k));
			if (m == n)
				continue;
			memcpy(wrong, second, sizeof(wrong));
			wrong[3] ^= 4;
			ck_assert(!ward_merkle_check_consistency(m, first, n, wrong, at, k));
			for (size_t j = 0; j < k; j++) {
				path[j][m % 32] ^= 1;
				ck_assert(
					!ward_merkle_check_consistency(m, first, n, second, at, k));
				path[j][m % 32] ^= 1;
			}
			ck_assert(k == 0 ||
				  !ward_merkle_check_consistency(m, first, n, second, at, k - 1));
			/* Another tree of the same size: its beginning was exchanged. */
			hash keep;
			memcpy(keep, leaf[0], sizeof(keep));
			leaf[0][0] ^= 1;
			slow_root(leaf, n, wrong);
			k = nodes_of(&p, leaf, path);
			ck_assert(!ward_merkle_check_consistency(m, first, n, wrong, at, k));
			memcpy(leaf[0], keep, sizeof(keep));
		}
	struct ward_merkle_plan p;
	ck_assert_int_eq(ward_merkle_plan_consistency(2, 1, &p), -EINVAL);
	ck_assert_int_eq(ward_merkle_plan_consistency(UINT64_MAX / 2, UINT64_MAX, &p), 0);
	ck_assert_int_eq(ward_merkle_plan_inclusion(UINT64_MAX - 1, UINT64_MAX, &p), 0);
	ck_assert_uint_le(p.n, WARD_PROOF_MAX);
}
END_TEST

/* --- notes --- */

START_TEST(every_changed_byte_of_a_note_is_found)
{
	uint8_t seed[WARD_KEY_BYTES] = {7};
	struct ward_signing_key key;
	struct ward_checkpoint c = {.session = "s", .size = 12, .number = 3};
	struct ward_public_key again;
	char vkey[WARD_VKEY_MAX];
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_signing_key_from_seed(seed, &key);
	ward_public_key_print(&key.pub, vkey);
	ck_assert_int_eq(ward_public_key_parse(vkey, strlen(vkey), &again), 0);
	ck_assert_mem_eq(again.key, key.pub.key, sizeof(again.key));
	for (size_t i = 0; i < strlen(vkey); i++) {
		vkey[i] ^= 1;
		ck_assert_int_eq(ward_public_key_parse(vkey, strlen(vkey), &again), -EINVAL);
		vkey[i] ^= 1;
		ck_assert_int_eq(ward_public_key_parse(vkey, i, &again), -EINVAL);
	}
	ward_checkpoint_sign(&b, &c, &key);
	struct ward_checkpoint got;
	ck_assert_int_eq(ward_checkpoint_parse(b.data, b.len, &got), 0);
	ck_assert_uint_eq(got.len, b.len);
	ck_assert_uint_eq(got.size, 12);
	ck_assert_uint_eq(got.number, 3);
	ck_assert(ward_checkpoint_verify(&got, b.data, &key.pub));
	for (size_t i = 0; i < b.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			b.data[i] ^= (char)(1 << bit);
			ck_assert_msg(ward_checkpoint_parse(b.data, b.len, &got) < 0 ||
					      !ward_checkpoint_verify(&got, b.data, &key.pub),
				"byte %zu bit %d", i, bit);
			b.data[i] ^= (char)(1 << bit);
		}
	for (size_t i = 0; i < b.len; i++)
		ck_assert_int_eq(ward_checkpoint_parse(b.data, i, &got), -ENODATA);
	seed[0] = 8;
	ward_signing_key_from_seed(seed, &key);
	ck_assert_int_eq(ward_checkpoint_parse(b.data, b.len, &got), 0);
	ck_assert(!ward_checkpoint_verify(&got, b.data, &key.pub));
}
END_TEST

/* --- trails with public keys alone --- */

struct public
{
	struct sample x;
	struct ward_buf notes;
	struct ward_checkpoint_list list;
	struct ward_public_key key;
};

static struct ward_checkpoint_list list_of(const struct ward_buf *b)
{
	struct ward_checkpoint_list l;
	int fd = memfd_create("t", MFD_CLOEXEC);
	ck_assert_int_eq(ward_fd_write_all(fd, ward_buf_str(b), b->len), 0);
	ck_assert_int_eq(ward_checkpoint_list_read(fd, &l), 0);
	close(fd);
	return l;
}

static struct public public_new(const char *name, int n)
{
	struct public p = {.x = sample_new(name, n)};
	struct ward_signing_key key;
	p.notes = slurp(p.x.s.st.checkpoints_fd);
	p.list = list_of(&p.notes);
	ward_signing_key_from_seed(p.x.s.seed, &key);
	p.key = key.pub;
	return p;
}

static void public_free(struct public *p)
{
	ward_checkpoint_list_clear(&p->list);
	ward_buf_clear(&p->notes);
	sample_free(&p->x);
}

static struct ward_verify_result check_public(const struct public *p, const char *data, size_t len,
	const struct ward_checkpoint_list *notes, const struct ward_public_key *key)
{
	struct ward_verify_result r;
	struct ward_err err = WARD_ERR_INIT;
	int fd = memfd_create("t", MFD_CLOEXEC);
	ck_assert_int_eq(ward_fd_write_all(fd, data, len), 0);
	ck_assert_msg(
		ward_verify_public(trail_of(fd), notes, key, 1, &r, &err) == 0, "%s", err.text);
	close(fd);
	return r;
}

static struct ward_verify_result check_log(const struct public *p, const struct ward_buf *b)
{
	return check_public(p, ward_buf_str(b), b->len, &p->list, &p->key);
}

/* With the root key and the ledger. */
static struct ward_verify_result check_keyed(const struct public *p, const char *data, size_t len,
	const struct ward_ledger_session *known, const struct ward_checkpoint_list *notes)
{
	struct ward_verify_result r;
	struct ward_err err = WARD_ERR_INIT;
	int fd = memfd_create("t", MFD_CLOEXEC);
	ck_assert_int_eq(ward_fd_write_all(fd, data, len), 0);
	ck_assert_msg(ward_verify_trail(trail_of(fd), p->x.s.st.name, p->x.s.root, known, notes, &r,
			      &err) == 0,
		"%s", err.text);
	close(fd);
	return r;
}

START_TEST(a_public_key_is_enough_for_a_whole_trail)
{
	struct public p = public_new("public", 37);
	struct ward_verify_result r = check_log(&p, &p.x.log);
	expect(&r, WARD_VERIFY_INTACT, 0, "untouched", 0);
	ck_assert_uint_eq(r.records, 39);
	ck_assert_uint_eq(p.list.n, 5); /* of 0, 10, 20, 30 and all */
	ck_assert_int_eq(p.list.v[4].state, WARD_CHECKPOINT_COMPLETE);
	ck_assert(p.x.known->has_checkpoint);
	r = check_keyed(&p, p.x.log.data, p.x.log.len, p.x.known, &p.list);
	expect(&r, WARD_VERIFY_INTACT, 0, "with the root key", 0);
	struct ward_signing_key other;
	uint8_t seed[WARD_KEY_BYTES] = {1};
	ward_signing_key_from_seed(seed, &other);
	r = check_public(&p, p.x.log.data, p.x.log.len, &p.list, &other.pub);
	expect(&r, WARD_VERIFY_FOREIGN, 0, "another key", 0);
	public_free(&p);
}
END_TEST

START_TEST(every_changed_byte_is_found_without_the_root_key)
{
	struct public p = public_new("flip", 9);
	const char with[] = {'\n', '9'};
	for (size_t i = 0; i < p.x.log.len; i++) {
		char old = p.x.log.data[i];
		for (size_t k = 0; k <= sizeof(with); k++) {
			char c = k < 1 ? (char)(old ^ 1) : with[k - 1];
			if (c == old)
				continue;
			p.x.log.data[i] = c;
			struct ward_verify_result r = check_log(&p, &p.x.log);
			ck_assert_msg(r.state == WARD_VERIFY_EDITED && r.first_bad > 0,
				"byte %zu to %d: %s", i, c, ward_verify_state_name(r.state));
		}
		p.x.log.data[i] = old;
	}
	public_free(&p);
}
END_TEST

START_TEST(what_is_missing_moved_or_added_is_named_without_the_root_key)
{
	struct public p = public_new("lines", 12);
	size_t order[LINES_MAX];
	for (size_t from = 0; from < p.x.n; from++)
		for (size_t to = 0; to <= p.x.n; to++) {
			size_t n = 0;
			for (size_t i = 0; i < p.x.n; i++)
				if (i != from)
					order[n++] = i;
			ward_cleanup(ward_buf_clear) struct ward_buf gone =
				sample_pick(&p.x, order, n);
			struct ward_verify_result r = check_log(&p, &gone);
			expect(&r, from + 1 < p.x.n ? WARD_VERIFY_DELETED : WARD_VERIFY_TRUNCATED,
				from + 1, "deleted", from);
			if (to < p.x.n && to != from) {
				memmove(order + to + 1, order + to, (n - to) * sizeof(*order));
				order[to] = from;
				ward_cleanup(ward_buf_clear) struct ward_buf moved =
					sample_pick(&p.x, order, p.x.n);
				r = check_log(&p, &moved);
				/* Across a checkpoint it is another set of lines that it covers. */
				bool across = (from < 10) != (to < 10);
				expect(&r, WARD_VERIFY_REORDERED, (from < to ? from : to) + 1,
					across ? "moved across" : "moved", from * 100 + to);
			}
			n = 0;
			for (size_t i = 0; i <= p.x.n; i++) {
				if (i == to)
					order[n++] = from;
				if (i < p.x.n)
					order[n++] = i;
			}
			ward_cleanup(ward_buf_clear) struct ward_buf twice =
				sample_pick(&p.x, order, n);
			r = check_log(&p, &twice);
			if (from + 1 == p.x.n && to >= from)
				ck_assert_int_ne(r.state, WARD_VERIFY_INTACT);
			else
				ck_assert_msg(
					r.state == WARD_VERIFY_EDITED ||
						(to == p.x.n && r.state == WARD_VERIFY_INCOMPLETE),
					"copied %zu to %zu: %s", from, to,
					ward_verify_state_name(r.state));
		}
	for (size_t len = 0, whole = 0; len + 1 < p.x.log.len; len++) {
		if (p.x.log.data + len >= p.x.line[whole + 1])
			whole++;
		else if (len % 13 != 0 && p.x.log.data + len + 1 != p.x.line[whole + 1])
			continue; /* each line's end, and some between */
		struct ward_verify_result r = check_public(&p, p.x.log.data, len, &p.list, &p.key);
		expect(&r, WARD_VERIFY_TRUNCATED, whole + 1, "cut at", len);
	}
	public_free(&p);
}
END_TEST

START_TEST(the_checkpoints_are_guarded_themselves)
{
	struct public p = public_new("notes", 25);
	ck_assert_uint_eq(p.list.n, 4);
	for (size_t i = 0; i < p.notes.len; i++) {
		p.notes.data[i] ^= 1;
		struct ward_checkpoint_list l = list_of(&p.notes);
		struct ward_verify_result r =
			check_public(&p, p.x.log.data, p.x.log.len, &l, &p.key);
		expect(&r, WARD_VERIFY_EDITED, 0, "byte of a checkpoint", i);
		r = check_keyed(&p, p.x.log.data, p.x.log.len, p.x.known, &l);
		expect(&r, WARD_VERIFY_EDITED, 0, "byte of a checkpoint, keyed", i);
		ward_checkpoint_list_clear(&l);
		p.notes.data[i] ^= 1;
	}
	for (size_t gone = 0; gone < p.list.n; gone++) {
		size_t to = gone + 1 < p.list.n ? p.list.offset[gone + 1] : p.notes.len;
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ward_buf_add(&b, p.notes.data, p.list.offset[gone]);
		ward_buf_add(&b, p.notes.data + to, p.notes.len - to);
		struct ward_checkpoint_list l = list_of(&b);
		struct ward_verify_result r =
			check_public(&p, p.x.log.data, p.x.log.len, &l, &p.key);
		bool last = gone + 1 == p.list.n;
		/* Without the ledger, it looks like a running session. */
		expect(&r, last ? WARD_VERIFY_INCOMPLETE : WARD_VERIFY_DELETED, 0, "gone", gone);
		r = check_keyed(&p, p.x.log.data, p.x.log.len, p.x.known, &l);
		expect(&r, last ? WARD_VERIFY_TRUNCATED : WARD_VERIFY_DELETED, 0, "gone, keyed",
			gone);
		ward_checkpoint_list_clear(&l);
	}
	ward_cleanup(ward_buf_clear) struct ward_buf swapped = WARD_BUF_INIT;
	ward_buf_add(&swapped, p.notes.data, p.list.offset[1]);
	ward_buf_add(&swapped, p.notes.data + p.list.offset[2], p.list.v[2].len);
	ward_buf_add(&swapped, p.notes.data + p.list.offset[1], p.list.v[1].len);
	ward_buf_add(&swapped, p.notes.data + p.list.offset[3], p.list.v[3].len);
	struct ward_checkpoint_list l = list_of(&swapped);
	struct ward_verify_result r = check_public(&p, p.x.log.data, p.x.log.len, &l, &p.key);
	expect(&r, WARD_VERIFY_REORDERED, 0, "swapped", 0);
	ward_checkpoint_list_clear(&l);
	struct ward_buf nothing = WARD_BUF_INIT;
	l = list_of(&nothing);
	r = check_public(&p, p.x.log.data, p.x.log.len, &l, &p.key);
	expect(&r, WARD_VERIFY_DELETED, 0, "no checkpoints", 0);
	r = check_keyed(&p, p.x.log.data, p.x.log.len, p.x.known, &l);
	expect(&r, WARD_VERIFY_DELETED, 0, "no checkpoints, keyed", 0);
	ward_checkpoint_list_clear(&l);
	public_free(&p);
}
END_TEST

START_TEST(an_old_checkpoint_does_not_pass_for_the_last)
{
	struct public p = public_new("replay", 25);
	/* Log and checkpoints as they were after twenty records. */
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_buf_add(&b, p.notes.data, p.list.offset[3]);
	struct ward_checkpoint_list l = list_of(&b);
	size_t len = (size_t)(p.x.line[20] - p.x.log.data);
	struct ward_verify_result r = check_public(&p, p.x.log.data, len, &l, &p.key);
	expect(&r, WARD_VERIFY_INCOMPLETE, 0, "public", 0);
	ck_assert_uint_eq(r.records, 20);
	r = check_keyed(&p, p.x.log.data, len, p.x.known, &l);
	expect(&r, WARD_VERIFY_TRUNCATED, 21, "keyed", 0);
	/* The whole log with the old checkpoints. */
	r = check_keyed(&p, p.x.log.data, p.x.log.len, p.x.known, &l);
	expect(&r, WARD_VERIFY_TRUNCATED, 0, "old checkpoints", 0);
	/* A ledger without the end: the checkpoints still tell of what is gone. */
	struct ward_ledger_session open_end = *p.x.known;
	open_end.ended = open_end.has_checkpoint = false;
	r = check_keyed(&p, p.x.log.data, len, &open_end, &p.list);
	expect(&r, WARD_VERIFY_TRUNCATED, 21, "no end in the ledger", 0);
	ward_checkpoint_list_clear(&l);
	public_free(&p);
}
END_TEST

START_TEST(a_past_written_anew_with_the_root_key_is_found)
{
	struct public p = public_new("anew", 12);
	ward_cleanup(ward_buf_clear) struct ward_buf forged = WARD_BUF_INIT;
	uint8_t key[WARD_KEY_BYTES];
	uint8_t prev[WARD_MAC_BYTES] = {0};
	((char *)(uintptr_t)p.x.line[3])[60] ^= 1;
	ward_chain_first_key(p.x.s.root, p.x.s.st.name, key);
	for (size_t i = 0; i < p.x.n; i++) {
		struct ward_line l;
		size_t len = (size_t)(p.x.line[i + 1] - p.x.line[i]) - 1;
		ck_assert_int_eq(ward_line_parse(p.x.line[i], len, &l), 0);
		size_t start = forged.len;
		ward_buf_add(&forged, p.x.line[i], l.body_len);
		ward_chain_seal(key, prev, &forged, start);
		ward_chain_ratchet(key);
	}
	struct ward_ledger_session told = *p.x.known;
	memcpy(told.last, prev, sizeof(prev));
	told.has_checkpoint = false; /* he cannot sign one */
	struct ward_verify_result r = check_keyed(&p, forged.data, forged.len, &told, NULL);
	ck_assert_int_eq(r.state, WARD_VERIFY_EDITED);
	told.has_checkpoint = true; /* the old one */
	r = check_keyed(&p, forged.data, forged.len, &told, NULL);
	expect(&r, WARD_VERIFY_EDITED, 1, "the ledger's checkpoint", 0);
	r = check_keyed(&p, forged.data, forged.len, &told, &p.list);
	ck_assert_int_eq(r.state, WARD_VERIFY_EDITED);
	r = check_public(&p, forged.data, forged.len, &p.list, &p.key);
	expect(&r, WARD_VERIFY_EDITED, 1, "public", 0);
	public_free(&p);
}
END_TEST

/* --- proofs --- */

static void every_byte_counts(const struct public *p, struct ward_buf *proof)
{
	struct ward_verify_result r;
	ward_proof_check(proof->data, proof->len, &p->key, 1, &r, NULL);
	expect(&r, WARD_VERIFY_INTACT, 0, r.text, 0);
	for (size_t i = 0; i < proof->len; i++) {
		proof->data[i] ^= (char)(1 << i % 8);
		ward_proof_check(proof->data, proof->len, &p->key, 1, &r, NULL);
		ck_assert_msg(r.state == WARD_VERIFY_EDITED, "byte %zu: %s", i,
			ward_verify_state_name(r.state));
		proof->data[i] ^= (char)(1 << i % 8);
		ward_proof_check(proof->data, i, &p->key, 1, &r, NULL);
		ck_assert_int_eq(r.state, WARD_VERIFY_EDITED);
	}
}

START_TEST(every_changed_byte_of_a_proof_is_found)
{
	struct public p = public_new("proof", 25);
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf a = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf record = WARD_BUF_INIT;
	struct ward_verify_result r;
	const int fd = p.x.s.st.log_fd;
	ck_assert_msg(
		ward_prove_record(trail_of(fd), &p.list, 12, 0, &a, &err) == 0, "%s", err.text);
	every_byte_counts(&p, &a);
	ward_proof_check(a.data, a.len, &p.key, 1, &r, &record);
	ck_assert_mem_eq(record.data, p.x.line[11], record.len);
	ck_assert_msg(ward_prove_consistency(trail_of(fd), &p.list, 10, 20, &b, &err) == 0, "%s",
		err.text);
	every_byte_counts(&p, &b);
	ward_buf_clear(&a);
	ck_assert_int_eq(ward_prove_record(trail_of(fd), &p.list, 0, 0, &a, &err), -ENODATA);
	ck_assert_int_eq(ward_prove_record(trail_of(fd), &p.list, 28, 0, &a, &err), -ENODATA);
	ck_assert_int_eq(ward_prove_record(trail_of(fd), &p.list, 27, 0, &a, &err), 0);
	public_free(&p);
}
END_TEST

START_TEST(a_recovery_writer_goes_on_with_the_checkpoints)
{
	struct session s = session_new("recover");
	put_kind(&s, 0, WARD_EVENT_SESSION_START);
	for (int i = 0; i < 30; i++)
		put_access(&s, i);
	drain(&s);
	ck_assert_int_eq(ward_writer_sync(s.w, true), 0);
	writer_dies(&s);
	ck_assert_int_eq(ward_fd_write_all(s.st.checkpoints_fd, "wardfs/trail/rec", 16), 0);
	writer_start(&s, true, "killed");
	put_kind(&s, 0, WARD_EVENT_SESSION_END);
	finish(&s, "");
	struct public p = {.x = {.s = s}};
	struct ward_signing_key key;
	p.x.log = log_of(&s);
	p.x.ledger = slurp(s.st.ledger.fd);
	p.x.view = ledger_of(&p.x.ledger, s.root);
	p.x.known = ward_ledger_view_find(&p.x.view, "recover");
	p.notes = slurp(s.st.checkpoints_fd);
	p.list = list_of(&p.notes);
	ward_signing_key_from_seed(s.seed, &key);
	p.key = key.pub;
	struct ward_verify_result r = check_log(&p, &p.x.log);
	expect(&r, WARD_VERIFY_INCOMPLETE, 0, "recovered", 0);
	ck_assert_uint_eq(r.records, 33);
	ck_assert_uint_eq(p.list.n, 5);
	r = check_keyed(&p, p.x.log.data, p.x.log.len, p.x.known, &p.list);
	expect(&r, WARD_VERIFY_INCOMPLETE, 0, "recovered, keyed", 0);
	public_free(&p);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("checkpoint");
	TCase *t = tcase_create("checkpoint");
	tcase_set_timeout(t, 300);
	tcase_add_checked_fixture(t, trail_setup, trail_teardown);
	tcase_add_test(t, the_tree_is_that_of_the_standard);
	tcase_add_test(t, every_leaf_can_be_proved_and_no_other);
	tcase_add_test(t, every_beginning_can_be_proved_and_no_other_tree);
	tcase_add_test(t, every_changed_byte_of_a_note_is_found);
	tcase_add_test(t, a_public_key_is_enough_for_a_whole_trail);
	tcase_add_test(t, every_changed_byte_is_found_without_the_root_key);
	tcase_add_test(t, what_is_missing_moved_or_added_is_named_without_the_root_key);
	tcase_add_test(t, the_checkpoints_are_guarded_themselves);
	tcase_add_test(t, an_old_checkpoint_does_not_pass_for_the_last);
	tcase_add_test(t, a_past_written_anew_with_the_root_key_is_found);
	tcase_add_test(t, every_changed_byte_of_a_proof_is_found);
	tcase_add_test(t, a_recovery_writer_goes_on_with_the_checkpoints);
	suite_add_tcase(s, t);
	return suite_run(s);
}
