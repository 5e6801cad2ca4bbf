# SPDX-License-Identifier: Apache-2.0
# Part of ../records.sh.
import collections, json, sys
names = collections.defaultdict(collections.Counter)
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == "open" and r["action"] == "open":
        names[r["path"].rsplit("/", 1)[1]][r["comm"]] += 1
assert names["ro"] == {"python3": 21}, names
assert names["old"] == {"python3": 2100, "other name": 100}, names
assert names["after-exec"] == {"cat": 20}, names
assert names["after-rename"] == {"other name": 1}, names
