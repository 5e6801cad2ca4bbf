/* SPDX-License-Identifier: Apache-2.0 */
/* Tells keys from what a terminal answers. */
#include "enforcer/cli/panel/keys.h"

#include <string.h>

#include "enforcer/base/clock.h"
#include "enforcer/session/terminal/escape_key.h"

#define ESC '\033'
/* A terminal sends a sequence at once; a network may cut it. */
#define ALONE_NS (WARD_NS_PER_SEC / 20)
#define UNENDED_NS WARD_NS_PER_SEC

static bool is_string(const struct panel_keys *k)
{
	return k->n > 1 && strchr("P]X^_", k->data[1]);
}

/* --- sequences that are whole --- */

static unsigned number(const char *s, const char *end)
{
	unsigned v = 0;
	for (; s < end && *s >= '0' && *s <= '9' && v < 100000; s++)
		v = v * 10 + (unsigned)(*s - '0');
	return v;
}

/* A key in kitty's form, CSI code:… ; modifiers:event u, or xterm's, CSI 27 ; modifiers ; code ~ */
static void encoded_key(const struct panel_keys *k, panel_key_fn *fn, void *user)
{
	const char *end = k->data + k->n - 1;
	const char *semi = memchr(k->data, ';', k->n);
	const bool kitty = *end == 'u';
	const char *modifiers = semi ? semi + 1 : end;
	const char *last = semi ? memchr(modifiers, ';', (size_t)(end - modifiers)) : NULL;
	const char *event = memchr(modifiers, ':', (size_t)(end - modifiers));
	const unsigned m = number(modifiers, end);
	const unsigned code = kitty ? number(k->data + 2, end) : last ? number(last + 1, end) : 0;
	/* Released; or with a modifier other than Shift and the locks. */
	if ((kitty && event && number(event + 1, end) == 3) || (m > 0 && (m - 1) & 0x3e))
		return;
	const char c = (char)code;
	if (code == 13)
		fn(user, PANEL_KEY_ENTER, NULL, 0);
	else if (code == 9)
		fn(user, PANEL_KEY_TAB, NULL, 0);
	else if (code == 27)
		fn(user, PANEL_KEY_CANCEL, NULL, 0);
	else if (code == 127 || code == 8)
		fn(user, PANEL_KEY_ERASE, NULL, 0);
	else if (code >= 0x20 && code < 0x7f)
		fn(user, PANEL_KEY_CHAR, &c, 1);
}

static bool begins(const struct panel_keys *k, const char *with)
{
	return k->n >= strlen(with) && memcmp(k->data, with, strlen(with)) == 0;
}

/* ECMA-48, and xterm's ctlseqs, "PC-style function keys". */
static void sequence(struct panel_keys *k, panel_key_fn *fn, void *user)
{
	const char final = k->data[k->n - 1];
	const bool led = k->n > 3 && strchr("<=>?", k->data[2]);
	if (ward_escape_key(k->data, k->n) == k->n)
		fn(user, PANEL_KEY_ESCAPE, NULL, 0);
	else if (begins(k, "\033[200~") || begins(k, "\033[201~"))
		k->pasting = begins(k, "\033[200~");
	else if (final == 'M' && k->n == 3)
		k->mouse = 3;
	else if (!led && (final == 'u' || begins(k, "\033[27;")))
		encoded_key(k, fn, user);
	else if (final == 'm' || final == 'M' || (!led && strchr("ABCDEFHIOPQSZ~_", final)))
		; /* the mouse, focus, keys that mean nothing here */
	else
		fn(user, PANEL_KEY_REPORT, k->data, k->n);
}

/* --- byte by byte --- */

static void reset(struct panel_keys *k)
{
	k->n = 0;
	k->in_parts = false;
}

static void plain(const struct panel_keys *k, char c, panel_key_fn *fn, void *user)
{
	if (k->pasting)
		return;
	if (c == WARD_ESCAPE_KEY)
		fn(user, PANEL_KEY_ESCAPE, NULL, 0);
	else if (c == '\r' || c == '\n')
		fn(user, PANEL_KEY_ENTER, NULL, 0);
	else if (c == '\t')
		fn(user, PANEL_KEY_TAB, NULL, 0);
	else if (c == 0x7f || c == '\b')
		fn(user, PANEL_KEY_ERASE, NULL, 0);
	else if (c == 3)
		fn(user, PANEL_KEY_CANCEL, NULL, 0);
	else if ((unsigned char)c >= 0x20)
		fn(user, PANEL_KEY_CHAR, &c, 1);
}

static void in_string(struct panel_keys *k, char c, panel_key_fn *fn, void *user)
{
	const char before = k->data[k->n - 2];
	const size_t skip = k->in_parts ? 2 : 0;
	if (c != '\a' && !(c == '\\' && before == ESC)) {
		if (k->n == sizeof(k->data)) {
			fn(user, PANEL_KEY_REPORT, k->data + skip, k->n - 2 - skip);
			memmove(k->data, "\033]", 2);
			k->data[2] = before;
			k->data[3] = c;
			k->n = 4;
			k->in_parts = true;
		}
		return;
	}
	fn(user, PANEL_KEY_REPORT, k->data + skip, k->n - skip);
	reset(k);
}

static void take(struct panel_keys *k, char c, panel_key_fn *fn, void *user)
{
	if (k->mouse > 0) {
		k->mouse--;
		return;
	}
	if (k->n == 0 && c != ESC) {
		plain(k, c, fn, user);
		return;
	}
	k->data[k->n++] = c;
	if (k->n == 1)
		return;
	if (is_string(k)) {
		if (k->n > 2)
			in_string(k, c, fn, user);
	} else if (k->data[1] == ESC) {
		/* Esc, and the next one. */
		k->n = 1;
		fn(user, PANEL_KEY_CANCEL, NULL, 0);
	} else if (k->data[1] != '[' && k->data[1] != 'O') {
		reset(k); /* a key with Alt */
	} else if (k->n > 2 && c >= 0x40 && c <= 0x7e) {
		if (k->data[1] == '[')
			sequence(k, fn, user);
		reset(k);
	} else if (k->n == sizeof(k->data)) {
		reset(k);
	}
}

void panel_keys_read(struct panel_keys *k, const char *data, size_t n, uint64_t now_ns,
	panel_key_fn *fn, void *user)
{
	panel_keys_tick(k, now_ns, fn, user);
	for (size_t i = 0; i < n; i++) {
		if (k->n == 0)
			k->since_ns = now_ns;
		take(k, data[i], fn, user);
	}
}

void panel_keys_tick(struct panel_keys *k, uint64_t now_ns, panel_key_fn *fn, void *user)
{
	const uint64_t since = now_ns - k->since_ns;
	if (k->n == 0 || since < (k->n == 1 ? ALONE_NS : UNENDED_NS))
		return;
	if (k->n == 1 && !k->pasting)
		fn(user, PANEL_KEY_CANCEL, NULL, 0);
	reset(k);
}

int panel_keys_timeout(const struct panel_keys *k, uint64_t now_ns)
{
	const uint64_t due = k->since_ns + (k->n == 1 ? ALONE_NS : UNENDED_NS);
	if (k->n == 0)
		return -1;
	return due <= now_ns ? 0 : (int)((due - now_ns) / 1000000) + 1;
}
