#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""keeper.py SCRATCH SECONDS PROGRAM [ARG]...: runs one test and answers for what it leaves behind.

The keeper is the subreaper of everything that the test starts, and as root has a mount namespace of
its own with shared propagation, as a systemd host has it: so each process and each mount that is
left is this test's, whatever runs beside it. Leftovers are named, removed, and make the test fail.
Exits with the status of the test, 98 for leftovers, 124 for a timeout.
"""
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time

LEFTOVER, TIMEOUT = 98, 124
# How long helpers may take to notice that their session is over, on a machine with much else to do.
GRACE = 30.0
# How long one process may take to die of SIGKILL before its file system daemon is killed as well.
DYING = 5.0
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWNS, MS_REC, MS_PRIVATE, MS_SHARED, MNT_DETACH = 0x20000, 0x4000, 1 << 18, 1 << 20, 2

libc = ctypes.CDLL(None, use_errno=True)


def own_mounts():
    """As root: a private mount namespace, in which mounts propagate as on a systemd host.

    It has no mount of wardfs from before: one that is there is the test's.
    """
    if os.geteuid() != 0 or libc.unshare(CLONE_NEWNS) != 0:
        return
    for flag in (MS_PRIVATE, MS_SHARED):
        if libc.mount(b"none", b"/", None, MS_REC | flag, None) != 0:
            sys.exit(f"keeper: mount propagation: {os.strerror(ctypes.get_errno())}")
        if flag == MS_PRIVATE:
            for _, point, kind in reversed(mounts("")):
                ours = any(os.environ.get(k, "").startswith(point) for k in ("WARD_SRC", "WARD_BUILD"))
                if kind == "fuse.wardfs" and not ours:
                    libc.umount2(os.fsencode(point), MNT_DETACH)


def mounts(scratch):
    """Mount points that can be a test's: below its scratch, and of FUSE anywhere as root."""
    found = []
    # In bytes: of control characters the kernel escapes but blank, tab, newline and backslash.
    with open("/proc/self/mountinfo", "rb") as f:
        for line in f.read().split(b"\n")[:-1]:
            fields = line.split(b" ")
            kind = os.fsdecode(fields[fields.index(b"-") + 1])
            point = os.fsdecode(re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), fields[4]))
            if (scratch and point.startswith(scratch + "/")) or (os.geteuid() == 0 and kind.startswith("fuse")):
                found.append((int(fields[0]), point, kind))
    return found


def descendants():
    """(pid, name) of every process below this one that is not a zombie."""
    parents, names = {}, {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        name, rest = text[text.index("(") + 1:text.rindex(")")], text[text.rindex(")") + 2:].split()
        if rest[0] not in "ZX":
            parents[int(entry)], names[int(entry)] = int(rest[1]), name
    below, grown = {os.getpid()}, True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in below} - below
        below, grown = below | more, bool(more)
    return [(pid, names[pid]) for pid in sorted(below) if pid != os.getpid()]


def cgroups():
    found = set()
    for where, folders, _ in os.walk("/sys/fs/cgroup"):
        found.update(os.path.join(where, f) for f in folders if "wardfs" in f)
    return found


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def describe(pid, name):
    """What a process is and what it waits for, as far as it can be known."""
    def content(file):
        try:
            with open(f"/proc/{pid}/{file}", encoding="utf-8", errors="backslashreplace") as f:
                return f.read()
        except OSError:
            return ""
    fields = content("stat").rpartition(")")[2].split()
    text = f"process {pid} ({name})"
    if len(fields) > 1:
        text += f", child of {fields[1]}, state {fields[0]}"
    calls = [line.split()[-1].split("+")[0] for line in content("stack").splitlines()]
    where = calls[:4] or [c for c in [content("wchan")] if c not in ("", "0")]
    if where:
        text += f", in {' < '.join(where)}"
    command = content("cmdline").replace("\0", " ").strip()
    return text + (f": {command[:200]}" if command else "")


def end(child):
    """Ends the test. A process that waits for a FUSE daemon dies only once that has answered or died."""
    kill_group(child.pid)
    try:
        child.wait(DYING)
        return
    except subprocess.TimeoutExpired:
        pass
    for pid, _ in descendants():
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    try:
        child.wait(GRACE)
    except subprocess.TimeoutExpired:
        print("--- it cannot be killed")


def reap(child=None):
    """Takes leave of whoever has ended. What the keeper inherited leaves no zombies behind."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if child and pid == child.pid:
            child.returncode = os.waitstatus_to_exitcode(status)


def wait(child, seconds):
    """The status of the test; TimeoutExpired. Reaps meanwhile: a test can orphan thousands."""
    end = time.monotonic() + seconds
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    try:
        while True:
            reap(child)
            if child.returncode is not None:
                return child.returncode
            left = end - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(child.args, seconds)
            signal.sigtimedwait({signal.SIGCHLD}, left)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def settle(scratch, before, groups, grace):
    """Waits up to grace seconds for processes, mounts and control groups to go. Returns what is left.

    Sessions beside this test make and remove control groups, too: one that is left is empty at each look
    from the one on at which nothing else is left.
    """
    end, empties = time.monotonic() + grace, None
    while True:
        reap()
        processes = descendants()
        left = [m for m in mounts(scratch) if m not in before]
        now = {g for g in cgroups() - groups if empty(g)}
        empties = now if empties is None or processes or left else empties & now
        if not (processes or left or empties) or time.monotonic() > end:
            return processes, left, empties
        time.sleep(0.02)


def clean(processes, left):
    """Ends processes until none is left (killing one may start another), then unmounts."""
    for _ in range(50):
        for pid, _ in processes:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.02)
        reap()
        processes = descendants()
        if not processes:
            break
    for _, point, _ in reversed(left):
        if libc.umount2(os.fsencode(point), MNT_DETACH) != 0 and shutil.which("fusermount3"):
            subprocess.run(["fusermount3", "-uzq", point], stderr=subprocess.DEVNULL, check=False)


def interrupted(number, frame):
    raise KeyboardInterrupt


def main():
    signal.signal(signal.SIGTERM, interrupted)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    scratch, seconds, argv = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("keeper: cannot become a subreaper")
    own_mounts()
    before, groups = mounts(scratch), cgroups()
    child = subprocess.Popen(argv, start_new_session=True)
    try:
        status = wait(child, seconds)
    except subprocess.TimeoutExpired:
        print(f"--- still running after {seconds} s: killed")
        for pid, name in descendants():
            print(f"---   {describe(pid, name)}")
        sys.stdout.flush()
        end(child)
        status = TIMEOUT
    except KeyboardInterrupt:
        end(child)
        status = 128 + signal.SIGINT
    processes, left, groups = settle(scratch, before, groups, 0.0 if status == TIMEOUT else GRACE)
    for pid, name in processes:
        print(f"--- left behind: {describe(pid, name)}")
    for _, point, kind in left:
        print(f"--- left behind: {kind} mount at {point!r}")
    clean(processes, left)
    for group in groups:
        print(f"--- left behind: cgroup {group}")
        remove_group(group)
    if status < 0:
        print(f"--- killed by signal {-status}")
        status = 128 - status
    return LEFTOVER if status in (0, 77) and (processes or left or groups) else status


def empty(group):
    """Whether a control group has no process (a session that runs beside this test has)."""
    for where, _, _ in os.walk(group):
        try:
            with open(os.path.join(where, "cgroup.procs"), encoding="ascii") as f:
                if f.read().strip():
                    return False
        except OSError:
            return False
    return True


def remove_group(group):
    for where, _, _ in os.walk(group, topdown=False):
        try:
            os.rmdir(where)
        except OSError:
            pass


if __name__ == "__main__":
    sys.exit(main())
