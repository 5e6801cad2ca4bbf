#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wardfs attach: what is drawn, what is undone, who answers. No terminal here answers by itself."""
import os
import re
import signal
import subprocess

from user_terminal import WARDFS, Terminal, fail, until

AWAY = "\x1d\x1d"
ENTER = ("\x1b[?1049h\x1b[2J\x1b[H\x1b[?1000h\x1b[?1002;1006h\x1b[?2004h\x1b[?1h\x1b[?1004h\x1b=\x1b[?25l"
         "\x1b]2;THE TITLE\x07")
MODES = (1, 1000, 1002, 1004, 1006, 2004)
count = 0



def do(text):
    """The program writes this to its terminal."""
    global count
    data = text if isinstance(text, bytes) else text.encode()
    with open("part", "wb") as f:
        f.write(data)
    os.rename("part", f"do-{count}")
    until(f"the program writes {data[:40]!r}", lambda: os.path.exists(f"done-{count}"))
    count += 1


def got():
    with open("got", "rb") as f:
        return f.read()


def typed(data):
    until(f"the program reads {data!r}; it has {got()!r}", lambda: data in got())


def begin(session, terminal, options=""):
    global count
    for name in os.listdir("."):
        if name.startswith(("do-", "done-")) or name in ("up", "got"):
            os.unlink(name)
    count = 0
    terminal.send(f"{WARDFS} run {options} --session {session} -- python3 program.py\n")
    until("the program is up", lambda: os.path.exists("up"))


def join(terminal, session, options=""):
    """Up to a mark that the program writes next: the drawing, as it came."""
    terminal.send(f"{WARDFS} attach {options} {session}\n")
    # The drawing begins with this, and ends by putting the cursor where it is.
    terminal.wait(r"\x1b\[22;0t")
    before = b""
    mark = f"mark{count}"
    until("somebody is attached", lambda: attached(session))
    do(f"\x1b]2;{mark}\x07")
    m = terminal.wait(rf"(?s)\A(.*)\x1b\]2;{mark}(?:\x07|\x1b\\)")
    return before + m.group(1)


def attached(session):
    out = subprocess.run([WARDFS, "audit", "show", "--json", "--kind", "exec", session], check=True,
                         capture_output=True, text=True).stdout
    return out.count(": joined") > out.count(": left")


def leave(terminal):
    """What the terminal is given on leaving."""
    terminal.send(AWAY)
    m = terminal.wait(r"(?s)\A(.*)wardfs: detached")
    terminal.wait(r"READY> $")
    return m.group(1)


def has(data, what):
    if what not in data:
        fail(f"{what!r} is missing in {data[-2000:]!r}")


def hasnt(data, what):
    if what in data:
        fail(f"{what!r} is in {data[-2000:]!r}")


one = Terminal(20, 60)
two = Terminal(20, 60)

# A program that has the whole screen, with everything that a terminal can be asked to be.
begin("full", one, "--keep")
do("first screen\r\n")
do(ENTER)
do("\x1b[3;5H\x1b[1;38;2;10;20;30;48;5;99mtrue\x1b[m\x1b[4;1H\x1b[3;4;9;32mmany\x1b[m "
   "\u4e2d\u6587 e\u0301 \x1b[7mback\x1b[27m \x1b[91mlight\x1b[m")
# Its questions, in all forms, while its first terminal is there: that one sees them.
ASKS = "\x1b[c\x1b[6n\x1b[>c\x1b]11;?\x07\x1b[?2004$p\x1bP$qm\x1b\\\x1b[18t\x1b[>q\x1b[?u"
do(ASKS)
one.wait(re.escape("\x1b[?u"))
do("\x1b[7;9H")
if got():
    fail(f"the emulator answered, and a terminal is there: {got()!r}")
# It leaves: its terminal is as before.
undone = leave(one)
for mode in MODES:
    has(undone, b"\x1b[?%dl" % mode)
has(undone, b"\x1b[?25h")
has(undone, b"\x1b[?1049l")
has(undone, b"\x1b>")

# Nobody is there: the emulator answers what it can, once, and the program goes on.
do("\x1b[7;9H\x1b[c")
typed(b"\x1b[?1;2c")
do("\x1b[6n")
typed(b"\x1b[7;9R")
do("\x1b[5n")
typed(b"\x1b[0n")
if got() != b"\x1b[?1;2c\x1b[7;9R\x1b[0n":
    fail(f"answers: {got()!r}")
before = got()

# Joining: the screen, its attributes, its modes; and of the questions none.
drawn = join(one, "full")
for mode in MODES + (1049,):
    has(drawn, b"\x1b[?%dh" % mode)
has(drawn, b"\x1b[?25l")
has(drawn, b"\x1b=")
has(drawn, b"\x1b]2;THE TITLE\x1b\\")
has(drawn, b"first screen")
if not drawn.index(b"first screen") < drawn.index(b"\x1b[?1049h") < drawn.index(b"true"):
    fail(f"the first screen is not beneath the other one: {drawn!r}")
has(drawn, b"\x1b[0;1;38;2;10;20;30;48;5;99mtrue")
has(drawn, b"\x1b[0;3;4;9;32mmany")
has(drawn, "\u4e2d\u6587 e\u0301 ".encode())
has(drawn, b"\x1b[0;7mback")
has(drawn, b"\x1b[0;91mlight")
has(drawn, b"\x1b[7;9H")
for ask in (b"\x1b[c", b"\x1b[6n", b"\x1b[>c", b"]11;?", b"$p", b"\x1bP", b"[18t", b"[>q", b"[?u", b"[5n"):
    hasnt(drawn, ask)
if got() != before:
    fail(f"joining typed: {got()[len(before):]!r}")

# Two are there: one of them is asked; what it answers reaches the program once. The other sees the
# rest.
join(two, "full")
join_watch = Terminal(20, 60)
join_watch.send(f"{WARDFS} attach --watch full\n")
join_watch.wait(r"\x1b\[7;9H")
do("\x1b[c\x1b[6n\x1b]10;?\x1b\\\x9b[\xc2\x9bcAFTER")
for t, n in ((one, 1), (two, 0), (join_watch, 0)):
    seen = t.wait(r"(?s)\A(.*)AFTER").group(1)
    for ask in (b"\x1b[c", b"\x1b[6n", b"]10;?"):
        if seen.count(ask) != n + (n and ask == b"\x1b[c"):
            fail(f"{ask!r} was seen {seen.count(ask)} times, not {n}: {seen!r}")
    hasnt(seen, b"\xc2\x9b")
one.send("\x1b[?62c")
typed(b"\x1b[?62c")
if got().count(b"\x1b[?") != before.count(b"\x1b[?") + 1:
    fail(f"more than one answer: {got()!r}")
# A question that is longer than a piece reaches none of those who joined: each would answer. What
# asks nothing does.
questions = "\x1b]4;" + ";".join(f"{i % 256};?" for i in range(1500)) + "\x07"
picture = "\x1bPq" + "#0;2;0;0;0~-" * 900 + "\x1b\\"
clipboard = "\x1b]52;c;" + "QUJD" * 2500 + "\x07"
do(questions + "\x1b_Ga=q,i=1;" + "A" * 9000 + "\x1b\\" + "\x1bP+q" + "544e;" * 2000 + "\x1b\\"
   + "\x1b]52;" + "c" * 9000 + ";?\x07" + picture + clipboard + "BEYOND")
for t in (one, two, join_watch):
    seen = t.wait(r"(?s)\A(.*)BEYOND").group(1)
    hasnt(seen, b"?;")
    hasnt(seen, b";?")
    hasnt(seen, b"AAAA")
    hasnt(seen, b"544e")
    has(seen, picture.encode())
    has(seen, clipboard[:-1].encode() + b"\x1b\\")
# Who was asked leaves: the other one is. Then only somebody who watches is there: the emulator
# answers.
leave(one)
do("\x1b[6nNEXT")
has(two.wait(r"(?s)\A(.*)NEXT").group(1), b"\x1b[6n")
undone = leave(two)
has(undone, b"\x1b[?1049l")
before = got()
do("\x1b[5nLAST")
hasnt(join_watch.wait(r"(?s)\A(.*)LAST").group(1), b"\x1b[5n")
typed(before + b"\x1b[0n")

# A sequence that is written in two parts reaches somebody who joins between them whole, or not at
# all.
do("\x1b[2J\x1b[H\x1b[38;2;1")
one.send(f"{WARDFS} attach full\n")
one.wait(r"\x1b\[22;0t")
one.wait(r"\x1b\[\?1004h")
do(";2;3mhalf\x1b[m\x1b]2;end\x07")
m = one.wait(r"(?s)\A(.*)\x1b\]2;end")
has(m.group(1), b"\x1b[38;2;1;2;3mhalf")
# Another window: what is drawn fits it.
one.size(10, 30)
do("\x1b[2J\x1b[H\x1b]2;resized\x07")
one.wait("resized")
# Whoever does not read is drawn for anew, and what they get is whole pieces.
two.send(f"{WARDFS} attach --watch full\n")
two.wait(r"\x1b\[\?1004h")
line = "\x1b[31mflood\x1b[m " * 6 + "\r\n"
do(line * 9000 + "\x1b[2J\x1b[H\x1b[35mSETTLED\x1b[m")
m = two.wait(r"(?s)\A(.*)SETTLED")
for bad in re.findall(rb"\x1b\[[0-9;?]*[^0-9;?a-zA-Z >]", m.group(1)):
    fail(f"a sequence was cut: {bad!r}")
one.wait(r"SETTLED")
leave(two)
leave(join_watch)
# The program ends while somebody is there: their terminal is as before, with its status.
do("\x1b[?1003h")
one.send("Q")
undone = one.wait(r"(?s)\A(.*)READY> $").group(1)
has(undone, b"\x1b[?1049l")
has(undone, b"\x1b[?1003l")
subprocess.run([WARDFS, "kill", "full"], check=True)

# Lines that went off the top come back, as many as are kept; what the terminal showed is not lost.
begin("lines", one, "--keep")
do("".join(f"line {i}\r\n" for i in range(900)) + "prompt> ")
leave(one)
two.send("echo sta''ys\n")
two.wait(r"stays\r")
drawn = join(two, "lines")
hasnt(drawn, b"line 300\r")
has(drawn, b"line 500\r")
has(drawn, b"line 899\r\nprompt>")
hasnt(drawn, b"\x1b[?1049h")
if not drawn.startswith(b"\x1b\\") or b"\n" * 20 not in drawn.split(b"\x1b[2J")[0]:
    fail(f"what was there is overwritten: {drawn[:300]!r}")
leave(two)

# What parses all this dies, as some sequence may have it: the session goes on, and says what is
# missing.
out = subprocess.run(["ps", "-eo", "pid,ppid,comm"], check=True, capture_output=True, text=True).stdout
state = subprocess.run([WARDFS, "ps", "--json", "lines"], check=True, capture_output=True, text=True).stdout
pid = int(re.search(r'"pid": ?(\d+)', state).group(1))
screens = [int(row.split()[0]) for row in out.splitlines()[1:]
           if row.split()[1] == str(pid) and row.split()[2] == "wardfs-screen"]
if len(screens) != 1:
    fail(f"wardfs-screen: {screens} of {pid}")
status = open(f"/proc/{screens[0]}/status", encoding="ascii").read()
for line in ("NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "CapPrm:\t0000000000000000"):
    has(status, line)
if sorted(int(n) for n in os.listdir(f"/proc/{screens[0]}/fd")) != [0, 1, 2, 3, 4]:
    fail(f"descriptors: {os.listdir(f'/proc/{screens[0]}/fd')}")
os.kill(screens[0], signal.SIGKILL)
until("its death is noticed", lambda: not os.path.exists(f"/proc/{screens[0]}"))
two.send(f"{WARDFS} attach lines\n")
until("attached", lambda: attached("lines"))
do("MARK-R")
m = two.wait(r"(?s)\A(.*)MARK-R")
has(m.group(1), b"wardfs-screen has ended")
hasnt(m.group(1), b"line 899")
two.send("Q")
two.wait(r"READY> $")
subprocess.run([WARDFS, "kill", "lines"], check=True)

# A program that is killed at its first terminal leaves that as it was; one that ends may mean it.
begin("killed", one)
do(ENTER)
subprocess.run([WARDFS, "kill", "killed"], check=True)
undone = one.wait(r"(?s)\A(.*)READY> $").group(1)
has(undone, b"\x1b[?1049l")
has(undone, b"\x1b[?1000l")
begin("gone", one)
do(ENTER)
one.send("Q")
undone = one.wait(r"(?s)\A(.*)READY> $").group(1)
hasnt(undone, b"\x1b[?1049l")
for t in (one, two, join_watch):
    t.send("exit\n")
    os.waitpid(t.pid, 0)
