#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit: a misspelt filter is an error and not an empty answer. When nothing matches,
# wardfs says so.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session alpha --events 21

usage_error() { # usage_error TEXT ARG...
	text=$1
	shift
	rc=0
	audit "$@" >out 2>err || rc=$?
	[ $rc -eq 2 ] || fail "$*: not a usage error"
	grep -qF -e "$text" err || fail "$*: $(cat err)"
	[ ! -s out ] || fail "$*: $(cat out)"
}

audit show --kind open alpha | grep -q open || fail "control: --kind"
usage_error "did you mean open?" show --kind opne alpha
usage_error "unknown; the words are session.start" show --kind frobnicate alpha
audit show --verdict allow alpha | grep -q open || fail "control: --verdict"
usage_error "did you mean allow?" show --verdict alow alpha
for time in 2000 2000-01-02 2000-01-02T03:04 '2000-01-02 03:04' 2000-01-02T03:04:05Z \
	2000-01-02T03:04:05.123456789Z 30m 2d 1w 3600s 1h yesterday; do
	audit show --since "$time" alpha | grep -q open || fail "control: --since $time"
	audit show --until "$time" alpha >out 2>err || fail "--until $time"
	[ ! -s out ] || fail "--until $time: $(cat out)"
done
# The end of what was asked for is in: also where a Z ends it, and of what is just now.
times=$(sed 's/.*"time":"\([^"]*\)".*/\1/' "$STATE/sessions/alpha/trail.jsonl")
start=$(printf '%s\n' "$times" | sed -n 1p)
# Another producer's record may have been made a moment before the one that came first.
earliest=$(printf '%s\n' "$times" | sort | sed -n 1p)
all=$(audit show --json alpha | wc -l)
for cut in '....Z$' '\..*' ':[0-9]*\..*' 'T.*'; do
	for z in "" Z; do
		time=$(echo "$earliest" | sed "s/$cut//")$z
		[ "$(audit show --json --since "$time" alpha | wc -l)" -eq "$all" ] || fail "--since $time"
		time=$(echo "$start" | sed "s/$cut//")$z
		audit show --until "$time" alpha | grep -q session.start || fail "--until $time"
	done
done
for time in now 0s; do
	[ "$(audit show --json --until "$time" alpha | wc -l)" -eq "$all" ] || fail "--until $time"
	audit show --since "$time" alpha >out 2>err || fail "--since $time"
	[ ! -s out ] || fail "--since $time: $(cat out)"
done
for time in 01:00 2000-1-2 20 2000-01-02T03:04:05.1234567890 tomorrow 1 h 1hour 1h30m -1h 1y \
	99999999999999999999s 5000w ''; do
	usage_error "a time is written" show --since "$time" alpha
	usage_error "a time is written" show --until "$time" alpha
done
[ "$(audit export --after 20 alpha | wc -l)" -eq 3 ] || fail "control: --after"
for seq in x 1x '' -1 99999999999999999999; do
	usage_error "number of a record" export --after "$seq" alpha
done

# A path as one inside, or relative to the project.
audit file t0-7 alpha >out 2>err || fail "file: $(cat err)"
audit file /workspace/t0-7 alpha | cmp - out || fail "a relative path"
[ -s out ] || fail "nothing of t0-7"
[ ! -s err ] || fail "$(cat err)"
# None is no success for who asks about a file or a process; to other questions it is an answer.
expect 1 audit file /srv/nowhere alpha
has "$ERR" 'no record of /srv/nowhere'
expect 1 audit file --proof /srv/nowhere alpha
expect 1 audit process 2147483647 alpha
has "$ERR" 'no such record'
expect 1 audit file --kind xattr t0-7 alpha
expect 0 audit denials --comm nobody alpha
audit show --comm nobody alpha >out 2>err || fail "show: $?"
grep -q 'no such record' err || fail "$(cat err)"
[ ! -s out ] || fail "$(cat out)"
audit show -j alpha | cmp - "$STATE/sessions/alpha/trail.jsonl" || fail "-j"
