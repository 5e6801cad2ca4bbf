#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py OUT.c SYMBOL FILE...: writes a C table of the files' names (without suffix) and bytes.

A line ";@include NAME" of a file stands for the lines of NAME.part beside it, and a line
";@include NAME TREE" for these lines with TREE in the place of @TREE@.

The shipped data travels inside the program, so a build tree runs without being installed and nobody
can swap a profile beside the binary.
"""
import os
import re
import sys


def whole(name):
    """The file's bytes, with what it includes; parts include nothing."""
    def part(found):
        with open(os.path.join(os.path.dirname(name), found[1].decode() + ".part"), "rb") as inner:
            text = inner.read()
        if b"\n;@include" in text:
            sys.exit(f"{name}: {found[1].decode()}.part includes something itself")
        if (b"@TREE@" in text) != bool(found[2]):
            sys.exit(f"{name}: {found[1].decode()}.part and its @include disagree about a tree")
        return text.replace(b"@TREE@", found[2] or b"")
    with open(name, "rb") as src:
        return re.sub(rb"^;@include ([a-z]+)(?: (/[^ \n]+))?\n", part, src.read(), flags=re.M)


out, symbol, files = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(out, "w", encoding="ascii") as f:
    f.write('#include "conf/embedded.h"\n')
    for i, name in enumerate(files):
        data = whole(name)
        f.write(f"static const char data_{i}[] = {{")
        f.write(",".join(str(b if b < 128 else b - 256) for b in data + b"\0"))
        f.write("};\n")
    f.write(f"const struct ward_embedded {symbol}[] = {{\n")
    for i, name in enumerate(files):
        stem = os.path.splitext(os.path.basename(name))[0]
        f.write(f'\t{{"{stem}", data_{i}, sizeof(data_{i}) - 1}},\n')
    f.write("\t{0, 0, 0},\n};\n")
