#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --read, --write, --hide and --env for one run, each with its control.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
mkdir other
echo far >other/file
echo near >p/file
echo key >other/.env
cd p || exit 1

# Outside the project nothing is there ...
expect 1 "$WARDFS" run -- cat ../other/file
# ... but for this run: read only, guarded as the rest.
expect 0 "$WARDFS" run --read ../other -- cat ../other/file
has "$OUT" far
expect 1 "$WARDFS" run --read ../other -- touch ../other/file
expect 1 "$WARDFS" run --read ../other -- cat ../other/.env
expect 0 "$WARDFS" run --write ../other -- sh -c 'echo x >../other/new'
[ "$(cat ../other/new)" = x ] || fail "not written"
# A single file outside can be read.
expect 0 "$WARDFS" run --read ../other/file -- cat ../other/file
expect 2 "$WARDFS" run --write ../other/file -- true
expect 2 "$WARDFS" run --read ../nowhere/at/all -- true

# wardfs takes options literally, so they cannot smuggle lines into the policy.
mkdir 'we ird*[x]' && touch 'we ird*[x]/a' weirdx
expect 1 "$WARDFS" run --read 'we ird*[x]' -- touch 'we ird*[x]/a'
expect 0 "$WARDFS" run --read 'we ird*[x]' -- touch weirdx
mkdir '../evil
[files]
write = '
expect 2 "$WARDFS" run --read '../evil
[files]
write = ' -- true
has "$ERR" "control characters"
expect 2 "$WARDFS" run --hide 'x
write = /' -- true

# --hide: gone for this run, there in the next.
expect 0 "$WARDFS" run -- cat file
expect 1 "$WARDFS" run --hide file -- cat file
# A refusal names the option as it was typed: nobody can open the text that it became.
has "$ERR" "lookup /workspace/file (--hide file)"
expect 0 "$WARDFS" audit denials latest
has "$OUT" "rule:      --hide file  [guard] hide = file  (run)"
has "$OUT" "to permit: start the session without '--hide file'"
expect 22 "$WARDFS" run --session netted --net web.example --publish 39127 -- \
	curl -sSf http://other.example
has "$ERR" "other.example:80 (--net web.example)"
expect 1 "$WARDFS" run --policy low --session own --read . -- touch new
has "$ERR" "/workspace/new (--read .)"
expect 2 "$WARDFS" run --net a:b -- true
has "$ERR" "--net a:b: allow: "
# Only options are named so: a file that says whose its lines are is a file with a comment.
printf '[policy]\nversion = 1\n[files]\n;from --net web.example\nread = /workspace\n' >../own.policy
expect 1 "$WARDFS" run --session from --policy ../own.policy -- touch new
has "$ERR" "own.policy:5)"
expect 0 "$WARDFS" run --hide file -- sh -c "! ls | grep -x file"

# --read takes writing away from a part of the project.
expect 0 "$WARDFS" run -- sh -c 'echo y >>file'
mkdir sub
expect 1 "$WARDFS" run --read sub -- touch sub/a
expect 0 "$WARDFS" run -- touch sub/a

# The environment: an allowlist, and what is asked for. Values never reach the trail.
export SECRET_TOKEN=hunter2hunter2
expect 1 "$WARDFS" run -- sh -c 'env | grep SECRET_TOKEN'
expect 0 "$WARDFS" run --session envs --env SECRET_TOKEN --env ANSWER=42x42 -- env
has "$OUT" "SECRET_TOKEN=hunter2hunter2"
has "$OUT" "ANSWER=42x42"
has "$OUT" "WARDFS_SESSION=envs"
grep -rq -e hunter2 -e 42x42 "$XDG_STATE_HOME" && fail "a value reached the trail"
grep -rq SECRET_TOKEN "$XDG_STATE_HOME" || fail "the name is not in the trail"
expect 2 "$WARDFS" run --env '1bad' -- true
# A variable that is not set here is not set inside, and a line says so. Control: one that is set to
# nothing.
expect 0 env EMPTY= "$WARDFS" run --env NOWHERE_SET --env EMPTY -- sh -c 'echo "${NOWHERE_SET-unset} ${EMPTY-unset}."'
[ "$OUT" = "unset ." ] || fail "$OUT"
has "$ERR" "--env NOWHERE_SET: the variable is not set here, and not set inside"
hasnt "$ERR" EMPTY
exit 0
