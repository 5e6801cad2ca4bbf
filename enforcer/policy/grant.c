/* SPDX-License-Identifier: Apache-2.0 */
/* One grant: is it complete, and how it travels. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "enforcer/policy/destination.h"
#include "enforcer/policy/grants.h"
#include "enforcer/policy/pattern.h"

void ward_grant_clear(struct ward_grant *g)
{
	free(g->pattern);
	free(g->host);
	free(g->issuer);
	free(g->reason);
	free(g->session);
	free(g->lifts);
	*g = (struct ward_grant){.rights = 0};
}

static bool copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

int ward_grant_copy(const struct ward_grant *g, struct ward_grant *ret)
{
	*ret = *g;
	ret->pattern = ret->host = ret->issuer = ret->reason = ret->session = ret->lifts = NULL;
	if (copy_text(g->pattern, &ret->pattern) && copy_text(g->host, &ret->host) &&
		copy_text(g->issuer, &ret->issuer) && copy_text(g->reason, &ret->reason) &&
		copy_text(g->session, &ret->session) && copy_text(g->lifts, &ret->lifts))
		return 0;
	ward_grant_clear(ret);
	return -ENOMEM;
}

static int check_pattern(const char *text, struct ward_err *err)
{
	struct ward_pattern p = {0};
	if (*text != '/')
		return ward_err_set(err, -EINVAL,
			"write the path as the sandbox sees it, from the root (/workspace/%s), not '%s'",
			text, text);
	int r = ward_pattern_parse(text, false, &p, err);
	if (r < 0)
		return r;
	if (p.n == 0 || p.components[0].loop)
		r = ward_err_set(err, -EINVAL,
			"the pattern of a grant names something beneath '/', and '%s' does not",
			text);
	ward_pattern_clear(&p);
	return r;
}

static bool too_long(const char *s, size_t max)
{
	return s && strlen(s) > max;
}

static bool odd_id(const char *id)
{
	return *id && (*id != 'g' || strlen(id) != WARD_GRANT_ID_SIZE - 1 ||
			      strspn(id + 1, "0123456789abcdef") != WARD_GRANT_ID_SIZE - 2);
}

int ward_grant_check(const struct ward_grant *g, struct ward_err *err)
{
	struct ward_destination host;
	if (!g->pattern == !g->host || !g->rights != !g->pattern ||
		g->rights & ~(uint32_t)WARD_RIGHTS_ALL || !g->issuer || odd_id(g->id))
		return ward_err_set(err, -EINVAL, "the grant is not complete");
	if (too_long(g->pattern, WARD_GRANT_PATTERN_MAX) ||
		too_long(g->host, WARD_GRANT_PATTERN_MAX) ||
		too_long(g->issuer, WARD_GRANT_ISSUER_MAX) ||
		too_long(g->reason, WARD_GRANT_REASON_MAX) ||
		too_long(g->session, WARD_GRANT_ISSUER_MAX) ||
		too_long(g->lifts, WARD_GRANT_LIFTS_MAX))
		return ward_err_set(err, -EINVAL, "a text of the grant is too long");
	if (g->lifts && (!g->pattern || !g->reason || !g->until_ns))
		return ward_err_set(err, -EINVAL,
			"a break-glass grant is for paths, and has a reason and an end");
	if (g->until_ns && g->until_ns <= g->from_ns)
		return ward_err_set(err, -EINVAL, "the grant ends before it begins");
	if (g->host && !ward_destination_parse(g->host, false, &host))
		return ward_err_set(err, -EINVAL, "'%s' is not HOST[:PORT,…][/udp]", g->host);
	return g->pattern ? check_pattern(g->pattern, err) : 0;
}

int ward_grant_make_id(char ret[WARD_GRANT_ID_SIZE])
{
	unsigned char b[6];
	if (getrandom(b, sizeof(b), GRND_NONBLOCK) != (ssize_t)sizeof(b))
		return -EAGAIN;
	snprintf(ret, WARD_GRANT_ID_SIZE, "g%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4],
		b[5]);
	return 0;
}

void ward_grant_put(struct ward_msg *m, const struct ward_grant *g)
{
	ward_msg_put_str(m, g->id);
	ward_msg_put_u32(m, g->rights);
	ward_msg_put_str(m, g->pattern);
	ward_msg_put_str(m, g->host);
	ward_msg_put_u64(m, g->from_ns);
	ward_msg_put_u64(m, g->until_ns);
	ward_msg_put_u32(m, g->uses);
	ward_msg_put_str(m, g->issuer);
	ward_msg_put_str(m, g->reason);
	ward_msg_put_str(m, g->session);
	ward_msg_put_u64(m, g->pid);
	ward_msg_put_str(m, g->lifts);
}

/* "" stands for NULL. */
static char *get_text(struct ward_msg_reader *r)
{
	char *s = ward_msg_get_str(r);
	if (s && !*s) {
		free(s);
		s = NULL;
	}
	return s;
}

int ward_grant_get(struct ward_msg_reader *r, struct ward_grant *ret)
{
	size_t n = 0;
	const char *id = ward_msg_get_bytes(r, &n);
	*ret = (struct ward_grant){.rights = 0};
	if (!r->bad && n < sizeof(ret->id))
		memcpy(ret->id, id, n);
	else
		r->bad = true;
	ret->rights = ward_msg_get_u32(r);
	ret->pattern = get_text(r);
	ret->host = get_text(r);
	ret->from_ns = ward_msg_get_u64(r);
	ret->until_ns = ward_msg_get_u64(r);
	ret->uses = ward_msg_get_u32(r);
	ret->issuer = get_text(r);
	ret->reason = get_text(r);
	ret->session = get_text(r);
	ret->pid = ward_msg_get_u64(r);
	ret->lifts = get_text(r);
	if (!r->bad)
		return 0;
	ward_grant_clear(ret);
	return -EBADMSG;
}
