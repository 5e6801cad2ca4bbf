#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""driver.py WORK SECTION: runs the rows of one section of the bench in the current directory.

The sections of workloads.py among them. Runs alike on the bare file system, on a peer and in a session; prints a line "ROW SECONDS" a row.
The first pass over a fresh mount is the cold one. WORK is the program bench_work.
"""
import functools
import os
import shutil
import subprocess
import sys
import time

import workloads

OPEN_DIRS, OPEN_FILES = 100, 100
WRITE_BYTES = 192 << 20
RANDOM = 20000
INSERTS = 500
SYNCED = 100

WORK = sys.argv[1]


def timed(argv, stdin=subprocess.DEVNULL):
    start = time.monotonic()
    subprocess.run(argv, check=True, stdin=stdin, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def work(*args):
    return float(subprocess.run([WORK, *map(str, args)], check=True, text=True,
                                capture_output=True).stdout)


def row(name, seconds):
    print(f"{name} {seconds:.6f}", flush=True)


def find():
    for pass_ in ("cold", "warm"):
        row(f"find-{pass_}", timed(["find", "data", "-size", "+1"]))


def opens():
    for pass_ in ("cold", "warm"):
        row(f"open-{pass_}", work("opens", "data", OPEN_DIRS, OPEN_FILES))


def git():
    for pass_ in ("cold", "warm"):
        row(f"git-status-{pass_}", timed(["git", "status", "--porcelain"]))


def tar():
    os.mkdir("out")
    row("tar-x", timed(["tar", "--no-same-owner", "-C", "out", "-xf", "data.tar"]))
    row("rm-r", timed(["rm", "-r", "out"]))


def checkout():
    row("git-checkout", timed(["git", "checkout", "-q", "other"]))
    subprocess.run(["git", "checkout", "-q", "one"], check=True)


def io():
    row("read-seq", work("seqread", "data"))
    row("read-again", work("seqread", "data"))
    row("read-rand", work("randread", "data", RANDOM))
    row("write-seq", work("seqwrite", "new", WRITE_BYTES))
    row("write-rand", work("randwrite", "data", RANDOM))
    os.unlink("new")


def quota():
    row("write-seq-quota", work("seqwrite", "new", WRITE_BYTES))
    row("write-rand-quota", work("randwrite", "data", RANDOM))
    os.unlink("new")


def build():
    row("c-build", timed(["make", "-s", "-j2"]))
    subprocess.run(["make", "-s", "clean"], check=True)


def sqlite():
    for name, script in ("sqlite", "insert.sql"), ("sqlite-sync", "synced.sql"):
        with open(script, "rb") as sql:
            row(name, timed(["sqlite3", "test.db"], stdin=sql))
        os.unlink("test.db")


def npm():
    # A cache of its own, and cold: what an earlier round left is no help.
    shutil.rmtree("cache", ignore_errors=True)
    row("npm-ci", timed(["npm", "ci", "--offline", "--no-audit", "--no-fund", "--loglevel=error", "--cache",
                         os.path.abspath("cache")]))
    shutil.rmtree("node_modules")


SECTIONS = {"find": find, "open": opens, "git-status": git, "tar": tar, "checkout": checkout, "io": io, "quota": quota,
            "c-build": build, "sqlite": sqlite, "npm": npm,
            **{name: functools.partial(run, row) for name, run in workloads.SECTIONS.items()}}

if __name__ == "__main__":
    SECTIONS[sys.argv[2]]()
