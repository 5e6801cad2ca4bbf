# SPDX-License-Identifier: Apache-2.0
"""Opens a file that is asked about; a child ends that with a signal once there is a file `go`."""
import os
import signal
import time

waiter = os.getpid()
signal.signal(signal.SIGALRM, lambda *a: os._exit(7))
if os.fork() == 0:
    while not os.path.exists("go"):
        time.sleep(0.05)
    os.kill(waiter, signal.SIGALRM)
    os._exit(0)
os.open(".github/workflows/ci", os.O_WRONLY)
