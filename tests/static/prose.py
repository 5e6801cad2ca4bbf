#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of text have at most 100 columns, and sentences that users read at most 30 words.

Columns: documents, sources of manual pages, and comments that are lines of their own. Not: fenced
blocks of code and what they print, and lines with a piece of code that cannot be broken. A cell of a
table may take two lines of a terminal, but for a cell of the names of members.
Words: README.md, SECURITY.md, the pages in docs/, manual pages, and the texts of the programs:
messages, what verbs print, --help, and the fixes and findings of doctor and check.
Inversions: turns of phrase that make people read a sentence twice, in every document and text.
"""
import re
import sys

from _sources import files, finish, read

COLUMNS, WORDS = 100, 30
CELL = 160  # columns of a cell of a table: two lines of a terminal
SPAN = 60  # a piece of code of so many columns excuses its line
# "HOST:PORT is meant" becomes "give HOST:PORT": each has a plain form with the actor first.
INVERTED = re.compile(
    r"\bis meant\b(?! to)|(?<!line )\bof which\b|\bnone is\b|\bneither is\b|\b(?:is|are) none of\b"
    r"|\bdo(?:es)? not know (?:it|this|that)\b|\bwhat is (?:no|such|none)\b|\bis to be had\b"
    r"|\bwhat is \w+ is what\b|\bthe former\b|^What [^,.?]+, is\b", re.I)
CALLS = re.compile(r"\b(ward_err_set|ward_err_wrap|ward_tellf?|ward_sayf?|ward_outf|ward_check_say"
                   r"|ward_buf_puts|ward_buf_printf|say_entry|say_rule|say_reach)\(")
# Macros of mdoc(7) that end a sentence, and those whose arguments are words.
STRUCTURE = {"Sh", "Ss", "Pp", "It", "Bl", "El", "Bd", "Ed", "D1", "Dl", "Dd", "Dt", "Os", "Nd", "\\\""}
QUOTED = {"Pq", "Dq", "Sq", "Po", "Pc", "No", "Em", "Sy"}
STRUCTURE_INLINE = {"Ns", "Fl", "Ar", "Cm", "Pa", "Xr", "Li", "Sx", "Nm", "Op", "Ev", "Er", "No"}
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\s*(?:"(?:[^"\\]|\\.)*"|PRI\w+))*')


def wide(line):
    return len(line.expandtabs(8)) > COLUMNS


def long_lines(text):
    """Numbers of the lines of a document that are too long."""
    code = False
    for number, line in enumerate(text.splitlines(), 1):
        fence = line.strip().startswith("```")
        code = code != fence
        if fence or code or not wide(line) or line.startswith("|"):
            continue
        if not any(len(span) > SPAN for span in re.findall(r"`[^`]*`|\]\([^)]*\)|\S+", line)):
            yield number


def long_cells(text):
    """Numbers of the lines of a table with a cell that is too long; links count by their text."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|"):
            cells = re.split(r"(?<!\\)\|", re.sub(r"\]\([^)]*\)", "]", line))
            if any(len(cell.strip()) > CELL and not re.fullmatch(r" *`[a-z0-9_ ]*` *", cell)
                   for cell in cells):
                yield number


def long_comments(text, mark):
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if wide(line) and words.startswith(mark) and "shellcheck" not in words \
                and max(map(len, words.split())) <= SPAN and not words.startswith("#!"):
            yield number


def prose(text):
    """The sentences of a page: without code blocks, tables, headings."""
    text = re.sub(r"^```.*?^```$", "\n", text, flags=re.M | re.S)
    text = re.sub(r"^(\||#|    |<|\[[^\]]*\]\(\S*\)(?: ·)?$).*$", "", text, flags=re.M)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(r"`[^`]*`", "CODE", text)
    for block in re.split(r"\n\s*\n|^\s*(?:[-*]|\d+\.)\s+", text, flags=re.M):
        yield from sentences(" ".join(block.split()))


def sentences(text):
    return re.split(r"(?<=[.:?!;])[*)\"']*\s+", text)


def manual(text):
    """The sentences of a page in mdoc(7). A literal counts as one word, as `code` does in prose()."""
    displayed = False
    words = []
    text = re.sub(r"^\.Sh SYNOPSIS\n(?:(?!\.Sh).*\n)*", "", text, flags=re.M)
    for line in text.splitlines():
        name, _, rest = line.lstrip(".").partition(" ") if line.startswith(".") else ("", "", line)
        displayed = (displayed or name == "Bd") and name != "Ed"
        if name in STRUCTURE or displayed:
            yield from sentences(" ".join(words))
            words = []
        elif name in QUOTED:
            words.append(" ".join(w for w in rest.split() if w not in STRUCTURE_INLINE))
        elif name:
            end = re.search(r"(?: [.,:;)!?])+$", " " + rest)
            words.append("CODE" + (end.group().replace(" ", "") if end else ""))
        else:
            words.append(re.sub(r"\\&", "", line))
    yield from sentences(" ".join(words))


def helps(text):
    """(line, text) of what --help says: of options, and of a verb."""
    for table in re.finditer(r"\bconst struct argp(?:_option|_child)? \w+(?:\[\])? = ", text):
        depth, end = 0, table.end()
        while True:
            if text[end] == '"':
                end = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, end).end()
                continue
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
            if depth <= 0:
                break
        for run in TEXT.finditer(text, table.end(), end):
            said = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', run.group(0)))
            for part in re.split(r"\\v|\\n", said):
                yield text.count("\n", 0, run.start()) + 1, part


def has_sentences(path):
    """Is this a page whose sentences people read from the first to the last?"""
    return path in ("README.md", "SECURITY.md") or \
        re.match(r"docs/(?!adr/).*\.md$", path) is not None


def literals(text, at):
    """The format and the texts of a call: each run of literals among its arguments, joined."""
    depth, end = 1, at
    while depth and end < len(text):
        if text[end] == '"':
            end = re.compile(r'"(?:[^"\\]|\\.)*"').match(text, end).end()
            continue
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    for run in TEXT.finditer(text, at, end):
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', run.group(0)))


def messages(text):
    """(line, text) of each message."""
    for call in CALLS.finditer(text):
        for message in literals(text, call.end()):
            yield text.count("\n", 0, call.start()) + 1, message


def long_sentences(parts):
    for part in parts:
        part = re.sub(r"\b\w+\([^()]*\)", "CODE", part)  # table(column, column)
        words = [w for w in part.replace("\\n", " ").split() if re.search(r"\w", w)]
        if len(words) > WORDS:
            yield f"{len(words)} words: {part[:90]}"


def inversions(parts):
    for part in parts:
        found = INVERTED.search(part.replace("\\n", " "))
        if found:
            yield f"say it with the actor first, not with '{found.group()}': {part[:90]}"


def main():
    # The controls: each of these is found.
    line = "a " * 60
    if not list(long_lines(line)) or list(long_lines("| " + line)) \
            or list(long_lines(f"```\n{line}\n```")) or not list(long_lines("    " + line)) or not list(long_comments("# " + line, "#")):
        sys.exit("control: a long line")
    if not list(long_cells(f"| a | {'b ' * 90}|")) or list(long_cells(f"| {'b ' * 50}| {'b ' * 50}|")):
        sys.exit("control: a long cell")
    if not list(long_sentences(prose(line + "."))) or list(long_sentences(prose("a " * 20 + ". " + "a " * 20))):
        sys.exit("control: a long sentence")
    call = 'ward_err_set(err, 1, WARD_X(f(1)),\n\t"' + "a " * 20 + '"\n\t"' + "a " * 20 + '", b);'
    if not list(long_sentences(p for _, m in messages(call) for p in sentences(m))):
        sys.exit("control: a long message")
    fix = 'ward_check_say(c, WARD_X,\n\t"short",\n\t"' + "a " * 20 + '"\n\t"' + "a " * 20 + '", b);'
    if not list(long_sentences(p for _, m in messages(fix) for p in sentences(m))):
        sys.exit("control: a long fix")
    page = ".Ss a\n" + "a\n.Ar b ,\n" * 16 + "c.\n"
    if not list(long_sentences(manual(page))) \
            or list(long_sentences(manual(page.replace(".Ar b ,", ".Ar b .")))) \
            or list(long_sentences(manual(page.replace(".Ar b ,", ".Pp")))):
        sys.exit("control: a manual page")
    table = 'static const struct argp_option o[] = {\n{"x", 1, 0, 0, "' + "a " * 40 + '", 0},\n{0},\n};'
    for said in (table, 'const struct argp a = {o, p, NULL,\n"a.\\v' + "a " * 40 + '", NULL};'):
        if not list(long_sentences(p for _, m in helps(said) for p in sentences(m))):
            sys.exit("control: --help")
    for turned in ("a, of which one is b.", "tcp:a: HOST:PORT is meant", "What fails, is told.",
                   "'x' is none of: y", "the ledger does not know it"):
        if not list(inversions([turned])):
            sys.exit("control: an inversion")
    if list(inversions(["which line of which policy refused it", "it is meant to bind the owner"])):
        sys.exit("control: no inversion")
    if not has_sentences("docs/for-agents.md") or has_sentences("docs/adr/0001-libraries.md"):
        sys.exit("control: a page")
    complaints, looked_at = [], 0
    for path in files(".md", ".1", ".8", ".5.in"):
        looked_at += 1
        complaints += [f"{path}:{n}: more than {COLUMNS} columns" for n in long_lines(read(path))]
        complaints += [f"{path}:{n}: a cell of more than {CELL} columns" for n in long_cells(read(path))]
        if has_sentences(path):
            complaints += [f"{path}: {found}" for found in long_sentences(prose(read(path)))]
        if path.endswith((".1", ".8", ".5.in")):
            complaints += [f"{path}: {found}" for finds in (long_sentences, inversions)
                           for found in finds(manual(read(path)))]
        if path.endswith(".md"):
            complaints += [f"{path}: {found}" for found in inversions(prose(read(path)))]
    for path in files(".c", ".h", ".py", ".sh", ".build"):
        looked_at += 1
        mark = ("/*", "*", "//") if path.endswith((".c", ".h")) else "#"
        complaints += [f"{path}:{n}: a comment of more than {COLUMNS} columns"
                       for n in long_comments(read(path), mark)]
    for path in files(".c", ".h"):
        if path.startswith("tests/"):
            continue
        for number, message in (*messages(read(path)), *helps(read(path))):
            complaints += [f"{path}:{number}: {found}" for finds in (long_sentences, inversions)
                           for found in finds(sentences(message))]
    finish(complaints, looked_at)


main()
