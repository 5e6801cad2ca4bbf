#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""image.py BUILD DIR: what an unpacked image costs at the start, beside restricted.

Prints lines "NAME VALUE", times in milliseconds: the median of ROUNDS that take turns. The image is made here: busybox,
and 150 names in /etc, as many as a Debian image has.

  start-restricted, start-image   `run -- /bin/true`, `run --image IMAGE -- /bin/true`
"""
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cases/run/lib"))
import images  # noqa: E402

ROUNDS = 21


def main():
    build, where = sys.argv[1:]
    wardfs, archive = f"{build}/wardfs", os.path.join(where, "..", "bench-image.tar")
    with open("/bin/busybox", "rb") as f:
        base = images.base(f.read())
    many = images.layer(*[images.entry(f"etc/name-{i}", b"x") for i in range(150)])
    images.docker(archive, [base, many])
    assert tarfile.is_tarfile(archive)
    state = os.path.join(where, "..", "bench-image-state")
    env = dict(os.environ, XDG_STATE_HOME=state)
    subprocess.run([wardfs, "image", "pull", archive], check=True, env=env, stdout=subprocess.DEVNULL)
    starts = {"restricted": [wardfs, "run", "--", "/bin/true"],
              "image": [wardfs, "run", "--image", archive, "--", "/bin/true"]}
    times = {}
    for _ in range(ROUNDS):
        for name, argv in starts.items():
            began = time.monotonic()
            subprocess.run(argv, cwd=where, env=env, stdin=subprocess.DEVNULL, check=True)
            times.setdefault(f"start-{name}", []).append(1000 * (time.monotonic() - began))
    for name, values in times.items():
        print(name, statistics.median(values))
    os.unlink(archive)
    shutil.rmtree(state)


main()
