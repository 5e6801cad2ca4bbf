#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Names that an agent chose, and command lines that quote them, steer no terminal. Every printer
# escapes control characters, direction characters, invalid UTF-8 and line breaks.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"

# A title, a bell, new lines that nobody wrote, an override of the direction, C1 as UTF-8 and as a
# byte, DEL.
BAD=$(printf 'x\033]0;T\007\b\r\nFORGED\nFORGED\342\200\256\302\233\23331m\177\377z')
NL='
'
# A line of a file cannot have line breaks.
LINE=$(printf '%s' "$BAD" | tr -d '\r\n')
mkdir out
OUTS=$PWD/out
n=0

# told NAME CMD…: what the command prints goes to two files of this name, whatever it ends with
told() {
	to=$1
	shift
	rc=0
	timeout 300 "$@" >"$OUTS/$to" 2>"$OUTS/$to.err" </dev/null || rc=$?
	[ $rc -ne 124 ] || fail "$to: no end"
}
# wrong ARG…: a command line that is refused; the message has the text escaped, and is a line
wrong() {
	n=$((n + 1))
	told "wrong-$n" "$WARDFS" "$@"
	[ $rc -ne 0 ] || fail "$*: not refused: $(cat "$OUTS/wrong-$n")"
	[ -s "$OUTS/wrong-$n.err" ] || fail "$*: refused without a word"
}

printf '%s\n' "$BAD" >out/control
if python3 "$WARD_SRC/tests/support/terminal-bytes.py" out/control >found; then
	fail "control: the name steers no terminal"
fi
rm out/control

project p
cd p || exit 1
echo secret >"$BAD.pem"
mkdir "$BAD"
echo text >"$BAD/text"
cat >../policy <<-END
	[policy]
	version = 1
	extends = medium
	[guard]
	deny = *.pem
	[quota /workspace]
	growth = 10M
	[quota /workspace/dir$(printf '\342\200\256\233')]
	files = 20
	[env]
	set = WARD_TEST=$(printf '\342\200\256\233')
	[audit]
	log = io
END

# The session: opens what it may not, leaves a hook, is called what it likes.
cat >work.sh <<'END'
bad=$1
cat "$bad/text" && mv "$bad/text" "$bad/moved" && mv "$bad/moved" "$bad/text" || echo "the control fails"
cat "$bad.pem" 2>/dev/null && echo "not refused"
mkdir -p ".vscode/$bad" 2>/dev/null
mkdir -p "new/.git/hooks" && echo '#!/bin/sh' >"new/.git/hooks/$bad" && chmod 755 "new/.git/hooks/$bad"
mkdir -p "$bad-repo/.husky" && echo x >"$bad-repo/.husky/pre-commit" && chmod 755 "$bad-repo/.husky/pre-commit"
mkfifo "$bad-fifo"
cp /bin/sleep "$bad-program" 2>/dev/null && "./$bad-program" 0
getent hosts "$bad" >/dev/null 2>&1
exit 3
END
told run "$WARDFS" run --policy ../policy --session bad -- sh work.sh "$BAD"
[ $rc -eq 3 ] || fail "run: $rc: $(cat "$OUTS/run" "$OUTS/run.err")"
[ "$(cat "$OUTS/run")" = text ] || fail "control: the session did not do its work: $(cat "$OUTS/run")"
grep -q 'x\\x1b\]0;T\\x07\\x08\\r\\nFORGED\\nFORGED\\xe2\\x80\\xae\\xc2\\x9b\\x9b31m\\x7f\\xffz' "$OUTS/run.err" ||
	fail "the line at the end names nothing: $(cat "$OUTS/run.err")"

for verb in show tail denials summary report verify; do
	told "$verb" "$WARDFS" audit "$verb" bad
done
told show-json "$WARDFS" audit show --json bad
told report-md "$WARDFS" audit report --format md bad
told report-json "$WARDFS" audit report --format json bad
told export-jsonl "$WARDFS" audit export --format jsonl bad
told export-cef "$WARDFS" audit export --format cef bad
told export-ocsf "$WARDFS" audit export --format ocsf bad
told export-otel "$WARDFS" audit export --format otel bad
told attest "$WARDFS" audit attest bad
told file "$WARDFS" audit file "/workspace/$BAD.pem" bad
grep -q 'FORGED' "$OUTS/file" || fail "control: audit file: $(cat "$OUTS/file" "$OUTS/file.err")"
told sql "$WARDFS" audit sql 'SELECT path, comm FROM records'
told list "$WARDFS" audit list

# While it runs.
"$WARDFS" run --policy ../policy --session up -- sh -c 'exec 3<"$1/text"; cat "$1.pem" 2>/dev/null; : >up; sleep 600' "$BAD" "$BAD" \
	>"$OUTS/up" 2>"$OUTS/up.err" &
run=$!
trap '"$WARDFS" kill up >/dev/null 2>&1 || :' EXIT
wait_until 120 test -e up || fail "not started: $(cat "$OUTS/up.err")"
told ps "$WARDFS" ps
told ps-io "$WARDFS" ps --io
told ps-json "$WARDFS" ps --json --io
told top "$WARDFS" top up
told quota "$WARDFS" quota up
told quota-json "$WARDFS" quota --json up
told exec "$WARDFS" exec up cat "$BAD.pem"
told exec-absent "$WARDFS" exec up "$BAD"
grep -q 'x\\x1b\]0;T\\x07' "$OUTS/ps" || fail "control: ps: $(cat "$OUTS/ps")"
grep -q 'dir\\xe2\\x80\\xae\\x9b' "$OUTS/quota" || fail "control: quota: $(cat "$OUTS/quota")"
"$WARDFS" kill up >/dev/null 2>&1 || fail kill
rc=0
wait $run || rc=$?
[ $rc -eq 143 ] || fail "killed: $rc"

# Policies, and what is asked of them.
told explain "$WARDFS" policy explain --policy ../policy read "$BAD.pem"
told explain-rename "$WARDFS" policy explain --policy ../policy rename "$BAD" "$BAD.new"
told explain-json "$WARDFS" policy explain --policy ../policy --json read "$BAD.pem"
told connect "$WARDFS" policy explain --policy ../policy connect "$BAD:443"
told check "$WARDFS" policy check ../policy
told show-policy "$WARDFS" policy show --policy ../policy
has "$(cat "$OUTS/show-policy.err")" "Do not copy"
told show-policy-json "$WARDFS" policy show --policy ../policy --json
printf '[policy]\nversion = 1\n[files]\nraed = %s\n' "$LINE" >"../$BAD.policy"
wrong policy check "../$BAD.policy"
printf '[policy]\nversion = 1\n[%s]\n' "$(printf 'x\342\200\256\233')" >"../$BAD.policy"
wrong policy check "../$BAD.policy"
printf '[policy]\nversion = 1\nextends = medium\n[files]\nread = /workspace/%s\n' "$(printf 'x\342\200\256\233')" >"../$BAD.policy"
told check-good "$WARDFS" policy check "../$BAD.policy"
told diff "$WARDFS" policy diff medium "../$BAD.policy"
printf '[test]\nexpect = read /workspace/%s deny\n' "$(printf 'x\342\200\256\233')" >>"../$BAD.policy"
told test "$WARDFS" policy test "../$BAD.policy"
told dry "$WARDFS" run --dry-run --policy ../policy --env "WARD_B=$BAD" -- sh "$BAD"
told dry-json "$WARDFS" run --dry-run --json --policy ../policy -- sh "$BAD"
told learn "$WARDFS" learn -- sh -c 'cat "$1/text" >/dev/null; echo x >"$1/new"' sh "$BAD"
told doctor env "PATH=$PATH:/$BAD" "XDG_RUNTIME_DIR=/$BAD" "$WARDFS" doctor
told seccomp "$WARDFS" seccomp explain "$BAD"
mkdir "../$BAD-project"
told init sh -c 'cd "$1" && git init -q && exec "$WARDFS" init --dry-run' sh "../$BAD-project"
told in-place sh -c 'cd "$1" && "$WARDFS" run -- sh -c "echo x >new && exit 1"' sh "../$BAD-project"
told home "$WARDFS" home list
told profiles "$WARDFS" profile list

# Command lines.
wrong "$BAD"
wrong run --session "$BAD" -- true
wrong run --policy "$BAD" -- true
wrong run --mode "$BAD" -- true
wrong run --allow-missing "$BAD" -- true
wrong run --net "$BAD" -- true
wrong run --read "/$BAD" -- true
wrong run --status-fd "$BAD" -- true
wrong run --env "$BAD" -- true
wrong run -- "$BAD"
wrong run "--$BAD" -- true
wrong run "-$(printf '\033')" -- true
wrong run "-$NL" -- true
wrong exec "$BAD" true
wrong attach "$BAD"
wrong kill "$BAD"
wrong top "$BAD"
wrong quota "$BAD"
wrong mount "none$BAD" "none$BAD"
wrong umount "$BAD"
wrong policy "$BAD"
wrong policy add "$BAD" x
wrong policy add read "$BAD$BAD"
wrong policy test "$BAD"
wrong policy diff "$BAD" medium
wrong policy reload "$BAD" "$BAD"
wrong policy explain "$BAD" x
wrong policy explain "--policy$BAD=$BAD" read x
wrong profile show "$BAD"
wrong audit "$BAD"
wrong audit show "$BAD"
wrong audit show "--pa$BAD"
wrong audit show "--format=$BAD"
wrong audit export --format "$BAD" bad
wrong audit export --to "$BAD" bad
wrong audit show --since "$BAD" bad
wrong audit show --after "$BAD" bad
wrong audit report -o "/$BAD/x" bad
wrong audit sql "SELECT '$BAD"
wrong audit verify --key "$BAD" bad
wrong audit show --state "/$BAD" bad
wrong net verify-token --key "$BAD" "$BAD"
wrong home clear "$BAD"

python3 "$WARD_SRC/tests/support/terminal-bytes.py" "$OUTS"/* || fail "see above"
# A line break of an argument is none of the message.
grep -q "unrecognized option '--x\\\\x1b" "$OUTS"/wrong-*.err || fail "an option that is none is not named"
