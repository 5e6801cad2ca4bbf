# SPDX-License-Identifier: Apache-2.0
# Part of ../pipes.sh.
import os
import subprocess
import sys
from pipes_of import connect, heard, pipe, serve

at = serve(sys.argv[1] + "/host")
for name in "pipe", "socket":
    os.chmod(sys.argv[1] + "/host/" + name, 0o777)
if subprocess.run(sys.argv[2:], check=False).returncode:
    sys.exit(1)
if heard(*at) != [False, False]:
    sys.exit("FAIL: the host was reached")
got = [pipe(sys.argv[1] + "/host/pipe"), connect(sys.argv[1] + "/host/socket")] + heard(*at)
if got != ["written", "connected", True, True]:
    sys.exit(f"FAIL: on the host: {got}")
