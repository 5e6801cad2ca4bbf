#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/demo.svg is of the demonstration as it is: tests/demo/draw.py draws it anew.

It is well-formed, refers to nothing, shows the policy, each attempt and its commands, all of which
behaved, and names no directory that only one machine has.
"""
import os
import re
import sys
import xml.etree.ElementTree

from _sources import SRC, finish, read

sys.path.insert(0, os.path.join(SRC, "tests/demo"))
import demo  # pylint: disable=wrong-import-position
import draw  # pylint: disable=wrong-import-position

PAGE, SVG = "docs/demo.svg", "{http://www.w3.org/2000/svg}"


def terminal(picture):
    """The lines that the terminal had; what it wrapped is one again. Spaces count for nothing."""
    lines = []
    for text in picture.iter(SVG + "text"):
        row = "".join("".join(text.itertext()).split())
        if text.get("class") == "more":
            lines[-1] += row
        else:
            lines.append(row)
    return lines


def wanted():
    """Patterns, each of a whole line or its end. Numbers that differ each time are any."""
    yield re.escape("$" + draw.COMMAND.replace(" ", ""))
    for line in read("tests/demo/demo.policy").split("[files]\n")[1].splitlines():
        yield re.escape("".join(line.split()))
    port, mark = 12321, "1777.999"
    for number, one in enumerate(demo.attempts(draw.SCRATCH, port, mark), 1):
        for text in (f"{number}. {one.title}", "$ " + one.command, "it is allowed: " + one.allowed_inside):
            text = re.escape("".join(text.split()))
            text = text.replace(str(port), r"\d+").replace(re.escape(mark[1:]), r"[\d.]+")
            yield text.replace(re.escape("[1]"), r"\[1\]")
    yield r"Allofthisbehavedasitshould\."


complaints, shown = [], []
try:
    root = xml.etree.ElementTree.fromstring(read(PAGE))
    shown = terminal(root)
except xml.etree.ElementTree.ParseError as e:
    complaints.append(f"{PAGE}: not well-formed: {e}")
else:
    complaints += [f"{PAGE}: refers to something else: {e.tag}" for e in root.iter()
                   if e.tag not in [SVG + t for t in ("svg", "title", "style", "rect", "text", "tspan")]
                   or any(re.search("href|^on", name) for name in e.attrib)]
    complaints += [f"{PAGE}: no line shows {w} (draw it anew: tests/demo/draw.py BUILD)" for w in wanted()
                   if not any(re.search(f"{w}$", line) for line in shown)]
    complaints += [f"{PAGE}: {line}" for line in shown
                   if line.startswith("WRONG") or re.search(r"/(var|home|root|work|build)/", line)]
    if re.search(r"@|url\(", "".join(root.find(SVG + "style").itertext())):
        complaints.append(f"{PAGE}: its style fetches something")
finish(complaints, shown)
