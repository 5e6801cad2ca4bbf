#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# review diff shows content, and --patch is what git apply makes the same project of. No program of
# the project runs, and nothing in it reaches the terminal as it is.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

esc=$(printf '\033')
fresh
seq 100 >long
printf 'no end' >noend
printf 'a\0b' >binary
printf '#!/bin/sh\n' >script
ln -s changed link
mkdir -p d/deep 'sp ace'
echo x >d/deep/x
echo y >'sp ace/y"q'
cp -a . "$WARD_TMP/copy"
own
# What would run, if git or its configuration had a say.
printf '* diff=evil filter=evil\n' >.gitattributes
for key in diff.evil.command diff.evil.textconv diff.external filter.evil.smudge filter.evil.clean core.pager; do
	git config "$key" "touch $WARD_TMP/ran"
done
cp .gitattributes "$WARD_TMP/copy"
own
expect 0 "$WARDFS" run --review -s one -- sh -euc '
	sed -i "s/^50$/fifty/; s/^51$/fifty-one/; 3d" long; echo 101 >>long
	printf "no end, again" >noend; printf "c\0d" >binary; head -c 3000 /dev/urandom >new.bin
	chmod 755 script; chmod 600 noend; ln -sf removed link; rm removed; mv renamed moved; echo more >>moved; mv d e
	echo z >e/deep/x; rm e/two; echo "zzz" >"sp ace/y\"q"; : >empty; mkdir -p sub; echo s >sub/s; ln sub/s sub/t'
expect 0 "$WARDFS" review diff
has "$OUT" "diff --git a/long b/long"
has "$OUT" "-50
-51
+fifty
+fifty-one
 52"
has "$OUT" "\ No newline at end of file"
has "$OUT" "Binary files differ: 3 bytes, then 3"
has "$OUT" "old mode 100644
new mode 100755"
has "$OUT" "rename from d
rename to e"
has "$OUT" "link from sub/s
link to sub/t"
has "$OUT" "permissions 0644, then 0600"
expect 0 "$WARDFS" review diff long
hasnt "$OUT" "binary"

echo "--- git apply makes the same of the copy"
"$WARDFS" review diff --patch >"$WARD_TMP/patch"
cd "$WARD_TMP/copy"
git init -q .
git config core.quotePath false
git -c core.attributesFile=/dev/null apply --whitespace=nowarn "$WARD_TMP/patch" || fail "git apply: $(cat "$WARD_TMP/patch")"
cd "$PROJECT"
expect 1 "$WARDFS" review apply
expect 0 "$WARDFS" review apply script
tree() {
	find "$1" -path "$1/.git" -prune -o -type f -printf '%P %#m\n' -o -type l -printf '%P %l\n' |
		sed 's/ 0600$/ 0644/' | sort
	(cd "$1" && find . -path ./.git -prune -o -type f -exec sha256sum {} + | sort -k2)
}
[ "$(tree "$PROJECT")" = "$(tree "$WARD_TMP/copy")" ] || {
	tree "$PROJECT" >a
	tree "$WARD_TMP/copy" | diff a - >b || :
	fail "git apply made another project: $(cat b)"
}
echo "--- after the apply the old content comes from what is kept"
before=$(cat "$WARD_TMP/patch")
"$WARDFS" review diff --patch long noend >"$WARD_TMP/again"
grep -q '^-50$' "$WARD_TMP/again" || fail "not the old content: $(cat "$WARD_TMP/again")"
[ -n "$before" ] && [ ! -e "$WARD_TMP/ran" ] || fail "a program of the project ran"

echo "--- names and content with control characters"
fresh
expect 0 "$WARDFS" run --review -s two -- python3 -c '
open("x\033[31my\n+++ b", "w").write("new\033]0;title\007\r\n")
open("changed", "a").write("\033[2J\xe2\x80\xae\n")'
for word in "" --stat --name-status --json; do
	"$WARDFS" review diff $word >"$WARD_TMP/out" 2>&1 || fail "diff $word"
	! grep -q "$esc" "$WARD_TMP/out" || fail "diff $word printed an escape sequence"
	! grep -q "^+++ b$" "$WARD_TMP/out" || fail "diff $word: a name made a line"
done
"$WARDFS" review diff --patch >"$WARD_TMP/patch"
grep -q "$esc" "$WARD_TMP/patch" || fail "control: --patch has the bytes as they are"
grep -qF 'b/x\033[31my\n+++ b' "$WARD_TMP/patch" || grep -qF 'b/x\033[31my\012+++ b' "$WARD_TMP/patch" || fail "names: $(cat -v "$WARD_TMP/patch")"
git apply --check "$WARD_TMP/patch" || fail "git does not take it"
expect 0 script -qec "'$WARDFS' review diff" /dev/null
has "$OUT" "${esc}[32m+"
hasnt "$OUT" "${esc}]0;"
hasnt "$OUT" "${esc}[2J"
script -qec "'$WARDFS' review diff --patch" /dev/null >"$WARD_TMP/out" 2>&1 && fail "a patch went to the terminal"
grep -q "direct it to a file" "$WARD_TMP/out" || fail "$(cat "$WARD_TMP/out")"

echo "--- texts of all kinds: git apply makes the same of each"
fresh
python3 "$WARD_SRC/tests/cases/run/lib/review-diff-texts.py" before
own
rm -rf "$WARD_TMP/copy"
cp -a . "$WARD_TMP/copy"
cp "$WARD_SRC/tests/cases/run/lib/review-diff-texts.py" make.py
expect 0 "$WARDFS" run --review -s texts -- python3 make.py after
"$WARDFS" review diff --patch >"$WARD_TMP/patch"
[ "$(grep -c '^diff --git' "$WARD_TMP/patch")" -gt 100 ] || fail "control: few texts"
(cd "$WARD_TMP/copy" && git apply --whitespace=nowarn "$WARD_TMP/patch") || fail "git apply"
python3 make.py after
for f in text*; do cmp "$f" "$WARD_TMP/copy/$f" || fail "$f"; done
rm make.py
expect 0 "$WARDFS" review discard

echo "--- export writes files and the patch into a new directory, and only there"
expect 0 "$WARDFS" run --review -s three -- sh -c 'mkdir -p a/b; echo x >a/b/x; chmod 755 a/b/x; ln -s /etc/passwd a/out; echo more >>changed; rm removed'
before=$(whole)
# As a forged store has it: inside, chmod is refused.
find "$XDG_STATE_HOME/wardfs/reviews/three/objects" -type f -perm 755 -exec chmod 6755 {} +
expect 0 "$WARDFS" review export "$WARD_TMP/exported"
[ "$(cat "$WARD_TMP/exported/files/a/b/x" "$WARD_TMP/exported/files/changed")" = "x
old changed
more" ] || fail "$(find "$WARD_TMP/exported")"
[ "$(stat -c %a "$WARD_TMP/exported/files/a/b/x")" = 755 ] || fail "setuid was exported"
[ "$(readlink "$WARD_TMP/exported/files/a/out")" = /etc/passwd ] || fail "a link"
grep -q "deleted file mode" "$WARD_TMP/exported/patch" && git apply --check "$WARD_TMP/exported/patch" || fail "patch"
[ "$(whole)" = "$before" ] || fail "export changed the project"
expect 125 "$WARDFS" review export "$WARD_TMP/exported"
has "$ERR" "File exists"
ln -s "$OUTSIDE" "$WARD_TMP/link"
expect 125 "$WARDFS" review export "$WARD_TMP/link"
[ "$(ls "$OUTSIDE")" = target ] || fail "export followed a link"
expect 0 "$WARDFS" review discard

echo "--- a large hole does not hide what comes after it"
expect 0 "$WARDFS" run --review -s hole -- sh -c 'truncate -s 8G changed && truncate -s 8G an.image && echo later >zz.later'
expect 0 timeout 300 "$WARDFS" review diff
has "$OUT" "diff --git a/an.image b/an.image
more than 64 MiB: not shown (--stat has the size)"
has "$OUT" "diff --git a/changed b/changed
more than 64 MiB"
has "$OUT" "+later"
expect 125 timeout 300 "$WARDFS" review diff --patch
has "$ERR" "File too large"
[ -z "$OUT" ] || fail "half a patch"
expect 0 "$WARDFS" review discard

echo "--- texts that nobody compares line by line to the end"
lines='import random, sys
random.seed(sys.argv[1])
open("lines", "w").write("".join(random.choice("abc") + "\n" for i in range(1 << 20)))
open("many", "w").write("\n" * ((1 << 21) + int(sys.argv[1])))'
python3 -c "$lines" 0
own
rm -rf "$WARD_TMP/copy"
cp -a . "$WARD_TMP/copy"
expect 0 "$WARDFS" run --review -s lines -- python3 -c "$lines" 1
timeout 300 "$WARDFS" review diff >"$WARD_TMP/shown" || fail "diff ends with $?"
grep -q "^Binary files differ: 2097152 bytes, then 2097153" "$WARD_TMP/shown" || fail "too many lines"
timeout 300 "$WARDFS" review diff --patch >"$WARD_TMP/patch" || fail "diff --patch ends with $?"
(cd "$WARD_TMP/copy" && git apply --whitespace=nowarn "$WARD_TMP/patch") || fail "git apply"
python3 -c "$lines" 1
for f in lines many; do cmp "$f" "$WARD_TMP/copy/$f" || fail "$f"; done
rm lines many
expect 0 "$WARDFS" review discard

echo "--- where the host has changed the file, there is no difference to show"
echo host >>changed
expect 0 "$WARDFS" review diff changed
has "$OUT" "changed: the project's file has changed since"
expect 125 "$WARDFS" review diff --patch changed
[ -z "$OUT" ] || fail "half a patch"
