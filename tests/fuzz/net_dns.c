/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a question: refused, or taken apart so that the answer is a whole message. */
#include <string.h>

#include "enforcer/net/protocol/dns.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t address[16] = {1};
	struct ward_dns_question q;
	uint8_t out[WARD_DNS_ANSWER_MAX];
	char type[WARD_DNS_TYPE_TEXT_MAX];
	int r = ward_dns_parse(data, size, &q);
	if (r < 0)
		return 0;
	fuzz_insist(q.wire_len <= sizeof(q.wire));
	fuzz_insist(strlen(q.text) < sizeof(q.text));
	ward_dns_type_text(q.type, type);
	if (r != WARD_DNS_NOERROR) {
		fuzz_insist(ward_dns_answer(&q, (enum ward_dns_rcode)r, NULL, 0, 0, out) <=
			    sizeof(out));
		return 0;
	}
	/* Plain means: nothing in it but what a name of a policy can hold. */
	for (const char *s = q.text; q.plain && *s; s++)
		fuzz_insist(strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.", *s));
	size_t n = ward_dns_answer(&q, WARD_DNS_NOERROR, address, 16, 30, out);
	fuzz_insist(n <= sizeof(out) && n >= 12 + q.wire_len + 28);
	fuzz_insist(memcmp(out + 12, q.wire, q.wire_len) == 0);
	fuzz_insist(out[0] == data[0] && out[1] == data[1] && out[2] & 0x80);
	/* Our own answer is no question. */
	fuzz_insist(ward_dns_parse(out, n, &q) < 0);
	return 0;
}
