# SPDX-License-Identifier: Apache-2.0
# Part of ../exec.sh.
import os, signal, sys
signal.signal(signal.SIGALRM, lambda *a: None)
kids = []
for k in range(4):
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        for i in range(50):
            c = os.fork()
            if c == 0:
                signal.setitimer(signal.ITIMER_REAL, 0)
                os.execv("/bin/true", ["storm-%d-%d" % (k, i)])
            while True:
                try:
                    status = os.waitpid(c, 0)[1]
                    break
                except InterruptedError:
                    continue
            if status:
                os._exit(1)
        os._exit(0)
    kids.append(pid)
sys.exit(any(os.waitpid(k, 0)[1] for k in kids))
