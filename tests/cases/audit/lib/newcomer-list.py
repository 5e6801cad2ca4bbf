# SPDX-License-Identifier: Apache-2.0
# Part of ../newcomer.sh.
"""PROJECT: `audit list --json` has what each session was."""
import json
import sys

rows = {s["session"]: s for s in json.load(sys.stdin)}
assert all(s["project"] == sys.argv[1] for s in rows.values()), rows
assert rows["three"]["command"] == ["sh", "-c", "cat a.txt a.txt a.txt; exit 3"], rows["three"]
assert (rows["three"]["status"], rows["three"]["signal"]) == (3, None), rows["three"]
assert rows["shot"]["signal"] == 9, rows["shot"]
assert [rows[n]["mode"] for n in ("walled", "open", "half")] == ["restricted", "none", "process"], rows
