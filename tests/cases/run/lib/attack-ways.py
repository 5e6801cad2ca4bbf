# SPDX-License-Identifier: Apache-2.0
"""attack-ways.py SESSION GO N: one question has four answers at once: the panel of the run (path),
`wardfs approve` (no), a signed answer (once), and the program of the policy, which waits for GO.

N turns the order in which they begin. Prints what each was told; one of them counts.
"""
import json
import subprocess
import sys
import time

from user_terminal import WARDFS, Terminal, until

session, go, order = sys.argv[1], sys.argv[2], int(sys.argv[3])
t = Terminal(30, 100)
t.send(f"export TERM=xterm; {WARDFS} run --session {session} --policy ../all.policy -- "
       "sh -c 'echo two >>.github/workflows/ci'\n")


def questions():
    out = subprocess.run([WARDFS, "approve", "--json", "--session", session], check=False, capture_output=True).stdout
    return json.loads(out or b"[]")


until("a question", questions)
q = questions()[0]
with open("../q.json", "w", encoding="utf-8") as f:
    json.dump(q, f)
subprocess.run([WARDFS, "approve", "sign", "../q.json", "--key", "../key", "-o", f"../{session}.signed", "once"],
               check=True, capture_output=True)
t.send("\x1d")
t.wait("wardfs asks you")
time.sleep(0.8)
t.send("y")
time.sleep(0.2)
told = {}


def approve(how, *words):
    told[how] = subprocess.Popen([WARDFS, "approve", q["question"], *words], stderr=subprocess.PIPE, text=True)


ways = [lambda: t.send("\r"), lambda: approve("approve", "no"),
        lambda: approve("signed", "--signed", f"../{session}.signed"), lambda: open(go, "w", encoding="ascii").close()]
for i in range(len(ways)):
    ways[(i + order) % len(ways)]()
counted = 0
for how, p in told.items():
    said = p.communicate(timeout=60)[1].strip()
    counted += p.returncode == 0
    print(f"{how}: {said}")
    # The session can have ended by then.
    assert p.returncode == 0 or any(w in said for w in ("no question", "no such question", "came first",
                                                        "refused to answer", "no session")), said
t.wait(r"READY> $")
out = subprocess.run([WARDFS, "audit", "show", "--json", "--kind", "answer", session], check=True, capture_output=True,
                     text=True).stdout
answers = [json.loads(line) for line in out.splitlines()]
assert len(answers) == 1, answers
# Who was told that it counts, counts.
assert counted == (answers[0]["how"] == "approve"), (counted, answers)
print("counts:", answers[0]["how"], answers[0]["result"])
