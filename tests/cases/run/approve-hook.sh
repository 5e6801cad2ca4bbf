#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [approvals] command: a program of the owner's is told a question outside of the session, and
# answers it. Each attack on it has a control beside it.
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
asking_project
cp ../ask.policy ../plain.policy
hooks=$WARD_TMP/hooks
mkdir -p "$hooks"
chmod 755 "$WARD_TMP" "$hooks"
# hook TEXT...: the program is a shell script of these lines.
hook() {
	{
		echo '#!/bin/sh'
		printf '%s\n' "$@"
	} >"$hooks/new"
	chmod 755 "$hooks/new"
	mv "$hooks/new" "$hooks/hook"
	{
		cat ../plain.policy
		printf '[approvals]\ntimeout = %s\ncommand = %s\n' "${TIMEOUT:-60s}" "${HOOK:-$hooks/hook}"
	} >../ask.policy
}
answers=$WARD_SRC/tests/cases/run/lib/approve-hook.py
say() { echo "exec python3 '$answers' $1"; }
write='echo more >>.github/workflows/ci'

echo "--- it answers once, and no"
hook "$(say once)"
begin once sh -c "$write"
end 0 once
"$WARDFS" audit approvals --json once >../once.json
python3 - ../once.json "$(id -u)" <<'PY' || fail "$(cat ../once.json)"
import json, sys
row, = json.load(open(sys.argv[1]))
assert (row["result"], row["how"], row["scope"], row["uid"]) == \
    ("granted", "command", "once", int(sys.argv[2])), row
assert "started" not in row and row["grants"][0]["used"] == 1, row
PY
expect 0 "$WARDFS" audit verify once
hook "$(say no)"
begin no sh -c "$write"
end 2 no
"$WARDFS" audit approvals no | grep -q 'refused' || fail "no"

echo "--- what it gets: the question, and nothing else of ours"
SECRET=leaked; export SECRET
hook "{ env; echo \"dir \$(pwd)\"; ls -l /proc/self/fd; id; tty; cut -d' ' -f6 /proc/self/stat; } >'$hooks/seen' 2>&1" "$(say once)"
[ "$(id -u)" -ne 0 ] || chmod 777 "$hooks/.."
: >"$hooks/seen"
chmod 666 "$hooks/seen"
begin seen sh -c "$write"
end 0 seen
grep -q leaked "$hooks/seen" && fail "our environment: $(cat "$hooks/seen")"
grep -qx "dir /" "$hooks/seen" || fail "$(cat "$hooks/seen")"
grep -q 'not a tty' "$hooks/seen" || fail "a terminal: $(cat "$hooks/seen")"
grep -qE ' (socket|anon_inode|/dev/fuse)' "$hooks/seen" && fail "descriptors: $(cat "$hooks/seen")"
sort -u "$hooks/seen" | grep -E '^[A-Z_]+=' | grep -vE '^(PATH|LANG|HOME|PWD|OLDPWD|SHLVL|_)=' && fail "environment"

echo "--- silence, junk, another question, another digest: it waits on for a person"
n=0
for text in 'exit 0' 'exit 1' 'echo junk' 'echo "[]"' \
	"$(say other-question)" "$(say other-digest)" "$(say no-digest)" "$(say more)" \
	'head -c 200000 /dev/zero' 'exec sleep 1000'; do
	hook ": >'$hooks/ran'" "$text"
	rm -f "$hooks/ran"
	[ "$(id -u)" -ne 0 ] || chmod 777 "$hooks"
	n=$((n + 1))
	begin quiet$n sh -c "$write"
	question quiet$n
	wait_until 30 test -e "$hooks/ran" || fail "not run"
	[ "$(member quiet$n 'q["waits"]')" = True ] || fail "it does not wait: $text"
	expect 0 "$WARDFS" approve "$Q" once
	end 0 quiet$n
done
chmod 755 "$hooks"

echo "--- it hangs: it is killed at the time, and the open is refused"
TIMEOUT=2s hook "echo \$\$ >'$hooks/pid'; exec sleep 1000"
: >"$hooks/pid"
chmod 666 "$hooks/pid"
begin late sh -c "$write"
end 2 late
[ -s "$hooks/pid" ] || fail "control: it did not run"
wait_until 30 gone "$(cat "$hooks/pid")" || fail "it lives on"

echo "--- kill -9 of the supervisor while a question waits: nothing hangs, the program is gone"
TIMEOUT=600s hook "echo \$\$ >'$hooks/pid'; exec sleep 1000"
: >"$hooks/pid"
begin killed sh -c "$write"
question killed
wait_until 30 test -s "$hooks/pid" || fail "not run"
supervisor=$("$WARDFS" audit show --json --kind session.start killed 2>/dev/null |
	python3 -c 'import json, sys; print(json.load(sys.stdin)["detail"]["pid"])')
kill -9 "$supervisor"
wait $RUN || :
wait_until 30 gone "$(cat "$hooks/pid")" || fail "it lives on"
"$WARDFS" audit approvals --json killed 2>/dev/null | grep -q '"granted"' && fail "granted to nobody"

echo "--- a program that the session can write is not taken"
cp "$hooks/hook" src/hook
HOOK=$PWD/src/hook hook 'exit 0'
refused_start() {
	got=0
	"$WARDFS" run --session bad --policy ../ask.policy -- true >../bad 2>&1 || got=$?
	[ $got -eq 2 ] || fail "started with $got: $(cat ../bad)"
	grep -q "$1" ../bad || fail "$(cat ../bad)"
}
refused_start 'the session can write there'
ln -s "$PWD/src" "$hooks/dir"
HOOK=$hooks/dir/hook hook 'exit 0'
refused_start 'approvals. command'
rm "$hooks/dir"
hook 'exit 0'
ln "$hooks/hook" src/second
refused_start 'it has a second name'
rm src/second
chmod 775 "$hooks/hook"
refused_start 'others may write to it'
chmod 755 "$hooks/hook"
expect 0 "$WARDFS" run --policy ../ask.policy -- true

echo "--- changed since the start: it is not run any more"
TIMEOUT=3s hook "$(say once)"
begin changed sh -c 'until [ -e src/go ]; do sleep 0.1; done; echo more >>.github/workflows/ci'
wait_until 30 sh -c '"$WARDFS" audit show --kind exec changed 2>/dev/null | grep -q .' || fail "not begun"
echo '# changed' >>"$hooks/hook"
touch src/go
end 2 changed
"$WARDFS" audit show --kind answer changed | grep -q 'was changed since' || fail "not said: $("$WARDFS" audit show --kind answer changed)"
