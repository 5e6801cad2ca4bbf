/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the policy about destinations and addresses, and words the answer for the trail. */
#include "enforcer/net/decide/decide.h"

#include <netinet/in.h>
#include <stdio.h>

#include "enforcer/net/names/host_addresses.h"
#include "enforcer/policy/explain.h"

#define TEXT_MAX (WARD_NAME_SIZE + 16)

void ward_net_why_clear(struct ward_net_why *w)
{
	ward_buf_clear(&w->place);
	ward_buf_clear(&w->rule);
}

static void address_text(const union ward_sockaddr *a, bool udp, char ret[TEXT_MAX])
{
	char text[WARD_ADDRESS_TEXT_MAX];
	ward_sockaddr_text_port(a, text);
	snprintf(ret, TEXT_MAX, "%s%s", text, udp ? "/udp" : "");
}

/* The kernel takes 0.0.0.0 and :: for its own loopback, which rules name by another address. */
static bool is_nowhere(const union ward_sockaddr *a, struct ward_net_why *why)
{
	const bool is = a->sa.sa_family == AF_INET ? a->v4.sin_addr.s_addr == htonl(INADDR_ANY)
						   : IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);
	if (is)
		why->text = "0.0.0.0 and :: are no destination";
	return is;
}

bool ward_decide_destination(struct ward_broker *net, const char *host,
	const union ward_sockaddr *to, bool udp, bool open, struct ward_net_why *ret_why)
{
	char text[TEXT_MAX];
	*ret_why = (struct ward_net_why){0};
	if (!host && is_nowhere(to, ret_why))
		return false;
	if (host)
		snprintf(text, sizeof(text), "%s:%u%s", host, ward_sockaddr_port(to),
			udp ? "/udp" : "");
	else
		address_text(to, udp, text);
	const enum ward_verdict v = ward_policy_connect_by(
		net->policy, text, open, &ret_why->held, &ret_why->place, &ret_why->rule);
	ret_why->asked = v == WARD_VERDICT_ASK;
	return v == WARD_VERDICT_ALLOW;
}

void ward_decide_permit(const char *host_port, const char *rule, struct ward_buf *b)
{
	ward_explain_connect(host_port, rule, b);
}

bool ward_decide_address(struct ward_broker *net, const union ward_sockaddr *to, bool udp,
	bool near, struct ward_net_why *ret_why)
{
	char text[TEXT_MAX];
	*ret_why = (struct ward_net_why){0};
	address_text(to, udp, text);
	if (is_nowhere(to, ret_why)) {
		ret_why->addr = *to;
		return false;
	}
	if (ward_policy_answer(net->policy, text, near || ward_near_has(net, to), &ret_why->place,
		    &ret_why->rule) == WARD_VERDICT_ALLOW)
		return true;
	ret_why->addr = *to;
	ret_why->text = "the name leads to an address that may not be reached";
	return false;
}

static bool alias_allowed(struct ward_broker *net, const char *name, uint16_t port, bool udp,
	struct ward_net_why *ret_why)
{
	char text[TEXT_MAX];
	*ret_why = (struct ward_net_why){0};
	snprintf(text, sizeof(text), "%s:%u%s", name, port, udp ? "/udp" : "");
	if (ward_policy_answer(net->policy, text, false, &ret_why->place, &ret_why->rule) ==
		WARD_VERDICT_ALLOW)
		return true;
	ret_why->text = "the name is an alias of one that is denied";
	return false;
}

bool ward_decide_answer(struct ward_broker *net, const struct ward_answer *answer, uint16_t port,
	bool udp, struct ward_net_why *ret_why)
{
	*ret_why = (struct ward_net_why){0};
	for (size_t i = 0; i < answer->n_names; i++) {
		ward_net_why_clear(ret_why);
		if (!alias_allowed(net, answer->names[i], port, udp, ret_why))
			return false;
	}
	for (size_t i = 0; i < answer->n; i++) {
		union ward_sockaddr a = answer->v[i];
		ward_sockaddr_set_port(&a, port);
		ward_net_why_clear(ret_why);
		if (!ward_decide_address(net, &a, udp, false, ret_why))
			return false;
	}
	return true;
}
