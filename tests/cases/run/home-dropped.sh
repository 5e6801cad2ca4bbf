#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session writes everything that conf/home-dropped.list names into its kept home, and the next
# session finds nothing of that. Its neighbours are the controls: they stay.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
sed -n 's/^\([^# ][^ ]*\)  *[^ ].*/\1/p' "$WARD_SRC/conf/home-dropped.list" | sed 's/\*/star/g' >names
[ "$(wc -l <names)" -gt 100 ] || fail "the list: $(cat names)"
cat >kept <<'END'
.local/lib/pythonstar/site-packages/module.py
.local/lib/other/site-packages/usercustomize.py
.config/gh/hosts.yml
.aws/credentials
.lldbinit.old
.docker/contexts
END
# shellcheck disable=SC2016 # expanded inside
write='cd && while read -r f; do mkdir -p "${f%/*}/." && echo evil >"$f"; done'
look='cd && while read -r f; do [ ! -e "$f" ] || echo "$f"; done <'

echo "--- the control: within a session all of it can be written and read"
sed -i 's|^[^/]*$|./&|' names
expect 0 "$WARDFS" run -- sh -c "$write </workspace/names; $write </workspace/kept; $look/workspace/names"
[ "$OUT" = "$(cat names)" ] || fail "written: $OUT $ERR"

echo "--- the next session has none of it, and its neighbours"
expect 0 "$WARDFS" run -- sh -c "$look/workspace/names"
[ -z "$OUT" ] || fail "kept: $OUT"
expect 0 "$WARDFS" run -- sh -c "$look/workspace/kept"
[ "$OUT" = "$(cat kept)" ] || fail "control: $OUT"

echo "--- also past a link, in a closed directory, and where a name has the star itself"
expect 0 "$WARDFS" run -- sh -c 'cd && d=.local/lib/python\*/site-packages && mkdir -p "$d" && echo evil >"$d/*.pth" && chmod 0 "$d"
	mv .local real && ln -s real .local && echo evil >"real/lib/pythonstar/site-packages/x.pth"'
expect 0 "$WARDFS" run -- sh -c 'cd && ls -A .local/lib/python*/site-packages 2>&1; [ ! -L .local ]'
hasnt "$OUT" x.pth
has "$OUT" "No such file"
expect 0 "$WARDFS" run -- sh -c 'cd && mv real .local && ls -A .local/lib/pythonstar/site-packages && mkdir -p .local/lib/pythonstar'
expect 0 "$WARDFS" run -- sh -c 'cd && find .local -name "*.pth"'
[ -z "$OUT" ] || fail "kept: $OUT"
