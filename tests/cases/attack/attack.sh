#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs attack on a place without a sandbox, where every attempt succeeds that can: the control of
# the attempts. Then on wardfs, as root and as an ordinary user: only what docs/attack.md names is
# broken. A sandbox that lacks one layer is found by the attempts that name it. Nothing is left.
# plain
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"

mkdir project && cd project
project=$PWD
# verdicts FILE VERDICT: names with it
verdicts() {
	python3 -c '
import json, sys
for a in json.load(open(sys.argv[1]))["attempts"]:
    if a["verdict"] == sys.argv[2]: print(a["name"])' "$1" "$2"
}
nothing_left() {
	# Workspaces and files of an earlier attack.
	set -- "$1" "$project"/wardfs-attack.*
	[ ! -e "$2" ] || fail "$1: a workspace is left"
	set -- "$1" "$TMPDIR"/wardfs-attack.*
	[ ! -e "$2" ] || fail "$1: $2 is left"
}

echo "--- without a sandbox"
expect 2 "$WARD_BUILD/wardfs" attack --preset none
echo "$ERR" | grep -qF -e '--i-know' || fail "$ERR"
expect 1 "$WARD_BUILD/wardfs" attack --preset none --i-know --json
echo "$OUT" >../none.json
verdicts ../none.json held >../held
[ ! -s ../held ] || fail "held without a sandbox: $(cat ../held)"
[ "$(verdicts ../none.json broken | wc -l)" -ge 240 ] || fail "few succeed: $(verdicts ../none.json untested)"
nothing_left none

echo "--- wardfs"
expect 1 "$WARD_BUILD/wardfs" attack --json --junit ../junit.xml --sarif ../sarif.json
echo "$OUT" >../root.json
# The kept home, files that the exit line names, and what debuggers need.
printf '%s\n' keep-home envrc editor-tasks editor-settings agent-hooks agent-servers agent-config agent-text \
	package-config compiler-config ci-workflow container-config personality >../named
verdicts ../root.json broken >../broken
diff ../named ../broken || fail "root: other attempts are broken than docs/attack.md names"
[ "$(verdicts ../root.json held | wc -l)" -ge 240 ] || fail "root: $(verdicts ../root.json untested)"
python3 -c '
import json, sys, xml.dom.minidom
dom = xml.dom.minidom.parse(sys.argv[1])
assert len(dom.getElementsByTagName("failure")) == 13, "junit"
run = json.load(open(sys.argv[2]))["runs"][0]
assert sum(r["kind"] == "fail" for r in run["results"]) == 13, "sarif"' ../junit.xml ../sarif.json
nothing_left wardfs

echo "--- in a container of an engine"
if command -v runc >/dev/null; then
	expect 1 "$WARD_BUILD/wardfs" attack --mode docker --json
	echo "$OUT" >../docker.json
	verdicts ../docker.json broken >../broken
	diff ../named ../broken || fail "docker: other attempts are broken than docs/attack.md names"
fi
printf '[policy]\nversion = 1\nextends = medium\nmode = wasm\n' >../wasm.policy
expect 125 "$WARD_BUILD/wardfs" attack --policy ../wasm.policy
echo "$ERR" | grep -q 'add --script' || fail "$ERR"
expect 2 "$WARD_BUILD/wardfs" attack --only script-import
echo "$ERR" | grep -q -e 'only a script makes script-import' || fail "$ERR"

echo "--- in less than a minute"
python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["seconds"] > 60)' ../root.json ||
	fail "longer than a minute"

echo "--- a layer is missing, and is found"
expect 1 "$WARD_BUILD/wardfs" attack --group network --json \
	--sandbox "unshare --mount --pid --fork --kill-child --"
echo "$OUT" >../net.json
verdicts ../net.json broken | grep -x tcp-loopback >/dev/null || fail "the network was not found open"
expect 1 "$WARD_BUILD/wardfs" attack --group outside,network --json \
	--sandbox "unshare --net --ipc --kill-child --fork --"
echo "$OUT" >../out.json
verdicts ../out.json broken | grep -x read-path >/dev/null || fail "files outside were not found open"
verdicts ../out.json held | grep -x tcp-loopback >/dev/null || fail "a network namespace counts for nothing"

echo "--- a sandbox that does not start is no sandbox that holds"
expect 125 "$WARD_BUILD/wardfs" attack --sandbox false
echo "$ERR" | grep -q 'did not start' || fail "$ERR"
expect 125 "$WARD_BUILD/wardfs" attack --policy nothing.policy
echo "$ERR" | grep -q 'did not start wardfs-attack. It says:' || fail "$ERR"
echo "$ERR" | grep -q '^  wardfs: .*nothing.policy' || fail "its message is missing: $ERR"

echo "--- nothing planted is followed"
echo mine >../victim
ln -s "$project/../victim" planted.xml
rc=0
"$WARD_BUILD/wardfs" attack --only read-path --junit planted.xml >/dev/null || rc=$?
[ $rc -eq 125 ] && [ -L planted.xml ] && [ "$(cat ../victim)" = mine ] || fail "a link was followed ($rc)"
rm planted.xml
rc=0
"$WARD_BUILD/wardfs" attack --only read-path --junit planted.xml >/dev/null || rc=$?
[ $rc -eq 0 ] && grep -q read-path planted.xml || fail "control: no file ($rc)"
rm planted.xml

echo "--- as an ordinary user"
cat >"$WARD_TMP/inner.sh" <<'S'
set -eu
mkdir p && cd p
rc=0
"$WARD_BUILD/wardfs" attack --json >"$HOME/user.json" || rc=$?
exit $rc
S
rc=0
(as_user "$WARD_TMP/inner.sh") >"$WARD_TMP/user.out" 2>&1 || rc=$?
[ $rc -eq 1 ] || fail "as a user: exit $rc: $(cat "$WARD_TMP/user.out")"
verdicts "$WARD_TMP/home/user.json" broken >"$WARD_TMP/broken"
diff "$WARD_TMP/named" "$WARD_TMP/broken" || fail "user: other attempts are broken than docs/attack.md names"
[ "$(verdicts "$WARD_TMP/home/user.json" held | wc -l)" -ge 180 ] ||
	fail "user: $(verdicts "$WARD_TMP/home/user.json" untested)"
