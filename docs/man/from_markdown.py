#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the text of a manual page (mdoc) from the Markdown that our documents use.

Headings, paragraphs, lists within lists, tables and blocks of code. What stands between
<!-- keys --> and <!-- end of keys --> is left out: the manual page has its own list of keys.
"""
import re

LEFT_OUT = re.compile(r"^<!-- keys -->\n.*?^<!-- end of keys -->\n", re.M | re.S)
ROW = re.compile(r"(?<!\\)\|")
SHORT = 16  # cells of a table that is drawn as one, but for those of its first column
FIRST = 22  # how wide that column is; the others are one blank apart, for 78 columns


def escaped(text):
    """Text as roff prints it."""
    return text.replace("\\", r"\e").replace("~", r"\(ti").replace("^", r"\(ha")


def inline(text):
    """Code and bold are bold, emphasis is italic, a link is its text."""
    out = []
    for n, part in enumerate(re.split(r"`([^`]*)`", text)):
        if n % 2:
            out.append(r"\fB" + escaped(part).replace("`", r"\(ga") + r"\fP")
            continue
        out.append(escaped(part))
    line = "".join(out)
    line = re.sub(r"\[((?:[^\[\]]|\[[a-z]+\])*)\]\([^)\s]*\)", r"\1", line)
    line = re.sub(r"\*\*(\S(?:.*?\S)?)\*\*", r"\\fB\1\\fP", line)
    return re.sub(r"(?<![\w*/])\*([A-Za-z][^*]*?)\*(?![\w*])", r"\\fI\1\\fP", line)


def sentences(text):
    """Each sentence on a line of its own, and none that roff takes for a request."""
    made = inline(text)
    for line in re.sub(r"([A-Za-z0-9)*\]P]{2}[.:]|[a-z]\)\.)\s+(?=[A-Z])", "\\1\n", made).split("\n"):
        yield (r"\&" if line[:1] in (".", "'") else "") + line


def argument(text):
    """Text behind a macro, in which no word may be a macro."""
    words = [r"\&" + w if re.fullmatch(r"[A-Z%][a-z]{1,2}|[.,:;()\[\]?!|]", w) else w
             for w in inline(text).replace('"', r"\(dq").split()]
    return " ".join(words)


def cells(line):
    return [c.strip().replace("\\|", "|") for c in ROW.split(line.strip().strip("|"))]


def table(lines):
    head, rows = cells(lines[0]), [cells(line) for line in lines[2:]]
    if all(len(c.strip("`")) <= SHORT for r in [head] + rows for c in r[1:]) and len(head) > 4:
        yield from (".TS", "tab(|);", f"lbw({FIRST})1" + " lb1" * (len(head) - 2) + " lb",
                    f"lw({FIRST})1" + " l1" * (len(head) - 2) + " l.")
        for row in [head] + rows:
            first = inline(row[0])
            yield "|".join(["T{\n" + first + "\nT}"] + [inline(c) for c in row[1:]])
        yield ".TE"
        return
    yield ".Bl -tag -width Ds"
    for row in rows:
        yield f".It {argument(row[0]) or chr(92) + '&'}"
        told = [(n, c) for n, c in zip(head[1:], row[1:]) if c]
        for k, (name, cell) in enumerate(told):
            yield from [".br"] if k else []
            yield from sentences(f"*{name.replace('`', '')}*: {cell}" if len(head) > 2 and name else cell)
    yield ".El"


def depth(line):
    return len(line) - len(line.lstrip(" "))


def items(lines):
    """A list, with the lists in it."""
    yield ".Bl -bullet"
    at, here = 0, depth(lines[0])
    while at < len(lines):
        text = [lines[at].lstrip(" ")[2:]]
        at += 1
        while at < len(lines) and not lines[at].lstrip(" ").startswith("- "):
            text.append(lines[at].strip())
            at += 1
        yield ".It"
        yield from sentences(" ".join(text))
        inner = at
        while at < len(lines) and depth(lines[at]) > here:
            at += 1
        if at > inner:
            yield from items(lines[inner:at])
    yield ".El"


def code(lines):
    yield ".Bd -literal -offset indent"
    for line in lines:
        shown = escaped(line).replace("`", r"\(ga")
        yield (r"\&" if shown[:1] in (".", "'") else "") + shown
    yield ".Ed"


def blocks(text):
    """(kind, lines) of each block of the page."""
    lines, at = LEFT_OUT.sub("", text).split("\n"), 0
    while at < len(lines):
        line, start = lines[at], at
        at += 1
        if line.startswith("```"):
            while lines[at] != "```":
                at += 1
            at += 1
            yield "code", lines[start + 1:at - 1]
        elif line.startswith("#"):
            yield "heading", [line]
        elif line.startswith("    "):
            while at < len(lines) and lines[at].startswith("    "):
                at += 1
            yield "code", [x[4:] for x in lines[start:at]]
        elif line.strip():
            kind = "table" if line[0] == "|" else "list" if line.startswith("- ") else "text"
            while at < len(lines) and lines[at].strip() and not lines[at].startswith(("#", "```")) \
                    and (kind != "text" or not lines[at].startswith(("- ", "|"))):
                at += 1
            yield kind, lines[start:at]


def mdoc(text):
    """The page but for what stands above its second heading."""
    out, began = [], False
    for kind, lines in blocks(text):
        if kind == "heading":
            began = began or lines[0].startswith("## ")
            if began:
                level, _, title = lines[0].partition(" ")
                name = argument(title.upper() if level == "##" else title)
                out.append(f".{'Sh' if level == '##' else 'Ss'} {name}")
        elif began:
            if kind == "text" and not out[-1].startswith((".Sh", ".Ss")):
                out.append(".Pp")
            out += {"text": lambda x: sentences(" ".join(x)), "list": items, "table": table,
                    "code": code}[kind](lines)
    return "\n".join(out) + "\n"
