# SPDX-License-Identifier: Apache-2.0
# Part of ../report.sh.
import base64, hashlib, html.parser, json, re, sys

hostile = sys.argv[1]
page = open("page.html", encoding="utf-8").read()
report, summary = json.load(open("page.json")), json.load(open("summary.json"))
assert summary.pop("session") and summary.pop("about")
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
    VOID = ("meta", "rect", "line", "br", "input")
    def __init__(self):
        super().__init__()
        self.stack, self.tags, self.items, self.text = [], set(), [], []
    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        for name, value in attrs:
            assert not name.startswith("on") and name != "src", (tag, name)
            assert name != "href" or value.startswith("#"), (tag, value)
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
assert not p.tags & {"img", "link", "iframe", "object"}, p.tags
# One script, whose digest the page's own policy has: no other would run.
scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
assert len(scripts) == 1 and page.count("<script") == 1, scripts
digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
assert f"script-src 'sha256-{digest}'\"" in page, "the page's policy forbids its own script"
# The table of contents leads somewhere, headings come in their order, tables have headers.
ids = set(re.findall(r'<h2 id="(\w+)"', page))
assert ids and ids == set(re.findall(r'<a href="#(\w+)"', page)), ids
assert page.count("<h1>") == 1 and page.index("<h1>") < page.index("<h2 ")
assert all("<th scope=" in t for t in re.findall(r"<table>.*?</table>", page, re.S))
assert "@media print" in page
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
# The first paragraph says in words what the figures say.
files = summary["files"]
for said in (page, md.replace("`", "")):
    said = re.sub("</?code>", "", said)
    for words in ("It opened %d file" % files["read"] if files["read"] else "It opened no file",
                  "4 accesses were refused.", "The trail is complete and unaltered."):
        assert words in said, words
    assert re.search(r"(On|From) \d+ \w+ \d{4}", said), "no day"
rows = [line for line in md.splitlines() if line.startswith("| 4 | open")]
assert len(rows) == 1 and rows[0].count("|") == 5, md
for row in (r"\| from \| `2.+Z( \(clock .+\))?` \|", r"\| `/workspace/t0-7` \| .+ \| #\d+ \|"):
    assert re.search("^" + row + "$", md, re.M), (row, md)
