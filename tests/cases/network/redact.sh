#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names from TLS and HTTP in the records, also with sni = log. [audit] redact = sni leaves out the
# names that requests carry, refused and allowed ones. Destination and reason stay.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
cp "$WARD_SRC/tests/cases/network/lib/redact-ask.py" ask.py
policy "$HOME/pol" 'mode = allowlist' 'allow = web.example' 'sni = require'
# the control: both names are there
expect 0 "$WARDFS" run --policy "$HOME/pol" --session plain -- python3 ask.py
found=$("$WARDFS" audit show plain)
has "$found" 'sni other.example'
has "$found" 'sni web.example'
# with sni = log both are served, and the record says which was not right
policy "$HOME/log" 'mode = allowlist' 'allow = web.example' 'sni = log'
: >"$NET/log"
expect 0 "$WARDFS" run --policy "$HOME/log" --session noted -- python3 ask.py
grep -q 'http other.example /' "$NET/log" || fail "not served: $(cat "$NET/log")"
expect 0 "$WARDFS" audit show noted --kind connect
has "$OUT" 'sni other.example  port 80  sent'
has "$OUT" 'the host of an HTTP request is not the name of the destination'
expect 0 "$WARDFS" audit show noted --kind deny
[ -z "$(echo "$OUT" | grep other)" ] || fail "refused: $OUT"
expect 0 "$WARDFS" audit show plain --kind deny
has "$OUT" 'the host of an HTTP request is not the name of the destination'
printf '[audit]\nredact = sni\n' >>"$HOME/pol"
expect 0 "$WARDFS" run --policy "$HOME/pol" --session redacted -- python3 ask.py
found=$("$WARDFS" audit show redacted)
hasnt "$found" 'sni other.example'
hasnt "$found" 'sni web.example'
hasnt "$("$WARDFS" audit export redacted | grep -v '"kind":"policy"')" other.example
has "$found" 'host web.example'
expect 0 "$WARDFS" audit verify redacted
exit 0
S
in_host_both "$WARD_TMP/check.sh"
