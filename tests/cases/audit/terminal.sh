#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An edited trail cannot steer a terminal. No verb and no format prints control characters,
# characters that change the direction of text, or lines that the trail's author made up.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

# steers NAME: the file has what steers a terminal
steers() {
	! python3 "$WARD_SRC/tests/support/terminal-bytes.py" "$@" >found
}
run --session good --events 41 --every --name 'étude\x1b'
mkdir out
audit show good >out/good || fail "show: control"
grep -q 'étude\\\\x1b' out/good || fail "control: an escaped name is not printed as it is: $(grep tude out/good | head -1)"
steers out/good && fail "control: an honest trail: $(cat found)"

run --session bad --events 41 --every
run --session other --events 11
python3 "$WARD_SRC/tests/cases/audit/lib/terminal-edit.py" state/sessions/bad/trail.jsonl
steers state/sessions/bad/trail.jsonl || fail "control: the trail steers no terminal"

# told FILE ARG…: what the verb prints on both streams goes to out/FILE and out/FILE.err, whatever
# it ends with
told() {
	to=$1
	shift
	rc=0
	timeout 120 "$WARD_BUILD/wardfs" audit "$@" --state "$STATE" >"out/$to" 2>"out/$to.err" </dev/null || rc=$?
	[ $rc -lt 124 ] || [ $rc -eq 125 ] || fail "$*: exit status $rc: $(cat "out/$to.err")"
}
for verb in show tail denials summary report attest verify; do
	told "$verb" "$verb" bad
	[ -s "out/$verb" ] || [ -s "out/$verb.err" ] || fail "$verb says nothing"
done
told show-json show --json bad
told show-proof show --proof bad
told show-pairs show --proof --json bad
told denials-json denials --json bad
told summary-json summary --json bad
told report-md report --format md bad
told report-json report --format json bad
told verify-json verify --json bad
told list list
told list-json list --json
told list-find list --path /workspace/t0-7
told file file /workspace/t0-7 bad
told process process 1 bad
told diff diff bad other
told diff-json diff --json bad other
told index index
told sql sql "SELECT * FROM records"
told sql-made sql "SELECT char(27)||'[31m'||char(155)||char(8238)||char(10)||'FORGED' AS \"x$(printf '\033')[31m\""
told sql-json sql --json "SELECT session, path, char(27)||char(155)||char(127) AS made FROM records"
told prove prove bad 2
for format in jsonl cef ocsf otel; do
	told "export-$format" export --format "$format" bad
	[ -s "out/export-$format" ] || fail "$format is empty"
done
told export.csv export --format csv bad
[ -s out/export.csv ] || fail "csv is empty"

# The ledger, the checkpoints, and the names of sessions that are there.
python3 "$WARD_SRC/tests/cases/audit/lib/terminal-store.py" state
told ledger-list list
told ledger-list-json list --json
told ledger-verify verify --all
told ledger-verify-json verify --json --all
told ledger-keys key list
told ledger-chain key chain
told ledger-show show "$(printf 'x\033]0;T\007\nFORGED')"
told ledger-attest attest other
told ledger-prove prove other 2
told ledger-index index --rebuild
told ledger-sql sql "SELECT DISTINCT session FROM records"
failed=
for name in out/*; do
	crlf=
	[ "$name" = out/export.csv ] && crlf=--crlf
	# shellcheck disable=SC2086 # no word where there is nothing to say
	steers $crlf "$name" && {
		cat found
		failed=yes
	}
done
[ -z "$failed" ] || fail "see above"
# The escaped text can still be seen.
grep -q 'a\\x1b]0;T\\x07\\x08\\r\\nFORGED' out/show || fail "show hides what it escapes: $(head -3 out/show)"
grep -q '\\xe2\\x80\\xae' out/show || fail "show hides the direction"
# A program reads from the JSON what the trail has.
python3 "$WARD_SRC/tests/cases/audit/lib/terminal-json.py" state/sessions/bad/trail.jsonl || fail "see above"
