# SPDX-License-Identifier: Apache-2.0
# Part of ../trail.sh.
import os, signal, sys, threading
reader = int(sys.argv[1])
os.kill(reader, signal.SIGSTOP)
threading.Timer(0.5, os.kill, (reader, signal.SIGCONT)).start()
for i in range(6000):
    open("a", "rb").close()
