#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wasm-translator.py KIND FILE: writes a valid module that costs its translator a lot.

KIND is plain, function, functions, blocks, branches, data or whole (16 MiB, the most that wardfs
reads)."""
import sys

END = b"\x0b"
MOST = 16 << 20


def number(n):
    """LEB128, unsigned."""
    got = bytearray()
    while n > 127:
        got.append(n & 127 | 128)
        n >>= 7
    got.append(n)
    return bytes(got)


def section(which, content):
    return bytes([which]) + number(len(content)) + content


def several(items):
    return number(len(items)) + b"".join(items)


def named(name, kind, index):
    return number(len(name)) + name + bytes([kind]) + number(index)


def module(bodies, data=b"", pages=1):
    """All functions take and give nothing and have one local of 32 bits; the last is _start."""
    codes = [b"\x01\x01\x7f" + body + END for body in bodies]
    parts = [
        section(1, several([b"\x60\x00\x00"])),
        section(3, several([b"\x00"] * len(codes))),
        section(5, several([b"\x00" + number(pages)])),
        section(7, several([named(b"memory", 2, 0), named(b"_start", 0, len(codes) - 1)])),
        section(10, several([number(len(code)) + code for code in codes])),
    ]
    if data:
        parts.append(section(11, several([b"\x00\x41\x00\x0b" + number(len(data)) + data])))
    return b"\0asm\x01\0\0\0" + b"".join(parts)


def sums(n):
    """local 0 = load(local 0) * 3 + local 0, n times: nothing of it goes away."""
    return b"\x20\x00\x28\x02\x00\x41\x03\x6c\x20\x00\x6a\x21\x00" * n


def blocks(n):
    return b"\x02\x40" * n + b"\x20\x00\x0d\x00" + END * n


def branches(n):
    return b"\x02\x40" * 2 + b"\x20\x00\x0e" + number(n) + b"\x00\x01" * (n // 2) + b"\x00" + END * 2


def made(kind):
    if kind == "plain":
        return module([b""])
    if kind == "function":
        return module([sums(60000)])
    if kind == "functions":
        return module([sums(4)] * 20000)
    if kind == "blocks":
        return module([blocks(100000)])
    if kind == "branches":
        return module([branches(400000)])
    if kind == "data":
        return module([b""], bytes(range(256)) * (12 << 12), 12 << 4)
    if kind == "whole":
        body = sums((MOST - 4096) // 13 // 40)
        return module([body] * 40)
    raise SystemExit(__doc__)


with open(sys.argv[2], "wb") as f:
    f.write(made(sys.argv[1]))
