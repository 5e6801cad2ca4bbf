#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs token: a grant that is signed before its session exists. Each attack on a token has its
# control, and a second implementation in Python gives the same verdict as wardfs.
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
trap 'for s in tk other m-none; do "$WARDFS" kill $s >/dev/null 2>&1 || :; done' EXIT
second=$WARD_SRC/tests/support/grant-token.py
mkdir -p project/docs project/src project/other project/docsx
for f in docs/a docs/b other/a docsx/a; do echo text >project/$f; done
echo fixed >project/docs/guarded
chmod -R a+rwX project

echo '--- keys'
expect 0 "$WARDFS" token key k
public=$OUT
expect 1 "$WARDFS" token key k
[ "$(stat -c %a k)" = 600 ] || fail "others read the key"
expect 0 "$WARDFS" token key foreign
expect 0 "$WARDFS" token make --key k --session tk --for 1h read /workspace/docs
chmod 644 foreign
expect 1 "$WARDFS" token make --key foreign --session tk --for 1h read /workspace/docs
has "$ERR" 'others may read or write this key'
chmod 600 foreign

echo '--- what a token needs'
make() { "$WARDFS" token make --key k "$@"; }
for bad in '--for 1h' '--session tk' '--session tk --project /p --for 1h' '--project p --for 1h' \
	'--session tk --not-before 2026-01-02T00:00:00Z --until 2026-01-01T00:00:00Z' '--session tk --until x'; do
	# shellcheck disable=SC2086 # several words
	expect 2 make $bad read /workspace/docs
done
for bad in docs / '/**/docs' '/workspace/../etc' '/w/['; do
	expect 2 make --session tk --for 1h read "$bad"
done
expect 2 make --session tk --for 1h lift /workspace/docs

echo '--- attacks on the chain: control, then the attack, to both implementations'
begun=2020-01-01T00:00:00Z
expect 0 make --session tk --for 1h --uses 3 --reason why -o mother append '/workspace/docs/**'
[ "$(stat -c %a mother)" = 600 ] || fail "others read the token"
expect 0 make --session tk --not-before $begun --until 2100-01-01T00:00:00Z --uses 3 --reason why -o whole \
	append '/workspace/docs/**'
mkdir forged
python3 "$second" attacks whole forged
for good in forged/*.good; do
	bad=${good%.good}.bad
	expect 0 "$WARDFS" token show "$good"
	expect 0 python3 "$second" show "$good"
	expect 1 "$WARDFS" token show "$bad"
	expect 1 python3 "$second" show "$bad"
done
[ "$(find forged -name '*.bad' | wc -l)" -ge 25 ] || fail "attacks are missing"
for member in session:session right:right pattern:pattern pattern-up:pattern pattern-wild:pattern \
	pattern-deep:pattern pattern-sibling:pattern from:beginning until:end uses:uses; do
	expect 1 "$WARDFS" token show "forged/${member%:*}.bad"
	has "$ERR" "would widen its ${member#*:}"
done
expect 0 "$WARDFS" token narrow whole --right read --uses 1 -o weaker
expect 1 "$WARDFS" token narrow weaker --right append
has "$ERR" 'would widen its right'
expect 1 "$WARDFS" token narrow weaker --what '/workspace/**'
expect 0 python3 "$second" show weaker
has "$OUT" '"right": "read"'

echo '--- the vector of docs/grants.md'
sed -n '/^### A test vector/,/^It gives/s/^    //p' "$WARD_SRC/docs/grants.md" >wrapped
python3 "$WARD_SRC/tests/cases/run/lib/tokens-vector.py" <wrapped >vector
for show in "$WARDFS token show --json" "python3 $second show"; do
	# shellcheck disable=SC2086 # several words
	expect 0 $show vector
	for want in '"session": "dev"' '"right": "read"' '"what": "/workspace/docs/manual"' '"uses": 3' \
		'"reason": "why"' t22f9820b4455cae1132e19f4a4cc90d1 t28e8eaf42cd41076e002abf19e18262e; do
		has "$OUT" "$want"
	done
done

echo '--- hosts'
expect 0 make --session tk --for 1h -o net connect '*.example.org:443,8443'
expect 0 "$WARDFS" token narrow net --what a.example.org:443
for bad in example.com a.example.org:80 a.example.org '*.org:443' '*:443' 1.2.3.4:443; do
	expect 1 "$WARDFS" token narrow net --what "$bad"
	has "$ERR" 'would widen its host'
done
expect 1 "$WARDFS" token narrow net --right read
expect 0 make --session tk --for 1h -o block connect 10.0.0.0/8:443
expect 0 "$WARDFS" token narrow block --what 10.1.0.0/16:443
expect 1 "$WARDFS" token narrow block --what 10.0.0.0/4:443

echo '--- only where the policy names the issuer'
policy() { # APPROVER-LINES
	cat <<P
[policy]
version = 1
[tree /workspace]
source = project
[files]
read = /workspace
write = /workspace/src
[guard]
read = guarded
[approvals]
timeout = 30s
$1
P
}
policy '' >none.policy
policy "approver = $public" >policy
start() { # POLICY NAME ARGUMENT…
	p=$1 name=$2
	shift 2
	rm -f project/src/ready
	"$WARDFS" run --session "$name" --policy "./$p" "$@" -- sh -c ': >src/ready; exec sleep 600' >run.out 2>&1 &
	run=$!
	begun() { [ -e project/src/ready ] || gone "$run"; }
	wait_until 60 begun
	[ -e project/src/ready ] || fail "the session does not begin: $(cat run.out)"
}
stop() {
	"$WARDFS" kill "$name" >/dev/null
	wait "$run" || :
}
inside() { "$WARDFS" exec tk -- sh -c "$1"; }
start none.policy tk
expect 1 "$WARDFS" grant tk --token mother
has "$ERR" "names the token's issuer"
policy "approver = $public" >none.policy
expect 0 "$WARDFS" policy reload tk ./none.policy
expect 2 inside 'echo x >>docs/a'
expect 0 "$WARDFS" grant tk --token mother --uses 1
expect 0 inside 'echo x >>docs/a'
expect 2 inside 'echo x >>docs/a'
# Not more than the token, and no guard.
expect 0 "$WARDFS" grant tk --token mother --uses 1
expect 1 inside 'rm docs/b'
expect 2 inside 'echo x >>other/a'
expect 2 inside 'echo x >>docs/guarded'
expect 2 inside 'echo x >>docsx/a'
expect 0 inside 'echo x >>docs/b'

echo '--- uses are counted on this host, over sessions and narrowed tokens'
expect 1 "$WARDFS" grant tk --token mother --uses 2
has "$ERR" '1 uses left on this host'
expect 0 "$WARDFS" token narrow mother --uses 2 -o one
expect 0 "$WARDFS" token narrow mother --uses 2 -o two
expect 0 "$WARDFS" grant tk --token one
expect 1 "$WARDFS" grant tk --token two
has "$ERR" 'no use of the token is left on this host'
expect 1 "$WARDFS" grant tk --token mother
expect 1 "$WARDFS" grant tk --token mother --uses 1

echo '--- another issuer, session, project; before and after its time'
expect 0 "$WARDFS" token make --key foreign --session tk --for 1h -o t-foreign read /workspace/docs
expect 1 "$WARDFS" grant tk --token t-foreign
has "$ERR" "names the token's issuer"
expect 0 make --session other --for 1h -o t-session read /workspace/docs
expect 1 "$WARDFS" grant tk --token t-session
has "$ERR" 'the token is for session other'
expect 0 make --project /nowhere --for 1h -o t-nowhere read /workspace/docs
expect 1 "$WARDFS" grant tk --token t-nowhere
has "$ERR" 'the token is for the project /nowhere'
where=$("$WARDFS" ps --json tk | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["project"])')
expect 0 make --project "$where" --for 1h -o t-project write /workspace/docs/a
expect 0 "$WARDFS" grant tk --token t-project
expect 0 make --session tk --not-before $begun --until 2020-01-02T00:00:00Z -o t-old read /workspace/docs
expect 1 "$WARDFS" grant tk --token t-old
has "$ERR" "time is over"
expect 0 make --session tk --not-before 2100-01-01T00:00:00Z --for 1h -o t-early read /workspace/docs
expect 1 "$WARDFS" grant tk --token t-early
has "$ERR" "time has not come"
expect 0 make --session tk --for 1h -o t-guard write /workspace/docs/guarded
expect 1 "$WARDFS" grant tk --token t-guard
has "$ERR" 'no grant lifts'

echo '--- revoked, here and by a list'
expect 0 make --session tk --for 1h -o gone append '/workspace/docs/**'
expect 0 "$WARDFS" token narrow gone --right read -o gone-too
expect 0 "$WARDFS" grant tk --token gone-too
id=$("$WARDFS" token show --json gone | python3 -c 'import json, sys; print(json.load(sys.stdin)["ids"][0])')
expect 0 "$WARDFS" token revoke "$id"
for t in gone gone-too; do
	expect 1 "$WARDFS" grant tk --token $t
	has "$ERR" 'was revoked'
done
expect 2 "$WARDFS" token revoke t12
expect 0 make --session tk --for 1h -o listed read /workspace/docs
expect 0 "$WARDFS" grant tk --token listed
id=$("$WARDFS" token show --json listed | python3 -c 'import json, sys; print(json.load(sys.stdin)["ids"][0])')
printf '# revoked\n\n%s\n' "$id" >revoked
policy "approver = $public
revoked = $PWD/revoked" >listed.policy
expect 0 "$WARDFS" policy reload tk ./listed.policy
expect 1 "$WARDFS" grant tk --token listed
has "$ERR" 'was revoked'
expect 0 make --session tk --for 1h -o unlisted read /workspace/docs
expect 0 "$WARDFS" grant tk --token unlisted
echo junk >>revoked
expect 1 "$WARDFS" grant tk --token unlisted
has "$ERR" 'has a line that is no id of a token'
rm revoked
expect 1 "$WARDFS" grant tk --token unlisted
has "$ERR" 'is missing, cannot be read'
stop

echo '--- the trail names key and token'
"$WARDFS" audit show --json tk >trail
python3 - "$public" <<'P'
import json, sys
grants = [r for r in map(json.loads, open("trail")) if r["kind"] == "grant"]
assert len(grants) >= 6, grants
assert all(g["how"] == "token" and g["key"] == sys.argv[1] and g["token"].startswith("t") for g in grants), grants
assert len([g for g in grants if " " in g["token"]]) >= 2, grants
P
expect 0 "$WARDFS" audit verify tk

echo '--- with run: in force before the command; refused, the command does not start'
expect 0 make --session other --for 1h --uses 1 -o r append '/workspace/docs/**'
expect 0 "$WARDFS" run --session other --policy ./policy --token r -- sh -c 'echo run >>docs/a'
grep -q run project/docs/a || fail "not written"
expect 2 "$WARDFS" run --policy ./policy --token r -- sh -c ': >src/started'
has "$ERR" '--token: the token is for session other'
[ ! -e project/src/started ] || fail "the command started"
expect 2 "$WARDFS" run --policy ./policy --token /nowhere -- true
expect 2 "$WARDFS" run --policy ./policy --token k -- true

echo '--- the commands of docs/grants.md'
# shellcheck disable=SC2016 # for the commands
sed -n '/^## Tokens/,/^### The format/s/^    //p' "$WARD_SRC/docs/grants.md" |
	sed -e '/^\[approvals\]/d' -e '/^approver/d' -e 's/^wardfs run /wardfs run --policy .\/policy.docs /' \
		-e 's/COMMAND/sh -c "echo documented >>docs\/a"/' -e 's/^wardfs /"$WARDFS" /' >commands
[ "$(grep -c WARDFS commands)" -eq 4 ] || fail "not four commands: $(cat commands)"
sed -n '/token key/p' commands >first
sed '/token key/d' commands >rest
expect 0 sh -e first
policy "approver = $OUT" >policy.docs
expect 0 sh -e rest
grep -q documented project/docs/a || fail "not written"
expect 0 "$WARDFS" token show weaker.token
has "$OUT" 'right    read'

echo '--- where the command could sign for itself no token counts'
expect 0 make --session m-none --for 1h -o m read /workspace/docs
expect 2 "$WARDFS" run --mode none --session m-none --policy ./policy --token m -- true
has "$ERR" 'could grant itself anything'
