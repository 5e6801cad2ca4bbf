#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""policy_keys.py PRINT TEMPLATE REFERENCE: writes wardfs-policy(5).

PRINT prints the table of keys (enforcer/policy/key_print.c). The template has a section for each
section of a policy, and an entry (.It Cm KEY) for each key of which there is more to say, or a
better example. REFERENCE is docs/wardfs-policy.5.md, whose sections come before FILES.
"""
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # a build leaves nothing in the sources
import from_markdown

COLUMNS = ("section", "key", "type", "repeats", "default", "merge", "by", "live", "here", "example",
           "doc")


def rows(program):
    """The table of keys, in its order: {(section, key): row}."""
    out = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    table = [dict(zip(COLUMNS, line.split("\t"))) for line in out.splitlines()]
    return {(row["section"], row["key"]): row for row in table}


def listed(words):
    """a, b or c, of a|b|c."""
    *first, last = words.split("|")
    return ", ".join(first) + " or " + last if first else last


def head(row):
    """The beginning of a key's entry."""
    facts = ["Repeats."] if row["repeats"] == "yes" else []
    if row["default"] != "-":
        facts.append(f"Default: {row['default']}.")
    if row["type"] != "pattern" and row["key"] != "version":
        if row["merge"] == "base":
            facts.append("Only the base may set it.")
        else:
            facts.append(f"Merge: {row['merge']}.")
            if row["by"] != "project":
                facts.append("A project file cannot set it.")
        if row["live"] != "no":
            facts.append(f"A reload may change {'it' if row['live'] == 'yes' else 'its value'}.")
    if row["here"] != "yes":
        facts.append(f"So far a run takes {listed(row['here'])} alone.")
    doc = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", row["doc"])
    doc = re.sub(r"([A-Za-z)*\]]{2})\. (?=[A-Z])", r"\1.\n", doc)  # each sentence begins a line
    return f".It Cm {row['key']} No = Ar {listed(row['type'])}\n{doc}\n" + "".join(f + "\n" for f in facts)


def example(row, header):
    section = "" if row["section"] == "policy" else f"\n[{header}]\n"
    return f".Bd -literal\n[policy]\nversion = 1\n{section}{row['key']} = {row['example']}\n.Ed\n"


def page(template, table):
    """The template with the table put in."""
    out, section, header, left = [], None, None, dict(table)
    for piece in re.split(r"^(?=\.Ss |\.It Cm |\.El)", template, flags=re.M):
        first, _, rest = piece.partition("\n")
        if first.startswith(".Ss ["):
            header = re.match(r"\.Ss \[(.*)\]", first).group(1)
            section = header.split(" ")[0]
        elif first.startswith(".It Cm ") and section:
            key = first.split()[2]
            if (section, key) not in left:
                sys.exit(f"the template has [{section}] {key}, which is no key or stands twice")
            piece = head(left.pop((section, key))) + rest
        elif first == ".El" and section:
            for row in [r for r in left.values() if r["section"] == section]:
                out.append(head(row) + example(row, header))
                left.pop((section, row["key"]))
            section = None
        out.append(piece)
    if left:
        sys.exit(f"the template has no section for {sorted(left)}")
    return "".join(out)


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as f:
        made = page(f.read(), rows(sys.argv[1]))
    with open(sys.argv[3], encoding="utf-8") as f:
        reference = from_markdown.mdoc(f.read())
    if made.count("\n.Sh FILES\n") != 1:
        sys.exit("the template has no section FILES")
    # The hint says that there are tables (tbl).
    sys.stdout.write("'\\\" t\n" + made.replace("\n.Sh FILES\n", f"\n{reference}.Sh FILES\n"))
