# SPDX-License-Identifier: Apache-2.0
# Part of ../terminal.sh.
"""Where a line of the trail is JSON, `show --json` and the export say the same to a program."""
import json, sys


def parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return None


trail = [parsed(line) for line in open(sys.argv[1], "rb").read().split(b"\n")[:-1]]
for name in ("show-json", "export-jsonl"):
    printed = [parsed(line) for line in open("out/" + name, "rb").read().split(b"\n")[:-1]]
    wanted = [r for r in trail if r is not None]
    assert [r for r in printed if r is not None] == wanted, name
    assert len(wanted) > 40, len(wanted)
for name in ("denials-json", "summary-json", "report-json", "diff-json", "sql-json", "verify-json", "list-json"):
    json.load(open("out/" + name))
