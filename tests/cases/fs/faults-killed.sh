#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of wardfs-fs at random moments under load, as root and as an ordinary user. The trail
# has every operation that the program saw succeed, and the program saw everything that the trail
# calls refused. The backing is as the last successes left it; no process, mount or exceeded quota
# remains, and the next session has its whole quota. The control: the same load without a kill.
# shellcheck disable=SC2016
# timeout: 3600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"
[ -c /dev/fuse ] || skip "no /dev/fuse"

# Says of each operation that it succeeded, in a file of its own for each process; stops at the
# first that does not. load.py NAME COUNT
cp "$WARD_SRC/tests/cases/fs/lib/faults-killed-load.py" load.py
# check.py TRAIL PROJECT: prints how many successes there were, or what is missing.
cp "$WARD_SRC/tests/cases/fs/lib/faults-killed-check.py" check.py

# Fills a quota to the brim and makes room again, for ever; "once": says how much was free.
cp "$WARD_SRC/tests/cases/fs/lib/faults-killed-brim.py" brim.py

cat >inner.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
TOOLS=$1 rounds=$2 tag=$3
sessions=${XDG_STATE_HOME:-$HOME/.local/state}/wardfs/sessions
load() { # SESSION COUNT
	exec "$WARDFS" run --policy q.policy --session "$1" -- sh -c '
		touch m$0
		python3 brim.py & brim=$!
		for who in a b c; do python3 load.py $who '"$2"' & pids="$pids $!"; done
		wait $pids
		kill $brim' "$tag$1"
}
begin() {
	project "p$1" && cd "p$1" && cp "$TOOLS/load.py" "$TOOLS/brim.py" . || fail "project"
	printf '[policy]\nversion = 1\nextends = medium\n[quota /workspace/brim]\ngrowth = 20001\n' >q.policy
}
loaded() {
	[ "$(cat acked-* | wc -l)" -gt 20 ] && [ -e brim ]
}
begin control
(load control 100) || fail "control: exit $?"
cd ..
acked=$(python3 "$TOOLS/check.py" "$sessions/control/trail.jsonl" pcontrol) || fail "control: $acked"
[ "$acked" -eq 1953 ] || fail "control: $acked operations"
grep -v '"rename".*d-b/b50"' "$sessions/control/trail.jsonl" >short
python3 "$TOOLS/check.py" short pcontrol 2>/dev/null && fail "control: a record that is not there was not missed"
round=0
while [ $round -lt "$rounds" ]; do
	round=$((round + 1))
	begin $round
	(load k$round 1000000) 2>../err &
	sup=$!
	wait_until 120 loaded || fail "$round: no load: $(cat ../err)"
	fs=$(status_of k$round fs_pid)
	init=$(status_of k$round init_pid)
	audit=$(status_of k$round audit_pid)
	[ -n "$fs" ] && [ -n "$init" ] && [ -n "$audit" ] || fail "$round: ps does not know the session"
	sleep "0.$(awk -v s=$$$round 'BEGIN { srand(s); printf "%03d", rand() * 300 }')"
	kill -9 "$fs"
	status=0
	wait $sup || status=$?
	[ $status -eq 125 ] || fail "$round: exit $status: $(cat ../err)"
	for p in $fs $init $audit; do
		wait_until 60 gone "$p" || fail "$round: process $p is left"
	done
	wait_until 60 ended "${tag}k$round" || fail "$round: the agent's processes are left"
	grep " $PWD.* fuse" /proc/self/mountinfo && fail "$round: a mount is left"
	ls >/dev/null || fail "$round: a stale mount"
	used=$(find brim -type f -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')
	[ "$used" -le 20001 ] || fail "$round: $used bytes under a quota of 20001"
	free=$("$WARDFS" run --policy q.policy -- python3 brim.py once) || fail "$round: the next session"
	[ "$free" = 20001 ] || fail "$round: $free of 20001 bytes are free in the next session"
	cd ..
	acked=$(python3 "$TOOLS/check.py" "$sessions/k$round/trail.jsonl" p$round 2>&1) || fail "$round: $acked"
	[ "$acked" -gt 10 ] || fail "$round: only $acked operations before the kill"
	"$WARDFS" audit verify k$round >verdict 2>&1 && fail "$round: intact: $(cat verdict)"
	grep -q 'incomplete: wardfs-fs died' verdict || fail "$round: $(cat verdict)"
	rm -rf "p$round"
done
exit 0
S
rounds=3
[ -z "${WARD_LONG-}" ] || rounds=60
chmod 755 . && chmod 644 ./*.py ./*.sh
TOOLS=$PWD
mkdir root && cd root || exit 1
sh "$TOOLS/inner.sh" "$TOOLS" $rounds "r$$" || fail "as root"
cd ..
as_user "$TOOLS/inner.sh" "$TOOLS" $((rounds * 2 / 3)) "u$$" || fail "as an ordinary user"
