#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 1200
# plain
# sni = require against real servers: what any of them answers for another host must not pass. See
# tests/support/servers.py. Go's servers are not among them: the compiler is larger than all the
# others.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
# The same streams each time: a new hole is found by --long, not by whoever changes something else.
set -- 300 20261123
[ -z "${WARD_LONG-}" ] || set -- 5000
# shellcheck disable=SC2016
unshare --net sh -c 'ip link set lo up && exec /usr/bin/python3 "$@"' sh \
	"$WARD_SRC/tests/support/servers.py" "$WARD_BUILD/tests/support/inspect" "$WARD_TMP" "$@" || fail "above"
