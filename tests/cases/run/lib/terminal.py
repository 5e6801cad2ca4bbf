#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A terminal session under `wardfs run`: window size, Ctrl-C, Ctrl-Z and fg, end of input.

Plays the user: see user_terminal.py.
"""
import os
import sys

from user_terminal import WARDFS, Terminal

# A job that says when it is in the foreground, and when it goes on after a stop; then it reads a
# line. SIGCONT is blocked and waited for: a handler's news could get lost between its look and its
# read(). It starts nothing: Ctrl-Z would stop the child of a vfork() before its exec, and its
# parent not at all.
with open("job.py", "w", encoding="ascii") as script:
    script.write("""import signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCONT])
print("up", flush=True)
signal.sigwait([signal.SIGCONT])
print("on", flush=True)
print("got", input(), flush=True)
""")

t = Terminal(33, 101)
run = f"{WARDFS} run -- "

t.send(run + "stty size\n")
t.wait(r"^33 101\r")
t.wait(r"READY> $")

# The window changes while the command runs.
t.send(run + "sh -c 'trap \"stty size\" WINCH; echo go; while :; do sleep 0.1; done'\n")
t.wait(r"^go\r")
t.size(44, 77)
t.wait(r"^44 77\r")
# Ctrl-C reaches the command, and its status comes back.
t.send("\x03")
t.wait(r"READY> $")
t.send("echo status $?\n")
t.wait(r"^status 130\r")
t.wait(r"READY> $")

# Ctrl-Z stops the whole job, fg goes on with it; the terminal is the shell's in between.
t.send(run + "python3 job.py\n")
t.wait(r"^up\r")
t.send("\x1a")
t.wait(r"Stopped")
t.wait(r"READY> $")
t.send("stty -a | tr ' ' '\\n' | grep -x icanon\n")
t.wait(r"^icanon\r")
t.wait(r"READY> $")
t.send("fg\n")
t.wait(r"on\r")
t.send("hello\n")
t.wait(r"got hello")
t.wait(r"READY> $")

# Stopped, on in the background, and in the foreground again.
t.send(run + "python3 job.py\n")
t.wait(r"^up\r")
t.send("\x1a")
t.wait(r"READY> $")
t.send("bg\n")
t.wait(r"on\r")
t.send("\n")
t.wait(r"READY> $")
t.send("jobs; echo\n")
t.wait(r"Running")
t.wait(r"READY> $")
t.send("fg\n")
t.send("again\n")
t.wait(r"got again")
t.wait(r"READY> $")

# Started in the background: nothing tells that it came to the front, and it takes keys all the
# same, each as it is typed.
t.send(run + "sh -c 'echo u''p; read -r line; echo got $line; stty -icanon; echo k''eys; dd bs=1 count=1 2>/dev/null' &\n")
t.wait(r"up\r")
t.send("\n")
t.wait(r"READY> $")
t.send("fg\n")
t.wait(r"wardfs")
t.send("line\n")
t.wait(r"got line")
t.wait(r"keys")
t.send("k")
t.wait(r"k")
t.wait(r"READY> $")
t.send("stty -a | tr ' ' '\\n' | grep -x icanon\n")
t.wait(r"^icanon\r")
t.wait(r"READY> $")

# A shell inside has job control of its own.
t.send(run + "bash --norc --noprofile -i\n")
t.wait(r"bash-[0-9.]+[$#] $")
t.send("python3 job.py\n")
t.wait(r"up\r")
t.send("\x1a")
t.wait(r"Stopped")
t.wait(r"bash-[0-9.]+[$#] $")
t.send("fg\n")
t.wait(r"on\r")
t.send("\x03")
t.wait(r"bash-[0-9.]+[$#] $")
t.send("exit 7\n")
t.wait(r"READY> $")
t.send("echo status $?\n")
t.wait(r"^status 7\r")
t.wait(r"READY> $")

# In a pipeline the output is the pipe's, and the end of input arrives.
t.send(f"echo piped | {WARDFS} run -- cat | tr a-z A-Z\n")
t.wait(r"^PIPED\r")
t.wait(r"READY> $")
t.send(run + "sh -c 'echo in; exec cat'\n")
t.wait(r"in\r")
t.send("typed\n")
t.wait(r"typed\r\n.*typed\r")
t.send("\x04")
t.wait(r"READY> $")

# A full-screen program: it draws, takes keys, and writes its file.
t.send(run + "vim -u NONE -N note.txt\n")
# Drawn, not what was typed: it says so of a new file.
t.wait(r'"note\.txt" \[New')
t.send("ihello from vim\x1b:wq\r")
t.wait(r"READY> $")
with open("note.txt", encoding="ascii") as f:
    if f.read() != "hello from vim\n":
        sys.exit("FAIL: vim did not save")

# A pager: it takes the window's size, keys, and gives the terminal back.
with open("lines.txt", "w", encoding="ascii") as f:
    f.writelines(f"line {n}\n" for n in range(1, 501))
t.send(run + "less lines.txt\n")
t.wait(r"line 43\D")
t.send("G")
t.wait(r"line 500\D")
t.send("q")
t.wait(r"READY> $")
t.send("stty -a | tr ' ' '\\n' | grep -x icanon\n")
t.wait(r"^icanon\r")
t.wait(r"READY> $")
t.send("exit\n")
os.waitpid(t.pid, 0)
