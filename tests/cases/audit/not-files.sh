#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Something else lies where the state directory should have a file. Nobody waits for it: a fifo
# there would block verify, and so the verification of all other sessions.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session a --events 5 --checkpoint 3
run --session b --events 5
audit verify --all >said || fail "control: $(cat said)"
cp -a state good

# other MAKE FILE: with something else in its place
other() {
	rm -rf state
	cp -a good state
	rm "state/$2"
	# shellcheck disable=SC2086
	$1 "state/$2" || fail "$*"
}
# ends ARG…: comes to an end, and says that not all is well
ends() {
	status=0
	timeout 120 "$WARD_BUILD/wardfs" audit "$@" --state "$STATE" >said 2>err </dev/null || status=$?
	[ $status -eq 1 ] || [ $status -eq 125 ] || fail "$file, $make: $*: $status: $(cat said err)"
}
for make in mkfifo mkdir "ln -s /dev/zero" "ln -s ../b/trail.jsonl"; do
	for file in ledger.jsonl key sessions/a/trail.jsonl sessions/a/checkpoints; do
		other "$make" $file
		ends verify --all
		ends verify a
	done
	# A trail that cannot be read hides nothing of the others: neither that they are well nor
	# that they are not.
	other "$make" sessions/a/trail.jsonl
	ends verify --all
	[ $status -eq 125 ] && grep -q '^a: unread: ' said && grep -q '^b: intact' said && grep -q '1 could not be read' err ||
		fail "$make: $(cat said err)"
	sed -i 's/t0-2/t0-x/' state/sessions/b/trail.jsonl
	ends verify --all
	grep -q '^b: edited' said || fail "$make: $(cat said err)"
	ends verify --json --all
	python3 -c 'import json
states = {r["name"]: r["state"] for r in json.load(open("said"))}
assert states == {"ledger": "intact", "a": "unread", "b": "edited"}, states' || fail "$make: $(cat said)"
	cp good/sessions/b/trail.jsonl state/sessions/b/trail.jsonl
	ends show a
	ends export a
	ends prove a 2
done
