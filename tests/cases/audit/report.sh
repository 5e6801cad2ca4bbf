#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The report: one page that needs nothing else, says what the trail says, and into which no name breaks.
set -u
. "$WARD_SRC/tests/support/audit.sh"

hostile='/w/<script src=//x>"&x'"'"'</ul></details><img onerror=1>/`|[a](b)'
run --session r --events 31 --name "$hostile"
audit report r >page.html || fail "report"
audit report r --format html -o page2.html || fail "-o"
audit report r --format md >page.md || fail "md"
audit report r --format json >page.json || fail "json"
audit summary --json r >summary.json
audit report r --format word >/dev/null 2>err
[ $? -eq 2 ] || fail "an unknown format"
[ -s page2.html ] || fail "-o wrote nothing"
grep -q '<strong>intact</strong>' page.html || fail "the verdict is missing"

python3 - "$hostile" <<'EOF' || fail "see above"
import html.parser, json, re, sys

hostile = sys.argv[1]
page = open("page.html", encoding="utf-8").read()
report, summary = json.load(open("page.json")), json.load(open("summary.json"))
assert report["summary"] == summary and report["verify"]["state"] == "intact"
assert sum(s["refused"] for s in report["slots"]) == summary["refusals"]["count"] == 4
assert sum(s["done"] for s in report["slots"]) == 28
assert report["files"][hostile]["rename"] == 2, report["files"]
# The records of each path, as the trail has them.
of = {}
for line in open("state/sessions/r/trail.jsonl"):
    r = json.loads(line)
    for path in {r.get("path"), r.get("path2")} - {None}:
        of.setdefault(path, []).append(r["seq"])
named = {p: [s for s in v if s] for p, v in report["records"].items()}
assert {p: v[:12] for p, v in of.items()} == named, (of, named)
assert any("#%d" % of[hostile][0] in line for line in page.split("\n")), "no record is named"

class Page(html.parser.HTMLParser):
    VOID = ("meta", "rect", "line", "br")
    def __init__(self):
        super().__init__()
        self.stack, self.tags, self.items, self.text = [], set(), [], []
    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("src", "href"), (tag, name)
            assert "url(" not in (value or ""), value
        if tag not in self.VOID:
            self.stack.append(tag)
        if tag == "li":
            self.items.append("")
    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
    def handle_endtag(self, tag):
        assert self.stack and self.stack.pop() == tag, (tag, self.stack, self.getpos())
    def handle_data(self, data):
        self.text.append(data)

p = Page()
p.feed(page)
p.close()
assert not p.stack, p.stack
assert not p.tags & {"script", "img", "link", "iframe", "object"}, p.tags
text = "".join(p.text)
for wanted in ("AU-9", "SOC 2 CC7.2", "t0-7", ".env", "medium:12 deny = .env"):
    assert wanted in text, wanted
# The last part of the hostile path stands there as it is.
assert "`|[a](b)" in text and "<script src=" in text
assert "default-src 'none'" in page and "prefers-color-scheme" in page
assert "http:" not in page and "https:" not in page and "@import" not in page
# Bars were drawn, and none leaves the picture.
bars = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"', page)
assert bars
for x, y, w, h in [tuple(map(float, b)) for b in bars]:
    assert 0 <= x and x + w <= 900 and 0 <= y and y + h <= 120.2, (x, y, w, h)

md = open("page.md", encoding="utf-8").read()
rows = [line for line in md.splitlines() if line.startswith("| 4 | open")]
assert len(rows) == 1 and rows[0].count("|") == 4, md
for row in (r"\| from \| `2.+Z` \|", r"\| `/workspace/t0-7` \| .+ \| #\d+ \|"):
    assert re.search("^" + row + "$", md, re.M), (row, md)
EOF

# A trail that was changed says so on its first lines.
sed -i 's/t0-7/t0-8/' state/sessions/r/trail.jsonl
audit report r | grep -q '<strong>edited</strong>' || fail "an edited trail"
audit report r --format md | grep -q '^Trail: \*\*edited\*\*' || fail "an edited trail, md"

# What was asked and approved, and what others changed, where there is something of it.
grep -q 'Asked and approved' page.html && fail "control: nothing was asked"
run --session every --events 5 --every
audit report every >every.html || fail "every"
audit report every --format md >every.md || fail "every, md"
audit report every --format json | python3 -c 'import json, sys
r = json.load(sys.stdin)
assert [a["kind"] for a in r["approvals"]] == ["ask", "grant"], r["approvals"]
assert len(r["external"]) == 1, r["external"]' || fail "approvals"
grep -q 'Asked and approved' every.html || fail "approvals are not on the page"
grep -q '>grant<' every.html || fail "which"
grep -q 'Changed by others' every.html || fail "external is not on the page"
grep -q '^- #.* grant' every.md || fail "approvals, md: $(cat every.md)"
