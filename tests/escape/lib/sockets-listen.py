# SPDX-License-Identifier: Apache-2.0
# Part of ../sockets.sh: sockets of the host, each bound in another way, in a directory that shows.
import ctypes, os, socket, sys, time
top, project = sys.argv[1:]
CLONE_NEWNET = 0x40000000
kept = []


def listen(name, to, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind)
    s.bind(name)
    if to != name:
        os.rename(name, to)
    os.chmod(to, 0o777)
    if kind == socket.SOCK_STREAM:
        s.listen(64)
    kept.append(s)


listen(top + "/absolute", top + "/absolute")
listen(top + "/packets", top + "/packets", socket.SOCK_DGRAM)
listen(top + "/before", top + "/renamed")
os.symlink(top, top + "/way")
listen(top + "/way/linked", top + "/linked")
os.mkdir(top + "/deep")
os.chdir(top + "/deep")
listen("relative", "relative")
if os.getuid() == 0:
    # setns(2) would do as well: a socket belongs to the namespace in which it was made.
    here = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.unshare(CLONE_NEWNET) == 0
    listen(top + "/elsewhere", top + "/elsewhere")
    assert libc.setns(here, CLONE_NEWNET) == 0
open(project + "/ready", "w").close()
while not os.path.exists(project + "/go"):
    time.sleep(0.05)
listen(top + "/later", top + "/later")
open(project + "/done", "w").close()
time.sleep(1000)
