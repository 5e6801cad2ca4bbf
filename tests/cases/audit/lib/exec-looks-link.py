# SPDX-License-Identifier: Apache-2.0
# Part of ../exec-looks.sh: executes a link that leads to argv[1], then looks there itself.
import os, subprocess, sys
os.symlink(sys.argv[1], "/tmp/link")
try:
    subprocess.call(["/tmp/link"])
except OSError:
    pass
try:
    os.close(os.open(sys.argv[1], os.O_RDONLY))
except OSError:
    pass
