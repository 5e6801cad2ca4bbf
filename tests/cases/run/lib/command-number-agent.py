# SPDX-License-Identifier: Apache-2.0
"""Starts a command that ends at SIGTERM and leaves a process with a group of its own."""
import subprocess
import time
p = subprocess.Popen(["sh", "-c", "setsid sh -c 'trap \"\" TERM; touch left; sleep 7301' & "
                      "trap 'exit 3' TERM; touch up; while :; do sleep 0.1; done"], start_new_session=True)
print("ended", p.wait(), flush=True)
open("ended", "w").close()
time.sleep(30)
