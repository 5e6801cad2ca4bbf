# SPDX-License-Identifier: Apache-2.0
"""A file that was removed, or replaced, is still reached by O_PATH alone: asked about, opened again."""
import os
import sys


def gone(remove):
    with open("held", "w", encoding="ascii") as f:
        f.write("content")
    with open("other", "w", encoding="ascii"):
        pass
    fd = os.open("held", os.O_PATH)
    remove()
    s = os.stat(fd)
    with open(f"/proc/self/fd/{fd}", encoding="ascii") as f:
        if (s.st_nlink, s.st_size, f.read()) != (0, 7, "content"):
            sys.exit(f"{remove}: {s}")
    # Others that go meanwhile take nothing from it.
    for i in range(100):
        with open(f"o{i}", "w", encoding="ascii"):
            pass
        os.unlink(f"o{i}")
    if os.stat(fd).st_nlink:
        sys.exit("it has a name again")
    os.close(fd)


gone(lambda: os.unlink("held"))
gone(lambda: os.rename("other", "held"))
os.unlink("held")
