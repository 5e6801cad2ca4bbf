#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checkpoints arrive in a file, a command, syslog (rsyslog) and the journal. The first one arrives
# before the command starts. With the anchor's copy, verify finds a past that was rewritten. If an
# anchor does not take the first checkpoint, the session does not start.
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root, for a /dev and a /run of its own"
	exec unshare -m --propagation private sh "$0" inside
fi
top=$PWD
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
project p
cd p || exit 1
pids=
end_helpers() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null || :
	done
}
trap end_helpers EXIT

# policy LINE…
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\n' >../policy
	printf '%s\n' "$@" >>../policy
}
run() {
	name=$1
	shift
	"$WARDFS" run --policy ../policy --session "$name" -- "$@" >../out 2>../err
}

# --- a file, and a command ---
cat >../take <<END
#!/bin/sh
{ cat; echo "uid \$(id -u) \$(env | sort | tr '\n' ' ')"; } >>"$top/taken" || exit 1
[ ! -e "$top/refuse" ]
END
chmod 755 ../take
policy "anchor = file:$top/anchored" "anchor = exec:$top/take" 'checkpoint = 1'
run one sh -c 'for i in 1 2 3; do echo $i >f$i; done; sleep 0.1' || fail "one: $(cat ../err)"
[ ! -s ../err ] || fail "one says: $(cat ../err)"
grep -q '"anchors":\["file:' "$XDG_STATE_HOME/wardfs/sessions/one/trail.jsonl" || fail "not told in session.start"
python3 "$WARD_SRC/tests/cases/audit/lib/anchors-arrived.py" "$XDG_STATE_HOME/wardfs/sessions/one/checkpoints" ../anchored ../taken || fail "what arrived"
grep -q '^uid 0 LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin PWD=' ../taken || fail "the command saw: $(grep uid ../taken)"
vkey=$("$WARDFS" audit key show)
trail=$XDG_STATE_HOME/wardfs/sessions/one/trail.jsonl
verify() {
	"$WARDFS" audit verify --key "$vkey" --checkpoints "$1" "$trail"
}
verify ../anchored >/dev/null || fail "with what arrived: $(verify ../anchored)"
# Whoever holds the keys ends the trail earlier, checkpoints and all: what is here agrees with
# itself.

sed -n '1,8p' "${trail%/*}/checkpoints" >early
: >"$trail"
verify ../anchored >verdict && fail "an emptied trail passes the anchor"
grep -q truncated verdict || fail "an emptied trail: $(cat verdict)"

# It fails: nothing starts; the control is above.
touch ../refuse
: >../taken
rc=0
run refused touch started || rc=$?
[ $rc -eq 125 ] || fail "refused: exit $rc"
grep -q "anchor exec:$top/take" ../err || fail "which anchor: $(cat ../err)"
[ ! -e started ] || fail "the command ran"
[ -s ../taken ] || fail "the command was never asked"
rm ../refuse
policy "anchor = file:$top/no/where"
run refused2 touch started && fail "starts without its file"
grep -q "$top/no/where" ../err || fail "which file: $(cat ../err)"
ln -s "$top/anchored" ../link
policy "anchor = file:$top/link"
run refused3 touch started && fail "follows a link"
[ ! -e started ] || fail "the command ran"
# Later: the session goes on, and says at its end what is missing where.
policy "anchor = exec:$top/take"
run later sh -c 'echo ready >go; until [ -e stop ]; do sleep 0.05; done' &
later=$!
wait_until 60 test -s go || fail "later: $(cat ../err)"
touch ../refuse stop
wait "$later" || fail "later: exit $?"
grep -q "anchor exec:$top/take: .* it does not have the last checkpoint of later" ../err || fail "later: $(cat ../err)"
rm ../refuse

# --- syslog, with rsyslog; the journal's own protocol ---
mkdir ../dev ../run
mount -t tmpfs -o mode=755 tmpfs ../dev
for node in null zero full random urandom tty fuse; do
	[ -e "/dev/$node" ] || continue
	: >"../dev/$node"
	mount --bind "/dev/$node" "../dev/$node"
done
mkdir ../dev/pts ../dev/shm
[ ! -d /dev/pts ] || mount --bind /dev/pts ../dev/pts
ln -s pts/ptmx ../dev/ptmx
ln -s /proc/self/fd ../dev/fd
cat >../rsyslog.conf <<END
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="$top/dev/log" CreatePath="off")
template(name="plain" type="string" string="%syslogtag%%msg%\n")
*.* action(type="omfile" file="$top/syslog" template="plain")
END
rsyslogd -n -f "$top/rsyslog.conf" -i "$top/rsyslog.pid" >../rsyslog.out 2>&1 &
pids="$pids $!"
wait_until 60 test -S ../dev/log || fail "rsyslog: $(cat ../rsyslog.out)"
mount --move ../dev /dev
mount -t tmpfs -o mode=755 tmpfs ../run
mkdir -p ../run/systemd/journal
cp "$WARD_SRC/tests/cases/audit/lib/anchors-journal.py" ../journal.py
python3 ../journal.py "$top/run/systemd/journal/socket" "$top/journal" &
pids="$pids $!"
wait_until 60 test -S ../run/systemd/journal/socket || fail "the journal's socket"
mkdir -p /run/systemd/journal 2>/dev/null
mount --bind "$top/run/systemd/journal" /run/systemd/journal || fail "the journal's place"
policy 'anchor = syslog' 'anchor = journald'
run logs touch logged || fail "logs: $(cat ../err)"
own=$XDG_STATE_HOME/wardfs/sessions/logs/checkpoints
arrived() {
	python3 "$WARD_SRC/tests/cases/audit/lib/anchors-logs.py" "$own" ../syslog ../journal
}
wait_until 60 arrived || fail "syslog: $(cat ../syslog) journal: $(cat ../journal)"
rm /dev/log
run nobody touch started && fail "starts without syslog"
grep -q 'anchor syslog' ../err || fail "which: $(cat ../err)"
[ ! -e started ] || fail "the command ran"

# --- nothing is asked for, and there is a journal: the first and the last checkpoint go there ---
XDG_STATE_HOME=$top/state2
: >../journal
policy 'checkpoint = 1'
for name in first second; do
	run "$name" sh -c 'for i in 1 2 3; do echo $i >g$i; done; sleep 0.1' || fail "$name: $(cat ../err)"
done
ledger=$XDG_STATE_HOME/wardfs/ledger.jsonl
grep -q '"anchor_unasked":"journald"' "$XDG_STATE_HOME/wardfs/sessions/first/trail.jsonl" || fail "unasked: not told"
kept() {
	python3 - ../journal <<'END'
import ast, sys
for line in open(sys.argv[1], encoding="utf-8"):
    print(ast.literal_eval(line)["WARDFS_CHECKPOINT"])
END
}
# agreed STATUS: wardfs and the second verifier say the same, with what was kept
agreed() {
	expect "$1" "$WARDFS" audit verify --json --all --checkpoints ../kept
	printf '%s' "$OUT" | python3 -c 'import json, sys
for r in json.load(sys.stdin):
    print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)' >mine
	rc=0
	python3 "$WARD_SRC/tests/support/verify.py" "$XDG_STATE_HOME/wardfs" --checkpoints ../kept >theirs || rc=$?
	[ $rc -eq "$1" ] && cmp -s mine theirs || fail "the verifiers do not agree: $(diff mine theirs)"
}
wait_until 60 sh -c "[ \"\$(wc -l <'$top/journal')\" -eq 8 ]" || fail "unasked: $(cat ../journal)"
kept >../kept
[ "$(grep -c '^wardfs/trail/' ../kept)" = 4 ] || fail "unasked: $(cat ../kept)"
[ "$(grep -c '^wardfs\..*/ledger$' ../kept)" = 4 ] || fail "unasked, the ledger: $(cat ../kept)"
[ "$(grep -c '^state complete' ../kept)" = 2 ] || fail "unasked, the last: $(cat ../kept)"
agreed 0
# The control of what follows: a ledger cut together with the session that it named agrees with
# itself.
cp -a "$XDG_STATE_HOME" ../whole
sed '/"session":"second"/d' "$ledger" >../cut
[ "$(wc -l <../cut)" -eq 2 ] || fail "the ledger: $(cat "$ledger")"
cat ../cut >"$ledger"
rm -r "$XDG_STATE_HOME/wardfs/sessions/second"
expect 1 "$WARDFS" audit verify --all
has "$OUT" 'ledger: truncated at record 3'
head -n 10 "${ledger%.jsonl}.checkpoints" >../cut
cat ../cut >"${ledger%.jsonl}.checkpoints"
expect 0 "$WARDFS" audit verify --all
agreed 1
expect 1 "$WARDFS" audit verify --all --checkpoints ../kept
has "$OUT" 'second: missing: a checkpoint that was kept elsewhere is of it'
has "$OUT" 'ledger: truncated at record 3: a checkpoint that was kept elsewhere covers 4 entries'
# One checkpoint of the ledger is enough.
grep -A4 '^wardfs\..*/ledger$' ../kept | tail -n 5 >../ledger-alone
expect 1 "$WARDFS" audit verify --all --checkpoints ../ledger-alone
has "$OUT" 'ledger: truncated at record 3'
expect 1 "$WARDFS" audit verify --checkpoints ../ledger-alone first
has "$OUT" 'ledger: truncated at record 3'
# So is one that goes on, one whose trail was cut, and a state directory that began anew.
policy 'anchor = none'
run third true || fail "third: $(cat ../err)"
[ "$(wc -l <../journal)" -eq 8 ] || fail "anchor = none: $(cat ../journal)"
agreed 1
expect 1 "$WARDFS" audit verify --all --checkpoints ../kept
has "$OUT" 'second: missing'
has "$OUT" 'ledger: edited at record 3: a checkpoint that was kept elsewhere covers other entries'
has "$OUT" 'third: intact'
rm -r "$XDG_STATE_HOME"
cp -a ../whole "$XDG_STATE_HOME"
sed -i '$d' "$XDG_STATE_HOME/wardfs/sessions/second/trail.jsonl"
agreed 1
expect 1 "$WARDFS" audit verify --all --checkpoints ../kept
has "$OUT" "second: truncated at record"
rm -r "$XDG_STATE_HOME"
run anew true || fail "anew: $(cat ../err)"
agreed 1
expect 1 "$WARDFS" audit verify --all --checkpoints ../kept
has "$OUT" 'checkpoints: foreign key: keys of other hosts signed 8 of 8'
has "$OUT" ', or of another state directory (wardfs/'
echo nonsense >>../kept
expect 125 "$WARDFS" audit verify --all --checkpoints ../kept
has "$ERR" 'no checkpoint begins at byte'
