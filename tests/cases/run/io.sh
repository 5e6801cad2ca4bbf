#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs ps --io shows open files, how they are read and written, and why. The list is bounded,
# and a daemon that does not answer delays nobody.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
# However it ends, nothing stays mounted.
trap '"$WARDFS" umount --lazy mnt >/dev/null 2>&1 || :' EXIT
mkdir src mnt
for i in one two log; do echo "$i" >"src/$i"; done
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\nappend = /workspace/log\n' >p
# field FILTER: of the answer for the session
field() {
	"$WARDFS" ps --io --json m1 >answer || fail "ps: $(cat answer)"
	python3 -c 'import json,sys
io = json.load(open("answer"))[0]["io"]
h = {x["path"]: x for x in io["handles"]}
print(eval(sys.argv[1]))' "$1"
}
session_pid() {
	"$WARDFS" ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$1"
}
over() { [ "$("$WARDFS" ps --json 2>&1)" = "[]" ]; }

expect 0 "$WARDFS" mount --session m1 --policy ./p src mnt
expect 0 "$WARDFS" ps --io m1
has "$OUT" "0 passthrough"
exec 7<mnt/one 8>>mnt/log 9<mnt
[ "$(field '"/workspace/two" in h')" = False ] || fail "not open, but told"
[ "$(field 'h["/workspace/log"]["io"]')" = direct ] || fail "append-only: $(cat answer)"
has "$(field 'h["/workspace/log"]["why"]')" "appended to"
[ "$(field 'h["/workspace/one"]["pid"]')" = $$ ] || fail "who opened it: $(cat answer)"
[ "$(field 'io["totals"]["directories"]')" -ge 0 ] || fail "directories"
[ "$(field 'sum(io["totals"][k] for k in ("passthrough", "cached", "direct"))')" = 2 ] ||
	fail "totals: $(cat answer)"
expect 0 "$WARDFS" ps --io m1
has "$OUT" "/workspace/one"
has "$OUT" "appended to"
exec 8>&- 9<&-
# A great many: the first are told, the rest is counted.
python3 "$WARD_SRC/tests/cases/run/lib/io-hold.py" &
holder=$!
wait_until 60 test -e held || fail "nothing was opened"
# A file that was closed before may be listed a moment longer.
counted() {
	[ "$(field 'len(io["handles"]) + io["more"]')" = 701 ]
}
wait_until 60 counted || fail "counted: $(field '(len(io["handles"]), io["more"])')"
[ "$(field 'io["more"] > 0')" = True ] || fail "not bounded"
touch let-go
wait "$holder"

# Another session's name, none, and nobody's.
expect 1 "$WARDFS" ps --io m2
has "$ERR" "no session 'm2'"

# A daemon that is stopped: the question ends with a text, others are answered meanwhile, and later
# its late answer is nobody's.
fs=$(session_pid fs_pid)
kill -STOP "$fs"
"$WARDFS" ps --io m1 >late.out 2>late.err &
asker=$!
expect 0 "$WARDFS" ps
has "$OUT" m1
wait "$asker" && fail "answered by a stopped daemon: $(cat late.out)"
has "$(cat late.err)" "wardfs-fs does not answer"
kill -CONT "$fs"
[ "$(field 'h["/workspace/one"]["pid"]')" = $$ ] || fail "after it went on: $(cat answer)"
exec 7<&-
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"

# A daemon that dies with a question open: the client is told.
expect 0 "$WARDFS" mount --session m1 --policy ./p src mnt
fs=$(session_pid fs_pid)
kill -STOP "$fs"
"$WARDFS" ps --io m1 >late.out 2>late.err &
asker=$!
kill -9 "$fs"
wait "$asker" && fail "answered by the dead: $(cat late.out)"
wait_until 60 over || fail "the session goes on"

# In a sandbox; and without root, where the page cache serves.
cat >hold.sh <<'S'
exec 7<file
touch started
for _ in $(seq 6000); do [ -e go ] || sleep 0.05; done
S
cat >inner.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
cd "$HOME" || exit 1
mkdir -p work
cp hold.sh work/hold.sh
cd work || exit 1
git init -q .
echo x >file
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\n' >../p
"$WARDFS" run --policy ../p --session r1 -- sh hold.sh &
run=$!
wait_until 60 test -e started || fail "did not start"
expect 0 "$WARDFS" ps --io r1
touch go
wait "$run"
has "$OUT" "/workspace/file"
case $OUT in *passthrough*"sessions that root starts"*) echo cached ;; *) echo "$OUT" ;; esac
S
mkdir -p home
cp hold.sh home/
chown -R 4711:4711 home
cp inner.sh "$WARD_TMP/home/inner.sh"
expect 0 as_user "$WARD_TMP/home/inner.sh"
has "$OUT" cached
exit 0
