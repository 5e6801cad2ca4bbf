# SPDX-License-Identifier: Apache-2.0
# Part of ../listing-parts.sh: reads the first part of a directory, has something done to all that
# it has not read, and reads on. WHAT: how; BACK: the directory on the backing; ENTRIES: in it.
import ctypes, os, struct, sys, time
SYS_getdents64 = {"x86_64": 217, "aarch64": 61, "riscv64": 61}[os.uname().machine]
SIZE = 32768
libc = ctypes.CDLL(None, use_errno=True)
what, back, entries = sys.argv[1], sys.argv[2], int(sys.argv[3])


def part(fd):
    buf, names, at = ctypes.create_string_buffer(SIZE), [], 0
    n = libc.syscall(SYS_getdents64, fd, buf, SIZE)
    if n < 0:
        sys.exit("getdents64: %s" % os.strerror(ctypes.get_errno()))
    while at < n:
        reclen = struct.unpack_from("<QqH", buf, at)[2]
        names.append(buf[at + 19:at + reclen].split(b"\0")[0].decode())
        at += reclen
    return [name for name in names if name not in (".", "..")], n == 0


def rest_of(fd):
    names, end = [], False
    while not end:
        more, end = part(fd)
        names += more
    return names


# Nothing is prepared before so many requests without a change.
for i in range(64):
    try:
        os.stat("nothing-%d" % i)
    except FileNotFoundError:
        pass
fd = os.open("many", os.O_RDONLY | os.O_DIRECTORY)
first, _ = part(fd)
left = ["f%d" % i for i in range(entries) if "f%d" % i not in first]
if not first or not left:
    sys.exit("%d names came at once, %d are left" % (len(first), len(left)))
# What comes next can be ready by now.
time.sleep(0.01)
where = "many" if what.startswith("inside") else back
for name in left:
    path = os.path.join(where, name)
    if what.endswith("removed"):
        os.unlink(path)
    elif what.endswith("grown"):
        os.truncate(path, 77)
if not what.startswith("inside"):
    # Changes of the host are seen within this.
    time.sleep(1.2)
rest = rest_of(fd)
if what.endswith("removed"):
    if rest:
        sys.exit("%d names came that were removed before, %s among them" % (len(rest), rest[0]))
else:
    if sorted(rest) != sorted(left):
        sys.exit("%d names were left, %d came" % (len(left), len(rest)))
    size = 77 if what.endswith("grown") else 0
    wrong = [name for name in rest if os.stat(os.path.join("many", name)).st_size != size]
    if wrong:
        sys.exit("%d files have another size than %d, %s among them" % (len(wrong), size, wrong[0]))
