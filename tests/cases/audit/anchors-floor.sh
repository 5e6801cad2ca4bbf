#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The floor names an anchor. It receives every checkpoint, whatever the owner's policy says. In a
# session of root's, root runs or opens it, and no owner can replace it. An anchor command gets no
# terminal, directory or environment from the caller. Each refusal has its control.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root, for an /etc of its own"
	mkdir -p "$WARD_TMP/etc"
	cp -a /etc/. "$WARD_TMP/etc/"
	exec unshare --mount --propagation private sh "$0" inside
fi
mount --bind "$WARD_TMP/etc" /etc
mkdir -p /etc/wardfs
chmod 755 /etc /etc/wardfs "$WARD_TMP"
top=$PWD
project p
chown -R 4711:4711 p
cd p || exit 1
cat >/etc/wardfs/take <<'.'
#!/bin/sh
{ cat; echo "seen uid $(id -u) in $PWD fds $(ls /proc/self/fd | tr '\n' ' ')env $(env | sort | tr '\n' ' ')"; } >>/etc/wardfs/taken
.
chmod 755 /etc/wardfs/take
: >/etc/wardfs/taken
chmod 600 /etc/wardfs/taken

# floor LINE…, policy LINE…: their [audit]
floor() {
	printf '[policy]\nversion = 1\n[audit]\n' >/etc/wardfs/floor.policy
	printf '%s\n' "$@" >>/etc/wardfs/floor.policy
}
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[audit]\n' >../policy
	printf '%s\n' "$@" >>../policy
}
run() {
	name=$1
	shift
	"$WARDFS" run --policy ../policy --session "$name" -- "$@" >../out 2>../err
}
arrived() { # SESSION FILE TAKEN
	python3 "$WARD_SRC/tests/cases/audit/lib/anchors-arrived.py" \
		"$XDG_STATE_HOME/wardfs/sessions/$1/checkpoints" "$2" "$3" || fail "$1: what arrived"
}
export XDG_STATE_HOME="$top/state"

echo "--- control: without the floor the owner's word is the only one"
policy 'anchor = none'
run plain true || fail "plain: $(cat ../err)"
[ ! -s /etc/wardfs/taken ] || fail "control: something arrived"

echo "--- the floor's get everything, and so do the owner's"
floor 'anchor = exec:/etc/wardfs/take' 'anchor = file:/etc/wardfs/anchored'
expect 0 "$WARDFS" policy check --as floor /etc/wardfs/floor.policy
mkdir ../theirs
chown 4711:4711 ../theirs
for anchor in none "file:$top/theirs/own" 'exec:/etc/wardfs/take'; do
	name=with-$(printf '%s' "${anchor%%:*}")
	: >/etc/wardfs/taken
	rm -f /etc/wardfs/anchored
	policy "anchor = $anchor" 'checkpoint = 1'
	LD_PRELOAD_X=1 STEERED=1 run "$name" sh -c 'for i in 1 2 3; do echo $i >f$i; done' || fail "$name: $(cat ../err)"
	arrived "$name" /etc/wardfs/anchored /etc/wardfs/taken
	[ "$(stat -c %u:%a /etc/wardfs/anchored)" = 0:600 ] || fail "the file: $(stat -c %u:%a /etc/wardfs/anchored)"
	# Of whoever started the session nothing comes along.
	[ "$(grep '^seen ' /etc/wardfs/taken | sort -u)" = \
		"seen uid 0 in / fds 0 1 2 3 env LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin PWD=/ " ] ||
		fail "the program saw: $(grep '^seen ' /etc/wardfs/taken | sort -u)"
	# Named by both, it is one. Of the ledger come the first and the last.
	[ "$(grep -c '^seen ' /etc/wardfs/taken)" -le $((2 + $(grep -c '^wardfs/trail/' "$XDG_STATE_HOME/wardfs/sessions/$name/checkpoints"))) ] ||
		fail "$name: asked twice for one"
done
[ "$(stat -c %u ../theirs/own)" = 4711 ] || fail "the owner's file is not the owner's"
sed -i '/^wardfs\..*\/ledger$/,+4d' ../theirs/own
cmp ../theirs/own "$XDG_STATE_HOME/wardfs/sessions/with-file/checkpoints" || fail "the owner's file lacks some"
# A project may not name one: it is the repository's word.
printf '[policy]\nversion = 1\n[audit]\nanchor = none\n' >.wardfs.policy
expect 2 run project true
grep -q "cannot contain \[audit\]" ../err || fail "another reason: $(cat ../err)"
rm .wardfs.policy

echo "--- what an owner could have put there is not used, and nothing starts"
refused_for() {
	policy 'checkpoint = 1'
	rm -f started
	rc=0
	run "refused$1" touch started || rc=$?
	[ "$rc" -eq 125 ] || fail "$1: exit $rc: $(cat ../err)"
	grep -q "of the floor: .*Root must own" ../err || fail "$1: another reason: $(cat ../err)"
	[ ! -e started ] || fail "$1: the command ran"
}
floor 'anchor = exec:/etc/wardfs/take'
chown 4711 /etc/wardfs/take
refused_for 1
chown 0 /etc/wardfs/take
chmod 775 /etc/wardfs/take
refused_for 2
chmod 755 /etc/wardfs/take
chmod 777 /etc/wardfs
refused_for 3
chmod 755 /etc/wardfs
ln -s /etc/wardfs/take /etc/wardfs/link
mkdir /etc/wardfs/dir
ln -s /etc/wardfs /etc/wardfs/dir/up
floor 'anchor = exec:/etc/wardfs/link'
run refused4 touch started && fail "follows a link"
grep -q "anchor /etc/wardfs/link" ../err || fail "another reason: $(cat ../err)"
floor 'anchor = exec:/etc/wardfs/dir/up/take'
refused_for 5
floor "anchor = exec:$top/theirs/take"
cp /etc/wardfs/take ../theirs/take
refused_for 6
floor 'anchor = file:/etc/wardfs/anchored'
chown 4711 /etc/wardfs/anchored
refused_for 7
chown 0 /etc/wardfs/anchored
run again touch started || fail "control: $(cat ../err)"
[ -e started ] || fail "control: the command did not run"

echo "--- the owner's own session: nothing takes the floor's away"
cat >/etc/wardfs/take <<'.'
#!/bin/sh
{ cat; echo "seen uid $(id -u)"; } >>/etc/wardfs/taken
.
chmod 666 /etc/wardfs/taken
: >/etc/wardfs/taken
floor 'anchor = exec:/etc/wardfs/take'
(as_user -c '
	. "$WARD_SRC/tests/lib.sh"
	WARD_TMP=$HOME
	mkdir q
	cd q
	printf "[policy]\nversion = 1\nextends = medium\n[audit]\nanchor = none\n" >../p.policy
	expect 0 "$WARDFS" run --policy ../p.policy --session mine -- true') || exit 1
grep -q mine /etc/wardfs/taken || fail "nothing of it arrived"
[ "$(grep '^seen ' /etc/wardfs/taken | sort -u)" = "seen uid 4711" ] || fail "$(cat /etc/wardfs/taken)"
rm /etc/wardfs/floor.policy

echo "--- an owner's command has no terminal of root's, in which it could type"
cat >../theirs/take <<.
#!/bin/sh
cat >/dev/null
if (: </dev/tty) 2>/dev/null; then echo terminal; else echo none; fi >>$top/theirs/said
.
chmod 755 ../theirs/take
chown -R 4711:4711 ../theirs
policy "anchor = exec:$top/theirs/take"
cat >../at-terminal <<'.'
(: </dev/tty) 2>/dev/null && echo terminal >../control
exec "$WARDFS" run --policy ../policy --session tty -- true
.
python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(["sh", "../at-terminal"])))' >../out 2>&1 </dev/null || fail "tty: $(cat ../out)"
[ "$(cat ../control)" = terminal ] || fail "control: no terminal at all"
[ "$(sort -u ../theirs/said)" = none ] || fail "the owner's command has root's terminal: $(cat ../theirs/said)"
