#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [audit] exec records each program before it runs, with its arguments and its parent: under
# signals, from threads, by descriptor. No process inside can take the listener's place.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/audit/lib/session.sh"

# session NAME SETTINGS CMD…: its exec records go to ../NAME
session() {
	name=$1
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\n%b\n' "$2" >../policy
	shift 2
	recorded "$name" "$@"
	grep -E '"kind":"(exec|program)"' "../$name.jsonl" >"../$name" || [ ! -s "../$name" ]
	"$WARDFS" audit show --json --kind session.start "$name" >"../$name.start"
}

printf '#!/bin/sh\necho "script $*"\n' >script
chmod +x script
cp "$WARD_SRC/tests/cases/audit/lib/exec-work.py" work.py
session yes 'exec = yes' python3 work.py
has "$OUT" "script one two words"
python3 "$WARD_SRC/tests/cases/audit/lib/exec-records.py" ../yes || fail "the records"
# One file, however its path is written: inside, in the tree, as the host has it.
for path in script /workspace/script "$PWD/script"; do
	"$WARDFS" audit file --json "$path" yes >../found 2>../found.err || fail "audit file $path: $(cat ../found.err)"
	grep '"kind":"exec"' ../found | grep -q "\"path\":\"$PWD/script\"" || fail "audit file $path: no exec: $(cat ../found)"
	grep '"kind":"open"' ../found | grep -q '"path":"/workspace/script"' || fail "audit file $path: no open: $(cat ../found)"
	grep -q 'as well' ../found.err && fail "another name of the same place: $(cat ../found.err)"
	grep -q 'work.py"' ../found && fail "control: another file"
done
grep -q '"exec":true' ../yes.start || fail "session.start does not say that programs are recorded"
"$WARDFS" audit export --format csv yes | grep -q 'hostile' || fail "the export lacks arguments"

# The controls: without, and with arguments left out, there as in session.start.
session no 'exec = no' sh -c '/bin/true secretly'
[ -s ../no ] && fail "recorded without being asked: $(cat ../no)"
grep -q '"exec":false' ../no.start || fail "session.start: $(cat ../no.start)"
session redacted 'exec = yes\nredact = argv' sh -c '/bin/true secretly'
grep -q '"path":"/bin/true"' ../redacted || fail "nothing recorded: $(cat ../redacted)"
grep -q secretly ../redacted ../redacted.start && fail "arguments in spite of redact"
grep -q secretly ../no.start || fail "the control: session.start has the arguments"
# Beside what else stays out, named before or behind it.
for both in argv-sni sni-argv; do
	session "$both" "exec = yes\nredact = ${both%-*}\nredact = ${both#*-}" sh -c '/bin/true secretly'
	grep -q '"path":"/bin/true"' "../$both" || fail "nothing recorded: $(cat "../$both")"
	grep -q secretly "../$both" "../$both.start" && fail "arguments in spite of $both"
done

# The command of `wardfs exec` has arguments as well.
for word in sni argv; do
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\nredact = %s\n' $word >../redact.policy
	rm -f begun finish
	"$WARDFS" run --policy ../redact.policy --session asked-$word -- sh -c ': >begun; i=0
		until [ -e finish ] || [ $i = 600 ]; do sleep 0.1; i=$((i + 1)); done' &
	run=$!
	trap 'kill $run 2>/dev/null || :' EXIT
	wait_until 60 test -e begun || fail "not started"
	expect 0 "$WARDFS" exec asked-$word -- /bin/echo secretly
	: >finish
	wait $run || fail "asked-$word"
	"$WARDFS" audit show --json --kind exec asked-$word >../asked-$word
	grep -q /bin/echo ../asked-$word || fail "nothing recorded: $(cat ../asked-$word)"
done
grep -q secretly ../asked-sni || fail "the control: the arguments of exec are not recorded"
grep -q secretly ../asked-argv && fail "arguments of exec in spite of redact"

# Under a storm of signals, from several at once: each comes back, each has its record, once.
cp "$WARD_SRC/tests/cases/audit/lib/exec-storm.py" storm.py
session storm 'exec = yes' python3 storm.py
[ "$(grep -o 'storm-[0-9]*-[0-9]*' ../storm | sort -u | wc -l)" -eq 200 ] || fail "a program without a record"
[ "$(grep -c 'storm-[0-9]*-[0-9]*' ../storm)" -eq 200 ] || fail "a program with two records"

# A listener of one's own: the kernel gives one to a tree of processes alone.
cp "$WARD_SRC/tests/cases/audit/lib/exec-listen.py" listen.py
session listen-no 'exec = no' python3 listen.py
has "$OUT" "listener made"
session listen-yes 'exec = yes' python3 listen.py
has "$OUT" "listener EBUSY"

[ "$(id -u)" -eq 0 ] || skip "the rest needs root"
# The command itself is executed by pid 1's child, whose memory an ordinary user may not read unless
# it is let. Its record is whole all the same, and nothing else of it can be read before.
cat >"$WARD_TMP/user.sh" <<'S'
set -eu
WARD_TMP=$PWD
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
expect 0 "$WARDFS" run --session own -- python3 -c 'import subprocess; subprocess.run(["/bin/true", "x"])' argument
"$WARDFS" audit show --json own >../own
python3 "$WARD_SRC/tests/cases/audit/lib/exec-user.py" ../own || fail "the records"
expect 0 "$WARDFS" audit show --kind exec own
has "$OUT" "wardfs-init["
has "$OUT" "argument"
S
as_user "$WARD_TMP/user.sh" || fail "as an ordinary user"
