# SPDX-License-Identifier: Apache-2.0
"""review-steps-held.py: has files open, and does what each line of its input says. One answer a
line."""
import mmap
import os
import sys

with open("made", "w", encoding="ascii") as made:
    made.write("old made\n")
mapped_path = os.open("mapped", os.O_PATH)
mapped_fd = os.open("mapped", os.O_RDWR)
MAP = mmap.mmap(mapped_fd, 0)
os.close(mapped_fd)
FDS = {"read": os.open("read", os.O_RDONLY), "write": os.open("write", os.O_RDWR),
       "swapped": os.open("swapped", os.O_RDWR), "made": os.open("made", os.O_RDWR)}
opened = {}


def first_line(content):
    return content.decode().split("\n", maxsplit=1)[0]


def line(fd):
    return first_line(os.pread(fd, 100, 0))


def line_mapped():
    # Behind the end of the file there are no pages to look at.
    return first_line(MAP[:os.fstat(mapped_path).st_size])


def do(command):
    if command == "read":
        return "|".join([line(FDS["read"]), line(FDS["write"]), line(FDS["swapped"]),
                         line_mapped(), line(FDS["made"])])
    if command == "write":
        for name in ("write", "swapped", "made"):
            os.pwrite(FDS[name], b"written", 0)
        MAP[:7] = b"written"
        MAP.flush()
    elif command == "path":
        opened["path"] = os.open("untouched", os.O_PATH)
    elif command == "reopen":
        opened["file"] = os.open(f"/proc/self/fd/{opened['path']}", os.O_RDWR)
        return line(opened["file"])
    elif command == "reread":
        return line(opened["file"])
    elif command == "rewrite":
        os.pwrite(opened["file"], b"written", 0)
    return ""


print("up", flush=True)
for text in sys.stdin:
    print(do(text.strip()), flush=True)
