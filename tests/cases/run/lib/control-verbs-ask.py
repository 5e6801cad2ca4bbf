# SPDX-License-Identifier: Apache-2.0
# Part of ../control-verbs.sh: SESSION REQUEST DESCRIPTORS. Prints what the answer says.
import array, json, os, socket, sys
base = os.environ.get("XDG_RUNTIME_DIR", "/run") + "/wardfs"
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.path.join(base, sys.argv[1], "control"))
null = os.open("/dev/null", os.O_RDONLY)
fds = array.array("i", [null] * int(sys.argv[3]))
s.sendmsg([sys.argv[2].encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)] if fds else [])
a = json.loads(s.recv(65536))
print(a.get("verb", a.get("ok")), a.get("status", "-"), a.get("error", "-"))
