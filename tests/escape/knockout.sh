#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel lacks a part. A missing guarantee refuses the run by name and says the fix; a missing
# second layer is named.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"
KNOCKOUT=$WARD_BUILD/tests/support/knockout

# The program that is knocked about, as root and as an ordinary user.
knocked() { # knocked MODE WHAT [OPTION]... -- CMD
	mode=$1 what=$2
	shift 2
	case $mode in
	root) "$KNOCKOUT" "$what" -- "$RUN" "$@" ;;
	user) as_stranger "$SEEN/tests/support/knockout" "$what" -- "$SEEN/tests/support/sandboxrun" "$@" ;;
	esac
}

without() { # without MODE WHAT TEXT: refused, with this text
	out=$(knocked "$1" "$2" -- echo ran 2>"$WARD_TMP/err") && rc=0 || rc=$?
	[ "$rc" = 125 ] && [ -z "$out" ] || fail "$1: $2: exit code $rc, \"$out\""
	grep -q -- "$3" "$WARD_TMP/err" || fail "$1: $2: $(cat "$WARD_TMP/err")"
}

check() {
	[ "$(inside "$1" -- echo ran)" = ran ] || fail "$1: control: whole"
	[ "$(knocked "$1" ustat=ENOSYS -- echo ran)" = ran ] || fail "$1: control: something unneeded is gone"
	without "$1" openat2=ENOSYS "openat2(2) is refused or missing; fix: "
	without "$1" openat2=EPERM "openat2(2) is refused or missing; fix: "
	without "$1" unshare=EPERM "namespace.*fix: "
	without "$1" unshare=ENOSPC "user.max_user_namespaces.*fix: \|mount namespace"
	without "$1" seccomp=ENOSYS "system call filter.*fix: "
	without "$1" open_tree=ENOSYS "new mount calls.*fix: "
	without "$1" mount_setattr=ENOSYS "new mount calls.*fix: "
	without "$1" fsopen=ENOSYS "new mount calls.*fix: "
	without "$1" move_mount=ENOSYS "new mount calls.*fix: "
	without "$1" pivot_root=EPERM "pivot_root"
	without "$1" keyctl=EPERM "session keyring"

	# Landlock is a second layer: told, and everything else holds.
	knocked "$1" landlock_create_ruleset=ENOSYS --facts --probes -- echo ran \
		>"$WARD_TMP/out" 2>"$WARD_TMP/err" || fail "$1: without Landlock: $(cat "$WARD_TMP/err")"
	[ "$(cat "$WARD_TMP/out")" = ran ] || fail "$1: without Landlock: it did not run"
	grep -q "^landlock 0 " "$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
	grep -q "^probe landlock: skipped" "$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
	grep -q "^probe read-only: held" "$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
	# A kernel without keys has none to keep apart: told as well.
	knocked "$1" keyctl=ENOSYS --facts -- true 2>"$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
	grep -q "keyring 0" "$WARD_TMP/err" || fail "$1: $(cat "$WARD_TMP/err")"
}
each_mode check

# Older Landlocks: all that this one knows is asked for and nothing more, it starts, and what is
# missing is told. ABI 1 could not rename between directories: none, then.
LIB=$WARD_SRC/tests/escape/lib/escape.sh
# Traced by root in both cases: what is not dumpable shows its memory to nobody else.
older() { # older MODE ABI [OPTION]... -- CMD
	"$KNOCKOUT" landlock-abi="$2" -- sh -euc '. "$0"; mode=$1; shift 2; inside "$mode" "$@"' "$LIB" "$@" </dev/null
}

ladder() {
	real=$(inside "$1" --facts -- true 2>&1 | sed -n 's/^landlock \([0-9]*\) .*/\1/p')
	while read -r abi asked probe; do
		[ "$abi" -le "$real" ] || continue
		older "$1" "$abi" --facts --probes -- echo ran >"$WARD_TMP/out" 2>"$WARD_TMP/err" ||
			fail "$1: ABI $abi: $(cat "$WARD_TMP/err")"
		[ "$(cat "$WARD_TMP/out")" = ran ] || fail "$1: ABI $abi: it did not run"
		[ "$(sed -n 's/^ruleset //p' "$WARD_TMP/err")" = "$(echo "${asked#-}" | tr , ' ')" ] ||
			fail "$1: ABI $abi: $(cat "$WARD_TMP/err")"
		grep -q "^landlock $([ "$abi" -ge 2 ] && echo "$abi" || echo 0) " "$WARD_TMP/err" ||
			fail "$1: ABI $abi: $(cat "$WARD_TMP/err")"
		grep -q "^probe landlock: $probe" "$WARD_TMP/err" || fail "$1: ABI $abi: $(cat "$WARD_TMP/err")"
	done <<-E
		1 - skipped
		2 8,0x3fff,0,0 skipped
		3 8,0x7fff,0,0 skipped
		4 16,0x7fff,0,0 skipped
		5 16,0xffff,0,0 skipped
		6 24,0xffff,0,0x3 held
		7 24,0xffff,0,0x3 held
	E
}
# The control: a kernel of that ABI refuses what came later.
out=$("$KNOCKOUT" landlock-abi=2 -- "$ATTACK" ruleset 0x4000 2>/dev/null) && fail "control: $out"
[ "$out" = EINVAL ] || fail "control: $out"
works "$KNOCKOUT" landlock-abi=2 -- "$ATTACK" ruleset 0x2000 2>/dev/null
if by_root && [ "$(uname -m)" = x86_64 ]; then
	each_mode ladder
fi

# A file that was given as 0 is not to be opened anew for writing, one given as 1 not for reading:
# with and without Landlock they go through pipes, of which nothing more comes. The control: the
# same attempt in mode none.
PROJECT=$WARD_TMP/project
mkdir -p "$PROJECT"
given() { # given PREFIX...: what the command could make of its own 0 and 1
	echo in >"$WARD_TMP/in"
	echo before >"$WARD_TMP/log"
	chmod 666 "$WARD_TMP/in" "$WARD_TMP/log"
	(cd "$PROJECT" && "$@" -- sh -c 'cat; echo evil 2>/dev/null >/proc/self/fd/0; timeout 2 head -n 1 /proc/self/fd/3 3>&1 >&2' \
		<"$WARD_TMP/in" >>"$WARD_TMP/log" 2>"$WARD_TMP/err") || true
	printf '%s, %s\n' "$(cat "$WARD_TMP/in")" "$(grep -c '^before' "$WARD_TMP/err")"
	[ "$(cat "$WARD_TMP/log")" = "before
in" ] || fail "what was read and written: $(cat "$WARD_TMP/log" "$WARD_TMP/err")"
}
WARDFS=$WARD_BUILD/wardfs
[ "$(given "$WARDFS" run --mode none)" = "evil, 1" ] || fail "control: $(cat "$WARD_TMP/in" "$WARD_TMP/err")"
[ "$(given "$WARDFS" run)" = "in, 0" ] || fail "a given file was opened anew: $(cat "$WARD_TMP/in" "$WARD_TMP/err")"
[ "$(given "$KNOCKOUT" landlock_create_ruleset=ENOSYS -- "$WARDFS" run)" = "in, 0" ] ||
	fail "without Landlock a given file was opened anew: $(cat "$WARD_TMP/in" "$WARD_TMP/err")"
"$WARDFS" audit show --json --kind session.start latest >"$WARD_TMP/start"
grep -q '"landlock_lacks":\["files","truncate","device-ioctl","signals","abstract-sockets"\]' "$WARD_TMP/start" ||
	fail "what Landlock lacks is not told: $(cat "$WARD_TMP/start")"
