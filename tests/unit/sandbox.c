/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the sandbox that can be tested without one: blueprint, view, system call filter. */
#include <check.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "conf/embedded.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/policy/settings.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/sandbox/filter.h"
#include "enforcer/sandbox/filters.h"
#include "enforcer/sandbox/probe.h"
#include "enforcer/sandbox/view.h"
#include "tests/support/suite.h"

/* --- paths --- */

START_TEST(paths)
{
	static const char *const good[] = {"/a", "/a/b", "/.a/b..", "/a/...", "/a b\n"};
	static const char *const bad[] = {
		"", "/", "a", "./a", "//a", "/a/", "/a//b", "/a/.", "/./a", "/..", "/a/../b"};
	char name[300];
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(ward_blueprint_path_ok(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!ward_blueprint_path_ok(bad[i]), "%s", bad[i]);
	ck_assert(!ward_blueprint_path_ok(NULL));
	memset(name, 'a', sizeof(name));
	name[0] = '/';
	name[256] = '\0';
	ck_assert(ward_blueprint_path_ok(name));
	name[256] = 'a';
	name[257] = '\0';
	ck_assert(!ward_blueprint_path_ok(name));
	ck_assert(ward_blueprint_path_below("/a", "/a"));
	ck_assert(ward_blueprint_path_below("/a/b", "/a"));
	ck_assert(!ward_blueprint_path_below("/ab", "/a"));
	ck_assert(!ward_blueprint_path_below("/a", "/a/b"));
}
END_TEST

/* --- blueprint --- */

static char *s(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void encode_sample(struct ward_buf *bytes)
{
	static const uint64_t filter[2] = {1, 2};
	uint32_t groups[] = {27, 44};
	char *argv[] = {s("sh"), s(""), s("x y"), NULL};
	char *envp[] = {s("A=1"), NULL};
	struct ward_blueprint_entry entries[] = {
		{.kind = WARD_BLUEPRINT_DIR, .mode = 0755, .path = s("/a"), .text = s("")},
		{.kind = WARD_BLUEPRINT_BIND,
			.flags = WARD_BLUEPRINT_OPTIONAL,
			.path = s("/b"),
			.text = s("/c")},
		{.kind = WARD_BLUEPRINT_TREE, .mode = 1, .path = s("/w"), .text = s("")}};
	struct ward_blueprint p = {.flags = WARD_BLUEPRINT_PTY,
		.owner_uid = 5,
		.owner_gid = 6,
		.agent_uid = 7,
		.agent_gid = 8,
		.groups = groups,
		.n_groups = 2,
		.hostname = s("host"),
		.tmp_bytes = 9,
		.processes = UINT64_MAX,
		.rows = 24,
		.tty_slots = 7,
		.n_lifelines = 2,
		.n_trees = 2,
		.entries = entries,
		.n_entries = 3,
		.argv = argv,
		.n_argv = 3,
		.envp = envp,
		.n_envp = 1,
		.cwd = s("/w"),
		.filter = filter,
		.filter_len = sizeof(filter)};
	ck_assert_int_eq(ward_blueprint_encode(&p, bytes), 0);
}

START_TEST(plan_round_trip)
{
	ward_cleanup(ward_buf_clear) struct ward_buf bytes = WARD_BUF_INIT;
	ward_cleanup(ward_blueprint_clear) struct ward_blueprint p = {0};
	encode_sample(&bytes);
	ck_assert_int_eq(ward_blueprint_decode(bytes.data, bytes.len, &p), 0);
	ck_assert_uint_eq(p.flags, WARD_BLUEPRINT_PTY);
	ck_assert_uint_eq(p.agent_uid, 7);
	ck_assert_uint_eq(p.n_groups, 2);
	ck_assert_uint_eq(p.groups[1], 44);
	ck_assert_str_eq(p.hostname, "host");
	ck_assert_uint_eq(p.n_entries, 3);
	ck_assert_int_eq(p.entries[1].kind, WARD_BLUEPRINT_BIND);
	ck_assert_str_eq(p.entries[1].text, "/c");
	ck_assert_uint_eq(p.n_argv, 3);
	ck_assert_str_eq(p.argv[1], "");
	ck_assert_ptr_null(p.argv[3]);
	ck_assert_str_eq(p.cwd, "/w");
	ck_assert_uint_eq(p.filter_len, 16);
}
END_TEST

/* Every cut and every flipped bit: decoded or refused, never a crash, and uid 0 never passes. */
START_TEST(plan_damage)
{
	ward_cleanup(ward_buf_clear) struct ward_buf bytes = WARD_BUF_INIT;
	encode_sample(&bytes);
	for (size_t len = 0; len < bytes.len; len++) {
		struct ward_blueprint p;
		ck_assert_int_eq(ward_blueprint_decode(bytes.data, len, &p), -EBADMSG);
	}
	for (size_t bit = 0; bit < 8 * bytes.len; bit++) {
		struct ward_blueprint p;
		bytes.data[bit / 8] ^= (char)(1 << bit % 8);
		if (ward_blueprint_decode(bytes.data, bytes.len, &p) == 0) {
			ck_assert_uint_ne(p.agent_uid, 0);
			for (size_t i = 0; i < p.n_entries; i++)
				ck_assert(ward_blueprint_path_ok(p.entries[i].path));
			ward_blueprint_clear(&p);
		}
		bytes.data[bit / 8] ^= (char)(1 << bit % 8);
	}
	ward_buf_putc(&bytes, 0);
	struct ward_blueprint p;
	ck_assert_int_eq(ward_blueprint_decode(bytes.data, bytes.len, &p), -EBADMSG);
}
END_TEST

/* --- view --- */

static struct ward_sandbox_spec spec(void)
{
	return (struct ward_sandbox_spec){.layers = WARD_LAYERS_ALL,
		.user_name = "agent",
		.agent_uid = 1000,
		.agent_gid = 1000,
		.hostname = "h"};
}

static const struct ward_blueprint_entry *entry(const struct ward_view_list *w, const char *path)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->v[i].path, path) == 0)
			return &w->v[i];
	return NULL;
}

START_TEST(view_order)
{
	ward_cleanup(ward_view_clear) struct ward_view_list w = {0};
	struct ward_sandbox_spec sp = spec();
	struct ward_sandbox_tree trees[] = {
		{.path = "/workspace", .at = "/home/u/p"}, {.path = "/data", .at = NULL}};
	struct ward_sandbox_bind reads[] = {{.host = "/srv/x", .inside = "/home/u/x"},
		{.host = "/etc/hosts"}, {.host = "/usr"}};
	struct ward_err err = WARD_ERR_INIT;
	sp.home = "/home/u";
	sp.trees = trees;
	sp.n_trees = 2;
	sp.reads = reads;
	sp.n_reads = 3;
	ck_assert_msg(ward_view_build(&sp, WARD_LAYERS_ALL, &w, &err) == 0, "%s", err.text);
	ck_assert(entry(&w, "/home/u") < entry(&w, "/home/u/x"));
	ck_assert(entry(&w, "/home/u") < entry(&w, "/home/u/p"));
	ck_assert(entry(&w, "/workspace") < entry(&w, "/home/u/p"));
	ck_assert_ptr_eq(entry(&w, "/home/u/p"), &w.v[w.n - 1]);
	/* A name from the caller replaces the one that we make up. */
	ck_assert_int_eq(entry(&w, "/etc/hosts")->kind, WARD_BLUEPRINT_BIND);
	ck_assert_int_eq(entry(&w, "/etc/passwd")->kind, WARD_BLUEPRINT_FILE);
	ck_assert_ptr_null(entry(&w, "/etc/shadow"));
	for (size_t i = 0; i < w.n; i++)
		for (size_t j = i + 1; j < w.n; j++)
			ck_assert_str_ne(w.v[i].path, w.v[j].path);
}
END_TEST

static void refuse_view(const struct ward_sandbox_spec *sp, const char *text)
{
	struct ward_view_list w = {0};
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_int_eq(ward_view_build(sp, WARD_LAYERS_ALL, &w, &err), -EINVAL);
	ck_assert_msg(strstr(err.text, text) != NULL, "%s", err.text);
	ck_assert_ptr_null(w.v);
}

START_TEST(view_refusals)
{
	struct ward_sandbox_spec sp = spec();
	struct ward_sandbox_tree trees[2] = {{.path = "/w"}, {.path = "/w/sub"}};
	struct ward_sandbox_bind read = {.host = "/srv", .inside = "/w/srv"};
	sp.trees = trees;
	sp.n_trees = 1;
	trees[0].at = "/w/again";
	refuse_view(&sp, "also be visible below the tree /w");
	sp.n_trees = 2;
	trees[0].at = "/w2";
	trees[1].path = "/w2/sub";
	refuse_view(&sp, "it would cover /w2/sub");
	trees[0].at = NULL;
	trees[1].path = "/w/sub";
	trees[1].at = "/w/sub2";
	refuse_view(&sp, "also be visible below the tree /w");
	trees[1].at = NULL;
	sp.n_trees = 1;
	trees[0].at = "/proc/x";
	refuse_view(&sp, "the sandbox has its own /proc");
	trees[0].at = "/usr/";
	refuse_view(&sp, "write an absolute path");
	trees[0].at = NULL;
	sp.reads = &read;
	sp.n_reads = 1;
	refuse_view(&sp, "would cover /w/srv");
	read.inside = "/dev/sda";
	refuse_view(&sp, "not in /proc or /dev");
	read.inside = "/a/../b";
	refuse_view(&sp, "both paths must be absolute");
	sp.n_reads = 0;
	sp.home = "/etc";
	refuse_view(&sp, "has its own");
}
END_TEST

/* --- filter --- */

/* What the kernel does with a filter; only the instructions that we make. */
static uint32_t run_filter(const struct ward_buf *bpf, const struct seccomp_data *d)
{
	const struct sock_filter *f = (const struct sock_filter *)(const void *)bpf->data;
	size_t n = bpf->len / sizeof(*f);
	uint32_t a = 0;
	for (size_t pc = 0; pc < n; pc++) {
		switch (f[pc].code) {
		case BPF_LD | BPF_W | BPF_ABS:
			ck_assert_uint_le(f[pc].k, sizeof(*d) - 4);
			memcpy(&a, (const char *)d + f[pc].k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= f[pc].k;
			break;
		case BPF_JMP | BPF_JA:
			pc += f[pc].k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == f[pc].k ? f[pc].jt : f[pc].jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= f[pc].k ? f[pc].jt : f[pc].jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += a & f[pc].k ? f[pc].jt : f[pc].jf;
			break;
		case BPF_RET | BPF_K:
			return f[pc].k;
		default:
			ck_abort_msg("instruction %04x", f[pc].code);
		}
	}
	ck_abort_msg("the program has no end");
}

static struct seccomp_data request(int nr, uint64_t a0, uint64_t a1, uint64_t a2)
{
	return (struct seccomp_data){.nr = nr, .arch = seccomp_arch_native(), .args = {a0, a1, a2}};
}

static void compile(const char *text, struct ward_buf *bpf)
{
	struct ward_err err = WARD_ERR_INIT;
	ck_assert_msg(
		ward_seccomp_compile("test", text, strlen(text), bpf, &err) == 0, "%s", err.text);
}

#define ERRNO(e) (SECCOMP_RET_ERRNO | (e))

START_TEST(filter_shipped)
{
	/* On other architectures it is a number that no list has. */
	const uint32_t x32_call = seccomp_arch_native() == SCMP_ARCH_X86_64
					  ? SECCOMP_RET_KILL_PROCESS
					  : ERRNO(ENOSYS);
	const struct {
		int nr;
		uint64_t a0, a1, a2;
		uint32_t want;
	} cases[] = {
		{SYS_read, 0, 0, 0, SECCOMP_RET_ALLOW}, {SYS_openat2, 0, 0, 0, SECCOMP_RET_ALLOW},
		{SYS_mount, 0, 0, 0, ERRNO(EPERM)},
		{SYS_clone, 0x01200011, 0, 0, SECCOMP_RET_ALLOW},
		{SYS_clone, 0x10000011, 0, 0, ERRNO(EPERM)},
		{SYS_clone, UINT64_C(0xffffffff10000011), 0, 0, ERRNO(EPERM)},
		{SYS_clone3, 0, 0, 0, ERRNO(ENOSYS)}, {SYS_ioctl, 0, 0x5412, 0, ERRNO(EPERM)},
		{SYS_ioctl, 0, UINT64_C(0x100005412), 0, ERRNO(EPERM)},
		{SYS_ioctl, 0, 0x5413, 0, SECCOMP_RET_ALLOW},
		{SYS_socket, 1, 1, 0, SECCOMP_RET_ALLOW}, {SYS_socket, 2, 3, 1, ERRNO(EPERM)},
		{SYS_socket, 2, 3 | 02000000, 1, ERRNO(EPERM)},
		{SYS_socket, 2, 1 | 02000000, 0, SECCOMP_RET_ALLOW},
		{SYS_socket, 16, 3, 0, SECCOMP_RET_ALLOW},
		{SYS_socket, 16, 3, 9, ERRNO(EAFNOSUPPORT)},
		{SYS_socket, 40, 1, 0, ERRNO(EAFNOSUPPORT)},
		{SYS_mknodat, 0, 0, 0020600, SECCOMP_RET_ALLOW}, /* 0:0 */
		{SYS_mknodat, 0, 0, 0100600, SECCOMP_RET_ALLOW},
		{SYS_mknodat, 0, 0, 0060600, ERRNO(EPERM)},
		/* RLIMIT_CORE is asked for, not set; a pointer with nothing in its low half is one.
		 */
		{SYS_prlimit64, 0, 4, 0, SECCOMP_RET_ALLOW}, {SYS_prlimit64, 0, 4, 1, ERRNO(0)},
		{SYS_prlimit64, 0, 4, UINT64_C(0x100000000), ERRNO(0)},
		{SYS_prlimit64, 0, UINT64_C(0x100000004), 1, ERRNO(0)},
		{SYS_prlimit64, 0, 7, 1, SECCOMP_RET_ALLOW}, {SYS_prlimit64, 1, 4, 0, ERRNO(EPERM)},
		{SYS_setrlimit, 4, 1, 0, ERRNO(0)}, {SYS_setrlimit, 7, 1, 0, SECCOMP_RET_ALLOW},
		{462, 0, 0, 0, SECCOMP_RET_ALLOW}, /* mseal */
		{457, 0, 0, 0, ERRNO(EPERM)},	   /* statmount */
		{470, 0, 0, 0, ERRNO(ENOSYS)}, {1023, 0, 0, 0, ERRNO(ENOSYS)},
		{-1, 0, 0, 0, x32_call}, /* carries the x32 bit */
	};
	ward_cleanup(ward_buf_clear) struct ward_buf bpf = WARD_BUF_INIT;
	struct ward_seccomp_filter shipped = ward_seccomp_command(WARD_SECCOMP_DEFAULT);
	ward_buf_add(&bpf, shipped.bpf, shipped.len);
	struct seccomp_data device = request(SYS_mknodat, 0, 0, 0020600);
	device.args[3] = 0x103; /* /dev/null */
	ck_assert_uint_eq(run_filter(&bpf, &device), ERRNO(EPERM));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seccomp_data d = request(cases[i].nr, cases[i].a0, cases[i].a1, cases[i].a2);
		ck_assert_msg(run_filter(&bpf, &d) == cases[i].want, "case %zu: %08x", i,
			run_filter(&bpf, &d));
		d.arch ^= 1;
		ck_assert_uint_eq(run_filter(&bpf, &d), SECCOMP_RET_KILL_PROCESS);
	}
	struct seccomp_data x32 = request((int)(0x40000000U | SYS_read), 0, 0, 0);
	ck_assert_uint_eq(run_filter(&bpf, &x32), x32_call);
	ward_buf_clear(&bpf);
	shipped = ward_seccomp_init();
	ward_buf_add(&bpf, shipped.bpf, shipped.len);
	struct seccomp_data d = request(SYS_execve, 0, 0, 0);
	ck_assert_uint_eq(run_filter(&bpf, &d), ERRNO(ENOSYS));
}
END_TEST

static uint32_t wanted(const char *action)
{
	if (strcmp(action, "allow") == 0)
		return SECCOMP_RET_ALLOW;
	if (strcmp(action, "deny:ENOSYS") == 0)
		return ERRNO(ENOSYS);
	if (strcmp(action, "deny:EOPNOTSUPP") == 0)
		return ERRNO(EOPNOTSUPP);
	return strcmp(action, "deny:EINVAL") == 0 ? ERRNO(EINVAL) : ERRNO(EPERM);
}

/* Every number of every line of each shipped list gives what its line says. */
START_TEST(filter_all_lines)
{
	static const unsigned least[] = {[WARD_SECCOMP_NO_EXEC] = 1, /* arm64 has no uselib(2) */
		[WARD_SECCOMP_STRICT] = 35,
		[WARD_SECCOMP_DEFAULT] = 280};
	const char *name = ward_seccomp_name((enum ward_seccomp)_i);
	struct ward_seccomp_filter shipped = ward_seccomp_command((enum ward_seccomp)_i);
	ward_cleanup(ward_buf_clear) struct ward_buf bpf = WARD_BUF_INIT;
	ward_cleanup_free char *text = NULL;
	unsigned seen = 0;
	ward_buf_add(&bpf, shipped.bpf, shipped.len);
	for (const struct ward_embedded *e = ward_embedded_seccomp; e->name; e++)
		if (strcmp(e->name, name) == 0)
			text = strdup(e->data);
	ck_assert_ptr_nonnull(text);
	char *save = NULL;
	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char call[64], action[64], rest[8] = "";
		if (l[0] == '#' || sscanf(l, "%63s %63s %7s", call, action, rest) < 2)
			continue;
		/* Those whose lines have conditions: filter_shipped. */
		if (rest[0] == 'a' || strcmp(call, "include") == 0 || strcmp(action, "once") == 0)
			continue;
		char *number = strchr(call, '=');
		int nr = number ? atoi(number + 1) : seccomp_syscall_resolve_name(call);
		struct seccomp_data d = request(nr, 0, 0, 0);
		if (nr < 0 || strncmp(call, "socket", 6) == 0 || strcmp(call, "personality") == 0 ||
			strcmp(call, "prlimit64") == 0 ||
			(_i != WARD_SECCOMP_DEFAULT && (strcmp(call, "seccomp") == 0 ||
							       strcmp(call, "memfd_create") == 0)))
			continue;
		ck_assert_msg(run_filter(&bpf, &d) == wanted(action), "%s: %s", name, l);
		seen++;
	}
	ck_assert_uint_ge(seen, least[_i]);
}
END_TEST

static bool allows(enum ward_seccomp s, const struct seccomp_data *d)
{
	struct ward_seccomp_filter f = ward_seccomp_command(s);
	struct ward_buf bpf = {.data = (char *)(uintptr_t)f.bpf, .len = f.len};
	return run_filter(&bpf, d) == SECCOMP_RET_ALLOW;
}

/* Each list allows no more than the one that it narrows, whatever is asked. */
START_TEST(filter_lists_narrow)
{
	static const uint64_t values[] = {0, 1, 2, 8, 0x18, 0x2000, 0x7e020000};
	size_t n = sizeof(values) / sizeof(*values);
	unsigned fewer = 0;
	for (int nr = 0; nr < 512; nr++) {
		for (size_t i = 0; i < n * n * n; i++) {
			struct seccomp_data d =
				request(nr, values[i % n], values[i / n % n], values[i / n / n]);
			bool of_default = allows(WARD_SECCOMP_DEFAULT, &d);
			bool of_strict = allows(WARD_SECCOMP_STRICT, &d);
			bool of_no_exec = allows(WARD_SECCOMP_NO_EXEC, &d);
			ck_assert_msg(of_default || !of_strict, "strict allows %d", nr);
			ck_assert_msg(of_strict || !of_no_exec, "no-exec allows %d", nr);
			fewer += of_default && !of_strict;
		}
	}
	ck_assert_uint_gt(fewer, 0);
	struct seccomp_data exec = request(SYS_execve, 0, 0, 0);
	struct ward_seccomp_filter f = ward_seccomp_command(WARD_SECCOMP_NO_EXEC);
	struct ward_buf bpf = {.data = (char *)(uintptr_t)f.bpf, .len = f.len};
	ck_assert_uint_eq(run_filter(&bpf, &exec), SECCOMP_RET_USER_NOTIF);
	ck_assert(allows(WARD_SECCOMP_STRICT, &exec));
}
END_TEST

START_TEST(filter_includes)
{
	ward_cleanup(ward_buf_clear) struct ward_buf bpf = WARD_BUF_INIT;
	/* A call that both name has the outer lines alone. */
	compile("include default\nread deny:EINVAL\n", &bpf);
	struct seccomp_data d = request(SYS_read, 0, 0, 0);
	ck_assert_uint_eq(run_filter(&bpf, &d), ERRNO(EINVAL));
	d = request(SYS_write, 0, 0, 0);
	ck_assert_uint_eq(run_filter(&bpf, &d), SECCOMP_RET_ALLOW);
	d = request(SYS_ptrace, 0, 0, 0);
	ck_assert_uint_eq(run_filter(&bpf, &d), ERRNO(EPERM));
	static const char *const bad[] = {
		"include nothing\n", "include\n", "read allow\ninclude default\n"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ward_err err = WARD_ERR_INIT;
		ck_assert_int_eq(
			ward_seccomp_compile("test", bad[i], strlen(bad[i]), &bpf, &err), -EINVAL);
		ck_assert_msg(strstr(err.text, "include needs") != NULL, "%s", err.text);
	}
}
END_TEST

START_TEST(filter_explained)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ck_assert_int_eq(ward_seccomp_explain(WARD_SECCOMP_DEFAULT, "ioctl", &b), 1);
	ck_assert_msg(strstr(ward_buf_str(&b), "EPERM\tif argument 2 is 0x5412\tTIOCSTI") != NULL,
		"%s", ward_buf_str(&b));
	ward_buf_clear(&b);
	/* Of an included list, and with a number behind the name. */
	ck_assert_int_eq(ward_seccomp_explain(WARD_SECCOMP_NO_EXEC, "statmount", &b), 1);
	ck_assert_msg(strncmp(ward_buf_str(&b), "EPERM\t\t", 7) == 0 &&
			      strstr(ward_buf_str(&b), "default.list:"),
		"%s", ward_buf_str(&b));
	ward_buf_clear(&b);
	ck_assert_int_eq(ward_seccomp_explain(WARD_SECCOMP_NO_EXEC, "execve", &b), 1);
	ck_assert_msg(strstr(ward_buf_str(&b), "once") != NULL, "%s", ward_buf_str(&b));
	ward_buf_clear(&b);
	ck_assert_int_eq(ward_seccomp_explain(WARD_SECCOMP_DEFAULT, "cachestat_", &b), 0);
	ck_assert_uint_eq(b.len, 0);
}
END_TEST

/* Random lists against a direct evaluation of what they say. */
START_TEST(filter_random)
{
	enum { NUMBERS = 60, LINES = 3 };
	static const uint32_t masks[] = {UINT32_MAX, 0xff, 0xf0, 1};
	srandom(7);
	for (int round = 0; round < 40; round++) {
		ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
		ward_cleanup(ward_buf_clear) struct ward_buf bpf = WARD_BUF_INIT;
		struct {
			unsigned n, arg[LINES];
			uint32_t mask[LINES], value[LINES], action[LINES + 1];
			bool equal[LINES];
		} want[NUMBERS] = {0};
		static const char *const names[] = {"allow", "deny", "deny:ENOSYS", "kill"};
		static const uint32_t actions[] = {
			SECCOMP_RET_ALLOW, ERRNO(EPERM), ERRNO(ENOSYS), SECCOMP_RET_KILL_PROCESS};
		for (unsigned nr = 0; nr < NUMBERS; nr++) {
			want[nr].action[0] = ERRNO(ENOSYS);
			if (random() % 4 == 0)
				continue;
			want[nr].n = (unsigned)(random() % (LINES + 1));
			for (unsigned i = 0; i <= want[nr].n; i++) {
				unsigned k = (unsigned)(random() % 4);
				want[nr].action[i] = actions[k];
				ward_buf_printf(&text, "n%u=%u %s", 600 + nr, 600 + nr, names[k]);
				if (i < want[nr].n) {
					uint32_t mask = masks[random() % 4];
					want[nr].arg[i] = (unsigned)(random() % 6);
					want[nr].mask[i] = mask;
					want[nr].value[i] = (uint32_t)random() % 4 & mask;
					want[nr].equal[i] = random() % 2;
					ward_buf_printf(&text, " a%u&0x%x%s%u", want[nr].arg[i],
						mask,
						want[nr].equal[i] ? "==" : "!=", want[nr].value[i]);
				}
				ward_buf_putc(&text, '\n');
			}
		}
		compile(ward_buf_str(&text), &bpf);
		for (int k = 0; k < 2000; k++) {
			unsigned nr = (unsigned)(random() % NUMBERS);
			struct seccomp_data d = request((int)(600 + nr), 0, 0, 0);
			for (int i = 0; i < 6; i++)
				d.args[i] = (uint64_t)random() % 5 | (uint64_t)random() << 32;
			unsigned i = 0;
			while (i < want[nr].n &&
				(((uint32_t)d.args[want[nr].arg[i]] & want[nr].mask[i]) ==
					want[nr].value[i]) != want[nr].equal[i])
				i++;
			ck_assert_uint_eq(run_filter(&bpf, &d), want[nr].action[i]);
		}
	}
}
END_TEST

START_TEST(filter_errors)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{"read allow\nraed allow\n", "test:2: unknown system call raed"},
		{"read\n", "test:1: read: the action"},
		{"read maybe\n", "test:1: read: the action"},
		{"read deny:ENOPE\n", "test:1: read: the action"},
		{"read allow a6==1\nread deny\n", "test:1: bad condition a6==1"},
		{"read allow a0=1\nread deny\n", "bad condition"},
		{"read allow a0==x\nread deny\n", "bad condition"},
		{"read allow a0&1==2\nread deny\n", "bad condition"},
		{"read allow a0==0x100000000\nread deny\n", "bad condition"},
		{"read allow a0==1 a0==1 a0==1 a0==1 a0==1\nread deny\n", "bad condition"},
		{"read allow a0==1\n", "test:1: the last line"},
		{"read allow\nwrite allow\nread deny\n", "test:1: line 3 of the same"},
		{"new=100 allow\n", "unknown system call"},
		{"new=2000 allow\n", "unknown system call"},
		{"openat2=437 allow\nopenat2=438 allow\n", "test:2: unknown"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf bpf = WARD_BUF_INIT;
		struct ward_err err = WARD_ERR_INIT;
		ck_assert_int_eq(
			ward_seccomp_compile("test", bad[i].text, strlen(bad[i].text), &bpf, &err),
			-EINVAL);
		ck_assert_msg(strstr(err.text, bad[i].error) != NULL, "%s", err.text);
		ck_assert_uint_eq(bpf.len, 0);
	}
	ward_cleanup(ward_buf_clear) struct ward_buf bpf = WARD_BUF_INIT;
	compile("  # only a comment\n\n\tread\tallow # a reason\nsocketcall deny\n", &bpf);
	struct seccomp_data d = request(SYS_read, 0, 0, 0);
	ck_assert_uint_eq(run_filter(&bpf, &d), SECCOMP_RET_ALLOW);
}
END_TEST

/* --- probes --- */

/* Only the layer's own answer, and the control's, is a verdict that lets a command start. */
START_TEST(probe_judged)
{
	for (int p = 0; p <= WARD_PROBE_COUNT_; p++) {
		unsigned held = 0;
		struct ward_probe_result r = {.probe = (enum ward_probe)p, .made = true};
		for (r.attempt = -1; r.attempt < 134; r.attempt++) {
			for (r.control = -1; r.control < 134; r.control++) {
				enum ward_probe_verdict v = ward_probe_judge(&r);
				ck_assert_int_ne(v, WARD_PROBE_SKIPPED);
				held += v == WARD_PROBE_HELD;
				if (v == WARD_PROBE_HELD)
					ck_assert_int_gt(r.attempt, 0);
			}
		}
		bool known = p > WARD_PROBE_NONE && p < WARD_PROBE_COUNT_;
		ck_assert_uint_eq(held, known);
	}
}
END_TEST

START_TEST(probe_skipped)
{
	struct ward_err err = WARD_ERR_INIT;
	/* Nothing may be left out that every session can show. */
	struct ward_probe_result r = {.probe = WARD_PROBE_PTRACE};
	ck_assert_int_eq(ward_probe_judge(&r), WARD_PROBE_FAILED);
	ck_assert_int_eq(ward_probe_explain(&r, &err), -EPERM);
	ck_assert_msg(strstr(err.text, "probe ptrace: wardfs did not make the attempt") != NULL,
		"%s", err.text);
	r.probe = WARD_PROBE_HIDDEN;
	ck_assert_int_eq(ward_probe_judge(&r), WARD_PROBE_SKIPPED);
	r = (struct ward_probe_result){WARD_PROBE_CONNECT, true, 0, 0};
	ck_assert_int_eq(ward_probe_explain(&r, &err), -EPERM);
	ck_assert_msg(strstr(err.text, "network namespace") != NULL, "%s", err.text);
	ck_assert_str_eq(ward_probe_name(WARD_PROBE_COUNT_), "?");
	for (int p = WARD_PROBE_NONE + 1; p < WARD_PROBE_COUNT_; p++)
		ck_assert_int_gt(strlen(ward_probe_what((enum ward_probe)p)), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sandbox");
	TCase *tc = tcase_create("all");
	tcase_add_test(tc, paths);
	tcase_add_test(tc, plan_round_trip);
	tcase_add_test(tc, plan_damage);
	tcase_add_test(tc, view_order);
	tcase_add_test(tc, view_refusals);
	tcase_add_test(tc, filter_shipped);
	tcase_add_loop_test(tc, filter_all_lines, 0, WARD_SECCOMP_DEFAULT + 1);
	tcase_add_test(tc, filter_lists_narrow);
	tcase_add_test(tc, filter_includes);
	tcase_add_test(tc, filter_explained);
	tcase_add_test(tc, filter_random);
	tcase_add_test(tc, filter_errors);
	tcase_add_test(tc, probe_judged);
	tcase_add_test(tc, probe_skipped);
	suite_add_tcase(suite, tc);
	return suite_run(suite);
}
