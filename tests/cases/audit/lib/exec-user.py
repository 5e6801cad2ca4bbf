# SPDX-License-Identifier: Apache-2.0
# Part of ../exec.sh.
import json, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
execs = [r for r in recs if r["kind"] == "exec"]
first = execs[0]
assert first["comm"] == "wardfs-init" and first["exe"].endswith("/wardfs-init"), first
assert first["argv"][0] == "python3" and first["argv"][-1] == "argument", first
assert "/python3" in first["path"] and "cut" not in first and first["cwd"].endswith("/p"), first
later = execs[-1]
assert later["argv"] == ["/bin/true", "x"] and "/python3" in later["exe"], later
