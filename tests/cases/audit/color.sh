#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs audit prints colours on a terminal only, and never where NO_COLOR is set (no-color.org).
# The text is the same.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session alpha --events 21
escape=$(printf '\033')

terminal() { # terminal FILE VARIABLE=VALUE VERB: what the verb prints on a terminal, without its \r
	script -qec "env $2 '$WARD_BUILD/wardfs' audit --state '$STATE' $3 alpha" typescript >/dev/null 2>&1 ||
		fail "$3: $(cat typescript)"
	sed -e '/^Script \(started\|done\) on/d' typescript | tr -d '\r' | sed '/^$/d' >"$1"
}

for verb in show denials; do
	terminal coloured NO_COLOR= "$verb"
	grep -q "$escape" coloured || fail "control: $verb has no colour on a terminal: $(cat coloured)"
	terminal plain NO_COLOR=1 "$verb"
	[ -s plain ] || fail "$verb prints nothing"
	grep -q "$escape" plain && fail "$verb: colour in spite of NO_COLOR"
	sed "s/$escape\[[0-9;]*m//g" coloured | cmp -s - plain || fail "$verb: another text"
	audit "$verb" alpha >piped || fail "$verb"
	grep -q "$escape" piped && fail "$verb: colour in a file"
	sed '/^$/d' piped | cmp -s - plain || fail "$verb: another text in a file"
done
