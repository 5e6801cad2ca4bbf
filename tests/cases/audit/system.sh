#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host's writer runs under its own uid (4712) and writes the trail of an ordinary user (4711).
# That user can read the trail and nothing more. The user's attacks have their controls.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
STORE=/var/lib/wardfs-audit
SOCKET=/run/wardfs-audit/socket
if [ $# -eq 0 ]; then
	# /run, /var/lib and /etc of its own
	mkdir -p "$WARD_TMP/etc"
	exec unshare --mount --propagation private sh "$0" inside
fi

cp -a /etc/. "$WARD_TMP/etc/"
mount --bind "$WARD_TMP/etc" /etc
mount -t tmpfs -o mode=755 tmpfs /var/lib
mount -t tmpfs -o mode=755 tmpfs /run
mknod /run/fuse c 10 229
chmod 666 /run/fuse
mount --bind /run/fuse /dev/fuse
mkdir /run/wardfs-audit "$STORE"
chmod 711 "$STORE"
chown 4712:4712 "$STORE"
chmod 755 "$WARD_TMP"
mkdir -p "$WARD_TMP/home"
chown 4711:4711 "$WARD_TMP/home"
HOME=$WARD_TMP/home
export HOME STORE SOCKET
unset XDG_RUNTIME_DIR XDG_STATE_HOME XDG_CONFIG_HOME
service=
trap '[ -z "$service" ] || kill "$service" 2>/dev/null || :' EXIT

# owner SCRIPT: as the ordinary user, in its home
owner() {
	(cd "$HOME" && setpriv --reuid=4711 --regid=4711 --clear-groups --inh-caps=-all sh -c '
		set -eu
		. "$WARD_SRC/tests/lib.sh"
		WARD_TMP=$HOME
		'"$1")
}

# service [OPTION...]: starts it; its pid is $service
service() {
	rm -f "$SOCKET"
	python3 "$WARD_SRC/tests/support/activate.py" "$SOCKET" 4712 "$WARD_BUILD/wardfs-auditd" "$@" \
		2>>"$WARD_TMP/service.err" &
	service=$!
	wait_until 60 test -S "$SOCKET" || fail "the service does not start"
}

# state_of SESSION: what root's verify says of the owner's trail
state_of() {
	"$WARDFS" audit verify --json --state "$STORE/4711" "$1" |
		python3 -c 'import json, sys
print(json.load(sys.stdin)[0]["state"])'
}

owner 'project p; printf "[policy]\nversion = 1\nextends = medium\n[audit]\nwriter = system\n" >p.policy'

# Without the service: doctor says how there is one, and nothing starts. Control: with a trail of
# one's own it does.
owner 'cd p && expect 125 "$WARDFS" run --policy ../p.policy -- touch never
	has "$ERR" "wardfs-audit.socket"
	"$WARDFS" doctor >told || [ $? -eq 1 ]
	grep -A1 "^optional *audit writer" told | grep -q "systemctl enable --now wardfs-audit.socket" || fail "doctor: $(cat told)"
	[ ! -e never ] || fail "it ran without a trail"
	expect 0 "$WARDFS" run -- true' || exit 1

# Somebody who is not root listens there.
python3 "$WARD_SRC/tests/cases/audit/lib/system-listens.py" >"$WARD_TMP/listens" &
impostor=$!
wait_until 60 test -s "$WARD_TMP/listens" || fail "no impostor"
told=0
owner 'cd p && expect 125 "$WARDFS" run --policy ../p.policy -- true
	has "$ERR" "user 4713 listens there"
	"$WARDFS" doctor | grep -q "^unusable *audit writer .*user 4713 listens there" || fail "doctor on the impostor"' || told=$?
kill "$impostor"
expect 143 wait "$impostor"
[ $told -eq 0 ] || exit 1

service --sessions 6
owner 'cd p && echo t=1 >.env
	expect 2 "$WARDFS" run --review --policy ../p.policy -- touch staged
	has "$ERR" "changes cannot be staged yet where wardfs-auditd keeps the trail"
	expect 0 "$WARDFS" run --review -- touch staged
	expect 0 "$WARDFS" run --policy ../p.policy --session first -- sh -c "echo hi >made; cat made"
	has "$OUT" hi
	expect 1 "$WARDFS" run --policy ../p.policy --session second -- cat .env
	has "$ERR" "had looked for /workspace/.env, which exists, but is hidden as a secret: wardfs audit --system denials"' || { cat "$WARD_TMP/service.err"; exit 1; }
for s in first second; do
	[ "$(state_of $s)" = intact ] || fail "$s: $(state_of $s)"
	# what was plain at the end is compressed by whom it does not end with
	wait_until 120 sh -c '[ -e "$STORE/4711/sessions/$0/trail.jsonl.zst" ] && [ ! -e "$STORE/4711/sessions/$0/trail.jsonl" ]' $s ||
		fail "$s is not compressed: $(ls "$STORE/4711/sessions/$s")"
done
# The owner's own state directory has nothing of them.
[ ! -e "$HOME/.local/state/wardfs/sessions/first" ] || fail "the trail is the owner's"

# Reading: what the owner may, and that it is recorded.
owner '"$WARDFS" audit --system show first >shown 2>err || fail "show: $(cat err)"
	grep -q made shown || fail "not shown"
	expect 0 "$WARDFS" audit --system verify first
	has "$OUT" "first: intact"
	has "$ERR" "the root key is the system"
	expect 0 "$WARDFS" audit --system summary
	expect 0 "$WARDFS" audit --system verify
	has "$OUT" "second: intact"
	expect 0 "$WARDFS" audit --system list
	has "$OUT" second
	expect 0 "$WARDFS" audit --system index
	has "$OUT" "2 sessions"
	expect 0 "$WARDFS" audit --system sql "SELECT DISTINCT session FROM records WHERE path LIKE '"'%made'"'"
	has "$OUT" first
	expect 0 "$WARDFS" audit --system denials --exe sh first
	expect 0 "$WARDFS" audit --system list --path "*made"
	has "$OUT" first
	has "$ERR" "these trails were not verified"
	expect 0 "$WARDFS" audit --system list --path "*made" --exe no-such-program
	[ -z "$OUT" ] || fail "control: $OUT"' || exit 1
grep -q '"session":"host","kind":"question".*"verb":"list","question":"--path \*made".*"by":4711,' "$STORE/4711/ledger.jsonl" ||
	fail "the ledger does not have what was listed: $(tail -3 "$STORE/4711/ledger.jsonl")"
grep -q '"session":"host","kind":"question".*"question":"SELECT DISTINCT.*"by":4711,' "$STORE/4711/ledger.jsonl" ||
	fail "the ledger does not have what was asked: $(tail -2 "$STORE/4711/ledger.jsonl")"
expect 0 "$WARDFS" audit list --owner 4711
has "$OUT" first
expect 0 "$WARDFS" audit verify --owner 4711 --all
grep -q '"session":"first","kind":"read".*"verb":"show","by":4711,' "$STORE/4711/ledger.jsonl" ||
	fail "the ledger does not have who read: $(cat "$STORE/4711/ledger.jsonl")"

# Attack: edit, cut, remove, replace, reach the keys. Control: all of it on a trail of one's own.
cat >"$HOME/attack.sh" <<'A'
# attack DIR: each line an attempt that succeeded
try() {
	"$@" 2>>attack.err && echo "$*"
}
s=$1/sessions
trail=$(ls -d "$s"/first/trail.jsonl* "$s"/2*/trail.jsonl 2>/dev/null | head -n 1)
d=${trail%/trail.jsonl*}
try sh -c 'echo x >>"$1"' sh "$trail"
try truncate -s 100 "$trail"
try sed -i s/made/mode/ "$trail"
try mv "$trail" "$trail.old"
try cp /dev/null "$d/trail.2.jsonl"
try chmod 666 "$trail"
try chmod 777 "$d"
try rm -f "$trail"
try rm -f "$d/checkpoints"
try sh -c 'echo x >>"$1"' sh "$1/ledger.jsonl"
try mv "$d" "$s/elsewhere"
try mkdir "$s/forged"
try cat "$1/key"
try cat "$1/signing.key"
try flock -n "$1/ledger.jsonl" true
try flock -n "$1/running" true
try cp /dev/null "$1/signing.key"
try mv "$1" "$1.old"
exit 0
A
owner 'cp -r p q; cd q; expect 0 "$WARDFS" run -- sh -c "echo >made"
	cd ..; cp -r .local/state/wardfs control; sh attack.sh "$HOME/control" >attempts
	[ "$(wc -l <attempts)" -ge 14 ] || fail "control: $(cat attempts attack.err)"
	sh attack.sh "$STORE/4711" >attempts
	[ ! -s attempts ] || fail "succeeded: $(cat attempts)"
	grep -c "Permission denied\|not permitted" attack.err >/dev/null || fail "$(cat attack.err)"' || exit 1
[ "$(state_of first)" = intact ] || fail "after the attacks: $(state_of first)"
# Control: verify sees an edit by whom nothing binds.
cp -a "$STORE/4711" "$WARD_TMP/copy"
zstd -dq --rm "$WARD_TMP/copy/sessions/first/trail.jsonl.zst"
sed -i s/made/mode/ "$WARD_TMP/copy/sessions/first/trail.jsonl"
expect 1 "$WARDFS" audit verify --state "$WARD_TMP/copy" first
has "$OUT" edited

client() {
	owner "python3 \"\$WARD_SRC/tests/support/system-client.py\" $1"
}

# As somebody else: another user has another directory, whatever they say.
other() {
	(cd / && setpriv --reuid=4714 --regid=4714 --clear-groups --inh-caps=-all "$@")
}
expect 0 client 'read first show'
[ "$OUT" = ready ] || fail "control: $OUT"
expect 0 other python3 "$WARD_SRC/tests/support/system-client.py" read first show
has "$OUT" "failed"
expect 0 other cat "$WARD_TMP/home/attack.sh"
expect 1 other cat "$STORE/4711/ledger.jsonl"
has "$ERR" "Permission denied"
expect 0 client 'open ../4714/sessions/mine'
has "$OUT" "failed session name"
expect 0 client 'read ../../0/sessions/x show'
has "$OUT" "failed"
before=$(cat "$STORE/4711/ledger.jsonl")
expect 0 other python3 "$WARD_SRC/tests/support/system-client.py" session first
has "$OUT" "opened first"
[ "$before" = "$(cat "$STORE/4711/ledger.jsonl")" ] || fail "another user wrote into the ledger"
# It may just be compressed: one name goes as another one comes.
find "$STORE/4714/sessions/first" -name 'trail.jsonl*' | grep -q . || fail "not the other user's own"

# Descriptors that are not what they should be. Control: those that are.
expect 0 client 'session honest 1'
has "$OUT" "opened honest"
has "$OUT" "checkpoints are read-only"
has "$OUT" "ready
summary"
# ... and it is not kept for a second, as it asked for.
grep '"session":"honest","kind":"start"' "$STORE/4711/ledger.jsonl" | grep -q '"keep":17280000,' ||
	fail "keep: $(cat "$STORE/4711/ledger.jsonl")"
expect 0 client 'rings sealed'
has "$OUT" ready
for how in unsealed shrinks grows file; do
	expect 0 client "rings $how"
	has "$OUT" "failed ring: not a sealed ring"
done
expect 0 client 'rings readonly'
has "$OUT" "failed ring: mmap"
expect 0 client policy
has "$OUT" "failed policy: not a sealed memory file"
for what in wake lifeline; do
	expect 0 client $what
	has "$OUT" "failed not understood"
done
for s in rings wake lifeline policy; do
	# (the control stays, under the first name)
	wait_until 60 sh -c '! ls -A "$STORE/4711/sessions" "$STORE/4711/running" | grep -v "^rings$" | grep -q "$0"' $s ||
		fail "$s was refused, and left something: $(ls -A "$STORE/4711/running")"
done
# A segment of one's own: the end of the connection, and of the trail.
expect 0 client segment
[ "$OUT" = "ready
gone" ] || fail "segment: $OUT"
wait_until 60 sh -c 'grep -q "\"session\":\"segment\",\"kind\":\"end\"" "$STORE/4711/ledger.jsonl"' ||
	fail "no end"
[ "$(state_of segment)" = incomplete ] || fail "segment: $(state_of segment)"
# A writer that was made to wait for ever: it has an end all the same.
expect 0 client steal
has "$OUT" ready
wait_until 120 sh -c 'grep -q "\"session\":\"steal\",\"kind\":\"end\"" "$STORE/4711/ledger.jsonl"' ||
	fail "no end"
[ "$(state_of steal)" = incomplete ] || fail "steal: $(state_of steal)"

# A session counts until whoever keeps it was reaped.
done_with_all() {
	[ -z "$(cat "/proc/$service/task/$service/children")" ]
}
wait_until 120 done_with_all || fail "not done with the sessions before"
# Flood: so many and no more, and others have theirs meanwhile.
mkfifo "$WARD_TMP/hold"
client 'flood 40' <"$WARD_TMP/hold" >"$WARD_TMP/flooded" &
flood=$!
exec 4>"$WARD_TMP/hold"
wait_until 120 test -s "$WARD_TMP/flooded" || fail "no flood"
[ "$(cat "$WARD_TMP/flooded")" = "6 34" ] || fail "flood: $(cat "$WARD_TMP/flooded")"
expect 0 other python3 "$WARD_SRC/tests/support/system-client.py" session meanwhile
has "$OUT" "opened meanwhile"
exec 4>&-
wait $flood
wait_until 60 sh -c '! ls -A "$STORE/4711/running" "$STORE/4711/sessions" | grep -q Z-' || fail "left: $(ls -A "$STORE/4711/running")"
wait_until 120 done_with_all || fail "not done with the flood"
expect 0 client 'session again'
has "$OUT" "opened again"

# Segments, compressed by the service; the text of a policy that was reloaded.
owner 'cd p && sed "s/^writer.*/&\nrotate = 64K/" ../p.policy >../r.policy
	expect 0 "$WARDFS" run --policy ../r.policy --session long -- sh -c "
		i=0; while [ \$i -lt 600 ]; do : >f\$i; i=\$((i + 1)); done"' || exit 1
[ -e "$STORE/4711/sessions/long/trail.2.jsonl" ] || [ -e "$STORE/4711/sessions/long/trail.2.jsonl.zst" ] ||
	fail "no second segment: $(ls "$STORE/4711/sessions/long")"
# ... the last one too, once the end is told; and the trail is what it was.
wait_until 120 sh -c 'ls "$STORE/4711/sessions/long" | grep -q "jsonl.zst$" &&
	! ls "$STORE/4711/sessions/long" | grep -q "jsonl$\|new$"' ||
	fail "not compressed: $(ls "$STORE/4711/sessions/long")"
[ "$(state_of long)" = intact ] || fail "long: $(state_of long)"
owner '"$WARDFS" audit --system show long 2>/dev/null | grep -q f599 || fail "the last one"' || exit 1

# Another policy while it runs: the service keeps its text, the trail has both.
owner 'cd p || exit 1
	rm -f go here
	"$WARDFS" run --policy ../p.policy --session changes -- sh -c "
		touch here; until [ -e go ]; do sleep 0.05; done; cat .env" >../out 2>../err &
	wait_until 60 test -e here || fail "not started: $(cat ../err)"
	"$WARDFS" doctor | grep -q "^ok *audit writer" || fail "doctor: $("$WARDFS" doctor | grep -A1 "audit writer")"
	sed "s/^.audit./[files]\nhide = .env\n&/" ../p.policy >../less.policy
	"$WARDFS" policy reload changes ../less.policy >../said 2>&1 || { touch go; wait; fail "reload: $(cat ../said)"; }
	touch go
	wait
	grep -q "t=" ../out && fail "read what the new policy hides"
	rm here' || exit 1
grep -q '^hide = .env' "$STORE/4711/sessions/changes/policy.1" || fail "its text: $(ls "$STORE/4711/sessions/changes")"
grep -q '^hide = .env' "$STORE/4711/sessions/changes/policy" && fail "control: the first one hides nothing"
[ "$(state_of changes)" = intact ] || fail "changes: $(state_of changes)"
"$WARDFS" audit show --owner 4711 --json changes 2>/dev/null | grep '"kind":"reload"' | grep -q '"result":"loaded"' || fail "no reload"

# The writer: its death ends the session, and is seen. The owner cannot kill it.
owner 'cd p && { "$WARDFS" run --policy ../p.policy --session victim -- sh -c "touch here; sleep 600" 2>../err && rc=0 || rc=$?
	echo $rc >../status; } &' || exit 1
wait_until 60 test -e "$HOME/p/here" || fail "not started: $(cat "$HOME/err")"
writer=$(owner 'status_of victim audit_pid')
grep -q '^Uid:.4712' "/proc/$writer/status" || fail "the writer runs as $(grep Uid "/proc/$writer/status")"
expect 1 owner "kill -9 $writer"
has "$ERR" ermitted
kill -9 "$writer"
wait_until 60 test -s "$HOME/status" || fail "the session goes on without its writer"
[ "$(cat "$HOME/status")" -eq 125 ] || fail "exit $(cat "$HOME/status"): $(cat "$HOME/err")"
grep -q 'wardfs-audit died' "$HOME/err" || fail "$(cat "$HOME/err")"
[ "$(state_of victim)" = incomplete ] || fail "victim: $(state_of victim)"
"$WARDFS" audit show --owner 4711 victim >"$WARD_TMP/shown" 2>"$WARD_TMP/shown.err" || fail "show: $(cat "$WARD_TMP/shown.err")"
grep -q 'recovery: wardfs-audit died' "$WARD_TMP/shown" || fail "no cause: $(tail -n 4 "$WARD_TMP/shown")"
# The process above it: the same.
rm -f "$HOME/status" "$HOME/p/here"
owner 'cd p && { "$WARDFS" run --policy ../p.policy --session second_victim -- sh -c "touch here; sleep 600" 2>../err && rc=0 || rc=$?
	echo $rc >../status; } &' || exit 1
wait_until 60 test -e "$HOME/p/here" || fail "not started: $(cat "$HOME/err")"
writer=$(owner 'status_of second_victim audit_pid')
keeper=$(sed -n 's/^PPid:.//p' "/proc/$writer/status")
[ "$keeper" -ne "$service" ] || fail "no process of its own"
kill -9 "$keeper"
wait_until 60 test -s "$HOME/status" || fail "the session goes on without a keeper"
[ "$(cat "$HOME/status")" -eq 125 ] || fail "exit $(cat "$HOME/status"): $(cat "$HOME/err")"
wait_until 60 gone "$writer" || fail "a writer is left"
[ "$(state_of second_victim)" = incomplete ] || fail "second_victim: $(state_of second_victim)"
# The supervisor, by its owner: the trail has its end all the same.
rm -f "$HOME/status" "$HOME/p/here"
owner 'cd p && { "$WARDFS" run --policy ../p.policy --session orphan -- sh -c "touch here; sleep 600" 2>../err && rc=0 || rc=$?
	echo $rc >../status; } &' || exit 1
wait_until 60 test -e "$HOME/p/here" || fail "not started: $(cat "$HOME/err")"
expect 0 owner "kill -9 $(owner 'status_of orphan pid')"
wait_until 60 grep -q '"session":"orphan","kind":"end"' "$STORE/4711/ledger.jsonl" || fail "no end of orphan"
[ "$(state_of orphan)" = incomplete ] || fail "orphan: $(state_of orphan)"
wait_until 60 test -s "$HOME/status" || fail "not ended"

# The floor asks for it: who says nothing has it, too.
mkdir -p /etc/wardfs
printf '[policy]\nversion = 1\n[audit]\nwriter = system\n' >/etc/wardfs/floor.policy
owner 'cd p && expect 0 "$WARDFS" run --session floored -- true' || exit 1
[ "$(state_of floored)" = intact ] || fail "floored: $(state_of floored)"
# Root's sessions, in a directory of their own.
(cd "$HOME/p" && expect 0 "$WARDFS" run --session roots -- true) || exit 1
expect 0 "$WARDFS" audit verify --owner root roots
has "$OUT" "roots: intact"
expect 125 owner '"$WARDFS" audit --owner 0 show roots'
has "$ERR" "ermi"
# Commands with which root would spoil the ledger for the writer.
expect 125 "$WARDFS" audit key rotate --owner 4711
has "$ERR" "as its user"
expect 125 "$WARDFS" audit prune --owner 4711
# The service ends, and what runs goes on to its end; then nothing starts.
rm -f "$HOME/status" "$HOME/p/here" "$HOME/p/stop"
owner 'cd p && { "$WARDFS" run --session last -- sh -c "touch here; while [ ! -e stop ]; do sleep 0.1; done" 2>../err && rc=0 || rc=$?
	echo $rc >../status; } &' || exit 1
wait_until 60 test -e "$HOME/p/here" || fail "not started: $(cat "$HOME/err")"
kill "$service"
wait "$service" || [ $? -eq 143 ]
rm -f "$SOCKET"
owner 'touch p/stop; cd p; expect 125 "$WARDFS" run -- true' || exit 1
wait_until 60 test -s "$HOME/status" || fail "not ended"
[ "$(cat "$HOME/status")" -eq 0 ] || fail "last: $(cat "$HOME/err")"
[ "$(state_of last)" = intact ] || fail "last: $(state_of last)"
wait_until 60 sh -c '[ -z "$(ls -A "$STORE/4711/running")" ]' || fail "marks: $(ls -A "$STORE/4711/running")"
# Findings of a sanitized build about the service and its writers.
grep -e Sanitizer -e 'runtime error' "$WARD_TMP/service.err" && fail "see above"
exit 0
