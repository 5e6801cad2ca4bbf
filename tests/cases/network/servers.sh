#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sni = require against real servers: no answer for another host may pass.
# tests/support/servers.py lists the servers. Go's are missing, because the compiler is larger
# than all the others together.
# timeout: 1200
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
# The same streams each time: a new hole is found by --long, not by whoever changes something else.
set -- 300 20261123
[ -z "${WARD_LONG-}" ] || set -- 5000
# shellcheck disable=SC2016
unshare --net sh -c 'ip link set lo up && exec /usr/bin/python3 "$@"' sh \
	"$WARD_SRC/tests/support/servers.py" "$WARD_BUILD/tests/support/inspect" "$WARD_TMP" "$@" || fail "above"
