#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the daemon holds for the files that the kernel has seen: at most 300 bytes a file, and at most 1000
# descriptors, also with more directories than that. 20,000 files; with --long a million.
# timeout: 3600
. "$WARD_SRC/tests/cases/fs/_fs.sh"

files=20000 dirs=1000
[ -z "${WARD_LONG-}" ] || files=1000000 dirs=20000
cat >"$WARD_TMP/make.py" <<'P'
import os, sys
files, dirs = int(sys.argv[1]), int(sys.argv[2])
for d in range(dirs):
    os.mkdir("directory-%d" % d)
    for f in range(d, files, dirs):
        os.close(os.open("directory-%d/file-%07d.c" % (d, f), os.O_CREAT | os.O_WRONLY, 0o644))
P
# look.py PID FILES DIRS: looks each up by its name, then walks; prints bytes of memory a file and the
# most descriptors that there were
cat >"$WARD_TMP/look.py" <<'P'
import os, sys
pid, files, dirs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def memory():
    with open("/proc/%s/status" % pid) as f:
        return sum(int(line.split()[1]) * 1024 for line in f if line.startswith("RssAnon"))
def descriptors():
    return len(os.listdir("/proc/%s/fd" % pid))
os.stat("directory-0")
before, fds = memory(), 0
for d in range(dirs):
    for f in range(d, files, dirs):
        os.lstat("directory-%d/file-%07d.c" % (d, f))
    if d % 100 == 0:
        fds = max(fds, descriptors())
def failed(error):
    raise error
listed = {where: len(names) for where, folders, names in os.walk(".", onerror=failed)}
assert len(listed) == dirs + 1, len(listed)
assert sum(listed.values()) == files, sorted(listed.items(), key=lambda at: at[1])[:5]
print((memory() - before) // files, max(fds, descriptors()))
P
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
