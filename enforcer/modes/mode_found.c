/* SPDX-License-Identifier: Apache-2.0 */
/* What a mode found on the host to run a command with. */
#include <stdlib.h>

#include "enforcer/modes/modes.h"

void ward_mode_found_clear(struct ward_mode_found *f)
{
	free(f->program);
	free(f->name);
	free(f->way);
	free(f->object);
	free(f->source);
	free(f->module);
	free(f->module_at);
	free(f->library);
	free(f->library_name);
	free(f->launcher);
	free(f->about);
	*f = WARD_RUNTIME_FOUND_INIT;
}
