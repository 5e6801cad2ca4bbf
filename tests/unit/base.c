/* SPDX-License-Identifier: Apache-2.0 */
/* base/ and ipc/: buffers, escaping, whole reads, inherited descriptors, messages. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/cut.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/kernel.h"
#include "enforcer/base/out.h"
#include "enforcer/ipc/early.h"
#include "enforcer/ipc/helper.h"
#include "enforcer/ipc/msg.h"
#include "tests/support/suite.h"

START_TEST(err_text_is_wrapped_and_cut)
{
	struct ward_err e = WARD_ERR_INIT;
	ck_assert_int_eq(ward_err_sys(&e, -ENOENT, "open %s", "x"), -ENOENT);
	ck_assert_str_eq(e.text, "open x: No such file or directory");
	ck_assert_int_eq(ward_err_wrap(&e, "mount"), -ENOENT);
	ck_assert_str_eq(e.text, "mount: open x: No such file or directory");
	char big[2 * WARD_ERR_TEXT_MAX];
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	ck_assert_int_eq(ward_err_set(&e, 7, "%s", big), -EINVAL);
	ck_assert_uint_eq(strlen(e.text), WARD_ERR_TEXT_MAX - 1);
	ck_assert_int_eq(ward_err_set(NULL, -EIO, "nobody listens"), -EIO);
}
END_TEST

/* Of every size: no half word, no half character, and it fits. */
START_TEST(texts_are_cut_between_words)
{
	static const char text[] = "the clock \xc3\xa4nderte sich, and all of it was stopped";
	static const char word[] = "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc";
	char ret[sizeof(text) + 8];
	for (size_t size = 8; size < sizeof(ret); size++) {
		ward_cut(ret, size, text, SIZE_MAX);
		const size_t n = strlen(ret);
		ck_assert_uint_lt(n, size);
		ck_assert_int_eq(ward_cut_is(ret), size < sizeof(text));
		if (size >= sizeof(text)) {
			ck_assert_str_eq(ret, text);
			continue;
		}
		const size_t kept = n - strlen(WARD_CUT_MARK);
		ck_assert_mem_eq(ret, text, kept);
		if (memchr(ret, ' ', kept))
			ck_assert(text[kept - 1] == ' ');
	}
	ward_cut(ret, 10, word, SIZE_MAX);
	ck_assert_str_eq(ret, "\xc3\xa4\xc3\xb6" WARD_CUT_MARK);
	ward_cut(ret, 8, "abc def", 3);
	ck_assert_str_eq(ret, "abc");
}
END_TEST

START_TEST(buf_error_is_sticky)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = {.max = 8};
	ward_buf_puts(&b, "12345678");
	ck_assert_int_eq(ward_buf_error(&b), 0);
	ward_buf_putc(&b, '9');
	ck_assert_int_eq(ward_buf_error(&b), -E2BIG);
	ck_assert_ptr_null(ward_buf_steal(&b));
	ck_assert_str_eq(ward_buf_str(&b), "12345678");
}
END_TEST

static void check_escape(const char *bytes, size_t len, const char *plain, const char *json)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_escape(&b, bytes, len);
	ck_assert_str_eq(ward_buf_str(&b), plain);
	ward_cleanup(ward_buf_clear) struct ward_buf back = WARD_BUF_INIT;
	ck_assert_int_eq(ward_unescape(&back, b.data, b.len), 0);
	ck_assert_uint_eq(back.len, len);
	ck_assert_mem_eq(back.data, bytes, len);
	ward_cleanup(ward_buf_clear) struct ward_buf j = WARD_BUF_INIT;
	ward_escape_json(&j, bytes, len);
	ck_assert_str_eq(ward_buf_str(&j), json);
}

START_TEST(escape_is_lossless)
{
	check_escape("a/b\nc", 5, "a/b\\nc", "\"a/b\\\\nc\"");
	check_escape("\xff\x1b[2J", 5, "\\xff\\x1b[2J", "\"\\\\xff\\\\x1b[2J\"");
	check_escape("q\"\\", 3, "q\"\\\\", "\"q\\\"\\\\\\\\\"");
	check_escape("\xc3\xa4", 2, "\xc3\xa4", "\"\xc3\xa4\"");
	/* U+202E turns the rest of a line round; U+0085 is a newline to some terminals. */
	check_escape("\xe2\x80\xae.txt", 7, "\\xe2\\x80\\xae.txt", "\"\\\\xe2\\\\x80\\\\xae.txt\"");
	/* Not seen: a variation selector, a vowel separator, a filler, a selector of plane 14. */
	check_escape("a\xef\xb8\x8e", 4, "a\\xef\\xb8\\x8e", "\"a\\\\xef\\\\xb8\\\\x8e\"");
	check_escape("\xe1\xa0\x8e", 3, "\\xe1\\xa0\\x8e", "\"\\\\xe1\\\\xa0\\\\x8e\"");
	check_escape("\xe3\x85\xa4", 3, "\\xe3\\x85\\xa4", "\"\\\\xe3\\\\x85\\\\xa4\"");
	check_escape(
		"\xf3\xa0\x84\x80", 4, "\\xf3\\xa0\\x84\\x80", "\"\\\\xf3\\\\xa0\\\\x84\\\\x80\"");
	/* Neighbours of such are seen. */
	check_escape("\xe3\x85\xa3\xef\xb8\x90", 6, "\xe3\x85\xa3\xef\xb8\x90",
		"\"\xe3\x85\xa3\xef\xb8\x90\"");
	check_escape("\xc2\x85", 2, "\\xc2\\x85", "\"\\\\xc2\\\\x85\"");
	/* Overlong slash, surrogate, cut sequence: not UTF-8. */
	check_escape("\xc0\xaf", 2, "\\xc0\\xaf", "\"\\\\xc0\\\\xaf\"");
	check_escape("\xed\xa0\x80", 3, "\\xed\\xa0\\x80", "\"\\\\xed\\\\xa0\\\\x80\"");
	check_escape("\xe2\x82", 2, "\\xe2\\x82", "\"\\\\xe2\\\\x82\"");
	char all[256];
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf back = WARD_BUF_INIT;
	ward_escape(&b, all, sizeof(all));
	for (size_t i = 0; i < b.len; i++)
		ck_assert(b.data[i] >= 0x20 && b.data[i] < 0x7f);
	ck_assert_int_eq(ward_unescape(&back, b.data, b.len), 0);
	ck_assert_uint_eq(back.len, sizeof(all));
	ck_assert_mem_eq(back.data, all, sizeof(all));
}
END_TEST

/* The same text from both, of arguments that nobody escapes. */
#define CHECK_SAME(...)                                                                            \
	do {                                                                                       \
		ward_cleanup(ward_buf_clear) struct ward_buf shown = WARD_BUF_INIT;                \
		ward_cleanup(ward_buf_clear) struct ward_buf plain = WARD_BUF_INIT;                \
		ward_shownf(&shown, __VA_ARGS__);                                                  \
		ward_buf_printf(&plain, __VA_ARGS__);                                              \
		ck_assert_str_eq(ward_buf_str(&shown), ward_buf_str(&plain));                      \
	} while (0)

START_TEST(formats_are_those_of_printf)
{
	CHECK_SAME("no conversion");
	CHECK_SAME("%d %i %u %x %X %o %%", -1, 2, 3U, 255U, 255U, 8U);
	CHECK_SAME("%hhd %hd %ld %lld %jd %zd %td", (signed char)-1, (short)-2, -3L, -4LL,
		(intmax_t)-5, (ssize_t)-6, (ptrdiff_t)-7);
	CHECK_SAME("%hhu %hu %lu %llu %ju %zu", (unsigned char)255, (unsigned short)65535,
		(unsigned long)-1, (unsigned long long)-1, (uintmax_t)-1, (size_t)-1);
	CHECK_SAME("[%5d] [%-5d] [%05d] [%+d] [% d] [%#x] [%.3d]", 1, 2, 3, 4, 5, 6U, 7);
	CHECK_SAME("[%*d] [%-*d] [%*d] [%.*d]", 6, 1, 6, 2, -6, 3, 4, 4);
	CHECK_SAME("%.0f %.1f %8.2f %e %g", 1.5, 2.25, 3.125, 4.0, 5.5);
	CHECK_SAME("[%s] [%9s] [%-9s] [%.2s] [%5.2s] [%-5.2s] [%.*s] [%*s]", "one", "two", "three",
		"four", "five", "six", 3, "seven", 7, "eight");
	CHECK_SAME("[%c] [%3c] [%-3c]", 'a', 'b', 'c');
}
END_TEST

static void check_shown(const char *bytes, const char *text)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_shownf(&b, "\033[31m%s\n", bytes);
	ck_assert_int_eq(ward_buf_error(&b), 0);
	ck_assert_uint_gt(b.len, 6);
	ck_assert_int_eq(memcmp(b.data, "\033[31m", 5), 0);
	ck_assert_int_eq(b.data[b.len - 1], '\n');
	b.data[b.len - 1] = 0;
	ck_assert_str_eq(b.data + 5, text);
}

START_TEST(what_is_foreign_is_shown_and_what_is_ours_printed)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	check_shown("a b", "a b");
	check_shown("\xc3\xa4", "\xc3\xa4");
	check_shown("a\\x1b\\n", "a\\x1b\\n"); /* escaped already: as it is */
	check_shown("\033]0;t\a\r\n\t", "\\x1b]0;t\\x07\\r\\n\\t");
	check_shown("\xc2\x9b\x9b\x7f\xff", "\\xc2\\x9b\\x9b\\x7f\\xff");
	check_shown("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\x8f",
		"\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xe2\\x80\\x8f");
	/* A character that a precision cuts is none. */
	ward_shownf(&b, "%.1s|%c|%4s|", "\xc3\xa4", '\033', "\a");
	ck_assert_str_eq(ward_buf_str(&b), "\\xc3|\\x1b|\\x07|");
	ward_buf_clear(&b);
	const char *volatile none = NULL;
	ward_shownf(&b, "%s %-3s|", none, none);
	ck_assert_str_eq(ward_buf_str(&b), "? ?  |");
	ward_buf_clear(&b);
	ward_shown_lines(&b, "a\tb\r\n\0\033c\\n", 10);
	ck_assert_str_eq(ward_buf_str(&b), "a\tb\\r\n\\x00\\x1bc\\n");
}
END_TEST

START_TEST(json_stays_json)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	static const char text[] =
		"{\"a\":\t\"\xc3\xa4\xc2\x9b\x7f\xe2\x80\xae\xf3\xa0\x80\x81\\u001b\xff\"}\r";
	ward_escape_in_json(&b, text, sizeof(text) - 1);
	ck_assert_str_eq(ward_buf_str(&b),
		"{\"a\": \"\xc3\xa4\\u009b\\u007f\\u202e\\udb40\\udc01\\u001b\\ufffd\"} ");
}
END_TEST

START_TEST(unescape_refuses_what_it_never_wrote)
{
	static const char *bad[] = {"\\", "\\q", "\\x", "\\x1", "\\xg0", "\\xAB", "a\\"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
		ck_assert_int_eq(ward_unescape(&b, bad[i], strlen(bad[i])), -EINVAL);
	}
}
END_TEST

START_TEST(a_descriptor_has_the_path_that_the_kernel_gives_it)
{
	ward_cleanup_free char *path = NULL;
	ward_cleanup_fd int dir = open("/proc/../usr/./bin/..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(dir, 0);
	ck_assert_int_eq(ward_fd_path(dir, &path), 0);
	ck_assert_str_eq(path, "/usr");
	int p[2];
	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	char *none = NULL;
	ck_assert_int_eq(ward_fd_path(p[0], &none), -ENOENT);
	close(p[0]);
	close(p[1]);
	ck_assert_int_eq(ward_fd_path(p[0], &none), -ENOENT);
	ck_assert_ptr_null(none);
}
END_TEST

START_TEST(clock_for_timers)
{
	const uint64_t now = ward_clock_mono_ns();
	struct timeval tv = ward_clock_timeval(0);
	/* Never at once, and never so far away that it overflows. */
	ck_assert(tv.tv_sec == 0 && tv.tv_usec == 1);
	tv = ward_clock_timeval(1500 * WARD_NS_PER_SEC / 1000);
	ck_assert(tv.tv_sec == 1 && tv.tv_usec == 500001);
	tv = ward_clock_timeval(UINT64_MAX);
	ck_assert(tv.tv_sec == 86400 && tv.tv_usec < 1000000);
	ck_assert_uint_eq(ward_clock_left_ns(now, 0), 0);
	ck_assert_uint_eq(ward_clock_left_ns(now - 1000, 1000), 0);
	ck_assert_uint_gt(ward_clock_left_ns(now, UINT64_MAX), UINT64_MAX / 2);
}
END_TEST

START_TEST(clock_has_one_text_form)
{
	char t[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(UINT64_C(1700000000000000007), t);
	ck_assert_str_eq(t, "2023-11-14T22:13:20.000000007Z");
}
END_TEST

START_TEST(sealed_memory_cannot_change)
{
	ward_cleanup_fd int fd = -1;
	ck_assert_int_eq(ward_fd_sealed("t", "abc", 3, &fd, NULL), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	ck_assert_int_lt(write(fd, "x", 1), 0);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_lt(ftruncate(fd, 0), 0);
	ck_assert_ptr_eq(mmap(NULL, 3, PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ck_assert_int_eq(ward_fd_read_all(fd, 100, &b), 0);
	ck_assert_str_eq(ward_buf_str(&b), "abc");
	lseek(fd, 0, SEEK_SET);
	ck_assert_int_eq(ward_fd_read_all(fd, 2, &b), -EFBIG);
	/* Another process that holds it reads as well: from the beginning, and nobody's place
	 * moves. */
	lseek(fd, 2, SEEK_SET);
	ward_buf_clear(&b);
	ck_assert_int_eq(ward_fd_pread_all(fd, 100, &b), 0);
	ck_assert_str_eq(ward_buf_str(&b), "abc");
	ck_assert_int_eq(lseek(fd, 0, SEEK_CUR), 2);
	ck_assert_int_eq(ward_fd_pread_all(fd, 2, &b), -EFBIG);
}
END_TEST

START_TEST(a_child_inherits_only_what_is_listed)
{
	int a[2];
	int b[2];
	ck_assert_int_eq(pipe(a), 0);
	ck_assert_int_eq(pipe(b), 0);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* Swapped numbers: the sources stand on each other's targets. */
		int from[] = {a[1], b[1], -1};
		int to[] = {b[1], a[1], 30};
		if (ward_fd_inherit(from, to, 3) < 0)
			_exit(1);
		if (write(b[1], "a", 1) != 1 || write(a[1], "b", 1) != 1)
			_exit(2);
		if (fcntl(a[1], F_GETFD) != 0 || fcntl(a[0], F_GETFD) != FD_CLOEXEC)
			_exit(3);
		_exit(fcntl(30, F_GETFD) == -1 ? 0 : 4);
	}
	int st = 0;
	ck_assert_int_eq(waitpid(pid, &st, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(st), 0);
	char c = 0;
	ck_assert_int_eq(read(a[0], &c, 1), 1);
	ck_assert_int_eq(c, 'a');
	ck_assert_int_eq(read(b[0], &c, 1), 1);
	ck_assert_int_eq(c, 'b');
	close(a[0]), close(a[1]), close(b[0]), close(b[1]);
}
END_TEST

START_TEST(messages_arrive_whole_with_descriptors)
{
	int s[2];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
	struct ward_msg m;
	ward_msg_init(&m, 7);
	ward_msg_put_u32(&m, 42);
	ward_msg_put_u64(&m, UINT64_C(1) << 40);
	ward_msg_put_str(&m, "hello");
	ward_msg_put_str(&m, NULL);
	int pass = s[0];
	ck_assert_int_eq(ward_msg_send(s[0], &m, &pass, 1), 0);

	static char buf[WARD_MSG_MAX];
	int fds[WARD_MSG_FDS_MAX];
	size_t n = WARD_MSG_FDS_MAX;
	ssize_t len = ward_msg_recv(s[1], buf, sizeof(buf), fds, &n);
	ck_assert_int_gt(len, 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
	close(fds[0]);
	struct ward_msg_reader r;
	ward_msg_reader_init(&r, buf, (size_t)len);
	ck_assert_uint_eq(r.type, 7);
	ck_assert_uint_eq(ward_msg_get_u32(&r), 42);
	ck_assert_uint_eq(ward_msg_get_u64(&r), UINT64_C(1) << 40);
	char *t = ward_msg_get_str(&r);
	ck_assert_str_eq(t, "hello");
	free(t);
	ck_assert_int_eq(ward_msg_done(&r), -EBADMSG); /* something is left unread */
	t = ward_msg_get_str(&r);
	ck_assert_str_eq(t, "");
	free(t);
	ck_assert_int_eq(ward_msg_done(&r), 0);

	/* Every cut of the message is refused, none is read past its end. */
	for (size_t cut = 0; cut < (size_t)len; cut++) {
		ward_msg_reader_init(&r, buf, cut);
		(void)ward_msg_get_u32(&r);
		(void)ward_msg_get_u64(&r);
		char *x = ward_msg_get_str(&r);
		char *y = ward_msg_get_str(&r);
		free(x), free(y);
		ck_assert_int_eq(ward_msg_done(&r), -EBADMSG);
	}
	/* A descriptor that nobody asked for is closed, and the message refused. */
	ck_assert_int_eq(ward_msg_send(s[0], &m, &pass, 1), 0);
	ck_assert_int_eq(ward_msg_recv(s[1], buf, sizeof(buf), NULL, NULL), -EBADMSG);
	close(s[0]);
	ck_assert_int_eq(ward_msg_recv(s[1], buf, sizeof(buf), NULL, NULL), 0);
	close(s[1]);
	ward_msg_clear(&m);
}
END_TEST

/* In a process of its own, which has EARLY alone: 0, what it says to `check`, or -errno of the
 * taking. */
static int taken(const struct ward_msg *m, const int *fds, size_t n, int (*check)(void))
{
	char name[] = "helper", early[] = WARD_EARLY;
	char *argv[] = {name, early, NULL};
	int s[2];
	int status;
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
	if (m)
		ck_assert_int_eq(ward_msg_send(s[0], m, fds, n), 0);
	pid_t pid = fork();
	if (pid == 0) {
		const int to = WARD_FD_EARLY;
		if (ward_fd_inherit(&s[1], &to, 1) < 0)
			_exit(255);
		close_range(3, WARD_FD_EARLY - 1, 0);
		close_range(WARD_FD_EARLY + 1, ~0U, 0);
		int r = ward_early_take(2, argv);
		_exit(r < 0 ? -r : check ? check() : 0);
	}
	close(s[0]), close(s[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static bool same_file(int fd, const char *path)
{
	struct stat a, b;
	return fstat(fd, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* Each on its number, close-on-exec, and nothing besides. */
static int on_their_numbers(void)
{
	if (!same_file(5, "/") || !same_file(6, "/proc") || !same_file(31, "/dev"))
		return 1;
	for (int fd = 3; fd < 100; fd++) {
		bool wanted = fd == 5 || fd == 6 || fd == 31;
		if (fcntl(fd, F_GETFD) != (wanted ? FD_CLOEXEC : -1))
			return 100 + fd;
	}
	return 0;
}

START_TEST(descriptors_come_early_or_not_at_all)
{
	int fds[4] = {open("/dev", O_PATH | O_CLOEXEC), open("/", O_PATH | O_CLOEXEC),
		open("/proc", O_PATH | O_CLOEXEC), open("/", O_PATH | O_CLOEXEC)};
	static const struct {
		uint32_t type, n, to[4];
		int want;
	} rows[] = {
		{WARD_MSG_FDS, 3, {31, 5, 6}, 0}, /* whose own numbers are others' targets */
		{WARD_MSG_FDS, 3, {31, 5, 5}, EBADMSG},
		{WARD_MSG_FDS, 3, {31, 5, WARD_FD_CONTROL}, EBADMSG},
		{WARD_MSG_FDS, 3, {31, 5, WARD_FD_LIFELINE}, EBADMSG},
		{WARD_MSG_FDS, 3, {31, 5, WARD_FD_EARLY}, EBADMSG},
		{WARD_MSG_FDS, 3, {31, 5, 0}, EBADMSG},
		{WARD_MSG_FDS, 3, {31, 5, WARD_FD_FS_TREES + 2 * WARD_TREES_MAX}, EBADMSG},
		{WARD_MSG_FDS, 3, {31, 5, UINT32_MAX}, EBADMSG},
		{WARD_MSG_FDS, 2, {31, 5}, EBADMSG},
		{WARD_MSG_FDS, 4, {31, 5, 6, 7}, EBADMSG},
		{WARD_MSG_CONFIG, 3, {31, 5, 6}, EBADMSG},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ward_msg m;
		ward_msg_init(&m, rows[i].type);
		ward_msg_put_u32(&m, rows[i].n);
		for (size_t k = 0; k < rows[i].n; k++)
			ward_msg_put_u32(&m, rows[i].to[k]);
		ck_assert_msg(
			taken(&m, fds, 3, rows[i].want ? NULL : on_their_numbers) == rows[i].want,
			"row %zu", i);
		ward_msg_put_u32(&m, 7);
		ck_assert_int_eq(taken(&m, fds, 3, NULL), EBADMSG);
		ward_msg_clear(&m);
	}
	/* Their sender has ended. */
	ck_assert_int_eq(taken(NULL, NULL, 0, NULL), EPIPE);
	/* Without the word nothing is waited for. */
	char name[] = "helper";
	char *argv[] = {name, NULL};
	ck_assert_int_eq(ward_early_take(1, argv), 0);
	for (size_t i = 0; i < 4; i++)
		close(fds[i]);
}
END_TEST

START_TEST(kernels_that_drop_pages_after_a_direct_write)
{
	static const struct {
		const char *release;
		bool drops;
	} cases[] = {{"", false}, {"linux", false}, {"6", false}, {"5.19.99", false},
		{"6.1.200", false}, {"6.12", false}, {"6.12.63+deb13-amd64", false},
		{"6.12.64", true}, {"6.17.13", false}, {"6.18.2", false}, {"6.18.3-arch1", true},
		{"6.18.44-fc", true}, {"6.19", true}, {"6.19.0-rc1", true}, {"7.0.1", true}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_msg(ward_kernel_drops_pages(cases[i].release) == cases[i].drops, "%s",
			cases[i].release);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base");
	TCase *t = tcase_create("base");
	tcase_add_test(t, err_text_is_wrapped_and_cut);
	tcase_add_test(t, texts_are_cut_between_words);
	tcase_add_test(t, buf_error_is_sticky);
	tcase_add_test(t, escape_is_lossless);
	tcase_add_test(t, formats_are_those_of_printf);
	tcase_add_test(t, what_is_foreign_is_shown_and_what_is_ours_printed);
	tcase_add_test(t, json_stays_json);
	tcase_add_test(t, unescape_refuses_what_it_never_wrote);
	tcase_add_test(t, a_descriptor_has_the_path_that_the_kernel_gives_it);
	tcase_add_test(t, clock_for_timers);
	tcase_add_test(t, clock_has_one_text_form);
	tcase_add_test(t, sealed_memory_cannot_change);
	tcase_add_test(t, kernels_that_drop_pages_after_a_direct_write);
	tcase_add_test(t, a_child_inherits_only_what_is_listed);
	tcase_add_test(t, messages_arrive_whole_with_descriptors);
	tcase_add_test(t, descriptors_come_early_or_not_at_all);
	suite_add_tcase(s, t);
	return suite_run(s);
}
