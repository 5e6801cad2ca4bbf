/* SPDX-License-Identifier: Apache-2.0 */
/* Finds lines of [network] that have no effect, or that reach too far. */
#include <fnmatch.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/quantity.h"
#include "enforcer/policy/check_say.h"
#include "enforcer/policy/open_hosts.h"
#include "enforcer/policy/explain.h"

static bool one_of(const char *host, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (fnmatch(patterns[i], host, FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/* A block of addresses that nobody has looked through: wider than a /16, than a /32 of IPv6. */
static bool is_wide(const char *value)
{
	const char *slash = strchr(value, '/'), *colon = strchr(value, ':');
	const char *s = slash ? slash + 1 : "";
	bool v6 = colon && colon < slash;
	uint64_t bits;
	return ward_quantity_digits(&s, &bits) && bits < (v6 ? 32U : 16U);
}

/* An entry that allows nothing, whatever it says. */
static void check_allowed(const struct ward_checker *c, const struct ward_entry *e)
{
	ward_cleanup(ward_buf_clear) struct ward_buf place = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf why = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf fix = WARD_BUF_INIT;
	if (c->p->settings.net == WARD_NET_HOST) {
		ward_checker_say_entry(c, e, "never applies: mode = host allows everything",
			"use mode = allowlist");
		return;
	}
	const char *udp = strrchr(e->value, '/');
	if (c->p->settings.net == WARD_NET_PROXY && udp && strcmp(udp, "/udp") == 0) {
		ward_checker_say_entry(c, e,
			"allows nothing, because mode = proxy carries no datagrams",
			"remove the line");
		return;
	}
	/* of a wildcard, a block or several ports something may be left */
	if (strpbrk(e->value, "*/,"))
		return;
	if (ward_policy_connect(c->p, e->value, &place, &text) != WARD_VERDICT_DENY)
		return;
	ward_buf_printf(&why, "%s nothing: %s  %s",
		e->key->type == WARD_KEY_TYPE_ALLOW ? "allows" : "asks", ward_buf_str(&place),
		ward_buf_str(&text));
	/* the rest of a profile is rarely what was meant to go */
	if (strcmp(ward_buf_str(&text), "[network] mode = none") == 0)
		ward_buf_printf(
			&fix, "add 'mode = allowlist' to [network], above line %u", e->line);
	else
		ward_buf_puts(&fix, "remove one of the two lines");
	ward_checker_say_entry(c, e, ward_buf_str(&why), ward_buf_str(&fix));
}

/* What it reaches beyond the hosts that somebody has named. */
static void say_reach(
	const struct ward_checker *c, const struct ward_entry *e, const char *why, const char *fix)
{
	struct ward_checker reach = *c;
	reach.about = WARD_ABOUT_REACH;
	ward_checker_say_entry(&reach, e, why, fix);
}

static void check_allow(const struct ward_checker *c, const struct ward_entry *e)
{
	/* what trusts everybody who reaches it: the host itself, and what clouds tell their
	 * machines */
	static const char *const near_hosts[] = {"localhost", "*.localhost", "127.*", "::1",
		"0.0.0.0", "169.254.*", "fd00:ec2::254", "metadata.google.internal",
		"host.docker.internal"};
	char host[256];
	if (strchr(e->value, '*'))
		say_reach(
			c, e, "a wildcard allows hosts that nobody has checked", "name the hosts");
	if (is_wide(e->value))
		say_reach(c, e, "a wide block allows addresses that nobody has checked",
			"name the hosts or blocks that the command needs");
	check_allowed(c, e);
	if (!ward_open_host_name(e->value, host))
		return;
	if (ward_open_host(e->value) == WARD_HOST_DROP)
		say_reach(c, e, "anybody can write there, so the agent can send out what it reads",
			"remove the line");
	if (one_of(host, near_hosts, sizeof(near_hosts) / sizeof(near_hosts[0])))
		ward_checker_say_entry(c, e,
			"this is the host itself, or a service that gives a machine its keys. It trusts everybody who can reach it",
			"remove the line; 'wardfs policy add forward PORT' leads one port of this host in");
}

/* What a broker leads through is missing without one. */
static void check_led(const struct ward_checker *c, const struct ward_entry *e)
{
	enum ward_net net = c->p->settings.net;
	bool led = WARD_ENTRY_IS(e, net_socket) || WARD_ENTRY_IS(e, net_publish) ||
		   WARD_ENTRY_IS(e, net_forward);
	if (led && (net == WARD_NET_NONE || net == WARD_NET_HOST))
		ward_checker_say_entry(c, e,
			"has no effect: only mode = allowlist and proxy lead ports and sockets through",
			"use mode = allowlist; without any allow, the session reaches only this");
}

/* A socket of the host: what answers there, where that is known. */
static void check_socket(const struct ward_checker *c, const struct ward_entry *e)
{
	static const struct {
		const char *pattern, *why, *fix;
	} known[] = {
		{"*/docker.sock", NULL, NULL}, /* named below, whatever key it stands in */
		{"*/containerd*.sock", "everybody who can connect to it is root on the host",
			"remove the line; build images outside"},
		{"*/podman.sock", "everybody who can connect to it can start programs on the host",
			"remove the line; build images outside"},
		{"*/libvirt/*",
			"everybody who can connect to it can start machines with the host's files",
			"remove the line"},
		{"*/systemd/*",
			"systemd: everybody who can connect to it can start programs on the host",
			"remove the line"},
		{"*/system_bus_socket", "D-Bus: services of the host do what a client asks",
			"remove the line"},
		{"/run/user/*/bus",
			"D-Bus: systemd and the desktop start programs of yours when told to",
			"remove the line"},
		{"*/ssh-*/agent.*", "an ssh-agent signs with your keys for everybody who asks",
			"an agent of its own for the session, with a key for one purpose"},
		{"*/keyring/ssh", "an ssh-agent signs with your keys for everybody who asks",
			"an agent of its own for the session, with a key for one purpose"},
		{"*/S.gpg-agent*",
			"gpg-agent signs and decrypts with your keys for everybody who asks",
			"remove the line; sign outside"},
		{"*/ssh-agent*", "an ssh-agent signs with your keys for everybody who asks",
			"an agent of its own for the session, with a key for one purpose"},
		{"/tmp/.X11-unix/*", "X11: sees and types all that you do", "remove the line"},
		{"*/wayland-*", "the desktop: a window can look like any other", "remove the line"},
	};
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (fnmatch(known[i].pattern, e->value, 0) != 0)
			continue;
		if (known[i].why)
			ward_checker_say_entry(c, e, known[i].why, known[i].fix);
		return;
	}
}

void ward_checker_network(const struct ward_checker *c)
{
	for (size_t i = 0; i < c->p->n_effective; i++) {
		const struct ward_entry *e = c->p->effective[i];
		check_led(c, e);
		if (WARD_ENTRY_IS(e, net_socket))
			check_socket(c, e);
		if (strcmp(e->value, "/var/run/docker.sock") == 0 ||
			strcmp(e->value, "/run/docker.sock") == 0)
			ward_checker_say_entry(c, e,
				"everybody who can connect to it is root on the host",
				"remove the line; build images outside");
		if (e->key->type == WARD_KEY_TYPE_ALLOW || e->key->type == WARD_KEY_TYPE_ASK_HOST)
			check_allow(c, e);
		if (WARD_ENTRY_IS(e, net) && e->number == WARD_NET_HOST)
			say_reach(c, e,
				"too wide: the session reaches every host that this one reaches, and its loopback; wardfs checks and records nothing",
				"use mode = allowlist, and an allow for each host that the command needs");
	}
}
