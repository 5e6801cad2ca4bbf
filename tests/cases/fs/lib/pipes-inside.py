# SPDX-License-Identifier: Apache-2.0
# Part of ../pipes.sh.
import errno
import os
import sys
from pipes_of import connect, heard, pipe, serve

got = [pipe("host/pipe"), connect("host/socket")]
if got != ["ENXIO", "ECONNREFUSED"]:
    sys.exit(f"FAIL: of the host's: {got}")
at = serve("own")
got = [pipe("own/pipe"), connect("own/socket")] + heard(*at)
if got != ["written", "connected", True, True]:
    sys.exit(f"FAIL: of one's own: {got}")


def opened(path):
    try:
        os.close(os.open(path, os.O_RDWR))
        return "opened"
    except OSError as e:
        return errno.errorcode[e.errno]


got = [opened("ruled/" + name) for name in ("denied", "denied-file", "hidden")]
if got != ["opened", "EACCES", "ENOENT"]:
    sys.exit(f"FAIL: under rules: {got}")
