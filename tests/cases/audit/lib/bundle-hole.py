# SPDX-License-Identifier: Apache-2.0
"""Writes hole.tar: a few blocks that say to be a trail of 64 MiB."""


def header(name, size):
    h = bytearray(512)
    for at, text in ((0, name), (100, b"0000644\0"), (124, b"%011o\0" % size), (148, b" " * 8), (156, b"0"), (257, b"ustar\00000")):
        h[at:at + len(text)] = text
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)


with open("hole.tar", "wb") as f:
    f.write(header(b"s/trail.jsonl", 64 << 20))
    f.truncate(512 + (64 << 20) + 1024)
