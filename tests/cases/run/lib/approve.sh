# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What the tests of questions share: a project p with one file that is asked about.
set -eu
. "$WARD_SRC/tests/lib.sh"

# asking_project [LINE...]: makes and enters the project, and writes ../ask.policy with these lines
# more.
asking_project() {
	project p
	cd p || return 1
	mkdir -p .github/workflows src
	echo one >.github/workflows/ci
	{
		printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\nask = .github\n'
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} >../ask.policy
}

# begin NAME CMD...: runs the command in session NAME, in the background. Sets RUN.
begin() {
	name=$1
	shift
	"$WARDFS" run --session "$name" --policy ../ask.policy -- "$@" >"../$name.out" 2>"../$name.err" &
	RUN=$!
}

# end STATUS NAME: the command of begin() has ended so.
end() {
	got=0
	wait "$RUN" || got=$?
	[ "$got" -eq "$1" ] || fail "session $2 ended with $got, not $1: $(cat "../$2.out" "../$2.err")"
}

# member NAME EXPRESSION: of the first question of session NAME: q.
member() {
	"$WARDFS" approve --json --session "$1" | python3 "$WARD_SRC/tests/cases/run/lib/approve-first.py" "$2"
}

# question NAME: the id of the first question of session NAME, once there is one. Sets Q.
question() {
	wait_until 30 member "$1" 'q["question"]' || fail "no question in $1: $(cat "../$1.err")"
	Q=$(member "$1" 'q["question"]')
}
