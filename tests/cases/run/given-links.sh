#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A link that one session left in the project decides nothing in the next: not what --read,
# --write and the policy's sources give, nor which anchor program the host runs.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir private p && echo secret >private/f && cd p && git init -q .
mkdir out data inside && echo own | tee out/f data/f >inside/f
echo own >one
printf '[policy]\nversion = 1\nextends = medium\n' | tee ../plain.policy ../tree.policy >../anchor.policy
printf '[tree /data]\nsource = %s/data\nat = none\n[files]\nwrite = /data\n' "$PWD" >>../tree.policy
printf '[audit]\nanchor = exec:%s/anchor\n' "$PWD" >>../anchor.policy

run() {
	"$WARDFS" run "$@" >out.txt 2>err.txt
}
plain() {
	run --policy ../plain.policy "$@"
}

echo "--- controls: directories of the project, the directory by its own name"
plain --write out -- cat out/f || fail "$(cat err.txt)"
plain --read one -- cat one || fail "$(cat err.txt)"
run --policy ../tree.policy -- cat /data/f || fail "$(cat err.txt)"
plain --read ../private -- cat "${PWD%/p}/private/f" || fail "$(cat err.txt)"
has "$(cat out.txt)" secret

echo "--- one session leaves links"
plain -- sh -euc 'rm -r out data one; for l in out data; do ln -s "$1" $l; done; ln -s "$1/f" one
	ln -s inside near; mkdir deep; ln -s ../out deep/second' sh "${PWD%/p}/private" || fail "$(cat err.txt)"
[ "$(cat out/f)" = secret ] || fail "control: the link does not lead out"

denied() {
	"$@" && fail "$*: $(cat out.txt)"
	has "$(cat err.txt)" "$by"
	! grep -q secret out.txt || fail "$*: it was read"
}
by='by a link that a session can change'
for option in --read --write; do
	denied plain $option out -- cat out/f
	denied plain $option "$PWD/out" -- cat out/f
	denied plain $option deep/second -- cat out/f
done
denied plain --read one -- cat one
denied plain --read out/f -- cat out/f
denied run --policy ../tree.policy -- cat /data/f

echo "--- one that stays in the project is what it was"
plain --read near -- cat near/f || fail "$(cat err.txt)"
has "$(cat out.txt)" own

echo "--- an anchor"
by='would run or write it'
printf '#!/bin/sh\nexit 0\n' >anchor && chmod +x anchor
denied run --policy ../anchor.policy -- true
rm anchor && ln -s ../private/f anchor
denied run --policy ../anchor.policy -- true
