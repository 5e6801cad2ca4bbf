# SPDX-License-Identifier: Apache-2.0
"""Part of ../review-hostile.sh: is what a command printed fit for a terminal, and HTML for a
browser? Arguments: the command, and files."""
import sys

for p in sys.argv[2:]:
    t = open(p, "rb").read()
    u = t.decode("utf-8")
    bad = [hex(ord(c)) for c in u
           if (ord(c) < 32 and c not in "\n\t") or 0x7f <= ord(c) < 0xa0 or c == "\u202e"]
    if bad or "<script>alert" in u and "html" in sys.argv[1] or "\nline" in u:
        sys.exit(f"{sys.argv[1]}: {bad} {u[:3000]}")
