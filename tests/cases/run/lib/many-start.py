# SPDX-License-Identifier: Apache-2.0
# Part of ../many.sh.
import os
import subprocess
import sys

n, wardfs, own, mark = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
ends = [(["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137), (["no-such-program"], 127),
        (["sh", "-c", f"setsid sleep {mark} >/dev/null 2>&1 & exit 0"], 0), (["cat", ".env"], 1)]


def fds():
    return len(os.listdir("/proc/self/fd"))


was = fds()
for i in range(n):
    cmd, want = ends[i % len(ends)] if i % 2 else ends[0]
    got = subprocess.run([wardfs, "run", "--session", f"many{own}-{i}", "--", *cmd], check=False, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if got.returncode != want:
        sys.exit(f"FAIL: run {i}: {cmd}: {got.returncode}: {got.stderr.decode()}")
if fds() != was:
    sys.exit(f"FAIL: {was} descriptors before, {fds()} after")
