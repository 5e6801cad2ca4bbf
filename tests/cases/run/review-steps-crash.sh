#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-fs is killed in the middle of a mark or of a step back. What the session staged is then as
# before or as after, file by file, and a later session can begin with it.
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review-steps.sh"
command -v strace >/dev/null || skip "no strace"
[ "$(id -u)" = 0 ] || skip "no ordinary user may trace wardfs-fs"
trap steps_end EXIT

LIST="find . -path ./.git -prune -o -printf '%y %m %p %l\n' | sort -k3
	find . -path ./.git -prune -o -type f -readable -exec sha256sum {} + | sort -k2"
FIRST='echo new >>changed; echo a >added; mv d e; chmod 600 untouched; ln -s changed link; mkdir -m 700 own'
SECOND='echo newer >>changed; rm added; echo b >second; mv e f; echo x >>f/two; rm removed; chmod 644 untouched
	chmod 755 own; echo y >>gone/a'

# killed CALL N VERB...: wardfs-fs dies at the N-th CALL after VERB began.
killed() {
	call=$1
	n=$2
	shift 2
	fs=$("$WARDFS" ps --json | sed -n 's/.*"fs_pid": \([0-9]*\).*/\1/p')
	strace -qq -f -p "$fs" -e trace="$call" -e inject="$call:signal=KILL:when=$n" -o "$WARD_TMP/trace" &
	tracer=$!
	wait_until 60 grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$fs/status" || fail "strace does not trace"
	"$WARDFS" review "$@" >"$WARD_TMP/said" 2>&1 || :
	# The call may not come so often.
	"$WARDFS" kill "$crash" >/dev/null 2>&1 || :
	wait "$tracer" || :
	wait "$pid" || :
}

dead=0
round=0
for at in linkat:1 linkat:2 renameat2:1 renameat2:2 renameat2:3 utimensat:1 utimensat:3 write:2 \
	write:3 write:4 ftruncate:1 mkdirat:1; do
	fresh
	project=$(whole)
	crash=c$((round = round + 1))
	steps_session "$crash"
	inside "$crash" "$FIRST"
	expect 0 "$WARDFS" review mark -s "$crash" first
	after=$(seen "$crash")
	inside "$crash" "$SECOND"
	before=$(seen "$crash")
	[ "$before" != "$after" ] || fail "control: nothing changed"
	killed "${at%:*}" "${at#*:}" back -s "$crash" first
	grep -q 'killed by SIGKILL' "$WARD_TMP/trace" && dead=$((dead + 1))
	[ "$(whole)" = "$project" ] || fail "$at: the project changed"
	expect 0 "$WARDFS" review "$crash"
	name=$("$WARDFS" review log -s "$crash" | tail -n 1)
	expect 0 "$WARDFS" run --from "$crash" -- sh -euc "$LIST"
	if [ "$OUT" != "$before" ] && [ "$OUT" != "$after" ]; then
		printf '%s\n' "$OUT" >"$WARD_TMP/is"
		printf '%s\n' "$before" | diff "$WARD_TMP/is" - >&2 || :
		printf '%s\n' "$after" | diff "$WARD_TMP/is" - >&2 || :
		fail "$at: neither before nor after ($name)"
	fi
done
[ "$dead" -ge 6 ] || fail "control: wardfs-fs was killed $dead times of $round"

echo "--- a mark"
for at in mkdirat:1 write:1 fcntl:1; do
	fresh
	crash=c$((round = round + 1))
	steps_session "$crash"
	inside "$crash" "$FIRST"
	before=$(seen "$crash")
	killed "${at%:*}" "${at#*:}" mark -s "$crash" first
	expect 0 "$WARDFS" review "$crash"
	expect 0 "$WARDFS" run --from "$crash" -- sh -euc "$LIST"
	same "$at: after a mark" "$before" "$OUT"
done
