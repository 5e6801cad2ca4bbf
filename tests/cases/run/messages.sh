#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A typing mistake gets an answer that names the wrong word and the nearest right one, with exit
# status 2. Every message escapes names, and output that cannot be written is an error.
# plain
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
ESC=$(printf '\033')
NL='
'

# Verbs and words, each with its control.
expect 2 "$WARDFS" rnu -- true
has "$ERR" "did you mean 'run'?"
# Of a short word two letters are another word.
expect 2 "$WARDFS" foo
has "$ERR" "no verb 'foo'; wardfs --help"
for word in denials verify explain status logs; do
	expect 2 "$WARDFS" $word
	has "$ERR" "no verb '$word': did you mean '"
	here=$(printf '%s\n' "$ERR" | sed -n "s/.*did you mean '\(.*\)'?.*/\1/p")
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" $here --help
done
expect 2 "$WARDFS" frobnicate
has "$ERR" "no verb 'frobnicate'; wardfs --help"
hasnt "$ERR" "did you mean"
expect 2 "$WARDFS" policy explian read x
has "$ERR" "did you mean 'explain'?"
expect 2 "$WARDFS" policy explain raed x
has "$ERR" "did you mean 'read'?"
expect 0 "$WARDFS" policy explain read x
expect 2 "$WARDFS" policy add raed x
has "$ERR" "no verb 'raed': did you mean 'read'?"
expect 0 "$WARDFS" policy add read x
expect 2 "$WARDFS" audit shwo
has "$ERR" "did you mean 'show'?"
for help in "--help" "help" "help run" "help policy" "help policy explain" "policy help diff" \
	"help audit" "audit help" "help doctor" "doctor --help"; do
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" $help
	has "$OUT" "Usage: wardfs"
	[ -z "$ERR" ] || fail "$help: $ERR"
done
expect 0 "$WARDFS" help policy explain
has "$OUT" "ACTION PATH"
expect 2 "$WARDFS"
[ -z "$OUT" ] || fail "usage of a mistake belongs on stderr"

# The command that is not there: found on the host, its place is named; elsewhere it is not.
mkdir "$WARD_TMP/bin"
printf '#!/bin/sh\necho it ran\n' >"$WARD_TMP/bin/ward-tool"
chmod 755 "$WARD_TMP/bin/ward-tool"
PATH="$WARD_TMP/bin:$PATH"
expect 127 "$WARDFS" run ward-tool
has "$ERR" "$WARD_TMP/bin/ward-tool"
has "$ERR" "--read $WARD_TMP/bin"
expect 0 "$WARDFS" run --read "$WARD_TMP/bin" ward-tool
has "$OUT" "it ran"
# npm's node_modules/.bin has links: the directory alone does not help, and the message names both.
mkdir "$WARD_TMP/lib" "$WARD_TMP/links"
mv "$WARD_TMP/bin/ward-tool" "$WARD_TMP/lib/ward-tool"
ln -s ../lib/ward-tool "$WARD_TMP/links/ward-tool"
PATH="$WARD_TMP/links:$PATH"
expect 127 "$WARDFS" run ward-tool
has "$ERR" "--read $WARD_TMP/links --read $WARD_TMP/lib;"
expect 0 "$WARDFS" run --read "$WARD_TMP/links" --read "$WARD_TMP/lib" ward-tool
has "$OUT" "it ran"
expect 127 "$WARDFS" run ward-no-such-tool
has "$ERR" "ward-no-such-tool: not found in PATH"
hasnt "$ERR" install
# Of an agent that a profile knows, how it is installed; not where a path was typed.
if ! command -v gemini >/dev/null; then
	expect 127 "$WARDFS" run -- gemini
	has "$ERR" "gemini: not found in PATH"
	has "$ERR" "Install it outside of the session: npm install -g @google/gemini-cli"
	expect 127 "$WARDFS" run -- ./gemini
	hasnt "$ERR" install
fi
expect 127 "$WARDFS" run ''
printf '#!/ward/no/interpreter\n' >script
chmod 755 script
expect 127 "$WARDFS" run ./script
has "$ERR" interpreter

# Options of run: what was asked for cannot be, 2.
expect 2 "$WARDFS" run --env 1bad -- true
expect 2 "$WARDFS" run --read '' -- true
has "$ERR" "--read: an empty path"
expect 2 "$WARDFS" run --read /ward/nowhere -- true
expect 2 "$WARDFS" run --read /nowhere -- true
has "$ERR" "no such file or directory"
expect 2 "$WARDFS" run --write / -- true
has "$ERR" "whole host"
expect 2 "$WARDFS" run --write /etc -- true
has "$ERR" "has its own"
expect 2 "$WARDFS" run --policy . -- true
expect 2 "$WARDFS" run --hide '' -- true
# A path of the project as it is called inside.
echo text >file
expect 2 "$WARDFS" run --read "/workspace/file${NL}write = /" -- true
expect 1 "$WARDFS" run --read /workspace/file -- touch /workspace/file
expect 0 "$WARDFS" run --read /workspace/other -- touch /workspace/file

# A start that failed is no session whose supervisor died.
expect 2 "$WARDFS" run --session unborn --write /etc -- true
expect 0 "$WARDFS" audit verify unborn
has "$OUT" "unborn: intact: nothing was started: cannot show the tree /etc"

# A work tree of git's, whose git directory lies outside: said, and mended by init.
git commit -q --allow-empty -m one
git worktree add -q ../tree
(
	cd ../tree || exit 1
	expect 128 "$WARDFS" run -- git status
	has "$ERR" "this directory says that it is a work tree of $WARD_TMP/p, for which you have a policy"
	expect 0 "$WARDFS" init
	expect 0 "$WARDFS" run -- git status
	[ -z "$ERR" ] || fail "$ERR"
) || exit 1
git worktree remove --force ../tree

# No message can steer a terminal or look like two.
expect 2 "$WARDFS" run --session "a${NL}wardfs: forged${ESC}[31m" -- true
has "$ERR" 'a\nwardfs: forged\x1b[31m'
[ "$(printf '%s\n' "$ERR" | wc -l)" -eq 1 ] || fail "more than a line: $ERR"
expect 2 "$WARDFS" "x${ESC}[31m"
hasnt "$ERR" "$ESC"
mkdir "sub${ESC}[31m" && cd "sub${ESC}[31m" || exit 1
printf '[polcy]\n' >"${ESC}x.policy"
for verb in "run --policy" "policy show --policy" "policy check"; do
	# shellcheck disable=SC2086
	set -- $verb "${ESC}x.policy"
	[ "$1" != run ] || set -- "$@" -- true
	expect 2 "$WARDFS" "$@"
	has "$ERR" '\x1bx.policy:1'
	has "$ERR" "[policy]"
	hasnt "$OUT$ERR" "$ESC"
done
cd .. || exit 1

# The command is printed escaped, also where JSON alone would let it through (U+009B: a C1 control).
csi=$(printf '\302\233')
"$WARDFS" run --session shown -- sh -c 'touch up; sleep 600' "${ESC}[1m" "$csi" "$(printf '\377')" &
run=$!
wait_until 60 test -e up || fail "not started"
expect 0 "$WARDFS" ps
has "$OUT" '\x1b[1m \xc2\x9b \xff'
hasnt "$OUT" "$ESC"
expect 0 "$WARDFS" ps --json
hasnt "$OUT" "$csi"
has "$OUT" '\\xff'
expect 0 "$WARDFS" kill shown
expect 143 wait "$run"
# A command longer than an answer can be is cut, and listed all the same.
rm up
"$WARDFS" run --session long -- sh -c 'touch up; sleep 600' "$(head -c 100000 /dev/zero | tr '\0' x)" &
run=$!
wait_until 60 test -e up || fail "not started"
expect 0 "$WARDFS" ps
has "$OUT" long
[ -z "$ERR" ] || fail "$ERR"
expect 0 "$WARDFS" kill long
expect 143 wait "$run"

# Output that cannot be written is an error, whatever the verb; one that can is not.
for verb in "--help" "--version" "ps --json" "policy show" "policy explain read a" "policy check --json" \
	"policy diff low medium" "audit list" "audit show" "audit export" "audit list --json" "doctor"; do
	rc=0
	# shellcheck disable=SC2086
	"$WARDFS" $verb >out 2>err || rc=$?
	[ $rc -le 1 ] || fail "control: $verb: $(cat err)"
	rc=0
	# shellcheck disable=SC2086
	"$WARDFS" $verb >/dev/full 2>err || rc=$?
	[ $rc -eq 125 ] || { [ ! -s out ] || [ "$(cat out)" = "[]" ]; } || fail "$verb: not an error"
	[ ! -s out ] || grep -q '^wardfs: ' err || fail "$verb: nothing was said"
done

# A program of ours that is missing or cannot be executed: which one, and what to do. All there: it
# runs.
mkdir ../part
cp "$WARD_BUILD"/wardfs "$WARD_BUILD"/wardfs-init "$WARD_BUILD"/wardfs-fs "$WARD_BUILD"/wardfs-audit "$WARD_BUILD"/wardfs-net ../part
chmod 755 .. ../part
expect 0 ../part/wardfs run -- true
for p in init fs audit net; do
	set -- run -- true
	[ $p != net ] || set -- run --net example.org:443 -- true
	if [ $p = fs ]; then rm ../part/wardfs-$p; else chmod 644 ../part/wardfs-$p; fi
	expect 125 ../part/wardfs "$@"
	has "$ERR" "wardfs-$p; install all of wardfs"
	rm -f ../part/wardfs-$p
	cp "$WARD_BUILD/wardfs-$p" ../part
done

# Fewer open files than our own last steps need: said so, not found out half-way.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nopen-files = 15\n' >few.policy
expect 2 "$WARDFS" run --policy few.policy -- true
has "$ERR" "open-files = 15 is too small: the sandbox itself needs 16"
sed -i 's/= 15/= 16/' few.policy
expect 0 "$WARDFS" run --policy few.policy -- sh -c 'ulimit -n'
[ "$OUT" = 16 ] || fail "open files: $OUT"
rm few.policy

# A limit of the caller's own that is too low for a start is named, whichever step meets it, and
# nothing stays behind (the runner looks for control groups).
started=0
refused=0
for n in $(seq 40 3 120); do
	(
		# shellcheck disable=SC3045
		ulimit -n "$n"
		"$WARDFS" run -- true >/dev/null 2>"$WARD_TMP/.few"
	) && started=$((started + 1)) && continue
	refused=$((refused + 1))
	ERR=$(cat "$WARD_TMP/.few")
	case $ERR in
	*"Too many open files"* | *"ulimit -n"*) ;;
	*) fail "ulimit -n $n: $ERR" ;;
	esac
done
[ "$started" -gt 0 ] && [ "$refused" -gt 0 ] || fail "$started started, $refused were refused"

# So is one of the size of files. It is the command's as well, with the signal that belongs to it.
(
	ulimit -f 100
	expect 125 "$WARDFS" run -- true
	has "$ERR" "File too large"
) || exit 1
(
	ulimit -f 40000
	expect 153 "$WARDFS" run -- sh -c 'ulimit -f; exec dd if=/dev/zero of=large bs=1M count=21 2>/dev/null'
	[ "$OUT" = 40000 ] || fail "the size of files inside: $OUT"
) || exit 1
rm large

# Findings in a shipped profile's lines are not for who cannot change them.
expect 0 "$WARDFS" policy check
hasnt "$OUT" "medium:"
printf '[policy]\nversion = 1\nextends = medium\n[files]\nread = /workspace/a\nwrite = /workspace\n' >w.policy
expect 0 "$WARDFS" policy check w.policy
has "$OUT" "w.policy:5"

# explain: outside of the trees rules say nothing, and other flags help.
expect 1 "$WARDFS" policy explain read /etc/shadow
has "$OUT" "in no tree"
has "$OUT" "wardfs run --read /etc/shadow"
# Files that every session sees, and files of its own in the host's place.
expect 0 "$WARDFS" run -- cat /usr/bin/env
expect 0 "$WARDFS" policy explain read /usr/bin/env
has "$OUT" "every session sees this path as it is on the host, read-only"
expect 1 "$WARDFS" policy explain write /usr/bin/env
has "$OUT" EROFS
expect 1 "$WARDFS" policy explain read /usr/bin/no-such-program
printf '[policy]\nversion = 1\nextends = medium\n[files]\nnoexec = /usr/bin\n' >n.policy
expect 1 "$WARDFS" policy explain --policy n.policy exec /usr/bin/env
expect 1 "$WARDFS" policy explain read /tmp/anything
has "$OUT" "Each session gets its own directory /tmp"
expect 1 "$WARDFS" policy explain read ../elsewhere
has "$OUT" "$WARD_TMP/elsewhere"
expect 0 "$WARDFS" policy explain read file
hasnt "$OUT" "in no tree"
expect 0 "$WARDFS" policy explain stat /
hasnt "$OUT" "in no tree"

# An act that no rule would allow is refused with its reason, and no rule is proposed. The bit of a
# directory runs nothing.
expect 1 "$WARDFS" run -- sh -c 'mkdir shared && chmod g+s shared && : >tool && chmod 4755 tool'
has "$ERR" "setattr /workspace/tool (built-in)"
expect 0 "$WARDFS" audit denials
has "$OUT" "setuid and setgid are not"
hasnt "$OUT" "to permit"
exit 0
