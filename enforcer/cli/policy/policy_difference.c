/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one difference of two policies. */
#include "enforcer/cli/policy/policy_difference.h"

#include "enforcer/base/cleanup.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/base/say.h"
#include "enforcer/policy/explain.h"

static void put_rule(struct ward_buf *b, const struct ward_rule *r)
{
	ward_rule_place(r, b);
	ward_buf_puts(b, r ? " " : "");
	ward_rule_text(r, b);
}

void ward_difference_show(const struct ward_difference *d, bool rules, struct ward_buf *b)
{
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	if (d->key) {
		ward_buf_printf(&line, "%s: %s -> %s", d->key, d->value_a ? d->value_a : "not set",
			d->value_b ? d->value_b : "not set");
	} else {
		ward_buf_printf(&line, "%s:", d->path);
		if (d->lost)
			ward_buf_puts(&line, rules ? " -" : " no longer ");
		if (d->lost)
			ward_rights_format(&line, d->lost);
		if (d->gained)
			ward_buf_puts(&line, rules ? " +" : d->lost ? "; now also " : " now also ");
		if (d->gained)
			ward_rights_format(&line, d->gained);
	}
	if (rules && !d->key) {
		ward_buf_puts(&line, "  (");
		put_rule(&line, d->a);
		ward_buf_puts(&line, " -> ");
		put_rule(&line, d->b);
		ward_buf_putc(&line, ')');
	}
	ward_shown(b, ward_buf_str(&line));
}
