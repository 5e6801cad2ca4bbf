# SPDX-License-Identifier: Apache-2.0
"""executed-dead.py DEAD PROJECT: sessions in a project whose links lead to DEAD, where a file system is that
never answers. Part of ../executed.sh. The mount is gone when this ends: it is in a namespace of its own."""
import ctypes
import os
import socket
import subprocess
import sys

CLONE_NEWNS = 0x20000
MS_REC_PRIVATE = 0x44000
MNT_DETACH = 2
dead, project = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result < 0:
        raise SystemExit(f"{what}: {os.strerror(ctypes.get_errno())}")


def ends(argv, seconds):
    """How it ended, None where it did not in time."""
    child = subprocess.Popen(argv, cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out, _ = child.communicate(timeout=seconds)
        return child.returncode, out.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        if child.poll() is None:
            os.killpg(child.pid, 9)


# What is bound by a name there is no reason to wait either (enforcer/sandbox/view_sockets.c).
bound = socket.socket(socket.AF_UNIX)
bound.bind(dead + "/s")
check(libc.unshare(CLONE_NEWNS), "unshare")
check(libc.mount(b"none", b"/", None, MS_REC_PRIVATE, None), "propagation")
fuse = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0"
check(libc.mount(b"dead", dead.encode(), b"fuse", 0, options.encode()), "mount")
try:
    how, _ = ends(["ls", dead + "/x"], 2)
    if how is not None:
        raise SystemExit("control: it answers")
    os.mkdir(project + "/sub")
    os.symlink(dead + "/x", project + "/sub/.vscode")
    os.symlink("../" + os.path.relpath(dead, project) + "/x", project + "/sub/.envrc")
    wardfs = os.environ["WARDFS"]
    for argv in ([wardfs, "run", "--policy", "medium", "--", "touch", "sub/touched"],
                 [wardfs, "run", "--dry-run", "--", "true"], [wardfs, "policy", "check", "medium"]):
        how, said = ends(argv, 100)
        if how != 0:
            raise SystemExit(f"{' '.join(argv[1:3])}: {'held up' if how is None else how}: {said}")
finally:
    os.close(fuse)
    libc.umount2(dead.encode(), MNT_DETACH)
