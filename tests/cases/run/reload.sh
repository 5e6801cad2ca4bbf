#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs policy reload: a tighter and a looser policy act at once, for names seen before and new
# ones. A bad policy changes nothing. wardfs names the settings that last for a whole session.
# Floor, project file and start options stay. The trail records it. Each refusal has its control.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
# However it ends, nothing stays mounted.
trap '"$WARDFS" umount --lazy mnt >/dev/null 2>&1 || :' EXIT
mkdir src mnt src/d src/later
for i in f g h d/x later/y; do echo "text of $i" >"src/$i"; done
# base FILE LINE…: a base that gives the workspace, and the lines
base() {
	to=$1
	shift
	{
		printf '[policy]\nversion = 1\n[limits]\nwall = 1h\n[files]\nwrite = /workspace\n'
		for line in "$@"; do printf '%s\n' "$line"; done
	} >"$to"
}
base open
base tight 'hide = /workspace/f' 'read = /workspace/g' 'deny = /workspace/h' 'hide = /workspace/d'
over() { [ "$("$WARDFS" ps --json 2>&1)" = "[]" ]; }
in_force() {
	"$WARDFS" ps --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["policy"])'
}
digest() { "$WARDFS" policy show --json --policy "./$1" | python3 -c 'import json,sys; print(json.load(sys.stdin)["digest"])'; }
tightened() {
	[ "$(echo mnt/*)" = "mnt/g mnt/h mnt/later" ] || fail "listed: $(echo mnt/*)"
	expect 1 cat mnt/f
	has "$ERR" "No such file"
	expect 1 cat mnt/d/x
	has "$ERR" "No such file"
	expect 1 cat mnt/h
	has "$ERR" "Permission denied"
	expect 0 cat mnt/g
	expect 2 sh -c 'echo x >>mnt/g'
	has "$ERR" "Permission denied"
	expect 0 sh -c 'echo x >>mnt/later/y'
}
loosened() {
	[ "$(echo mnt/*)" = "mnt/d mnt/f mnt/g mnt/h mnt/later" ] || fail "listed: $(echo mnt/*)"
	expect 0 cat mnt/f mnt/g mnt/h mnt/d/x
	expect 0 sh -c 'echo x >>mnt/g; echo x >>mnt/d/x'
}

expect 0 "$WARDFS" mount --session r1 --policy ./open src mnt
# The kernel keeps what it was told from here on (fs/watch/backing_watch.h).
for i in 1 2 3 4; do find mnt >/dev/null; cat mnt/f mnt/g mnt/h mnt/d/x >/dev/null; done
[ ! -e mnt/absent ] || fail "control: not there"
loosened
expect 0 "$WARDFS" policy reload r1 ./tight
tightened
# The same digest as the file loaded alone has: nothing else is in force.
[ "$(in_force)" = "$(digest tight)" ] || fail "in force: $(in_force)"
expect 0 "$WARDFS" policy reload r1 ./open
loosened
# Back and forth, ten times; the answer is what holds.
for i in 1 2 3 4 5; do
	expect 0 "$WARDFS" policy reload r1 ./tight
	tightened
	expect 0 "$WARDFS" policy reload --json r1 ./open
	has "$OUT" '"ok": true'
	loosened
done

# A bad file: its line, and the old policy goes on.
base bad 'wriet = /workspace/g'
expect 2 "$WARDFS" policy reload r1 ./bad
has "$ERR" "bad:7:"
has "$ERR" "did you mean 'write'"
base bad 'hide = /workspace/{a,b}'
expect 2 "$WARDFS" policy reload r1 ./bad
has "$ERR" "bad:7:"
expect 2 "$WARDFS" policy reload r1 ./nowhere
has "$ERR" nowhere
expect 2 "$WARDFS" policy reload r1 medim
has "$ERR" "did you mean medium"
expect 2 "$WARDFS" policy reload r1
expect 1 "$WARDFS" policy reload nobody ./open
has "$ERR" "no session 'nobody'"
loosened
[ "$(in_force)" = "$(digest open)" ] || fail "a bad file took effect"

# A reload names each key that lasts as long as the session, with its line. The same value in other
# words is no change.
sed 's/^wall = 1h/wall = 2h/' open >other
expect 2 "$WARDFS" policy reload r1 ./other
has "$ERR" "other:4: [limits] wall = 2h (in force: 1h)"
sed '/^wall/d' open >other
expect 2 "$WARDFS" policy reload r1 ./other
has "$ERR" "[limits] wall = 1h is in force, and missing"
printf '[tree /data]\nsource = .\n[env]\nset = A=b\n[network]\nmode = host\n' >>other
expect 2 "$WARDFS" policy reload r1 ./other
has "$ERR" "other:6: [tree /data] is not served in this session"
has "$ERR" "[env] set = A=b"
has "$ERR" "start a new one"
sed 's/^wall = 1h/wall = 60m/' tight >other
expect 0 "$WARDFS" policy reload r1 ./other
tightened
expect 0 "$WARDFS" policy reload r1 ./open

# A base that extends another file, and one that is nobody's to read but the caller's.
mkdir private
chmod 700 private
printf '[policy]\nversion = 1\nextends = under\n[limits]\nwall = 1h\n[files]\nhide = /workspace/f\n' >private/over
printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >private/under
expect 0 "$WARDFS" policy reload r1 ./private/over
[ "$(echo mnt/*)" = "mnt/d mnt/g mnt/h mnt/later" ] || fail "listed: $(echo mnt/*)"
expect 0 "$WARDFS" policy reload r1 ./open

# From another pid namespace, as a sandbox has one: the supervisor hangs up. Control: the same
# without.
for what in '{"verb":"reload"}' '{"verb":"status"}'; do
	ASK='import os,socket,sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.path.join(sys.argv[1], "r1", "control"))
try: s.send(sys.argv[2].encode()); print(len(s.recv(65536)))
except OSError: print(0)'
	dir=${XDG_RUNTIME_DIR:-/run}/wardfs
	[ "$(python3 -c "$ASK" "$dir" "$what")" -gt 0 ] || fail "control: no answer to $what"
	got=$(unshare --pid --fork --mount-proc python3 -c "$ASK" "$dir" "$what")
	[ "$got" = 0 ] || fail "answered somebody from inside: $what"
done

# Two at once: one of them is told, or both are done, one after the other.
"$WARDFS" policy reload r1 ./tight >a.out 2>&1 &
one=$!
"$WARDFS" policy reload r1 ./tight >b.out 2>&1 || grep -q "another reload" b.out || fail "$(cat b.out)"
wait "$one" || grep -q "another reload" a.out || fail "$(cat a.out)"
tightened
expect 0 "$WARDFS" policy reload r1 ./open
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"

# The project's own file only takes away. The rights that it takes away now are gone. Its change,
# which only the host can make, gives back no right that it took away at the start.
printf '[policy]\nversion = 1\n[files]\nhide = g\n' >src/.wardfs.policy
expect 0 "$WARDFS" mount --session r2 --policy ./open src mnt
expect 1 cat mnt/g
expect 0 cat mnt/f
expect 2 sh -c 'echo >mnt/.wardfs.policy'
printf '[policy]\nversion = 1\n[files]\nhide = g\nhide = f\n' >src/.wardfs.policy
expect 0 "$WARDFS" policy reload r2 ./open
has "$ERR" "what it takes away now holds"
expect 1 cat mnt/g
expect 1 cat mnt/f
rm src/.wardfs.policy
expect 0 "$WARDFS" policy reload r2 ./open
has "$ERR" "what it said then holds"
expect 1 cat mnt/g
expect 0 cat mnt/f
printf '[policy]\nversion = 1\n[fiels]\nhide = g\n' >src/.wardfs.policy
expect 2 "$WARDFS" policy reload r2 ./open
has "$ERR" ".wardfs.policy:3:"
expect 1 cat mnt/g
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"
expect 0 "$WARDFS" audit verify r2
rm src/.wardfs.policy

# Many users: for each of them at once.
chmod 755 "$WARD_TMP" src mnt
chmod 644 src/f
expect 0 "$WARDFS" mount --session r3 --policy ./open --allow-other src mnt
as() { setpriv --reuid=4711 --regid=4711 --clear-groups "$@"; }
expect 0 as cat mnt/f
expect 0 "$WARDFS" policy reload r3 ./tight
expect 1 as cat mnt/f
has "$ERR" "No such file"
expect 0 as cat mnt/g
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"

# A quota's limits can be others; that there is one cannot.
quota() { printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n[quota /workspace]\n%s\n' "$1" >"$2"; }
quota 'growth = 64K' q64
quota 'growth = 512K' q512
quota 'files = 10' qfiles
expect 0 "$WARDFS" mount --session r4 --policy ./q64 src mnt
expect 1 sh -c 'head -c 200000 /dev/zero >mnt/big'
expect 0 "$WARDFS" policy reload r4 ./q512
expect 0 sh -c 'head -c 200000 /dev/zero >mnt/big'
expect 0 "$WARDFS" policy reload r4 ./q64
expect 1 sh -c 'head -c 1000 /dev/zero >>mnt/big'
expect 2 "$WARDFS" policy reload r4 ./qfiles
has "$ERR" "[quota /workspace] growth = 64K is in force, and missing"
has "$ERR" "qfiles:6: [quota /workspace] files = 10 (in force: not set)"
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"
# Handles that are open were chosen without one: a quota is refused, whoever brings it, and the old
# policy stays.
expect 0 "$WARDFS" mount --session r5 --policy ./open src mnt
was=$(in_force)
exec 9>>mnt/g
expect 2 "$WARDFS" policy reload r5 ./q64
has "$ERR" "q64:6: [quota /workspace] growth = 64K (in force: not set)"
printf '[policy]\nversion = 1\n[quota /workspace/later]\nfile = 64K\n' >src/.wardfs.policy
expect 2 "$WARDFS" policy reload r5 ./open
has "$ERR" "[quota /workspace/later] file = 64K (in force: not set)"
rm src/.wardfs.policy
[ "$(in_force)" = "$was" ] || fail "in force: $(in_force)"
head -c 100000 /dev/zero >&9
exec 9>&-
[ "$(wc -c <src/g)" -gt 100000 ] || fail "not written"
expect 0 "$WARDFS" umount mnt
wait_until 60 over || fail "the session goes on"

# The trail: every policy that was in force, whole, and every one that was not to be.
expect 0 "$WARDFS" audit verify r1
expect 0 "$WARDFS" audit show --json r1
printf '%s\n' "$OUT" >trail
python3 "$WARD_SRC/tests/cases/run/lib/reload-trail.py" "$(digest open)" "$(digest tight)" || fail "trail"
# Whoever reads less than all of it reads of them, too.
expect 0 "$WARDFS" audit report --format json r1
has "$OUT" '"reloads"'
has "$OUT" "$(digest tight)"
expect 0 "$WARDFS" audit report r1
has "$OUT" "$(digest tight)"
expect 0 "$WARDFS" audit report --format md r1
has "$OUT" "Another policy, loaded"
expect 0 "$WARDFS" audit attest -o statement r1
python3 - "$(digest tight)" <<'P' || fail "attested as if there had been one policy"
import base64, json, sys
p = json.loads(base64.b64decode(json.load(open("statement"))["payload"]))["predicate"]
assert sys.argv[1] in [r["policy"]["digest"]["sha256"] for r in p["reloads"]["loaded"]], p["reloads"]
assert len(p["reloads"]["loaded"]) >= 17 and p["reloads"]["more"] == 0
P
state=${XDG_STATE_HOME:-$HOME/.local/state}/wardfs
[ -e "$state" ] || state=/var/lib/wardfs
kept=$(find "$state/sessions/r1" -name 'policy.*' | wc -l)
[ "$kept" -ge 17 ] || fail "texts kept: $kept"
grep -qa 'hide = /workspace/f' "$state/sessions/r1/policy.1" || fail "policy.1: $(cat "$state/sessions/r1/policy.1")"
exit 0
