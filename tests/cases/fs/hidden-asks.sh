#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-fs never asks the backing about a hidden name, so the time of an answer cannot reveal
# whether the name exists.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to look at wardfs-fs"
command -v strace >/dev/null || skip "no strace (Debian package strace)"
strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"
mkdir p
cd p
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace\nhide = *.hid\n' >../policy
cp "$WARD_SRC/tests/cases/fs/lib/hidden-asks.py" asks.py
for end in hid vis; do
	echo x >there-file.$end
	mkdir -p there-dir.$end/sub
	ln -s asks.py there-link.$end
done

"$WARDFS" run --policy ../policy -- python3 asks.py >../out 2>../err &
run=$!
trap 'kill $run 2>/dev/null || :' EXIT
wait_until 60 test -e ready || fail "not started: $(cat ../out ../err)"
guard=
for p in $(grep -sl "^PPid:[[:space:]]*$run\$" /proc/[0-9]*/status | cut -d/ -f3); do
	[ "$(cat "/proc/$p/comm")" != wardfs-fs ] || guard=$p
done
[ -n "$guard" ] || fail "no wardfs-fs"
strace -qq -f -s 4096 -o ../calls -p "$guard" 2>../strace.err &
tracer=$!
trap 'kill $run $tracer 2>/dev/null || :' EXIT
traced() { ! grep -LE "^TracerPid:[[:space:]]*$tracer\$" "/proc/$guard"/task/*/status | grep -q .; }
wait_until 60 traced || fail "not looked at: $(cat ../strace.err)"
touch traced
wait "$run" || fail "$(cat ../out ../err)"
wait "$tracer" || :
trap - EXIT
has "$(cat ../out)" 'asked'

# The control: it asks about names that are not hidden, whether they exist or not.
for name in there-file there-dir there-link absent; do
	grep -q "\"$name\.vis\"" ../calls || fail "control: $name.vis: $(head -20 ../calls)"
done
! grep '\.hid"' ../calls >../asked || fail "asked: $(sort ../asked | uniq -c | head -20)"
