/* SPDX-License-Identifier: Apache-2.0 */
/* Speaks D-Bus to logind, as far as a delay of sleep takes it. */
#include "enforcer/session/ask/asleep.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"

/* Where it is by the D-Bus Specification, with its name in the environment. */
#define BUS_PATH "/run/dbus/system_bus_socket"
#define BUS_ENV "DBUS_SYSTEM_BUS_ADDRESS"
#define LOGIND "org.freedesktop.login1"
#define MANAGER LOGIND ".Manager"
/* All that concerns us is some hundred bytes long. */
#define MESSAGE_MAX 65536U
/* A unique name of the bus; names have 255 bytes at most. */
#define NAME_SIZE 256
/* The first message has the serial number 1. */
#define FIRST_SERIAL 1U
#define HEAD_SIZE 16U

enum message { CALL = 1, RETURN = 2, ERROR = 3, SIGNAL = 4 };

/* Header fields. */
enum field {
	FIELD_PATH = 1,
	FIELD_INTERFACE = 2,
	FIELD_MEMBER = 3,
	FIELD_REPLY_SERIAL = 5,
	FIELD_DESTINATION = 6,
	FIELD_SENDER = 7,
	FIELD_SIGNATURE = 8,
};

struct ward_asleep {
	int bus;  /* -1: the connection broke */
	int lock; /* the inhibitor; -1: none */
	int came; /* a descriptor whose message has not been read whole */
	struct ward_pollset *set;
	ward_pollset_id id;
	ward_asleep_fn *fn;
	void *arg;
	struct ward_buf in;
	unsigned lines;		/* of the handshake that are to come */
	uint32_t serial, asked; /* the last one used; of Inhibit */
	char logind[NAME_SIZE]; /* who answered that; "": nobody yet */
};

/* --- writing --- */

static void align(struct ward_buf *b, size_t to)
{
	while (b->len % to && !ward_buf_error(b))
		ward_buf_putc(b, '\0');
}

static void put_u32(struct ward_buf *b, uint32_t v)
{
	align(b, sizeof(v));
	ward_buf_add(b, &v, sizeof(v));
}

static void put_string(struct ward_buf *b, const char *s)
{
	put_u32(b, (uint32_t)strlen(s));
	ward_buf_add(b, s, strlen(s) + 1);
}

static void put_signature(struct ward_buf *b, const char *s)
{
	ward_buf_putc(b, (char)strlen(s));
	ward_buf_add(b, s, strlen(s) + 1);
}

static void put_field(struct ward_buf *b, enum field code, const char *type, const char *value)
{
	align(b, 8);
	ward_buf_putc(b, (char)code);
	put_signature(b, type);
	if (*type == 'g')
		put_signature(b, value);
	else
		put_string(b, value);
}

/* A call with these strings. Returns its serial number. */
static uint32_t put_call(struct ward_asleep *a, struct ward_buf *out, const char *to,
	const char *path, const char *member, const char *const *strings)
{
	static const uint16_t one = 1;
	ward_cleanup(ward_buf_clear) struct ward_buf fields = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf body = WARD_BUF_INIT;
	char signature[8] = "";
	for (size_t i = 0; strings[i]; i++) {
		put_string(&body, strings[i]);
		strcat(signature, "s");
	}
	put_field(&fields, FIELD_PATH, "o", path);
	put_field(&fields, FIELD_INTERFACE, "s", strcmp(to, LOGIND) == 0 ? MANAGER : to);
	put_field(&fields, FIELD_MEMBER, "s", member);
	put_field(&fields, FIELD_DESTINATION, "s", to);
	if (*signature)
		put_field(&fields, FIELD_SIGNATURE, "g", signature);
	/* Fields begin at 16, so they are aligned as in a buffer of their own. */
	const uint8_t head[4] = {*(const uint8_t *)&one ? 'l' : 'B', CALL, 0, 1};
	const uint32_t numbers[] = {(uint32_t)body.len, ++a->serial, (uint32_t)fields.len};
	ward_buf_add(out, head, sizeof(head));
	ward_buf_add(out, numbers, sizeof(numbers));
	align(&fields, 8);
	ward_buf_add(out, fields.data, fields.len);
	ward_buf_add(out, body.data, body.len);
	if (ward_buf_error(&fields) < 0 || ward_buf_error(&body) < 0)
		out->error = -ENOMEM;
	return a->serial;
}

static void put_inhibit(struct ward_asleep *a, struct ward_buf *out)
{
	static const char *const why[] = {
		"sleep", "wardfs", "commands wait for a person's answer", "delay", NULL};
	a->asked = put_call(a, out, LOGIND, "/org/freedesktop/login1", "Inhibit", why);
}

static int send_all(const struct ward_asleep *a, const struct ward_buf *out)
{
	if (ward_buf_error(out) < 0)
		return -ENOMEM;
	const ssize_t n = send(a->bus, out->data, out->len, MSG_NOSIGNAL | MSG_DONTWAIT);
	return n < 0 ? -errno : (size_t)n == out->len ? 0 : -EAGAIN;
}

/* --- reading --- */

/* A message, or the part of it that is read. Positions are of its beginning. */
struct reader {
	const uint8_t *p;
	size_t len, at;
	bool bad;
};

static const void *take(struct reader *r, size_t n, size_t to)
{
	const size_t at = (r->at + to - 1) / to * to;
	if (r->bad || at > r->len || n > r->len - at) {
		r->bad = true;
		return NULL;
	}
	r->at = at + n;
	return r->p + at;
}

static uint32_t get_u32(struct reader *r)
{
	uint32_t v = 0;
	const void *p = take(r, sizeof(v), sizeof(v));
	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

static const char *get_text(struct reader *r, size_t n)
{
	const char *s = n < MESSAGE_MAX ? take(r, n + 1, 1) : NULL;
	r->bad = r->bad || !s || memchr(s, '\0', n + 1) != s + n;
	return r->bad ? "" : s;
}

static const char *get_signature(struct reader *r)
{
	const uint8_t *n = take(r, 1, 1);
	return get_text(r, n ? *n : MESSAGE_MAX);
}

struct heard {
	uint8_t type;
	uint32_t reply;
	const char *interface, *member, *sender, *signature;
	bool yes; /* the body, where that is a boolean */
};

static void get_field(struct reader *r, struct heard *h)
{
	const uint8_t *code = take(r, 1, 8);
	const char *type = get_signature(r), *text = "";
	uint32_t number = 0;
	if (*type == 's' || *type == 'o')
		text = get_text(r, get_u32(r));
	else if (*type == 'g')
		text = get_signature(r);
	else
		number = get_u32(r); /* of the others all are so */
	if (r->bad || strlen(type) != 1 || !code) {
		r->bad = true;
		return;
	}
	if (*code == FIELD_INTERFACE)
		h->interface = text;
	else if (*code == FIELD_MEMBER)
		h->member = text;
	else if (*code == FIELD_SENDER)
		h->sender = text;
	else if (*code == FIELD_SIGNATURE)
		h->signature = text;
	else if (*code == FIELD_REPLY_SERIAL)
		h->reply = number;
}

/* The length of the first message of n bytes; 0: more has to come; SIZE_MAX: it is none. */
static size_t message_size(const char *p, size_t n)
{
	static const uint16_t one = 1;
	uint32_t body, fields;
	if (n < HEAD_SIZE)
		return 0;
	memcpy(&body, p + 4, sizeof(body));
	memcpy(&fields, p + 12, sizeof(fields));
	if (p[0] != (*(const uint8_t *)&one ? 'l' : 'B') || p[3] != 1 || body > MESSAGE_MAX ||
		fields > MESSAGE_MAX)
		return SIZE_MAX;
	const size_t all = HEAD_SIZE + (fields + 7U) / 8U * 8U + body;
	return all > n ? 0 : all;
}

static bool parse(const char *p, size_t n, struct heard *ret)
{
	struct reader r = {.p = (const uint8_t *)p, .len = n, .at = 12};
	*ret = (struct heard){.type = (uint8_t)p[1],
		.interface = "",
		.member = "",
		.sender = "",
		.signature = ""};
	const size_t end = HEAD_SIZE + get_u32(&r);
	r.len = end <= n ? end : 0;
	while (!r.bad && r.at < r.len)
		get_field(&r, ret);
	r.len = n;
	if (!r.bad && strcmp(ret->signature, "b") == 0) {
		r.at = (end + 7) / 8 * 8;
		ret->yes = get_u32(&r) == 1;
	}
	return !r.bad;
}

static void broke(struct ward_asleep *a)
{
	if (a->bus < 0)
		return;
	ward_pollset_remove(a->set, a->id);
	ward_fd_drop(a->bus);
	a->bus = -1;
	ward_asleep_done(a);
}

static void inhibit_again(struct ward_asleep *a)
{
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	put_inhibit(a, &out);
	if (send_all(a, &out) < 0)
		broke(a);
}

static void obey(struct ward_asleep *a, const struct heard *h)
{
	if (h->type == RETURN && h->reply == a->asked && a->came >= 0) {
		ward_asleep_done(a);
		a->lock = a->came;
		a->came = -1;
		(void)snprintf(a->logind, sizeof(a->logind), "%s", h->sender);
	} else if (h->type == ERROR && h->reply == a->asked) {
		broke(a); /* there is no logind, or it gives nothing to us */
	} else if (h->type == SIGNAL && *a->logind && strcmp(h->sender, a->logind) == 0 &&
		   strcmp(h->interface, MANAGER) == 0 &&
		   strcmp(h->member, "PrepareForSleep") == 0 && strcmp(h->signature, "b") == 0) {
		a->fn(a->arg, h->yes);
		if (!h->yes && a->bus >= 0)
			inhibit_again(a);
	}
}

/* A line of n bytes can be shorter than that. */
static bool begins(const char *line, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* What is whole of what came. False: it cannot be understood. */
static bool read_whole(struct ward_asleep *a)
{
	size_t at = 0;
	if (!a->in.data)
		return true;
	while (a->bus >= 0) {
		const char *p = a->in.data + at;
		const size_t left = a->in.len - at;
		size_t n;
		struct heard h;
		if (a->lines) {
			const char *end = memmem(p, left, "\r\n", 2);
			n = end ? (size_t)(end - p) + 2 : 0;
			if (end && !begins(p, n, "OK ") && !begins(p, n, "AGREE_UNIX_FD"))
				return false;
			a->lines -= end != NULL;
		} else {
			n = message_size(p, left);
			if (n == SIZE_MAX || (n && !parse(p, n, &h)))
				return false;
			if (n)
				obey(a, &h);
		}
		if (!n)
			break;
		at += n;
	}
	memmove(a->in.data, a->in.data + at, a->in.len - at);
	a->in.len -= at;
	return a->in.len < 2 * MESSAGE_MAX;
}

static void on_bus(void *arg, short revents)
{
	struct ward_asleep *a = arg;
	char text[4096];
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(4 * sizeof(int))];
	} control;
	struct iovec io = {text, sizeof(text)};
	struct msghdr m = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	(void)revents;
	const ssize_t n = recvmsg(a->bus, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	for (struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c)) {
		const size_t fds = c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS
					   ? (c->cmsg_len - CMSG_LEN(0)) / sizeof(int)
					   : 0;
		for (size_t i = 0; i < fds; i++) {
			if (a->came >= 0)
				close(a->came);
			memcpy(&a->came, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
		}
	}
	if (n > 0)
		ward_buf_add(&a->in, text, (size_t)n);
	if (n <= 0 || ward_buf_error(&a->in) < 0 || !read_whole(a))
		broke(a);
}

/* --- beginning and end --- */

static int connect_bus(int *ret)
{
	static const char prefix[] = "unix:path=";
	const char *given = getenv(BUS_ENV), *path = BUS_PATH;
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	if (given && strncmp(given, prefix, sizeof(prefix) - 1) == 0)
		path = given + sizeof(prefix) - 1;
	/* Behind the path others may follow: keys after a comma, addresses after a semicolon. */
	const size_t n = strcspn(path, ",;");
	if (n >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(sa.sun_path, path, n);
	ward_cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		return -errno;
	*ret = ward_steal_fd(&fd);
	return 0;
}

/* All at once: the bus reads one after the other. */
static int greet(struct ward_asleep *a)
{
	static const char bus[] = "org.freedesktop.DBus", path[] = "/org/freedesktop/DBus";
	static const char *const nothing[] = {NULL};
	static const char *const match[] = {"type='signal',sender='" LOGIND "',interface='" MANAGER
					    "',member='PrepareForSleep'",
		NULL};
	ward_cleanup(ward_buf_clear) struct ward_buf out = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf call = WARD_BUF_INIT;
	char uid[16];
	(void)snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	ward_buf_add(&out, "", 1);
	ward_buf_puts(&out, "AUTH EXTERNAL ");
	for (const char *c = uid; *c; c++)
		ward_buf_printf(&out, "%02x", (unsigned)*c);
	ward_buf_puts(&out, "\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n");
	a->lines = 2;
	(void)put_call(a, &call, bus, path, "Hello", nothing);
	(void)put_call(a, &call, bus, path, "AddMatch", match);
	put_inhibit(a, &call);
	ward_buf_add(&out, call.data, call.len);
	return ward_buf_error(&call) < 0 ? -ENOMEM : send_all(a, &out);
}

/* What is left of a connection. */
static void forget(struct ward_asleep *a)
{
	broke(a);
	ward_asleep_done(a);
	if (a->came >= 0)
		close(a->came);
	a->came = -1;
	ward_buf_clear(&a->in);
}

bool ward_asleep_is_heard(const struct ward_asleep *a)
{
	return a && a->bus >= 0;
}

int ward_asleep_watch(struct ward_asleep **ret, struct ward_pollset *set, unsigned rank,
	ward_asleep_fn *fn, void *arg)
{
	struct ward_asleep *a = *ret;
	if (a && a->bus >= 0)
		return 0;
	if (!a && (a = *ret = calloc(1, sizeof(*a))))
		a->bus = a->lock = a->came = -1;
	if (!a)
		return -ENOMEM;
	forget(a);
	*a = (struct ward_asleep){.bus = -1,
		.lock = -1,
		.came = -1,
		.set = set,
		.fn = fn,
		.arg = arg,
		.serial = FIRST_SERIAL - 1};
	int r = connect_bus(&a->bus);
	if (r == 0)
		r = greet(a);
	if (r == 0)
		r = ward_pollset_add(set, rank, a->bus, POLLIN, on_bus, a, &a->id);
	if (r < 0 && a->bus >= 0) {
		ward_fd_drop(a->bus);
		a->bus = -1;
	}
	return r;
}

void ward_asleep_done(struct ward_asleep *a)
{
	if (a && a->lock >= 0) {
		close(a->lock);
		a->lock = -1;
	}
}

void ward_asleep_free(struct ward_asleep *a)
{
	if (!a)
		return;
	forget(a);
	free(a);
}
