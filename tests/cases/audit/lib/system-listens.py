# SPDX-License-Identifier: Apache-2.0
# Part of ../system.sh.
import os, socket, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(os.environ["SOCKET"])
os.chmod(os.environ["SOCKET"], 0o666)
os.setresuid(4713, 4713, 4713)
s.listen(8)
print("listens", flush=True)
time.sleep(600)
