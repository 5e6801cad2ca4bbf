#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A session replaces a directory that has an owner's policy with a link. Starts there do not
# silently take another policy: every verb that looks for the project names the link and refuses.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
mkdir -p p/sub/deep p/other/deep
cd p || exit 1
p=$PWD
echo secret >other/key
echo secret >sub/key
expect 0 "$WARDFS" init
printf '[policy]\nversion = 1\n' >sub/.wardfs.policy
(cd sub && expect 0 "$WARDFS" init && expect 0 "$WARDFS" policy add -g hide /workspace/key)

# starts_in DIR [CMD...]: as a shell has it, which keeps the path that it went by.
starts_in() {
	dir=$1
	shift
	(cd "$dir" && "$@")
}
refuses() {
	refused "$p/sub" starts_in "$1" "$WARDFS" run -- cat key
	has "$OUT" "symbolic link"
	has "$OUT" "you have a policy for"
	hasnt "$OUT" secret
}

echo "--- control: the policy of sub holds in sub, that of p beside it"
expect 1 starts_in sub "$WARDFS" run -- cat key
expect 0 starts_in other "$WARDFS" run -- cat key
expect 0 starts_in other/deep "$WARDFS" run -- cat ../key

echo "--- a session replaces sub by a link, relative and absolute, and a directory above it"
expect 0 "$WARDFS" run -- sh -c 'mv sub was; ln -s other sub'
for to in other ./other "$p/other" was/../other; do
	ln -sfn "$to" sub
	refuses sub
	refuses sub/deep
	for verb in 'policy check' 'policy explain read key' 'policy show' 'policy add read /workspace/x' 'learn -- true' 'run --dry-run -- true'; do
		# shellcheck disable=SC2086 # words
		refused "$p/sub" starts_in sub "$WARDFS" $verb
	done
done
echo "--- by a caller that has no PWD, such as sudo or a program"
refused "$p/sub" starts_in sub env -u PWD "$WARDFS" run -- cat key
refused "$p/sub" starts_in sub env PWD=/ "$WARDFS" run -- cat key
refused "$p/sub" env -u PWD -C sub "$WARDFS" run -- cat key
echo "--- what is mounted by that name, or from within"
mkdir ../m
m=${p%/*}/m
for source in sub ./sub/ ../p/sub other/../sub/deep "$p/sub"; do
	refused "a symbolic link is on the way" "$WARDFS" mount "$source" "$m"
	has "$OUT" "sub leads to was/../other"
done
refused "you have a policy for $p/sub" starts_in sub "$WARDFS" mount . "$m"

echo "--- beside it nothing is refused"
expect 0 starts_in other "$WARDFS" run -- cat key
expect 0 "$WARDFS" run -- true
expect 0 starts_in was "$WARDFS" run -- cat key

echo "--- the way out that the message names"
rm sub
mv was sub
expect 1 starts_in sub "$WARDFS" run -- cat key
expect 1 env -u PWD -C sub "$WARDFS" run -- cat key

echo "--- a link that the owner goes by, to a project with a policy of its own, is fine"
ln -s "$p/sub" ../by-link
expect 1 starts_in ../by-link "$WARDFS" run -- cat key
hasnt "$ERR" "symbolic link"
