#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mounts that take requests and never answer lie in the owner's home and where [process] exec
# lists programs. Verbs end, and name the mount if the file beneath it matters. The control is the
# same mount while it answers. Time limits only end a hang.
# timeout: 900
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	exec unshare -m --propagation private sh "$0" inside
fi
cd "$WARD_TMP"
mount -t tmpfs tmpfs /opt
mkdir -p back/bin back/wardfs/projects points
cp /bin/true back/bin/mine
cp /bin/true /opt/own
printf '[user]\n\tname = T\n' >back/config
project p
echo '{}' >p/package.json
: >said
server=
point=
cleanup() {
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null || :
	[ -z "$point" ] || umount -l "$point" 2>/dev/null || :
	umount -l /opt
}
trap cleanup EXIT

# serve POINT: the mount answers there, and nowhere else. silence: it answers no more.
serve() {
	[ -z "$server" ] || kill -9 "$server"
	[ -z "$point" ] || umount -l "$point" 2>/dev/null || :
	point=$1
	mkdir -p "$point"
	"$WARD_BUILD/tests/support/foldfs" exact "$WARD_TMP/back" "$point" >"$WARD_TMP/said" &
	server=$!
	wait_until 60 mountpoint -q "$point" || fail "no file system"
}
silence() {
	kill -USR1 "$server"
	wait_until 60 grep -q silent "$WARD_TMP/said" || fail "the server goes on"
}
# bounded STATUS CMD...: runs CMD beside, since a wait(2) for it could last for ever. Sets SAID.
bounded() {
	want=$1
	shift
	echo none >"$WARD_TMP/.rc"
	(
		rc=0
		"$@" >"$WARD_TMP/.said" 2>&1 </dev/null || rc=$?
		echo $rc >"$WARD_TMP/.rc"
	) &
	wait_until 150 grep -qv none "$WARD_TMP/.rc" || fail "does not end: $*"
	SAID=$(cat "$WARD_TMP/.said")
	[ "$(cat "$WARD_TMP/.rc")" = "$want" ] || fail "exit $(cat "$WARD_TMP/.rc") instead of $want: $*: $SAID"
}
cd p
unset XDG_CONFIG_HOME
HOME=$WARD_TMP/home
export HOME
mkdir "$HOME"

cat >../programs.policy <<'END'
[policy]
version = 1
extends = medium
[process]
exec = /bin/true
exec = /opt/own
exec = /opt/slow/bin/*
exec = /opt/link
exec = /opt/**/mine
END
ln -s slow/bin/mine /opt/link
list() {
	bounded 0 "$WARDFS" run --policy ../programs.policy -- /opt/own
}

echo "--- [process] exec, control: it answers"
serve /opt/slow
bounded 0 "$WARDFS" run --policy ../programs.policy --read /opt/slow -- /opt/slow/bin/mine
list
hasnt "$SAID" "does not answer"

echo "--- [process] exec: it does not"
silence
list
has "$SAID" "[process] exec: nothing of it can be executed:"
has "$SAID" "the file system mounted at /opt/slow does not answer"
bounded 0 "$WARDFS" policy check ../programs.policy

# home DIR: that directory of the home, while the mount answers, and while it does not.
home() {
	echo "--- ~/$1"
	serve "$HOME/$1"
	bounded 0 "$WARDFS" run -- true
	bounded 0 "$WARDFS" init --dry-run
	silence
}
home .config/git
bounded 0 "$WARDFS" run -- true
bounded 0 "$WARDFS" init --dry-run
home .cargo
bounded 0 "$WARDFS" init --dry-run
bounded 125 "$WARDFS" run -- true
has "$SAID" "the file system mounted at $HOME/.cargo does not answer"
home .config/pip
bounded 0 "$WARDFS" init --dry-run
# Where all sessions of the owner keep what they share, whatever XDG_STATE_HOME says.
home .local/state
bounded 125 "$WARDFS" run -- true
has "$SAID" "the file system mounted at $HOME/.local/state does not answer"
bounded 125 "$WARDFS" mount . ../points
has "$SAID" "the file system mounted at $HOME/.local/state does not answer"
home .config
for verb in 'run -- true' 'init --dry-run' 'policy show' 'policy add read x' 'home list' risk 'profile list'; do
	# shellcheck disable=SC2086 # words
	case $verb in
	home* | profile*) bounded 0 "$WARDFS" $verb ;;
	*)
		bounded 2 "$WARDFS" $verb
		has "$SAID" "the file system mounted at $HOME/.config does not answer"
		;;
	esac
done
