/* SPDX-License-Identifier: Apache-2.0 */
/* Which container engines this host has. Whether one works is the line of mode docker. */
#include <errno.h>
#include <unistd.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/cli/doctor/doctor.h"
#include "enforcer/container/container.h"

void ward_check_engines(struct ward_check *c)
{
	ward_cleanup(ward_buf_clear) struct ward_buf has = WARD_BUF_INIT;
	const struct ward_engine *e = NULL;
	size_t usable = 0;
	for (size_t i = 0; (e = ward_engine_at(i)); i++) {
		ward_cleanup(ward_engine_found_clear) struct ward_engine_found f =
			WARD_ENGINE_FOUND_INIT;
		struct ward_err why = WARD_ERR_INIT;
		const bool known = !ward_engine_why_not(e);
		int r = known ? ward_engine_look(ward_engine_word(e), geteuid(), &f, &why)
			      : -ENOTSUP;
		usable += r == 0;
		ward_buf_printf(&has, "%s%s %s", i ? ", " : "", ward_engine_word(e),
			r == 0	? f.program
			: known ? "(not here)"
				: "(not supported)");
	}
	if (usable)
		ward_check_say(c, WARD_CHECK_OK, NULL, "%s", ward_buf_str(&has));
	else
		ward_check_say(c, WARD_CHECK_ABSENT,
			"apt-get install runc (or crun, runsc); mode docker alone needs one", "%s",
			ward_buf_str(&has));
}
