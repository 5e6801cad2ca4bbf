# SPDX-License-Identifier: Apache-2.0
# Part of ../report-picture.sh.
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
page, n = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
assert n == 1
open(sys.argv[2], "w", encoding="utf-8").write(page + """<script>
for (const d of document.querySelectorAll("details")) d.open = true;
const width = document.documentElement.clientWidth, all = document.querySelectorAll("body *");
const over = [...all].filter(e => !e.closest("svg") || e.tagName == "svg").filter(e => {
  const r = e.getBoundingClientRect();
  return r.right > width + 0.5 || r.left < -0.5 ||
    (e.tagName != "SCRIPT" && e.clientWidth && e.scrollWidth > e.clientWidth + 1);
}).map(e => e.tagName + " " + Math.round(e.getBoundingClientRect().right));
document.body.dataset.measured = JSON.stringify({client: width, elements: all.length,
  scroll: document.documentElement.scrollWidth, over: over.slice(0, 5),
  dark: matchMedia("(prefers-color-scheme: dark)").matches});
</script>""")
