#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A git configuration tries to keep a start busy. wardfs reads a file once even if it is named
# again and again, and refuses by name what is too large. The time limit only ends a hang.
set -eu
. "$WARD_SRC/tests/lib.sh"
git_identity

project p
cd p
echo "--- one file, included as often as half a megabyte has lines, by many names"
for i in $(seq 20); do ln -s base "link$i"; done
i=0
while [ $i -lt 1000 ]; do
	printf '[include]\n\tpath = base\n\tpath = link%d\n\tpath = ./base\n' $((i % 20 + 1))
	i=$((i + 1))
done >once
for i in $(seq 12); do cat once; done >many
head -c 600000 /dev/zero | tr '\0' '#' >base
echo >>base
[ "$(stat -c %s many)" -gt 500000 ] || fail "control: $(stat -c %s many)"
git config include.path ../many
expect 0 timeout 120 "$WARDFS" run -- true
expect 0 timeout 120 "$WARDFS" policy check
echo "--- what it names is guarded all the same"
printf '[core]\n\thooksPath = late\n' >>base
expect 0 timeout 120 "$WARDFS" run -- sh -c '! mkdir late && mkdir other'
rm -r other base many once

echo "--- many large files: refused, and said where"
git config --unset include.path
head -c 1000000 /dev/zero | tr '\0' '#' >comment
echo >>comment
for i in $(seq 40); do
	cp comment "large$i"
	git config --add include.path "../large$i"
done
expect 2 timeout 120 "$WARDFS" run -- true
has "$ERR" "cannot guard what /workspace/.git leads to"
has "$ERR" "with /workspace/large"
has "$ERR" "the start would read more than 32 MiB"
git config --unset-all include.path
expect 0 timeout 120 "$WARDFS" run -- true
