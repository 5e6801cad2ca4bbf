#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode auto: what it picks and prints, what the trail has, and that nobody talks it into less.
# docs/risk.md shows the same output.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root: programs of packages are root's"
git_identity

# risk ARG...: wardfs risk --json into risk.json; points ROW: what that row costs there.
risk() {
	expect 0 "$WARDFS" risk --json "$@"
	printf '%s\n' "$OUT" >"$WARD_TMP/risk.json"
}
points() {
	python3 -c '
import json, sys
print([r["points"] for r in json.load(open(sys.argv[1]))["rows"] if r["row"] == sys.argv[2]][0])' \
		"$WARD_TMP/risk.json" "$1"
}
# costs ROW, free ROW: of the last risk.
costs() {
	[ "$(points "$1")" -gt 0 ] || fail "$1 costs nothing: $(cat "$WARD_TMP/risk.json")"
}
free() {
	[ "$(points "$1")" -eq 0 ] || fail "$1 costs $(points "$1"): $(cat "$WARD_TMP/risk.json")"
}
# started MEMBER...: from the risk of the last session's first record.
started() {
	"$WARDFS" audit show --json | head -n 1 | python3 -c '
import json, sys
o = json.loads(sys.stdin.readline())["detail"]
for name in sys.argv[1:]:
    o = o[name]
print(o if isinstance(o, str) else json.dumps(o))' "$@"
}
# A program that changed today costs points (ctime): a link to it is enough.
shell='sh'
[ -n "$(find -L "$(command -v sh)" -ctime +1)" ] || shell='bash'
# fresh: in a project of its own, without a past.
n=0
fresh() {
	n=$((n + 1))
	project "$WARD_TMP/p$n"
	cd "$WARD_TMP/p$n" || exit 1
}
fresh
cat >../quiet.policy <<'END'
[policy]
version = 1
mode = auto
trust = high
[files]
read = /workspace
[guard]
secret = .*
secret = id_*
secret = *.key
[limits]
wall = 1h
memory = 256M
cpus = 1
require = where-available
[agent]
tools = files
budget = 5
END

echo "--- the default stays; --mode auto, and mode = auto, weigh"
expect 0 "$WARDFS" run -- true
hasnt "$ERR" 'auto:'
expect 0 "$WARDFS" run --mode auto -- true
has "$ERR" 'wardfs: auto: '
has "$ERR" ' points → restricted: '
[ "$(printf '%s\n' "$ERR" | wc -l)" -eq 1 ] || fail "more is said: $ERR"
[ "$(started mode)" = restricted ] || fail "$(started mode)"
[ "$(started risk mode)" = restricted ] || fail "$(started risk)"
has "$(started risk rows)" trust-medium
hasnt "$(started risk rows)" host-network
expect 0 "$WARDFS" policy check ../quiet.policy
expect 0 "$WARDFS" run --policy ../quiet.policy -- true
has "$ERR" 'points → restricted'
[ "$(started risk least)" = restricted ] || fail "$(started risk)"

echo "--- both verifiers take the trail"
expect 0 "$WARDFS" audit verify
rc=0
python3 "$WARD_SRC/tests/support/verify.py" "${XDG_STATE_HOME:-$HOME/.local/state}/wardfs" >theirs || rc=$?
[ "$rc" -eq 0 ] || fail "verify.py: $(cat theirs)"
rm theirs

echo "--- process where the policy allows it and the points are few; never below what is asked"
sed 's/^\[agent\]/[auto]\nleast = process\n&/' ../quiet.policy >../process.policy
expect 0 "$WARDFS" run --policy ../process.policy -- true
has "$ERR" '→ process'
has "$ERR" 'mode process: the command sees'
[ "$(started mode)" = process ] || fail "$(started mode)"
expect 0 "$WARDFS" run --policy ../process.policy --write . -- true
has "$ERR" '→ restricted'
sed 's/^least.*/&\nfrom = restricted 0/' ../process.policy >../from.policy
expect 0 "$WARDFS" run --policy ../from.policy -- true
has "$ERR" '→ restricted'

echo "--- none: only where policy and owner both say so"
sed 's/least = process/least = none/' ../process.policy >../none.policy
fresh
# It is what it is called: no filter, and the processes of this host. A shell that has run here
# before costs few points.
expect 0 "$WARDFS" run -- $shell -c :
expect 0 "$WARDFS" run --policy ../none.policy --trust high -- $shell -c "grep Seccomp: /proc/self/status; ls -d /proc/$$"
has "$ERR" '→ none'
has "$ERR" 'mode none: NO ISOLATION'
has "$OUT" 'Seccomp:	0'
has "$OUT" "/proc/$$"
[ "$(started mode)" = none ] || fail "$(started mode)"
[ "$(started risk mode)" = none ] || fail "$(started risk)"
[ "$(started risk least)" = none ] || fail "$(started risk)"
fresh
expect 0 "$WARDFS" run --policy ../none.policy -- true
has "$ERR" '→ process'
[ "$(started mode)" = process ] || fail "$(started mode)"
sed 's/trust = high/trust = medium/' ../none.policy >../less.policy
fresh
expect 0 "$WARDFS" run --policy ../less.policy --trust high -- true
hasnt "$ERR" '→ none'
expect 0 "$WARDFS" run --policy ../none.policy --trust low -- true
has "$ERR" 'is trusted little (+15)'
expect 2 "$WARDFS" run --policy ../none.policy --trust much -- true

echo "--- the floor raises, and lowers nothing"
mkdir -p ../etc
with_floor() { # with_floor LINES COMMAND...
	printf '[policy]\nversion = 1\n%b\n' "$1" >../etc/floor.policy
	shift
	unshare --mount --propagation private sh -c 'mount -t tmpfs tmpfs /mnt && mkdir /mnt/wardfs &&
		mount --bind ../etc /mnt/wardfs && mount -t overlay -o lowerdir=/mnt:/etc overlay /etc &&
		mount --bind ../etc /etc/wardfs && exec "$@"' sh "$@"
}
# picks FLOOR POLICY MODE: with --trust high, which a floor without a word on it leaves as it is.
picks() {
	fresh
	mkdir -p ../etc
	expect 0 with_floor "$1" "$WARDFS" run --policy "../$2.policy" --trust high -- $shell -c :
	has "$ERR" "→ $3"
	[ "$(started mode)" = "$3" ] || fail "$1: $2: $(started mode)"
}
picks '[limits]\nwall = 2h' none none # the control
picks '[auto]\nleast = process' none process
picks '[auto]\nleast = restricted' none restricted
picks '[policy]\nmode = restricted' none restricted
picks '[policy]\ntrust = medium' none process
picks '[limits]\nwall = 2h' process process # the control
picks '[auto]\nfrom = restricted 1' process restricted
[ "$(started risk asked)" = restricted ] || fail "$(started risk)"
picks '[auto]\npoints = any-program 30' process restricted
picks '[auto]\npoints = any-program 30' none restricted
has "$(started risk rows)" '"points": 30'
# No floor makes the answer weaker: such a line is refused, and nothing starts.
for weaker in 'points = any-program 1' 'from = restricted 90' 'from = process 99'; do
	expect 2 with_floor "[auto]\\n$weaker" "$WARDFS" run --policy ../process.policy -- touch made
	has "$ERR" "a policy can "
	has "$ERR" "floor.policy:4"
	[ ! -e made ] || fail "$weaker: it was started"
done
picks '[auto]\nleast = none' process process
# A floor that asks for more than this host has is refused by name.
printf '[container]\nengine = kata\n' | cat ../process.policy - >../kata.policy
expect 125 with_floor '[auto]\npoints = any-program 500' "$WARDFS" run --policy ../kata.policy -- touch made
has "$ERR" "ask for at least mode 'docker'"
[ ! -e made ] || fail "it was started"

echo "--- --mode beside mode = auto: done, and told"
expect 0 "$WARDFS" run --policy ../quiet.policy --mode process -- true
has "$ERR" '; --mode process overrides it'
[ "$(started mode)" = process ] || fail "$(started mode)"
[ "$(started risk overrode)" = process ] || fail "$(started risk)"
[ "$(started risk mode)" = restricted ] || fail "$(started risk)"

echo "--- too many points for what there is here: refused by name, nothing started"
sed 's/^\[agent\]/[auto]\npoints = trust-medium 500\n&/; s/trust = high/trust = medium/' ../quiet.policy >../much.policy
printf '[container]\nengine = kata\n' >>../much.policy
expect 125 "$WARDFS" run --policy ../much.policy -- touch made
has "$ERR" "ask for at least mode 'docker'"
has "$ERR" 'docker: '
has "$ERR" 'wasm: '
[ ! -e made ] || fail "it was started"
# A stricter mode that works here and takes the command; it does not take every command. Of
# container engines none is here.
echo 1 >x.js
sed '/^\[container\]/d; /^engine = kata/d' ../much.policy >../host.policy
# A stand-in, where a session cannot put one and finds it: /var/tmp, where the test lies, is empty
# inside.
cat >../deno.sh <<'END'
set -eu
. "$WARD_SRC/tests/lib.sh"
mount -t tmpfs tmpfs /srv
cp /bin/true /srv/deno
PATH=/srv:$PATH
for engine in runc crun runsc podman docker; do
	at=$(command -v $engine) && mount --bind /dev/null "$(readlink -f "$at")"
done
expect 0 "$WARDFS" risk --policy ../host.policy -- ./x.js
has "$OUT" '→ deno'
has "$OUT" 'docker: '
has "$OUT" '    14  from-project'
# Each value of a flag once: the home is named by the session and by the policy.
"$WARDFS" run --dry-run --json --mode deno -- ./x.js >../deno.json || fail "mode deno"
/usr/bin/python3 "$WARD_SRC/tests/support/signed.py" once ../deno.json || fail "the flags of Deno"
expect 125 "$WARDFS" run --policy ../host.policy -- true
END
unshare -m --propagation private sh ../deno.sh || fail "a stricter mode"
expect 125 "$WARDFS" run --dry-run --policy ../much.policy -- true
expect 1 "$WARDFS" risk --policy ../much.policy -- true
has "$OUT" 'refused'
expect 0 "$WARDFS" run --policy ../much.policy --mode restricted -- true
# A mode that refuses the policy is passed over without a command, too, and the rows are shown. The
# control has no network of the host.
printf '[network]\nmode = host\n' >>../host.policy
got=0
"$WARDFS" risk --policy ../host.policy >out 2>err || got=$?
[ $got -le 1 ] || fail "risk of what no mode takes: exit $got: $(cat err)"
grep -q '    40  host-network' out || fail "no rows: $(cat out err)"
grep -q '^passed over  docker: ' out || fail "docker is not passed over: $(cat out)"
"$WARDFS" risk --policy ../much.policy >out || [ $? -eq 1 ] || fail "the control"
! grep -q '    40  host-network' out || fail "the control: $(cat out)"
rm out err

echo "--- an engine: the one that the policy names, else one with a kernel of its own"
command -v runc >/dev/null && command -v runsc >/dev/null || skip 'no runc or runsc'
engine_of() { # engine_of LINES: of the run, which auto picked; what it says is in ERR
	printf '[policy]\nversion = 1\nextends = medium\nmode = auto\n%b\n' "$1" >../engine.policy
	expect 0 "$WARDFS" run --policy ../engine.policy -- true
	[ "$(started mode)" = "${2-docker}" ] || fail "$1: $(started mode)"
	[ "$(started risk mode)" = "${2-docker}" ] || fail "$1: $(started risk)"
	[ "${2-docker}" != docker ] || engine=$(started sandbox container engine)
}
engine_of '' restricted # the control
for engine in runc runsc; do
	named=$engine
	engine_of "[container]\nengine = $named"
	[ "$engine" = "$named" ] || fail "not $named: $engine"
	has "$(started risk passed)" 'restricted: the policy asks for an engine'
	has "$ERR" '→ docker'
done
engine_of '[auto]\nleast = docker'
[ "$engine" = runsc ] || fail "not runsc: $engine"
[ "$(started sandbox container own_kernel)" = true ] || fail "$(started sandbox container)"
# gVisor cannot carry out such a rule. The next one can, and the run says what it does not have.
engine_of '[auto]\nleast = docker\n[files]\nnoexec = *.bin'
[ "$engine" = runc ] || fail "not runc: $engine"
has "$ERR" "it shares the host's kernel"
[ "$(started sandbox container own_kernel)" = false ] || fail "$(started sandbox container)"
# Nothing less than what the policy names: refused, also where restricted would have been enough.
printf '[policy]\nversion = 1\nmode = auto\n[container]\nengine = kata\n' >../engine.policy
expect 125 "$WARDFS" run --policy ../engine.policy -- touch made
has "$ERR" 'kata is not supported'
[ ! -e made ] || fail 'it was started'

echo "--- what an agent leaves in the place of a script costs what a new script costs"
mkdir -p out dir
echo 'print(1)' >out/real.py
cp out/real.py run.py
echo >error
ln -s /workspace/out/real.py link.py
mkfifo fifo.py
points_of() { "$WARDFS" risk --policy ../quiet.policy --json -- "$@" | sed -n 's/^ *"points": \([0-9]*\),$/\1/p' | head -n 1; }
new=$(points_of python3 run.py)
old=$(points_of python3 -c 'print(1)')
[ "$new" -gt "$old" ] || fail "control: a new script of the project costs nothing: $new, $old"
for words in link.py fifo.py dir missing.py '-m out.real' '-W error run.py'; do
	# shellcheck disable=SC2086 # words
	[ "$(points_of python3 $words)" -ge "$new" ] || fail "python3 $words: $(points_of python3 $words) of $new points"
done
cp run.py tool && chmod 755 tool && ln -s /workspace/tool linked
[ "$(points_of ./linked)" -ge "$(points_of ./tool)" ] || fail "./linked: $(points_of ./linked) points"
[ "$(points_of sh -e ./tool)" -ge "$(points_of sh ./tool)" ] || fail "sh -e: $(points_of sh -e ./tool)"
rm fifo.py

echo "--- without a command the modes that have a runtime are weighed, too"
for m in wasm deno; do
	printf '[policy]\nversion = 1\nextends = medium\nmode = %s\n' $m >../$m.policy
	"$WARDFS" risk --policy ../$m.policy >../out 2>&1 && rc=0 || rc=$?
	[ $rc -lt 126 ] || fail "risk without a command: $m: $rc $(cat ../out)"
done

echo "--- --dry-run, risk"
expect 0 "$WARDFS" run --dry-run --policy ../quiet.policy -- true
has "$OUT" 'points → restricted'
expect 0 "$WARDFS" run --dry-run --json --policy ../quiet.policy -- true
has "$OUT" '"risk"'
expect 0 "$WARDFS" risk
has "$OUT" 'writes-project'
has "$OUT" '[files] write = /workspace'
# Rows that cost nothing are counted, and shown when asked.
has "$OUT" 'more rows, which cost nothing here (-v prints them)'
hasnt "$OUT" 'tool-payments'
expect 0 "$WARDFS" risk -v
has "$OUT" '0  tool-payments'
hasnt "$OUT" 'more rows'
expect 2 "$WARDFS" risk --policy nowhere.policy -- true
risk -- true
cp "$WARD_TMP/risk.json" ../before.json
risk -- true
cmp ../before.json "$WARD_TMP/risk.json" || fail "the same input, another answer"
expect 0 "$WARDFS" run --keep --session kept --mode auto -- true
expect 0 "$WARDFS" exec kept -- true
"$WARDFS" kill kept

fresh
echo "--- a program that was never here; then it was"
cp /bin/true ../tool
echo "$$" >>../tool
risk -- ../tool
costs never-seen
expect 0 "$WARDFS" run --mode auto --read ../tool -- ../tool
risk -- ../tool
free never-seen
echo again >>../tool
risk -- ../tool
costs never-seen

echo "--- what a session writes does not make it look better; what root puts in place does"
cat >inside.sh <<'END'
cp /bin/true ./git
mkdir -p usr/bin var/lib/dpkg/info .local/state/wardfs/sessions/forged "$HOME/.cargo/bin" "$HOME/.local/state/wardfs/sessions"
cp /bin/true usr/bin/git
cp /bin/true "$HOME/.cargo/bin/git"
echo "$PWD/usr/bin/git" >var/lib/dpkg/info/git.list
echo "$PWD/git" >>var/lib/dpkg/info/git.list
printf '{"v":1,"seq":1,"session":"forged","kind":"session.start","detail":{"owner_uid":0,"project":"%s"}}\n' "$PWD" >.local/state/wardfs/sessions/forged/trail.jsonl
cp -r .local/state/wardfs "$HOME/.local/state/"
touch -d 2001-01-01 git usr/bin/git
ln -s /bin/true linked
END
expect 0 "$WARDFS" run --mode auto -- sh ./inside.sh
for at in ./git usr/bin/git ./linked "$PWD/usr/bin/git"; do
	risk -- "$at"
	costs from-project
	hasnt "$(cat "$WARD_TMP/risk.json")" '"package": "git"'
done
risk -- ./git
costs age-day
risk -- git
free from-project
has "$(cat "$WARD_TMP/risk.json")" '"package": "git"'
risk -- sh inside.sh
costs from-project

echo "--- names that are long and foul do not spoil the first record"
foul=$(printf 'x\\%.0s\001' $(seq 60))
mkdir -p "$foul/$foul/$foul"
cp /bin/true "$foul/$foul/$foul/tool"
expect 0 "$WARDFS" run --mode auto -- "./$foul/$foul/$foul/tool"
[ "$(started mode)" = restricted ] || fail "$(started mode)"
has "$(started risk rows)" from-project
expect 0 "$WARDFS" audit verify

echo "--- what former sessions did counts, whatever the next one is called"
fresh
risk -- true
free past-refused
echo t >.env
expect 1 "$WARDFS" run --mode auto -- cat .env
risk -- true
costs past-refused
free past-loose
cp /bin/cat ../other
risk -- ../other
costs past-refused
# Another project's are not this one's.
here=$PWD
fresh
risk -- true
free past-refused
cd "$here" || exit 1
expect 0 "$WARDFS" run --mode process -- true
risk -- true
costs past-loose
# Many sessions of another project do not hide them.
fresh
i=0
while [ $i -lt 30 ]; do
	"$WARDFS" run -- true || fail "session $i"
	i=$((i + 1))
done
risk -- true
free past-refused
free past-loose
cd "$here" || exit 1
risk -- true
costs past-refused
costs past-loose

echo "--- refusals in the middle of a long trail count as well"
fresh
echo t >.env
expect 0 "$WARDFS" run --session long -- sh -c '
	i=0; while [ $i -lt 700 ]; do echo $i >"file-$i"; rm "file-$i"; i=$((i + 1)); done
	for i in 1 2 3; do cat .env; done 2>/dev/null
	i=0; while [ $i -lt 700 ]; do echo $i >"file-$i"; rm "file-$i"; i=$((i + 1)); done'
log=${XDG_STATE_HOME:-$HOME/.local/state}/wardfs/sessions/long/trail.jsonl
[ "$(head -c 131072 "$log" | grep -c '"kind":"deny"')" -eq 0 ] || fail "control: refusals at the start"
[ "$(tail -c 131072 "$log" | grep -c '"kind":"deny"')" -eq 0 ] || fail "control: refusals at the end"
[ "$(grep -c '"kind":"deny"' "$log")" -eq 3 ] || fail "control: not three refusals"
expect 0 "$WARDFS" audit show --json --kind session.end long
has "$OUT" '"refusals":3,"limits":0,"probes_failed":0'
risk -- true
costs past-refused
has "$(cat "$WARD_TMP/risk.json")" 'long: 3'

echo "--- a trail that was removed is one thing, one that vanished another"
state=${XDG_STATE_HOME:-$HOME/.local/state}/wardfs
expect 0 "$WARDFS" run --session told -- true
expect 0 "$WARDFS" audit remove --force --reason test told
risk -- true
free past-gone
expect 0 "$WARDFS" run --session vanished -- true
mv "$state/sessions/vanished" ../vanished
risk -- true
costs past-gone
has "$(cat "$WARD_TMP/risk.json")" '"fact": "vanished"'
mv ../vanished "$state/sessions/vanished"
risk -- true
free past-gone

echo "--- a reload leaves the mode as it was picked"
cp ../quiet.policy live.policy
expect 0 "$WARDFS" run --keep --session live --policy ./live.policy -- true
sed -i 's/^read .*/&\nhide = gone/' live.policy
expect 0 "$WARDFS" policy reload live live.policy
"$WARDFS" kill live

echo "--- what other owners' sessions did is theirs; an ordinary user's own counts"
fresh
chmod 777 .
echo t >.env
chmod 644 .env
expect 1 "$WARDFS" run --user nobody -- cat .env
has "$ERR" .env
risk -- true
free past-refused
risk --user nobody -- true
costs past-refused
cat >"$WARD_TMP/user.sh" <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
WARD_TMP=$HOME
project p
cd p || exit 1
cp /bin/true ../mine
expect 0 "$WARDFS" run --mode auto --read ../mine -- ../mine
has "$ERR" '→ restricted'
expect 0 "$WARDFS" risk -v -- ../mine
has "$OUT" '    12  from-download'
has "$OUT" '     0  never-seen'
has "$OUT" '     0  others-write'
chmod 777 ..
expect 0 "$WARDFS" risk -v -- ../mine
has "$OUT" '    12  others-write'
S
chmod 644 "$WARD_TMP/user.sh"
as_user "$WARD_TMP/user.sh"
exit 0
