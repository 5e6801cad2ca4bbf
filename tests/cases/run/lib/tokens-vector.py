# SPDX-License-Identifier: Apache-2.0
# Part of ../tokens.sh. The wrapped vector of docs/grants.md, from stdin, as the token that it is.
import re
import sys

lines = []
for line in filter(None, sys.stdin.read().split("\n")):
    if re.match("wardfs-token |block |key ", line):
        lines.append(line)
    else:
        lines[-1] += line
assert len(lines) == 4, lines
print("\n".join(lines))
