#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
# wardfs init --devcontainer: with the options and the list of system calls that it writes, wardfs
# works in a container of an ordinary user, under podman and docker. Without them it does not.
# Engines pass no options of the sanitizers on; sandbox/doctor runs with them.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
command -v podman >/dev/null || skip 'no podman (Debian package podman)'
command -v dockerd >/dev/null || skip 'no dockerd (Debian package docker.io)'
inside "$@"
. "$WARD_SRC/tests/cases/oci/lib/daemons.sh"
project "$W/work"
cd "$W/work"
echo secret >.env
echo readme >README

# Existing files stay, and no link is followed.
expect 0 "$WARDFS" init --devcontainer --dry-run
has "$OUT" '"--device=/dev/fuse"'
[ ! -e .devcontainer ] || fail 'a dry run writes'
mkdir "$W/elsewhere"
ln -s "$W/elsewhere" .devcontainer
expect 2 "$WARDFS" init --devcontainer --force
[ -z "$(ls -A "$W/elsewhere")" ] || fail 'a link was followed'
rm .devcontainer
mkdir .devcontainer
echo mine >.devcontainer/Dockerfile
expect 2 "$WARDFS" init --devcontainer
has "$ERR" 'Dockerfile exists'
[ "$(ls .devcontainer)" = Dockerfile ] || fail "half written: $(ls .devcontainer)"
echo kept >"$W/elsewhere/kept"
ln -sf "$W/elsewhere/kept" .devcontainer/devcontainer.json
expect 0 "$WARDFS" init --devcontainer --force
[ "$(cat "$W/elsewhere/kept")" = kept ] || fail 'a link was written through'
expect 2 "$WARDFS" init --devcontainer --registries
has "$(cat .devcontainer/Dockerfile)" wardfs.deb
chown -R 1000:1000 .

# The options, as the editor reads them; the image has this host's programs in place of a package.
options=$(python3 -c 'import json, sys
c = json.load(open(".devcontainer/devcontainer.json"))
print(" ".join(c["runArgs"]).replace("${localWorkspaceFolder}", sys.argv[1]))' "$PWD")
mkdir -p "$W/i/etc" "$W/i/tmp" "$W/i/home/dev" "$W/i/proc" "$W/i/dev" "$W/i/sys" "$W/i/run" "$W/i/root" \
	"$W/i/usr" "$W/i/var/tmp" "$W/i/srv/work"
chmod 1777 "$W/i/tmp" "$W/i/var/tmp"
for d in bin sbin lib lib64; do ln -s usr/$d "$W/i/$d"; done
printf 'root:x:0:0::/root:/bin/sh\ndev:x:1000:1000::/home/dev:/bin/sh\n' >"$W/i/etc/passwd"
chown 1000:1000 "$W/i/home/dev"
# Engines hand a device on with its mode, and hosts have 0666.
mknod -m 666 "$W/fuse" c 10 229
mount --bind "$W/fuse" /dev/fuse
STORAGE_DRIVER=vfs
CONTAINERS_CONF=$W/containers.conf
export STORAGE_DRIVER CONTAINERS_CONF
printf '[containers]\nnetns = "none"\ndefault_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]\n[engine]\n%s\n' \
	'cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"' >"$CONTAINERS_CONF"
trap daemons_end EXIT
start_containerd
start_docker
calls=$WARD_SRC/tests/cases/oci/lib/devcontainer-calls.py
script='cat README; cat .env || exit 7'
for engine in podman docker; do
	tar -C "$W/i" -c . | expect 0 $engine import - box
	# shellcheck disable=SC2086 # options
	run() {
		$engine run --rm --network none --user 1000:1000 -v /usr:/usr:ro -v "$WARD_BUILD:/opt/wardfs:ro" \
			-v "$W/work:/srv/work" -w /srv/work -e HOME=/home/dev "$@"
	}
	# Control: without the options wardfs cannot make its walls.
	expect 125 run --device /dev/fuse box /opt/wardfs/wardfs run -- sh -c "$script"
	hasnt "$OUT" readme
	# shellcheck disable=SC2086 # options
	expect 7 run $options box /opt/wardfs/wardfs run -- sh -c "$script"
	has "$OUT" readme
	hasnt "$OUT" secret
	# shellcheck disable=SC2086 # options
	expect 0 run $options box /opt/wardfs/wardfs doctor
	# The list passes namespaces, and of keyctl a new keyring alone. The control has no list.
	# shellcheck disable=SC2086 # options
	expect 0 run $options -v "$calls:/calls.py:ro" box python3 /calls.py
	has "$OUT" 'unshare 0, join True, keys refused'
done
expect 0 python3 "$calls"
has "$OUT" 'unshare 0, join True, keys answered'
