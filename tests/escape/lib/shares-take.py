# SPDX-License-Identifier: Apache-2.0
# Part of ../shares.sh.
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
timer_create = {"x86_64": 222, "aarch64": 107}[os.uname().machine]
timer, n = ctypes.c_int(), 0
if sys.argv[1] == "instances":
    while n < 10000 and libc.inotify_init() >= 0:
        n += 1
elif sys.argv[1] == "flight":
    # In flight: sent, and not received. The sockets stay open.
    ends, one = [], os.open("/dev/null", os.O_RDONLY)
    try:
        while n < 100000:
            ends.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
            ends[-1][0].setblocking(False)
            try:
                for i in range(10):
                    socket.send_fds(ends[-1][0], [b"x"], [one] * 250)
                    n += 250
            except BlockingIOError:
                pass
    except OSError as e:
        if e.errno != errno.ETOOMANYREFS:
            raise
else:
    while n < 1000000 and libc.syscall(timer_create, 1, None, ctypes.byref(timer)) == 0:
        n += 1
print(n, flush=True)
if sys.argv[2] == "hold":
    sys.stdin.read()
