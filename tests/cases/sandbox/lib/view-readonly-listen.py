# SPDX-License-Identifier: Apache-2.0
# Part of ../view-readonly.sh.
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
s.listen(64)
time.sleep(1000)
