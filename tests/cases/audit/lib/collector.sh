# SPDX-License-Identifier: Apache-2.0
# For the cases of exports to a collector: sourced. A collector ends with the case.
# shellcheck shell=sh
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"

collector_pid=
cp "$WARD_SRC/tests/cases/audit/lib/export-collector.py" collector.py

end_collector() {
	[ -z "$collector_pid" ] || kill "$collector_pid" 2>/dev/null || :
	collector_pid=
}
trap end_collector EXIT

# collector KIND [OPTION…]: starts one; its port is $port
collector() {
	end_collector
	rm -f port behave wrong
	: >got
	: >log
	python3 collector.py "$@" &
	collector_pid=$!
	wait_until 60 test -s port || fail "no port"
	# shellcheck disable=SC2034 # the case's
	port=$(cat port)
}

# behave WHAT…: what the next connections do, one each
behave() {
	printf '%s\n' "$@" >behave
}

records() {
	wc -l <"state/sessions/$1/trail.jsonl"
}

cursor() {
	cut -d' ' -f2 "$1" | tr -d '\n'
}

# all_of SESSION: the collector has each record of it, be it twice
all_of() {
	[ ! -e wrong ] || fail "the collector: $(cat wrong)"
	[ "$(grep "^$1 " got | sort -u | wc -l)" -eq "$(records "$1")" ]
}

# once SESSION: and none of them twice
once() {
	all_of "$1" || fail "$1: $(sort -u got | wc -l) of $(records "$1"); $(cat log)"
	[ "$(grep -c "^$1 " got)" -eq "$(records "$1")" ] || fail "$1: some came twice"
}

# says TEXT: the last command said so in ./err
says() {
	grep -q -e "$1" err || fail "it does not say \"$1\": $(cat err)"
}
