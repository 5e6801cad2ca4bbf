#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""suites.py SUITE DIR LOGS SECONDS OPS [NAME]...: runs one suite on DIR, natively or guarded.

Prints a line of JSON a test: {"test", "ok", "status", "seconds"}; what a test prints goes to LOGS.
Started by `run`, which compares. NAMEs, regular expressions, limit the run to those tests.
WARD_BACKING, where set, is what lies beneath DIR.
"""
import ctypes
import hashlib
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36

# The system calls of LTP's list that have to do with files, by the beginning of a test's name.
LTP_SYSCALLS = """access chdir chmod chown chroot cachestat close_range copy_file_range creat dup
    execl execle execlp execv execve execveat execvp faccessat fallocate fanotify fchdir fchmod
    fchown fcntl fdatasync fgetxattr file_attr flistxattr flock fpathconf fremovexattr fsetxattr
    fstat fstatat fstatfs fsync ftruncate futimesat getcwd getdents getxattr inotify io_cancel
    io_destroy io_getevents io_pgetevents io_setup io_submit io_uring ioctl_ficlone
    ioctl_ficlonerange ioctl_fiemap lchown lgetxattr link linkat listxattr llistxattr llseek
    lremovexattr lseek lstat madvise mincore mkdir mkdirat mknod mknodat mmap mprotect msync munmap
    name_to_handle_at nftw open open_by_handle_at openat pathconf posix_fadvise pread preadv
    prot_hsymlinks pwrite pwritev read readahead readdir readlink readlinkat readv realpath
    remap_file_pages removexattr rename renameat rmdir sendfile setxattr splice stat statfs statvfs
    statx symlink symlinkat sync sync_file_range syncfs tee truncate umask unlink unlinkat ustat
    utime utimensat utimes vmsplice write writev""".split()
# ltp-aiodio.part2 is left out: hundreds of processes that spin while others write a sparse file;
# part3 is an older fsx, ltp-aio-stress writes hundreds of gigabytes.
LTP_LISTS = ("syscalls", "fs", "fs_perms_simple", "fs_bind", "dio", "ltp-aiodio.part1",
             "ltp-aiodio.part4", "mm")
LTP_MM = re.compile(r"^(mmap|mtest06)")
# Not of the directory that is tested; statx11 waits for a device of its own; dio30 is dio29 by a
# hundred processes; fallocate05, fallocate06 and mmap16 fill the file system, which is not theirs;
# inotify03 waits for its end, some of fanotify watch all of it. DOR001 to DOR003 are DOR000 by up
# to a hundred processes, which take more than ten minutes on two processors.
LTP_OMIT = re.compile(r"^(dio30|statx11.*|read_all_.*|proc01|quota_remount_.*|isofs|squashfs.*|"
                      r"binfmt_.*|fs_fill|fallocate0[56]|mmap16|inotify03|DOR00[123]|"
                      r"fanotify(01|03|05|06|09|10|1[3-9]|2[0-4]))$")
# Of the machine, not of a directory.
STRESS_OMIT = {"bind-mount", "binderfs", "eventfd", "ioprio", "procfs"}


def reap():
    """Ends whatever a test has left: all of it has become a child of ours."""
    for _ in range(1000):
        try:
            with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as f:
                pids = [int(p) for p in f.read().split()]
        except OSError:
            return
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


class Run:
    """Where a suite runs, and for how long."""

    def __init__(self, directory, logs, seconds, ops, names):
        self.dir, self.logs, self.seconds, self.ops = directory, logs, seconds, ops
        self.names = [re.compile(name) for name in names]
        os.makedirs(logs, exist_ok=True)

    def wanted(self, name):
        return not self.names or any(wanted.fullmatch(name) for wanted in self.names)

    def log(self, name):
        return os.path.join(self.logs, re.sub(r"[^\w.+-]", "_", name) + ".log")

    def command(self, name, argv, limit, cwd=None, env=None):
        """Runs a command; returns its exit status (-1: it hung) and what it printed."""
        path = self.log(name)
        with open(path, "wb") as out:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                     cwd=cwd or self.dir, env=env, start_new_session=True)
            try:
                status = child.wait(limit)
            except subprocess.TimeoutExpired:
                status = -1
                try:
                    os.killpg(child.pid, signal.SIGKILL)
                except OSError:
                    pass
                child.wait()
        reap()
        with open(path, encoding="utf-8", errors="replace") as f:
            return status, f.read()

    def say(self, test, ok, status, since):
        print(json.dumps({"test": test, "ok": ok, "status": str(status)[:160],
                          "seconds": round(time.monotonic() - since, 1)}), flush=True)

    def fresh(self, name):
        path = os.path.join(self.dir, name)
        if os.path.isdir(path):
            subprocess.run(["chmod", "-R", "u+rwX", path], check=False,
                           stderr=subprocess.DEVNULL)
            shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o777)
        return path


def without_devices(tree, stage):
    """A copy of the tests whose loops over the types of files leave out devices: these are refused,
    and everything that is then done to them would count. What depends on the type of the file
    system goes by that of the backing."""
    tests = os.path.join(stage, "tests")
    shutil.copytree(os.path.join(tree, "tests"), tests)
    shutil.copy(os.path.join(tree, "pjdfstest"), stage)
    with open(os.path.join(tests, "conf"), "a", encoding="utf-8") as f:
        f.write(f'fs="{os.environ["WARD_FSTYPE"].upper()}"\n')
    for where, _, files in os.walk(tests):
        for path in (os.path.join(where, file) for file in files if file.endswith(".t")):
            with open(path, encoding="utf-8") as f:
                text = f.read()
            with open(path, "w", encoding="utf-8") as f:
                f.write(re.sub(r"(?m)^(\s*for \w+ in .*)\bblock char\b", r"\1", text))
    return tests


def pjdfstest(run, tree):
    """An assertion is a test: FILE:NUMBER."""
    tests = without_devices(tree, os.path.join(run.logs, "tree"))
    for where, _, files in sorted(os.walk(tests)):
        for file in sorted(f for f in files if f.endswith(".t")):
            name = os.path.relpath(os.path.join(where, file), tests)[:-2]
            if not run.wanted(name):
                continue
            since = time.monotonic()
            directory = run.fresh("pjdfstest")
            os.chmod(directory, 0o755)
            _, text = run.command(name, ["sh", os.path.join(where, file)], 600, directory)
            for line in text.splitlines():
                found = re.match(r"^(not )?ok (\d+)(?: - | ?)(.*)", line)
                # Directives of TAP: assertions that are expected to fail.
                if found and not re.search(r"# T[O]DO", line):
                    run.say(f"{name}:{found[2]}", not found[1], found[3], since)


def fsx(run, program):
    """Random reads, writes, truncations and mappings of one file, compared with a copy in memory."""
    variants = {
        "mixed": ["-S", "1"],
        "calls": ["-S", "2", "-R", "-W"],
        "sync": ["-S", "3", "-y"],
        "direct": ["-S", "4", "-Z", "-R", "-W", "-r", "4096", "-w", "4096", "-t", "4096"],
        "large": ["-S", "6", "-l", "8388608", "-o", "262144"],
        # Read as a whole after each call; mappings dropped after each store; asynchronous calls;
        # bytes behind the end of the file.
        "compared": ["-S", "7", "-X"],
        "flushed": ["-S", "8", "-f"],
        "aio": ["-S", "9", "-A"],
        "beyond": ["-S", "10", "-e", "1"],
    }
    share = {"mixed": 1.0, "calls": 0.2, "sync": 0.02, "direct": 0.02, "large": 0.02,
             "compared": 0.05, "flushed": 0.1, "aio": 0.1, "beyond": 0.2}
    for name, args in variants.items():
        if not run.wanted(name):
            continue
        since = time.monotonic()
        directory = run.fresh("fsx")
        ops = max(1000, int(run.ops * share[name]))
        status, text = run.command(name, [program, "-q", "-N", str(ops), *args, "-P", run.logs,
                                          os.path.join(directory, name)], 7200)
        run.say(name, status == 0, status if status else text[-200:].strip(), since)


def digest(path, kind):
    if not stat.S_ISREG(kind):
        return ""
    value = hashlib.sha1()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            value.update(block)
    return value.hexdigest()


def picture(top):
    """What a tree looks like, without what a guard shows otherwise on purpose."""
    seen = {}
    for where, folders, files in os.walk(top):
        for entry in folders + files:
            path = os.path.join(where, entry)
            s = os.lstat(path)
            plain = stat.S_ISREG(s.st_mode)
            try:
                content = digest(path, s.st_mode)
            except PermissionError:
                content = "closed"
            seen[os.path.relpath(path, top)] = (
                stat.S_IFMT(s.st_mode), stat.S_IMODE(s.st_mode), s.st_size if plain else 0,
                0 if stat.S_ISDIR(s.st_mode) else s.st_nlink, s.st_ino, content,
                os.readlink(path) if stat.S_ISLNK(s.st_mode) else "")
    return seen


def fsstress(run, program):
    """Eight processes do everything at once; afterwards the tree is what the backing is."""
    for name, processes in (("one", 1), ("eight", 8)):
        if not run.wanted(name):
            continue
        since = time.monotonic()
        directory = run.fresh("fsstress")
        # No devices: they are refused, and a native run that has them shows another tree.
        argv = [program, "-d", directory, "-p", str(processes), "-n", "1000000", "-s", "7",
                f"--duration={run.seconds * 4}", "-f", "mknod=0", "-S", "t"]
        status, text = run.command(name, argv, run.seconds * 4 + 600)
        run.say(name, status == 0, status if status else text[-200:].strip(), since)
        backing = os.environ.get("WARD_BACKING")
        same, why = True, ""
        if backing:
            inside, outside = picture(directory), picture(os.path.join(backing, "fsstress"))
            wrong = [p for p in sorted(set(inside) | set(outside))
                     if inside.get(p) != outside.get(p)]
            same = not wrong
            why = f"{len(inside)} files" if same else \
                f"{len(wrong)} differ: {wrong[0]}: {inside.get(wrong[0])} {outside.get(wrong[0])}"
        run.say(name + ":tree", same, why, since)
        since = time.monotonic()
        status, _ = run.command(name + ":rm", ["rm", "-rf", directory], 600)
        run.say(name + ":rm", status == 0, status, since)


def ltp_wanted(list_name, test):
    if LTP_OMIT.match(test):
        return False
    if list_name == "mm":
        return bool(LTP_MM.match(test))
    if list_name != "syscalls":
        return True
    return re.sub(r"_?\d+.*$", "", test) in LTP_SYSCALLS


def ltp(run, tree):
    """Passed: exit status 0; 32 is "does not apply here". Tests that format and mount a device of
    their own get a directory of ours mounted instead (support/ltpdevice.c)."""
    device, stage = os.path.join(run.dir, "device"), os.path.join(run.logs, "bin")
    kind = os.environ["WARD_FSTYPE"].lower()
    os.makedirs(stage, exist_ok=True)
    mkfs = os.path.join(stage, f"mkfs.{kind}")
    with open(mkfs, "w", encoding="utf-8") as f:
        f.write('#!/bin/sh\nrm -rf "$WARD_DEVICE" && exec mkdir "$WARD_DEVICE"\n')
    os.chmod(mkfs, 0o755)
    env = dict(os.environ, LTPROOT=tree, LTP_COLORIZE_OUTPUT="0", LTP_TIMEOUT_MUL="2",
               WARD_DEVICE=device, LTP_SINGLE_FS_TYPE=kind, LTP_DEV_FS_TYPE=kind,
               LD_PRELOAD=os.environ["WARD_LTPDEVICE"],
               PATH=f"{stage}:{tree}/testcases/bin:{os.environ['PATH']}")
    done = set()
    for list_name in LTP_LISTS:
        path = os.path.join(tree, "runtest", list_name)
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            lines = [line.split(None, 1) for line in f if line.strip() and line[0] != "#"]
        # Tests that would run for half a minute run as long as was asked for; so do those of
        # asynchronous I/O, which would run for half an hour each.
        long = 1800 if list_name.startswith("ltp-aiodio") else 30
        env["LTP_RUNTIME_MUL"] = f"{min(1.0, max(0.01, run.seconds / long)):.2f}"
        for number, line in enumerate(lines):
            if len(line) != 2 or not ltp_wanted(list_name, line[0]):
                continue
            name = f"{list_name}/{line[0]}"
            while name in done:  # a few names stand twice
                name += f"+{number}"
            done.add(name)
            if not run.wanted(name):
                continue
            # Tests that say how long they run: as long as was asked for.
            shell = re.sub(r"-L (\d+)", lambda m: f"-L {min(int(m[1]), run.seconds)}", line[1])
            shell = re.sub(r"-i (\d+)s", lambda m: f"-i {min(int(m[1]), run.seconds)}s", shell)
            since = time.monotonic()
            directory = run.fresh("ltp")
            run.fresh("device")
            status, _ = run.command(name, ["sh", "-c", shell], 600, directory,
                                    dict(env, TMPDIR=directory))
            run.say(name, status == 0, status, since)


# What a test of xfstests may ask of its file system that a directory alone cannot give: then it
# does not apply. The first is what prepares the machine for the suite.
XFSTESTS_RC = """
init_rc() { export XFS_IO_PROG="$XFS_IO_PROG -i"; }
_require_test() { :; }
_test_mount() { _notrun "a mount of its own"; }
_test_unmount() { _test_mount; }
_test_cycle_mount() { _test_mount; }
"""


def xfstests(run, tree):
    """Its generic tests, each in a directory of its own. Passed: it prints what it should. What
    needs a device, a mount or a user of its own does not apply, which counts as failed."""
    stage = os.path.join(run.logs, "tree")
    os.makedirs(stage, exist_ok=True)
    for name in os.listdir(tree):
        if name != "common" and name[0] != ".":
            os.symlink(os.path.join(tree, name), os.path.join(stage, name))
    shutil.copytree(os.path.join(tree, "common"), os.path.join(stage, "common"))
    with open(os.path.join(stage, "common/rc"), "a", encoding="utf-8") as f:
        f.write(XFSTESTS_RC)
    home = os.path.join(tree, "tests/generic")
    for name in sorted(n for n in os.listdir(home) if re.fullmatch(r"\d+", n)):
        with open(os.path.join(home, name), encoding="utf-8") as f:
            text = f.read()
        # The last ones fill the file system.
        if re.search(r"_scratch|_require_dm_|_log_writes|_require_loop|_begin_fstest.*enospc",
                     text) or \
                not os.path.exists(os.path.join(home, name + ".out")) or not run.wanted(name):
            continue
        since = time.monotonic()
        results = run.fresh("results")
        directory = run.fresh("xfstests")
        env = dict(os.environ, CONFIG_INCLUDED="true", FSTYP="fuse", TEST_DEV="none",
                   TEST_DIR=directory, RESULT_DIR=results, RESULT_BASE=results, TMPDIR=results,
                   LOAD_FACTOR="1", TIME_FACTOR="1", SOAK_DURATION=str(run.seconds))
        status, text = run.command(name, ["bash", "tests/generic/" + name], 300, stage, env)
        with open(os.path.join(home, name + ".out"), encoding="utf-8", errors="replace") as f:
            good = f.read() == text
        if not good and status == 0:
            status = "does not apply" if os.path.exists(os.path.join(results, name + ".notrun")) \
                else "prints something else"
        run.say(name, good, status, since)


def stressng(run, program):
    """Each of the class, four workers, with verification. Passed: exit status 0."""
    text = subprocess.run([program, "--class", "filesystem?"], capture_output=True, text=True,
                          check=False)
    names = (text.stdout + text.stderr).split("stressors:", 1)[1].split()
    for name in sorted(set(names) - STRESS_OMIT):
        if not run.wanted(name):
            continue
        since = time.monotonic()
        directory = run.fresh("stress-ng")
        argv = [program, f"--{name}", "4", "-t", str(run.seconds), "--verify", "--temp-path",
                directory, "--no-rand-seed"]
        status, _ = run.command(name, argv, run.seconds * 10 + 300, directory)
        run.say(name, status == 0, status, since)


SUITES = {"pjdfstest": pjdfstest, "fsx": fsx, "fsstress": fsstress, "ltp": ltp,
          "stress-ng": stressng, "xfstests": xfstests}


def stop(_number, _frame):
    reap()
    os._exit(1)


def main():
    suite, directory, logs, seconds, ops, tree = sys.argv[1:7]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, stop)
    os.umask(0o022)
    # Of a session: its daemon serves.
    with open(os.path.join(logs, "started"), "w", encoding="utf-8"):
        pass
    SUITES[suite](Run(os.path.abspath(directory), logs, int(seconds), int(ops), sys.argv[7:]), tree)
    return 0


if __name__ == "__main__":
    sys.exit(main())
