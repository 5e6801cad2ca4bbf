#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names under `secret`: files that existed before, or come from the host, are never read, moved,
# linked or overwritten, even if they are cached, open, replaced at a bad moment or added to git's
# index. The controls between the attempts: the same calls reach the session's own files and
# committed ones.
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v python3 >/dev/null || skip "no python3"
# With passthrough and without.
if [ "$(id -u)" = 0 ]; then as_user "$0"; else WARD_TMP=$HOME; fi
cd "$WARD_TMP" || exit 1
git_identity
cat >policy <<'P'
[policy]
version = 1
extends = medium
[guard]
secret = /workspace/private
secret = /workspace/holds/private
P
project app
cd app || exit 1
echo PUBLIC=1 >.env.production
mkdir -p private holds/private forged
echo tracked >holds/private/tracked
git add -A
git commit -qm start
echo SECRET >private/key
echo SECRET >holds/private/key
echo SECRET >new.pem
# An index that an earlier session wrote, in a repository that a file points to.
echo SECRET >forged/.env
git init -q ../made
git -C ../made update-index --add --cacheinfo "100644,$(echo guess | git -C ../made hash-object -w --stdin),.env"
mv ../made/.git made
echo 'gitdir: ../made' >forged/.git
python3 "$WARD_SRC/tests/escape/lib/secrets-host.py" "$WARDFS" "$WARD_SRC/tests/escape/lib/secrets-inside.py" ||
	fail "an attempt succeeded, or a control failed"
# One guess a session: an index that names a path more than once names it with what is there and
# nothing else.
mkdir guess
echo PIN=0042 >guess/.env
git init -q guess
guesses() { # NAME FIRST LAST: writes an index of guess, or of the project
	python3 "$WARD_SRC/tests/escape/lib/secrets-guess.py" "$@"
}
guesses guess .env 42 42
expect 0 "$WARDFS" run --policy ../policy -- cat guess/.env
guesses guess .env 0 99
refused "Permission denied" "$WARDFS" run --policy ../policy -- cat guess/.env
guesses guess .env 0 99 //
refused "Permission denied" "$WARDFS" run --policy ../policy -- cat guess/.env
# Nor does a file with several names take several guesses.
rm -rf guess/.git
for n in 40 41 42 43; do
	mkdir "guess/$n"
	ln guess/.env "guess/$n/.env"
done
guesses guess .env 42 42 links
expect 0 "$WARDFS" run --policy ../policy -- cat guess/42/.env
guesses guess .env 40 43 links
refused "Permission denied" "$WARDFS" run --policy ../policy -- cat guess/42/.env
rm -rf guess
# What the session makes at such a name is written to by the host when the session has ended: the
# next one sees it at no other name. Nor is there one where a file came to two names in another
# order.
expect 0 "$WARDFS" run --policy ../policy -- python3 -c "$(cat "$WARD_SRC/tests/escape/lib/secrets-links.py")"
for f in ?.pem; do echo SECRET >>"$f"; done
echo CONTROL >>seen5
expect 0 "$WARDFS" run --policy ../policy -- sh -c 'cat third5; cat seen* third*'
hasnt "$OUT" SECRET
[ "${OUT%%
*}" = CONTROL ] || fail "the control, at a second name: $OUT"
[ "$(cat private/key holds/private/key forged/.env new.pem)" = "SECRET
SECRET
SECRET
SECRET" ] || fail "a secret was changed"
expect 0 "$WARDFS" audit verify --all
