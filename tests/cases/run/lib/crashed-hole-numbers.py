# SPDX-License-Identifier: Apache-2.0
# Part of ../crashed-hole.sh.
import json, re, sys
lines = open(sys.argv[1], "rb").read().splitlines()
bad, last = int(sys.argv[4]), int(sys.argv[5])
def seq(line):
    m = re.match(rb'\{"v":1,"seq":(\d+),', line)
    return int(m[1]) if m and line.isascii() and b"\0" not in line else 0
seqs = [s for s in map(seq, lines) if s]
assert len(set(seqs)) == len(seqs), "a number is there twice"
gap = next(i for i, line in enumerate(lines) if b'"text":"recovery: ' in line)
assert seqs[-1] == seq(lines[-1]) > seq(lines[gap]) == last + 1, (seq(lines[gap]), last)
assert b"numbers have no record" in lines[gap], lines[gap]
end = [e for e in map(json.loads, open(sys.argv[2])) if e["session"] == sys.argv[3] and e["kind"] == "end"][-1]
assert end["records"] == seqs[-1], end
