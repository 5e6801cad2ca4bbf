# SPDX-License-Identifier: Apache-2.0
# Part of ../users-agree.sh: root, in the mount. What one user does with files of another is
# answered in the mount as on the backing, or refused where that is said below.
import errno
import fcntl
import os
import socket
import stat
import subprocess
import sys

BACK = sys.argv[1]
A, B, C = 4711, 4712, 4713
D = os.O_DIRECTORY
FILES = ("r", "w", "p", "suid", "wo", "deny", "g")
# The daemon reaches an open file by its name: where the client may not search, it is not opened
# anew. And it may not give capabilities to files, in whose namespace ever.
STRICTER = {"pass-%s-p700/f-%s" % (how, m) for how in ("re-rw", "re-r") for m in ("r", "rw", "path")} | {"ns-cap"}


def as_user(uid, job, groups=()):
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        os.setgroups(list(groups))
        os.setgid(uid)
        os.setuid(uid)
        os.umask(0o022)
        try:
            answer = job()
        except OSError as e:
            answer = errno.errorcode[e.errno]
        os.write(w, repr(answer).encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as f:
        answer = f.read()
    os.waitpid(pid, 0)
    return answer


def attributes(path):
    st = os.lstat(path)
    return oct(st.st_mode), st.st_uid, st.st_gid, 0 if stat.S_ISDIR(st.st_mode) else st.st_size


def put(path, mode=0o644, uid=A):
    with open(path, "w") as f:
        f.write("text")
    os.chown(path, uid, uid)
    os.chmod(path, mode)


def directory(path, mode, uid=A, gid=A):
    os.mkdir(path)
    os.chown(path, uid, gid)
    os.chmod(path, mode)


def setfacl(*args):
    subprocess.run(["setfacl", *args], check=True)


def setup(base):
    directory(base, 0o755, 0, 0)
    directory(base + "/sticky", 0o1777, 0, 0)
    put(base + "/sticky/a")
    put(base + "/sticky/b", uid=B)
    put(base + "/sticky/w", 0o666)
    for name, mode in ("x711", 0o711), ("r744", 0o744), ("p700", 0o700):
        directory(base + "/" + name, mode)
        put(base + "/" + name + "/f", 0o666)
    directory(base + "/all", 0o777)
    for name, mode in zip(FILES, (0o644, 0o666, 0o600, 0o6777, 0o622, 0o644, 0o640)):
        put(base + "/all/" + name, mode)
    setfacl("-m", "u:%d:r" % B, base + "/all/p")
    setfacl("-m", "u:%d:-" % B, base + "/all/deny")
    os.chown(base + "/all/g", A, C)
    directory(base + "/sgid", 0o2777, A, C)
    directory(base + "/acl", 0o777)
    setfacl("-d", "-m", "u:%d:r" % B, base + "/acl")


def opened(path, flags, **more):
    fd = os.open(path, flags, **more)
    try:
        return os.write(fd, b"x") if flags & os.O_ACCMODE == os.O_WRONLY else os.read(fd, 10)
    finally:
        os.close(fd)


def made(path, mode=0o666):
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))


def passed(path, flags, use):
    """A opens, B uses the descriptor."""
    mine, theirs = socket.socketpair()

    def give():
        fd = os.open(path, flags)
        socket.send_fds(theirs, [b"x"], [fd])

    given = as_user(A, give)
    if given != "None":
        return given
    answer = as_user(B, lambda: use(socket.recv_fds(mine, 1, 1)[1][0]))
    mine.close()
    theirs.close()
    return answer


def in_namespace(command):
    r = subprocess.run(["unshare", "--user", "--map-root-user", "sh", "-c", command], capture_output=True, text=True)
    return r.returncode, r.stdout


ACL = b"\x02\0\0\0\x01\0\7\0\xff\xff\xff\xff\x04\0\7\0\xff\xff\xff\xff\x20\0\7\0\xff\xff\xff\xff"
OPENS = {
    "r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR, "rt": os.O_RDONLY | os.O_TRUNC,
    "wa": os.O_WRONLY | os.O_APPEND, "wc": os.O_WRONLY | os.O_CREAT,
}
CHANGES = {
    "chmod": lambda p: os.chmod(p, 0o777),
    "chown": lambda p: os.chown(p, B, B),
    "utime": lambda p: os.utime(p),
    "utime0": lambda p: os.utime(p, (0, 0)),
    "trunc": lambda p: os.truncate(p, 1),
    "setx": lambda p: os.setxattr(p, "user.a", b"1"),
    "getx": lambda p: os.getxattr(p, "user.a"),
    "getacl": lambda p: os.getxattr(p, "system.posix_acl_access"),
    "setacl": lambda p: os.setxattr(p, "system.posix_acl_access", ACL),
    "rmacl": lambda p: os.removexattr(p, "system.posix_acl_access"),
    "security": lambda p: os.setxattr(p, "security.x", b"1"),
    "trusted": lambda p: os.getxattr(p, "trusted.x"),
    "link": lambda p: os.link(p, p + "-l"),
    "access": lambda p: [os.access(p, m) for m in (4, 2, 1)],
}
USES = {
    "re-rw": lambda fd: opened("/proc/self/fd/%d" % fd, os.O_RDWR),
    "re-r": lambda fd: opened("/proc/self/fd/%d" % fd, os.O_RDONLY),
    "write": lambda fd: os.write(fd, b"y"),
    "read": lambda fd: os.pread(fd, 5, 0),
    "trunc": lambda fd: os.ftruncate(fd, 0),
    "fchmod": lambda fd: os.fchmod(fd, 0o777),
    "fchown": lambda fd: os.fchown(fd, B, B),
    "setx": lambda fd: os.setxattr(fd, "user.q", b"1"),
    "stat": lambda fd: os.fstat(fd).st_size,
    "utime": lambda fd: os.utime(fd, (0, 0)),
    "lock": lambda fd: fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB),
    "flock": lambda fd: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB),
}
DIRECTORY_USES = {
    "ls": lambda fd: sorted(os.listdir(fd)),
    "scan": lambda fd: [e.stat().st_size for e in os.scandir(fd)],
    "openat": lambda fd: opened("f", os.O_RDONLY, dir_fd=fd),
    "statat": lambda fd: os.stat("f", dir_fd=fd).st_size,
    "mk": lambda fd: os.mkdir("m", dir_fd=fd),
    "dotdot": lambda fd: os.stat("..", dir_fd=fd).st_uid,
    "chdir": lambda fd: (os.fchdir(fd), os.listdir("."))[1],
}


def battery(base):
    out = {}

    def attempt(name, uid, job, groups=()):
        out[name] = as_user(uid, job, groups)

    def at(name):
        return base + "/" + name

    attempt("sticky-unlink", B, lambda: os.unlink(at("sticky/a")))
    attempt("sticky-rename", B, lambda: os.rename(at("sticky/a"), at("sticky/z")))
    attempt("sticky-over", B, lambda: os.rename(at("sticky/b"), at("sticky/a")))
    attempt("sticky-own", B, lambda: os.unlink(at("sticky/b")))
    for f in FILES:
        path = at("all/" + f)
        for name, flags in OPENS.items():
            attempt("open-%s-%s" % (f, name), B, lambda: opened(path, flags))
        attempt("open-%s-other" % f, C, lambda: opened(path, os.O_RDWR))
        for name, change in CHANGES.items():
            attempt("%s-%s" % (name, f), B, lambda: change(path))
    for d in "x711", "r744", "p700":
        attempt("ls-" + d, B, lambda: sorted(os.listdir(at(d))))
        attempt("stat-" + d, B, lambda: os.stat(at(d + "/f")).st_size)
        attempt("open-" + d, B, lambda: opened(at(d + "/f"), os.O_RDONLY))
        attempt("mk-" + d, B, lambda: os.mkdir(at(d + "/n")))
        for name, use in DIRECTORY_USES.items():
            for m, flags in ("r", D), ("path", D | os.O_PATH):
                out["pass-%s-%s-%s" % (name, d, m)] = passed(at(d), flags, use)
    for name, use in USES.items():
        for f in "all/p", "p700/f":
            for m, flags in ("r", os.O_RDONLY), ("rw", os.O_RDWR), ("path", os.O_PATH):
                out["pass-%s-%s-%s" % (name, f, m)] = passed(at(f), flags, use)
    attempt("sgid-file", B, lambda: made(at("sgid/f")))
    attempt("sgid-dir", B, lambda: os.mkdir(at("sgid/d")))
    attempt("sgid-with", B, lambda: made(at("sgid/sx"), 0o2775))
    attempt("sgid-chmod", B, lambda: os.chmod(at("sgid/f"), 0o2775))
    attempt("suid-made", B, lambda: made(at("all/su"), 0o4755))
    attempt("acl-file", C, lambda: made(at("acl/f")))
    attempt("acl-got", 0, lambda: os.getxattr(at("acl/f"), "system.posix_acl_access"))
    attempt("acl-dir", C, lambda: os.mkdir(at("acl/d")))
    attempt("tmpfile", B, lambda: os.close(os.open(at("all"), os.O_TMPFILE | os.O_RDWR, 0o600)))
    attempt("tmpfile-no", B, lambda: os.close(os.open(at("p700"), os.O_TMPFILE | os.O_RDWR, 0o600)))
    attempt("device", B, lambda: os.mknod(at("all/dev"), 0o20666, 0x103))
    attempt("link", B, lambda: os.symlink("/etc/shadow", at("all/sym")))
    attempt("link-read", B, lambda: opened(at("all/sym"), os.O_RDONLY))
    attempt("group-r", B, lambda: opened(at("all/g"), os.O_RDONLY), (C,))
    attempt("group-w", B, lambda: opened(at("all/g"), os.O_WRONLY), (C,))
    for n in (256, 65535):  # NGROUPS_MAX is one more
        others = range(1000, 1000 + n)
        attempt("groups-%d" % n, B, lambda: opened(at("all/g"), os.O_RDONLY), {*others, C})
        attempt("groups-%d-without" % n, B, lambda: opened(at("all/g"), os.O_RDONLY), {*others} - {C})
    attempt("ns-cat", B, lambda: in_namespace("cat '%s'" % at("p700/f")))
    attempt("ns-chown", B, lambda: in_namespace("chown 0:0 '%s'" % at("all/w")))
    attempt("ns-own", B, lambda: in_namespace("touch '{0}'; chmod 4777 '{0}'; stat -c %u:%a '{0}'".format(at("all/ns"))))
    attempt("ns-rm", B, lambda: in_namespace("rm -f '%s'" % at("sticky/w")))
    attempt("ns-cap", B, lambda: in_namespace("setcap cap_net_raw+ep '{0}'".format(at("all/ns"))))
    for top, dirs, names in os.walk(base):
        for name in dirs + names:
            path = os.path.join(top, name)
            out["after " + os.path.relpath(path, base)] = repr(attributes(path))
    return out


setup(BACK + "/native")
setup(BACK + "/mounted")
native, mounted = battery(BACK + "/native"), battery("mounted")
wrong = [
    (name, native.get(name), mounted.get(name))
    for name in sorted(set(native) | set(mounted))
    if native.get(name) != mounted.get(name) and name not in STRICTER
]
for name, a, b in wrong:
    print("FAIL: %s: %s on the backing, %s in the mount" % (name, a, b), file=sys.stderr)
# The controls: something is allowed, something refused, and what is said to be stricter is.
answers = list(native.values())
assert answers.count("'EACCES'") > 50 and answers.count("None") > 20, answers
assert all(native[n] != mounted[n] for n in STRICTER if n != "ns-cap"), "not stricter"
sys.exit(bool(wrong))
