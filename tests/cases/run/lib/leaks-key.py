# SPDX-License-Identifier: Apache-2.0
# Part of ../leaks.sh.
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
number = {"x86_64": 248, "aarch64": 217}.get(os.uname().machine)
if number is None:
    sys.exit(77)
# add_key("user", "wardfs-test", "x", 1, KEY_SPEC_SESSION_KEYRING), then what was given
got = libc.syscall(number, b"user", b"wardfs-test", b"x", 1, -3)
if got < 0:
    print(os.strerror(ctypes.get_errno()))
    sys.exit(1)
os.execvp(sys.argv[1], sys.argv[1:])
