# SPDX-License-Identifier: Apache-2.0
"""Part of ../secrets.sh: writes an index that names NAME in DIRECTORY with each of the contents PIN=FIRST to PIN=LAST.
With a SEPARATOR it is the project's index, and each entry spells the path in another way, or, with the word links, is
for a directory of its own in DIRECTORY."""
import hashlib
import struct
import sys

directory, name, first, last = sys.argv[1:5]
separator = sys.argv[5] if len(sys.argv) > 5 else ""
entries = b""
for pin in range(int(first), int(last) + 1):
    content = b"PIN=%04d\n" % pin
    digest = hashlib.sha1(b"blob %d\0" % len(content) + content).digest()
    path = (f"{directory}/{pin}/{name}" if separator == "links" else
            directory + separator * (pin + 1) + name if separator else name).encode()
    entry = struct.pack(">10I", 0, 0, 0, 0, 0, 0, 0o100644, 0, 0, 0) + digest + struct.pack(">H", len(path)) + path
    entries += entry + b"\0" * (8 - len(entry) % 8)
index = b"DIRC" + struct.pack(">II", 2, int(last) - int(first) + 1) + entries
with open(".git/index" if separator else directory + "/.git/index", "wb") as f:
    f.write(index + hashlib.sha1(index).digest())
