#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stress-ng's process and memory stressors under limits: the host stays as it was, wardfs enforces
# and names the limits, and the trail is whole.
# plain
# shellcheck disable=SC2016
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v stress-ng >/dev/null || skip "no stress-ng"
[ "$(id -u)" -eq 0 ] || skip "needs root"
project p
cd p || exit 1
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nmemory = 256M\nprocesses = 120\ncpus = 1\ntmp = 64M\nopen-files = 256\nwall = 5m\n' >../tight.policy
"$WARDFS" run --policy ../tight.policy -- true || skip "no control groups for memory"
# stress NAME SECONDS ARG...: whatever it says of itself, the session is what is looked at.
stress() {
	name=$1-$$
	shift
	rc=0
	"$WARDFS" run --session "$name" --policy ../tight.policy -- stress-ng --temp-path /tmp --oomable --quiet "$@" >../out 2>../err || rc=$?
	case $rc in
	0 | 1 | 2 | 3 | 137) ;;
	*) fail "$name: $rc: $(cat ../err)" ;;
	esac
	expect 0 "$WARDFS" audit verify "$name"
	expect 0 "$WARDFS" audit show --json --kind session.end "$name"
	peak=$(echo "$OUT" | sed -n 's/.*"memory_peak":\([0-9]*\).*/\1/p')
	# Page cache that is being given back may stand above for a moment: never by much.
	[ "$peak" -le $((272 << 20)) ] || fail "$name: $peak bytes"
	tasks=$(echo "$OUT" | sed -n 's/.*"processes_peak":\([0-9]*\).*/\1/p')
	[ "$tasks" -le 125 ] || fail "$name: $tasks processes"
	[ -z "$(find /sys/fs/cgroup -type d -path "*/wardfs/$name")" ] || fail "$name: its groups are left"
}
if [ -n "${WARD_LONG-}" ]; then
	stress forks --fork 16 --vfork 8 --clone 4 --timeout 20s
	stress brk --brk 2 --stack 2 --bigheap 2 --timeout 20s
	stress shm --shm 2 --shm-sysv 2 --memfd 2 --timeout 20s
	stress files --open 2 --dentry 2 --hdd 1 --hdd-bytes 200M --timeout 20s
fi
# met WHAT NAME ARG...: for as long as it takes to get to the limit beside much else
met() {
	what=$1 of=$2
	shift 2
	for seconds in "${WARD_LONG:+1}2" 15 60; do
		stress "$of$seconds" "$@" --timeout "${seconds}s"
		expect 0 "$WARDFS" audit show --json --kind limit "$name"
		case $OUT in *'"done":"'"$what"'"'*) return ;; esac
	done
	fail "$of: not $what: $OUT"
}
met refused many --fork 400
met killed memory --vm 4 --vm-bytes 1200M --vm-keep
# The control: a session without the limit has more.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nmemory = 2G\nprocesses = 1000\n' >../wide.policy
for seconds in 2 15 60; do
	expect 0 "$WARDFS" run --session wide$seconds --policy ../wide.policy -- \
		stress-ng --quiet --vm 1 --vm-bytes 400M --vm-keep --timeout ${seconds}s
	expect 0 "$WARDFS" audit show --json --kind session.end wide$seconds
	peak=$(echo "$OUT" | sed -n 's/.*"memory_peak":\([0-9]*\).*/\1/p')
	[ "$peak" -le $((300 << 20)) ] || break
done
[ "$peak" -gt $((300 << 20)) ] || fail "control: $peak bytes"
exit 0
