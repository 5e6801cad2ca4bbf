/* SPDX-License-Identifier: Apache-2.0 */
/* The node table: names, links, moves, ghosts, states after a rename. No FUSE, no backing. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs/handle/written_nodes.h"
#include "fs/node/node.h"
#include "fs/ops/listing_ahead.h"
#include "fs/resolve/trees_beneath.h"
#include "tests/support/policies.h"
#include "tests/support/suite.h"

static const char rules[] = "[policy]\nversion = 1\n[tree /w]\nsource = .\n[files]\nwrite = /w\n"
			    "read = /w/ro\nhide = *.pem\n";

static struct ward_fs fs;
static struct ward_fs_tree tree;
static struct ward_nodes *nodes;

/* What the hooks were told. */
static struct {
	uint64_t moved;
	unsigned n_moved, n_ended;
} told;

static void on_moved(struct ward_fs_tree *t, uint64_t number)
{
	told.moved = number;
	told.n_moved++;
}

/* Nothing is watched here. */
static void on_unwatch(struct ward_fs_tree *t, struct ward_node *node)
{
	ck_abort();
}

static void on_ended(struct ward_fs_tree *t, const struct ward_node *node)
{
	told.n_ended++;
}

static const struct ward_nodes_hooks hooks = {
	.moved = on_moved, .unwatch = on_unwatch, .ended = on_ended};

static void setup(void)
{
	struct ward_err err = WARD_ERR_INIT;

	memset(&fs, 0, sizeof(fs));
	memset(&tree, 0, sizeof(tree));
	memset(&told, 0, sizeof(told));
	fs.policy = policy_of(rules);
	tree.fs = &fs;
	tree.path = (char *)(uintptr_t) "/w";
	tree.path_len = 2;
	tree.root_fd = -1;
	ck_assert_int_eq(ward_nodes_new(&tree, &hooks, &nodes, &err), 0);
}

static void teardown(void)
{
	ward_nodes_free(nodes);
	ward_policy_unref(fs.policy);
}

static struct ward_node *enter(
	struct ward_node *parent, const char *name, mode_t type, uint64_t ino, unsigned nlink)
{
	struct ward_file file = {.id = {.ino = ino, .btime_ns = 1},
		.st = {.st_mode = type | 0755, .st_ino = ino, .st_nlink = nlink}};
	struct ward_node *node = NULL;

	ck_assert_int_eq(ward_nodes_enter(nodes, parent, name, &file, &node), 0);
	return node;
}

static uint32_t rights(struct ward_node *node)
{
	struct ward_states s;
	uint32_t r = WARD_RIGHTS_ALL;

	ck_assert_int_eq(ward_node_states(nodes, node, &s), 0);
	for (size_t i = 0; i < s.n; i++)
		r &= ward_policy_rights(fs.policy, s.v[i]);
	ward_states_put(nodes, &s);
	return r;
}

static void check_path(struct ward_node *node, const char *name, const char *want)
{
	char buf[WARD_NODE_PATH_MAX];
	size_t len;
	const char *p = ward_node_path(nodes, node, name, buf, &len);

	ck_assert_str_eq(p, want);
	ck_assert_uint_eq(len, strlen(want));
}

START_TEST(numbers)
{
	struct ward_node *a = enter(&nodes->root, "a", S_IFREG, 10, 1);
	struct ward_node *b = enter(&nodes->root, "b", S_IFREG, 11, 1);
	const uint64_t na = ward_node_to_ino(nodes, a), nb = ward_node_to_ino(nodes, b);
	struct ward_node *nowhere;
	struct ward_states s;

	ck_assert_uint_ne(na, nb);
	ck_assert_uint_gt(na, 1);
	ck_assert_uint_lt(na, 1000);
	ck_assert_ptr_eq(ward_nodes_from_ino(nodes, na), a);
	ck_assert_ptr_eq(ward_nodes_from_ino(nodes, nb), b);
	ck_assert_ptr_eq(ward_nodes_from_ino(nodes, 1), &nodes->root);
	ward_node_forget(nodes, a, 1);
	nowhere = ward_nodes_from_ino(nodes, na);
	ck_assert_ptr_eq(nowhere, &nodes->nowhere);
	/* Neither does the number of another use of the same place. */
	a = enter(&nodes->root, "c", S_IFREG, 12, 1);
	ck_assert_uint_eq((uint32_t)ward_node_to_ino(nodes, a), (uint32_t)na);
	ck_assert_ptr_eq(ward_nodes_from_ino(nodes, na), nowhere);
	ck_assert_ptr_eq(ward_nodes_from_ino(nodes, ward_node_to_ino(nodes, a)), a);
	ck_assert_ptr_eq(ward_nodes_from_ino(nodes, 0), nowhere);
	ck_assert_ptr_eq(ward_nodes_from_ino(nodes, UINT64_MAX), nowhere);
	/* Nothing can be done there, and it stays. */
	ck_assert_int_eq(ward_node_states(nodes, nowhere, &s), -ESTALE);
	ck_assert_ptr_null(ward_nodes_pin(nodes, na));
	ward_node_forget(nodes, nowhere, 5);
	ck_assert_ptr_eq(ward_nodes_from_ino(nodes, 0), nowhere);
	/* Many, so that the table grows. */
	for (unsigned i = 0; i < 1000; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "n%u", i);
		b = enter(&nodes->root, name, S_IFREG, 100 + i, 1);
		ck_assert_ptr_eq(ward_nodes_from_ino(nodes, ward_node_to_ino(nodes, b)), b);
	}
	ck_assert_str_eq(ward_nodes_from_ino(nodes, nb)->names->text, "b");
}
END_TEST

START_TEST(same_file_same_node)
{
	struct ward_node *a = enter(&nodes->root, "a", S_IFREG, 10, 1);

	ck_assert_ptr_eq(enter(&nodes->root, "a", S_IFREG, 10, 1), a);
	ck_assert_uint_eq(a->nlookup, 2);
	check_path(a, NULL, "/w/a");
	check_path(&nodes->root, NULL, "/w");
	check_path(&nodes->root, "x", "/w/x");
	ward_node_forget(nodes, a, 1);
	ck_assert_uint_eq(a->nlookup, 1);
	ward_node_forget(nodes, a, 1);
	ck_assert_uint_eq(nodes->n_names, 0);
	ck_assert_uint_eq(nodes->n_inos, 0);
}
END_TEST

/* Another file under the name: the old node keeps its rights but leads nowhere. */
START_TEST(replaced)
{
	struct ward_node *a = enter(&nodes->root, "a", S_IFREG, 10, 1);
	struct ward_node *b = enter(&nodes->root, "a", S_IFREG, 11, 1);
	struct ward_place place;

	ck_assert_ptr_ne(a, b);
	ck_assert_int_eq(ward_node_place(nodes, a, 0, &place), -ENOENT);
	ck_assert_int_eq(ward_node_place(nodes, b, 0, &place), 0);
	ck_assert_str_eq(place.name, "a");
	ward_place_put(nodes, &place);
	ck_assert_uint_ne(rights(a) & WARD_RIGHT_WRITE, 0);
}
END_TEST

/* The same number, born at another time or of another type, is another file. */
START_TEST(reused_number)
{
	struct ward_node *a = enter(&nodes->root, "a", S_IFREG, 10, 1);
	struct ward_file file = {
		.id = {.ino = 10, .btime_ns = 2}, .st = {.st_mode = S_IFREG, .st_nlink = 1}};
	struct ward_node *b;

	ck_assert_int_eq(ward_nodes_enter(nodes, &nodes->root, "a", &file, &b), 0);
	ck_assert_ptr_ne(a, b);
	ck_assert_ptr_ne(enter(&nodes->root, "a", S_IFLNK, 10, 1), a);
}
END_TEST

START_TEST(several_names)
{
	struct ward_node *ro = enter(&nodes->root, "ro", S_IFDIR, 2, 2);
	struct ward_node *a = enter(&nodes->root, "a", S_IFREG, 10, 2);
	struct ward_states s;

	ck_assert_uint_ne(rights(a) & WARD_RIGHT_WRITE, 0);
	ck_assert_ptr_eq(enter(ro, "b", S_IFREG, 10, 2), a);
	ck_assert_int_eq(ward_node_states(nodes, a, &s), 0);
	ck_assert_uint_eq(s.n_names, 2);
	ck_assert_uint_eq(s.n, 2);
	ward_states_put(nodes, &s);
	/* the intersection */
	ck_assert_uint_eq(rights(a) & WARD_RIGHT_WRITE, 0);
	ward_nodes_remove(nodes, ro, "b");
	ck_assert_uint_ne(rights(a) & WARD_RIGHT_WRITE, 0);
	ck_assert_uint_eq(a->nlink, 1);
	/* one link, seen elsewhere: it was moved on the host */
	ck_assert_ptr_eq(enter(ro, "c", S_IFREG, 10, 1), a);
	check_path(a, NULL, "/w/ro/c");
	ck_assert_uint_eq(rights(a) & WARD_RIGHT_WRITE, 0);
}
END_TEST

/* Others remove links: that one is gone may be heard after the number of those left was seen. */
START_TEST(links_counted_twice)
{
	struct ward_node *a = enter(&nodes->root, "a", S_IFREG, 10, 3);

	ck_assert_ptr_eq(enter(&nodes->root, "b", S_IFREG, 10, 3), a);
	ck_assert_ptr_eq(enter(&nodes->root, "c", S_IFREG, 10, 3), a);
	/* b is removed by others, and the one link more that a has now is seen */
	ck_assert_ptr_eq(enter(&nodes->root, "c", S_IFREG, 10, 2), a);
	ward_nodes_remove(nodes, &nodes->root, "c");
	ck_assert_uint_eq(a->nlink, 2);
	ward_nodes_remove(nodes, &nodes->root, "b");
	ck_assert_uint_eq(a->nlink, 1);
	ck_assert(!a->gone);
	/* it goes on being one node, with all its names */
	ck_assert_ptr_eq(enter(&nodes->root, "d", S_IFREG, 10, 2), a);
	/* the control: without a name left, the number is free */
	ward_nodes_remove(nodes, &nodes->root, "a");
	ward_nodes_remove(nodes, &nodes->root, "d");
	ck_assert(a->gone);
	ck_assert_ptr_ne(enter(&nodes->root, "e", S_IFREG, 10, 1), a);
}
END_TEST

/* Many names: what is counted as they come, go and move is what a look at each of them gives. */
#define MANY_DIRS 6U
#define MANY_NAMES 120U

struct many {
	struct ward_node *dirs[MANY_DIRS];
	struct {
		unsigned dir, number;
	} names[MANY_NAMES]; /* by age */
	unsigned n, next;
};

static void many_name(const struct many *m, unsigned i, char ret[32])
{
	(void)snprintf(ret, 32, "n%u%s", m->names[i].number,
		m->names[i].number % 7	 ? ""
		: m->names[i].number % 2 ? ".pem"
					 : ".k");
}

/* The states of all names, one by one; the first one is the newest's. */
static void many_check(const struct many *m, struct ward_node *node)
{
	const struct ward_state *want[MANY_NAMES];
	struct ward_states got;
	char buf[WARD_NODE_PATH_MAX], name[32], dir[WARD_NODE_PATH_MAX + 40];
	const char *p;
	size_t n_want = 0, len, n;

	for (unsigned i = m->n; i-- > 0;) {
		const struct ward_state *s;
		size_t k = 0;

		many_name(m, i, name);
		ck_assert_int_eq(
			ward_node_child_state(nodes, m->dirs[m->names[i].dir], name, &s), 0);
		while (k < n_want && want[k] != s)
			k++;
		if (k == n_want)
			want[n_want++] = s;
		else
			ward_policy_state_put(fs.policy, s);
	}
	ck_assert_int_eq(ward_node_states(nodes, node, &got), 0);
	ck_assert_uint_eq(got.n_names, m->n);
	ck_assert_uint_eq(got.n, n_want);
	ck_assert_ptr_eq(got.v[0], want[0]);
	for (size_t i = 0; i < n_want; i++) {
		size_t k = 0;

		while (k < got.n && got.v[k] != want[i])
			k++;
		ck_assert_uint_lt(k, got.n);
		ward_policy_state_put(fs.policy, want[i]);
	}
	ward_states_put(nodes, &got);
	for (unsigned i = 0; i<m->n; i += m->n> 1 ? m->n - 1 : 1) {
		many_name(m, i, name);
		p = ward_node_path(nodes, m->dirs[m->names[i].dir], name, buf, &len);
		(void)snprintf(dir, sizeof(dir), "%s", p);
		p = i ? ward_node_newest_path(nodes, node, buf, &len, &n)
		      : ward_node_path(nodes, node, NULL, buf, &len);
		ck_assert_str_eq(p, dir);
	}
}

static void many_add(struct many *m, struct ward_node *node)
{
	char name[32];

	m->names[m->n].dir = rnd(MANY_DIRS);
	m->names[m->n].number = m->next++;
	many_name(m, m->n, name);
	m->n++;
	ck_assert_ptr_eq(enter(m->dirs[m->names[m->n - 1].dir], name, S_IFREG, 10, m->n), node);
}

static void many_drop(struct many *m, unsigned i)
{
	memmove(&m->names[i], &m->names[i + 1], (m->n - i - 1) * sizeof(m->names[0]));
	m->n--;
}

static void many_step(struct many *m, struct ward_node *node)
{
	const unsigned i = rnd(m->n), what = rnd(16);
	char name[32], name2[32];

	many_name(m, i, name);
	if (what < 6 && m->n < MANY_NAMES) {
		many_add(m, node);
	} else if (what < 10 && m->n > 1) {
		ward_nodes_remove(nodes, m->dirs[m->names[i].dir], name);
		many_drop(m, i);
	} else if (what < 14 && m->n < MANY_NAMES) {
		/* It is the newest one afterwards. */
		m->names[m->n].dir = rnd(MANY_DIRS);
		m->names[m->n].number = m->next++;
		many_name(m, m->n, name2);
		ck_assert_int_eq(ward_nodes_move(nodes, m->dirs[m->names[i].dir], name,
					 m->dirs[m->names[m->n].dir], name2, false),
			0);
		m->n++;
		many_drop(m, i);
	} else if (what == 14) {
		/* A directory of names comes under other rules, and back. */
		ck_assert_int_eq(
			ward_nodes_move(nodes, &nodes->root, "d0", &nodes->root, "ro", true), 0);
	}
}

START_TEST(many_names)
{
	static const char *const dirs[MANY_DIRS] = {"d0", "ro", "d2", "x", "y", "z"};
	struct many m = {.n = 0};
	struct ward_node *node = enter(&nodes->root, "first", S_IFREG, 10, 1);

	for (unsigned i = 0; i < MANY_DIRS; i++)
		m.dirs[i] = enter(&nodes->root, dirs[i], S_IFDIR, 100 + i, 2);
	many_add(&m, node);
	ward_nodes_remove(nodes, &nodes->root, "first");
	many_check(&m, node);
	for (unsigned round = 0; round < SUITE_ROUNDS(20000); round++) {
		many_step(&m, node);
		/* Several steps may lie between two looks. */
		if (rnd(3))
			many_check(&m, node);
	}
	ward_node_forget(nodes, node, node->nlookup);
}
END_TEST

/* More states than can be distinguished: refused until there are fewer. */
START_TEST(many_states)
{
	char text[4096] = "[policy]\nversion = 1\n[tree /w]\nsource = .\n[files]\nwrite = /w\n";
	struct ward_node *dirs[WARD_NODE_STATES_MAX + 2], *node = NULL;
	struct ward_policy *old = fs.policy;
	const struct ward_state *root;
	struct ward_states s;
	char name[16];

	for (unsigned i = 0; i < WARD_NODE_STATES_MAX + 2; i++) {
		const size_t len = strlen(text);

		(void)snprintf(text + len, sizeof(text) - len, "read = /w/d%u/f/x\n", i);
	}
	fs.policy = policy_of(text);
	ck_assert_int_eq(ward_policy_walk(fs.policy, "/w", 2, &root), 0);
	root = ward_nodes_set_policy(nodes, fs.policy, root);
	ward_policy_state_put(old, root);
	ward_nodes_sweep(nodes);
	ward_policy_unref(old);
	for (unsigned i = 0; i < WARD_NODE_STATES_MAX + 2; i++) {
		(void)snprintf(name, sizeof(name), "d%u", i);
		dirs[i] = enter(&nodes->root, name, S_IFDIR, 100 + i, 2);
		node = enter(dirs[i], "f", S_IFREG, 10, 100);
		if (i < WARD_NODE_STATES_MAX) {
			ck_assert_int_eq(ward_node_states(nodes, node, &s), 0);
			ck_assert_uint_eq(s.n, i + 1);
			ward_states_put(nodes, &s);
		} else {
			ck_assert_int_eq(ward_node_states(nodes, node, &s), -EMLINK);
		}
	}
	ward_nodes_remove(nodes, dirs[3], "f");
	ck_assert_int_eq(ward_node_states(nodes, node, &s), -EMLINK);
	ward_nodes_remove(nodes, dirs[30], "f");
	ck_assert_int_eq(ward_node_states(nodes, node, &s), 0);
	ck_assert_uint_eq(s.n, WARD_NODE_STATES_MAX);
	ward_states_put(nodes, &s);
}
END_TEST

START_TEST(moved_directory)
{
	struct ward_node *ro = enter(&nodes->root, "ro", S_IFDIR, 2, 2);
	struct ward_node *d = enter(&nodes->root, "d", S_IFDIR, 3, 2);
	struct ward_node *f = enter(d, "f", S_IFREG, 10, 1);
	struct ward_node *k = enter(d, "k.pem", S_IFREG, 11, 1);

	ck_assert_uint_ne(rights(f) & WARD_RIGHT_WRITE, 0);
	ck_assert_uint_eq(rights(k), 0);
	ck_assert_int_eq(ward_nodes_move(nodes, &nodes->root, "d", ro, "e", false), 0);
	check_path(f, NULL, "/w/ro/e/f");
	ck_assert_uint_eq(rights(f) & WARD_RIGHT_WRITE, 0);
	ck_assert_uint_ne(rights(f) & WARD_RIGHT_READ, 0);
	ck_assert_uint_eq(rights(k), 0);
	/* exchanged with another */
	enter(&nodes->root, "x", S_IFDIR, 4, 2);
	ck_assert_int_eq(ward_nodes_move(nodes, ro, "e", &nodes->root, "x", true), 0);
	check_path(f, NULL, "/w/x/f");
	check_path(k, NULL, "/w/x/k.pem");
	ck_assert_uint_ne(rights(f) & WARD_RIGHT_WRITE, 0);
}
END_TEST

/* Others moved a directory, and the old name was asked for first: it is the same node elsewhere. */
START_TEST(missed_directory)
{
	struct ward_node *ro = enter(&nodes->root, "ro", S_IFDIR, 2, 2);
	struct ward_node *d = enter(&nodes->root, "d", S_IFDIR, 3, 2);
	struct ward_node *f = enter(d, "f", S_IFREG, 10, 1);

	ck_assert_uint_ne(rights(f) & WARD_RIGHT_WRITE, 0);
	ward_nodes_miss(nodes, &nodes->root, "d");
	ck_assert(d->gone);
	ck_assert_uint_eq(told.n_moved, 0);
	ck_assert_ptr_eq(enter(ro, "e", S_IFDIR, 3, 2), d);
	ck_assert(!d->gone);
	/* the kernel must forget all entries beneath it */
	ck_assert_uint_eq(told.n_moved, 1);
	ck_assert_uint_eq(told.moved, d->number);
	check_path(f, NULL, "/w/ro/e/f");
	ck_assert_uint_eq(rights(f) & WARD_RIGHT_WRITE, 0);
	/* the control: one that was removed here, and files */
	ward_nodes_remove(nodes, ro, "e");
	ck_assert_ptr_ne(enter(&nodes->root, "g", S_IFDIR, 3, 2), d);
	f = enter(&nodes->root, "h", S_IFREG, 11, 1);
	ward_nodes_miss(nodes, &nodes->root, "h");
	ck_assert_ptr_ne(enter(&nodes->root, "i", S_IFREG, 11, 1), f);
}
END_TEST

START_TEST(replacing_move)
{
	struct ward_node *a = enter(&nodes->root, "a", S_IFREG, 10, 1);
	struct ward_node *b = enter(&nodes->root, "b", S_IFREG, 11, 1);
	struct ward_place place;

	ck_assert_int_eq(ward_nodes_move(nodes, &nodes->root, "a", &nodes->root, "b", false), 0);
	check_path(a, NULL, "/w/b");
	ck_assert_int_eq(ward_node_place(nodes, b, 0, &place), -ENOENT);
	ck_assert_uint_eq(b->nlink, 0);
	/* its number may come back at once, and is another file then */
	ck_assert_ptr_ne(enter(&nodes->root, "c", S_IFREG, 11, 1), b);
	/* names that nobody looked up are moved without harm */
	ck_assert_int_eq(ward_nodes_move(nodes, &nodes->root, "x", &nodes->root, "y", false), 0);
}
END_TEST

/* The content of a directory that moves must fit as well, wherever others move it. */
START_TEST(deep_moves)
{
	struct ward_node *a = &nodes->root, *b = &nodes->root, *found;
	const struct ward_file moved = {.id = {.ino = 5000, .btime_ns = 1},
		.st = {.st_mode = S_IFDIR | 0755, .st_ino = 5000, .st_nlink = 2}};
	const unsigned half = WARD_NODE_DEPTH_MAX / 2;

	for (uint64_t i = 0; i < half; i++)
		a = enter(a, i ? "d" : "a", S_IFDIR, 100 + i, 2);
	for (uint64_t i = 0; i < half + 2; i++)
		b = enter(b, i ? "d" : "b", S_IFDIR, 5000 + i, 2);
	/* b is one level too many, what is in b is not */
	ck_assert_int_eq(
		ward_nodes_check_move(nodes, &nodes->root, "b", a, "x", false), -ENAMETOOLONG);
	ck_assert_int_eq(ward_nodes_check_move(nodes, a, "x", &nodes->root, "b", false), 0);
	ck_assert_int_eq(
		ward_nodes_check_move(nodes, a, "x", &nodes->root, "b", true), -ENAMETOOLONG);
	ck_assert_int_eq(ward_nodes_enter(nodes, a, "x", &moved, &found), -ENAMETOOLONG);
	found = ward_nodes_find(nodes, &nodes->root, "b", 1)->node;
	ck_assert_int_eq(ward_nodes_check_move(nodes, found, "d", a, "x", false), 0);
	ck_assert_int_eq(ward_nodes_move(nodes, found, "d", a, "x", false), 0);
	ck_assert_uint_eq(found->dir->below, half + 1);
	found = ward_nodes_find(nodes, &nodes->root, "a", 1)->node;
	ck_assert_uint_eq(found->dir->below, 2 * half);
}
END_TEST

/* States are computed again only where a move changes them. */
START_TEST(same_states)
{
	struct ward_node *d = enter(&nodes->root, "d", S_IFDIR, 2, 2);
	struct ward_node *ro = enter(&nodes->root, "ro", S_IFDIR, 3, 2);
	struct ward_node *f = enter(d, "f", S_IFREG, 4, 1);
	const uint32_t gen = nodes->gen, moves = nodes->moves;

	ck_assert_uint_ne(rights(f) & WARD_RIGHT_WRITE, 0);
	ck_assert_int_eq(ward_nodes_move(nodes, &nodes->root, "d", &nodes->root, "e", false), 0);
	ck_assert_uint_eq(nodes->gen, gen);
	ck_assert_uint_ne(nodes->moves, moves);
	ck_assert_uint_ne(rights(f) & WARD_RIGHT_WRITE, 0);
	check_path(f, NULL, "/w/e/f");
	ck_assert_int_eq(ward_nodes_move(nodes, &nodes->root, "e", ro, "e", false), 0);
	ck_assert_uint_ne(nodes->gen, gen);
	ck_assert_uint_eq(rights(f) & WARD_RIGHT_WRITE, 0);
}
END_TEST

static size_t n_written(void)
{
	uint64_t at = 0;
	size_t n = 0;

	while (ward_written_next(nodes, &at))
		n++;
	return n;
}

/* However many files come and go, the list is as long as those that are written to. */
START_TEST(written)
{
	struct ward_node *kept = enter(&nodes->root, "kept", S_IFREG, 2, 1), *f;
	char name[32];

	kept->n_writers = 1;
	ward_written_add(nodes, kept);
	ward_written_add(nodes, kept);
	ck_assert_uint_eq(n_written(), 1);
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		f = enter(&nodes->root, name, S_IFREG, 100 + i, 1);
		f->n_writers = 1;
		ward_written_add(nodes, f);
		f->n_writers = 0;
		if (i % 2)
			ward_node_forget(nodes, f, 1);
	}
	ck_assert_uint_eq(n_written(), 1);
	ck_assert_uint_le(nodes->room_written, 128);
	/* it is written to again, and once more under another number */
	f = ward_nodes_find(nodes, &nodes->root, "0", 1)->node;
	f->n_writers = 1;
	ward_written_add(nodes, f);
	ck_assert_uint_eq(n_written(), 2);
	nodes->written_lost = true;
	ck_assert_uint_eq(n_written(), 2);
	f->n_writers = 0;
	ck_assert_uint_eq(n_written(), 1);
	kept->n_writers = 0;
}
END_TEST

/* A chain that only its last member keeps alive, deeper than a stack. */
START_TEST(deep)
{
	struct ward_node *n = &nodes->root, *up;
	const char *p;
	char buf[WARD_NODE_PATH_MAX];
	char name[256] = "";
	size_t len;

	for (uint64_t i = 0; i < WARD_NODE_DEPTH_MAX; i++) {
		up = n;
		n = enter(up, "d", S_IFDIR, 100 + i, 2);
		ward_node_forget(nodes, up, 1);
	}
	ck_assert_uint_ne(rights(n) & WARD_RIGHT_WRITE, 0);
	ck_assert_int_eq(ward_nodes_enter(nodes, enter(n, "d", S_IFDIR, 5, 2), "d",
				 &(struct ward_file){.st.st_mode = S_IFREG}, &up),
		-ENAMETOOLONG);
	/* names that no record can hold whole are cut at their beginning, visibly */
	memset(name, 'n', 255);
	p = ward_node_path(nodes, n, name, buf, &len);
	ck_assert_int_eq(strncmp(p, "...", 3), 0);
	ck_assert_str_eq(p + len - 255, name);
	up = ward_nodes_find(nodes, n, "d", 1)->node;
	ward_node_forget(nodes, n, 1);
	ward_node_forget(nodes, up, 1);
	ck_assert_uint_eq(nodes->n_inos, 0);
	ck_assert_uint_eq(nodes->n_names, 0);
}
END_TEST

/* A directory that the host moved beneath itself, as a lookup may see it, makes no loop. */
START_TEST(no_loop)
{
	struct ward_node *a = enter(&nodes->root, "a", S_IFDIR, 2, 2);
	struct ward_node *b = enter(a, "b", S_IFDIR, 3, 2);
	struct ward_node *c = enter(b, "c", S_IFDIR, 2, 2);

	ck_assert_ptr_ne(a, c);
	check_path(c, NULL, "/w/a/b/c");
	check_path(a, NULL, "/w/a");
}
END_TEST

static void check_beneath(struct ward_node *node, const char *name, uint32_t want)
{
	ck_assert_uint_eq(ward_beneath_flags(&tree, node, name), want);
}

/* Trees beneath this one: by path, and once a place is held by its node as well. */
START_TEST(beneath)
{
	const uint32_t leads = WARD_REQUEST_LEADS, covered = WARD_REQUEST_COVERED;
	struct ward_fs_tree trees[5] = {{.path = (char *)(uintptr_t) "/w"},
		{.path = (char *)(uintptr_t) "/w/a/bc"}, {.path = (char *)(uintptr_t) "/w/a/bc/d"},
		{.path = (char *)(uintptr_t) "/wx"}, {.path = (char *)(uintptr_t) "/w/e"}};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_node *a, *b, *f, *t;
	char dir[] = "/tmp/fs_node.XXXXXX", path[64];
	int fd;

	for (size_t i = 0; i < 5; i++) {
		trees[i].path_len = strlen(trees[i].path);
		trees[i].fs = &fs;
	}
	check_beneath(&nodes->root, "a", 0);
	fs.trees = trees;
	fs.n_trees = 5;
	tree.nodes = nodes;
	ck_assert_int_eq(ward_beneath_new(&trees[3], &tree.beneath, &err), 0);
	ck_assert_ptr_null(tree.beneath);
	/* The table is of the first one. */
	ck_assert_int_eq(ward_beneath_new(&trees[0], &tree.beneath, &err), 0);
	check_beneath(&nodes->root, NULL, 0);
	check_beneath(&nodes->root, "a", leads);
	check_beneath(&nodes->root, "aa", 0);
	check_beneath(&nodes->root, "bc", 0);
	check_beneath(&nodes->root, "e", leads | covered);
	a = enter(&nodes->root, "a", S_IFDIR, 10, 2);
	check_beneath(a, NULL, leads);
	check_beneath(a, "b", 0);
	check_beneath(a, "bc", leads | covered);
	b = enter(a, "bc", S_IFDIR, 11, 2);
	check_beneath(b, NULL, leads | covered);
	check_beneath(b, "x", covered);
	check_beneath(b, "d", leads | covered);
	f = enter(b, "f", S_IFREG, 12, 2);
	check_beneath(f, NULL, covered);
	/* One name of several is enough. */
	ck_assert_ptr_eq(enter(&nodes->root, "f", S_IFREG, 12, 2), f);
	check_beneath(f, NULL, covered);
	check_beneath(&nodes->root, "f", 0);
	/* Held, the place is known by its node as well. */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void)snprintf(path, sizeof(path), "%s/e", dir);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	struct ward_file file;
	ck_assert_int_eq(ward_backing_stat(&tree, fd, "e", &file), -EXDEV);
	int e = open(path, O_PATH | O_CLOEXEC);
	ck_assert_int_eq(ward_backing_fstat(e, &file), 0);
	close(e);
	ck_assert_int_eq(ward_nodes_enter(nodes, &nodes->root, "e", &file, &t), 0);
	ward_beneath_hold(&tree, &nodes->root, "e", fd, t);
	ck_assert_int_eq(ward_beneath_look(&tree, &nodes->root, "e", -EACCES, &file), 0);
	ck_assert_uint_eq(file.id.ino, t->id.ino);
	ck_assert_int_eq(ward_beneath_look(&tree, &nodes->root, "e", -ENOENT, &file), -ENOENT);
	ck_assert_int_eq(ward_beneath_look(&tree, &nodes->root, "f", -EACCES, &file), -EACCES);
	ck_assert_int_eq(ward_nodes_move(nodes, &nodes->root, "e", &nodes->root, "g", false), 0);
	check_beneath(t, NULL, leads | covered);
	check_beneath(&nodes->root, "g", leads | covered);
	check_beneath(&nodes->root, "e", leads | covered);
	check_beneath(t, "x", covered);
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(rmdir(dir), 0);
	close(fd);
	ward_beneath_free(&tree);
}
END_TEST

/* The end of a listing is known once an answer reached it, for that directory alone. */
START_TEST(listing_ends)
{
	struct ward_node *d = enter(&nodes->root, "d", S_IFDIR, 10, 2);
	const struct ward_listing end = {.off = 77, .end = true}, more = {.off = 77};
	const struct ward_node *const both[] = {d, &nodes->root};
	struct ward_err err = WARD_ERR_INIT;
	struct ward_ahead *a;

	tree.nodes = nodes;
	ck_assert_int_eq(ward_ahead_new(&tree, &a, &err), 0);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(!ward_ahead_at_end(a, both[i], &end));
		ward_ahead_made(a, both[i], &end);
		ck_assert(!ward_ahead_at_end(a, both[1 - i], &end));
		ck_assert(ward_ahead_at_end(a, both[i], &end));
		ck_assert(!ward_ahead_at_end(a, both[i], &end));
		ward_ahead_made(a, both[i], &end);
		ward_ahead_made(a, both[i], &more);
		ck_assert(!ward_ahead_at_end(a, both[i], &end));
	}
	ward_ahead_free(a);
}
END_TEST

/* Of the reference implementation (vectors_sip64): key 00…0f, input 00…07. */
START_TEST(siphash)
{
	const struct ward_dir_key key = {
		.k = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
	const uint64_t word = UINT64_C(0x0706050403020100);

	ck_assert_uint_eq(ward_dir_siphash(&key, NULL, 0), UINT64_C(0x726fdb47dd0e0e31));
	ck_assert_uint_eq(ward_dir_siphash(&key, &word, 1), UINT64_C(0x93f5f5799a932462));
}
END_TEST

START_TEST(dir_cookies)
{
	static const int64_t some[] = {0, 1, 2, 3, INT32_MAX, UINT32_MAX, INT64_C(1) << 32,
		INT64_C(1) << 62, INT64_MAX - 1, INT64_MAX, -1, INT64_MIN, INT64_MIN + 1};
	const struct ward_file_id one = {.ino = 12, .btime_ns = 1},
				  two = {.ino = 12, .btime_ns = 2};
	const struct ward_dir_key a = ward_dir_key_for(&nodes->dir_key, &one);
	const struct ward_dir_key b = ward_dir_key_for(&nodes->dir_key, &two);
	struct ward_dir_key other;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		const int64_t c = ward_dir_cookie(&a, some[i]);

		ck_assert_int_eq(ward_dir_position(&a, c), some[i]);
		ck_assert_int_eq(ward_dir_cookie(&a, ward_dir_position(&a, some[i])), some[i]);
		/* The start stays, alone; the rest is elsewhere, and positive where it was. */
		ck_assert_int_eq(c == 0, some[i] == 0);
		ck_assert_int_eq(c < 0, some[i] < 0);
		if (some[i] && some[i] != INT64_MIN) {
			ck_assert_int_ne(c, some[i]);
			ck_assert_int_ne(c, ward_dir_cookie(&b, some[i]));
		}
	}
	ck_assert_int_eq(ward_dir_key_new(&other), 0);
	ck_assert_int_ne(ward_dir_cookie(&other, 1), ward_dir_cookie(&nodes->dir_key, 1));
	for (int64_t i = 1; i < 100000; i++)
		ck_assert_int_eq(ward_dir_position(&other, ward_dir_cookie(&other, i)), i);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fs_node");
	TCase *t = tcase_create("table");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, same_file_same_node);
	tcase_add_test(t, replaced);
	tcase_add_test(t, reused_number);
	tcase_add_test(t, several_names);
	tcase_add_test(t, links_counted_twice);
	tcase_add_test(t, many_names);
	tcase_add_test(t, many_states);
	tcase_add_test(t, numbers);
	tcase_add_test(t, moved_directory);
	tcase_add_test(t, missed_directory);
	tcase_add_test(t, replacing_move);
	tcase_add_test(t, deep);
	tcase_add_test(t, no_loop);
	tcase_add_test(t, deep_moves);
	tcase_add_test(t, same_states);
	tcase_add_test(t, written);
	tcase_add_test(t, beneath);
	tcase_add_test(t, listing_ends);
	tcase_add_test(t, siphash);
	tcase_add_test(t, dir_cookies);
	suite_add_tcase(s, t);
	return suite_run(s);
}
