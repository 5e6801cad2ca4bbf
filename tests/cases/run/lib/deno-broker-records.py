# SPDX-License-Identifier: Apache-2.0
# Part of ../deno-broker.sh.
"""The records `deny` on stdin: of programs and libraries the path, of the network alone a host; each with `comm`."""
import json
import sys

records = [json.loads(line) for line in sys.stdin]
asked = [r for r in records if r.get("text", "").startswith("Deno asked for ")]
assert all(r.get("comm") == "deno" for r in asked), asked
assert all(r["action"] == "connect" for r in asked if "host" in r), asked
assert any(r.get("host") == "three.example" and r["port"] == 443 for r in asked), asked
paths = {(r["action"], r.get("path")) for r in asked if r["action"] in ("run", "ffi")}
assert paths == {("run", "/bin/true"), ("run", None), ("ffi", "/lib/x.so"), ("ffi", "/workspace/sub/x.so")}, paths
