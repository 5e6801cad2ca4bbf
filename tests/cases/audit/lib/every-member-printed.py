# SPDX-License-Identifier: Apache-2.0
# Part of ../every-member.sh.
"""Each member of each record is in what `show` and CSV print: SCHEMA TRAIL, in ./shown, ./plain, ./all.csv."""
import csv, decimal, json, sys

FIRST = "seq session kind time mono ring pid uid comm action path path2 asked given verdict rule " \
    "rule_text source errno io read written size text status signal names parent started process " \
    "argv host addr port sni name result limit used sent received duration dev ino ino2 " \
    "size_before lock sha256 request by scope until mac"
NANOSECONDS = {"duration", "started", "step"}
FRAME = {"v", "seq", "session", "kind", "time", "mono", "ring", "pos", "lag", "mac"}
members = set(json.load(open(sys.argv[1]))["properties"])
records = [json.loads(line) for line in open(sys.argv[2])]
lines = open("shown").read().splitlines()
rows = list(csv.DictReader(open("all.csv", newline="")))
assert len(records) == len(lines) == len(rows)
assert list(rows[0])[:53] == FIRST.split(), list(rows[0])
assert set(rows[0]) == members, set(rows[0]) ^ members


def words(value, name=None):
    """The value as `show` prints it."""
    if name in NANOSECONDS and value is not None:
        return f"{decimal.Decimal(value) / 10 ** 9:f}".rstrip("0").rstrip(".") + " s"
    if isinstance(value, list):
        return " ".join(value) or "-"
    return "-" if value is None else str(value)


# Those that have a place of their own in the line stand there without their name.
PLACE = {"pid", "comm", "argv", "answers", "action", "path", "path2", "asked", "rule", "rule_text", "errno", "text", "detail", "via",
         "cut"}
seen = {"cut"}
for r, line, row in zip(records, lines, rows):
    seen |= set(r)
    for name, value in r.items():
        if name not in FRAME | PLACE:
            assert f"  {name} {words(value, name)}" in line, (name, value, line)
        elif name == "asked":
            assert "  " + ",".join(value) in line, line
        elif name == "via":
            assert f" via {value}" in line, line
        elif name == "pid":
            assert f"[{value}]" in line or f"  pid {value}" in line, line
        elif name not in FRAME | {"detail"} and not (name == "action" and value == r["kind"]):
            assert words(value) in line, (name, value, line)
        # A null has no text in CSV.
        text = ",".join(value) if isinstance(value, list) else "" if value is None else \
            json.dumps(value, separators=(",", ":")) if isinstance(value, (dict, bool)) else str(value)
        assert row[name].lstrip("'") == text.lstrip("'"), (name, value, row[name])
    assert all(row[name] == "" for name in row if name not in r), row
assert seen == members, seen ^ members
# Control: what a record does not have is not printed.
for line in open("plain"):
    assert "  lock " not in line and "  quota " not in line, line
