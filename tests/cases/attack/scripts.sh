#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs attack by a script: without a sandbox every attempt succeeds, and under mode wasm only what
# docs/attack.md names is broken. As root and as an ordinary user.
# timeout: 600
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
[ -x "$WARD_BUILD/wardfs-quickjs" ] || fail "wardfs-quickjs was not built"
command -v node >/dev/null || fail "no node for the controls"

cat >"$WARD_TMP/body.sh" <<'S'
set -eu
# Beneath /tmp, where a checkout may lie, a policy can list no program.
WARD_BUILD=/mnt
. "$WARD_SRC/tests/lib.sh"
mkdir -p "$HOME/p" && cd "$HOME/p"
# verdicts FILE VERDICT: names with it
verdicts() {
	python3 -c '
import json, sys
for a in json.load(open(sys.argv[1]))["attempts"]:
    if a["verdict"] == sys.argv[2]: print(a["name"])' "$1" "$2"
}
rc=0
"$WARD_BUILD/wardfs" attack --preset none --i-know --script --json >"$HOME/none.json" || rc=$?
[ $rc -eq 1 ] || fail "none: exit $rc"
for v in held untested; do
	verdicts "$HOME/none.json" $v >"$HOME/names"
	[ ! -s "$HOME/names" ] || fail "none: $v: $(cat "$HOME/names")"
done
verdicts "$HOME/none.json" broken >"$HOME/broken.none"
[ "$(wc -l <"$HOME/broken.none")" -ge 70 ] || fail "few succeed: $(cat "$HOME/broken.none")"
grep -qx script-import-link "$HOME/broken.none" || fail "no link was followed"

rc=0
"$WARD_BUILD/wardfs" attack --mode wasm --json >"$HOME/wasm.json" || rc=$?
[ $rc -eq 1 ] || fail "wasm: exit $rc"
printf '%s\n' keep-home envrc editor-tasks editor-settings agent-hooks agent-servers agent-config agent-text \
	package-config compiler-config ci-workflow container-config >"$HOME/named"
verdicts "$HOME/wasm.json" broken >"$HOME/broken"
diff "$HOME/named" "$HOME/broken" || fail "other attempts are broken than docs/attack.md names"
verdicts "$HOME/wasm.json" untested >"$HOME/names"
[ ! -s "$HOME/names" ] || fail "untested: $(cat "$HOME/names")"
[ "$(verdicts "$HOME/wasm.json" held | wc -l)" -ge 60 ] || fail "few are held"
for left in "$HOME"/p/wardfs-attack.*; do
	[ ! -e "$left" ] || fail "$left is left"
done
# Without an engine on PATH nothing is held: no control was made.
rc=0
PATH=$HOME/p "$WARD_BUILD/wardfs" attack --mode wasm --group outside --json >"$HOME/bare.json" || rc=$?
[ $rc -eq 3 ] || fail "without an engine: exit $rc"
verdicts "$HOME/bare.json" held >"$HOME/names"
[ ! -s "$HOME/names" ] || fail "held without a control: $(cat "$HOME/names")"
S
mkdir -p "$WARD_TMP/root"
export BODY="$WARD_TMP/body.sh"
cat >"$WARD_TMP/run.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
mount --bind "$WARD_BUILD" /mnt
(HOME=$WARD_TMP/root sh "$BODY") || fail "as root"
cp "$BODY" "$WARD_TMP/as-user.sh"
(as_user "$WARD_TMP/as-user.sh") || fail "as a user"
S
unshare --mount --propagation private sh "$WARD_TMP/run.sh" </dev/null || exit 1
