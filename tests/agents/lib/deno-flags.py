# SPDX-License-Identifier: Apache-2.0
"""Reads `wardfs run --dry-run --json` of mode deno: the flags are those of the policy in ../deno.sh."""
import json, sys
flags = {}
for f in json.load(sys.stdin)["runtime"]["flags"]:
    name, _, value = f["flag"].partition("=")
    flags[name] = value.split(",")
    assert f["from"], f
hosts = ["one.example:443", "one.example:80", "two.example:8443", "two.example:9000"]
# The proxy that http_proxy names inside is a place to connect to, and none to import from.
assert flags["--allow-net"] == hosts + ["198.18.0.1:3128"], flags
assert flags["--allow-import"] == hosts, flags
assert flags["--allow-run"] == ["/usr/bin/echo"], flags["--allow-run"]
assert "/workspace" in flags["--allow-write"], flags
# Finer than Deno can be told: given as a whole, and decided by the walls.
assert "/workspace/docs" not in flags["--deny-write"] and "/workspace/old" in flags["--deny-write"], flags
assert "--allow-ffi" not in flags and "--no-remote" not in flags, flags
