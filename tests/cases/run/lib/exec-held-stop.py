# SPDX-License-Identifier: Apache-2.0
# Part of ../exec-held.sh.
import os, signal, time
stopped = []
for pid in range(2, 100):
    try:
        if pid != os.getpid():
            os.kill(pid, signal.SIGSTOP)
            stopped.append(pid)
    except OSError:
        pass
with open("stopped.new", "w") as f:
    print(*stopped, file=f)
os.rename("stopped.new", "stopped")
time.sleep(1000)
