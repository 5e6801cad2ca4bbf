/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts where anyone can write: conf/open-hosts.list. Pure. */
#pragma once

#include <stdbool.h>

/* By what stands in the list: `drop` is made for that, `code` is what work often needs. */
enum ward_open_host { WARD_HOST_CLOSED = 0, WARD_HOST_CODE, WARD_HOST_DROP };

/* Of the host of "HOST[:PORTS][/udp]". A wildcard is not looked up: it has a name of its own. */
enum ward_open_host ward_open_host(const char *destination);

/* That host, or address, into buf, which holds any that a policy takes. False: it does not fit. */
bool ward_open_host_name(const char *destination, char buf[256]);
