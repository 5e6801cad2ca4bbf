# SPDX-License-Identifier: Apache-2.0
"""probe.py NATIVE GUARDED SECONDS SEED...: the same random system calls in a directory of the file system
itself and in a guarded one, as the same user. After each call its result or errno is compared, now and then
every name, mode, size, link count, time that was set, attribute and content. A seed says which calls, in
which order; one with a w in front of it (w7) chooses among more calls, one with an a among those of ACLs, too.
Further seeds have the letter of the last one, or else a w.
SECONDS 0: each seed once, ROUND calls; else further seeds until the time is over. Prints the seed and the last calls where something differs that docs/posix.md does not tell.
"""
import ctypes
import errno
import fcntl
import mmap
import os
import random
import shutil
import socket
import stat
import struct
import subprocess
import sys
import time

ROUND = 1500  # calls of a seed
LOOK = 50  # calls between two looks at everything
OPEN_MAX = 12
SHOWN = 25  # calls that are told where something differs
OLD = 10 ** 18  # times that are set lie about this one, those of the clock do not
LIBC = ctypes.CDLL(None, use_errno=True)
DIRS = [".", "d", "d/e", "g"]
NAMES = ["a", "b", "c", "d", "e", "g", "l", "n" * 255, "n" * 256, "\xe4 \n"]
FALLOC = {"reserve": 0, "keep": 1, "punch": 3, "zero": 16, "zero keep": 17}
RENAMES = {"plain": 0, "noreplace": 1, "exchange": 2, "whiteout": 4, "wrong": 6}
OPENS = [os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_APPEND, os.O_DIRECTORY, os.O_NOFOLLOW, os.O_NONBLOCK,
         os.O_SYNC, os.O_NOATIME]
LOCK = "hhqqi4x"
ACLS = ("system.posix_acl_access", "system.posix_acl_default")
# acl(5), <linux/posix_acl_xattr.h>
ACL_USER_OBJ, ACL_USER, ACL_GROUP_OBJ, ACL_GROUP, ACL_MASK, ACL_OTHER = 1, 2, 4, 8, 16, 32
NO_ID = (1 << 32) - 1
OMIT, NOW = (1 << 30) - 2, (1 << 30) - 1  # UTIME_OMIT, UTIME_NOW
QUERIES = (1025, 1028, 1035)  # F_GETLEASE, F_CREATED_QUERY, F_GET_RW_HINT
# What differs by a row of docs/posix.md: (call, native, guarded).
KNOWN = {
    # The kernel asks nobody about pipes.
    *((call, "EACCES", found) for call in ("open", "reopen", "openat2") for found in ("pipe", "ENXIO")),
    # Of a file that nobody may open again, for a second owner.
    ("lock", "ENOLCK"),
    # A whiteout, where no device may be opened.
    *((call, "ENXIO", "EACCES") for call in ("open", "reopen", "openat2", "truncate")),
    # An attribute of a name space that no file system has, of a file that may not be read or
    # written: the guard answers before it looks at the file.
    ("getxattr", "EACCES", "ENOTSUP"), ("fgetxattr", "EACCES", "ENOTSUP"),
    ("removexattr", "EACCES", "ENOTSUP"), ("setxattr", "EACCES", "ENOTSUP"),
    # F_GET_RW_HINT of a file that the kernel has forgotten meanwhile, on one side.
    *(("fcntl", *(struct.pack("Q", n) for n in pair)) for hint in range(1, 6) for pair in ((hint, 0), (0, hint))),
}
# A load through a mapping makes data of a hole there, and the guard reads without a mapping.
KNOWN_ON_TMPFS = {("lseek", "found", "ENXIO")}


def libc(call, *args):
    r = getattr(LIBC, call)(*args)
    if r < 0:
        raise OSError(ctypes.get_errno(), call)
    return r


def when(ns):
    """What was set compares; what the clock gave does not."""
    return ns if abs(ns - OLD) < 10 ** 12 else "now"


def shown(s):
    """Of a directory neither size nor links tell anything inside; the guard sees no write to a pipe."""
    plain = not stat.S_ISDIR(s.st_mode)
    pipe = stat.S_ISFIFO(s.st_mode)
    return (oct(s.st_mode), s.st_uid, s.st_gid, s.st_nlink if plain else 0, s.st_size if plain else 0,
            s.st_rdev, "pipe" if pipe else when(s.st_mtime_ns))


class Side:
    """One of the two directories, with what is open in it."""

    def __init__(self, top):
        # A level deeper: links that lead up must not lead to a file of both sides.
        self.top = os.path.join(top, "r")
        os.makedirs(self.top, exist_ok=True)
        self.root = os.open(self.top, os.O_RDONLY | os.O_DIRECTORY)
        self.open = [None] * OPEN_MAX
        self.tmpfs = False
        # Files that were locked; and those of which a descriptor that can only read was closed
        # then, which may leave POSIX locks that natively end.
        self.locked, self.loose = set(), set()

    def drop(self, fd):
        mark = os.fstat(fd).st_ino
        if mark in self.locked and fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            self.loose.add(mark)
        os.close(fd)

    def close(self, slots):
        for i in slots:
            if self.open[i] is not None:
                self.drop(self.open[i])
            self.open[i] = None

    def reset(self):
        self.close(range(OPEN_MAX))
        self.locked.clear()
        self.loose.clear()
        above = os.path.join(self.top, "../a")
        if os.path.lexists(above):
            os.unlink(above)
        for name in os.listdir(self.top):
            path = os.path.join(self.top, name)
            if os.path.isdir(path) and not os.path.islink(path):
                os.chmod(path, 0o700)
                for where, dirs, _ in os.walk(path):
                    for d in dirs:
                        if not os.path.islink(os.path.join(where, d)):
                            os.chmod(os.path.join(where, d), 0o700)
                shutil.rmtree(path)
            else:
                os.unlink(path)
        for d in DIRS[1:]:
            os.mkdir(os.path.join(self.top, d))

    def picture(self):
        seen = {}
        for where, dirs, files in os.walk(self.top):
            for name in dirs + files:
                path = os.path.join(where, name)
                try:
                    s = os.lstat(path)
                except PermissionError:
                    continue
                entry = [shown(s)]
                if stat.S_ISLNK(s.st_mode):
                    entry.append(os.readlink(path))
                elif s.st_mode & 0o400:
                    entry.append([(n, os.getxattr(path, n)) for n in sorted(os.listxattr(path))
                                  if n.startswith("user.") or n in ACLS])
                if stat.S_ISREG(s.st_mode) and s.st_mode & 0o400:
                    with open(path, "rb") as f:
                        entry.append(hash(f.read()))
                seen[os.path.relpath(path, self.top)] = entry
        return seen


class Calls:
    """Chooses calls: each method draws its arguments once and returns what is done on a side."""

    def __init__(self, seed):
        self.acls, self.wide = seed[0] == "a", seed[0] in "aw"
        self.r = random.Random(int(seed.lstrip("aw")))

    def path(self):
        return os.path.join(self.r.choice(DIRS), self.r.choice(NAMES))

    def slot(self):
        return self.r.randrange(OPEN_MAX)

    def at(self):
        return self.r.choice((0, 1, 4095, 4096, 8191, 65536, self.r.randrange(200000)))

    def data(self):
        return bytes([self.r.randrange(256)]) * self.r.choice((0, 1, 100, 4096, 10000))

    def mode(self):
        return self.r.choice((0, 0o400, 0o600, 0o644, 0o666, 0o700, 0o1777, 0o777))

    def kept(self, s, slot):
        if s.open[slot] is None:
            raise OSError(errno.EBADF, "closed")
        return s.open[slot]

    def take(self, s, slot, fd):
        if s.open[slot] is not None:
            s.drop(s.open[slot])
        s.open[slot] = fd
        return "pipe" if stat.S_ISFIFO(os.fstat(fd).st_mode) else "opened"

    def do_open(self):
        path, slot, mode = self.path(), self.slot(), self.mode()
        flags = self.r.choice((os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR))
        for flag in OPENS:
            if self.r.random() < (0.5 if flag == os.O_CREAT else 0.12):
                flags |= flag
        return lambda s: self.take(s, slot, os.open(path, flags | os.O_NONBLOCK, mode, dir_fd=s.root))

    def do_open_path(self):
        path, slot = self.path(), self.slot()
        flags = os.O_PATH | self.r.choice((0, os.O_NOFOLLOW, os.O_DIRECTORY))
        return lambda s: self.take(s, slot, os.open(path, flags, dir_fd=s.root))

    def do_tmpfile(self):
        path, slot, mode = self.r.choice(DIRS), self.slot(), self.mode()
        return lambda s: self.take(s, slot, os.open(path, os.O_TMPFILE | os.O_RDWR, mode, dir_fd=s.root))

    def do_reopen(self):
        slot, to, flags = self.slot(), self.slot(), self.r.choice((os.O_RDONLY, os.O_RDWR, os.O_WRONLY))
        return lambda s: self.take(s, to, os.open(f"/proc/self/fd/{self.kept(s, slot)}",
                                                  flags | os.O_NONBLOCK))

    def do_close(self):
        slot = self.slot()

        def run(s):
            s.drop(self.kept(s, slot))
            s.open[slot] = None
        return run

    def do_dup(self):
        slot, to = self.slot(), self.slot()
        return lambda s: self.take(s, to, os.dup(self.kept(s, slot)))

    def do_read(self):
        slot, n = self.slot(), self.r.choice((0, 1, 4096, 100000))
        return lambda s: os.read(self.kept(s, slot), n)

    def do_pread(self):
        slot, n, at = self.slot(), self.r.choice((0, 1, 4096, 100000)), self.at()
        return lambda s: os.pread(self.kept(s, slot), n, at)

    def do_readv(self):
        slot = self.slot()

        def run(s):
            v = [bytearray(10), bytearray(5000)]
            return os.readv(self.kept(s, slot), v), bytes(v[0]), bytes(v[1])
        return run

    def do_write(self):
        slot, data = self.slot(), self.data()
        return lambda s: os.write(self.kept(s, slot), data)

    def do_pwrite(self):
        slot, data, at = self.slot(), self.data(), self.at()
        return lambda s: os.pwrite(self.kept(s, slot), data, at)

    def do_writev(self):
        slot, data = self.slot(), self.data()
        return lambda s: os.writev(self.kept(s, slot), [b"x", data])

    def do_pwritev2(self):
        slot, data, at = self.slot(), self.data(), self.at()
        flags = self.r.choice((0, os.RWF_SYNC, os.RWF_DSYNC, 0x10))  # RWF_APPEND
        return lambda s: os.pwritev(self.kept(s, slot), [data], at, flags)

    def do_lseek(self):
        slot, at, how = self.slot(), self.at(), self.r.randrange(5)
        at = self.r.choice((at, -1, at))
        return lambda s: self.seek(self.kept(s, slot), at, how)

    def seek(self, fd, at, how):
        # Positions in a directory are the file system's own.
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            return os.lseek(fd, 0, 0)
        # Where blocks lie is the file system's choice: data may be told where nothing was
        # written. So what follows starts at another place, the same on both sides.
        try:
            found = os.lseek(fd, at, how)
        except OSError:
            if how >= 3 and at >= 0:
                os.lseek(fd, at, os.SEEK_SET)
            raise
        if how < 3:
            return found
        there = os.lseek(fd, 0, os.SEEK_CUR) == found
        os.lseek(fd, at, os.SEEK_SET)
        return "found" if there else "found, and is elsewhere"

    def do_ftruncate(self):
        slot, at = self.slot(), self.r.choice((self.at(), -1))
        return lambda s: os.ftruncate(self.kept(s, slot), at)

    def do_truncate(self):
        path, at = self.path(), self.at()

        def run(s):
            # To the size that it has, tmpfs changes the times only of a file that has data: a load
            # through a mapping has made some.
            found = os.stat(path, dir_fd=s.root)
            if s.tmpfs and stat.S_ISREG(found.st_mode) and found.st_size == at:
                raise OSError(errno.ENXIO, "the same size")
            os.truncate(os.path.join(s.top, path), at)
        return run

    def do_fallocate(self):
        slot, how, at, n = self.slot(), self.r.choice(list(FALLOC)), self.at(), self.at()
        return lambda s: libc("fallocate", self.kept(s, slot), FALLOC[how], ctypes.c_long(at), ctypes.c_long(n))

    def do_sync(self):
        slot, call = self.slot(), self.r.choice((os.fsync, os.fdatasync))
        return lambda s: call(self.kept(s, slot))

    def do_sync_range(self):
        slot = self.slot()
        return lambda s: libc("sync_file_range", self.kept(s, slot), ctypes.c_long(0), ctypes.c_long(4096), 7)

    def do_copy_range(self):
        slot, to, n = self.slot(), self.slot(), self.r.choice((1, 4096, 50000))
        at, into = self.at(), self.at()
        return lambda s: os.copy_file_range(self.kept(s, slot), self.kept(s, to), n, at, into)

    def do_sendfile(self):
        slot, to, n, at = self.slot(), self.slot(), self.r.choice((1, 4096, 50000)), self.at()

        def run(s):
            # Onto itself it may read what it has just written: as the pages of the file lie.
            if os.path.sameopenfile(self.kept(s, to), self.kept(s, slot)):
                raise OSError(errno.EBADF, "one file")
            # A pipe gets the page itself: what is written to the file later shows in it, or not.
            if stat.S_ISFIFO(os.fstat(s.open[to]).st_mode):
                raise OSError(errno.EBADF, "pages in a pipe")
            return os.sendfile(s.open[to], s.open[slot], at, n)
        return run

    def do_splice(self):
        slot, at = self.slot(), self.at()

        def run(s):
            out, into = os.pipe()
            try:
                n = os.splice(self.kept(s, slot), into, 4096, offset_src=at)
                return os.read(out, n) if n else b""
            finally:
                os.close(out)
                os.close(into)
        return run

    def do_map(self):
        slot, data = self.slot(), self.data()[:4096]
        kind = self.r.choice((mmap.MAP_SHARED, mmap.MAP_PRIVATE))
        prot = self.r.choice((mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE))

        def run(s):
            fd = self.kept(s, slot)
            if not stat.S_ISREG(os.fstat(fd).st_mode) or os.fstat(fd).st_size < 4096:
                raise OSError(errno.ENXIO, "no page")
            with mmap.mmap(fd, 4096, kind, prot) as m:
                if prot & mmap.PROT_WRITE and data:
                    m[:len(data)] = data
                    if kind == mmap.MAP_SHARED:
                        m.flush()
                return m[:]
        return run

    def do_fstat(self):
        slot = self.slot()
        return lambda s: shown(os.fstat(self.kept(s, slot)))

    def do_stat(self):
        path, follow = self.path(), self.r.random() < 0.5
        return lambda s: shown(os.stat(path, dir_fd=s.root, follow_symlinks=follow))

    def do_access(self):
        path, how, eff = self.path(), self.r.randrange(8), self.r.random() < 0.5
        return lambda s: os.access(path, how, dir_fd=s.root, effective_ids=eff)

    def fit(self, s, mode):
        # Directories stay open to the user: which of two errors comes first is no difference.
        return mode | 0o700 if stat.S_ISDIR(s.st_mode) else mode

    def do_chmod(self):
        path, mode = self.path(), self.mode()
        return lambda s: os.chmod(path, self.fit(os.stat(path, dir_fd=s.root), mode), dir_fd=s.root)

    def do_fchmod(self):
        slot, mode = self.slot(), self.mode()
        return lambda s: os.fchmod(self.kept(s, slot), self.fit(os.fstat(self.kept(s, slot)), mode))

    def do_chown(self):
        path, follow = self.path(), self.r.random() < 0.5
        ids = self.r.choice(((-1, -1), (os.getuid(), os.getgid()), (os.getuid(), -1)))
        return lambda s: os.chown(path, *ids, dir_fd=s.root, follow_symlinks=follow)

    def do_utime(self):
        path, ns = self.path(), OLD + self.r.randrange(10 ** 11)
        follow = self.r.random() < 0.5
        return lambda s: os.utime(path, ns=(ns, ns + 1), dir_fd=s.root, follow_symlinks=follow)

    def do_futime(self):
        slot, ns = self.slot(), OLD + self.r.randrange(10 ** 11)
        return lambda s: os.utime(self.kept(s, slot), ns=(ns, ns + 1))

    def do_link(self):
        a, b, follow = self.path(), self.path(), self.r.random() < 0.3
        return lambda s: os.link(a, b, src_dir_fd=s.root, dst_dir_fd=s.root, follow_symlinks=follow)

    def do_link_fd(self):
        slot, b = self.slot(), self.path()
        return lambda s: libc("linkat", -100, f"/proc/self/fd/{self.kept(s, slot)}".encode(), s.root,
                              b.encode(), 0x400)

    def do_symlink(self):
        target, b = self.r.choice(NAMES + ["../a", "l", "nowhere"]), self.path()
        return lambda s: os.symlink(target, b, dir_fd=s.root)

    def do_readlink(self):
        path = self.path()
        return lambda s: os.readlink(path, dir_fd=s.root)

    def do_unlink(self):
        path = self.path()
        return lambda s: os.unlink(path, dir_fd=s.root)

    def do_rmdir(self):
        path = self.path()
        return lambda s: os.rmdir(path, dir_fd=s.root)

    def do_mkdir(self):
        path, mode = self.path(), self.r.choice((0o700, 0o755, 0o777, 0o1777))
        return lambda s: os.mkdir(path, mode, dir_fd=s.root)

    def do_mknod(self):
        path, mode = self.path(), self.mode() & 0o777
        kind = self.r.choice((stat.S_IFREG, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFCHR, 0, stat.S_IFDIR))
        return lambda s: os.mknod(path, kind | mode, 0, dir_fd=s.root)

    def do_rename(self):
        a, b, how = self.path(), self.path(), RENAMES[self.r.choice(list(RENAMES))]
        return lambda s: libc("renameat2", s.root, a.encode(), s.root, b.encode(), how)

    def do_list(self):
        path = self.r.choice(DIRS)
        return lambda s: sorted((e.name, e.is_dir(follow_symlinks=False), e.is_symlink())
                                for e in os.scandir(os.path.join(s.top, path)))

    def do_list_fd(self):
        slot = self.slot()
        return lambda s: sorted(os.listdir(self.kept(s, slot)))

    def xattr(self):
        return self.r.choice(("user.a", "user.b", "user." + "n" * 249, "user." + "n" * 252, "wrong.a", "user."))

    def do_setxattr(self):
        path, name, value = self.path(), self.xattr(), self.data()[:1000]
        flags = self.r.choice((0, 0, os.XATTR_CREATE, os.XATTR_REPLACE))
        return lambda s: os.setxattr(os.path.join(s.top, path), name, value, flags)

    def do_getxattr(self):
        path, name = self.path(), self.xattr()
        return lambda s: os.getxattr(os.path.join(s.top, path), name)

    def do_fgetxattr(self):
        slot, name = self.slot(), self.xattr()
        return lambda s: os.getxattr(self.kept(s, slot), name)

    def do_listxattr(self):
        path = self.path()
        return lambda s: sorted(os.listxattr(os.path.join(s.top, path)))

    def do_removexattr(self):
        path, name = self.path(), self.xattr()
        return lambda s: os.removexattr(os.path.join(s.top, path), name)

    def do_lock(self):
        slot, at, n = self.slot(), self.at(), self.at()
        how = self.r.choice((fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK))
        call = self.r.choice((fcntl.F_SETLK, fcntl.F_OFD_SETLK, fcntl.F_GETLK, fcntl.F_OFD_GETLK))
        loose = []

        def run(s):
            fd = self.kept(s, slot)
            mark = os.fstat(fd).st_ino
            # The native side, which comes first, says it for both: numbers of files are used again.
            if not loose:
                loose.append(mark in s.loose and how != fcntl.F_UNLCK)
            if loose[0]:
                raise OSError(errno.ENXIO, "who has it locked can differ")
            s.locked.add(mark)
            found = fcntl.fcntl(fd, call, struct.pack(LOCK, how, 0, at, n, 0))
            kind, _, start, length, _ = struct.unpack(LOCK, found)
            return (kind, start, length) if call == fcntl.F_GETLK else kind
        return run

    def do_flock(self):
        slot, how = self.slot(), self.r.choice((fcntl.LOCK_SH, fcntl.LOCK_EX, fcntl.LOCK_UN))
        return lambda s: fcntl.flock(self.kept(s, slot), how | fcntl.LOCK_NB)

    def do_getfl(self):
        slot = self.slot()
        return lambda s: fcntl.fcntl(self.kept(s, slot), fcntl.F_GETFL)

    def do_fadvise(self):
        slot, how = self.slot(), self.r.randrange(7)
        return lambda s: os.posix_fadvise(self.kept(s, slot), 0, 0, how)

    def do_fchdir(self):
        slot = self.slot()

        def run(s):
            try:
                os.fchdir(self.kept(s, slot))
                return os.path.relpath(os.getcwd(), s.top)
            finally:
                os.chdir("/")
        return run

    def do_umask(self):
        mask = self.r.choice((0, 0o22, 0o77))

        def run(s):
            os.umask(mask)
        return run

    def do_chdir(self):
        path = self.path()

        def run(s):
            try:
                os.chdir(os.path.join(s.top, path))
                return sorted(os.listdir("."))
            finally:
                os.chdir("/")
        return run

    def do_statvfs(self):
        slot = self.slot()
        return lambda s: os.fstatvfs(self.kept(s, slot)).f_namemax

    # Of the seeds with a w alone: others go on to choose as they once did.

    def also_exec(self):
        """What the files hold is no program."""
        path, flags = self.path(), self.r.choice((0, 0x100))  # AT_SYMLINK_NOFOLLOW
        argv = (ctypes.c_char_p * 2)(b"none", None)

        def run(s):
            pid = os.fork()
            if pid == 0:
                LIBC.syscall(322, s.root, path.encode(), argv, argv, flags)  # execveat(2)
                os._exit(min(ctypes.get_errno(), 255))
            e = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            raise OSError(e, "execveat")
        return run

    def also_openat2(self):
        path, slot, mode = self.path(), self.slot(), self.mode()
        flags = self.r.choice((os.O_RDONLY, os.O_RDWR, os.O_PATH)) | self.r.choice((0, os.O_CREAT))
        # RESOLVE_NO_XDEV, _NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH, _IN_ROOT, and none
        how = self.r.choice((1, 2, 4, 8, 16, 1 << 20))
        mode = mode if flags & os.O_CREAT else 0
        room = struct.pack("QQQ", flags | os.O_NONBLOCK * (not flags & os.O_PATH), mode & 0o777, how)

        def run(s):
            # Somebody on this machine mounts or renames while the kernel resolves a "..": try
            # again (openat2(2)).
            for left in reversed(range(1000 if how in (8, 16) else 1)):
                try:
                    return self.take(s, slot, libc("syscall", 437, s.root, path.encode(), room, 24))
                except BlockingIOError:
                    if not left:
                        raise
            return None
        return run

    def also_bind(self):
        path = self.path()

        def run(s):
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(f"/proc/self/fd/{s.root}/{path}")
        return run

    def also_statx(self):
        path, flags = self.path(), self.r.choice((0, 0x100, 0x2000, 0x4000))  # AT_STATX_*
        # AT_STATX_DONT_SYNC: the mode as it was before an ACL changed it.
        flags = 0 if self.acls and flags == 0x4000 else flags

        def run(s):
            room = ctypes.create_string_buffer(256)
            libc("syscall", 332, s.root, path.encode(), flags, 0x7ff, room)
            found = struct.unpack_from("IIQIIIHHQQ", room.raw)
            plain = stat.S_ISREG(found[6])
            return found[0] & 0x7ff, oct(found[6]), (found[3], found[9]) if plain else 0
        return run

    def also_preadv2(self):
        slot, at = self.slot(), self.r.choice((self.at(), -1))
        # RWF_HIPRI, _DSYNC, _APPEND, _NOAPPEND, and none
        flags = self.r.choice((0, 1, 2, 0x10, 0x20, 1 << 20))

        def run(s):
            room = bytearray(5000)
            return os.preadv(self.kept(s, slot), [room], at, flags), bytes(room)
        return run

    def also_aio(self):
        slot, data, at, op = self.slot(), self.data(), self.at(), self.r.randrange(2)

        def run(s):
            fd = self.kept(s, slot)
            room = ctypes.create_string_buffer(data if op else 4096, max(len(data), 1) if op else 4096)
            n = len(data) if op else 4096
            one = ctypes.create_string_buffer(struct.pack(
                "QIIHhIQQqQII", 0, 0, 0, op, 0, fd, ctypes.addressof(room), n, at, 0, 0, 0))
            events, context = ctypes.create_string_buffer(32), ctypes.c_ulong()
            libc("syscall", 206, 1, ctypes.byref(context))
            try:
                libc("syscall", 209, context, 1, (ctypes.c_void_p * 1)(ctypes.addressof(one)))
                libc("syscall", 208, context, 1, 1, events, None)
                return struct.unpack_from("q", events.raw, 16)[0], b"" if op else room.raw
            finally:
                libc("syscall", 207, context)
        return run

    def also_fchmodat2(self):
        path, mode = self.path(), self.mode()

        def run(s):
            found = os.stat(path, dir_fd=s.root, follow_symlinks=False)
            libc("syscall", 452, s.root, path.encode(), self.fit(found, mode), 0x100)
        return run

    def also_utime_parts(self):
        slot, ns = self.slot(), self.r.randrange(10 ** 9)
        parts = [self.r.choice((OMIT, NOW, ns, 1 << 31)) for _ in range(2)]
        room = struct.pack("qqqq", OLD // 10 ** 9, parts[0], OLD // 10 ** 9, parts[1])
        return lambda s: libc("syscall", 280, self.kept(s, slot), None, room, 0)

    def also_pathconf(self):
        slot, name = self.slot(), self.r.choice(("PC_NAME_MAX", "PC_PATH_MAX", "PC_PIPE_BUF"))
        return lambda s: os.fpathconf(self.kept(s, slot), name)

    def also_ioctl(self):
        slot, what = self.slot(), self.r.choice((0x541B, 2))  # FIONREAD, FIGETBSZ

        def run(s):
            fd = self.kept(s, slot)
            # Of a directory FIONREAD would be a call of the file system, and a pipe has no blocks.
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise OSError(errno.ENXIO, "no file")
            return fcntl.ioctl(fd, what, b"\0" * 8)
        return run

    def also_fcntl(self):
        slot, what = self.slot(), self.r.choice(QUERIES)
        return lambda s: fcntl.fcntl(self.kept(s, slot), what, b"\0" * 8)

    def also_hint(self):
        slot, room = self.slot(), struct.pack("Q", self.r.randrange(8))
        return lambda s: fcntl.fcntl(self.kept(s, slot), 1036, room)  # F_SET_RW_HINT

    # Of the seeds with an a.

    def acl(self):
        """One that the kernel takes, or nearly so."""
        perm = lambda: self.r.choice((0, 4, 5, 6, 7))
        named = [(ACL_USER, os.getuid())] * self.r.randrange(2) + [(ACL_GROUP, os.getgid())] * self.r.randrange(2)
        tags = sorted([(ACL_USER_OBJ, NO_ID), (ACL_GROUP_OBJ, NO_ID), (ACL_OTHER, NO_ID)] + named)
        if bool(named) != (self.r.random() < 0.1):
            tags = sorted(tags + [(ACL_MASK, NO_ID)])
        if self.r.random() < 0.05:
            tags.pop(self.r.randrange(len(tags)))
        entries = [(tag, perm(), who) for tag, who in tags]
        version = 3 if self.r.random() < 0.02 else 2
        return version, entries if self.r.random() < 0.97 else []

    def packed(self, found, acl):
        """The owner of a directory keeps all rights: see fit()."""
        owner = 7 if stat.S_ISDIR(found.st_mode) else 0
        return struct.pack("<I", acl[0]) + b"".join(
            struct.pack("<HHI", tag, perm | (owner if tag == ACL_USER_OBJ else 0), who)
            for tag, perm, who in acl[1])

    def acl_set(self):
        path, name, acl = self.path(), self.r.choice(ACLS), self.acl()
        flags = self.r.choice((0, 0, 0, os.XATTR_CREATE, os.XATTR_REPLACE))

        def run(s):
            room = self.packed(os.stat(path, dir_fd=s.root), acl)
            os.setxattr(os.path.join(s.top, path), name, room, flags)
        return run

    def acl_set_fd(self):
        slot, name, acl = self.slot(), self.r.choice(ACLS), self.acl()

        def run(s):
            fd = self.kept(s, slot)
            os.setxattr(fd, name, self.packed(os.fstat(fd), acl))
        return run

    def acl_get(self):
        path, name = self.path(), self.r.choice(ACLS)
        return lambda s: os.getxattr(os.path.join(s.top, path), name)

    def acl_get_fd(self):
        slot, name = self.slot(), self.r.choice(ACLS)
        return lambda s: os.getxattr(self.kept(s, slot), name)

    def acl_remove(self):
        path, name = self.path(), self.r.choice(ACLS)
        return lambda s: os.removexattr(os.path.join(s.top, path), name)

    def acl_setgid(self):
        path, mode = self.path(), self.r.choice((0o2755, 0o2700, 0o2777))

        def run(s):
            if not stat.S_ISDIR(os.stat(path, dir_fd=s.root).st_mode):
                raise OSError(errno.ENXIO, "no directory")
            os.chmod(path, mode, dir_fd=s.root)
        return run

    def draw(self):
        if self.acls and self.r.random() < 0.15:
            name = self.r.choice([n for n in sorted(dir(self)) if n.startswith("acl_")])
            return name, getattr(self, name)()
        if self.wide and self.r.random() < 0.2:
            name = self.r.choice([n for n in sorted(dir(self)) if n.startswith("also_")])
            return name, getattr(self, name)()
        name = self.r.choice([n for n in sorted(dir(self)) if n.startswith("do_")]
                             + ["do_open"] * 8 + ["do_write", "do_pwrite"] * 3)
        return name, getattr(self, name)()


def told(call):
    """What was drawn, for whoever reads of a difference."""
    cells = zip(call.__code__.co_freevars, call.__closure__ or ())
    return ", ".join(f"{name}={cell.cell_contents!r:.40}" for name, cell in cells
                     if isinstance(cell.cell_contents, (int, str, bytes, tuple)))


def told_slots(call):
    """The places of open files that the call may have changed."""
    cells = zip(call.__code__.co_freevars, call.__closure__ or ())
    return [cell.cell_contents for name, cell in cells if name in ("slot", "to")]


def outcome(call, side):
    try:
        return call(side)
    except OSError as e:
        return errno.errorcode.get(e.errno, e.errno)


def differ(seed, log, what, native, guarded):
    print(f"seed {seed}, call {len(log)}: {what}")
    for line in log[-SHOWN:]:
        print("   ", line)
    print(f"    native  {native!r:.300}\n    guarded {guarded!r:.300}")
    return False


def probe(sides, seed):
    """True: nothing differed."""
    calls, log = Calls(seed), []
    os.umask(0o22)
    for s in sides:
        s.reset()
    for i in range(ROUND):
        name, call = calls.draw()
        name = name.split("_", 1)[1]
        log.append(f"{name} {told(call)}")
        native, guarded = (outcome(call, s) for s in sides)
        if native != guarded and ((name, native, guarded) in KNOWN or (name, guarded) in KNOWN):
            for s in sides:
                s.close(told_slots(call))
        elif native != guarded:
            return differ(seed, log, "the results differ", native, guarded)
        if i % LOOK == LOOK - 1:
            native, guarded = (s.picture() for s in sides)
            wrong = [p for p in sorted(set(native) | set(guarded)) if native.get(p) != guarded.get(p)]
            if wrong:
                return differ(seed, log, f"{wrong[0]!r} differs", native.get(wrong[0]), guarded.get(wrong[0]))
    return True


def main():
    sides = [Side(os.path.abspath(d)) for d in sys.argv[1:3]]
    if subprocess.check_output(["stat", "-f", "-c", "%T", sides[0].top], text=True).strip() == "tmpfs":
        KNOWN.update(KNOWN_ON_TMPFS)
        for s in sides:
            s.tmpfs = True
    seconds, seeds = int(sys.argv[3]), sys.argv[4:]
    end, bad, n = time.monotonic() + seconds, [], 0
    letter = "a" if seeds and seeds[-1][0] == "a" else "w"
    os.chdir("/")
    while seeds or time.monotonic() < end:
        seed = seeds.pop(0) if seeds else f"{letter}{random.SystemRandom().randrange(1 << 32)}"
        n += 1
        if not probe(sides, seed):
            bad.append(seed)
            if len(bad) == 5:
                break
    print(f"{n} seeds of {ROUND} calls, {len(bad)} with a difference: {bad}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
