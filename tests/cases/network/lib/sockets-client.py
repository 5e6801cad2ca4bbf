# SPDX-License-Identifier: Apache-2.0
# Part of ../sockets.sh.
# client.py PATH: what the server says, how many descriptors came; or the errno.
import array, errno, os, socket, sys
s = socket.socket(socket.AF_UNIX)
try:
    s.connect(sys.argv[1])
    own = os.open("/dev/null", os.O_RDONLY)
    s.sendmsg([b"hello"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [own]))])
    data, anc, _, _ = s.recvmsg(65536, 4096)
    print(data.decode(), "got", len(anc))
except OSError as e:
    print(errno.errorcode[e.errno])
