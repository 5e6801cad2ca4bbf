/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a module: it is refused with a reason, or it is one that can be run, and then no
 * more than its head and a section was needed for that.
 */
#include "enforcer/modes/wasm_module.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ward_err err = WARD_ERR_INIT;
	struct ward_wasm_module m, again;
	int r = ward_wasm_module_look(data, size, &m, &err);
	fuzz_insist(r == 0 ? size > 8 : r < 0 && err.text[0]);
	/* The same bytes, the same answer. */
	fuzz_insist(ward_wasm_module_look(data, size, &again, &err) == r);
	fuzz_insist(r < 0 || (m.imports == again.imports && m.reactor == again.reactor));
	return 0;
}
