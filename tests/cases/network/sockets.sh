#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [network] socket, as root and as an ordinary user: one host socket is reachable inside at the
# same path, through the broker. No descriptors and no credentials cross, and no other socket
# exists.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip "needs root"

cp "$WARD_SRC/tests/cases/network/lib/sockets-server.py" server.py
cp "$WARD_SRC/tests/cases/network/lib/sockets-client.py" client.py
cat >check.sh <<'S'
set -eu
. "$WARD_SRC/tests/lib.sh"
top=$WARD_TMP
WARD_TMP=$HOME
cd "$HOME" || exit 1
project p
D=$(mktemp -d /tmp/wardfs-test.XXXXXX)
chmod 755 "$D"
echo secret >"$D/secret"
run=
trap 'kill $server $run 2>/dev/null || :; rm -rf "$D"' EXIT
python3 "$top/server.py" "$D" &
server=$!
wait_until 60 test -e "$D/ready" || fail "no server"
cd p || exit 1
cp "$top/client.py" c.py
policy() {
	{
		printf '[policy]\nversion = 1\nextends = medium\n[network]\n'
		printf '%s\n' "$@"
	} >pol
}
# The control: on the host descriptors cross, both ways, and the server sees who asks.
[ "$(python3 c.py "$D/led.sock")" = "python3 $(id -u) fds=1 hello got 1" ] || fail "control"
[ "$(python3 c.py "$D/other.sock")" = "python3 $(id -u) fds=1 hello got 1" ] || fail "control"

policy 'mode = allowlist'
expect 0 "$WARDFS" run --policy pol -- python3 c.py "$D/led.sock"
[ "$OUT" = ENOENT ] || fail "not led in: $OUT"
policy 'mode = allowlist' "socket = $D/led.sock"
expect 0 "$WARDFS" run --session sockets --policy pol -- sh -c 'python3 c.py "$1/led.sock"; python3 c.py "$1/other.sock"; ls "$1"; rm "$1/led.sock" 2>&1; mv "$1" "$1.x" 2>&1' sh "$D"
has "$OUT" 'fds=0 hello got 0'
has "$OUT" 'wardfs-net'
hasnt "$OUT" 'python3 '
has "$OUT" ENOENT
hasnt "$OUT" secret
has "$OUT" 'Device or resource busy'
test -S "$D/led.sock" || fail "the host's socket is gone"
expect 0 "$WARDFS" audit show sockets --kind connect
has "$OUT" "[network] socket = $D/led.sock"
has "$OUT" 'proto unix'
has "$OUT" 'sent 5  received'
[ -z "$(find "${XDG_RUNTIME_DIR:-/run}/wardfs" "${XDG_STATE_HOME:-$HOME/.local}" -name 'socket.[0-9]*' 2>/dev/null)" ] ||
	fail "names are left"

# Many at once, and a server that comes later, or not at all.
expect 0 "$WARDFS" run --policy pol -- sh -c 'for i in 1 2 3 4 5 6 7 8; do python3 c.py "$1" & done; wait' sh "$D/led.sock"
[ "$(echo "$OUT" | grep -c 'fds=0 hello got 0')" -eq 8 ] || fail "$OUT"
policy 'mode = allowlist' "socket = $D/late.sock"
expect 0 "$WARDFS" run --session late --policy pol -- python3 c.py "$D/late.sock"
hasnt "$OUT" hello
expect 0 "$WARDFS" audit show late --kind connect
has "$OUT" 'No such file'

# A path is what it says: no symbolic link, no file; and one that the session could make its own
# leads to nothing but itself.
ln -s "$D/led.sock" "$D/link.sock"
policy 'mode = allowlist' "socket = $D/link.sock"
expect 2 "$WARDFS" run --policy pol -- true
has "$ERR" "a symbolic link is on the way"
has "$ERR" "socket = $D/led.sock"
policy 'mode = allowlist' "socket = $D/secret"
expect 2 "$WARDFS" run --policy pol -- true
has "$ERR" 'is not a socket'
# At the start nobody is there; then a link is put there by somebody else: not followed.
policy 'mode = allowlist' "socket = $D/turn.sock"
"$WARDFS" run --session turned --policy pol -- sh -c 'touch started; until [ -e go ]; do sleep 0.05; done; python3 c.py "$1"' sh "$D/turn.sock" >got 2>err &
run=$!
wait_until 60 test -e started || fail "not started: $(cat err)"
ln -s "$D/led.sock" "$D/turn.sock"
touch go
wait "$run" || fail "$(cat err)"
run=
hasnt "$(cat got)" hello
expect 0 "$WARDFS" audit show turned --kind connect
has "$OUT" 'symbolic links'
policy 'mode = allowlist' "socket = $HOME/p/own.sock"
expect 2 "$WARDFS" run --policy pol -- true
has "$ERR" 'own.sock'

# The sockets about which run warns.
for s in /run/docker.sock /run/podman/podman.sock /run/systemd/private /run/dbus/system_bus_socket \
	/run/user/1000/bus /tmp/ssh-abc/agent.1 /run/user/1000/keyring/ssh /run/user/1000/gnupg/S.gpg-agent; do
	policy 'mode = allowlist' "socket = $s"
	expect 0 "$WARDFS" policy check pol
	has "$OUT" "[network] socket = $s: "
done
policy 'mode = allowlist' 'socket = /run/postgresql/.s.PGSQL.5432'
expect 0 "$WARDFS" policy check pol
hasnt "$OUT" socket
policy 'mode = none' 'socket = /run/postgresql/.s.PGSQL.5432'
expect 0 "$WARDFS" policy check pol
has "$OUT" 'has no effect'
policy 'mode = none' 'publish = 3000' 'forward = 3000'
expect 0 "$WARDFS" policy check pol
has "$OUT" 'publish = 3000: has no effect'
has "$OUT" 'forward = 3000: has no effect'
expect 0 "$WARDFS" audit verify sockets
exit 0
S
HOME=$WARD_TMP/roothome
export HOME
mkdir -p "$HOME"
chmod 755 "$WARD_TMP"
chmod 644 ./*.py check.sh
sh "$WARD_TMP/check.sh" || exit
as_user "$WARD_TMP/check.sh"
