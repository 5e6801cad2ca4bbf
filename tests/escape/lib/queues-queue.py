# SPDX-License-Identifier: Apache-2.0
# Part of ../queues.sh.
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
name, verb = sys.argv[1].encode(), sys.argv[2]
if verb == "gone":
    r = libc.mq_unlink(name)
elif verb == "fill":
    class Attr(ctypes.Structure):
        _fields_ = [(n, ctypes.c_long) for n in ("flags", "maxmsg", "msgsize", "curmsgs")]
    attr, n = Attr(0, 10, 8192, 0), 0
    while n < 1000:
        r = libc.mq_open(name + b"%d" % n, os.O_CREAT | os.O_RDWR, 0o600, ctypes.byref(attr))
        if r < 0:
            break
        n += 1
    # Some fit, and not many: 800 KiB in all.
    sys.exit(print("bounded" if 0 < n < 20 and ctypes.get_errno() == 24 else (n, ctypes.get_errno())))
else:
    r = libc.mq_open(name, os.O_RDWR | (os.O_CREAT if verb == "make" else 0), 0o600, None)
    if r >= 0 and verb == "make":
        assert libc.mq_send(r, b"hello", 5, 0) == 0
    elif r >= 0:
        buf = ctypes.create_string_buffer(8192)
        assert libc.mq_receive(r, buf, 8192, None) == 5 and buf.value == b"hello"
print("done" if r >= 0 else os.strerror(ctypes.get_errno()))
