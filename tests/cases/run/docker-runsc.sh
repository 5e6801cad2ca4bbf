#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode docker with gVisor: the command runs on gVisor's kernel, with the session's guard, limits,
# system-call list, exec and trail. wardfs refuses by name what such a kernel cannot give.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v runsc >/dev/null || skip 'no runsc (Debian package runsc)'
work=$WARD_TMP/work
project "$work"
chmod 755 "$WARD_TMP"
cd "$work"
echo secret >.env
mkdir "$WARD_TMP/outside"

# Another kernel; and the same walls.
expect 0 "$WARDFS" run --engine runsc --session vm -- sh -c \
	'cat /proc/version; id -u; grep -E "^(CapE|CapB|Seccomp)" /proc/self/status; echo hi >made; cat made'
has "$OUT" 'Linux version 4.4.0'
has "$OUT" 'CapEff:	0000000000000000'
has "$OUT" 'CapBnd:	0000000000000000'
has "$OUT" 'Seccomp:	2'
has "$ERR" 'a kernel of its own'
[ "$(cat made)" = hi ] || fail 'the project was not written to'
hasnt "$(cat /proc/version)" 'Linux version 4.4.0'
expect 0 "$WARDFS" audit verify vm
trail=$WARD_TMP/trail
"$WARDFS" audit show vm --json >"$trail"
grep -q '"landlock_abi":0.*"engine":"runsc".*"own_kernel":true' "$trail" || fail 'not in the trail'
# What gVisor runs on is the newest that this runsc has.
platform=ptrace
runsc flags 2>&1 | grep -A1 -e '-platform string' | grep -q systrap && platform=systrap
grep -q "\"platform\":\"$platform\"" "$trail" || fail "not $platform"
for probe in capabilities ptrace outside connect write; do
	grep "\"name\":\"$probe\"" "$trail" | grep -q '"result":"held"' || fail "probe $probe"
done
for probe in userns landlock mount read-only; do
	grep "\"name\":\"$probe\"" "$trail" | grep -q '"result":"skipped"' ||
		fail "probe $probe"
done

# Files: as the policy says.
expect 1 "$WARDFS" run --engine runsc -- sh -c 'cat .env || exit 1'
expect 1 "$WARDFS" run --engine runsc -- sh -c "cd '$WARD_TMP/outside' || exit 1"
for place in /usr/new /etc/new /new /bin/sh /wardfs-plan/blueprint; do
	expect 1 "$WARDFS" run --engine runsc -- sh -c "echo no >>$place || exit 1"
done
# Exit codes; a further command under the same list; its own exit code.
expect 7 "$WARDFS" run --engine runsc -- sh -c 'exit 7'
expect 127 "$WARDFS" run --engine runsc -- no-such-program
"$WARDFS" run --engine runsc --session more -- sleep 600 &
pid=$!
wait_until 60 "$WARDFS" exec more -- true
expect 3 "$WARDFS" exec more -- sh -c 'grep ^Seccomp /proc/self/status; exit 3'
has "$OUT" 'Seccomp:	2'
expect 0 "$WARDFS" kill more
wait "$pid" || [ $? -ge 125 ] || fail 'the end'
# A clock ends it.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 3s\n' >"$WARD_TMP/p.policy"
expect 124 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runsc -- sleep 600
# Room in memory: the size of all of it together, as without an engine. The control is the default.
cp "$WARD_SRC/tests/cases/run/lib/docker-runsc-fill.py" fill.py
places='/tmp /var/tmp /run /dev/shm'
# shellcheck disable=SC2086
expect 0 "$WARDFS" run --engine runsc -- /usr/bin/python3 fill.py 24 $places
for place in $places; do has "$OUT" "$place 24"; done
printf '[policy]\nversion = 1\nextends = medium\n[limits]\ntmp = 16M\n' >"$WARD_TMP/p.policy"
for place in $places; do
	expect 0 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runsc -- /usr/bin/python3 fill.py 24 $place
	[ "$OUT" = "$place 16" ] || [ "$OUT" = "$place 15" ] || fail "limit of room: $OUT"
done
# shellcheck disable=SC2086
expect 0 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runsc -- /usr/bin/python3 fill.py 10 $places
[ "$(echo "$OUT" | awk '{ n += $2 } END { print n }')" -le 16 ] || fail "limits of room: $OUT"

# gVisor opens a file once for several opens of the command, and wardfs says so.
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nlog = opens\n' >"$WARD_TMP/p.policy"
expect 0 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runsc --session opens -- cat made
has "$ERR" 'no record of each open'
expect 0 "$WARDFS" audit show opens --json --kind session.start
has "$OUT" '"records of opens"'

# A process of gVisor does it for the command, and each record says so. The control is runc.
via() { # via ENGINE NAMED SESSION ACTION...
	engine=$1
	named=$2
	name=$3
	shift 3
	expect 0 "$WARDFS" run --engine "$engine" --session "$name" --net example.org -- sh -c \
		'cat made .env; echo more >new; mv new newer; rm newer; getent hosts example.com; true'
	"$WARDFS" audit show "$name" --json | python3 "$WARD_SRC/tests/support/via.py" "$named" "$@" ||
		fail "$engine: $("$WARDFS" audit show "$name" --json)"
}
via runc none by-runc open lookup create rename unlink resolve
via runsc runsc by-runsc open lookup create rename unlink resolve
expect 0 "$WARDFS" audit show by-runsc --kind rename
has "$OUT" '] via runsc'
expect 0 "$WARDFS" audit denials --expected by-runsc
has "$OUT" '] via runsc'
expect 0 "$WARDFS" audit report by-runsc
has "$OUT" 'records name'
has "$OUT" runsc
expect 0 "$WARDFS" audit export --format cef by-runsc
has "$OUT" 'sourceServiceName=runsc'
expect 0 "$WARDFS" audit verify by-runsc
expect 0 python3 "$WARD_SRC/tests/support/verify.py" "$XDG_STATE_HOME/wardfs" by-runsc

# A list of programs, and no-exec, are more than that kernel can hold.
printf '[policy]\nversion = 1\nextends = medium\n[process]\nexec = /usr/bin/dash\n' >"$WARD_TMP/p.policy"
expect 125 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runsc -- dash -c true
has "$ERR" '[process] exec'
expect 0 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runc -- dash -c true
printf '[policy]\nversion = 1\nextends = medium\n[process]\nseccomp = no-exec\n' >"$WARD_TMP/p.policy"
expect 125 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runsc -- dash -c true
has "$ERR" 'no-exec'

# Nor does that kernel ask before it starts a program: rules of noexec refuse the run as well. The
# control: without the rule it starts, and runc refuses the program alone.
cp /bin/true tool.bin
printf '[policy]\nversion = 1\nextends = medium\n' >"$WARD_TMP/plain.policy"
{
	cat "$WARD_TMP/plain.policy"
	printf '[files]\nnoexec = *.bin\n'
} >"$WARD_TMP/p.policy"
expect 0 "$WARDFS" run -p "$WARD_TMP/plain.policy" --engine runsc -- ./tool.bin
expect 126 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runc -- ./tool.bin
expect 125 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine runsc -- ./tool.bin
has "$ERR" 'a noexec rule refuses programs'
# No reload adds one to a running session. The control: runc takes it.
for engine in runc runsc; do
	"$WARDFS" run -p "$WARD_TMP/plain.policy" --engine $engine --session "adds-$engine" -- sleep 600 &
	pid=$!
	wait_until 60 "$WARDFS" exec "adds-$engine" -- true
	case $engine in
	runc) expect 0 "$WARDFS" policy reload "adds-$engine" "$WARD_TMP/p.policy" ;;
	runsc)
		expect 2 "$WARDFS" policy reload "adds-$engine" "$WARD_TMP/p.policy"
		has "$ERR" 'a noexec rule refuses programs'
		;;
	esac
	expect 0 "$WARDFS" kill "adds-$engine"
	wait "$pid" || [ $? -ge 125 ] || fail 'the end'
done

# An ordinary user's.
cat >"$WARD_TMP/user.sh" <<'END'
set -eu
mkdir -p project
cd project
"$WARDFS" run --engine runsc -- sh -c 'id -u; echo hi >made'
cat made
END
chmod 644 "$WARD_TMP/user.sh"
expect 0 as_user "$WARD_TMP/user.sh"
has "$OUT" 4711
has "$OUT" hi
