# SPDX-License-Identifier: Apache-2.0
"""What the static checks share: the list of source files, and how a check ends."""
import os
import sys

SRC = os.environ.get("WARD_SRC") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
BUILD = os.environ.get("WARD_BUILD") or os.path.join(SRC, "build")
C_FOLDERS = ("enforcer", "audit", "fs", "conf", "tests")


def files(*suffixes, below=""):
    """Relative paths of the files of the checkout with these suffixes (none: all), sorted."""
    found = []
    for where, folders, names in os.walk(os.path.join(SRC, below)):
        folders[:] = [f for f in folders if not f.startswith("build") and f != "__pycache__"
                      and (not f.startswith(".") or f == ".ci")]
        for name in names:
            path = os.path.relpath(os.path.join(where, name), SRC)
            if path != ".git" and (not suffixes or name.endswith(suffixes)):
                found.append(path)
    return sorted(found)


def read(path):
    with open(os.path.join(SRC, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def finish(complaints, looked_at):
    """Prints the complaints; fails if there are any, or if there was nothing to look at."""
    for complaint in complaints:
        print(complaint)
    if not looked_at:
        print("nothing was looked at")
    sys.exit(1 if complaints or not looked_at else 0)
