/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an answer of netlink(7): each message and attribute lies in what was received. */
#include <string.h>

#include "enforcer/net/setup/netlink.h"
#include "tests/fuzz/fuzz.h"

#define SIZE_MAX_HERE 4096

static void check_message(const struct nlmsghdr *h, const uint8_t *end)
{
	const uint8_t *const first = (const uint8_t *)(h + 1);
	fuzz_insist((const uint8_t *)h + h->nlmsg_len <= end);
	fuzz_insist(ward_netlink_body(h, h->nlmsg_len - sizeof(*h)) == first);
	fuzz_insist(!ward_netlink_body(h, h->nlmsg_len - sizeof(*h) + 1));
	struct ward_netlink_attribute a;
	size_t before = 0;
	for (size_t pos = 0; ward_netlink_attribute(h, &pos, &a); before = pos) {
		const uint8_t *data = a.data;
		fuzz_insist(pos > before);
		fuzz_insist(data >= first && data + a.len <= (const uint8_t *)h + h->nlmsg_len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(8) uint8_t buf[SIZE_MAX_HERE];
	if (size > sizeof(buf))
		return 0;
	if (size > 0)
		memcpy(buf, data, size);
	const struct nlmsghdr *h = NULL;
	size_t before = 0;
	for (size_t pos = 0; (h = ward_netlink_next(buf, size, &pos)); before = pos) {
		fuzz_insist(pos > before);
		check_message(h, buf + size);
	}
	return 0;
}
