#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A newcomer's first questions to the trail: each verb answers, and says what to type next.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
export XDG_STATE_HOME="$PWD"
STATE=$PWD/wardfs
tests=$WARD_SRC/tests/cases/audit/lib
project work
cd work
echo hello >a.txt
expect 0 "$WARDFS" run --session walled -- cat a.txt

# A mode without a wall lacks what the wall gives. The control: one with all of them.
expect 0 "$WARDFS" audit guarantees
expect 0 "$WARDFS" run --session open --mode none -- true
expect 0 "$WARDFS" run --session half --mode process -- true
expect 1 "$WARDFS" audit guarantees
echo "$OUT" | grep -q '^    open  20.*  mode none does not have it (the session.s mode)$' || fail "guarantees: $OUT"
expect 1 "$WARDFS" audit guarantees --json
echo "$OUT" | python3 "$tests/newcomer-guarantees.py" || fail "guarantees --json: $OUT"

# Sessions with the same answer are one line; the control above: one session has its name.
expect 0 "$WARDFS" run --session open-too --mode none -- true
expect 1 "$WARDFS" audit guarantees
echo "$OUT" | grep -q '^    2 sessions \(on\|from\) 20..-..-..\( to 20..-..-..\)\?, the last open-too  mode none does not have it (the session.s mode)$' ||
	fail "not one line: $OUT"
hasnt "$OUT" "    open  "
echo "$OUT" | grep -q '^    half  20.*  mode process does not' || fail "guarantees: $OUT"
echo "$OUT" | grep -q '^4 sessions, 0 of them without a sandbox; no attempt inside succeeded$' || fail "guarantees: $OUT"

# The first rows of a question say what the session did: what all begin with comes last.
expect 0 "$WARDFS" audit sql "SELECT kind, path FROM records WHERE session = 'walled' LIMIT 4"
has "$OUT" "open	/workspace/a.txt"
expect 0 "$WARDFS" audit sql "SELECT kind FROM records WHERE session = 'walled'"
[ "$(echo "$OUT" | tail -n 1)" = probe ] || fail "probes are not last: $OUT"
expect 0 "$WARDFS" audit sql "SELECT kind FROM records WHERE session = 'walled' ORDER BY seq"
[ "$(echo "$OUT" | tail -n 1)" = session.end ] || fail "not in the order asked for: $OUT"

# The refusals are those of the command, not of the probes that wardfs makes before it. The control:
# a refusal of the command's, and the probes by their kind.
expect 0 "$WARDFS" run --session denied -- sh -c 'echo x >.git/config || :'
for index in '' --no-index; do
	for proof in '' --proof; do
		# shellcheck disable=SC2086
		expect 0 "$WARDFS" audit show --json $index $proof --verdict deny denied
		has "$OUT" '"path":"/workspace/.git/config"'
		hasnt "$OUT" '"kind":"probe"'
		# shellcheck disable=SC2086
		expect 0 "$WARDFS" audit show --json $index $proof --kind probe --verdict deny denied
		has "$OUT" '"kind":"probe"'
	done
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" audit list --json $index --verdict deny
	echo "$OUT" | python3 -c 'import json, sys; assert [s["session"] for s in json.load(sys.stdin)] == ["denied"]' ||
		fail "list $index --verdict deny: $OUT"
done

# list and summary name the session's command, project, mode and end.
expect 0 "$WARDFS" run --session parts -- sh -c 'echo "two words" >/dev/null'
expect 3 "$WARDFS" run --session three -- sh -c 'cat a.txt a.txt a.txt; exit 3'
expect 137 "$WARDFS" run --session shot -- sh -c 'kill -9 $$'
expect 0 "$WARDFS" audit list
for row in '^walled .*  0  *restricted  work  *cat a\.txt  *ended$' \
	"^three .*  3  *restricted  work  *sh -c 'cat a\.txt a\.txt a\.txt; e…  ended\$" \
	'^open .*  0  *none  *work  *true  *ended$' '^shot .*  signal 9  *restricted '; do
	echo "$OUT" | grep -q -e "$row" || fail "list lacks $row: $OUT"
done
expect 0 "$WARDFS" audit list --json
echo "$OUT" | python3 "$tests/newcomer-list.py" "$PWD" || fail "list --json: $OUT"
expect 0 "$WARDFS" audit list --kind session.end
echo "$OUT" | grep -q '^three .*  1  3  *restricted  work ' || fail "list --kind: $OUT"
expect 0 "$WARDFS" audit summary three
for line in 'session    three' 'when       20.*Z to 20.*Z' 'who        .*(uid [0-9]*), started by uid 0' \
	"project    $PWD" "command    sh -c 'cat a.txt a.txt a.txt; exit 3'" 'mode       restricted' \
	'policy     [0-9a-f]\{16\}…  printed by wardfs audit policy three' 'result     exit 3'; do
	echo "$OUT" | grep -q -e "^$line" || fail "summary lacks $line: $OUT"
done
expect 0 "$WARDFS" audit summary shot
has "$OUT" "result     signal 9"

# A file that is named can be pasted, also where its name has what a shell would take away.
project ../a-project
cd ../a-project
echo x >none.txt
expect 0 "$WARDFS" policy add read /workspace/none.txt --force
eval "set -- $(echo "$OUT" | sed -n "s/^added to \(.*\): \[files\] .*/\1/p" | head -1)"
grep -qx 'read = /workspace/none.txt' "$1" || fail "no such file: $1 ($OUT)"
case $1 in *a\\x2dproject.policy) ;; *) fail "control: the name needs quotes: $1" ;; esac
expect 0 "$WARDFS" run --session quoted -- sh -c 'echo y >>none.txt || :'
expect 0 "$WARDFS" audit denials quoted
eval "set -- $(echo "$OUT" | sed -n 's/^    in: .* of //p' | head -1)"
[ -f "$1" ] || fail "denials: no such file: $1 ($OUT)"
rule=$(printf '%s\n' "$OUT" | sed -n 's/^    rule: *\(.*\)  read = .*/\1/p' | head -1)
for index in '' --no-index; do
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" audit show --json $index --rule "$rule" quoted
	has "$OUT" '"path":"/workspace/none.txt"'
done
cd ../work

# Nothing runs: what to type. Of a session that is named, that it does not run is the answer.
for verb in ps 'top --once'; do
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" $verb
	[ -z "$OUT" ] || fail "$verb: $OUT"
	has "$ERR" "no session is running. 'wardfs run -- CMD' starts one"
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" $verb --json
	[ "$OUT" = '[]' ] && [ -z "$ERR" ] || fail "$verb --json: $OUT $ERR"
done
expect 1 "$WARDFS" ps walled
hasnt "$ERR" "starts one"

# A person is told once for each state directory what is kept, and where; a program is not.
at_terminal() { echo | XDG_STATE_HOME=$1 python3 "$tests/keep-ask.py" "$WARDFS" run -- true; }
mkdir "$WARD_TMP/fresh"
expect 0 at_terminal "$WARD_TMP/fresh"
has "$OUT" "below $WARD_TMP/fresh/wardfs, and keeps the record for 200 days ([audit] keep). 'wardfs audit list'"
expect 0 at_terminal "$WARD_TMP/fresh"
hasnt "$OUT" "200 days"
mkdir "$WARD_TMP/fresher"
expect 0 env XDG_STATE_HOME="$WARD_TMP/fresher" "$WARDFS" run -- true
hasnt "$ERR" "200 days"

# The advice for the host fits the refusal: an editor cannot make a directory.
expect 1 "$WARDFS" run --session directory -- mkdir .vscode
expect 0 "$WARDFS" audit denials directory
has "$OUT" "outside of the session: mkdir $PWD/.vscode"
hasnt "$OUT" EDITOR
expect 1 "$WARDFS" run --session file -- sh -c 'echo x >.envrc || exit 1'
expect 0 "$WARDFS" audit denials file
has "$OUT" "outside of the session: \${EDITOR:-vi} $PWD/.envrc"

# As other programs have it, and what it is, where a word was wrong.
expect 0 "$WARDFS" audit tail -n 2 walled
[ "$(echo "$OUT" | wc -l)" -eq 2 ] || fail "tail -n: $OUT"
expect 125 "$WARDFS" audit sql 'SELECT nope FROM records'
has "$ERR" "no such column: nope (wardfs audit sql --help names the columns)"
expect 2 "$WARDFS" seccomp ptrace
has "$ERR" "there is no verb 'ptrace': did you mean 'explain'?"
expect 0 "$WARDFS" seccomp explain ptrace

# The advice for a file that was given with --policy: 'policy add' does not write into such a file.
printf '[policy]\nversion = 1\nextends = medium\n[files]\ndeny = /workspace/a.txt\n' >"$WARD_TMP/given.policy"
expect 1 "$WARDFS" run --policy "$WARD_TMP/given.policy" --session given -- cat a.txt
has "$ERR" "($WARD_TMP/given.policy:5)"
expect 0 "$WARDFS" audit denials given
has "$OUT" "[files] of $WARD_TMP/given.policy"
hasnt "$OUT" "by: "
expect 0 "$WARDFS" policy add deny /workspace/a.txt
expect 1 "$WARDFS" run --session own -- cat a.txt
expect 0 "$WARDFS" audit denials own
has "$OUT" "by:        wardfs policy add read /workspace/a.txt"

# The first line tells what was run, where and how, and fits on a screen; -v and --json have all.
expect 0 "$WARDFS" audit show walled
line=$(echo "$OUT" | head -n 1)
has "$line" "session.start  argv cat a.txt  project $PWD  mode restricted  owner "
has "$line" "; -v prints them)"
[ ${#line} -lt 400 ] || fail "too long: $line"
for v in show tail; do
	expect 0 "$WARDFS" audit $v -v walled
	hasnt "$OUT" "-v prints"
done
expect 0 "$WARDFS" audit show -v walled
has "$(echo "$OUT" | head -n 1)" '"seccomp":"default"'
# A script as an argument leaves room for the rest.
expect 0 "$WARDFS" run --session script -- sh -c ": $(seq -s ' ' 100)"
expect 0 "$WARDFS" audit show script
has "$(echo "$OUT" | head -n 1)" "…  project $PWD"
