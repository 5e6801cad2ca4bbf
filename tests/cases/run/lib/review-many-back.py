# SPDX-License-Identifier: Apache-2.0
"""Inside a session of review-many.sh: writes to all files, goes back, and writes to them again."""
import os


def write(word):
    for d in range(1, 7):
        for f in range(1, 51):
            with open(f"many/{d}/{f}", "w") as out:
                out.write(f"{word} {d} {f}\n")


def wrong(word):
    return [(d, f) for d in range(1, 7) for f in range(1, 51)
            if open(f"many/{d}/{f}").read() != f"{word} {d} {f}\n"]


os.setxattr(".", "user.wardfs.mark", b"begin")
write("other")
print(len(wrong("other")), "are not the other ones")
os.setxattr(".", "user.wardfs.back", b"begin")
print(len(wrong("old")), "did not come back")
write("new")
