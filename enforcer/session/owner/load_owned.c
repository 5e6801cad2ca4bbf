/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a policy with the owner's rights, and looks at what its rules have to know of the trees. */
#include "enforcer/base/cleanup.h"
#include "enforcer/session/owner/as_owner.h"
#include "enforcer/session/owner/found_secrets.h"

static int load_and_look(const struct ward_identity *id, const struct ward_load *l,
	struct ward_policy **ret, struct ward_err *err)
{
	struct ward_policy *p = NULL;
	int r = ward_policy_load(l, &p, err);
	if (r == 0)
		r = ward_found_secrets(id, l->tree_path, p, err);
	if (r == 0)
		*ret = p;
	else
		ward_policy_unref(p);
	return r;
}

int ward_policy_load_owned(const struct ward_identity *id, const struct ward_load *l,
	struct ward_policy **ret, struct ward_err *err)
{
	ward_cleanup(ward_base_clear) struct ward_base base = WARD_BASE_INIT;
	struct ward_as_owner o = {0};
	struct ward_load rest = *l;
	int r = l->policy ? ward_base_find(l->policy, &base, err) : 0;
	if (l->policy) {
		rest.policy = NULL;
		rest.base = &base;
	}
	if (r == 0)
		r = ward_as_owner_begin(id, &o, err);
	if (r == 0)
		r = load_and_look(id, &rest, ret, err);
	ward_as_owner_end(&o);
	return r;
}
