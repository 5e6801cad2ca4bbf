# SPDX-License-Identifier: Apache-2.0
# Part of ../policies.sh.
"""Prints the digests of the policies that were in force: the records have each with its text."""
import hashlib
import json
import sys

sys.path.insert(0, __file__.rsplit("/tests/", 1)[0] + "/tests/support")
from recorded import raw  # noqa: E402

meaning, in_force = {}, []
for line in open(sys.argv[1], encoding="ascii"):
    r = json.loads(line)
    if r["kind"] == "policy" and r["name"] == "meaning":
        meaning[r["policy"]] = meaning.get(r["policy"], b"") + raw(r["text"])
    elif r["kind"] == "session.start" or r["kind"] == "reload" and r["result"] == "loaded":
        in_force.append(r["policy"])
        if r["kind"] == "reload":
            assert r["policy"] in meaning, "a policy comes into force without its text"
assert len(in_force) == 3 and in_force[0] == in_force[2], in_force
# The first one came twice.
half = len(meaning[in_force[0]]) // 2
assert meaning[in_force[0]][:half] == meaning[in_force[0]][half:]
meaning[in_force[0]] = meaning[in_force[0]][:half]
for digest in in_force:
    assert hashlib.sha256(meaning[digest]).hexdigest() == digest, digest
    print(digest)
