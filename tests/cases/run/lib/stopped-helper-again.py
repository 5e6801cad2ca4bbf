# SPDX-License-Identifier: Apache-2.0
# Part of ../stopped-helper.sh: stops a process again and again, until it has ended.
import os
import signal
import sys
import time

try:
    while True:
        os.kill(int(sys.argv[1]), signal.SIGSTOP)
        time.sleep(0.0005)
except ProcessLookupError:
    pass
