#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""draw.py BENCH.json...: the picture and the tables of docs/performance.md.

Takes files that `bench.py --json` wrote. A row of a later file replaces that row of an earlier one.
Files of `bench.py --one-cpu` make the table of one CPU, and nothing else. Writes
docs/performance.svg, and what stands between the marks of docs/performance.md; what the files do
not have stays as it is. The axis is logarithmic: 1 is native speed.
"""
import html
import json
import math
import os
import sys
import textwrap

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
START = {"guarded": "`wardfs run -- true`", "warm": "the same, takes a prepared session",
         "exec": "`wardfs exec` in a running session", "bwrap": "`bwrap --unshare-all … true`",
         "native": "`true` alone"}



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


def machine_lines(bench, *more):
    machine, rounds = bench["machine"], bench["rounds"]
    rounds = "one round" if rounds == 1 else f"median of {rounds} interleaved rounds"
    shape = ("one virtual CPU" if machine["cpus"] == 1 else f'{machine["cpus"]} virtual CPUs') + (
        " (everything kept on one of several)" if machine.get("one_cpu") else "")
    where = f'{machine["file_system"]}, ' if "file_system" in machine else ""
    text = (f'Linux {machine["kernel"].split("-")[0]}, {shape}, {where}{"" if machine["quiet"] else "not "}quiet; '
            f'{"as root; " if machine["root"] else ""}trail on (`log = opens`); {rounds}.')
    return [*textwrap.wrap(text, 100), *more]


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


def start_table(bench):
    row = bench["rows"]["start"]
    kinds = [kind for kind in START if kind in row["median_ms"]]
    lines = ["| start, ms | median | slowest in a hundred |", "|---|---|---|"]
    lines += [f'| {START[k]} | {row["median_ms"][k]:.1f} | {row["p99_ms"][k]:.1f} |' for k in kinds]
    text = (f'{len(row["rounds"]["guarded"])} starts of each, one after the other, '
            f'{"" if bench["machine"]["quiet"] else "not "}quiet.')
    if "probes" in row["median_ms"]:
        text += (' Of a start of `wardfs run`, the probes before the command take '
                 f'{row["median_ms"]["probes"]:.1f} ms.')
    return [*lines, "", *textwrap.wrap(text, 100)]


def ratio_rows(bench):
    """Of what people run, and of single operations."""
    rows = {name: row for name, row in bench["rows"].items() if name in ROWS and name not in ALONE}
    work = {name: rows.pop(name) for name in WORK if name in rows}
    return work, rows


def parts(bench, one_cpu):
    """Lines by the name of their marks."""
    result = {}
    if bench:
        work, rows = ratio_rows(bench)
        if work:
            result["work"] = machine_lines(bench, "", *ratios(work, False))
        if rows:
            result["figures"] = machine_lines(bench, "", *ratios(rows, True))
        if "start" in bench["rows"]:
            result["start"] = start_table(bench)
    if one_cpu:
        work, rows = ratio_rows(one_cpu)
        result["one-cpu"] = machine_lines(one_cpu)
        if work or rows:
            result["one-cpu"] += ["", *ratios(work | rows, False)]
        if "start" in one_cpu["rows"]:
            result["one-cpu"] += ["", *start_table(one_cpu)]
    return result


def filled(text, found):
    """The page with these lines between its marks."""
    for name, lines in found.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, rest = text.split(begin)
        text = before + begin + "\n".join(lines) + "\n" + end + rest.split(end)[1]
    return text


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    shapes = {False: {}, True: {}}
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            bench = json.load(f)
        before = shapes[bench["machine"].get("one_cpu", False)]
        rows = before.get("rows", {}) | bench["rows"]
        before.update(bench, rows=rows)
    bench = shapes[False]
    page = os.path.join(DOCS, "performance.md")
    with open(page, encoding="utf-8") as f:
        text = filled(f.read(), parts(bench, shapes[True]))
    work, rows = ratio_rows(bench) if bench else ({}, {})
    if rows:
        with open(os.path.join(DOCS, "performance.svg"), "w", encoding="utf-8") as f:
            f.write(svg(work | rows))
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
