# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154
# docker-session.sh ENGINE...: what a session does besides running its command, in a container of
# each engine. Runs in a host of network/lib/network.sh, as root or as an ordinary user.
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
. "$WARD_SRC/tests/cases/run/lib/approve.sh"
net_project
cd ..
asking_project
echo secret >.env
echo old >changed
policy ../net.policy 'mode = allowlist' 'allow = web.example:80'
PYTHONPATH=$WARD_SRC/tests/cases/run/lib
export PYTHONPATH
S=
trap '"$WARDFS" kill "$S" >/dev/null 2>&1 || :' EXIT

denials() {
	S=held-$E
	expect 1 "$WARDFS" run --engine "$E" --session "$S" --keep --label team=blue -- cat .env
	expect 1 "$WARDFS" exec "$S" mkdir .vscode
	wait_until 60 refusals || fail "top: $("$WARDFS" top --json "$S")"
	expect 1 "$WARDFS" exec "$S" cat .env
	expect 0 "$WARDFS" exec "$S" cat /proc/self/status
	has "$OUT" 'Seccomp_filters:	3'
	# A session without a terminal has none to attach to, and says so.
	expect 2 "$WARDFS" attach "$S"
	has "$ERR" 'needs a terminal'
	expect 0 "$WARDFS" kill "$S"
	expect 0 "$WARDFS" audit denials "$S"
	has "$OUT" .vscode
	# Labels are the session's in the trail.
	"$WARDFS" audit show "$S" --json --kind session.start >../start
	grep -q "\"team\":\"blue\".*\"engine\":\"$E\"" ../start || fail "$(head -c 2000 ../start)"
}
refusals() { [ "$("$WARDFS" top --json "$S" | python3 -c '
import json, sys
(o,) = json.load(sys.stdin)
print(o["refused"], o["last_refused"][0]["path"])')" = '1 /workspace/.vscode' ]; }

# limited LINE CMD...
limited() {
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\n%s\n' "$1" >../limits.policy
	shift
	"$WARDFS" run -p ../limits.policy --engine "$E" --session limited -- "$@"
}
limits() {
	# Memory: what goes over the limit is killed. Control: what stays below it is not.
	eat='b = bytearray(int(__import__("sys").argv[1]) << 20)
for i in range(0, len(b), 4096): b[i] = 1'
	# The processes of docker count too.
	if limited 'memory = 1G' true; then
		expect 0 limited 'memory = 384M' python3 -c "$eat" 16
		expect 137 limited 'memory = 384M' python3 -c "$eat" 800
	else
		echo 'no control group for memory on this host: not tried'
	fi
	# Idle: ends who does nothing. Control: who writes goes on for longer than that.
	expect 124 limited 'idle = 2s' sleep 600
	expect 0 limited 'idle = 30s' sh -c 'for i in 1 2 3; do echo "$i"; sleep 1; done'
}

# The container is in the session's namespace, behind wardfs-net.
network() {
	expect 0 "$WARDFS" run -p ../net.policy --engine "$E" -- sh -c '. ./says.sh
unset http_proxy https_proxy all_proxy no_proxy
says "hello from web.example" fetch http://web.example/
says NONAME python3 n.py tcp other.example 80
says ECONNREFUSED python3 n.py tcp 203.0.113.10 443
says ECONNREFUSED python3 n.py tcp 192.0.2.1 80'
	# Control: on the host all of these answer.
	python3 n.py tcp other.example 80
}

# What is staged reaches the project by apply alone.
review() {
	expect 0 "$WARDFS" run --engine "$E" --review -s "staged-$E" -- sh -euc \
		"echo $E >>changed; echo new >added-$E; [ \"\$(tail -n 1 changed)\" = $E ]"
	has "$ERR" 'nothing is in the project yet'
	[ "$(tail -n 1 changed)" != "$E" ] && [ ! -e "added-$E" ] || fail 'the project changed'
	expect 0 "$WARDFS" review "staged-$E"
	has "$OUT" 'M changed'
	has "$OUT" "A added-$E"
	expect 0 "$WARDFS" review apply -s "staged-$E" changed
	[ "$(tail -n 1 changed)" = "$E" ] && [ ! -e "added-$E" ] || fail "one path applies that path"
	expect 0 "$WARDFS" review apply -s "staged-$E"
	[ "$(cat "added-$E")" = new ] || fail "apply: $ERR"
	expect 0 "$WARDFS" run --engine "$E" --review -s "dropped-$E" -- rm changed
	expect 0 "$WARDFS" review discard -s "dropped-$E"
	[ -e changed ] || fail 'a discarded change is in the project'
}

# The command goes on while its files are put back to a step, and sees them.
steps() {
	rm -f ../go
	mkfifo ../go
	"$WARDFS" run --engine "$E" --review -s "steps-$E" -- sh -euc 'echo one >stepped; echo ready
		read -r go; echo two >stepped; echo later >"stepped-later"; echo wrote
		read -r go; cat stepped; [ ! -e stepped-later ]; echo three >>stepped' \
		<../go >"../steps-$E.out" 2>&1 &
	RUN=$!
	exec 6>../go
	said() { grep -q "^$1$" "../steps-$E.out"; }
	wait_until 60 said ready || fail "$(cat "../steps-$E.out")"
	expect 0 "$WARDFS" review mark -s "steps-$E" first
	echo go >&6
	wait_until 60 said wrote || fail "$(cat "../steps-$E.out")"
	expect 0 "$WARDFS" review back -s "steps-$E" first
	echo go >&6
	exec 6>&-
	wait "$RUN" || fail "$(cat "../steps-$E.out")"
	said one || fail "the command does not see the step: $(cat "../steps-$E.out")"
	[ ! -e stepped ] || fail 'the project changed'
	expect 0 "$WARDFS" review apply -s "steps-$E"
	[ "$(cat stepped)" = 'one
three' ] && [ ! -e stepped-later ] || fail "apply: $(cat stepped)"
	rm stepped
}

# A question waits, in the command and in exec; a yes lets it write, a no does not.
questions() {
	for answer in once no; do
		"$WARDFS" run --engine "$E" --session "asks-$E-$answer" --policy ../ask.policy -- \
			sh -c 'echo more >>.github/workflows/ci' >"../asks-$E-$answer.out" 2>"../asks-$E-$answer.err" &
		RUN=$!
		before=$(cat .github/workflows/ci)
		question "asks-$E-$answer"
		[ "$(member "asks-$E-$answer" 'q["program"], q["path"]')" = \
			"('sh', '/workspace/.github/workflows/ci')" ] || fail "$(member "asks-$E-$answer" q)"
		expect 0 "$WARDFS" approve "$Q" "$answer"
		case $answer in
		once)
			end 0 "asks-$E-$answer"
			[ "$(cat .github/workflows/ci)" = "$before
more" ] || fail 'not written'
			;;
		no)
			end 2 "asks-$E-$answer"
			[ "$(cat .github/workflows/ci)" = "$before" ] || fail 'written'
			;;
		esac
	done
}

for E; do
	# What a session does otherwise, gVisor does in its own way: docker-runsc.sh.
	parts='denials limits network review steps questions'
	[ "$E" != runsc ] || parts='review steps'
	for part in $parts; do
		echo "--- $part: $E, uid $(id -u)"
		"$part"
	done
	[ "$E" != runsc ] || continue
	# Somebody else sees what the command in the container writes, and types to it.
	echo "--- attach: $E, uid $(id -u)"
	python3 "$WARD_SRC/tests/cases/run/lib/docker-more-attach.py" "$E" || exit 1
done
