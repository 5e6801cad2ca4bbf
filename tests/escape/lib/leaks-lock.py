# SPDX-License-Identifier: Apache-2.0
# Part of ../leaks.sh: holds a lock of an open file until its input ends.
import fcntl
import struct
import sys

F_OFD_SETLK = 37
held = open(sys.argv[1], "w")
fcntl.fcntl(held, F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
open(sys.argv[1] + ".held", "w").close()
sys.stdin.read()
