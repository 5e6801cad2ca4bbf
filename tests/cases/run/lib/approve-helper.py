# SPDX-License-Identifier: Apache-2.0
# Prints the pid of a helper: PID of the supervisor, or of what started it; name of the program.
import os
import sys


def children(pid):
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        comm, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        if int(rest[1]) == pid:
            yield int(name), comm
            yield from children(int(name))


print(next(pid for pid, comm in children(int(sys.argv[1])) if comm == sys.argv[2]))
