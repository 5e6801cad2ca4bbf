#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The trail records use near a limit that no control group counts, and bursts of refusals. Far
# from a limit, and for a few refusals, it has no such record.
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >near.body <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
cd p || exit 1
echo secret >id_rsa
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nopen-files = 100\ntmp = 8M\n' >near.policy
limit_records() {
	"$WARDFS" audit show --json --kind limit "$1"
}
# session NAME BYTES FILES: uses so much, and goes on until it is told to end.
session() {
	rm -f up
	"$WARDFS" run --session "$1" --policy near.policy -- python3 -c "$(cat "$WARD_SRC/tests/cases/sandbox/lib/near-hold.py")" "$2" "$3" &
	pid=$!
	wait_until 60 test -e up || fail "not started"
}
told() {
	case $(limit_records "$1") in
	*'"name":"'"$2"'"'*) return 0 ;;
	esac
	return 1
}
session near 8000000 93
wait_until 60 told near tmp || fail "tmp: $(limit_records near)"
# Before Linux 6.2 nobody sees how many there are.
if [ "$(stat -c %s /proc/self/fd)" -gt 0 ]; then
	wait_until 60 told near open-files || fail "files: $(limit_records near)"
	has "$(limit_records near)" '"limit":100'
	has "$(limit_records near)" '"unit":"files"'
fi
has "$(limit_records near)" '"limit":8388608'
rm -f up
wait $pid || fail "the session ended with $?"
# Each once, and not for less.
[ "$(limit_records near | grep -c '"name":"tmp"')" = 1 ] || fail "$(limit_records near)"

# Refusals, when they happen: what follows them is still running. Of so many, 100 come in one of the
# periods that are counted, also where the end of one falls between them.
deny='
import sys, os, time
for i in range(int(sys.argv[1])):
    try:
        open("id_rsa")
    except OSError:
        pass
open("up", "w").close()
while os.path.exists("up"):
    time.sleep(0.05)'
rm -f up
"$WARDFS" run --session burst -- python3 -c "$deny" 199 2>/dev/null &
pid=$!
wait_until 60 told burst refusals || fail "burst: $(limit_records burst)"
has "$(limit_records burst)" '"done":"seen"'
has "$(limit_records burst)" 'a burst of 1'
wait_until 60 test -e up || fail "not started"
rm -f up
wait $pid || fail "the session ended with $?"
session far 4000000 40
rm -f up
wait $pid || fail "the session ended with $?"
[ -z "$(limit_records far)" ] || fail "$(limit_records far)"
: >up
rm -f up
expect 0 "$WARDFS" run --session few -- python3 -c "$(printf '%s' "$deny" | sed '/^open/,$d')" 20
has "$ERR" "20 refused"
[ -z "$(limit_records few)" ] || fail "$(limit_records few)"
S
cp near.body near.sh
chmod 755 "$WARD_TMP"
# Side by side: both wait for figures that are taken every few seconds.
sh ./near.sh &
root=$!
user=0
as_user "$WARD_TMP/near.sh" || user=$?
wait $root || fail "as root"
[ $user = 0 ] || fail "as an ordinary user"
