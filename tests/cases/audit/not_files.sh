#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where a file of the state directory should be and something else is, nobody waits for it: a fifo
# would hold up verify, and so that others are verified, for as long as nobody writes to it.
# plain
set -u
. "$WARD_SRC/tests/support/audit.sh"
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
	timeout 120 "$WARD_BUILD/wardfs" audit "$@" --state "$STATE" >said 2>err </dev/null
	status=$?
	[ $status -eq 1 ] || [ $status -eq 125 ] || fail "$file, $make: $*: $status: $(cat said err)"
}
for make in mkfifo mkdir "ln -s /dev/zero" "ln -s ../b/trail.jsonl"; do
	for file in ledger.jsonl key sessions/a/trail.jsonl sessions/a/checkpoints; do
		other "$make" $file
		ends verify --all
		ends verify a
	done
	other "$make" sessions/a/trail.jsonl
	ends show a
	ends export a
	ends prove a 2
done
