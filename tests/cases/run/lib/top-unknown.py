# SPDX-License-Identifier: Apache-2.0
"""top-unknown.py STATUS TOP TEXT: a figure that ps does not have is "?" in top's text and null in its JSON."""
import json
import sys

(status,), (top,) = (json.load(open(name)) for name in sys.argv[1:3])
for ours, theirs in (("cpus", "cpu_ns"), ("read_per_second", "read_bytes"), ("memory", "memory")):
    if (top[ours] is None) != (status["use"][theirs] is None):
        sys.exit(f"FAIL: {ours} is {top[ours]!r} where {theirs} is {status['use'][theirs]!r}")
text = open(sys.argv[3]).read()
if (top["cpus"] is None) != ("  cpus ?" in text) or (top["cpus"] is None) == ("cpus 0" in text):
    sys.exit(f"FAIL: {top['cpus']!r}: {text}")
