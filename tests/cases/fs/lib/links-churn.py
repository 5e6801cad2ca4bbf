# SPDX-License-Identifier: Apache-2.0
# Part of ../links-churn.sh.
import os, select, sys, time
N, back, away = 20, sys.argv[1], sys.argv[2]
seconds = 20 if os.environ.get("WARD_LONG") else 4
os.makedirs("d", exist_ok=True)
os.makedirs("e", exist_ok=True)
os.close(os.open("e/f", os.O_WRONLY | os.O_CREAT))
# Open files stay in the kernel's caches, even if memory is short.
keep = [os.open(p, os.O_PATH) for p in ("d", "e/f")]
for i in range(N):
    os.link("e/f", f"d/l{i}")
def write():
    try:
        fd = os.open("e/f", os.O_WRONLY)
    except PermissionError:
        return 0
    os.close(fd)
    return 1
def during(seconds, enough):
    """For so long, and until there was enough: (opened, tried). A minute ends what never comes."""
    begin, n, tries = time.monotonic(), 0, 0
    while (time.monotonic() < begin + seconds or not enough(n, tries)) and time.monotonic() < begin + 60:
        n += write()
        tries += 1
    return n, tries
def churn(k, stop):
    while not select.select([stop], [], [], 0)[0]:
        os.unlink(f"d/l{k}")
        os.link("e/f", f"d/l{k}")
    os._exit(0)
def churned(seconds, enough):
    stop, go_on = os.pipe()
    pids = []
    for k in range(2):
        pid = os.fork()
        if pid == 0:
            os.close(go_on)
            churn(k, stop)
        pids.append(pid)
    n = during(seconds, enough)
    os.close(go_on)
    for pid in pids:
        assert os.waitpid(pid, 0)[1] == 0
    os.close(stop)
    return n
for _ in range(30):
    assert write(), "control: not opened"
got = churned(1, lambda n, tries: n > 0)
assert got[0] > 0, f"control: {got} while names come and go"
os.link(os.path.join(back, "e/f"), away)
got = churned(seconds, lambda n, tries: tries > 100)
print(got[0], "of", got[1], "opened")
assert got[1] > 100
assert got[0] == 0, f"{got[0]} of {got[1]} opened with a link outside"
