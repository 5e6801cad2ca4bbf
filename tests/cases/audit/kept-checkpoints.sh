#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# verify --checkpoints FILE uses checkpoints that were kept elsewhere, in every form: by name, by
# default, by path and with --all. In the attack the owner rewrites everything with the same keys,
# so that all local files agree. --key never falls back to the host's own key when FILE holds
# none.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session one --events 30 --checkpoint 10
run --session two --events 30 --checkpoint 10
vkey=$(audit key show)
kept=$WARD_TMP/kept
cat state/sessions/two/checkpoints state/sessions/one/checkpoints >"$kept"
cp state/sessions/two/checkpoints two-alone
trail=state/sessions/one/trail.jsonl

# said STATUS TEXT ARGUMENT...: of verify
said() {
	want=$1
	text=$2
	shift 2
	rc=0
	audit verify "$@" >out 2>err || rc=$?
	[ $rc -eq "$want" ] && cat out err | grep -qF "$text" || fail "verify $*: exit $rc: $(cat out err)"
}

said 0 "one: intact" --checkpoints "$kept" one
said 0 "two: intact" --checkpoints "$kept"
said 0 "two: intact" --checkpoints "$kept" latest
said 0 "one: intact" --checkpoints "$kept" --key "$vkey" one
said 0 "one: intact" --checkpoints "$kept" "./$trail"
said 0 "one: intact" --checkpoints "$kept" --key "$vkey" "./$trail"
said 0 "one: intact" --checkpoints "$kept" --all
# Nothing about this session, or nothing at all.
said 125 "two-alone has no checkpoint of one" --checkpoints two-alone one
said 125 "two-alone has no checkpoint of one" --checkpoints two-alone "./$trail"
: >empty
said 125 "empty has no checkpoint of one" --checkpoints empty one
for form in one "./$trail" --all; do
	said 125 "missing: No such file" --checkpoints missing "$form"
done

# The owner begins anew with the same keys: the control is that all of it agrees.
cp -a state good
rm -r state/sessions state/ledger.jsonl state/ledger.checkpoints
run --session one --events 30 --checkpoint 10
run --session two --events 30 --checkpoint 10
said 0 "one: intact" one
said 0 "one: intact" --key "$vkey" one
said 0 "one: intact" --all
for form in one "./$trail" --all; do
	said 1 "one: edited at record" --checkpoints "$kept" "$form"
done
said 1 "two: edited at record" --checkpoints "$kept"
said 1 "one: edited at record" --checkpoints "$kept" --key "$vkey" one
said 1 "one: edited: one of the records 1 to 10 was changed" --checkpoints "$kept" --key "$vkey" "./$trail"
# One verdict each, also where the trail is not intact by itself, and with --all.
one_each() {
	audit verify --json --checkpoints "$kept" "$@" >out || true
	python3 -c '
import json, sys
names = [r["name"] for r in json.load(sys.stdin)]
assert names and len(names) == len(set(names)), names' <out || fail "two verdicts: $(cat out)"
}
one_each one
one_each --all
said 1 "two: edited at record" --checkpoints "$kept" --all
cp "$trail" whole
head -n 20 whole >"$trail"
said 1 "one: truncated at record 21" one
said 1 "; by itself it is truncated at record 21" --checkpoints "$kept" one
one_each one
one_each --all
one_each "./$trail"
cp whole "$trail"
rm -r state
mv good state

# Keys of others, and a file that only leads from one key to another.
audit key rotate >/dev/null || fail "rotate"
audit key chain >chain || fail "no chain"
grep -q ' ' chain || fail "the chain: $(cat chain)"
said 2 "neither a public key nor a file of public keys" --key ./chain one
said 0 "one: intact" --key "$vkey" --key ./chain one
other=$WARD_TMP/other
mkdir "$other"
(cd "$other" && . "$WARD_SRC/tests/cases/audit/lib/audit.sh" && run --session one --events 30 --checkpoint 10)
said 1 "checkpoints: foreign key" --checkpoints "$other/state/sessions/one/checkpoints" one
