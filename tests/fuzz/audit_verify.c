/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a trail and as a ledger: verification comes to an end with a verdict, and nothing
 * that was not written under the key is ever called genuine. The key here is all zero and the
 * corpus is written with it, so the fuzzer starts from genuine lines.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/query/denials.h"
#include "audit/query/query.h"
#include "audit/verify/attest.h"
#include "audit/verify/proof.h"
#include "audit/verify/verify.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t root[WARD_KEY_BYTES];
	struct ward_verify_result r;
	struct ward_ledger_view v;
	struct ward_denials d;
	struct ward_ledger_session known = {
		.name = "fuzz", .started = true, .ended = true, .complete = true, .records = 3};
	if (ward_chain_setup() < 0)
		return 0;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	fuzz_insist(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	struct ward_log *log = NULL;
	fuzz_insist(ward_log_open_file(fd, &log) == 0);
	fuzz_insist(ward_verify_trail(log, "fuzz", root, NULL, NULL, &r, NULL) == 0);
	fuzz_insist(r.state != WARD_VERIFY_INTACT && r.state != WARD_VERIFY_UNREAD);
	/* A last mac of zeros is nobody's. */
	fuzz_insist(ward_verify_trail(log, "fuzz", root, &known, NULL, &r, NULL) == 0);
	fuzz_insist(r.state != WARD_VERIFY_INTACT && r.state != WARD_VERIFY_UNREAD);
	fuzz_insist(ward_verify_ledger(fd, WARD_LEDGER_NOTES_UNSEEN, root, &v, NULL) == 0);
	fuzz_insist(v.result.state != WARD_VERIFY_UNREAD);
	ward_ledger_view_free(&v);
	/* The same bytes as checkpoints: a zero key signed none of them. */
	struct ward_checkpoint_list notes;
	struct ward_public_key nobody = {.name = "wardfs/0000000000000000"};
	if (ward_checkpoint_list_read(fd, &notes) == 0) {
		fuzz_insist(ward_verify_public(log, &notes, &nobody, 1, &r, NULL) == 0);
		fuzz_insist(r.state < WARD_VERIFY_INCOMPLETE && r.state != WARD_VERIFY_UNREAD);
		ward_checkpoint_list_clear(&notes);
	}
	ward_proof_check((const char *)data, size, &nobody, 1, &r, NULL);
	fuzz_insist(r.state == WARD_VERIFY_EDITED || r.state == WARD_VERIFY_FOREIGN);
	char session[WARD_SESSION_NAME_MAX + 1];
	ward_attest_check((const char *)data, size, &nobody, 1, &r, session, NULL);
	fuzz_insist(r.state == WARD_VERIFY_EDITED || r.state == WARD_VERIFY_FOREIGN);
	if (ward_query_denials(log, NULL, &d, NULL) == 0)
		ward_denials_free(&d);
	ward_log_close(log);
	close(fd);
	return 0;
}
