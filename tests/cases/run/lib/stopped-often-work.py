# SPDX-License-Identifier: Apache-2.0
# Part of ../stopped-often.sh: stops and continues its parent as fast as it can.
import os
import signal
import time

parent = os.getpid()
if os.fork():
    while True:
        time.sleep(1)
os.setsid()
open("begun", "wb").close()
while True:
    os.kill(parent, signal.SIGSTOP)
    time.sleep(0.0005)
    os.kill(parent, signal.SIGCONT)
    time.sleep(0.0005)
