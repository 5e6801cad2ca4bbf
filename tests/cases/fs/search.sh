#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who takes the right to search a directory from itself finds nothing beneath once that is answered,
# however much of it the kernel keeps: since Linux 6.16, which can forget it all at once.
. "$WARD_SRC/tests/cases/fs/_fs.sh"
kernel=$(uname -r | sed 's/^\([0-9]*\)\.\([0-9]*\).*/\1 \2/')
[ "${kernel% *}" -gt 6 ] || { [ "${kernel% *}" = 6 ] && [ "${kernel#* }" -ge 16 ]; } ||
	{ echo "this kernel forgets names one by one"; exit 77; }

cat >"$WARD_TMP/look.py" <<'END2'
import os, struct, sys
N = 2000
names = [f"big/deep/{i}" for i in range(N)]
os.makedirs("big/deep")
for name in names:
    open(name, "w").close()

def found():
    """How many names are there; what is not is refused for the directory's sake."""
    n = 0
    for name in reversed(names):
        try:
            os.lstat(name)
            n += 1
        except PermissionError:
            pass
    return n

def chmod():
    os.chmod("big", 0o600)

def setfacl():
    # acl(5) as <linux/posix_acl_xattr.h> has it: the owner may read and write, nobody else anything
    entries = ((1, 6), (4, 0), (32, 0))
    os.setxattr("big", "system.posix_acl_access", struct.pack("<I", 2) +
                b"".join(struct.pack("<HHI", tag, rights, 0xFFFFFFFF) for tag, rights in entries))

for close in (chmod, setfacl) if sys.argv[1] == "acl" else (chmod,):
    for _ in range(5):
        # The control: as long as it may be searched all are there.
        if found() != N:
            sys.exit("FAIL: not all names are there")
        close()
        if n := found():
            sys.exit(f"FAIL: {close.__name__}: {n} of {N} names found in a directory that is closed")
        os.chmod("big", 0o700)
END2
for mode in $MODES; do
	acl=acl
	[ "$mode" != user ] || acl=
	script look <<-END
		python3 "$WARD_TMP/look.py" "$acl"
	END
	policy
	fresh
	in_mode "$mode" "$WARD_TMP/look" || fail "$mode"
done

# Where many users are served the kernel looks at modes and ACLs itself, and what somebody mounted on
# a name of the tree stays there.
script mounted <<'END'
mkdir m d d/x
mount -t tmpfs none m && touch m/above
as_other() { setpriv --reuid=54321 --regid=54321 --clear-groups "$@"; }
as_other stat d/x >/dev/null
chmod 700 d && refused "Permission denied" as_other stat d/x
setfacl -m u:54321:rx d && as_other stat d/x >/dev/null
setfacl -b d && refused "Permission denied" as_other stat d/x
[ -e m/above ] || { echo "FAIL: the mount is gone"; exit 1; }
umount m
END
policy
fresh
chown 0:0 "$BACK"
in_mode other "$WARD_TMP/mounted" || fail "mounted"
