# SPDX-License-Identifier: Apache-2.0
# Part of ../exec-links.sh: starts /usr/bin/env by paths that lead through /proc to what this
# process has. The second argument names the way: SAID=way.
import os

PROGRAM = "/usr/bin/env"


def start(way, path, directory=None):
    child = os.fork()
    if child == 0:
        if directory is not None:
            os.chdir(directory)
        os.execv(path, ["env", "SAID=" + way, "/usr/bin/true"])
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(way, "ran" if status == 0 else status, flush=True)


handle = os.open(PROGRAM, os.O_PATH)
above = os.open("/usr", os.O_PATH)
os.makedirs("/tmp/own", exist_ok=True)
os.symlink("/proc/self/fd/%d" % handle, "/tmp/own/link")
start("plain", PROGRAM)
start("handle", "/proc/self/fd/%d" % handle)
start("thread", "/proc/thread-self/fd/%d" % handle)
start("number", "/proc/%d/fd/%d" % (os.getpid(), handle))
start("dev", "/dev/fd/%d" % handle)
start("directory", "/proc/self/fd/%d/bin/env" % above)
start("root", "/proc/self/root" + PROGRAM)
start("cwd", "/proc/self/cwd/env", "/usr/bin")
start("link", "/tmp/own/link")
start("relative", "self/root" + PROGRAM, "/proc")
start("exe", "/proc/self/exe") if os.path.samefile("/proc/self/exe", PROGRAM) else None
