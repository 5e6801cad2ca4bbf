#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `policy test` runs [test] and prints TAP or JSON. It names and counts each expectation that
# fails.
set -eu
. "$WARD_SRC/tests/lib.sh"

# explain: connect takes HOST[:PORT]; the control: one that is
for to in https://example.org/ a:b example.org:99999 example.org:0 :443 example.org:; do
	rc=0
	"$WARDFS" policy explain connect "$to" >out 2>&1 || rc=$?
	[ $rc = 2 ] || fail "connect $to: $rc"
	grep -qF 'HOST[:PORT]' out || fail "connect $to: $(cat out)"
done
rc=0
"$WARDFS" policy explain connect example.org:443 >out 2>&1 || rc=$?
[ $rc = 1 ] || fail "connect: $rc $(cat out)"
for to in example.org '[::1]'; do
	expect 1 "$WARDFS" policy explain connect "$to"
	has "$ERR" "port 443, since '$to' names none"
	has "$OUT" "connect $to:443: "
done

# Nothing to test is said.
cat >none.policy <<'END'
[policy]
version = 1
extends = medium
END
expect 0 "$WARDFS" policy test none.policy
[ "$OUT" = "TAP version 13
1..0" ] || fail "$OUT"
has "$ERR" "nothing was tested: the policy has no line 'expect'"

cat >good.policy <<'END'
[policy]
version = 1
extends = medium
[files]
read = /workspace/docs
[test]
expect = read   /workspace/docs/a  allow
expect = write  /workspace/docs/a  deny
expect = write  /workspace/src/a   allow
expect = read   /workspace/.env    hide
expect = stat   /etc/passwd        hide
expect = create /etc/passwd        hide
expect = stat   /                  allow
expect = rename /workspace/a /workspace/b allow
expect = rename /workspace/docs/a /workspace/b deny
expect = connect example.org:443   deny
END
"$WARDFS" policy test good.policy >out || fail "$(cat out)"
grep -q '^1\.\.10$' out || fail "$(cat out)"
[ "$(grep -c '^ok ' out)" -eq 10 ] || fail "$(cat out)"

sed 's/docs\/a  deny/docs\/a  allow/' good.policy >bad.policy
code=0
"$WARDFS" policy test bad.policy >out || code=$?
[ $code -eq 1 ] || fail "exit status $code"
grep -q '^not ok 2 - .*bad.policy:8: write' out || fail "$(cat out)"
grep -q '^# got: deny$' out || fail "$(cat out)"

echo "--- a line that no policy can meet: test says why, and so does check. The control: good.policy"
expect 0 "$WARDFS" policy check good.policy
hasnt "$OUT" expect
sed 's/^expect = read   .workspace.docs.a /expect = install \/workspace\/docs\/a /' good.policy >unknown.policy
expect 1 "$WARDFS" policy test unknown.policy
has "$OUT" "# got: unknown action; use stat, list, read, exec,"
has "$ERR" "1 of 10 tests failed"
expect 0 "$WARDFS" policy check unknown.policy
has "$OUT" "unknown.policy:7: warning: [test] expect = install /workspace/docs/a  allow: 'wardfs policy test' can never pass this line (unknown action; use stat,"
sed 's/^expect = rename .workspace.a .workspace.b /expect = rename \/workspace\/a /' good.policy >one.policy
expect 0 "$WARDFS" policy check one.policy
has "$OUT" "(this action needs two paths)"

"$WARDFS" policy test --json good.policy bad.policy >out.json && fail "not refused"
python3 - <<'END'
import json
all = json.load(open("out.json"))
assert len(all) == 20 and [o["ok"] for o in all].count(False) == 1, all
END
"$WARDFS" policy test medium | grep -q '^1\.\.0$' || fail "medium"
code=0
"$WARDFS" policy test no-such.policy >out 2>&1 || code=$?
[ $code -eq 2 ] || fail "exit status $code"
