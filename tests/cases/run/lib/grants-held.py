# SPDX-License-Identifier: Apache-2.0
"""Inside a session: opens files under grants, waits until they have ended, tries again.

grants-held.py DONE GO: writes each line to standard output."""
import mmap
import os
import signal
import sys
import time

done, go = sys.argv[1:]


def tried(what, fn):
    try:
        fn()
        print(what, "yes", flush=True)
    except OSError as e:
        print(what, e.strerror, flush=True)


def bus(what, mapping):
    """Touches the mapping in a child: it may die of it."""
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGBUS, signal.SIG_DFL)
        os._exit(0 if mapping[0:1] else 1)
    status = os.waitpid(pid, 0)[1]
    print(what, "SIGBUS" if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGBUS else "yes",
          flush=True)


both = os.open("docs/held", os.O_RDWR)
reader = os.open("secret.pem", os.O_RDONLY)
ruled = os.open("src/ruled", os.O_RDWR)
private = mmap.mmap(reader, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
tried("write", lambda: os.pwrite(both, b"held\n", 0))
tried("read", lambda: os.pread(reader, 10, 0))
tried("ruled", lambda: os.pwrite(ruled, b"x", 0))
tried("shared", lambda: mmap.mmap(both, 0, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE))
bus("private", private)
# By then they have another name: by a link, by a move within what is granted. A parent keeps
# its own.
names = {}
for known in ("docs/tied", "docs/tied2"):
    os.stat(known)
for how in ("tied", "renamed", "beneath"):
    names[how] = os.open("docs/out/beneath" if how == "beneath" else f"docs/{how}", os.O_RDWR)
    tried(how, lambda: os.pwrite(names[how], b"held\n", 0))
tried("tie", lambda: os.link("docs/tied", "docs/tied-too"))
tried("untie", lambda: os.unlink("docs/tied"))
tried("rename", lambda: os.rename("docs/renamed", "docs/renamed-too"))
tried("parent", lambda: os.rename("docs/out", "docs/out-too"))
tried("parent-out", lambda: os.rename("docs/out", "src/out"))
os.rename("src/dir", "src/dir2")
os.close(os.open(done, os.O_CREAT | os.O_WRONLY))
while not os.path.exists(go):
    time.sleep(0.05)
tried("write-after", lambda: os.pwrite(both, b"EVIL\n", 0))
tried("append-after", lambda: os.write(both, b"EVIL\n"))
tried("truncate-after", lambda: os.ftruncate(both, 0))
tried("allocate-after", lambda: os.posix_fallocate(both, 0, 4096))
tried("read-after", lambda: os.pread(reader, 10, 0))
tried("proc-after", lambda: os.close(os.open(f"/proc/self/fd/{both}", os.O_RDWR)))
for how, fd in names.items():
    tried(f"{how}-after", lambda: os.pwrite(fd, b"EVIL\n", 0))
tried("ruled-after", lambda: os.pwrite(ruled, b"y", 0))
bus("private-after", private)
