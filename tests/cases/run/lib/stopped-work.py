# SPDX-License-Identifier: Apache-2.0
# Part of ../stopped.sh.
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    for i in range(8000):
        with open("/workspace/log", "a") as f:
            f.write(f"{i}\n")
        time.sleep(0.05)
    os._exit(0)
if sys.argv[1] == "stop":
    os.kill(os.getpid(), signal.SIGSTOP)
os.wait()
