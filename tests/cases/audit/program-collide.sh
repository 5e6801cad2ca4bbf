#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs reads a program once for its digest, even if two programs' inode numbers collide in the
# cache. Otherwise each execve(2) would cost the supervisor work that no session limit counts. The
# control: both programs have a digest.
set -eu
. "$WARD_SRC/tests/lib.sh"
mkdir tools
pair=$(python3 "$WARD_SRC/tests/cases/audit/lib/program-collide.py")
[ -n "$pair" ] || fail "no two numbers fall together"
a=$PWD/${pair% *} b=$PWD/${pair#* }
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[system]\nread = %s\n' "${a%/*}" >../tools.policy
# shellcheck disable=SC2016 # the inner shell's
expect 0 "$WARDFS" run --session c --policy ../tools.policy -- \
	sh -ec 'for i in 1 2 3 4 5 6; do "$1"; "$2"; done' sh "$a" "$b"
"$WARDFS" audit show --no-index --json --kind program c >programs
for f in "$a" "$b"; do
	n=$(grep -c "\"path\":\"$f\"" programs) || n=0
	[ "$n" -eq 1 ] || fail "$f: $n records: $(cat programs)"
	grep "\"path\":\"$f\"" programs | grep -q sha256 || fail "$f: no digest"
done
