#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of fs/ops/ops.h has each operation of the FUSE protocol once; what it says is served
is."""
import re

import _sources

HEADER = "/usr/include/linux/fuse.h"
# Newer than the header of the oldest distribution (include/uapi/linux/fuse.h of 6.18), or of
# another name there.
NEWER = {"STATX", "COPY_FILE_RANGE_64", "CUSE_INIT"}
RESERVED = {"INIT_BSWAP_RESERVED"}
# Operations whose function has another name in libfuse's struct fuse_lowlevel_ops.
SERVED_BY = {"BATCH_FORGET": "forget_multi", "RENAME2": "rename", "SETLKW": "setlk",
             "INIT": "init"}
ELSEWHERE = {"DESTROY", "INTERRUPT", "STATX", "TMPFILE"}  # libfuse's own; fs/serve/fuse_session.c


def main():
    complaints = []
    with open(HEADER, encoding="utf-8") as f:
        text = f.read()
    wanted = set(re.findall(r"^\tFUSE_([A-Z0-9_]+)\s+= \d+", text[text.index("enum fuse_opcode"):
                                                                   text.index("enum fuse_notify")],
                            re.M)) - RESERVED | NEWER
    comment = _sources.read("fs/ops/ops.h").split("Each operation", 1)[1].split(" */", 1)[0]
    table = comment.split(":\n", 1)[1]
    served, refused = table.split(" *\n", 2)[1:3]
    names = lambda text: [n for line in text.splitlines() if re.match(r" \*   [A-Z]", line)
                          for n in line[5:].split("\t")[0].split()]
    listed = names(served) + names(refused)
    complaints += [f"fs/ops/ops.h: {n} is not in the table" for n in sorted(wanted - set(listed))]
    complaints += [f"fs/ops/ops.h: {n} is no operation" for n in sorted(set(listed) - wanted)]
    complaints += [f"fs/ops/ops.h: {n} stands twice" for n in sorted({n for n in listed
                                                                  if listed.count(n) > 1})]
    code = "".join(_sources.read(p) for p in _sources.files(".c", below="fs"))
    for name in names(served):
        function = SERVED_BY.get(name, name.lower())
        if name not in ELSEWHERE and not re.search(rf"(ops->|\.){function} = ", code):
            complaints.append(f"fs/ops/ops.h: {name} is said to be served, but no function is set")
    for name in names(refused):
        if re.search(rf"ops->{name.lower()} = ", code):
            complaints.append(f"fs/ops/ops.h: {name} is said not to be served")
    _sources.finish(complaints, listed)


main()
