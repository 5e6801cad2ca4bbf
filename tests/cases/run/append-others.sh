#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A file that another session, or a program of the host, can write to anywhere cannot be renamed or
# linked to where it may only grow: EXDEV, at which mv copies. The controls: what others only read,
# what they have closed, and a place without such a rule. As root, and without.
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/run/lib/workspace.sh"
workspace_policy grow.policy 'append = /workspace/log'
cp "$WARD_SRC/tests/cases/run/lib/append-others.py" two.py
chmod 644 two.py grow.policy
HERE=$PWD
export HERE
cat >both.sh <<'S'
set -eu
rm -rf "$1"
mkdir -p "$1/log" "$1/free" "$1/d/e"
cd "$1"
for f in held linked mapped swapped read d/e/held; do echo first >$f; done
rm -f ../there ../answer
mkfifo ../there ../answer
run() {
	"$WARD_BUILD/wardfs" run --policy "$HERE/grow.policy" --read "$HERE/two.py" -- \
		/usr/bin/python3 "$HERE/two.py" "$1"
}
run second <../there >../answer 2>../said.2 &
second=$!
run first >../there <../answer 2>../said.1 || { cat ../said.1 ../said.2; exit 1; }
wait $second || { cat ../said.2; exit 1; }
# A program of the host.
echo first >held
exec 5<>held
run host 2>../said.3 && { echo "a file that the host writes was moved"; exit 1; }
exec 5<&-
run host 2>../said.3 || { cat ../said.3; exit 1; }
S
echo "--- as root, or whoever runs this"
sh both.sh "$PWD/root" || fail "as $(id -u)"

echo "--- without root"
chmod 755 .
as_user -c 'sh "$HERE/both.sh" "$HOME/user"' || fail "without root"
