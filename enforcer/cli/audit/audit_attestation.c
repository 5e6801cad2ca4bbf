/* SPDX-License-Identifier: Apache-2.0 */
/* The signed statement about a session, for attest and for bundle. */
#include "enforcer/cli/audit/audit_attestation.h"

#include <jansson.h>

#include "audit/log/chain.h"
#include "audit/verify/attest.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/plural.h"
#include "enforcer/cli/audit/audit_cmd.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/base/say.h"

static int sign(
	struct audit_cmd *c, const json_t *statement, struct ward_buf *ret, struct ward_err *err)
{
	uint8_t seed[WARD_KEY_BYTES];
	struct ward_signing_key key;
	int r = ward_store_read_seed(c->store, seed, err);
	if (r < 0)
		return r;
	ward_signing_key_from_seed(seed, &key);
	r = ward_attest_sign(statement, &key, ret, err);
	ward_chain_wipe(seed, sizeof(seed));
	ward_chain_wipe(&key, sizeof(key));
	return r;
}

static void say_what_is_wrong(const struct audit_verified *v)
{
	const struct ward_verify_result *ledger = &v->ledger.result, *trail = &v->result;
	if (ledger->state != WARD_VERIFY_INTACT)
		ward_sayf("the statement says that the ledger is not intact: %s: %s",
			ward_verify_state_name(ledger->state), ledger->text);
	if (trail->state != WARD_VERIFY_INTACT)
		ward_sayf("the statement says that the trail is not intact: %s%s%s",
			ward_verify_state_name(trail->state), trail->text[0] ? ": " : "",
			trail->text);
}

/* Files that the session changed and that cannot be subjects. */
static void say_what_is_missing(const json_t *statement, const char *session)
{
	const json_t *products =
		json_object_get(json_object_get(statement, "predicate"), "products");
	const json_int_t files = json_integer_value(json_object_get(products, "files"));
	const json_int_t without = json_integer_value(json_object_get(products, "without_digest"));
	const json_int_t listed = json_integer_value(json_object_get(products, "listed"));
	const json_int_t left = files - without - listed;
	if (without > 0)
		ward_sayf(
			"the statement does not name %" JSON_INTEGER_FORMAT
			" of the %" JSON_INTEGER_FORMAT " file%s that %s changed: the trail has no "
			"digest of %s. The policy line '[audit] hash = writes' has later sessions "
			"record digests",
			without, files, ward_s((uint64_t)files), session,
			without == 1 ? "it" : "them");
	if (left > 0)
		ward_sayf("the statement has no room for %" JSON_INTEGER_FORMAT
			  " more changed file%s with digests; the trail has them",
			left, ward_s((uint64_t)left));
}

int audit_attestation_make(
	struct audit_cmd *c, struct ward_buf *ret, bool *ret_intact, struct ward_err *err)
{
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup(audit_verified_clear) struct audit_verified v = {0};
	json_t *statement = NULL;
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0)
		r = audit_trail_verify(c, name, log, &v, err);
	if (r < 0)
		return r;
	struct ward_attest_about about = {.session = name,
		.version = "wardfs " WARD_VERSION,
		.verify = &v.result,
		.ledger = v.ledger.result.state,
		.notes = &v.notes};
	r = ward_attest_state(log, &about, &statement, err);
	if (r < 0)
		return r;
	say_what_is_missing(statement, name);
	r = sign(c, statement, ret, err);
	json_decref(statement);
	if (r < 0)
		return r;
	*ret_intact =
		v.result.state == WARD_VERIFY_INTACT && v.ledger.result.state == WARD_VERIFY_INTACT;
	say_what_is_wrong(&v);
	return 0;
}
