#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: a host program connects to a published port again and again to fill the disk with
# records. The records are bounded, and their counts are right. The control: the session's own
# connections, and a few to another published port, each have their own records.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$WARD_SRC/tests/cases/network/lib/publish-flood.py" flood.py
policy pol 'mode = allowlist' 'publish = 8081:3000' 'publish = 8082:3000' 'publish = 8083:3001' \
	'forward = 4000:8099'
python3 flood.py serve 8099 >served 2>&1 &
server=$!
trap 'kill $server 2>/dev/null || :' EXIT
wait_until 60 grep -q ready served
"$WARDFS" run --policy pol --session flood -- sh -c '
	python3 flood.py ask 4000 300 >asked
	exec python3 flood.py serve 3000 >out' 2>err &
run=$!
trap 'kill $run $server 2>/dev/null || :' EXIT
wait_until 60 grep -q ready out || fail "no server inside: $(cat err)"
[ "$(cat asked)" = 300 ] || fail "control: forwarded connections: $(cat asked)"
[ "$(python3 flood.py ask 8082 5)" = 5 ] || fail "control: few connections"
[ "$(python3 flood.py ask 8081 1500)" = 1500 ] || fail "published: not all are answered"
# The count of a burst is there soon, not at the end alone.
counted() { "$WARDFS" audit show flood --json | grep -q '"connections":'; }
wait_until 60 counted || fail "no count while the session runs"
# To a port where nobody listens.
[ "$(python3 flood.py ask 8083 400)" = 0 ] || fail "control: somebody listens at 3001"
# More at once than there is room for.
away=$(python3 flood.py hold 8082 600)
[ "$away" -gt 0 ] || fail "control: there is room for 600 at once"
kill "$run"
expect 143 wait "$run"
"$WARDFS" audit show flood --json | python3 flood.py sums >sums
row() { # RULE: its numbers
	sed -n "s/^\[network\] $1 //p" sums
}
[ "$(row 'forward = 4000:8099')" = "600 300 1200 1800" ] || fail "control: forward: $(cat sums)"
few=$(row 'publish = 8082:3000')
[ "$(echo "$few" | cut -d' ' -f2)" -eq $((605 - away)) ] || fail "turned away $away: $(cat sums)"
grep -qx "turned away $away" sums || fail "turned away $away: $(cat sums)"
set -- $(row 'publish = 8081:3000')
[ "$2 $3 $4" = "1500 9000 6000" ] || fail "the sum is wrong: $(cat sums)"
[ "$1" -ge 256 ] && [ "$1" -le 320 ] || fail "$1 records of 1500 connections: $(cat sums)"
set -- $(row 'publish = 8083:3001')
[ "$2 $3 $4" = "400 0 0" ] || fail "the sum is wrong where nobody listens: $(cat sums)"
[ "$1" -ge 128 ] && [ "$1" -le 160 ] || fail "$1 records of 400 failed connections: $(cat sums)"
expect 0 "$WARDFS" audit show flood --kind connect
has "$OUT" 'those that follow are counted together'
has "$OUT" 'nobody listened there for '
expect 0 "$WARDFS" audit verify
exit 0
S
in_host "$WARD_TMP/check.sh"
