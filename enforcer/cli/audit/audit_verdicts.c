/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the verdicts of verify, one for each name. */
#include "enforcer/cli/audit/audit_verdicts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/cut.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"
#include "enforcer/base/plural.h"

static bool is_fault(enum ward_verify_state s)
{
	return s != WARD_VERIFY_INTACT && s != WARD_VERIFY_UNSTARTED && s != WARD_VERIFY_REMOVED &&
	       s != WARD_VERIFY_EXPIRED;
}

static void put_json(struct audit_verdicts *v, const char *name, const struct ward_verify_result *r)
{
	json_array_append_new(
		v->all, json_pack("{s:s, s:s, s:I, s:o, s:b, s:s}", "name", name, "state",
				ward_verify_state_name(r->state), "records", (json_int_t)r->records,
				"first_bad",
				r->first_bad ? json_integer((json_int_t)r->first_bad) : json_null(),
				"running", r->running, "text", r->text));
}

static void tell(struct audit_verdicts *v, const char *name, const struct ward_verify_result *r)
{
	ward_cleanup(ward_buf_clear) struct ward_buf word = WARD_BUF_INIT;
	v->bad |= is_fault(r->state);
	v->foreign |= r->state == WARD_VERIFY_FOREIGN;
	v->unread += r->state == WARD_VERIFY_UNREAD;
	if (v->json) {
		put_json(v, name, r);
		return;
	}
	ward_outf("%s: %s", name, ward_verify_state_name(r->state));
	if (r->first_bad && !r->among)
		ward_outf(" at record %" PRIu64, r->first_bad);
	ward_outf("%s%s", r->text[0] ? ": " : "", r->text);
	/* The last records have all of it. */
	if (ward_cut_is(r->text))
		ward_outf(" (all of it: wardfs audit%s tail --json %s)",
			v->system ? " --system" : "", ward_shell_quoted(&word, name));
	ward_outf(" (%" PRIu64 " record%s good)\n", r->records, ward_s(r->records));
}

static struct audit_verdict_kept *kept_of(const struct audit_verdicts *v, const char *name)
{
	const json_t *place = json_object_get(v->places, name);
	return place ? &v->kept[json_integer_value(place)] : NULL;
}

/* The kept verdict, with what the trail says by itself. */
static struct ward_verify_result both(
	const struct ward_verify_result *kept, const struct ward_verify_result *own)
{
	struct ward_verify_result res = *kept;
	char at[40] = "";
	if (own->state == WARD_VERIFY_INTACT)
		return res;
	if (own->first_bad && !own->among)
		snprintf(at, sizeof(at), " at record %" PRIu64, own->first_bad);
	ward_verify_say(&res, kept->state, kept->first_bad, "%s; by itself it is %s%s%s%s",
		kept->text, ward_verify_state_name(own->state), at, own->text[0] ? ": " : "",
		own->text);
	if (own->records < res.records)
		res.records = own->records;
	res.running = own->running;
	return res;
}

void audit_verdicts_report(
	struct audit_verdicts *v, const char *name, const struct ward_verify_result *r)
{
	struct audit_verdict_kept *k = kept_of(v, name);
	struct ward_verify_result res = k ? both(&k->result, r) : *r;
	v->last = res.state;
	if (k)
		k->told = true;
	tell(v, name, &res);
}

bool audit_verdicts_beside(const struct audit_verdicts *v, struct ward_verify_result *attestation)
{
	const enum ward_verify_state trail = v->last;
	const bool changed = trail == WARD_VERIFY_EDITED || trail == WARD_VERIFY_REORDERED ||
			     trail == WARD_VERIFY_DELETED || trail == WARD_VERIFY_TRUNCATED;
	if (attestation->state == WARD_VERIFY_INTACT && changed)
		ward_verify_say(attestation, attestation->state, 0,
			"%s; its signature is good, but the trail in this bundle is not the one "
			"that it attests",
			attestation->text);
	return changed;
}

int audit_verdicts_keep(struct audit_verdicts *v, const char *name,
	const struct ward_verify_result *r, struct ward_err *err)
{
	if (kept_of(v, name))
		return 0;
	struct audit_verdict_kept *more = reallocarray(v->kept, v->n_kept + 1, sizeof(*v->kept));
	if (more)
		v->kept = more;
	if (!v->places)
		v->places = json_object();
	char *copy = more ? strdup(name) : NULL;
	if (!copy ||
		json_object_set_new(v->places, name, json_integer((json_int_t)v->n_kept)) < 0) {
		free(copy);
		return ward_err_sys(err, -ENOMEM, "%s", name);
	}
	v->kept[v->n_kept++] = (struct audit_verdict_kept){.name = copy, .result = *r};
	return 0;
}

void audit_verdicts_rest(struct audit_verdicts *v)
{
	for (size_t i = 0; i < v->n_kept; i++)
		if (!v->kept[i].told)
			tell(v, v->kept[i].name, &v->kept[i].result);
}

void audit_verdicts_clear(struct audit_verdicts *v)
{
	for (size_t i = 0; i < v->n_kept; i++)
		free(v->kept[i].name);
	free(v->kept);
	json_decref(v->all);
	json_decref(v->places);
	*v = (struct audit_verdicts){0};
}
