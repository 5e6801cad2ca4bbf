#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What audit list, show, denials and verify print, and their exit statuses.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

audit show 2>err && fail "show without a state directory"
grep -q "No such file" err || fail "$(cat err)"
run --session alpha --events 21
run --session beta --events 12

audit verify >out || fail "verify: $?"
grep -qx 'beta: intact (14 records good)' out || fail "$(cat out)"
audit verify al | grep -q '^alpha: intact' || fail "unique prefix"
audit verify "$PWD/state/sessions/alpha/trail.jsonl" | grep -q '^alpha: intact' || fail "file"
audit verify nobody 2>err && fail "an unknown session"
[ "$(audit list | wc -l)" -eq 3 ] || fail "list: $(audit list)"
audit list --json | python3 -c 'import json, sys
v = json.load(sys.stdin)
assert [(s["session"], s["records"], s["verdict"]) for s in v] == [
    ("alpha", 23, "complete"), ("beta", 14, "complete")], v' || fail "list --json"

audit show --json alpha >out || fail "show --json"
cmp out state/sessions/alpha/trail.jsonl || fail "show --json prints other lines"
audit show alpha >out || fail show
[ "$(wc -l <out)" -eq 23 ] || fail "show: $(wc -l <out) lines"
grep -q 'deny .*open /workspace/.env .*EACCES.*medium:12 deny = .env' out || fail "$(cat out)"
LC_ALL=C grep -q "$(printf '\033')" out && fail "colours in a file"

audit denials alpha >out || fail denials
grep -q '^3x deny  open /workspace/.env' out || fail "$(cat out)"
grep -q 'to permit: read = /workspace/.env' out || fail "$(cat out)"
grep -q '/srv/owner/.config/wardfs/projects/p.policy' out || fail "$(cat out)"
grep -q '^    by:        wardfs policy add read /workspace/.env$' out || fail "$(cat out)"
audit denials --json alpha | python3 -c 'import json, sys
d, = json.load(sys.stdin)
assert d["count"] == 3 and d["rule"] == "medium:12", d
assert d["permit"]["line"] == "read = /workspace/.env", d' || fail "denials --json"

# Filters, one file, one process, figures.
[ "$(audit show --json --kind deny alpha | wc -l)" -eq 3 ] || fail "--kind"
[ "$(audit show --json --verdict allow alpha | wc -l)" -eq 18 ] || fail "--verdict"
[ "$(audit show --json --path /workspace/t0-7 alpha | wc -l)" -eq 1 ] || fail "--path"
[ "$(audit show --json --path '/work*-1?' alpha | wc -l)" -eq 9 ] || fail "--path pattern"
[ "$(audit show --json --path /workspace alpha | wc -l)" -eq 21 ] || fail "--path directory"
[ "$(audit show --json --since 2999 alpha | wc -l)" -eq 0 ] || fail "--since"
[ "$(audit show --json --until 2999 alpha | wc -l)" -eq 23 ] || fail "--until"
[ "$(audit show --json --follow alpha | wc -l)" -eq 23 ] || fail "--follow of an ended session"
[ "$(audit file --json /workspace/t0-7 alpha | wc -l)" -eq 1 ] || fail "file"
[ "$(audit tail --json alpha)" = "$(tail -n 10 state/sessions/alpha/trail.jsonl)" ] || fail "tail"
[ "$(audit tail --json --lines 3 --kind deny alpha)" = "$(audit show --json --kind deny alpha)" ] ||
	fail "tail --kind"
[ "$(audit tail --json -f --lines 99 alpha | wc -l)" -eq 23 ] || fail "tail -f of an ended session"
rc=0
audit diff alpha beta >out || rc=$?
[ $rc -eq 1 ] || fail "diff: exit status"
grep -qx -- '- alpha' out && grep -qx -- '+ beta' out || fail "diff: $(cat out)"
# alpha has the accesses 0 to 20, beta 0 to 11; every tenth is a refusal of .env in both.
[ "$(grep -c '^- /workspace/t0-.*  read$' out)" -eq 8 ] || fail "diff: $(cat out)"
grep -q '^+ /\|\.env' out && fail "diff: $(cat out)"
audit diff alpha alpha >out || fail "diff with itself: $(cat out)"
audit diff --json alpha beta | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert len(d) == 8 and {x["only"] for x in d} == {1}, d' || fail "diff --json"
pid=$(audit show --json --kind open alpha | sed -n '1s/.*"pid":\([0-9]*\).*/\1/p')
[ "$(audit process --json "$pid" alpha | wc -l)" -eq 21 ] || fail "process"
audit process nobody 2>err && fail "process nobody"
grep -q "not a process number" err || fail "$(cat err)"
audit summary alpha >out || fail "summary"
grep -q '^refused by  *3  medium:12 deny = .env' out || fail "$(cat out)"
audit summary --json alpha | python3 -c 'import json, sys
s = json.load(sys.stdin)
assert s["records"] == 23 and s["refusals"]["count"] == 3 and s["files"]["read"] == 18, s' ||
	fail "summary --json"

# The same filters for every question.
[ "$(audit show --json --pid "$pid" --comm cat alpha | wc -l)" -eq 21 ] || fail "show --pid"
audit denials --path /nowhere alpha | grep -qx '0 such refusals in session alpha' || fail "denials --path"
audit denials --json --path '/work*env' --pid "$pid" alpha | python3 -c 'import json, sys
d, = json.load(sys.stdin)
assert d["count"] == 3 and d["permit"]["line"] == "read = /workspace/.env", d' || fail "denials: filters"
audit summary --json --verdict allow alpha | python3 -c 'import json, sys
s = json.load(sys.stdin)
assert s["records"] == 18 and s["refusals"]["count"] == 0 and s["kinds"] == {"open": 18}, s
assert s["bytes"] is None, s' || fail "summary --verdict"
audit summary --pid "$pid" alpha | grep -q '^bytes  *-  a close tells neither' || fail "summary --pid"
audit summary --json --path /workspace --since 2000 alpha | python3 -c 'import json, sys
assert json.load(sys.stdin)["bytes"] == {"read": 0, "written": 0, "unseen": 0}' || fail "control: bytes"
audit summary --kind xattr alpha >out 2>err || fail "summary --kind"
[ ! -s out ] && grep -q 'session alpha has no such record' err || fail "summary of nothing: $(cat out err)"
audit diff --path /workspace/t0-1 alpha beta >out 2>err || fail "diff --path: $(cat out)"
[ "$(wc -l <out)" -eq 2 ] && [ ! -s err ] || fail "diff --path: $(cat out err)"
rc=0
audit diff --path /workspace/t0-15 alpha beta >out || rc=$?
[ $rc -eq 1 ] && grep -qx -- '- /workspace/t0-15  read' out && [ "$(wc -l <out)" -eq 3 ] || fail "diff --path: $(cat out)"
audit diff --path /nowhere alpha beta >out 2>err || fail "diff of nothing"
grep -q 'neither alpha nor beta has such a record' err || fail "$(cat err)"
audit list --path /workspace/t0-15 >out 2>err || fail "list --path"
[ "$(wc -l <out)" -eq 2 ] && grep -q '^alpha .* 23 *1  .*  ended$' out || fail "list --path: $(cat out)"
grep -q 'these trails were not verified' err || fail "$(cat err)"
tail -1 state/ledger.jsonl | grep -q '"kind":"question".*"verb":"list","question":"--path /workspace/t0-15"' ||
	fail "the ledger does not know of it: $(tail -1 state/ledger.jsonl)"
audit list --kind deny --json | python3 -c 'import json, sys
v = {s["session"]: s["matching"] for s in json.load(sys.stdin)}
assert v == {"alpha": 3, "beta": 2}, v' || fail "list --kind"
audit list --kind xattr --json | grep -qx '\[\]' || fail "list of nothing"
# A trail that cannot be read is not passed over in silence.
mv state/sessions/beta/trail.jsonl kept
audit list --kind deny >out 2>err || fail "list: a missing trail"
grep -q '1 session without a trail any more' err || fail "a missing trail: $(cat err)"
mkfifo state/sessions/beta/trail.jsonl
rc=0
audit list --kind deny >out 2>err || rc=$?
[ $rc -eq 125 ] && grep -q '^alpha' out && grep -q 'beta was not looked into' err || fail "an unreadable trail: $(cat out err)"
rm state/sessions/beta/trail.jsonl
mv kept state/sessions/beta/trail.jsonl
audit export --pid "$pid" alpha | cmp -s - state/sessions/alpha/trail.jsonl && fail "export --pid: all"
[ "$(audit export --pid "$pid" alpha | wc -l)" -eq 21 ] || fail "export --pid"
[ "$(audit tail --json --lines 99 --pid "$pid" alpha | wc -l)" -eq 21 ] || fail "tail --pid"
[ "$(audit show --proof --pid "$pid" --kind deny alpha | grep -c '^extra')" -eq 3 ] || fail "proofs --pid"

for args in "" file "denials --kind x" "denials --lines 3" "tail --lines 0" "tail --lines 3x" "tail --lines 1000001" "show --descendants" "show --pid x" "show --pid 0" "process --pid 1 2" "list --follow" "verify --follow" frob "show a b" "verify --all x" "show --nope" "list x" "show --kind open --kind deny" "key" "key frob" "list --key x" "diff alpha"; do
	rc=0
	# shellcheck disable=SC2086
	audit $args >/dev/null 2>err || rc=$?
	[ $rc -eq 2 ] || fail "usage of '$args'"
	[ -s err ] || fail "usage of '$args' says nothing"
done
audit --help | grep -q '^Usage' || fail "--help"

# Keys: with the public one alone, on a host that has nothing else.
audit key show >key.pub || fail "key show"
[ "$(audit key show alpha)" = "$(cat key.pub)" ] || fail "key show alpha"
audit verify --key key.pub alpha >out || fail "verify --key: $(cat out)"
grep -qx 'alpha: intact (23 records good)' out || fail "$(cat out)"
mkdir away
cp state/sessions/alpha/trail.jsonl state/sessions/alpha/checkpoints away
HOME=/nonexistent "$WARD_BUILD/wardfs" audit verify --key "$(cat key.pub)" \
	away/trail.jsonl >out || fail "elsewhere: $(cat out)"
mv away/checkpoints away/elsewhere
audit verify --key key.pub away/trail.jsonl 2>err && fail "without checkpoints"
grep -q 'away/checkpoints: No such file' err || fail "$(cat err)"
audit verify --key key.pub --checkpoints away/elsewhere away/trail.jsonl || fail "--checkpoints"
audit key rotate >fresh.pub || fail "key rotate"
cmp -s key.pub fresh.pub && fail "key rotate changes nothing"
audit verify --key fresh.pub alpha >out && fail "another key"
grep -q '^alpha: foreign key' out || fail "$(cat out)"
run --session gamma --events 3
audit verify --key fresh.pub gamma || fail "the fresh key"
audit verify --key key.pub --key fresh.pub alpha || fail "two keys"
audit verify --all >out || fail "after a rotation: $(cat out)"
agree "after a rotation"
grep -q '"kind":"rotate".*"to":"'"$(cat fresh.pub)" state/ledger.jsonl || fail "no entry"
rc=0
audit verify --key nonsense alpha 2>err || rc=$?
[ $rc -eq 2 ] || fail "--key nonsense"
grep -q 'neither a public key nor' err || fail "$(cat err)"

# A session is running while its writer lives; then a record is changed.
mkfifo gate
"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" --state "$STATE" \
	--session live --hold <gate >held 2>live.err &
pid=$!
exec 9>gate
i=0
until grep -q ready held 2>/dev/null; do
	i=$((i + 1))
	[ $i -lt 600 ] || fail "the session does not start: $(cat live.err)"
	sleep 0.1
done
audit verify live >out && fail "a running session is intact"
grep -q '^live: incomplete: the session is running' out || fail "$(cat out)"
(
	exec 9>&-
	audit tail --json -f live >followed 2>/dev/null
) &
follower=$!
exec 9>&-
wait $pid || fail "$(cat live.err)"
wait $follower || fail "tail -f"
audit verify live || fail "the session has ended"
grep -q session.end followed || fail "tail -f: $(cat followed)"
sed -i 's/medium:12/medium:13/' state/sessions/live/trail.jsonl
rc=0
audit verify live >out || rc=$?
[ $rc -eq 1 ] || fail "exit of an edited trail"
grep -q '^live: edited at record 2' out || fail "$(cat out)"
audit show live 2>&1 >/dev/null | grep -q 'not intact: edited' || fail "show does not warn"

# A long cause ends with a whole word, and verify says where all of it stands.
words=$(seq -s ' ' -f 'word%03g' 1 60)
run --session wordy --events 1 --end "because $words end"
expect 0 audit verify wordy
echo "$OUT" | grep -q '^wordy: intact: because word001 .* word[0-9][0-9][0-9] … (all of it: wardfs audit tail --json wordy) (' ||
	fail "cut: $OUT"
audit tail --json wordy | grep -qF "because $words end" || fail "it is not there: $(audit tail --json wordy)"
run --session terse --events 1 --end "because word"
expect 0 audit verify terse
[ "$OUT" = "terse: intact: because word (3 records good)" ] || fail "control: $OUT"
