# SPDX-License-Identifier: Apache-2.0
"""acl-attack.py ANSWER ID: what ACLs would give to the user ID of files that the policy protects, where the
policy says `acl = ANSWER`. ro is read-only, no cannot be opened, hid is hidden; each has an ACL that gives the
user everything. f is the control."""
import errno
import os
import struct
import sys

acls, me = sys.argv[1] == "yes", int(sys.argv[2])
NAMES = "system.posix_acl_access", "system.posix_acl_default"
NONE = (1 << 32) - 1
ALL = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in (
    (1, 7, NONE), (2, 7, me), (4, 7, NONE), (16, 7, NONE), (32, 7, NONE)))


def error(call):
    try:
        call()
    except OSError as e:
        return errno.errorcode[e.errno]
    return None


def expect(what, want, call):
    got = error(call)
    if got not in (want if isinstance(want, tuple) else (want,)):
        sys.exit(f"{what}: {got}, not {want}")


def write(path):
    with open(path, "a", encoding="ascii") as f:
        f.write("attack")


refused = "EACCES" if acls else "ENOTSUP"
expect("control: ACL", None if acls else "ENOTSUP", lambda: os.setxattr("f", NAMES[0], ALL))
expect("control: write", None, lambda: write("f"))
for path, gone in (("ro/f", None), ("no", None), ("hid", "ENOENT")):
    expect(f"set {path}", gone or refused, lambda: os.setxattr(path, NAMES[0], ALL))
    expect(f"remove {path}", gone or refused, lambda: os.removexattr(path, NAMES[0]))
    expect(f"chmod {path}", gone or "EACCES", lambda: os.chmod(path, 0o666))
    expect(f"write {path}", gone or "EACCES", lambda: os.open(path, os.O_WRONLY))
    expect(f"truncate {path}", gone or "EACCES", lambda: os.truncate(path, 0))
for name in NAMES:
    expect(f"set ro {name}", refused, lambda: os.setxattr("ro", name, ALL))
    expect(f"remove ro {name}", refused, lambda: os.removexattr("ro", name))
expect("make", "EACCES", lambda: write("ro/new"))
expect("unlink", "EACCES", lambda: os.unlink("ro/f"))
expect("read ro/f", None, lambda: os.close(os.open("ro/f", os.O_RDONLY)))
expect("read no", "EACCES", lambda: os.open("no", os.O_RDONLY))
# By a descriptor, and by the way that needs no right to open.
fd = os.open("ro/f", os.O_RDONLY)
expect("set by descriptor", refused, lambda: os.setxattr(fd, NAMES[0], ALL))
link = f"/proc/self/fd/{os.open('no', os.O_PATH)}"
expect("set by O_PATH", refused, lambda: os.setxattr(link, NAMES[0], ALL))
expect("reopened", "EACCES", lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDWR))
# The kernel's caches: looked up, listed, asked, in turn, as often as it needs to keep them.
for _ in range(50):
    os.listdir(".")
    for name in NAMES:
        expect("hidden", "ENOENT", lambda: os.getxattr("hid", name))
    expect("hidden", "ENOENT", lambda: os.stat("hid"))
    if os.access("hid", os.F_OK):
        sys.exit("the hidden name is there")
    expect("ro/f", "EACCES", lambda: write("ro/f"))
# Without the key access(2) asks the guard. With it the kernel answers by mode bits: docs/posix.md.
for path in "ro/f", "no":
    if os.access(path, os.W_OK) != acls:
        sys.exit(f"access({path}): {not acls}")
if not os.access("f", os.W_OK):
    sys.exit("access(f)")
