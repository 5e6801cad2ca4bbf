#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An exec record names the file that started, also when the path leads through links in /proc: to
# an open descriptor, the caller's root or its directory.
set -eu
. "$WARD_SRC/tests/lib.sh"
cp "$WARD_SRC/tests/cases/audit/lib/exec-links.py" "$WARD_TMP/links.py"
chmod 755 "$WARD_TMP"
ways='plain handle thread number dev directory root cwd link relative'

# The control: outside, each way leads to that program.
expect 0 unshare --mount sh -c 'mount -t tmpfs tmpfs /tmp && python3 "$WARD_TMP/links.py"'
for way in $ways; do has "$OUT" "$way ran"; done

cat >"$WARD_TMP/start" <<'S'
set -eu
mkdir -p p
cd p
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nread = /workspace
[audit]\nexec = yes\nlog = denials\n' >../policy
"$WARDFS" run --policy ../policy --session links -- python3 -c "$(cat "$WARD_TMP/links.py")" >../said
"$WARDFS" audit verify links
"$WARDFS" audit show --json links >../records
S
# records DIR: all of them have the file of the plain one, and there is one digest of it.
records() {
	for way in $ways; do
		has "$(cat "$1/said")" "$way ran"
		grep -F "\"SAID=$way\"" "$1/records" | grep -qF "\"ino\":$(stat -c %i /usr/bin/env)," ||
			fail "$1: $way: $(grep -F "\"SAID=$way\"" "$1/records")"
	done
	[ "$(grep '"kind":"program"' "$1/records" | grep -c '"path":"/usr/bin/env"')" = 1 ] ||
		fail "$1: the digest: $(grep '"kind":"program"' "$1/records")"
}
mkdir root
(cd root && XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config sh "$WARD_TMP/start") || fail "as root"
records root
as_user "$WARD_TMP/start" || fail "as an ordinary user"
records "$WARD_TMP/home"
