#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Named pipes and sockets join programs inside, not one inside and one on the host: neither gets what the
# other writes. The controls: both inside, and both on the host.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

# pipes.py DIR: what a program in DIR meets of a pipe and a socket that another has there
cat >"$WARD_TMP/pipes.py" <<'END'
import errno
import os
import select
import socket


def pipe(path):
    try:
        os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), b"x")
        return "written"
    except OSError as e:
        return errno.errorcode[e.errno]


def connect(path):
    try:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
        return "connected"
    except OSError as e:
        return errno.errorcode[e.errno]


def serve(where):
    os.mkfifo(where + "/pipe")
    reader = os.open(where + "/pipe", os.O_RDONLY | os.O_NONBLOCK)
    server = socket.socket(socket.AF_UNIX)
    server.bind(where + "/socket")
    server.listen()
    return reader, server


def heard(reader, server):
    return [bool(select.select([at], [], [], 0)[0]) for at in (reader, server)]
END
# inside: with what the host serves, and what it serves itself
cat >"$WARD_TMP/inside.py" <<'END'
import sys
from pipes_of import connect, heard, pipe, serve

got = [pipe("host/pipe"), connect("host/socket")]
if got != ["ENXIO", "ECONNREFUSED"]:
    sys.exit(f"FAIL: of the host's: {got}")
at = serve("own")
got = [pipe("own/pipe"), connect("own/socket")] + heard(*at)
if got != ["written", "connected", True, True]:
    sys.exit(f"FAIL: of one's own: {got}")
END
cat >"$WARD_TMP/host.py" <<'END'
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
END
mv "$WARD_TMP/pipes.py" "$WARD_TMP/pipes_of.py"
export PYTHONDONTWRITEBYTECODE=1
for mode in $MODES; do
	# shellcheck disable=SC2119 # as it is
	policy
	fresh
	as_owner mkdir "$BACK/host" "$BACK/own"
	case $mode in
	cached) set -- -m root -n ;;
	*) set -- -m "$mode" ;;
	esac
	# A path of a socket is short: those are relative to where the program is.
	(cd "$BACK/.." && python3 "$WARD_TMP/host.py" "$(basename "$BACK")" "$FSMOUNT" "$@" -o $OWNER:$OWNER -l "$EVENTS" \
		"$POLICY" "$BACK" "$MNT" python3 "$WARD_TMP/inside.py") || fail "$mode"
done
