# SPDX-License-Identifier: Apache-2.0
"""once.py FROM TO: renames, and prints "moved" or the name of the error."""
import errno, os, sys
try:
    os.rename(*sys.argv[1:])
    print("moved")
except OSError as e:
    print(errno.errorcode[e.errno])
