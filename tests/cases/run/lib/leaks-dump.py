# SPDX-License-Identifier: Apache-2.0
# Part of ../leaks.sh.
import ctypes, os, sys
pid, libc = int(sys.argv[1]), ctypes.CDLL(None, use_errno=True)
got = []
for f in ("environ", "maps", "mem", "fd/0", "root"):
    try:
        with open(f"/proc/{pid}/{f}", "rb") if f != "root" else os.scandir(f"/proc/{pid}/{f}"):
            got.append(f)
    except OSError:
        pass
if libc.syscall(438, os.pidfd_open(pid), 0, 0) >= 0:  # pidfd_getfd
    got.append("pidfd_getfd")
if libc.ptrace(0x4206, pid, 0, 0) == 0:  # PTRACE_SEIZE
    got.append("ptrace")
print(" ".join(got))
