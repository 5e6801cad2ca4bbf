# SPDX-License-Identifier: Apache-2.0
# Part of ../stalled.sh.
import glob, os, pty, subprocess, sys, time

WARDFS, LIMIT = os.environ["WARDFS"], 200
PYTHON = b"/usr/bin/python3"
# Works in the background, starting nothing, and fills what its output goes to.
COMMAND = ["/usr/bin/python3", "-c", """import os, time
if os.fork() == 0:
    os.setsid()
    for i in range(8000):
        with open("/workspace/log", "a") as f:
            f.write("on\\n")
        time.sleep(0.05)
    os._exit(0)
while True:
    os.write(1, b"y\\n" * 4096)
"""]


class Session:
    """One, in a project of its own; kind terminal or pipe, which is read as it fills or not at all."""

    def __init__(self, kind, policy, read_too):
        self.what = f"{kind}, {policy}, read: {read_too}"
        self.read_too, self.seen = read_too, False
        self.dir = f"{kind}-{policy}-{read_too}"
        # An argument that only its own processes have.
        self.mark = f"{os.getpid()}-{self.dir}".encode()
        run = [WARDFS, "run", "--policy", f"../{policy}", "--", *COMMAND, self.mark]
        os.mkdir(self.dir)
        self.child = None
        if kind == "terminal":
            self.pid, self.fd = pty.fork()
            if self.pid == 0:
                os.chdir(self.dir)
                os.execvp(run[0], run)
        else:
            self.fd, w = os.pipe()
            self.child = subprocess.Popen(run, cwd=self.dir, stdin=subprocess.DEVNULL, stdout=w, stderr=subprocess.DEVNULL)
            os.close(w)
        os.set_blocking(self.fd, False)

    def read(self):
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass

    def worked(self):
        self.working()
        try:
            with open(f"{self.dir}/log", encoding="ascii") as f:
                return len(f.readlines()) >= 3
        except FileNotFoundError:
            return False

    def working(self):
        """Whether anything that it started is there: nothing of the supervisor's own is waited for."""
        found = False
        for name in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(name, "rb") as f:
                    words = f.read().split(b"\0")
            except OSError:
                continue
            found = found or (words[0] == PYTHON and self.mark in words)
        self.seen = self.seen or found
        return found

    def over(self):
        """The supervisor's end. What it says last to a terminal it may say to somebody."""
        if self.child:
            return self.child.poll() is not None
        self.read()
        return os.waitpid(self.pid, os.WNOHANG)[0] != 0


def each(sessions, happens, otherwise):
    """Waits until it has happened to each of them."""
    end, left = time.monotonic() + LIMIT, list(sessions)
    while left:
        for s in sessions:
            if s.read_too:
                s.read()
        left = [s for s in left if not happens(s)]
        if left and time.monotonic() > end:
            sys.exit(f"FAIL: {[s.what for s in left]}: {otherwise}")
        time.sleep(0.1)


all_of_them = [Session(kind, policy, read_too) for kind in ("terminal", "pipe")
               for policy in ("wall.policy", "idle.policy") for read_too in (True, False)]
each(all_of_them, lambda s: s.worked(), "nothing worked")
each(all_of_them, lambda s: not s.working(), "the clock did not end it")
each(all_of_them, lambda s: s.over(), "the supervisor does not end")
for one in all_of_them:
    if not one.seen:
        sys.exit(f"FAIL: {one.what}: control: what worked was not seen")
    if one.child and one.child.returncode != 124:
        sys.exit(f"FAIL: {one.what}: exit {one.child.returncode}")
