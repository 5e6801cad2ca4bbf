/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a list of system calls: refused with a line, or a program in which every jump lands.
 */
#include <linux/filter.h>
#include <stdbool.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/sandbox/filter.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ward_cleanup(ward_buf_clear) struct ward_buf bpf = WARD_BUF_INIT;
	struct ward_err err = WARD_ERR_INIT;
	if (ward_seccomp_compile("fuzz", (const char *)data, size, &bpf, &err) < 0) {
		fuzz_insist(strncmp(err.text, "fuzz:", 5) == 0 && err.code < 0);
		return 0;
	}
	size_t n = bpf.len / sizeof(struct sock_filter);
	fuzz_insist(bpf.len % sizeof(struct sock_filter) == 0 && n > 0 && n <= BPF_MAXINSNS);
	for (size_t i = 0; i < n; i++) {
		struct sock_filter f;
		memcpy(&f, bpf.data + i * sizeof(f), sizeof(f));
		bool jump = BPF_CLASS(f.code) == BPF_JMP;
		bool ja = f.code == (BPF_JMP | BPF_JA);
		fuzz_insist(!ja || f.k < n - i - 1);
		fuzz_insist(!jump || ja || ((size_t)f.jt < n - i - 1 && (size_t)f.jf < n - i - 1));
		fuzz_insist(i + 1 < n || BPF_CLASS(f.code) == BPF_RET);
	}
	return 0;
}
