#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The daemon's memory for files that the kernel has seen: at most 300 bytes a file and 1,000
# descriptors, even with more directories. 20,000 files; with --long a million.
# timeout: 3600
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

files=20000 dirs=1000
[ -z "${WARD_LONG-}" ] || files=1000000 dirs=20000
cp "$WARD_SRC/tests/cases/fs/lib/million-make.py" "$WARD_TMP/make.py"
# look.py PID FILES DIRS: looks each up by its name, then walks; prints bytes of memory a file and
# the most descriptors that there were
cp "$WARD_SRC/tests/cases/fs/lib/million-look.py" "$WARD_TMP/look.py"
script million <<'END'
python3 "$1/look.py" "$(cat "$1/pid")" "$2" "$3" >"$1/result"
END
policy
fresh
as_owner sh -c "cd '$BACK' && python3 '$WARD_TMP/make.py' $files $dirs"
# As root and for all users: who looks inside may look at the daemon's descriptors.
"$FSMOUNT" -m other -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" \
	sh -eu "$WARD_TMP/million" "$WARD_TMP" $files $dirs || fail "million"
read -r bytes fds <"$WARD_TMP/result" || fail "no result"
echo "$files files in $dirs directories: $bytes bytes a file, $fds descriptors"
[ "$bytes" -gt 50 ] && [ "$fds" -gt 500 ] || fail "measured wrongly"
# A sanitizer's allocator keeps more beside it.
grep -qE '__[at]san_init' "$WARD_BUILD/wardfs-fs" || [ "$bytes" -le 300 ] || fail "$bytes bytes a file"
[ "$fds" -le 1000 ] || fail "$fds descriptors"
