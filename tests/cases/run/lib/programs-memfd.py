# SPDX-License-Identifier: Apache-2.0
# Part of ../programs.sh.
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(flags, how):
    fd = libc.memfd_create(b"x", flags)
    if fd < 0:
        return "memfd_create: " + os.strerror(ctypes.get_errno())
    os.write(fd, open("/usr/bin/id", "rb").read())
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        try:
            if how == "fd":
                os.execve(fd, ["id"], {})
            os.set_inheritable(fd, True)
            if how == "loader":
                os.execve(sys.argv[3], ["ld.so", "/proc/self/fd/%d" % fd], {})
            os.execve("/proc/self/fd/%d" % fd, ["id"], {})
        except OSError as e:
            os._exit(e.errno)
    return "status %d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(attempt(int(sys.argv[1]), sys.argv[2]))
