#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A trail of root's binds the owner. [audit] keep in the owner's own file can lengthen the time,
# not shorten it. The controls: root's word shortens it, and the owner can shorten it for the
# owner's own trails.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
mkdir -p home/.config/wardfs/projects home/p
HOME_OF=$WARD_TMP/home
git init -q home/p
sed '/^[^:]*:[^:]*:4711:/d' /etc/passwd >passwd
printf 'wardowner:x:4711:4711::%s:/bin/sh\n' "$HOME_OF" >>passwd
cd home/p || exit 1
file=$HOME_OF/.config/wardfs/projects/$(pwd | sed 's,^/,,; s/-/\\x2d/g; s,/,-,g').policy
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nkeep = 1s\n' >"$file"
chmod 755 "$WARD_TMP" "$HOME_OF"
chown -R 4711:4711 "$HOME_OF"
by_root() {
	unshare --mount --propagation private sh -c '
		mount --bind "$WARD_TMP/passwd" /etc/passwd
		exec "$@"' sh "$@"
}
# kept NAME: how many seconds the ledger says
kept() {
	python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e.get("session") == sys.argv[2] and "keep" in e:
        print(e["keep"])' "$XDG_STATE_HOME/wardfs/ledger.jsonl" "$1"
}
cp "$file" "$WARD_TMP/given.policy"
expect 0 by_root "$WARDFS" run --session owners -- id -u
[ "$OUT" = 4711 ] || fail "whose: $OUT"
[ "$(kept owners)" = $((200 * 24 * 3600)) ] || fail "the owner's word for root's trail: $(kept owners)"
expect 0 by_root "$WARDFS" run --session roots --policy "$WARD_TMP/given.policy" -- true
[ "$(kept roots)" = 1 ] || fail "control: root's word: $(kept roots)"
pruned() {
	"$WARDFS" audit prune >/dev/null && [ ! -e "$XDG_STATE_HOME/wardfs/sessions/roots" ]
}
wait_until 60 pruned || fail "control: nothing expires"
[ -e "$XDG_STATE_HOME/wardfs/sessions/owners" ] || fail "the owner's file removed a trail of root's"
sed -i 's/1s/400d/' "$file"
expect 0 by_root "$WARDFS" run --session longer -- true
[ "$(kept longer)" = $((400 * 24 * 3600)) ] || fail "control: longer: $(kept longer)"
