#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""draw.py BUILD: records the demonstration on a terminal, and draws docs/demo.svg from it.

The terminal is a pty of COLUMNS columns; the picture has every line of it, wrapped where a terminal
wraps, in the colours that were sent. Of the machine nothing is kept: the scratch directory is called
SCRATCH. The picture is text in whatever monospaced font there is, and refers to nothing.
"""
import fcntl
import html
import itertools
import os
import pty
import re
import struct
import sys
import termios

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = os.path.join(HERE, "../../docs/demo.svg")
COLUMNS, SCRATCH = 104, "/tmp/demo"
COMMAND = "./bootstrap run"
# Of 12 px monospaced text; every run of text is stretched to its columns, whatever the font.
CELL, LINE, MARGIN, HEAD = 7.2, 16, 14, 34
STYLE = """
 text { font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d1d7e0; white-space: pre }
 .window { fill: #151b23; stroke: #3d444d } .bold { font-weight: bold; fill: #f0f6fc } .green { fill: #3fb950 }
 .red { fill: #f85149; font-weight: bold } .typed { fill: #79c0ff } .title { fill: #9198a1 }
"""
CLASSES = {"1": "bold", "32": "green", "31;1": "red"}


def record(build):
    """(status, text): the demonstration, as a terminal gets it."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.pop("NO_COLOR", None)
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.execv(sys.executable, [sys.executable, os.path.join(HERE, "demo.py"), build])
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    text = b""
    try:
        while part := os.read(fd, 65536):
            text += part
    except OSError:
        pass  # the other end is closed: EIO
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    text = text.decode("utf-8", "replace").replace("\r\n", "\n")
    return status, re.sub(r"/[\w/.-]*/wardfs-demo\.\w+", SCRATCH, text)


def rows(text):
    """[(whether it goes on with the row before, [(class, text)])]: the rows of the terminal."""
    found, kind = [], ""
    for line in text.rstrip("\n").split("\n"):
        cells = []
        for sequence, plain in re.findall(r"\033\[([0-9;]*)m|([^\033]+)", line):
            cells += [(kind, c) for c in plain]
            kind = kind if plain else CLASSES.get(sequence, "")
        if "".join(c for _, c in cells).startswith("  $ "):
            cells = [("typed", c) for _, c in cells]
        for start in range(0, max(1, len(cells)), COLUMNS):
            groups = itertools.groupby(cells[start:start + COLUMNS], lambda cell: cell[0])
            found.append((start > 0, [(k, "".join(c for _, c in g)) for k, g in groups]))
    return found


def svg(drawn):
    width = round(2 * MARGIN + COLUMNS * CELL)
    height = HEAD + LINE * len(drawn) + MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           f'viewBox="0 0 {width} {height}" role="img">',
           f"<title>{COMMAND}: the demonstration, recorded on a terminal</title>",
           f"<style>{STYLE}</style>",
           f'<rect class="window" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
           f'<text class="title" x="{MARGIN}" y="20">$ {COMMAND}</text>']
    for number, (more, parts) in enumerate(drawn):
        spans, column = [], 0
        for kind, text in parts:
            kind = f' class="{kind}"' if kind else ""
            # Spaces at the front are kept in place by x alone.
            start = column + len(text) - len(text.lstrip(" "))
            shown = text.strip(" ")
            if shown:
                spans.append(f'<tspan{kind} x="{MARGIN + start * CELL:.1f}" '
                             f'textLength="{len(shown) * CELL:.1f}" '
                             f'lengthAdjust="spacingAndGlyphs">{html.escape(shown, False)}</tspan>')
            column += len(text)
        if spans:
            of = ' class="more"' if more else ""
            out.append(f'<text{of} y="{HEAD + LINE * (number + 1) - 4}">{"".join(spans)}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    status, text = record(os.path.abspath(sys.argv[1]))
    if status != 0:
        sys.exit(f"draw.py: the demonstration went wrong: {text}")
    with open(TARGET, "w", encoding="utf-8") as f:
        f.write(svg(rows(text)))


if __name__ == "__main__":
    main()
