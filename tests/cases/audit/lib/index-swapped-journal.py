# SPDX-License-Identifier: Apache-2.0
"""index-swapped-journal.py DATABASE FILE: puts a journal beside the database, as a transaction over
several databases leaves it behind. FILE stands in it for the list of them, which whoever rolls the
transaction back deletes. (Section "The Rollback Journal" of SQLite's file format.)"""
import os
import struct
import sys

MAGIC = bytes.fromhex("d9d505f920a163d7")
PENDING = 0x40000000
database, name = sys.argv[1], os.fsencode(sys.argv[2])
with open(database, "rb") as f:
    page = struct.unpack(">H", f.read(18)[16:])[0]
page = 65536 if page == 1 else page
head = MAGIC + struct.pack(">IIIII", 0, 1, os.path.getsize(database) // page, 512, page)
with open(database + "-journal", "wb") as f:
    f.write(head.ljust(512, b"\0") + struct.pack(">I", PENDING // page + 1) + name)
    f.write(struct.pack(">Ii", len(name), sum(c - 256 if c > 127 else c for c in name)) + MAGIC)
