#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A browser draws the report, wide and narrow, light and dark. The picture is not empty, has the
# requested brightness, and nothing reaches beyond the page.
# timeout: 900
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

browser=$(command -v chromium-headless-shell || command -v chromium) || skip "no Chromium (Debian: chromium-headless-shell)"
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
# look NAME SCHEME [measured]: the picture (or not), and what the page measured of itself; prints
# what is wrong
look() {
	python3 "$WARD_SRC/tests/cases/audit/lib/report-picture-look.py" "$1" "$2" "${3:-}"
}
# The policy of the page permits its own script alone: the copy that is measured is without it.
measured() {
	python3 "$WARD_SRC/tests/cases/audit/lib/report-picture-measured.py" "$1" "$2"
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
# The page as it is, with its policy and without a script, is the same picture but for what is
# folded.
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
