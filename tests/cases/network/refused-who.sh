#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The record of a refused connection names the process, although the connection never leaves the
# kernel: IPv4 and IPv6, an address and a name's wrong port, waiting and non-blocking programs.
# The questions about records answer it, too.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$WARD_SRC/tests/cases/network/lib/refused-who-ask.py" ask.py
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example:80'
expect 0 "$WARDFS" run --policy "$HOME/pol" --session who -- sh -c 'python3 ask.py && python3 ask.py leave'
"$WARDFS" audit show --json who >records || fail "show"
python3 "$WARD_SRC/tests/cases/network/lib/refused-who-records.py" <records || fail "of whom"
expect 0 "$WARDFS" audit sql "SELECT count(*), count(DISTINCT pid) FROM records WHERE action = 'connect' AND port < 6000 AND comm GLOB 'ask-*'"
has "$OUT" '40	40'
expect 0 "$WARDFS" audit denials --comm ask-7 who
has "$OUT" '5007'
has "$OUT" 'asked by:  ask-7['
expect 0 "$WARDFS" audit network who
has "$OUT" 'ask-7'
expect 0 "$WARDFS" audit report --format md who
has "$OUT" 'ask-7'
exit 0
S
in_host_both "$WARD_TMP/check.sh"
