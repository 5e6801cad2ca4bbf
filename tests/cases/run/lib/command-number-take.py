# SPDX-License-Identifier: Apache-2.0
"""Starts "sleep 7302" under the process number of the argument, at the head of a group of its own."""
import os
import sys
pid = int(sys.argv[1])
for _ in range(1000):
    with open("/proc/sys/kernel/ns_last_pid", "w") as f:
        f.write(str(pid - 1))
    child = os.fork()
    if child == 0:
        if os.getpid() != pid:
            os._exit(0)
        os.setsid()
        os.execvp("sleep", ["sleep", "7302"])
    if child == pid:
        sys.exit(0)
    os.waitpid(child, 0)
sys.exit(1)
