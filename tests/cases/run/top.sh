#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs top: what sessions use of which limit, and the last refusals. In a terminal it updates by
# itself. Nothing that a session wrote can steer that terminal.
set -eu
. "$WARD_SRC/tests/lib.sh"
project "$HOME/proj"
cd "$HOME/proj" || exit 1
echo token >.env
cat >p.policy <<-END
	[policy]
	version = 1
	extends = medium
	[limits]
	processes = 77
	memory = 1G
END

expect 0 "$WARDFS" top
[ -z "$OUT" ] || fail "no session, and yet: $OUT"
expect 1 "$WARDFS" top nosuch
has "$ERR" "no session 'nosuch' is running"
expect 2 "$WARDFS" top --delay 0
expect 2 "$WARDFS" top --delay -1

expect 1 "$WARDFS" run --policy p.policy --session watched --keep -- cat .env
trap '"$WARDFS" kill watched 2>/dev/null || :' EXIT
json() { "$WARDFS" top --json watched | python3 -c '
import json, sys
(o,) = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"; }
# That look at a secret is one that the profile expects: no news. This is none.
expect 1 "$WARDFS" exec watched mkdir .idea
one_refused() { [ "$(json 'o["refused"]')" = "$1" ]; }
wait_until 60 one_refused 1 || fail "refusals: $(json o)"
[ "$(json 'o["processes_limit"], o["last_refused"][0]["action"], o["last_refused"][0]["path"]')" = \
	"(77, 'mkdir', '/workspace/.idea')" ] || fail "$(json o)"
[ "$(json 'o["records"] > 3 and o["seconds"] >= 0 and o["memory_limit"] == 1 << 30')" = True ] || fail "$(json o)"
# More of them: counted, the newest first, the last five.
expect 1 "$WARDFS" exec watched sh -c 'for i in 1 2 3 4 5 6; do mkdir .vscode; done; cat .env'
wait_until 60 one_refused 7 || fail "refusals: $(json o)"
[ "$(json '[r["path"] for r in o["last_refused"]]')" = \
	"['/workspace/.vscode', '/workspace/.vscode', '/workspace/.vscode', '/workspace/.vscode', '/workspace/.vscode']" ] ||
	fail "$(json o)"
# The processes that other commands have left behind go with them, perhaps a moment later.
alone() {
	"$WARDFS" top | grep -qF "processes 1/77"
}
wait_until 60 alone || fail "processes: $("$WARDFS" top)"
expect 0 "$WARDFS" top
has "$OUT" "watched cat .env"
has "$OUT" "refused 7 ("
has "$OUT" "mkdir /workspace/.vscode  (medium:"
hasnt "$OUT" "lookup"
hasnt "$OUT" "$(printf '\033')"
# A name is not obeyed.
expect 1 "$WARDFS" exec watched sh -c 'cat "$(printf "\033[2J.git/hooks/\033]0;x\007")" 2>/dev/null; mkdir "$(printf ".vscode/\033[31m")"'
expect 0 "$WARDFS" top watched
hasnt "$OUT" "$(printf '\033')"

# What this host does not tell is no 0: as an ordinary user without control groups, "?" and null.
cat >"$WARD_TMP/unknown.sh" <<'END'
set -e
trap '"$WARDFS" kill plain >/dev/null 2>&1 || :' EXIT
mkdir -p proj
cd proj
"$WARDFS" run --keep --session plain -- true
"$WARDFS" ps --json plain >status
"$WARDFS" top --json plain >top
"$WARDFS" top --once plain >text
python3 "$WARD_SRC/tests/cases/run/lib/top-unknown.py" status top text
END
(as_user "$WARD_TMP/unknown.sh") || fail "figures that are not known"

# In a terminal it looks again by itself, and ends with the session that was named.
command -v script >/dev/null || exit 0
script -qec "$WARDFS top --delay 1 watched" live.out </dev/null >/dev/null 2>&1 &
live=$!
looks() { [ "$(grep -ac 'watched cat .env' live.out)" -ge "$1" ]; }
wait_until 60 looks 2 || fail "looks: $(cat -v live.out)"
expect 0 "$WARDFS" kill watched
status=0
wait $live || status=$?
[ $status -eq 0 ] || fail "ended with $status: $(cat -v live.out)"
exit 0
