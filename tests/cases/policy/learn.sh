#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# `wardfs learn`: what a command used becomes a policy under which it runs again and nothing else goes. While it
# is learned guards hold and nothing is reached; what was refused is named, not proposed.
set -eu
. "$WARD_SRC/tests/lib.sh"
project "$HOME/p"
cd "$HOME/p" || exit 1
mkdir -p src lib/x docs certs "odd [dir]"
echo code >src/m.c
echo more >lib/x/f.c
echo text >docs/d
echo pem >certs/a.pem
echo odd >"odd [dir]/f"
echo s3cret >.env
cat >build.sh <<'S'
mkdir -p build/obj
cat src/m.c >build/obj/m.o && cat lib/x/f.c >build/obj/f.o && cat "odd [dir]/f" >build/all
mkdir -p src/__cache__ lib/__cache__
echo c >src/__cache__/a && echo c >lib/__cache__/b
echo line >>run.log
S
work='sh build.sh && cat .env certs/a.pem; curl -s --max-time 20 http://web.example:8080/ >&2; rm -rf build src/__cache__ lib/__cache__ run.log; sh build.sh'

expect 0 "$WARDFS" learn --json -- sh -c "$work"
hasnt "$OUT" s3cret
has "$ERR" ".env"
printf '%s' "$OUT" | python3 "$WARD_SRC/tests/cases/policy/lib/learn-proposal.py" || fail "proposal: $OUT"

expect 0 "$WARDFS" audit denials
has "$OUT" "connect web.example:8080"
has "$OUT" "to permit: allow = web.example:8080
    in:        [network] of $XDG_CONFIG_HOME"
# One command of those that are named, and the refusal is none any more: also where the name wants quoting.
mkdir -p "it's"
echo pem >"it's/a b.pem"
expect 1 "$WARDFS" run -- cat "it's/a b.pem"
expect 0 "$WARDFS" audit denials
command=$(printf '%s\n' "$OUT" | sed -n 's/^    by:        wardfs /"$WARDFS" /p')
[ "$command" = "\"\$WARDFS\" policy add read '/workspace/it'\\''s/a b.pem'" ] || fail "$OUT"
expect 0 sh -c "$command"
expect 0 "$WARDFS" run -- cat "it's/a b.pem"
expect 0 rm -r "it's" "$XDG_CONFIG_HOME/wardfs"

# Written on request, never over what is there, and before anything runs.
rm -rf build run.log src/__cache__ lib/__cache__
expect 0 "$WARDFS" learn --write -- sh -c "$work"
has "$ERR" "written to $XDG_CONFIG_HOME/wardfs/projects/"
expect 2 "$WARDFS" learn --write -- touch ran
has "$ERR" "--force replaces it"
[ ! -e ran ] || fail "the command ran"
expect 0 "$WARDFS" policy check
[ -z "$OUT$ERR" ] || fail "check: $OUT$ERR"
# Under it the same goes, and nothing else. The control: it goes under medium.
expect 0 "$WARDFS" run -- sh -c "$work"
for other in 'cat docs/d' 'echo x >>src/m.c' 'touch new' 'cat certs/a.pem'; do
	expect 1 "$WARDFS" run -- sh -c "$other || exit 1"
	has "$ERR" "projects/"
done
expect 0 "$WARDFS" run --policy medium -- sh -c 'cat docs/d && echo x >>src/m.c && touch new'
# A file of its own, replaced when asked.
expect 0 "$WARDFS" learn --write=../own.policy -- cat docs/d
expect 0 "$WARDFS" learn --write=../own.policy --force -- cat src/m.c
expect 0 "$WARDFS" run --policy ../own.policy -- cat src/m.c
expect 1 "$WARDFS" run --policy ../own.policy -- cat docs/d
# A command that changes names all over the top: said to be too wide.
expect 0 "$WARDFS" learn -- sh -c 'for i in $(seq 40); do echo x >top$i; done'
has "$OUT" "write = /workspace
"
has "$ERR" "is the whole project"
# Nothing used, nothing proposed; its own status is the status.
expect 3 "$WARDFS" learn -- sh -c 'exit 3'
has "$ERR" "nothing to propose"
expect 127 "$WARDFS" learn -- no-such-program
exit 0
