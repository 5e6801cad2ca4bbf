/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a blueprint: refused, or what is decoded keeps its promises and encodes to the same.
 */
#include <string.h>

#include "enforcer/base/buf.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/blueprint.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ward_cleanup(ward_blueprint_clear) struct ward_blueprint p = {0};
	ward_cleanup(ward_buf_clear) struct ward_buf again = WARD_BUF_INIT;
	if (ward_blueprint_decode(data, size, &p) < 0)
		return 0;
	fuzz_insist(p.agent_uid != 0 && p.n_argv > 0 && p.argv[p.n_argv] == NULL);
	fuzz_insist(p.envp[p.n_envp] == NULL && p.filter_len % 8 == 0);
	for (size_t i = 0; i < p.n_entries; i++)
		fuzz_insist(ward_blueprint_path_ok(p.entries[i].path) && p.entries[i].text);
	fuzz_insist(ward_blueprint_encode(&p, &again) == 0 && again.len == size);
	fuzz_insist(memcmp(again.data, data, size) == 0);
	return 0;
}
