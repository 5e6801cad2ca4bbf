#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
# wardfs-oci under docker, with a daemon of the test's own: volumes, exec, the floor, a daemon that
# is killed while a container runs, a guard that is.
# docker passes no options of the sanitizers on; oci/runc and oci/hostile run with them.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
command -v dockerd >/dev/null || skip 'no dockerd (Debian package docker.io)'
# In a network namespace of its own, for the bridge of a network.
case ${1-} in
'')
	on_host "$0" host
	exit
	;;
host) exec unshare --net sh "$0" inside ;;
esac
ip link set lo up
. "$WARD_SRC/tests/cases/oci/lib/daemons.sh"
workspace
cd "$work"
echo secret >.env
# The file that is shipped.
cp "$WARD_SRC/conf/oci/oci.policy" /etc/wardfs/oci.policy

trap 'docker ps -aq | xargs -r docker rm -f >"$W/rm" 2>&1 || cat "$W/rm" >&2; daemons_end' EXIT
start_containerd
start_docker
image "$W/image"
tar -C "$W/image" -c . | expect 0 docker import - box
run() {
	docker run --network none --runtime=wardfs "$@"
}

# Control: the same engine with the runtime alone.
expect 0 docker run --network none --rm -v "$work:/workspace" box cat /workspace/.env
has "$OUT" secret

expect 0 run --rm -v "$work:/workspace" box cat /workspace/README
has "$OUT" readme
expect 1 run --rm -v "$work:/workspace" box cat /workspace/.env
expect 7 run --rm -v "$work:/workspace" box sh -c 'exit 7'
hasnt "$(cat /proc/mounts)" /run/wardfs/oci
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
for s in $("$WARDFS" audit list --json | python3 -c '
import json, sys
for s in json.load(sys.stdin): print(s["session"])'); do
	expect 0 "$WARDFS" audit verify "$s"
done

# The walls of the engine, and the floor under them.
expect 0 run --rm --cap-add SYS_ADMIN box grep CapBnd /proc/self/status
has "$OUT" 0000000000000000
for refused in '--privileged:device' '--pid host:pid namespace' '-v /:/host:root of the host' \
	"-v $W:/data:no policy covers the volume"; do
	# shellcheck disable=SC2086 # an option and its value
	expect 125 run --rm ${refused%:*} box true
	has "$ERR" "${refused##*:}"
done

# Docker has its daemon plug a network into each container's namespace, with a hook. Control: that
# is what a container has, and also with the engine's network.
expect 0 docker network create --subnet 192.0.2.0/24 wire
cards='ip -o addr'
expect 0 docker run --rm --network wire box sh -c "$cards"
has "$OUT" 'inet 192.0.2.'
sed 's/^; hook = /hook = /; s/^network = policy/network = engine/' "$WARD_SRC/conf/oci/oci.policy" >/etc/wardfs/oci.policy
expect 0 docker run --rm --runtime=wardfs --network wire box sh -c "$cards"
has "$OUT" 'inet 192.0.2.'
# A policy without a network: the container has none, also where the hook would be allowed.
for line in 's/^; hook = /hook = /' ''; do
	sed "$line" "$WARD_SRC/conf/oci/oci.policy" >/etc/wardfs/oci.policy
	expect 0 docker run --rm --runtime=wardfs --network wire box sh -c "$cards"
	hasnt "$OUT" 'inet 192.0.2.'
	has "$OUT" 127.0.0.1
done

# A service: exec is of the same session, also when the daemon was killed and another one came.
expect 0 run -d --name svc -v "$work:/workspace" box sh -c 'while :; do sleep 1; done'
id=$(docker inspect -f '{{.Id}}' svc)
session=$(session_of "$id")
expect 0 docker exec svc cat /workspace/README
has "$OUT" readme
expect 1 docker exec svc cat /workspace/.env
daemon_end docker KILL
expect 1 docker ps
start_docker
[ "$(docker inspect -f '{{.State.Running}}' svc)" = true ] || fail 'the container did not live on'
expect 0 docker exec svc sh -c 'cat /workspace/README && echo later >/workspace/later'
has "$OUT" readme
[ "$(cat later)" = later ] || fail 'nothing was written'
expect 1 docker exec svc cat /workspace/.env
[ "$(session_of "$id")" = "$session" ] || fail 'another session'
expect 0 docker stop -t 1 svc
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
expect 0 "$WARDFS" audit verify "$session"
expect 0 "$WARDFS" audit show --json "$session"
has "$OUT" "\"container-id\":\"$id\""
has "$OUT" 'wardfs-oci exec'

# The guard dies, and the engine learns that the container ended.
expect 0 docker start svc
session=$(session_of "$id")
kill -9 "$(status_of "$session" fs_pid)"
stopped() { [ "$(docker inspect -f '{{.State.Running}}' svc)" = false ]; }
wait_until 60 stopped || fail "it runs without its guard: $(docker ps)"
expect 0 docker rm svc
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
