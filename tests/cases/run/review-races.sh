#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The host puts another file at a name between the look of an apply or undo and its call: the file
# is left where the host put it, and told. The control is the same apply without the host's file.
# timeout: 300
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/cases/run/lib/review.sh"

cc -shared -fPIC -o "$WARD_TMP/at-call.so" "$WARD_SRC/tests/cases/run/lib/at-call.c" -ldl ||
	fail "at-call.so"
# raced CALL NAME REVIEW...: before the call, the host's file comes to the name.
raced() {
	call=$1
	name=$2
	shift 2
	expect 1 env AT_CALL="$call" AT_NAME="$name" LD_PRELOAD="$WARD_TMP/at-call.so" \
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		AT_RUN="touch $WARD_TMP/met; echo host >$WARD_TMP/host && mv $WARD_TMP/host $PROJECT/$name" \
		"$WARDFS" review "$@"
	[ -e "$WARD_TMP/met" ] || fail "wardfs made no such call: $call $name"
	rm "$WARD_TMP/met"
}
# is FILE TEXT
is() { [ "$(cat "$1")" = "$2" ] || fail "$1 is not '$2': $(whole)"; }
# stage NAME COMMAND
stage() {
	fresh
	expect 0 "$WARDFS" run --review -s "$1" -- sh -euc "$2"
}

echo '--- a rename, and its undo'
stage rename 'mv renamed moved'
raced renameat2 renamed apply
has "$ERR" 'moved: not applied: somebody changed it at this moment: it was put back'
is renamed host
[ ! -e moved ] || fail "the host's file has another name: $(whole)"
stage renamed 'mv renamed moved'
expect 0 "$WARDFS" review apply
is moved 'old renamed'
raced renameat2 moved undo
is moved host
[ ! -e renamed ] || fail "the host's file has another name: $(whole)"

echo '--- a hard link, and its undo'
stage link 'ln changed second'
raced linkat changed apply
has "$ERR" 'second: not applied: somebody changed it at this moment: it was put back'
is changed host
[ ! -e second ] || fail "the host's file has a second name: $(whole)"
stage linked 'ln changed second'
expect 0 "$WARDFS" review apply
is second 'old changed'
raced renameat2 second undo
is second host
is changed 'old changed'
stage again 'ln changed second'
expect 0 "$WARDFS" review apply
expect 0 "$WARDFS" review undo
[ ! -e second ] && [ "$(stat -c %h changed)" = 1 ] || fail "control: the link is undone: $(whole)"
no_rest

echo '--- three names in a circle: another file, a link, a directory, nothing at one of them'
circle='mv changed t; mv removed changed; mv renamed removed; mv t renamed'
stage circle "$circle"
expect 0 "$WARDFS" review apply
is changed 'old removed'
is removed 'old renamed'
is renamed 'old changed'
expect 0 "$WARDFS" review undo
is changed 'old changed'
is removed 'old removed'
is renamed 'old renamed'
no_rest
# circled HOST VERB: before the first step of the circle, HOST comes to the name that goes aside.
circled() {
	expect 1 env AT_CALL=renameat2 AT_NAME="$last" LD_PRELOAD="$WARD_TMP/at-call.so" \
		ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		AT_RUN="cd $PROJECT; touch $WARD_TMP/met; mv $last $WARD_TMP/away; $1" \
		"$WARDFS" review "$2"
	[ -e "$WARD_TMP/met" ] || fail "wardfs made no such call: $2"
	rm "$WARD_TMP/met"
}
n=0
for host in ': >$last' 'ln -s $OUTSIDE/target $last' 'mkdir $last' :; do
	for verb in apply undo; do
		last=removed
		[ $verb = apply ] || last=renamed
		export last
		n=$((n + 1))
		stage "c$n" "$circle"
		[ $verb = apply ] || expect 0 "$WARDFS" review apply
		before=$(cat changed removed renamed | sort)
		circled "$host" $verb
		rm -rf "$last"
		mv "$WARD_TMP/away" "$last"
		[ "$(cat changed removed renamed | sort)" = "$before" ] || fail "$host: $(whole)"
		[ "$(cat "$OUTSIDE/target")" = secret ] || fail "$host: a link was followed"
		no_rest
		"$WARDFS" review $verb >/dev/null 2>&1 || :
		[ "$(cat changed removed renamed | sort)" = "$before" ] || fail "$host again: $(whole)"
		no_rest
	done
done

echo '--- what is gone with its directory is gone at another apply, too'
stage twice 'rm -r gone'
expect 0 "$WARDFS" review apply
[ ! -e gone ] || fail "control: $(whole)"
expect 0 "$WARDFS" review apply
