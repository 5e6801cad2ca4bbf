#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run --dry-run predicts a run: commands that it accepts start, and the others fail with the
# status that it names. It starts nothing, leaves nothing and prints no secret.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
project "$HOME/proj"
cd "$HOME/proj" || exit 1
mkdir sub "$HOME/tools" "$HOME/bin"
printf '#!/bin/sh\nexit 0\n' >ok.sh
printf '#!/nowhere/interpreter\n' >lost.sh
printf '#!/usr/bin/env no-such-program\n' >env.sh
printf 'text\n' >text
cp ok.sh hidden.sh
cp ok.sh denied.sh
cp ok.sh noexec.sh
cp ok.sh "$HOME/tools/tool"
cp ok.sh "$HOME/bin/away"
chmod +x ./*.sh "$HOME/tools/tool" "$HOME/bin/away"
mkdir "$HOME/state"
cat >rules.policy <<-END
	[policy]
	version = 1
	extends = medium
	[files]
	hide = hidden.sh
	deny = denied.sh
	noexec = noexec.sh
	[system]
	read = $HOME/tools
END
put() { printf '[policy]\nversion = 1\nextends = medium\n%s\n' "$2" >"$1"; }
put lists.policy '[process]
exec = /usr/bin/true
exec = /usr/bin/dash'
put kept.policy '[container]
rm = no'
put lost.policy '[tree /more]
source = nowhere'
put over.policy '[tree /etc/more]
source = sub
at = none'
put wrong.policy '[limits]
memry = 4G'
put net.policy '[network]
mode = allowlist
allow = example.org:443'
put socket.policy "[network]
mode = allowlist
socket = $PWD/text"
put limits.policy '[limits]
memory = 512M
wall = 10m'

# agree EXPECTED OPTION... -- CMD: --dry-run and the run itself say the same. EXPECTED: the run's
# status.
agree() {
	status=$1
	shift
	dry=0
	"$WARDFS" run --dry-run --json "$@" >dry.json 2>dry.err || dry=$?
	got=0
	"$WARDFS" run "$@" >run.out 2>run.err || got=$?
	[ "$got" -eq "$status" ] || fail "the run itself: $got instead of $status: $*
$(cat run.err)"
	want=125
	[ "$status" -ne 0 ] || want=0
	[ "$dry" -eq "$want" ] || fail "--dry-run: $dry instead of $want: $*
$(cat dry.err; tail -n 4 dry.json)"
	python3 "$WARD_SRC/tests/cases/run/lib/dry-run-agrees.py" "$status" || fail "--dry-run --json: $* ($(cat run.err))"
}

agree 0 -- true
agree 0 -- ./ok.sh
agree 0 -- /workspace/ok.sh
agree 0 -- "$PWD/ok.sh"
agree 127 -- no-such-program
agree 127 -- ./absent
agree 127 -- "$HOME/tools/tool"
agree 127 -- ./lost.sh
agree 127 -- ./env.sh
agree 126 -- ./text
agree 0 --policy rules.policy -- "$HOME/tools/tool"
agree 127 --policy rules.policy -- "$HOME/bin/away"
agree 127 --policy rules.policy -- ./hidden.sh
agree 126 --policy rules.policy -- ./denied.sh
agree 126 --policy rules.policy -- ./noexec.sh
agree 0 --policy low -- true
agree 127 --policy low -- ./ok.sh
agree 0 --policy high -- true
agree 125 --policy kept.policy -- true
agree 2 --policy lost.policy -- true
agree 2 --policy wrong.policy -- true
agree 2 --policy no-such-profile -- true
agree 2 --net 'a;b' -- true
agree 2 --hide /nowhere -- true
rc=0
"$WARDFS" run --policy over.policy -- true 2>/dev/null || rc=$?
agree $rc --policy over.policy -- true
agree 2 --policy socket.policy -- true
agree 125 --engine kata -- true
if "$WARDFS" run --policy net.policy -- true 2>/dev/null; then
	agree 0 --policy net.policy -- true
	agree 0 --net example.org -- true
fi
rc=0
"$WARDFS" run --policy limits.policy -- true 2>/dev/null || rc=$?
agree $rc --policy limits.policy -- true
agree 0 --policy limits.policy --allow-missing limit-memory -- true
if "$WARDFS" run --policy lists.policy -- true 2>/dev/null; then
	agree 0 --policy lists.policy -- true
	agree 126 --policy lists.policy -- ls
fi
(
	cd sub || exit 1
	cp ../rules.policy .
	PATH="$HOME/tools:$PATH"
	agree 0 --policy rules.policy -- tool
	PATH="..:$PATH"
	agree 0 -- ok.sh
	agree 127 -- hidden-not-there.sh
) || exit 1

# Nothing came into being: the same sessions as before, no key of its own making, no group, no
# process.
sessions() { "$WARDFS" audit list --json; }
before=$(sessions)
expect 0 "$WARDFS" run --dry-run -- true
[ "$(sessions)" = "$before" ] || fail "a session came into being"
expect 0 env XDG_STATE_HOME="$HOME/state" "$WARDFS" run --dry-run -- true
[ -z "$(find "$HOME/state" -mindepth 1)" ] || fail "left behind: $(find "$HOME/state")"
for top in /sys/fs/cgroup /sys/fs/cgroup/*; do
	for one in "$top"/wardfs/dry-run-*; do
		# Those of other tests go, too, each with its own rehearsal.
		wait_until 60 test ! -e "$one" || fail "a control group is left: $one"
	done
done
expect 0 "$WARDFS" run --dry-run -- touch made
[ ! -e made ] || fail "the command ran"
# control: it does where it is no rehearsal
expect 0 "$WARDFS" run -- touch made
[ -e made ] || fail "control: the command did not run"

# The output: sources with their lines, variables without the caller's values.
put key.policy '[env]
pass = SOME_API_KEY
set = COLOR=blue'
export SOME_API_KEY=s3cr3t-of-the-caller
expect 0 "$WARDFS" run --dry-run --policy key.policy -- ./ok.sh
[ "$(echo "$OUT" | wc -l)" -le 45 ] || fail "not short: $OUT"
has "$OUT" "lines (-v prints them)"
has "$OUT" " SOME_API_KEY"
# Options stand in no file: their lines are printed, beside those that the session adds.
expect 0 "$WARDFS" run --dry-run --net example.org -- ./ok.sh
has "$OUT" "run: command line and the session's own"
has "$OUT" "[network] allow = example.org"
expect 0 "$WARDFS" run --dry-run -v --policy key.policy --env OTHER=s3cr3t-too --hide '*.pem' -- ./ok.sh
hasnt "$OUT$ERR" s3cr3t
has "$OUT" "SOME_API_KEY (passed on)"
has "$OUT" "OTHER (--env)"
has "$OUT" "COLOR=blue ([env] set)"
has "$OUT" "profile: medium"
has "$OUT" "line 5 [env] pass = SOME_API_KEY"
has "$OUT" "command line"
has "$OUT" "[guard] hide = *.pem"
has "$OUT" "/workspace: $PWD, also at $PWD"
has "$OUT" "a script for /bin/sh"
has "$OUT" "It would start."
expect 0 "$WARDFS" run --dry-run --json --policy key.policy --env OTHER=s3cr3t-too -- ./ok.sh
hasnt "$OUT$ERR" s3cr3t
# control: inside the value is there
expect 0 "$WARDFS" run --policy key.policy -- sh -c 'echo "$SOME_API_KEY"'
has "$OUT" s3cr3t-of-the-caller

expect 125 "$WARDFS" run --dry-run -- no-such-program
has "$OUT" "It would not start: exit status 127."
has "$ERR" "no-such-program: not found in PATH"
expect 2 "$WARDFS" run --json -- true
has "$ERR" "--json goes with --dry-run"

# Names stand as they are, and what the trail keeps of secrets is no rule.
mkdir ../with-hyphen
(
	cd ../with-hyphen || exit 1
	git init -q
	: >.env
	expect 0 "$WARDFS" policy add deny /workspace/nothing
	expect 0 "$WARDFS" run --dry-run -- true
	has "$OUT" 'with\x2dhyphen.policy'
	hasnt "$OUT" 'with\\x2dhyphen.policy'
	hasnt "$OUT" 'found'
	hasnt "$OUT" '[]'
	expect 0 "$WARDFS" quota
	has "$ERR" "no session is running"
	expect 125 "$WARDFS" audit verify 'no-such-*.tar'
	has "$ERR" "no-such-*.tar: no session has such a name, and no file is there"
)
rm -r ../with-hyphen

# An ordinary user.
[ "$(id -u)" -eq 0 ] || exit 0
as_user -c '
	set -e
	mkdir -p proj && cd proj
	"$WARDFS" run --dry-run -- true >out 2>err || { cat out err; exit 1; }
	grep -q "^It would start" out
	"$WARDFS" run -- true
	[ "$(find ~/.local/state/wardfs -name "dry-run*" | wc -l)" -eq 0 ]' || fail "an ordinary user"
# Where /dev/fuse is none it says so, and so does the run.
unshare --mount --propagation private sh -c '
	mount --bind /dev/null /dev/fuse
	"$WARDFS" run -- true 2>run.err; [ $? -eq 125 ] || exit 2
	"$WARDFS" run --dry-run -- true >dry.out 2>dry.err; [ $? -eq 125 ] || exit 3
	grep -q "would not start: exit status 125" dry.out || exit 4
	cmp run.err dry.err' || fail "no /dev/fuse: $? $(cat run.err dry.err)"
exit 0
