#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Modes none and process, as root and as an ordinary user: what each gives, and what it says that
# it does not give.
# plain
# timeout: 900
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root to become an ordinary user"
cat >modes.body <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" = 0 ] || WARD_TMP=$HOME
project p
cd p || exit 1
chmod 755 .
echo token=1 >.env
echo text >file
echo beside >"$BESIDE"
chmod 644 "$BESIDE"
last() {
	"$WARDFS" audit show -v | awk -v k="$1" '$3 == k' | tail -n 1
}
for m in none process; do
	# Said loudly, and in the trail; an attestation lists it as not held.
	expect 0 "$WARDFS" run --mode $m -- true
	has "$ERR" "mode $m"
	has "$ERR" "attests no integrity"
	has "$(last session.start)" "\"mode\":\"$m\""
	has "$(last session.start)" '"trail_integrity":false'
	expect 0 "$WARDFS" audit attest
	[ "$(echo "$OUT" | python3 -c 'import base64, json, sys
p = json.loads(base64.b64decode(json.load(sys.stdin)["payload"]))["predicate"]
print("trail_integrity" in p["not_held"])')" = True ] || fail "$m: attested as held"

	# The guard is there, at /workspace and at the project's own path.
	expect 0 "$WARDFS" run --mode $m -- sh -c 'pwd; cat /workspace/file file; echo new >/workspace/made-'$m
	has "$OUT" "$PWD"
	[ "$(cat "made-$m")" = new ] || fail "$m: not written"
	expect 1 "$WARDFS" run --mode $m -- cat /workspace/.env
	has "$ERR" "No such file"
	has "$ERR" ".env"
	has "$("$WARDFS" audit denials --expected)" .env
	expect 1 "$WARDFS" run --mode $m -- cat .env

	# The host's files: seen here, not in mode restricted.
	expect 0 "$WARDFS" run --mode $m -- cat "$BESIDE"
	[ "$OUT" = beside ] || fail "$m: $OUT"
	expect 1 "$WARDFS" run -- cat "$BESIDE"
	expect 0 "$WARDFS" run --mode $m -- sh -c 'test -d /workspace && test -w /dev/null && ls /proc/self/fd >/dev/null'
	# Nothing of ours is left on the host.
	[ ! -e /workspace ] || fail "/workspace exists on the host"

	# No privileges, no network, nothing of the environment, the descriptors 0 to 2 alone.
	expect 0 "$WARDFS" run --mode $m -- sh -c 'grep -E "^(CapEff|NoNewPrivs)" /proc/self/status; id -u'
	has "$OUT" "CapEff:	0000000000000000"
	has "$OUT" "NoNewPrivs:	1"
	[ "$(echo "$OUT" | tail -n 1)" != 0 ] || fail "$m: root"
	expect 0 "$WARDFS" run --mode $m -- sh -c 'tail -n +3 /proc/net/dev'
	hasnt "$OUT" eth
	has "$OUT" "lo:"
	SECRET_TOKEN=hidden expect 0 "$WARDFS" run --mode $m -- sh -c 'env; tr "\0" "\n" </proc/self/environ'
	hasnt "$OUT" hidden
	has "$OUT" WARDFS_SESSION
	expect 0 "$WARDFS" run --mode $m -- sh -c 'ls /proc/self/fd | sort | tr "\n" " "' 9<file
	[ "$OUT" = "0 1 2 3 " ] || fail "$m: descriptors: $OUT"

	# Limits and the wall clock; what was started in the background ends with the session.
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\nopen-files = 77\nprocesses = 20\n' >l.policy
	mark=9$$7
	# As long as it takes to get to its first line.
	for wall in 5s 30s 2m; do
		{ cat l.policy && echo "wall = $wall"; } >w.policy
		expect 124 "$WARDFS" run --policy w.policy --mode $m -- sh -c "ulimit -n; setsid sh -c 'sleep $mark & sleep $mark' & sleep $mark"
		[ -z "$OUT" ] || break
	done
	[ "$OUT" = 77 ] || fail "$m: open files: $OUT"
	wait_until 60 ended "$mark" || fail "$m: left after the wall clock"
	expect 0 "$WARDFS" run --mode $m -- sh -c "setsid sh -c 'setsid sleep $mark & exit 0'"
	wait_until 60 ended "$mark" || fail "$m: a daemon is left behind"
	expect 0 "$WARDFS" run --policy l.policy --mode $m -- python3 -c "$(cat "$WARD_SRC/tests/cases/sandbox/lib/modes-forks.py")" <"$HOLD"
	has "$OUT" "19 Resource temporarily unavailable"

	# A terminal of its own, also where the host's pts/ptmx is closed to all, as it mostly is.
	expect 0 script -qec "$WARDFS run --mode $m -- sh -c 'test -t 0 && tty'" /dev/null
	has "$OUT" /dev/pts/

	# A supervisor that is killed takes all with it.
	rm -f up
	"$WARDFS" run --mode $m --session "victim-$m" -- sh -c "setsid sleep $mark & touch up; sleep $mark" 2>err &
	sup=$!
	wait_until 60 test -e up || fail "$m: not started: $(cat err)"
	wait_until 60 running "$mark" || fail "$m: control: nothing runs"
	"$WARDFS" ps --json >ps.json
	has "$(cat ps.json)" "\"mode\": \"$m\""
	kill -9 $sup
	wait_until 60 ended "$mark" || fail "$m: processes are left"

	# A key that the mode does not have is refused by name.
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\ntmp = 4M\n' >tmp.policy
	expect 0 "$WARDFS" run --policy tmp.policy -- true
	expect 125 "$WARDFS" run --policy tmp.policy --mode $m -- touch started
	has "$ERR" "limit-tmp"
	[ ! -e started ] || fail "$m: started without its limit"
	expect 0 "$WARDFS" run --policy tmp.policy --mode $m --allow-missing limit-tmp -- true
	expect 0 "$WARDFS" audit verify
done
# The host's processes: within reach of none, not of process.
sleep 1000 &
host=$!
expect 0 "$WARDFS" run --mode none -- test -d /proc/$host
expect 1 "$WARDFS" run --mode process -- sh -c "tr '\0' ' ' </proc/$host/cmdline | grep -q 'sleep 1000'"
kill $host
# The control socket answers its owner, and nothing that the session started, however it hides who
# that was.
for m in none process; do
	"$WARDFS" run --mode $m --session control-$m -- sh -c '
		for how in env setsid "sh -c \"setsid \\\"\$@\\\" \& wait\" sh"; do
			eval "$how env XDG_RUNTIME_DIR=$3 \"$1\" exec $2 -- touch got-in" && echo entered
		done >said 2>&1
		: >asked
		i=0; while [ ! -e go ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done' \
		sh "$WARDFS" control-$m "${XDG_RUNTIME_DIR-}" 2>/dev/null &
	asked() { [ -e asked ]; }
	wait_until 60 asked || fail "$m: nothing was asked"
	expect 0 "$WARDFS" exec control-$m -- touch from-outside
	: >go
	wait $! || fail "$m: $(cat said)"
	grep -q "refused to answer\|no session\|cannot" said || fail "$m: $(cat said)"
	! grep -q entered said && [ ! -e got-in ] && [ -e from-outside ] || fail "$m: entered: $(cat said)"
	rm said asked go from-outside
done
# The older names.
expect 0 "$WARDFS" run --mode in-process -- true
has "$ERR" "mode none"
expect 0 "$WARDFS" run --mode child-process -- true
has "$ERR" "mode process"
# In a policy, and what a mode needs that is not there yet.
printf '[policy]\nversion = 1\nextends = medium\nmode = process\n' >mode.policy
expect 0 "$WARDFS" run --policy mode.policy -- cat "$BESIDE"
expect 1 "$WARDFS" run --policy mode.policy --mode restricted -- cat "$BESIDE"
expect 125 "$WARDFS" run --engine kata -- true
has "$ERR" "the engine kata is not supported"
expect 125 "$WARDFS" run --dry-run --engine kata -- true
has "$ERR" "the engine kata is not supported"
exit 0
S
cp "$WARD_TMP/modes.body" "$WARD_TMP/modes.sh"
mkfifo hold && chmod 666 hold
sleep 1000 >hold &
holder=$!
trap 'kill $holder || :' EXIT
export BESIDE="$WARD_TMP/beside.root" HOLD="$WARD_TMP/hold"
chmod 755 "$WARD_TMP"
sh "$WARD_TMP/modes.sh" || fail "as root"
export BESIDE="$WARD_TMP/home/beside"
as_user "$WARD_TMP/modes.sh" || fail "as an ordinary user"
project deno
cd deno || exit 1
# Mode deno computes Deno's flags: a flag that ends as a script does is none.
refused "leave --allow-read=/x.ts away" "$WARDFS" run --mode deno -- --allow-read=/x.ts a.ts
refused "leave -A.ts away" "$WARDFS" run --mode deno -- -A.ts a.ts
# A Deno where no session can see it: which file, and what to do.
d=$(mktemp -d /tmp/wardfs-deno.XXXXXX)
cp /bin/true "$d/deno"
PATH="$d:$PATH" refused "$d/deno lies beneath /tmp, which is empty when a session starts; fix: " \
	"$WARDFS" run --mode deno a.ts
rm -r "$d"
exit 0
