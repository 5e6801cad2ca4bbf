#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 900
# The report as a browser draws it, wide and narrow, light and dark: the picture is not empty, is as
# light or dark as it was asked for, and nothing reaches beyond the page.
set -u
. "$WARD_SRC/tests/support/audit.sh"

browser=$(command -v chromium-headless-shell || command -v chromium) || {
	echo "no Chromium (Debian: chromium-headless-shell)"
	exit 77
}
long=$(printf '%0200d' 0)
run --session r --events 31 --every --name "/workspace/$long/<b>$long"
deep=/workspace
i=0
while [ $i -lt 60 ]; do
	deep=$deep/d
	i=$((i + 1))
done
run --session deep --events 3 --name "$deep/file"

# draw PAGE WIDTH SCHEME(0 dark, 1 light) NAME: NAME.png, and NAME.dom as it is then
draw() {
	HOME=$PWD timeout 300 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
		--disable-dev-shm-usage --user-data-dir="$PWD/profile" --window-size="$2,450" \
		--blink-settings=preferredColorScheme="$3" --dump-dom "--screenshot=$PWD/$4.png" \
		"file://$PWD/$1" >"$4.dom" 2>browser.err || fail "the browser: $(cat browser.err)"
	[ -s "$4.png" ] || fail "the browser: $(cat browser.err)"
}
# look NAME SCHEME [measured]: the picture (or not), and what the page measured of itself; prints what is
# wrong
look() {
	python3 - "$1" "$2" "${3:-}" <<'EOP'
import json, re, struct, sys, zlib

name, scheme, only = sys.argv[1:]
def look_at_picture():
    data = open(name + ".png", "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        packed += body if kind == b"IDAT" else b""
        at += 12 + size
    assert depth == 8 and colour in (2, 6), (depth, colour)
    n = {2: 3, 6: 4}[colour]
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * n)
    for y in range(height):  # PNG, 9.2: filters
        kind, line = raw[y * (width * n + 1)], bytearray(raw[y * (width * n + 1) + 1:(y + 1) * (width * n + 1)])
        for x in range(len(line) if kind else 0):
            a, b, c = line[x - n] if x >= n else 0, before[x], before[x - n] if x >= n else 0
            if kind == 4:
                p = a + b - c
                pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
                more = a if pa <= pb and pa <= pc else b if pb <= pc else c
            else:
                more = {1: a, 2: b, 3: (a + b) // 2}[kind]
            line[x] = (line[x] + more) & 255
        rows.append(bytes(line))
        before = line
    pixels = [row[x:x + 3] for row in rows for x in range(0, width * n, n)]
    colours = {}
    for p in pixels:
        colours[p] = colours.get(p, 0) + 1
    ground = max(colours, key=colours.get)
    drawn = len(pixels) - colours[ground]
    if len(colours) < 16 or drawn < len(pixels) // 200:
        print(f"{name}: nothing is drawn: {len(colours)} colours, {drawn} of {len(pixels)} pixels")
    light = sum(ground) > 384
    if light != (scheme == "1"):
        print(f"{name}: the ground is {ground.hex()}")
    # Letters and bars are told from the ground.
    if max(abs(sum(c) - sum(ground)) for c, k in colours.items() if k > 20) < 200:
        print(f"{name}: hardly anything can be read")


if not only:
    look_at_picture()
found = re.search(r'data-measured="([^"]*)"', open(name + ".dom", encoding="utf-8").read())
if not found:
    print(f"{name}: the page was not measured")
else:
    m = json.loads(found[1].replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">"))
    if m["dark"] == (scheme == "1"):
        print(f"{name}: the browser was not asked for that scheme")
    if m["over"] or m["scroll"] > m["client"]:
        print(f"{name}: reaches beyond the page ({m['scroll']} of {m['client']}): {m['over']}")
    if m["elements"] < 40:
        print(f"{name}: {m['elements']} elements")
EOP
}
# The page has no script, and its policy forbids one: the copy that is measured has both changed.
measured() {
	python3 - "$1" "$2" <<'EOP'
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
EOP
}

for session in r deep; do
	audit report -o $session.html $session 2>/dev/null || fail "report"
	measured $session.html $session.measured.html || fail "no policy in the page"
done
for width in 900 360; do
	for scheme in 0 1; do
		draw r.measured.html $width $scheme p$width-$scheme
		wrong=$(look p$width-$scheme $scheme) || fail "no picture"
		[ -z "$wrong" ] || fail "$wrong"
	done
done
draw deep.measured.html 360 1 deep
wrong=$(look deep 1 measured) || fail "no picture"
[ -z "$wrong" ] || fail "$wrong"
# The page as it is, with its policy and without a script, is the same picture but for what is folded.
draw r.html 900 1 plain
wrong=$(look plain 1)
case $wrong in
"plain: the page was not measured") ;;
*) fail "the page itself: $wrong" ;;
esac

# controls: what is empty, too wide, or of the wrong colour is told
echo '<!DOCTYPE html><meta http-equiv="Content-Security-Policy" content=""><body></body>' >empty.html
measured empty.html empty.measured.html
draw empty.measured.html 360 1 empty
look empty 1 | grep -q 'nothing is drawn' || fail "control: an empty page"
sed 's/<body>/<body><p style="width:900px">wide<\/p>/' r.html >wide.html
measured wide.html wide.measured.html
draw wide.measured.html 360 1 wide
look wide 1 measured | grep -q 'reaches beyond' || fail "control: a page that is too wide"
look p360-0 1 | grep -q 'the ground is' || fail "control: dark where light was asked for"
