#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The panel at a terminal: what it shows, which keys it takes, and what it leaves behind."""
import json
import os
import re
import signal
import subprocess
import time

from user_terminal import WARDFS, Terminal, fail, until

KEY = "\x1d"
OPEN = r"\x1b\[\?1049h\x1b\[=0u(?:.|\n)*?wardfs asks you"
DRAWN = r"\x1b\[J"
TITLE = r"\x1b\]2;wardfs: a question waits: Ctrl-\] shows it"
MODES = (1002, 1006, 2004)
ENTER = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?1002;1006h\x1b[?2004h\x1b[>31u"
# What counts: longer than the moment in which no key does.
READ = 0.8
count = 0
took = {}



def do(what, text="", wait=True):
    global count
    with open("part", "wb") as f:
        f.write(what.encode() + b" " + text.encode())
    os.rename("part", f"do-{count}")
    name = f"done-{count}"
    count += 1
    if wait:
        until(f"the program does {what} {text!r}", lambda: os.path.exists(name))


def got():
    with open("got", "rb") as f:
        return f.read()


def questions(session):
    out = subprocess.run([WARDFS, "approve", "--json", "--session", session], check=False,
                         capture_output=True).stdout
    return [q for q in json.loads(out or b"[]")]


def asked(session, n):
    until(f"{n} questions in {session}", lambda: len(questions(session)) == n)
    return questions(session)


def answers(session):
    out = subprocess.run([WARDFS, "audit", "show", "--json", "--kind", "answer", session],
                         check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def result(name):
    until(f"the open of {name} ends", lambda: os.path.exists("result-" + name))
    with open("result-" + name, encoding="ascii") as f:
        return f.read()


def begin(session, terminal, policy, options=""):
    global count
    for name in os.listdir("."):
        if name.startswith(("do-", "done-", "result-")) or name in ("up", "got"):
            os.unlink(name)
    count = 0
    rules = f"--policy ../{policy}.policy" if policy else ""
    terminal.send(f"export TERM=xterm; {WARDFS} run {options} --session {session} "
                  f"{rules} -- python3 program.py\n")
    until("the program is up", lambda: os.path.exists("up"))


def nothing(terminal, session, n, why):
    """Time in which an answer would have acted; then the questions are as many as before."""
    time.sleep(READ)
    if len(questions(session)) != n:
        fail(f"{why}: answered: {answers(session)}")


def has(data, *what):
    for text in what:
        if text.encode() not in data:
            fail(f"{text!r} is missing in {data[-3000:]!r}")


def hasnt(data, *what):
    for text in what:
        if text.encode() in data:
            fail(f"{text!r} is in {data[-3000:]!r}")


one = Terminal(30, 100)
two = Terminal(30, 100)

# Control: where the policy asks nothing, the key is the command's.
begin("quiet", one, "quiet")
one.send(KEY)
until("the command has the key", lambda: got() == b"\x1d")
do("q", wait=False)
one.wait(r"READY> $")

# A program that has the whole screen, with what it can ask of keyboard, mouse and paste.
begin("full", one, "ask", "--keep --status-fd 9 9>../events")
do("w", ENTER + "\x1b[3;3HBEFORE")
one.wait("BEFORE")
# It types into its own terminal: nothing opens, and the key never reached ours.
do("t", KEY + "o\r")
do("w", "\x1b[4;3HTYPED")
hasnt(one.wait(r"(?s)\A(.*)TYPED").group(1), "wardfs asks you")

start = time.monotonic()
do("o", "one", wait=False)
one.wait(TITLE)
took["question to bell"] = time.monotonic() - start
asked("full", 1)
before = got()
# Typed ahead, in one piece with the key, and answers of the terminal among them.
REPORTS = ("\x1b[7;9R", "\x1b[?62;22c", "\x1b]11;rgb:oooo/yyyy/\x1b\\", "\x1bP1$r0mo\x1b\\")
start = time.monotonic()
one.send(KEY + "o\r" + REPORTS[0] + "y\r" + "".join(REPORTS[1:]) + "y\r")
m = one.wait(rf"(?s)\A(.*){OPEN}")
took["key to panel"] = time.monotonic() - start
for mode in MODES:
    has(m.group(1), f"\x1b[?{mode}l")
has(m.group(1), "\x1b[<1u", "\x1b[?1049l")
shown = one.wait(rf"(?s)\A(.*?){DRAWN}").group(1)
has(shown, "open        /workspace/.github/one", "wants       ", "program     python3 (", "started by  python3",
    "command     python3 program.py", "rule        ask = .github (", "\x1b[7m> n  no",
    "would give  nothing", "it waits for another")
until("what the terminal answered reaches the command", lambda: got() == before + "".join(REPORTS).encode())
nothing(one, "full", 1, "typed ahead")

# What is no key: an answer, a paste, the mouse, a title that holds keys, a lone sequence.
one.send("\x1b[200~o\r\x1b[201~" + "\x1b[<0;3;3M" + "\x1b[M !!" + "\x1b]lo\ry\r\x1b\\" + "\x1bOP" + "\x1b[12;3R")
nothing(one, "full", 1, "no keys")
until("they are the command's", lambda: got().endswith(b"\x1b]lo\ry\r\x1b\\\x1b[12;3R"))
# Meanwhile the command draws a panel of its own and asks the terminal: neither is shown, and the
# question of the terminal has an answer.
before = got()
do("w", "\x1b[2J\x1b[HFAKE: press y\x1b[9;9H\x1b[6n\x1b[5;5HAFTER")
until("the emulator answers", lambda: got() == before + b"\x1b[9;9R")
hasnt(one.wait(r"(?s)\A(.*it waits for another)").group(1), "FAKE", "AFTER", "\x1b[6n")

# A flood: the question that is shown stays, whatever else waits.
do("m", "30")
asked("full", 31)
m = one.wait(r"(?s)\A(.*31 questions open)")
hasnt(m.group(1), "flood")
has(one.wait(rf"(?s)\A(.*?){DRAWN}").group(1), "/workspace/.github/one")
# A window in which it cannot be read takes no answer.
one.size(8, 100)
one.wait("The window is too small")
one.send("o\r")
nothing(one, "full", 31, "too small a window")
one.size(30, 100)
one.wait(rf"/workspace/\.github/one(?:.|\n)*?{DRAWN}")
one.send("o\r")
nothing(one, "full", 31, "a key before it can be read")
# What a pattern would widen is counted.
time.sleep(READ)
one.send("p")
one.wait(r"today       [0-9]+ files? there now, [0-9]+ gains? \S+: /workspace/\.github/")
one.wait(r"of all names, also\s+new ones, [0-9]+ class(es)?\s+gains?")
one.send("o")
has(one.wait(rf"(?s)would give  (.*?){DRAWN}").group(1), "/workspace/.github/one, one use, by process")
start = time.monotonic()
one.send("\r")
if result("one") != "ok":
    fail(f"the answer does not act: {result('one')}")
took["answer to open"] = time.monotonic() - start
last = answers("full")[-1]
if (last["result"], last["how"], last["scope"]) != ("granted", "terminal", "once") or \
        not last.get("terminal", "").startswith("pts/"):
    fail(f"the record: {last}")
# The next one, with a moment for itself: what was typed for the other one is not for it.
one.wait(r"answered    \w+: granted")
one.wait(r"mkdir       /workspace/\.github/flood0")
one.send("q")
nothing(one, "full", 30, "a key for the question before")
one.send("q")
restored = one.wait(r"(?s)\A(.*\x1b\[\?1049l.*AFTER.*?\x1b\[>31u)").group(1)
has(restored, "FAKE: press y", *(f"\x1b[?{mode}h" for mode in MODES))
do("w", "\x1b[6;6HON\x1b[31mWARD")
one.wait("ON\\x1b\\[31mWARD")

# kitty's form of the key. The default is no. One that ended elsewhere is not replaced by another.
one.send("\x1b[93;5u")
one.wait(OPEN)
one.wait(DRAWN)
time.sleep(READ)
first = answers("full")
one.send("\r")
until("refused", lambda: len(answers("full")) == len(first) + 1)
if answers("full")[-1]["result"] != "refused":
    fail(f"the default: {answers('full')[-1]}")
one.wait(r"mkdir       /workspace/\.github/flood1\b")
name = questions("full")[0]["question"]
subprocess.run([WARDFS, "approve", name, "no"], check=True, capture_output=True)
one.wait("This question has ended")
time.sleep(READ)
n = len(answers("full"))
one.send("y\ry\r")
nothing(one, "full", 28, "keys for a question that has ended")
if len(answers("full")) != n:
    fail(f"answered: {answers('full')[n:]}")
# In the panel a key gives the command Ctrl-]; twice Ctrl-] leaves.
before = got()
one.send("]")
until("the command has the key", lambda: got() == before + b"\x1d")
one.wait(r"\x1b\[>31u")
one.send(KEY + KEY)
one.wait("wardfs: detached")
one.wait(r"READY> $")

# wardfs attach: it rings there, the panel is there, and the session is drawn again.
two.send(f"{WARDFS} attach full\n")
two.wait(r"FAKE(?:.|\n)*\x1b\[>31u")
two.wait(TITLE)
two.send(KEY)
two.wait(OPEN)
two.wait(DRAWN)
do("w", "\x1b[8;8HCOVERED\x1b[9;9H\x1b[5n")
until("the emulator answers", lambda: got().endswith(b"\x1b[0n"))
time.sleep(READ)
n = len(answers("full"))
two.send("n\r")
until("answered", lambda: len(answers("full")) == n + 1)
two.wait(r"answered    \w+: refused")
time.sleep(READ)
two.send("q")
m = two.wait(r"(?s)\A(.*COVERED.*?\x1b\[>31u)")
hasnt(m.group(1), "\x1b[5n")
two.send(KEY + KEY)
undone = two.wait(r"(?s)\A(.*)wardfs: detached").group(1)
has(undone, "\x1b[?1049l")
two.wait(r"READY> $")

# In another terminal, of all sessions.
two.send(f"{WARDFS} top\n")
two.wait(r"questions \d+ \(a: answer\)(?:.|\n)*a: answer questions   q: quit")
two.send("x")
two.send("a")
two.wait(OPEN)
two.wait(r"flood\d+")
time.sleep(READ)
n = len(answers("full"))
two.send("f\r")
until("answered", lambda: len(answers("full")) == n + 1)
if answers("full")[-1]["scope"] != "for" or answers("full")[-1]["how"] != "approve":
    fail(f"the record: {answers('full')[-1]}")
two.wait(r"answered    \w+: granted")
time.sleep(READ)
two.send("q")
two.wait(r"a: answer questions   q: quit")
two.send("q")
two.wait(r"READY> $")
two.send("stty -a\n")
two.wait(r"[^-]icanon(?:.|\n)*[^-]echo ")
two.wait(r"READY> $")


def supervisor(session):
    state = subprocess.run([WARDFS, "ps", "--json", session], check=True, capture_output=True, text=True).stdout
    return int(re.search(r'"pid": ?(\d+)', state).group(1))


# A session that does not answer is named by number, and holds up neither the others nor the keys.
begin("other", one, "ask")
stopped = supervisor("full")
os.kill(stopped, signal.SIGSTOP)
start = time.monotonic()
try:
    do("o", "three", wait=False)
    two.send(f"{WARDFS} approve --panel --session other\n")
    hasnt(two.wait(rf"(?s){OPEN}(.*?){DRAWN}").group(0), "not answer")
    asked("other", 1)
    time.sleep(READ)
    two.send("q")
    two.wait(r"READY> $")
    start = time.monotonic()
    two.send(f"{WARDFS} approve --panel\n")
    has(two.wait(rf"(?s)\A(.*1 session does not answer.*?){DRAWN}").group(1), "/workspace/.github/three")
    took["panel beside a stopped session"] = time.monotonic() - start
    time.sleep(READ)
    two.send("n\r")
    two.wait(r"answered    \w+: refused")
    two.wait("This question has ended")
    time.sleep(READ)
    two.send(" ")
    two.wait(r"1 session does not answer(?:.|\n)*?No other session has a question")
    time.sleep(READ)
    two.send("q")
    two.wait(r"READY> $")
finally:
    os.kill(stopped, signal.SIGCONT)
if took["panel beside a stopped session"] > 4:
    fail(f"the panel waits for a stopped session: {took}")
if result("three") != "13":
    fail(f"refused at the panel: {result('three')}")
do("q", wait=False)
one.wait(r"READY> $")
two.send(f"{WARDFS} approve --panel\n")
hasnt(two.wait(rf"(?s){OPEN}(.*?){DRAWN}").group(0), "not answer")
two.wait(r"flood\d+")
time.sleep(READ)
two.send("q")
two.wait(r"READY> $")
subprocess.run([WARDFS, "kill", "full"], check=True)
with open("../events", encoding="ascii") as f:
    events = [json.loads(line) for line in f]
names = [e["event"] for e in events]
if names.count("question") != 31 or names.count("answer") != 31 or names[-1] != "ended":
    fail(f"--status-fd: {names}")
one_of = next(e for e in events if e["event"] == "question")
if one_of["path"] != "/workspace/.github/one" or len(one_of["digest"]) != 64 or not one_of["waits"]:
    fail(f"the question: {one_of}")
one_of = next(e for e in events if e["event"] == "answer")
if (one_of["result"], one_of["scope"], one_of["how"]) != ("granted", "once", "terminal"):
    fail(f"the answer: {one_of}")

# Where approvers have to sign, no key gives anything. The control is a policy without them, above.
begin("signed", one, "signed")
do("o", "three", wait=False)
one.wait(TITLE)
one.send(KEY)
one.wait(OPEN)
shown = one.wait(rf"(?s)\A(.*?){DRAWN}").group(1)
has(shown, "signatures  needs 1 signed answer, has 0: wardfs approve sign", "would give  nothing")
hasnt(shown, "until the session ends", "once")
time.sleep(READ)
for letter in "oypfae":
    one.send(letter)
    has(one.wait(rf"(?s)\A(.*?signatures.*?){DRAWN}").group(1), "refused     The panel cannot sign", "> n  no")
# Ctrl-Z stops nothing: the panel goes on, and its default is no.
one.send("\x1a")
nothing(one, "signed", 1, "Ctrl-Z")
one.send("\r")
if result("three") != "13" or answers("signed")[-1]["result"] != "refused":
    fail(f"signatures: {result('three')} {answers('signed')[-1]}")
one.wait(r"answered    \w+: refused")
do("q", wait=False)
one.wait(r"READY> $")

# Always: a line in the owner's file for the project, which this session follows.
begin("always", one, None)
do("o", "link", wait=False)
one.wait(TITLE)
one.send(KEY)
one.wait(OPEN)
one.wait(DRAWN)
time.sleep(READ)
# What the panel starts has neither its socket nor the signals that it blocks.
one.send("a")
one.wait("today ")
# It asks all sessions: one that is stopped keeps it for a while.
slow = subprocess.Popen([WARDFS, "run", "--session", "slow", "--policy", "../ask.policy", "--", "sleep", "500"])
until("the other session is up", lambda: subprocess.run(
    [WARDFS, "exec", "slow", "--", "true"], check=False, capture_output=True).returncode == 0)
os.kill(slow.pid, signal.SIGSTOP)
above = supervisor("always")


def started(parent):
    rows = subprocess.run(["ps", "-eo", "pid,ppid,args"], check=True, capture_output=True, text=True).stdout
    return [int(row.split()[0]) for row in rows.splitlines()[1:]
            if row.split()[1:2] == [str(parent)] and (parent == above) == ("--panel" in row)
            and "approve" in row]


try:
    panel = started(above)[0]
    if not os.readlink(f"/proc/{panel}/fd/3").startswith("socket:"):
        fail("control: the panel has its socket at 3")
    channel = os.readlink(f"/proc/{panel}/fd/3")
    one.send("\r")
    until("the child runs", lambda: started(panel))
    child = started(panel)[0]
    held = [os.readlink(f"/proc/{child}/fd/{fd}") for fd in os.listdir(f"/proc/{child}/fd")]
    with open(f"/proc/{child}/status", encoding="ascii") as f:
        blocked = int(re.search(r"SigBlk:\s*(\w+)", f.read()).group(1), 16)
    if channel in held or blocked:
        fail(f"the child of the panel has {held}, and blocks {blocked:x}")
finally:
    os.kill(slow.pid, signal.SIGCONT)
linked = result("link")
# The grant is in force before the answer is recorded.
until("the answer is recorded", lambda: answers("always"))
if linked != "ok" or answers("always")[-1]["result"] != "granted":
    fail(f"always: {linked} {answers('always')}")
rules = subprocess.run([WARDFS, "policy", "show"], check=True, capture_output=True, text=True).stdout
if "write = /workspace/conf/x\n" not in rules:
    fail(f"always: {rules}")
subprocess.run([WARDFS, "kill", "slow"], check=True)
slow.wait()
one.wait(r"answered ")
do("q", wait=False)
one.wait(r"READY> $")

# What has the picture of the screen is dead: the panel is there all the same, and the command is
# told to draw itself again.
begin("blind", one, "ask", "--keep")
state = subprocess.run([WARDFS, "ps", "--json", "blind"], check=True, capture_output=True, text=True).stdout
pid = int(re.search(r'"pid": ?(\d+)', state).group(1))
out = subprocess.run(["ps", "-eo", "pid,ppid,comm"], check=True, capture_output=True, text=True).stdout
screens = [int(row.split()[0]) for row in out.splitlines()[1:]
           if row.split()[1:3] == [str(pid), "wardfs-screen"]]
if len(screens) != 1:
    fail(f"wardfs-screen: {screens} of {pid}")
os.kill(screens[0], signal.SIGKILL)
until("its death is noticed", lambda: not os.path.exists(f"/proc/{screens[0]}"))
do("o", "four", wait=False)
one.wait(TITLE)
one.send(KEY)
one.wait(OPEN)
has(one.wait(rf"(?s)\A(.*?){DRAWN}").group(1), "/workspace/.github/four")
time.sleep(READ)
one.send("o\r")
if result("four") != "ok":
    fail(f"without a picture: {result('four')}")
one.wait(r"\x1b\[\?1049l")
do("w", "SEEN AGAIN")
one.wait("SEEN AGAIN")
subprocess.run([WARDFS, "kill", "blind"], check=True)
one.wait(r"READY> $")

# The command ends while the panel is open: the terminal is the shell's again.
begin("plain", one, "ask")
do("o", "two", wait=False)
one.wait(TITLE)
one.send(KEY)
one.wait(OPEN)
do("q", wait=False)
m = one.wait(r"(?s)\A(.*)READY> $")
has(m.group(1), "\x1b[?1049l", "\x1b[?25h")
one.send("stty -a\n")
one.wait(r"[^-]icanon")
for t in (one, two):
    t.send("exit\n")
    os.waitpid(t.pid, 0)
print("ok: " + ", ".join(f"{what} {s * 1000:.0f} ms" for what, s in took.items()))
