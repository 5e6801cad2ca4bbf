# SPDX-License-Identifier: Apache-2.0
# Part of ../descriptors.sh. Inside: tries each act at the files that it got as 0, 1 and 2, and
# writes into the project which ones it could do. Outside (look FILE...): what became of the files.
#
#   attack REPORT   0 was given to be read from its second line on, 1 to be written, 2 to be
# appended to
#   reach REPORT ACT...   the named acts alone, whatever 0, 1 and 2 are
#   socket KIND CMD...    outside: runs CMD with a socket of the host as 0, and writes into the file
# `elsewhere`
#                         an address of the host that it is not connected to
#   send SESSION FILE     outside: asks the session's supervisor to give FILE to a command as its 0
#   look REPORT KEY OUT LOG   prints "ACT reached" or "ACT held" for each act, by what the host can
# see
import ctypes, errno, fcntl, json, mmap, os, socket, stat, struct, subprocess, sys, threading

libc = ctypes.CDLL(None, use_errno=True)
GETFLAGS, SETFLAGS, NODUMP = 0x80086601, 0x40086602, 0x40
# Version 2; user::rw-, user:SELF:rwx, group::r--, mask::rwx, other::r--
ACL = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", tag, perm, who) for tag, perm, who in (
    (1, 6, 0xFFFFFFFF), (2, 7, os.getuid()), (4, 4, 0xFFFFFFFF), (16, 7, 0xFFFFFFFF), (32, 4, 0xFFFFFFFF)))


def call(name, *args):
    r = getattr(libc, name)(*args)
    if r < 0:
        raise OSError(ctypes.get_errno(), name)
    return r


def nodump(fd):
    flags = bytearray(fcntl.ioctl(fd, GETFLAGS, bytes(8)))
    flags[0] |= NODUMP
    fcntl.ioctl(fd, SETFLAGS, bytes(flags))


def unappend(fd):
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_APPEND)
    before(fd)


def before(fd):
    os.pwrite(fd, b"FORGED", 0)


def first_line(fd):
    return os.pread(fd, 6, 0) == b"secret"


def mapped(fd):
    with mmap.mmap(fd, 6, mmap.MAP_SHARED, mmap.PROT_READ) as m:
        return m[:6] == b"secret"


def copied(fd, to):
    os.copy_file_range(fd, to, 6, offset_src=0)


def rewound(fd):
    os.lseek(fd, 0, os.SEEK_SET)
    return os.read(fd, 6) == b"secret"


# A lock reaches a file of the host only through a descriptor of such a file.
def locked(fd, how):
    how(fd)
    return stat.S_ISREG(os.fstat(fd).st_mode)


def posix_lock(fd):
    fcntl.fcntl(fd, fcntl.F_SETLK, struct.pack("hhqqi", fcntl.F_RDLCK, 0, 0, 0, 0))


# A socket of the host that is taken off its peer reaches whatever the host reaches.
def elsewhere(fd):
    with open("elsewhere") as f:
        host, port = f.read().split(":")
    s = socket.socket(fileno=os.dup(fd))
    call("connect", fd, struct.pack("16x"), 16)
    s.connect((host, int(port)))
    return s.recv(5) == b"hello"


ACTS = {
    # Acts on the file that was given to be read
    "0-mode": lambda: os.fchmod(0, 0o666),
    "0-xattr": lambda: os.setxattr(0, "user.ward", b"x"),
    "0-times": lambda: os.utime(0, (1, 1)),
    "0-acl": lambda: os.setxattr(0, "system.posix_acl_access", ACL),
    "0-flags": lambda: nodump(0),
    "0-lease": lambda: locked(0, lambda fd: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)),
    "0-flock": lambda: locked(0, lambda fd: fcntl.flock(fd, fcntl.LOCK_SH)),
    "0-lock": lambda: locked(0, posix_lock),
    "0-before": lambda: first_line(0),
    "0-map": lambda: mapped(0),
    "0-rewind": lambda: rewound(0),
    "0-path": lambda: os.readlink("/proc/self/fd/0").startswith("/"),
    # What was given to be written: a program of root's or of the owner's
    "1-copy": lambda: copied(0, 1),
    "1-xattr": lambda: os.setxattr(1, "user.ward", b"x"),
    "1-truncate": lambda: os.ftruncate(1, 1 << 20),
    "1-allocate": lambda: os.posix_fallocate(1, 1 << 20, 4096),
    "1-before": lambda: before(1),
    "1-owner": lambda: os.fchown(1, -1, os.getgid()) or stat.S_ISREG(os.fstat(1).st_mode),
    # Last: a write takes it away again
    "1-mode": lambda: os.fchmod(1, 0o4755),
    # What was given to be appended to
    "2-before": lambda: unappend(2),
    "2-truncate": lambda: os.ftruncate(2, 8),
    # Whatever they are
    "0-directory": lambda: os.fchdir(0),
    "0-below": lambda: os.close(os.open(".", os.O_RDONLY, dir_fd=0)),
    "0-elsewhere": lambda: elsewhere(0),
    "0-itself": lambda: not stat.S_ISFIFO(os.fstat(0).st_mode),
}


ELSE = ("0-directory", "0-below", "0-elsewhere", "0-itself")


def attempt(name):
    try:
        return "done" if ACTS[name]() in (None, True) else "nothing"
    except OSError as e:
        return errno.errorcode[e.errno]


def look(report, key, out, log):
    with open(report) as f:
        said = json.load(f)
    k, o, text = os.stat(key), os.stat(out), {}
    for name in (key, out, log):
        with open(name, "rb") as f:
            text[name] = f.read()
    with open(key, "rb") as f:
        try:
            flags = fcntl.ioctl(f, GETFLAGS, bytes(8))[0]
        except OSError:
            flags = 0
    seen = {
        "0-mode": k.st_mode & 0o7777 != 0o600,
        "0-xattr": "user.ward" in os.listxattr(key),
        "0-times": int(k.st_mtime) == 1,
        "0-acl": "system.posix_acl_access" in os.listxattr(key),
        "0-flags": bool(flags & NODUMP),
        "1-mode": bool(o.st_mode & stat.S_ISUID),
        "1-xattr": "user.ward" in os.listxattr(out),
        "1-truncate": len(text[out]) >= 1 << 20,
        "1-allocate": len(text[out]) > 1 << 20,
        "1-copy": b"secret" in text[out],
        "1-before": b"FORGED" in text[out],
        "2-before": b"FORGED" in text[log],
        "2-truncate": len(text[log]) == 8,
    }
    for name, result in said.items():
        print(name, "reached" if seen.get(name, result == "done") else "held")


def serve(server):
    while True:
        c, _ = server.accept()
        c.sendall(b"hello")
        c.close()


def give_socket(kind, *cmd):
    near, far = socket.socketpair() if kind == "unix" else (socket.socket(), None)
    servers = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    for s in servers:
        threading.Thread(target=serve, args=(s,), daemon=True).start()
    if kind == "tcp":
        near.connect(servers[0].getsockname())
    elif kind == "listen":
        near.listen()
    with open("elsewhere", "w") as f:
        f.write("127.0.0.1:%d" % servers[1].getsockname()[1])
    sys.exit(subprocess.run(cmd, stdin=near).returncode)


def send(session, given):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], "wardfs", session, "control"))
    null, fd = os.open("/dev/null", os.O_RDWR), os.open(given, os.O_RDONLY)
    socket.send_fds(s, [json.dumps({"verb": "exec", "argv": ["true"], "env": []}).encode()], [fd, null, null])
    sys.exit(json.loads(s.recv(65536)).get("error"))


def main():
    what, report, *rest = sys.argv[1:]
    if what == "socket":
        return give_socket(report, *rest)
    if what == "send":
        return send(report, *rest)
    if what == "look":
        return look(report, *rest)
    if what == "attack":
        rest = [name for name in ACTS if name not in ELSE]
        print("what was read:", os.read(0, 100), flush=True)
    said = {name: attempt(name) for name in rest}
    with open(report, "w") as f:
        json.dump(said, f)


main()
