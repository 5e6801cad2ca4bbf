#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2016
# As root and as an ordinary user, `[network] ask`: a connection waits for a person, whatever allows
# it besides. Attacks: answers of another session, a flood, two racing answers, a use that others
# take. The control is the same policy without the line.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
net_project
export XDG_RUNTIME_DIR=$HOME/run
mkdir -m 700 "$XDG_RUNTIME_DIR"
approve_lib=$WARD_SRC/tests/cases/run/lib
lines() { policy "$HOME/pol" 'mode = allowlist' 'allow = *:3000' 'allow = *:80' "$@"; }
# begin NAME COMMAND...: in session NAME, in the background.
begin() {
	name=$1
	shift
	"$WARDFS" run --policy "$HOME/pol" --session "$name" -- "$@" >"../$name.out" 2>"../$name.err" &
	RUN=$!
}
member() { "$WARDFS" approve --json --session "$1" | python3 "$approve_lib/approve-first.py" "$2"; }
question() {
	wait_until 60 member "$1" 'q["question"]' || fail "no question in $1: $(cat "../$1.out" "../$1.err")"
	Q=$(member "$1" 'q["question"]')
}
end() {
	got=0
	wait "$RUN" || got=$?
	[ "$got" -eq "$1" ] || fail "session $2 ended with $got, not $1: $(cat "../$2.out" "../$2.err")"
}

echo '--- control: without the line it is reached'
lines
expect 0 "$WARDFS" run --policy "$HOME/pol" -- python3 n.py first echo.example 3000
[ "$OUT" = SERVER-FIRST ] || fail "control: $OUT $ERR"

echo '--- it waits, is shown, and goes on after a yes; so does the next one, unasked'
lines 'ask = echo.example' 'deny = evil.example' 'ask = *.wild.example:3000' '[approvals]' 'timeout = 10m'
begin yes sh -c 'python3 n.py first echo.example 3000; python3 n.py first echo.example 3000'
question yes
[ "$(member yes 'q["host"], q["action"], q["rights"], q["rule_text"], q["waits"]')" = \
	"('echo.example:3000', 'connect', 'connect', '[network] ask = echo.example', True)" ] || fail "$(member yes q)"
[ "$(member yes 'q["program"], q["argv"][-2:]')" = "('python3', ['echo.example', '3000'])" ] || fail "$(member yes q)"
expect 0 "$WARDFS" approve
has "$OUT" "$Q  connect echo.example:3000"
has "$OUT" "yes allows: connect on echo.example:3000 until the session ends
                (this host and port"
wait_until 60 grep -q "^wardfs: question $Q: python3 ([0-9]*) asks to connect to echo.example:3000, and waits. Answer: wardfs approve $Q yes|once|no" ../yes.err ||
	fail "$(cat ../yes.err)"
refused "no line of yours keeps" "$WARDFS" approve "$Q" always
expect 0 "$WARDFS" approve "$Q" yes
end 0 yes
[ "$(cat ../yes.out)" = "SERVER-FIRST
SERVER-FIRST" ] || fail "$(cat ../yes.out)"
expect 0 "$WARDFS" audit verify yes
"$WARDFS" audit show --json --kind ask yes >../asks
"$WARDFS" audit show --json --kind answer yes >../answers
records=$WARD_SRC/tests/cases/network/lib/ask-records.py
python3 "$records" granted ../asks ../answers "$Q"
[ "$("$WARDFS" audit show --json --kind use yes | wc -l)" -eq 2 ] || fail "not two uses"

echo '--- no: refused, recorded with the question, and not asked again'
begin no sh -c 'python3 n.py first echo.example 3000; python3 n.py first echo.example 3000; true'
question no
expect 0 "$WARDFS" approve "$Q" no
end 0 no
hasnt "$(cat ../no.out)" SERVER-FIRST
[ "$("$WARDFS" audit show --json --kind ask no | wc -l)" -eq 1 ] || fail "asked again"
"$WARDFS" audit show --json --kind deny no >../denied
python3 "$records" refused ../denied "$Q"
has "$(cat ../no.err)" "1 question was refused ($Q connect echo.example:3000)"
expect 0 "$WARDFS" audit denials no
has "$OUT" "question:  $Q, refused by uid"

echo '--- once: of three that wait one goes on, and the others are asked again'
begin once sh -c 'for i in 1 2 3; do python3 n.py first echo.example 3000 >once.$i 2>&1 & done; wait; cat once.?'
question once
first=$Q
expect 0 "$WARDFS" approve "$Q" once
another() { Q=$(member once 'q["question"]') && [ "$Q" != "$first" ]; }
wait_until 60 another || fail "no other question: $(cat ../once.out ../once.err)"
refused "no question '$first' waits" "$WARDFS" approve "$first" yes
expect 0 "$WARDFS" approve "$Q" no
end 0 once
[ "$(cat once.? | grep -c SERVER-FIRST)" -eq 1 ] || fail "$(cat once.?)"

echo '--- a deny stays, and what nothing asks about is not asked'
begin others sh -c 'python3 n.py first evil.example 3000; python3 n.py first web.example 3000'
end 0 others
[ "$(grep -c SERVER-FIRST ../others.out)" -eq 1 ] || fail "$(cat ../others.out)"
if "$WARDFS" audit show --json --kind ask others | grep -q .; then fail "asked"; fi

echo '--- through the proxy inside, which answers after the person'
begin proxy sh -c 'curl -s --max-time 200 --proxytunnel http://echo.example:80/ && echo tunnelled'
question proxy
[ "$(member proxy 'q["host"]')" = echo.example:80 ] || fail "$(member proxy q)"
expect 0 "$WARDFS" approve "$Q" yes
end 0 proxy
has "$(cat ../proxy.out)" tunnelled
socks='curl -s --max-time 200 --noproxy "" --proxy "socks5h://${http_proxy#http://}" http://echo.example:80/ && echo through'
begin socks sh -c "$socks"
question socks
[ "$(member socks 'q["host"], q["waits"]')" = "('echo.example:80', True)" ] || fail "$(member socks q)"
expect 0 "$WARDFS" approve "$Q" once
end 0 socks
has "$(cat ../socks.out)" through
begin nosocks sh -c "$socks || echo refused"
question nosocks
expect 0 "$WARDFS" approve "$Q" no
end 0 nosocks
has "$(cat ../nosocks.out)" refused
begin refused curl -s --max-time 200 http://echo.example:80/
question refused
expect 0 "$WARDFS" approve "$Q" no
end 0 refused
has "$(cat ../refused.out)" "a person has refused it"

echo '--- a program that goes while it waits is gone, and a later answer reaches nobody'
begin left sh -c 'python3 n.py first echo.example 3000 & p=$!; until [ -e go ]; do sleep 0.1; done; kill $p; wait $p; until [ -e end ]; do sleep 0.1; done'
question left
touch go
went() { "$WARDFS" audit show --json --kind deny left | grep -q "did not wait for the answer"; }
wait_until 60 went || fail "it waits for a dead process: $("$WARDFS" audit show left)"
expect 0 "$WARDFS" approve "$Q" yes
touch end
end 0 left
rm go end
if "$WARDFS" audit show --json --kind use left | grep -q .; then fail "an answer used by nobody"; fi

echo '--- an answer with the digest of another session, and two that race'
begin mine python3 n.py first echo.example 3000
question mine
mine=$RUN
begin other python3 n.py first a.wild.example 3000
question other
python3 "$approve_lib/approve-send.py" "$XDG_RUNTIME_DIR/wardfs/mine/control" "$Q" "$(member other 'q["digest"]')" path >../sent
grep -q "no such question" ../sent || fail "$(cat ../sent)"
# A pattern has to cover the host that was asked about; the control is the one that wins below.
for elsewhere in b.example:3000 a.wild.example:80 a.wild.example 192.0.2.0/24 '*.example.org:3000'; do
	refused "the pattern '$elsewhere' does not cover a.wild.example:3000, which was asked about" \
		"$WARDFS" approve "$Q" pattern "$elsewhere"
	refused "does not cover a.wild.example:3000" "$WARDFS" approve "$Q" for 5m "$elsewhere"
done
[ -z "$("$WARDFS" audit show --json --kind grant other)" ] || fail "a grant for another host"
"$WARDFS" approve "$Q" no 2>../race.1 &
one=$!
"$WARDFS" approve "$Q" pattern '*.wild.example:3000' 2>../race.2 &
two=$!
won=0
if wait $one; then won=$((won + 1)); fi
if wait $two; then won=$((won + 1)); fi
[ $won -eq 1 ] || fail "$won answers counted: $(cat ../race.1 ../race.2)"
wait "$RUN" || :
[ "$("$WARDFS" audit show --json --kind answer other | wc -l)" -eq 1 ] || fail "not one answer"
RUN=$mine
Q=$(member mine 'q["question"]')
expect 0 "$WARDFS" approve "$Q" once
end 0 mine

echo '--- a flood: few wait, questions are bounded, and others are served'
lines 'ask = *.example' 'allow = 203.0.113.10:3000' '[approvals]' 'timeout = 10m'
cp "$WARD_SRC/tests/cases/network/lib/ask-flood.py" flood.py
begin flood python3 flood.py
wait_until 120 grep -q '^served SERVER-FIRST$' ../flood.out || fail "$(cat ../flood.out ../flood.err)"
[ "$(grep -c '^wardfs: question ' ../flood.err)" -le 3 ] || fail "$(cat ../flood.err)"
"$WARDFS" approve --json --session flood >../list
python3 -c 'import json, sys
waits = sum(q["waits"] for q in json.load(open("../list")))
assert 1 <= waits <= 2, waits'
touch go
end 0 flood
has "$(cat ../flood.out)" "refused 18"
rm go

echo '--- nobody answers: refused at its time, and said so'
lines 'ask = echo.example' '[approvals]' 'timeout = 1s'
begin late sh -c 'python3 n.py first echo.example 3000; true'
end 0 late
hasnt "$(cat ../late.out)" SERVER-FIRST
"$WARDFS" audit show --json --kind answer late | grep -q '"result":"expired"' || fail "$("$WARDFS" audit show late)"

echo '--- the language: check, explain, test'
lines 'ask = echo.example' 'deny = evil.example' 'ask = evil.example' '[test]' \
	'expect = connect echo.example:22 ask' 'expect = connect web.example:80 allow' 'expect = connect evil.example:80 deny'
expect 0 "$WARDFS" policy test "$HOME/pol"
expect 1 "$WARDFS" policy explain --policy "$HOME/pol" connect echo.example:443
has "$OUT" "connect echo.example:443: ask"
has "$OUT" "to permit it: a session asks a person, who answers with 'wardfs approve'"
"$WARDFS" policy check "$HOME/pol" >../checked 2>&1 || :
has "$(cat ../checked)" "asks nothing: "
policy "$HOME/host" 'mode = host' 'ask = echo.example'
refused "cannot be asked with mode = host" "$WARDFS" run --policy "$HOME/host" -- true
lines
cp "$HOME/pol" ../before
lines 'ask = echo.example'
"$WARDFS" policy diff ../before "$HOME/pol" >../diff 2>&1 || :
has "$(cat ../diff)" "echo.example"
exit 0
S
in_host_both "$WARD_TMP/check.sh"
