#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-oci lists the guarded volumes beside the container, so that the kernel knows names before
# a program asks for each. The walk has the ids of the container's user and no capability, and ends
# with the session. A container with a user namespace has none.
# shellcheck disable=SC2154
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
workspace
cp "$WARD_SRC/tests/cases/run/lib/warm-ask.py" "$W/ask.py"
host_policy 'policy = medium'
for top in open closed; do
	for i in 1 2 3 4 5 6 7 8 9; do
		mkdir -p "$work/$top/$i/0" "$work/$top/$i/1" "$work/$top/$i/2" "$work/$top/$i/3" "$work/.dot/$top$i"
		echo x >"$work/$top/$i/0/f"
	done
done
chmod 700 "$work/closed"
bundle "$b" sleep 1000
volume "$b" "$work" /workspace

# All processes of wardfs-oci that this bundle's create has left.
ours() { pgrep -f "^$OCI .*-b $b" || :; }
watched() { python3 "$W/ask.py" "$session" 2>/dev/null || echo 0; }
at_least() { [ "$(watched)" -ge "$1" ]; }
two() { [ "$(ours | wc -l)" -eq 2 ]; }
none() { [ "$(ours | wc -l)" -eq 0 ]; }
begin() { # begin ID
	oci create -b "$b" "$1" >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
	oci start "$1"
	session=$(session_of "$1")
}
end() { # end ID: and nothing of it stays
	oci delete --force "$1"
	wait_until 60 none || fail "left: $(ours)"
}
# walked ID N: a container with that many directories listed. Its walk ends after two seconds, in
# which a busy machine may list a few only: then it is the next one's.
walked() {
	for try in 1 2 3 4 5 6 7 8 9 10; do
		id=$1-$try
		begin "$id"
		wait_until 5 at_least "$2" && break
		n=$(watched)
		end "$id"
	done
	at_least "$2" || fail "$1: watched: $n"
	# Keeper and watcher go on, the walk does not.
	wait_until 30 two || fail "$1: the walk goes on: $(ours)"
	n=$(watched)
	expect 0 "$WARDFS" audit denials "$session"
	hasnt "$OUT" closed
	end "$id"
}

echo '--- root lists what is of root'
walked root 85
[ "$n" -le 96 ] || fail "names with a dot, too: $n"

echo '--- another user lists what this user may list'
edit "$b" 'c["process"]["user"] = {"uid": 4711, "gid": 4712, "additionalGids": [4713]}'
walked user 40
[ "$n" -le 52 ] || fail "the walk lists as somebody else: $n"
chown 0:4713 "$work/closed"
chmod 750 "$work/closed"
walked group 85

echo '--- no capability: root does not list what is of another user'
edit "$b" 'c["process"]["user"] = {"uid": 0, "gid": 0}'
chown 4711:4711 "$work/closed"
chmod 700 "$work/closed"
walked powerless 40
[ "$n" -le 52 ] || fail "the walk has capabilities: $n"

echo '--- the end of the container ends it at once'
begin short
end short

echo '--- none in a user namespace'
ids='[{"containerID": 0, "hostID": 100000, "size": 65536}]'
edit "$b" 'c["linux"]["namespaces"].append({"type": "user"})
c["linux"].update(uidMappings='"$ids"', gidMappings='"$ids"')'
chmod 755 "$W" "$WARD_TMP" "$b" "$b/rootfs"
begin mapped
sleep 2
n=$(watched)
[ "$n" -lt 10 ] || fail "somebody walks: $n"
end mapped
