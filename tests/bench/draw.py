#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""draw.py BENCH.json: the picture and the tables of docs/performance.md.

Takes what `bench.py --json` wrote; writes docs/performance.svg, and between the marks of
docs/performance.md what people run, each operation, and what machine it was. The axis is
logarithmic: 1 is native speed.
"""
import html
import json
import math
import os
import sys

from tables import ALONE, ROWS

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs")
SERIES = ("guarded", "bindfs", "fuse-overlayfs")
LEFT, WIDTH, BAR, GAP, TOP, RIGHT = 210, 460, 9, 12, 58, 60
STYLE = """
 text { font: 13px sans-serif; fill: #1f2328 } .small { font-size: 11px; fill: #59636e }
 .grid { stroke: #d1d9e0 } .native { stroke: #1f2328 } .back { fill: #ffffff }
 .guarded { fill: #0969da } .bindfs { fill: #bf8700 } .fuse-overlayfs { fill: #8c959f }
 @media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .small { fill: #9198a1 } .grid { stroke: #3d444d }
  .native { stroke: #f0f6fc } .back { fill: #0d1117 }
  .guarded { fill: #4493f8 } .bindfs { fill: #d29922 } .fuse-overlayfs { fill: #656c76 } }
"""
# What people run; all other rows are single operations.
WORK = ("c-build", "cargo-build", "npm-ci", "vite-build", "pytest", "git-clone", "git-status-warm", "rg-cold",
        "rg-warm")
COLUMNS = {"guarded": "wardfs", "rootless": "as an ordinary user", "hostd": "with `wardfs-hostd`",
           "bindfs": "bindfs", "fuse-overlayfs": "fuse-overlayfs", "bwrap": "bubblewrap"}
MARKS = {"work": ("<!-- work -->\n", "<!-- end of work -->\n"),
         "figures": ("<!-- figures -->\n", "<!-- end of figures -->\n")}


def number(ratio):
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def svg(rows):
    ratios = [r for row in rows.values() for r in row["ratio"].values()]
    low = min(0.5, *ratios)
    high = max(10, *ratios)

    def x(ratio):
        return LEFT + WIDTH * (math.log(ratio) - math.log(low)) / (math.log(high) - math.log(low))

    body, y = [], TOP
    for name, row in rows.items():
        series = [s for s in SERIES if s in row["ratio"]]
        middle = y + BAR * len(series) / 2 + 4
        body.append(f'<text x="{LEFT - 8}" y="{middle:.1f}" text-anchor="end">'
                    f'{html.escape(ROWS[name][1])}</text>')
        for s in series:
            ratio = row["ratio"][s]
            begin, end = sorted((x(1), x(ratio)))
            body.append(f'<rect class="{s}" x="{begin:.1f}" y="{y}" height="{BAR - 1}" '
                        f'width="{max(end - begin, 1.5):.1f}"/>'
                        f'<text class="small" x="{end + 4:.1f}" y="{y + BAR - 1}">{number(ratio)}</text>')
            y += BAR
        y += GAP
    grid = [f'<line class="{"native" if r == 1 else "grid"}" x1="{x(r):.1f}" x2="{x(r):.1f}" '
            f'y1="{TOP - 8}" y2="{y - GAP + 4}"/>'
            f'<text class="small" x="{x(r):.1f}" y="{TOP - 14}" text-anchor="middle">{r:g}</text>'
            for r in (1, 2, 5, 10, 20, 50, 100) if low <= r <= high]
    legend = "".join(f'<rect class="{s}" x="{LEFT + 150 * i}" y="12" width="12" height="12"/>'
                     f'<text x="{LEFT + 18 + 150 * i}" y="22">'
                     f'{"wardfs" if s == "guarded" else s}</text>' for i, s in enumerate(SERIES))
    width, height = LEFT + WIDTH + RIGHT, y + 4
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">\n'
            f'<title>Time as a ratio to native, logarithmic</title>\n<style>{STYLE}</style>\n'
            f'<rect class="back" width="{width}" height="{height}"/>\n'
            + "\n".join([legend, *grid, *body]) + "\n</svg>\n")


def machine_line(bench):
    machine = bench["machine"]
    return (f'Linux {machine["kernel"].split("-")[0]}, {machine["cpus"]} virtual CPUs, '
            f'{"quiet" if machine["quiet"] else "not quiet"}; trail on (`log = opens`); '
            f'median of {bench["rounds"]} interleaved rounds.')


def ratios(rows, goals):
    columns = [c for c in COLUMNS if any(c in row["ratio"] for row in rows.values())]
    head = ["", "native", *(COLUMNS[c] for c in columns), *(["to reach"] if goals else [])]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name, row in rows.items():
        cells = [ROWS[name][1], f'{row["median"]["native"]:.3f} s',
                 *(number(row["ratio"][c]) if c in row["ratio"] else "–" for c in columns)]
        if goals:
            cells.append(f"≤ {ROWS[name][2]}" if ROWS[name][2] else "")
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def table(bench, rows):
    lines = [machine_line(bench), "", *ratios(rows, True)]
    start = bench["rows"].get("start")
    if start:
        ms = start["median_ms"]
        lines += ["", "Start of `wardfs run -- true`: " + f'{ms["guarded"]:.0f} ms'
                  + (f', of bwrap {ms["bwrap"]:.0f} ms' if "bwrap" in ms else "")
                  + f', of `true` alone {ms["native"]:.1f} ms.'
                  + (f' The probes before the command take {ms["probes"]:.1f} ms of it.'
                     if "probes" in ms else "")]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    with open(sys.argv[1], encoding="utf-8") as f:
        bench = json.load(f)
    rows = {name: row for name, row in bench["rows"].items() if name in ROWS and name not in ALONE}
    work = {name: rows.pop(name) for name in WORK if name in rows}
    page = os.path.join(DOCS, "performance.md")
    with open(page, encoding="utf-8") as f:
        text = f.read()
    for name, made in (("work", "\n".join(ratios(work, False)) + "\n"), ("figures", table(bench, rows))):
        before, rest = text.split(MARKS[name][0])
        after = rest.split(MARKS[name][1])[1]
        text = before + MARKS[name][0] + made + MARKS[name][1] + after
    with open(os.path.join(DOCS, "performance.svg"), "w", encoding="utf-8") as f:
        f.write(svg(work | rows))
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
