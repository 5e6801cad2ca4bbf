#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs learn` turns what a command used into a policy that runs it again and allows nothing
# else. Guards apply while it learns. It names refused accesses and does not propose them.
# shellcheck disable=SC2016
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

expect 0 "$WARDFS" learn --reads --json -- sh -c "$work"
hasnt "$OUT" s3cret
has "$ERR" ".env"
printf '%s' "$OUT" | python3 "$WARD_SRC/tests/cases/policy/lib/learn-proposal.py" || fail "proposal: $OUT"

expect 0 "$WARDFS" audit denials
has "$OUT" "connect web.example:8080"
has "$OUT" "to permit: allow = web.example:8080
    in:        [network] of "
has "$OUT" "$XDG_CONFIG_HOME/wardfs/projects/"
# One command of those that are named, and the refusal is none any more: also where the name wants
# quoting.
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
expect 0 "$WARDFS" learn --reads --write -- sh -c "$work"
has "$ERR" "$XDG_CONFIG_HOME/wardfs/projects/"
has "$ERR" "your file for this project. It is in force from the next run on"
has "$OUT" "write = /workspace/**/__cache__"
# To a file of that name nothing is added, which is said before anything runs.
touch ../there.policy
expect 2 "$WARDFS" learn --write=../there.policy -- touch ran
has "$ERR" "--force replaces it"
[ ! -e ran ] || fail "the command ran"
rm ../there.policy
# What it repeats from the profile stands last, so that no learned line opens a *.pem.
expect 0 "$WARDFS" policy check
[ -z "$OUT$ERR" ] || fail "check: $OUT$ERR"
# Under it the same goes, and nothing else. The control: it goes under medium.
expect 0 "$WARDFS" run -- sh -c "$work"
for other in 'cat docs/d' 'echo x >>src/m.c' 'touch new' 'cat certs/a.pem'; do
	expect 1 "$WARDFS" run -- sh -c "$other || exit 1"
	has "$ERR" "(your policy:"
done
expect 0 "$WARDFS" run --policy medium -- sh -c 'cat docs/d && echo x >>src/m.c && touch new'
# A file of its own, replaced when asked.
expect 0 "$WARDFS" learn --reads --write=../own.policy -- cat docs/d
expect 0 "$WARDFS" learn --reads --write=../own.policy --force -- cat src/m.c
expect 0 "$WARDFS" run --policy ../own.policy -- cat src/m.c
expect 1 "$WARDFS" run --policy ../own.policy -- cat docs/d
# Without --reads all of the project can be read, but for what the profile keeps away, and what was
# changed can be changed. A cache that the run found full is one all the same: the next one fills it
# again.
mkdir -p app/__pycache__ tests/__pycache__
echo c >app/__pycache__/m.cpython-311.pyc
echo c >tests/__pycache__/t.cpython-311.pyc
expect 0 "$WARDFS" learn --write=../wide.policy -- sh -c 'cat app/__pycache__/* tests/__pycache__/* src/m.c; echo x >out.txt'
has "$OUT" "read  = /workspace
"
has "$OUT" "write = /workspace/**/__pycache__
"
hasnt "$OUT" deny
hasnt "$OUT" cpython
hasnt "$ERR" "too wide"
expect 0 "$WARDFS" run --policy ../wide.policy -- sh -c 'cat docs/d; echo y >out.txt; echo y >app/__pycache__/new.pyc; [ ! -e certs/a.pem ]'
expect 2 "$WARDFS" run --policy ../wide.policy -- sh -c 'echo x >>src/m.c'
expect 0 "$WARDFS" learn -- cat docs/d
has "$ERR" "not written: --write adds it to your file for this project, $XDG_CONFIG_HOME"
# control: a base that gives a part alone is not made wider
printf '[policy]\nversion = 1\n[files]\nread = /workspace/docs\n' >../part.policy
expect 0 "$WARDFS" learn --policy ../part.policy -- cat docs/d
has "$OUT" "deny  = /workspace
"
# What a policy of one's own guards, and what it lets only grow, the proposal keeps. The control:
# without these lines it has neither.
mkdir -p log keys
echo k >keys/k
printf '[policy]\nversion = 1\nextends = medium\n' >../bare.policy
cat ../bare.policy - >../kept.policy <<'P'
[guard]
hide   = /workspace/keys
append = /workspace/log
P
grows='echo x >>log/a; echo x >b'
expect 0 "$WARDFS" learn --policy ../bare.policy -- sh -c "$grows"
has "$OUT" "write = /workspace/log/a"
hasnt "$OUT" "[guard]"
expect 0 "$WARDFS" learn --write=../grown.policy --policy ../kept.policy -- sh -c "$grows"
hasnt "$ERR" "allows more"
has "$OUT" "
[guard]
hide   = /workspace/keys
append = /workspace/log

[files]
"
has "$OUT" "append = /workspace/log/a
"
has "$OUT" "write = /workspace/b
"
expect 0 "$WARDFS" run --policy ../grown.policy -- sh -c "$grows; [ ! -e keys ]"
expect 2 "$WARDFS" run --policy ../grown.policy -- sh -c 'echo x >log/a'
# Such guards also come into a file that there is, once.
rm -rf "$XDG_CONFIG_HOME/wardfs/projects"
expect 0 "$WARDFS" policy add --force write /workspace/src
expect 0 "$WARDFS" learn --write --policy ../kept.policy -- sh -c "$grows"
has "$OUT" "+ append = /workspace/log"
expect 0 "$WARDFS" learn --write --policy ../kept.policy -- sh -c "$grows"
has "$ERR" "has all lines that were learned"
expect 2 "$WARDFS" run -- sh -c 'echo x >log/a'
rm -rf log keys b
# After init: what happens is said first, the owner's lines stay and decide, and the difference is
# told.
rm -rf "$XDG_CONFIG_HOME/wardfs/projects"
expect 0 "$WARDFS" init
own=$(find "$XDG_CONFIG_HOME/wardfs/projects" -name '*.policy')
expect 0 "$WARDFS" policy add deny /workspace/lib
expect 0 "$WARDFS" learn --write -- sh -c 'echo "the command runs"; echo x >made.txt'
has "$ERR" "learning under medium. If the command succeeds, it runs a second time"
has "$ERR" "in the first run, wardfs learn ignores your file for this project, $own; the learned lines are added to it"
has "$OUT" "+ write = /workspace/made.txt"
hasnt "$OUT" "extends = medium"
grep -qx 'deny = /workspace/lib' "$own" || fail "$(cat "$own")"
expect 0 "$WARDFS" run -- sh -c 'echo x >made.txt'
for other in 'echo x >other.txt' 'cat lib/x/f.c'; do
	expect 1 "$WARDFS" run -- sh -c "$other || exit 1"
done
# Learned once more: both hold; a third time there is nothing to add.
expect 0 "$WARDFS" learn --write -- sh -c 'echo x >second.txt'
has "$OUT" "+ write = /workspace/second.txt"
expect 0 "$WARDFS" run -- sh -c 'echo x >made.txt; echo x >second.txt'
expect 1 "$WARDFS" run -- sh -c 'echo x >other.txt || exit 1'
expect 0 "$WARDFS" learn --write -- sh -c 'echo x >second.txt'
has "$ERR" "has all lines that were learned"
# What the owner took away the second run misses: not written.
expect 1 "$WARDFS" learn --write -- sh -c 'cat lib/x/f.c >third.txt || exit 1'
has "$ERR" "the proposal is not written"
! grep -q third "$own" || fail "it was written"
# --reads and the other way do not fit into one file; one that does not load is told before anything
# runs.
expect 125 "$WARDFS" learn --reads --once --write -- cat src/m.c
has "$ERR" "--force replaces the file"
echo '[files' >>"$own"
expect 2 "$WARDFS" learn --write -- touch ran
[ ! -e ran ] || fail "the command ran"
rm -rf "$XDG_CONFIG_HOME/wardfs/projects" made.txt second.txt third.txt
# A command that changes names all over the top: said to be too wide.
expect 0 "$WARDFS" learn -- sh -c 'for i in $(seq 40); do echo x >top$i; done'
has "$OUT" "write = /workspace
"
has "$ERR" "allows changes in the whole project"
# Names that are others in each run: a time, a process id, a date, a hash, a UUID. The second run
# says whether that is enough: control, the same names as they are.
cat >volatile.sh <<'S'
id=$(cat /proc/sys/kernel/random/uuid)
mkdir -p logs
echo x >"vite.config.ts.timestamp-$(date +%s%N)-$(echo "$id" | cut -c 1-8)0a1.mjs"
echo x >"logs/run-$(date +%Y-%m-%d)-$(date +%s).log"
echo x >"state.$id.json"
echo x >"$(date +%s).txt"
rm -f vite.config.ts.timestamp-* state.*.json [0-9]*.txt
S
expect 0 "$WARDFS" learn -- sh volatile.sh
has "$OUT" "write = /workspace/vite.config.ts.timestamp-*.mjs
"
has "$OUT" "write = /workspace/state.*.json
"
has "$OUT" "write = /workspace/logs
"
has "$OUT" "write = /workspace/[0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z][0-9a-zA-Z]*.txt
"
hasnt "$OUT" "write = /workspace
"
has "$ERR" "the command succeeds, and nothing more is refused"
expect 0 "$WARDFS" learn --once -- sh volatile.sh
hasnt "$ERR" "again"
# What differs in the second run is found there, and such a proposal is not written.
rm -rf "$XDG_CONFIG_HOME/wardfs/projects"
cat >second.sh <<'S'
if [ -e been ]; then echo x >other.txt; else echo x >been; fi
S
expect 2 "$WARDFS" learn --write -- sh second.sh
has "$ERR" "refused under the proposal alone: /workspace/other.txt"
has "$ERR" "under the proposal the command fails with status 2"
has "$ERR" "the proposal is not written"
[ -z "$(ls "$XDG_CONFIG_HOME/wardfs/projects" 2>/dev/null)" ] || fail "it was written"
expect 0 "$WARDFS" audit denials
has "$OUT" "[files] of "
has "$OUT" "$XDG_CONFIG_HOME/wardfs/projects/"
# A test that makes its own certificate: for the next session the key is a secret that was there. A
# line with its name lets that session use it. Control: a key that the command did not make.
rm -rf "$XDG_CONFIG_HOME/wardfs/projects"
cert='openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=t -keyout key.pem -out cert.pem 2>/dev/null'
echo theirs >there.pem
expect 0 "$WARDFS" learn --write -- sh -c "$cert; cat there.pem || :; [ ! -e there.pem ]"
has "$ERR" "the command succeeds, and nothing more is refused"
has "$OUT" "secret = /workspace/**/*.pem
"
has "$OUT" "
; the command made this file; its name is that of a secret
write = /workspace/key.pem
"
hasnt "$OUT" "= /workspace/there"
expect 0 "$WARDFS" policy check
[ -z "$OUT$ERR" ] || fail "check: $OUT$ERR"
expect 0 "$WARDFS" run -- sh -c "$cert"
for other in 'cat there.pem' 'echo x >there.pem' 'mv key.pem there.pem' 'ln key.pem x'; do
	expect 1 "$WARDFS" run -- sh -c "$other || exit 1"
done
[ "$(cat there.pem)" = theirs ] || fail "written over"
# A guard stays. The message says what lifts it. Control: without the guard the line is proposed.
rm -rf "$XDG_CONFIG_HOME/wardfs/projects"
expect 2 "$WARDFS" learn --write -- sh -c 'echo A=b >sub.env; mkdir -p sub; echo A=b >sub/.env'
has "$ERR" "the command made /workspace/sub/.env. Later sessions cannot use it"
has "$ERR" "wardfs policy add --lift-guard write /workspace/sub/.env"
has "$OUT" "write = /workspace/sub.env
"
hasnt "$OUT" "sub/.env"
has "$ERR" "the proposal is not written"
rm -rf key.pem cert.pem there.pem sub.env sub
# The first run failed: said, and not tried again.
expect 4 "$WARDFS" learn --json -- sh -c 'cat src/m.c; exit 4'
has "$ERR" "ended with status 4. The proposal has what the command used until then"
has "$OUT" '"again": null'
[ -z "$(ls "$XDG_RUNTIME_DIR"/wardfs/*.policy 2>/dev/null)" ] || fail "a proposal was left behind"
# A host that was asked for is refused by what learn itself said, not by an option of the caller's.
expect 0 "$WARDFS" learn --once -- sh -c 'cat src/m.c; curl -sS -m 30 http://web.example:8080/'
has "$ERR" "connect web.example:8080 (wardfs learn)"
hasnt "$ERR" "command line"
# Nothing used, nothing proposed; its own status is the status.
expect 3 "$WARDFS" learn -- sh -c 'exit 3'
has "$ERR" "the command failed with exit status 3; nothing of the project was used"
has "$ERR" "nothing to propose"
expect 127 "$WARDFS" learn -- no-such-program
# Outside of a project nothing is announced that will not happen.
expect 2 sh -c 'cd / && "$WARDFS" learn -- true'
has "$ERR" "cannot be the project"
hasnt "$ERR" "learning under"
exit 0
