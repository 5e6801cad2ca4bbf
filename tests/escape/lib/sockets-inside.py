# SPDX-License-Identifier: Apache-2.0
# Part of ../sockets.sh, inside: prints which sockets in a directory of the host answer.
import os, socket, sys, time
top = sys.argv[1]


def look(path):
    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
        try:
            socket.socket(socket.AF_UNIX, kind).connect(path)
            print(os.path.basename(path), flush=True)
        except OSError:
            pass


# The control: one of the session's own.
own = socket.socket(socket.AF_UNIX)
own.bind("/tmp/own")
own.listen()
look("/tmp/own")
for name in "absolute", "packets", "renamed", "linked", "deep/relative", "elsewhere":
    look(top + "/" + name)
open("go", "w").close()
while not os.path.exists("done"):
    time.sleep(0.05)
look(top + "/later")
