# SPDX-License-Identifier: Apache-2.0
# Part of ../sockets.sh.
# server.py DIR: echoes what it is told with the uid and pid that it sees; sends a descriptor with
# it.
import array, os, socket, struct, sys, threading
d = sys.argv[1]
def listen(name):
    path = os.path.join(d, name)
    if os.path.exists(path):
        os.unlink(path)
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    os.chmod(path, 0o666)
    s.listen()
    return s
def client(c):
    pid, uid, _ = struct.unpack("3i", c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    comm = open(f"/proc/{pid}/comm").read().strip() if pid else "nobody"
    while True:
        data, anc, _, _ = c.recvmsg(65536, 4096)
        if not data:
            break
        secret = os.open(os.path.join(d, "secret"), os.O_RDONLY)
        c.sendmsg([b"%s %d fds=%d " % (comm.encode(), uid, len(anc)) + data],
                  [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [secret]))])
        os.close(secret)
    c.close()
def serve(s):
    while True:
        threading.Thread(target=client, args=(s.accept()[0],), daemon=True).start()
for name in ("led.sock", "other.sock"):
    threading.Thread(target=serve, args=(listen(name),), daemon=True).start()
open(os.path.join(d, "ready"), "w").close()
threading.Event().wait()
