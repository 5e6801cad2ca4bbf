# SPDX-License-Identifier: Apache-2.0
"""Part of ../stopped-often.sh: HOW END: a session is to end although its command stops all the time.

HOW: plain, unread (a status descriptor that nobody reads) or terminal. END: kill, term or wall.
"""
import fcntl
import os
import pty
import signal
import subprocess
import sys
import threading
import time

WARDFS = os.environ["WARDFS"]
LIMIT = 120
how, end = sys.argv[1:]
session = f"{how}-{end}"
policy = "../wall.policy" if end == "wall" else "../long.policy"
command = [WARDFS, "run", "--policy", policy, "--session", session]
read, write = os.pipe()
if how == "unread":
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.set_inheritable(write, True)
    command += ["--status-fd", str(write)]
command += ["--", "/usr/bin/python3", "work.py"]


def drain(fd):
    try:
        while os.read(fd, 4096):
            pass
    except OSError:
        pass


if os.path.exists("begun"):
    os.unlink("begun")
if how == "terminal":
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(WARDFS, command)
    threading.Thread(target=drain, args=(fd,), daemon=True).start()
else:
    pid = subprocess.Popen(command, start_new_session=True, close_fds=False,
                           stderr=subprocess.DEVNULL).pid


def until(what, happened):
    stop = time.monotonic() + LIMIT
    while not happened():
        if time.monotonic() > stop:
            os.kill(pid, signal.SIGKILL)
            sys.exit(f"FAIL: {session}: {what}")
        time.sleep(0.05)


until("it does not begin", lambda: os.path.exists("begun"))
# Events wait for the supervisor by now.
time.sleep(1)
if end == "kill":
    subprocess.run([WARDFS, "kill", session], check=False, capture_output=True)
elif end == "term":
    os.kill(pid, signal.SIGTERM)
    os.kill(pid, signal.SIGCONT)
status = []


def over():
    done, code = os.waitpid(pid, os.WNOHANG)
    status.append(code)
    return done == pid


until("it does not end", over)
got = os.waitstatus_to_exitcode(status[-1])
want = 124 if end == "wall" else 143
if got != want:
    sys.exit(f"FAIL: {session}: exit {got} instead of {want}")
