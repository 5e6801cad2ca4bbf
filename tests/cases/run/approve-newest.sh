#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Signed answers to a question that more paths join: the newest one counts, and an older one, or one
# whose time is over, does not keep it out. An answer that is not valid removes none.
# timeout: 600
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project
mkdir ../s
for who in ann bob eve; do "$WARDFS" token key ../s/$who >../s/$who.pub; done
printf '[approvals]\ntimeout = 300s\napprovers = 2\napprover = %s\napprover = %s\n' "$(cat ../s/ann.pub)" "$(cat ../s/bob.pub)" >>../ask.policy
# sign WHO N FILE ANSWER...: signs an answer about the first N paths.
sign() {
	who=$1 n=$2 file=$3
	shift 3
	rm -f "../s/$file"
	"$WARDFS" approve --json "$Q.$n" >../s/q.json
	"$WARDFS" approve sign ../s/q.json --key "../s/$who" -o "../s/$file" "$@" >../s/shown
}
hand() { "$WARDFS" approve "$Q" --signed "$@"; }
signed() { [ "$(member "$1" 'q["signed"]')" = "$2" ] || fail "$(member "$1" q)"; }
shows() { [ "$(member "$1" '1 + len(q.get("more", []))' 2>/dev/null)" = "$2" ]; }
# asking NAME: two paths are asked about; a third one joins when `third` is there.
asking() {
	rm -rf .github/f* third go
	begin "$1" sh -c 'mkdir .github/f1; mkdir .github/f2; until [ -e third ]; do sleep 0.1; done; mkdir .github/f3
		until [ -e go ]; do sleep 0.1; done; mkdir .github/f1 .github/f2 && { mkdir .github/f3 || :; }'
	wait_until 30 shows "$1" 2 || fail "$("$WARDFS" approve)"
	question "$1"
}
joins() {
	touch third
	wait_until 30 shows "$1" 3 || fail "$("$WARDFS" approve)"
}
made() {
	touch go
	end 0 "$1"
	[ "$(ls -d .github/f* | tr '\n' ' ')" = "$2" ] || fail "made: $(ls .github)"
	expect 0 "$WARDFS" audit verify "$1"
	python3 "$WARD_SRC/tests/support/verify.py" "${XDG_STATE_HOME:-$HOME/.local/state}/wardfs" "$1" >../theirs ||
		fail "the second verifier: $(cat ../theirs)"
}

echo '--- the first answer has expired: a newer one, about more paths, counts'
asking late
sign ann 2 ann.late path --valid 3s
expect 0 hand ../s/ann.late
has "$ERR" '1 of 2 approvers have answered'
joins late
until [ "$(date +%s)" -gt "$(($(stat -c %Y ../s/ann.late) + 4))" ]; do sleep 0.2; done
sign bob 3 b path
expect 0 hand ../s/b
signed late 1
refused 'was good until' hand ../s/ann.late
signed late 1
sign ann 3 a path
expect 0 hand ../s/a
has "$ERR" granted
made late ".github/f1 .github/f2 .github/f3 "

echo '--- it has not: the same, and the first signer signs what both have seen'
asking newer
sign ann 2 ann.2 path
expect 0 hand ../s/ann.2
joins newer
sign bob 3 b path
expect 0 hand ../s/b
signed newer 1
sign ann 3 a path
expect 0 hand ../s/a
made newer ".github/f1 .github/f2 .github/f3 "

echo '--- an answer about fewer paths: it is for these, and the third one is asked about anew'
asking fewer
joins fewer
sign ann 3 ann.3 path
expect 0 hand ../s/ann.3
sign bob 2 b path
expect 0 hand ../s/b
signed fewer 1
sign ann 2 a path
expect 0 hand ../s/a
has "$ERR" granted
made fewer ".github/f1 .github/f2 "

echo '--- a signer changes its answer: the newest one of each counts, and the two have to be one'
asking change
joins change
sign ann 3 a path
sign ann 3 ann.once once
sign bob 3 b once
expect 0 hand ../s/a
refused 'signed different answers' hand ../s/b
expect 0 hand ../s/ann.once
signed change 1
expect 0 hand ../s/b
has "$ERR" granted
"$WARDFS" audit show --json --kind answer change >../answer 2>/dev/null
touch go
wait "$RUN" || :
"$WARDFS" audit show --json --kind answer change | grep -q '"scope":"once"' || fail "$(cat ../answer)"
expect 0 "$WARDFS" audit verify change

echo '--- attack: what is not valid removes no signature. The control is the second signature, which then suffices'
asking keeps
joins keeps
sign ann 3 a path
expect 0 hand ../s/a
sign eve 2 e path
refused 'names the key' hand ../s/e
sign bob 2 late path --valid 1s
sed 's/"path"/"once"/' ../s/late >../s/changed
refused 'does not fit' hand ../s/changed
sleep 2
refused 'was good until' hand ../s/late
sign ann 2 other path
sed 's/f1"/f9"/' ../s/other >../s/changed
refused 'does not fit' hand ../s/changed
signed keeps 1
sign bob 3 b path
expect 0 hand ../s/b
has "$ERR" granted
made keeps ".github/f1 .github/f2 .github/f3 "
