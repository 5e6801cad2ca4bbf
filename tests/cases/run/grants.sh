#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs grant, grants and revoke give a running session a right for a while. The end is exact for
# new opens and for open files. Guards stay, and no process inside can give itself a grant.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
trap 'for s in g m-none m-process; do "$WARDFS" kill $s >/dev/null 2>&1 || :; done' EXIT
mkdir -p project/docs/guarded project/src/dir
echo text >project/docs/a
echo held >project/docs/held
echo top >project/secret.pem
echo fixed >project/src/fixed
echo ruled >project/src/ruled
mkdir project/docs/out
for f in tied renamed out/beneath; do echo "$f" >project/docs/$f; done
ln project/docs/tied project/docs/tied2
echo linked >project/src/linked
ln project/src/linked project/docs/linked
cp "$WARD_SRC/tests/cases/run/lib/grants-held.py" project/src/held.py
cp "$WARD_SRC/tests/cases/run/lib/grants-reload.py" project/src/reload.py
chmod -R a+rwX project
cat >policy <<'P'
[policy]
version = 1
[tree /workspace]
source = project
[files]
read = /workspace
write = /workspace/src
read = /workspace/src/fixed
read = /workspace/src/linked
hide = *.pem
[guard]
read = /workspace/docs/guarded
hide = guarded.pem
P
"$WARDFS" run --session g --policy ./policy -- sh -c ': >src/ready; exec sleep 600' >run.out 2>&1 &
run=$!
wait_until 60 test -e project/src/ready || fail "the session does not begin: $(cat run.out)"
inside() { "$WARDFS" exec g -- sh -c "$1"; }
grant() { # ARGUMENT…; id: the grant's
	expect 0 "$WARDFS" grant g "$@"
	id=$OUT
}

echo '--- a right, by uses: control, given, spent'
expect 2 inside 'echo x >>docs/a'
has "$ERR" 'Permission denied'
expect 0 "$WARDFS" grants g
has "$ERR" "no grant is in force"
[ -z "$OUT" ] || fail "a table of nothing: $OUT"
grant write '/workspace/docs/**' --uses 2 --for 1h --reason 'fix the docs'
expect 0 "$WARDFS" grants g
has "$OUT" "$id"
has "$OUT" '0/2'
expect 0 inside 'echo x >>docs/a && test -w docs/a && stat docs/a >/dev/null'
expect 0 "$WARDFS" grants --json g
has "$OUT" '"used": 1'
expect 2 inside 'echo y >ro.txt'
expect 0 inside 'mkdir docs/made'
expect 2 inside 'echo x >>docs/a'
expect 1 inside 'rm docs/a'
expect 0 "$WARDFS" grants g
has "$OUT" '2/2'
[ "$(cat project/docs/a)" = 'text
x' ] || fail "not what was written: $(cat project/docs/a)"
expect 0 "$WARDFS" ps g
has "$OUT" '1 granted (wardfs grants g)'
expect 0 "$WARDFS" top --once g
has "$OUT" 'granted 1 (wardfs grants g)'
expect 0 "$WARDFS" revoke "$id"
expect 1 "$WARDFS" revoke "$id"
has "$ERR" 'no running session has'

echo '--- what is hidden shows while it lasts, by time'
expect 1 inside 'cat secret.pem'
expect 1 inside 'ls | grep -q pem'
grant read /workspace/secret.pem --for 1h
expect 0 inside 'cat secret.pem'
[ "$OUT" = top ] || fail "control: $OUT"
expect 0 inside 'ls | grep -q pem'
expect 0 "$WARDFS" revoke "$id" --reason enough
expect 1 inside 'cat secret.pem'
expect 1 inside 'ls | grep -q pem'
grant read /workspace/secret.pem --for 1s
gone_by_itself() { ! "$WARDFS" grants g | grep -q "$id"; }
wait_until 60 gone_by_itself || fail "does not end: $("$WARDFS" grants g)"
expect 1 inside 'cat secret.pem'
has "$ERR" 'No such file'

echo '--- guards stay, by name'
expect 1 "$WARDFS" grant g write /workspace/docs/guarded/x
has "$ERR" "no grant lifts '[guard] read = /workspace/docs/guarded'"
expect 1 "$WARDFS" grant g read /workspace/guarded.pem
# What is outside of the trees nobody can grant later: it is fixed at the start.
for outside in /usr/bin/id '/usr/**' /workspacex /work; do
	refused "is in no tree, and a grant counts in trees alone" "$WARDFS" grant g read "$outside" --for 1m
done
has "$ERR" "no grant lifts '[guard] hide = guarded.pem'"
expect 1 "$WARDFS" grant g connect example.org:443
has "$ERR" 'no grant lifts'
for bad in docs / '/**/docs' '/w/['; do
	expect 2 "$WARDFS" grant g write "$bad"
done
expect 2 "$WARDFS" grant g noexec /workspace/docs
expect 2 "$WARDFS" grant g write /workspace/docs --uses 0
grant write '/workspace/docs/**'
expect 1 inside 'mkdir docs/guarded/x'
expect 0 inside 'mkdir docs/free'

echo '--- a second name and a move gain nothing'
expect 0 inside 'ln src/ruled src/ruled2 && rm src/ruled2'
expect 1 inside 'ln src/fixed docs/fixed'
has "$ERR" 'cross-device'
# Its other name has no right to be written to.
expect 2 inside 'echo EVIL >>docs/linked'
expect 0 inside 'python3 -c "import os; os.rename(\"src/dir\", \"src/dir1\"); os.rename(\"src/dir1\", \"src/dir\")"'
expect 1 inside 'python3 -c "import os; os.rename(\"src/dir\", \"docs/dir\")"'
has "$ERR" 'cross-device'
# Nor does a name leave the grant's paths for where the rules give more: it would keep that later.
# Controls: within the paths, by a copy, and under the rules alone.
move='import os, sys; getattr(os, sys.argv[1])(*sys.argv[2:])'
exchange='import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
names = [n.encode() for n in sys.argv[1:]]
sys.exit(libc.renameat2(-100, names[0], -100, names[1], 2) and ctypes.get_errno())'
echo leaves >project/docs/leaves
chmod a+rw project/docs/leaves
expect 0 inside "python3 -c '$move' rename docs/leaves docs/leaves2"
expect 0 inside "python3 -c '$move' rename docs/leaves2 docs/leaves"
expect 0 inside "echo x >src/free && python3 -c '$move' rename src/free src/free2 && rm src/free2"
expect 0 inside "python3 -c '$exchange' docs/leaves docs/a && python3 -c '$exchange' docs/leaves docs/a"
for how in rename link; do
	expect 1 inside "python3 -c '$move' $how docs/leaves src/left"
	has "$ERR" 'cross-device'
done
expect 18 inside "python3 -c '$exchange' docs/leaves src/ruled"
expect 0 inside 'mv docs/leaves src/left && cat src/left && ! test -e docs/leaves'
has "$OUT" leaves
expect 1 inside 'ln -s /workspace/src/fixed docs/symbolic'
expect 0 inside 'ln -s /workspace/src/fixed src/symbolic'

echo '--- what is open ends with the grant'
writes=$id
grant read /workspace/secret.pem
reads=$id
inside 'exec python3 src/held.py src/held-done src/held-go' >held.out 2>&1 &
held=$!
begun() { [ -e project/src/held-done ] || gone "$held"; }
wait_until 60 begun
[ -e project/src/held-done ] || fail "did not open: $(cat held.out)"
for want in 'write yes' 'read yes' 'ruled yes' 'shared No such device' 'private yes' 'tied yes' 'renamed yes' \
	'beneath yes' 'tie Invalid cross-device link' 'untie yes' 'rename yes' 'parent Invalid cross-device link' \
	'parent-out Invalid cross-device link'; do
	grep -qx "$want" held.out || fail "control: $want: $(cat held.out)"
done
expect 0 "$WARDFS" ps --io g
has "$OUT" 'opened under a grant'
expect 0 "$WARDFS" revoke "$writes"
expect 0 "$WARDFS" revoke "$reads"
: >project/src/held-go
wait "$held" || fail "$(cat held.out)"
for want in 'write-after Permission denied' 'append-after Permission denied' \
	'truncate-after Permission denied' 'allocate-after Permission denied' \
	'read-after Permission denied' 'tied-after Permission denied' 'renamed-after Permission denied' \
	'beneath-after Permission denied' 'ruled-after yes' 'private-after SIGBUS'; do
	grep -qx "$want" held.out || fail "$want: $(cat held.out)"
done
grep -qx 'proc-after yes' held.out && fail "opened again: $(cat held.out)"
grep -rq EVIL project/docs && fail "written to after the end"

echo '--- another policy: what is open under a grant keeps what the new guards leave'
grant write '/workspace/docs/**'
inside 'exec python3 src/reload.py' >reload.out 2>&1 &
held=$!
begun() { [ -e project/src/reload-done ] || gone "$held"; }
wait_until 60 begun
{
	cat policy
	echo 'read = /workspace/docs/a'
} >policy2
expect 0 "$WARDFS" policy reload g ./policy2
: >project/src/reload-go
wait "$held" || fail "$(cat reload.out)"
[ "$(cat reload.out)" = 'kept yes
lost Permission denied' ] || fail "$(cat reload.out)"
expect 0 "$WARDFS" revoke "$id"

echo '--- nobody inside gives one'
export WARDFS_RUNTIME_OF_TEST="${XDG_RUNTIME_DIR:-/run}/wardfs/g/control"
[ -S "$WARDFS_RUNTIME_OF_TEST" ] || fail "control: no socket at $WARDFS_RUNTIME_OF_TEST"
expect 1 inside "test -e '$WARDFS_RUNTIME_OF_TEST'"
expect 1 inside "'$WARDFS' grant g write '/workspace/**' || exit 1"
expect 0 "$WARDFS" grants --json g
[ "$OUT" = '[]' ] || fail "a grant is left: $OUT"

echo '--- the trail'
expect 0 "$WARDFS" kill g
wait "$run" || [ $? -eq 143 ] || fail "$(cat run.out)"
expect 0 "$WARDFS" audit verify g
expect 0 "$WARDFS" audit show --json g
printf '%s\n' "$OUT" >records
python3 "$WARD_SRC/tests/cases/run/lib/grants-records.py" records || fail "records"

echo '--- without a wall the command could grant itself anything'
for mode in none process; do
	rm -f project/src/ready
	(cd project && exec "$WARDFS" run --mode "$mode" --session "m-$mode" --policy ../policy -- \
		sh -c ': >src/ready; exec sleep 600') >run.out 2>&1 &
	run=$!
	wait_until 60 test -e project/src/ready || fail "$mode does not begin: $(cat run.out)"
	expect 1 "$WARDFS" grant "m-$mode" read /workspace/secret.pem
	has "$ERR" 'could grant itself anything'
	expect 0 "$WARDFS" kill "m-$mode"
	wait "$run" || [ $? -eq 143 ] || fail "$mode: $(cat run.out)"
done
