# SPDX-License-Identifier: Apache-2.0
# Part of ../search.sh.
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
