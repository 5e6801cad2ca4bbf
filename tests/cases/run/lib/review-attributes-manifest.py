# SPDX-License-Identifier: Apache-2.0
"""STORE PROJECT: the manifest of a session that only made files and changed content, computed by
what docs/audit-format.md says (*Manifests*), and by nothing else of wardfs but the journal."""
import hashlib
import os
import stat
import struct
import sys
import urllib.parse

STORE, PROJECT = sys.argv[1:]


def attributes(path):
    sha = hashlib.sha256()
    names = sorted(n for n in os.listxattr(path) if n.startswith("user.") or
                   n in ("system.posix_acl_access", "system.posix_acl_default"))
    for name in names:
        value = os.getxattr(path, name)
        sha.update(name.encode() + b"\0" + struct.pack("<Q", len(value)) + value)
    return " " + sha.hexdigest() if names else ""


def part(kind, root, path, number, base):
    """One part of the text; base: the fields of the journal, or None."""
    file = os.path.join(STORE, "objects", str(number))
    s = os.lstat(file)
    content = "-"
    if stat.S_ISREG(s.st_mode):
        with open(file, "rb") as f:
            content = hashlib.sha256(f.read()).hexdigest()
    was = "0:0:0:0:0:0:0:0"
    if base:
        dev, ino, birth, mode, _, _, _, size, mtime, ctime = base
        host = os.lstat(os.path.join(PROJECT, path))
        assert (host.st_ino, host.st_size) == (int(ino), int(size))
        was = f"1:{dev}:{ino}:{birth}:{int(mode, 8) & 0o7777:o}:{size}:{mtime}:{ctime}"
    return (f"{kind} {root} {path}\0\0{stat.S_IFMT(s.st_mode):o} {stat.S_IMODE(s.st_mode):o} {was} "
            f"{content}{attributes(file)}\n").encode()


files, parts, bases = {}, {}, {}
with open(os.path.join(STORE, "journal"), encoding="ascii") as f:
    for entry in (e for line in f for e in line.rstrip("\n").split(";") if e):
        what, *fields = entry.split(" ")
        if what == "F":
            path = urllib.parse.unquote(fields[3])
            files[fields[0]] = (fields[2], "" if path == "." else path)
        elif what == "S" and fields[1] != "-":
            bases[fields[0]] = fields[1].split(":")
        elif what == "N" and fields[2] != "-" and fields[3] == "-":
            root, where = files[fields[0]]
            place = (root, os.path.join(where, urllib.parse.unquote(fields[1])))
            files[fields[2]] = place
            parts[place] = part("added", *place, fields[2], None)
for number, base in bases.items():
    if stat.S_ISREG(os.lstat(os.path.join(STORE, "objects", number)).st_mode):
        parts[files[number]] = part("changed", *files[number], number, base)
print(hashlib.sha256(b"".join(parts[p] for p in sorted(parts))).hexdigest())
