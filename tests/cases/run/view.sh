#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the command sees: its project at both paths, a start directory, system files, nothing else.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
mkdir -p p/sub/deep
echo text >p/file
echo beside >beside
cd p/sub/deep || exit 1

expect 0 "$WARDFS" run -- pwd
[ "$OUT" = "$WARD_TMP/p/sub/deep" ] || fail "start directory: $OUT"
expect 0 "$WARDFS" run -- sh -c "cat /workspace/file $WARD_TMP/p/file"
expect 0 "$WARDFS" run -- sh -c 'echo one >/workspace/a && mv /workspace/a ../../b && cat /workspace/b'
has "$OUT" one
expect 1 "$WARDFS" run -- cat "$WARD_TMP/beside"
expect 0 cat "$WARD_TMP/beside"
for f in /etc/shadow /var/log /boot /home/somebody; do
	expect 1 "$WARDFS" run -- sh -c "test -r $f"
done
expect 0 "$WARDFS" run -- sh -c 'test -w /tmp && test -w /dev/null && test -w "$HOME" && test -r /usr/bin/env'
expect 1 "$WARDFS" run -- touch /usr/bin/x
expect 1 "$WARDFS" run -- touch /etc/x
printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n' >"$WARD_TMP/fresh.policy"
expect 0 "$WARDFS" run --policy "$WARD_TMP/fresh.policy" -- sh -c 'touch /tmp/left "$HOME/left"'
expect 1 "$WARDFS" run --policy "$WARD_TMP/fresh.policy" -- sh -c 'test -e /tmp/left || test -e "$HOME/left"'
# Only the three descriptors, only its own processes.
expect 0 "$WARDFS" run -- sh -c 'ls /proc/self/fd | sort | tr "\n" " "' 9</etc/passwd
[ "$OUT" = "0 1 2 3 " ] || fail "descriptors: $OUT"
expect 0 "$WARDFS" run -- sh -c 'ls -d /proc/[0-9]* | wc -l'
[ "$OUT" -le 4 ] || fail "$OUT processes are seen"
cd "$WARD_TMP/p" || exit 1
# A path relative to a policy's file is shown where it is, also by a way that goes up, or ends with
# a slash.
mkdir -p "$WARD_TMP/shown/tools"
echo tool >"$WARD_TMP/shown/tools/t"
for way in "$WARD_TMP/shown/tools" p/../shown/tools ./shown/../shown//tools/ shown/tools/.; do
	printf '[policy]\nversion = 1\nextends = medium\n[system]\nread = %s\n' "$way" >"$WARD_TMP/shown.policy"
	expect 0 "$WARDFS" run --policy ../shown.policy -- cat "$WARD_TMP/shown/tools/t"
	[ "$OUT" = tool ] || fail "$way: $OUT"
done
expect 1 "$WARDFS" run -- cat "$WARD_TMP/shown/tools/t"
# Odd names work and are escaped in what is printed.
expect 0 "$WARDFS" run -- python3 -c "$(cat "$WARD_SRC/tests/cases/run/lib/view-names.py")"
expect 0 "$WARDFS" audit show
printf '%s' "$OUT" | LC_ALL=C grep -q "$(printf '\033')" && fail "an escape sequence reached the terminal"
has "$OUT" 'new\nline'
exit 0
