#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A fifo, a socket, a device, a directory, a link to one, or a sparse terabyte replaces a file
# that the command line names or that holds policies or keys. Every reader says what it found, and
# ends. Time limits only end a hang.
# plain
# shellcheck disable=SC2016 # expanded by sh -c
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
out=$WARD_TMP/named
mkdir "$out"
printf '[policy]\nversion = 1\nextends = medium\n' >"$out/good"
"$WARDFS" run --session t -- true
cp "$XDG_STATE_HOME/wardfs/sessions/t/trail.jsonl" "$XDG_STATE_HOME/wardfs/sessions/t/checkpoints" "$out"
"$WARDFS" audit key show >"$out/key"
printf '[policy]\nversion = 1\nextends = %s\n' "$out/x" >"$out/extends"

# reader READER FILE: has it read FILE. Sets STATUS and SAID.
reader() {
	STATUS=0
	case $1 in
	check) set -- policy check "$2" ;;
	check-project) set -- policy check --as project "$2" ;;
	test) set -- policy test "$2" ;;
	diff) set -- policy diff medium "$2" ;;
	explain) set -- policy explain read a -p "$2" ;;
	extends) set -- policy check "$out/extends" ;;
	run) set -- run --dry-run -p "$2" -- true ;;
	verify) set -- audit verify "$2" --key "$out/key" ;;
	checkpoints) set -- audit verify "$out/trail.jsonl" --key "$out/key" --checkpoints "$2" ;;
	anchored) set -- audit verify --all --checkpoints "$2" ;;
	key) set -- audit verify "$out/trail.jsonl" --key "$2" ;;
	token-key) set -- net verify-token --key "$2" x ;;
	cursor) set -- audit export t --to unix:/nowhere --cursor "$2" ;;
	esac
	SAID=$(timeout 60 "$WARDFS" "$@" 2>&1 </dev/null) || STATUS=$?
}
# good READER: what it reads when all is well
good() {
	case $1 in
	verify) echo "$out/trail.jsonl" ;;
	checkpoints | anchored) echo "$out/checkpoints" ;;
	key | token-key) echo "$out/key" ;;
	cursor) echo "$out/none" ;;
	*) echo "$out/good" ;;
	esac
}
readers="check check-project test diff explain extends run verify checkpoints anchored key token-key cursor"
bad="is not a regular file
Is a directory
is a directory
neither a public key nor a file
Invalid argument
Too many levels
No such device or address"
# make KIND: makes it at x
make() {
	rm -rf "$out/x" "$out/there"
	case $1 in
	fifo) mkfifo "$out/x" ;;
	socket) python3 -c 'import socket, sys
socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$out/x" ;;
	device) mknod "$out/x" c 1 5 ;;
	directory) mkdir "$out/x" ;;
	link) mkfifo "$out/there" && ln -s there "$out/x" ;;
	huge) truncate -s 1T "$out/x" ;;
	esac
}
for r in $readers; do
	cp "$(good $r)" "$out/x" 2>/dev/null || rm -rf "$out/x"
	reader $r "$out/x"
	! printf %s "$SAID" | grep -qF "$bad" || fail "control: $r: $STATUS: $SAID"
	for kind in fifo socket device directory link huge; do
		# No link is followed there, whatever it leads to.
		[ $r$kind != cursorlink ] || continue
		make $kind
		reader $r "$out/x"
		[ $STATUS -ne 124 ] || fail "$r waits for ever at a $kind"
		[ $STATUS -lt 128 ] && [ $STATUS -ne 0 ] || fail "$r takes a $kind: $STATUS: $SAID"
		[ $kind = huge ] || printf %s "$SAID" | grep -qF "$bad" || fail "$r at a $kind: $STATUS: $SAID"
	done
done

echo "--- the owner's own policy of the project, and a pipe that the caller hands over itself"
"$WARDFS" init medium >/dev/null 2>&1 || "$WARDFS" init >/dev/null
mine=$(find "$XDG_CONFIG_HOME/wardfs/projects" -name '*.policy')
expect 0 "$WARDFS" policy check
rm "$mine" && mkfifo "$mine"
for verb in "policy check" "policy add read x" "run --dry-run -- true"; do
	# shellcheck disable=SC2086
	refused "is not a regular file but a pipe" timeout 60 "$WARDFS" $verb
done
rm "$mine"
expect 0 sh -c '"$WARDFS" policy check /dev/stdin <"$1"' sh "$out/good"
expect 0 sh -c 'cat "$1" | "$WARDFS" policy check /dev/stdin' sh "$out/good"
expect 0 sh -c 'cat "$1" | "$WARDFS" audit verify "$2" --key /dev/stdin' sh "$out/key" "$out/trail.jsonl"
ln -s /dev/stdin "$out/stdin"
refused "is not a regular file but a pipe" sh -c 'cat "$1" | "$WARDFS" policy check "$2"' sh "$out/good" "$out/stdin"
