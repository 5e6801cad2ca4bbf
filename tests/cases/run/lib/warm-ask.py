# SPDX-License-Identifier: Apache-2.0
# Part of ../warm.sh.
import json, os, socket, sys
base = os.environ.get("XDG_RUNTIME_DIR", "/run") + "/wardfs"
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(os.path.join(base, sys.argv[1], "control"))
s.send(b'{"verb":"watch"}')
print(json.loads(s.recv(65536))["trees"][0]["watched"])
