#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs --help` lists the verbs by task, one a line. The manual that it and `init` name is
# readable on this host.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

expect 0 "$WARDFS" --help
for group in 'Run a command' 'Decide what commands may do' 'See what happened' 'Look after this host'; do
	printf '%s\n' "$OUT" | grep -qx "$group" || fail "no group '$group': $OUT"
done
[ "$(printf '%s\n' "$OUT" | sed -n '/^Run a command/{n;s/^  \([a-z]*\) .*/\1/p;}')" = run ] || fail "$OUT"
long=$(printf '%s\n' "$OUT" | grep '^  [a-z]' | awk 'length($0) > 80')
[ -z "$long" ] || fail "more than a line: $long"

echo "--- run: examples first, then the options by what they are for, one a line"
expect 0 "$WARDFS" run --help
for group in 'What CMD may reach, in this run (each repeats):' 'The session:' 'Look first:'; do
	printf '%s\n' "$OUT" | grep -qxF " $group" || fail "no group '$group': $OUT"
done
printf '%s\n' "$OUT" | grep -n -e '^    wardfs run -- ' -e '^ What CMD' | head -n 1 | grep -q 'wardfs run' || fail "$OUT"
# The list of modes alone is longer.
more=$(printf '%s\n' "$OUT" | grep -c '^ \{20,\}')
[ "$more" -le 1 ] || fail "options of more than a line: $OUT"
expect 0 "$WARDFS" --help
[ "$(printf '%s\n' "$OUT" | grep -n -m 1 '^    wardfs run -- ' | cut -d: -f1)" -lt \
	"$(printf '%s\n' "$OUT" | grep -n -m 1 '^Verbs:' | cut -d: -f1)" ] || fail "no example first: $OUT"

echo "--- -h is what many type first: the same as --help, and no option of the command's"
for verb in run exec top learn init doctor 'policy add' 'home list' 'audit list' 'audit show' policy audit; do
	# shellcheck disable=SC2086 # words
	expect 0 "$WARDFS" $verb -h
	short=$OUT
	# shellcheck disable=SC2086
	"$WARDFS" $verb --help >long 2>&1 || :
	[ "$short" = "$(cat long)" ] || fail "$verb -h: $short"
done
mkdir -p of
(cd of && git init -q && expect 0 "$WARDFS" run -- echo -h && [ "$OUT" = -h ]) || fail "not the command's"

echo "--- built and not installed: the file is named"
expect 0 "$WARDFS" --help
command=$(printf '%s\n' "$OUT" | sed -n 's/^The manual: //p')
[ "$command" = "man -l $(realpath "$WARD_SRC/docs/man/wardfs.1")" ] || fail "the manual: '$command'"
[ -r "${command#man -l }" ] || fail "it is not there: $command"
git init -q project
cd project
expect 0 "$WARDFS" init
file=$(printf '%s\n' "$OUT" | sed -n 's/^; The language: man -l \(.*\)\.$/\1/p')
[ -r "$file" ] || fail "it is not there: '$file' in $OUT"

echo "--- installed: a page of man(1); without pages, none is named"
mkdir -p ../prefix/bin ../prefix/share/man/man1 ../prefix/share/man/man5
cp "$WARDFS" ../prefix/bin/wardfs
expect 0 ../prefix/bin/wardfs --help
hasnt "$OUT" "The manual"
: >../prefix/share/man/man1/wardfs.1.gz
: >../prefix/share/man/man5/wardfs-policy.5
expect 0 ../prefix/bin/wardfs --help
has "$OUT" "The manual: man wardfs"
expect 0 ../prefix/bin/wardfs init --dry-run --force
has "$OUT" "; The language: man 5 wardfs-policy."
