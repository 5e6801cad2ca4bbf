/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/policy/explain.h"

#include <errno.h>
#include <string.h>

#include "enforcer/policy/internal.h"

int ward_explain_action(const char *name, struct ward_request *ret, struct ward_err *err)
{
	static const struct {
		const char *name;
		enum ward_action action;
		uint32_t rights;
		uint32_t flags;
	} actions[] = {
		{"stat", WARD_ACTION_ACCESS, WARD_RIGHT_STAT, 0},
		{"list", WARD_ACTION_ACCESS, WARD_RIGHT_LIST, WARD_REQUEST_DIR},
		{"read", WARD_ACTION_ACCESS, WARD_RIGHT_READ, 0},
		{"exec", WARD_ACTION_ACCESS, WARD_RIGHT_EXEC, 0},
		{"append", WARD_ACTION_ACCESS, WARD_RIGHT_APPEND, 0},
		{"create", WARD_ACTION_CREATE, 0, 0},
		{"write", WARD_ACTION_ACCESS, WARD_RIGHT_WRITE, 0},
		{"remove", WARD_ACTION_REMOVE, 0, 0},
		{"rename", WARD_ACTION_RENAME, 0, 0},
		{"link", WARD_ACTION_LINK, 0, 0},
		{"chmod", WARD_ACTION_ACCESS, WARD_RIGHT_ATTR, 0},
	};
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].name, name) != 0)
			continue;
		*ret = (struct ward_request){.action = actions[i].action,
			.rights = actions[i].rights,
			.flags = actions[i].flags};
		return 0;
	}
	return ward_err_set(err, -EINVAL,
		"no action '%s': stat list read exec append create write remove rename link chmod "
		"connect",
		name);
}

void ward_rule_place(const struct ward_rule *r, struct ward_buf *b)
{
	if (r)
		ward_buf_printf(b, "%s:%u", r->file, r->line);
	else
		ward_buf_puts(b, "default");
}

void ward_rule_text(const struct ward_rule *r, struct ward_buf *b)
{
	if (r)
		ward_buf_printf(b, "[%s] %s = %s", r->guard ? "guard" : "files",
			ward_verb_name(r->verb), r->pattern);
}

/* The weakest verb that gives all of want. */
static enum ward_verb verb_for(uint32_t want)
{
	static const enum ward_verb verbs[] = {WARD_VERB_READ, WARD_VERB_APPEND};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!(want & ~ward_verb_rights(verbs[i])))
			return verbs[i];
	return WARD_VERB_WRITE;
}

void ward_explain_permit(const struct ward_decision *d, uint32_t want, const char *path,
	const char *owner_file, struct ward_buf *b)
{
	const struct ward_rule *r = d->rule;
	const char *owner = owner_file ? owner_file : "the policy";
	if (d->error == EXDEV) {
		ward_buf_puts(b, "moving would give rights that the source does not give: copy "
				 "instead (mv does so by itself)");
		return;
	}
	if (r && (r->guard || r->verb == WARD_VERB_NOEXEC)) {
		ward_buf_printf(b, "nothing lifts %s '%s = %s' (", r->guard ? "the guard" : "",
			ward_verb_name(r->verb), r->pattern);
		ward_rule_place(r, b);
		ward_buf_puts(b, "): only a policy without this line permits it");
		return;
	}
	if (r && (r->source == WARD_SOURCE_FLOOR || r->source == WARD_SOURCE_PROJECT)) {
		ward_buf_puts(b, "taken away by ");
		ward_rule_place(r, b);
		ward_buf_printf(b, " (%s = %s), which only that file can change",
			ward_verb_name(r->verb), r->pattern);
		return;
	}
	ward_buf_printf(b, "'%s = ", ward_verb_name(verb_for(want)));
	ward_pattern_quote(b, path, strlen(path));
	ward_buf_printf(b, "' at the end of [files] in %s", owner);
}

/* --- network --- */

static const struct ward_entry *find_mode(const struct ward_policy *p)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (strcmp(e->key->section, "network") == 0 && strcmp(e->key->name, "mode") == 0)
			return e;
	}
	return NULL;
}

/* Is text "HOST[:PORTS]" of [network] true of host and port? Names and ports by their spelling. */
static bool host_matches(const char *text, const char *host, const char *port)
{
	size_t n = strcspn(text, ":");
	const char *ports = text[n] ? text + n + 1 : NULL;
	bool wild = strncmp(text, "*.", 2) == 0;
	size_t len = strlen(host);
	if (wild && (len < n || strncasecmp(host + len - (n - 1), text + 1, n - 1) != 0))
		return false;
	if (!wild && !(n == 1 && *text == '*') && (len != n || strncasecmp(host, text, n) != 0))
		return false;
	if (!ports)
		return true;
	while (*ports) {
		size_t k = strcspn(ports, ",/");
		if (strlen(port) == k && memcmp(port, ports, k) == 0)
			return true;
		ports += k;
		ports += *ports == ',';
		if (*ports == '/')
			break;
	}
	return false;
}

static const struct ward_entry *find_host(
	const struct ward_policy *p, const char *key, const char *host, const char *port)
{
	for (size_t i = 0; i < p->n_effective; i++) {
		const struct ward_entry *e = p->effective[i];
		if (strcmp(e->key->section, "network") == 0 && strcmp(e->key->name, key) == 0 &&
			host_matches(e->value, host, port))
			return e;
	}
	return NULL;
}

static void put_entry(const struct ward_entry *e, const char *otherwise, struct ward_buf *place,
	struct ward_buf *text)
{
	if (!e) {
		ward_buf_puts(place, "default");
		ward_buf_puts(text, otherwise);
		return;
	}
	ward_buf_printf(place, "%s:%u", e->file, e->line);
	ward_buf_printf(text, "[network] %s = %s", e->key->name, e->value);
}

enum ward_verdict ward_policy_connect(const struct ward_policy *p, const char *host_port,
	struct ward_buf *ret_place, struct ward_buf *ret_text)
{
	char host[256] = "";
	const char *colon = strrchr(host_port, ':');
	size_t n = colon ? (size_t)(colon - host_port) : strlen(host_port);
	if (n == 0 || n >= sizeof(host))
		n = 0;
	memcpy(host, host_port, n);
	const char *port = colon ? colon + 1 : "";
	const struct ward_entry *mode = find_mode(p);
	if (p->settings.net == WARD_NET_NONE || n == 0) {
		put_entry(mode, "[network] mode = none", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	const struct ward_entry *e = find_host(p, "deny", host, port);
	if (e) {
		put_entry(e, "", ret_place, ret_text);
		return WARD_VERDICT_DENY;
	}
	e = find_host(p, "allow", host, port);
	bool allowed = e || p->settings.net == WARD_NET_HOST;
	put_entry(e ? e : mode, "", ret_place, ret_text);
	return allowed ? WARD_VERDICT_ALLOW : WARD_VERDICT_DENY;
}
