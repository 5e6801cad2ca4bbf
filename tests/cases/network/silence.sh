#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A server answers after a long silence, as root and as an ordinary user. Meanwhile the kernel
# probes whether the neighbour is alive: some eight seconds, neigh/default/delay_first_probe_time
# and three probes.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cp "$WARD_SRC/tests/cases/network/lib/silence-late.py" late.py
cp "$WARD_SRC/tests/cases/network/lib/silence-ask.py" ask.py
cat >servers.sh <<'S'
ip netns exec internet python3 "$TOP/late.py" &
late=$!
trap 'kill $late || :' EXIT
S
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$TOP/ask.py" .
wait_until 60 python3 n.py tcp 203.0.113.10 2080 || fail "control: no server"
policy pol 'mode = allowlist' 'allow = web.example:2080'
expect 0 "$WARDFS" run --policy pol -- python3 ask.py
[ "$OUT" = 'late late' ] || fail "after a silence, by IPv4 and IPv6: $OUT"
exit 0
S
in_host_both "$WARD_TMP/check.sh"
