# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# Daemons of engines in the directories that they have by default, which on_host covers; sockets and
# logs are in $W. For scripts of on_host.
#
# start_containerd  containerd with conf/oci/containerd-config.toml; CONTAINERD_ADDRESS leads to it
# start_docker      dockerd on top of it, with conf/oci/docker-daemon.json; DOCKER_HOST leads to it
# daemon_end NAME [SIGNAL]  ends one of both
# daemons_end       ends what was started, and what a failed test left of containers
set -eu
CONTAINERD_ADDRESS=$W/containerd.sock
DOCKER_HOST=unix://$W/docker.sock
export CONTAINERD_ADDRESS DOCKER_HOST

# daemon NAME CMD...: starts it, with its output in $W/NAME.log
daemon() {
	name=$1
	shift
	"$@" >>"$W/$name.log" 2>&1 </dev/null &
	echo $! >"$W/$name.pid"
}

daemon_end() {
	[ -e "$W/$1.pid" ] || return 0
	pid=$(cat "$W/$1.pid")
	rm "$W/$1.pid"
	kill -"${2-TERM}" "$pid" || :
	wait "$pid" || :
}

start_containerd() {
	{
		printf 'version = 2\n[grpc]\naddress = "%s"\n' "$CONTAINERD_ADDRESS"
		printf '[ttrpc]\naddress = "%s.ttrpc"\n' "$CONTAINERD_ADDRESS"
		printf '[plugins."io.containerd.internal.v1.opt"]\npath = "%s"\n' "$W/opt"
		cat "$W/cri.toml" 2>/dev/null || :
		sed "s|/usr/local/bin/wardfs-oci|$OCI|" "$WARD_SRC/conf/oci/containerd-config.toml"
	} >"$W/containerd.toml"
	daemon containerd containerd --config "$W/containerd.toml"
	containerd_answers() { ctr version >"$W/version" 2>&1; }
	wait_until 60 containerd_answers || fail "no containerd: $(tail -n 20 "$W/containerd.log")"
}

start_docker() {
	python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))
c["runtimes"]["wardfs"]["path"] = sys.argv[2]
c["live-restore"] = True
json.dump(c, open(sys.argv[3], "w"))' "$WARD_SRC/conf/oci/docker-daemon.json" "$OCI" "$W/docker.json"
	rm -f "$W/docker.pidfile"
	daemon docker dockerd --config-file "$W/docker.json" --pidfile "$W/docker.pidfile" \
		--host "$DOCKER_HOST" --containerd "$CONTAINERD_ADDRESS" --iptables=false --ip6tables=false \
		--bridge=none --storage-driver=vfs --exec-opt native.cgroupdriver=cgroupfs
	docker_answers() { docker version >"$W/version" 2>&1; }
	wait_until 60 docker_answers || fail "no dockerd: $(tail -n 20 "$W/docker.log")"
}

daemons_end() {
	daemon_end docker
	daemon_end containerd
	for pid in $(pgrep -f "containerd-shim.* $CONTAINERD_ADDRESS"); do
		# shellcheck disable=SC2046 # numbers
		kill -KILL $(cat "/proc/$pid/task/$pid/children") "$pid" || :
	done
}
