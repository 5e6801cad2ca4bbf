#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each verb of wardfs audit lists its own options and takes no others. Options may stand before
# the verb.
# plain
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session alpha --events 5

# usage_error TEXT ARG...: wrong use, and the message has TEXT
usage_error() {
	text=$1
	shift
	rc=0
	"$WARDFS" audit "$@" --state "$STATE" >out 2>err || rc=$?
	[ "$rc" -eq 2 ] || fail "$*: exit status $rc: $(cat out err)"
	grep -qF -e "$text" err || fail "$*: $(cat err)"
	[ ! -s out ] || fail "$*: $(cat out)"
}

verbs=$("$WARDFS" audit --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
keys=$("$WARDFS" audit key --help | sed -n 's/^  \([a-z]*\) .*/key \1/p')
[ "$(echo "$verbs" | wc -l)" -ge 19 ] && [ "$(echo "$keys" | wc -l)" -ge 6 ] || fail "verbs: $verbs $keys"
printf '%s\n' "$verbs" "$keys" | grep -vx key >all
while read -r verb; do
	# shellcheck disable=SC2086
	for ask in "$verb --help" "$verb -h" "help $verb"; do
		"$WARDFS" audit $ask >out 2>err || fail "$ask: $(cat err)"
		grep -q "^Usage: wardfs audit $verb" out && [ ! -s err ] || fail "$ask: $(cat out err)"
	done
	# shellcheck disable=SC2086
	usage_error "unrecognized option '--nope'" $verb --nope
	# shellcheck disable=SC2086
	[ "$verb" = index ] || usage_error "unrecognized option '--rebuild'" $verb --rebuild
done <all

# The word that was meant.
usage_error "did you mean 'show'?" shwo
usage_error "did you mean 'rotate'?" key rotat
usage_error "there is no verb 'frobnicate'; wardfs audit --help" frobnicate
usage_error "there is no verb 'frobnicate'; wardfs audit key --help" key frobnicate
usage_error "did you mean jsonl?" export --format josnl alpha
usage_error "PATH is missing" file
usage_error "too many arguments: beta" show alpha beta
usage_error "--all and SESSION exclude each other" verify --all alpha
usage_error "--state and --system exclude each other" list --system
usage_error "unrecognized option '--pid=1'" process --pid=1 1 alpha
usage_error "a public key is needed" key enroll
usage_error "a public key is needed" key enroll nonsense

# Before the verb, as behind it; an argument of an option is no verb.
audit show --json alpha >wanted || fail "control: show"
for early in "--json show" "-j --no-index show" "--until now -j show"; do
	# shellcheck disable=SC2086
	audit $early alpha | cmp - wanted || fail "$early"
done
"$WARDFS" audit "--state=$STATE" -j -- show alpha | cmp - wanted || fail "-- show"
audit --kind open --json show alpha >out || fail "--kind show"
audit show --kind open --json alpha | cmp - out || fail "a filter before the verb"
[ -s out ] || fail "control: --kind open"
audit --lines 2 --kind open tail alpha >out && [ "$(wc -l <out)" -eq 2 ] || fail "--lines tail: $(cat out)"
[ "$(audit --json key show)" = "$(audit key show --json)" ] || fail "--json key show"
[ "$(audit key --json show)" = "$(audit key show --json)" ] || fail "key --json show"
"$WARDFS" audit --json --help | grep -q '^Usage: wardfs audit VERB' || fail "--json --help"
usage_error "unrecognized option '--lines'" --lines 2 show alpha

# --state is taken from the current directory, also by what fills an index there.
for relative in state ./state "../$(basename "$PWD")/state"; do
	"$WARDFS" audit show --json alpha --state "$relative" | cmp - wanted || fail "--state $relative"
	"$WARDFS" audit index --state "$relative" >out || fail "--state $relative: index: $(cat out)"
done
refused "No such file" "$WARDFS" audit list --state nowhere
