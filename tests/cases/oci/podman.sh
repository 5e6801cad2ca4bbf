#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
# wardfs-oci under podman: an image that the test makes, volumes, annotations, exec, secrets, a
# container that ends by itself and one that is removed. Plain only, because podman does not pass
# the sanitizers' options on. oci/runc and oci/hostile run with sanitizers.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
command -v podman >/dev/null || skip 'no podman (Debian package podman)'
inside "$@"
workspace
cd "$work"
echo secret >.env
host_policy 'policy = medium' '[caller]' 'policy = /etc/wardfs/policies/*.policy' 'session = yes' 'tree = yes' \
	'[volumes]' 'engine = /var/lib/containers/storage' 'engine = /run/containers/storage'

mkdir /etc/wardfs/policies
fixed=/etc/wardfs/policies/fixed.policy
printf '[policy]\nversion = 1\nextends = medium\n[guard]\nread = /workspace\n' >$fixed

# The file that is shipped; control groups of this host's kind, limits that it lets root set.
STORAGE_DRIVER=vfs
CONTAINERS_CONF=$W/containers.conf
export STORAGE_DRIVER CONTAINERS_CONF
{
	printf '[containers]\nnetns = "none"\ndefault_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]\n'
	printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
	sed "s|/usr/local/bin/wardfs-oci|$OCI|" "$WARD_SRC/conf/oci/podman-containers.conf"
} >"$CONTAINERS_CONF"
pod() {
	podman --runtime wardfs "$@"
}
run() {
	pod run "$@"
}
image "$W/image"
tar -C "$W/image" -c . | expect 0 pod import - box
trap 'pod rm -f --all >"$W/rm" 2>&1 || cat "$W/rm" >&2' EXIT

# Control: the same engine with the runtime alone.
expect 0 podman --runtime runc run --rm -v "$work:/workspace" box cat /workspace/.env
has "$OUT" secret

expect 0 run --rm -v "$work:/workspace" box cat /workspace/README
has "$OUT" readme
expect 1 run --rm -v "$work:/workspace" box cat /workspace/.env
expect 7 run --rm -v "$work:/workspace" box sh -c 'exit 7'
hasnt "$(cat /proc/mounts)" /run/wardfs/oci
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"

# podman gives the directory of such a container to its mapped root, who could replace config.json:
# the runtime gets another one. The guard serves the mapped ids. Control: the runtime alone.
mapped() {
	podman --runtime "$1" run --rm --uidmap 0:100000:65536 --gidmap 0:100000:65536 \
		-v "$W/mapped:/workspace" box sh -c \
		'cat /proc/self/uid_map; cat /workspace/.env; echo new >/workspace/made; id -u'
}
mkdir "$W/mapped"
echo secret >"$W/mapped/.env"
echo readme >"$W/mapped/README"
chown -R 100000:100000 "$W/mapped"
expect 0 mapped runc
has "$OUT" 100000
has "$OUT" secret
rm "$W/mapped/made"
expect 0 mapped wardfs
has "$OUT" 100000
hasnt "$OUT" secret
[ "$(stat -c %u "$W/mapped/made")" = 100000 ] || fail 'not written as the mapped root'
# A service: exec with podman's own file, and by the command line alone.
expect 0 run -d --name map --uidmap 0:100000:65536 --gidmap 0:100000:65536 \
	-v "$W/mapped:/workspace" box sleep 600
expect 0 pod exec map cat /workspace/README
has "$OUT" readme
expect 1 pod exec map cat /workspace/.env
id=$(pod inspect -f '{{.Id}}' map)
expect 0 "$OCI" exec "$id" cat /workspace/README
has "$OUT" readme
# With its runtime alone, too, podman now and then finds its shm still mounted.
remove_map() {
	pod rm -f -t 0 map >"$W/rm" 2>&1
}
wait_until 60 remove_map || fail "podman rm: $(cat "$W/rm")"
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"

# A session of the caller's name, under the caller's policy, with a tree at another place.
expect 0 run -d --name svc --annotation wardfs.session=svc \
	--annotation "wardfs.policy=$fixed" --annotation wardfs.tree./srv/code=/workspace -v "$work:/srv/code" box sleep 600
[ "$(status_of svc verb)" = oci ] || fail "no session svc: $("$WARDFS" ps)"
expect 0 pod exec svc cat /srv/code/README
has "$OUT" readme
# That policy lets nobody write.
expect 1 pod exec svc sh -c 'echo no >/srv/code/new || exit 1'
[ ! -e new ] || fail 'the policy of the caller does not count'
expect 0 pod rm -f -t 0 svc
expect 0 "$WARDFS" audit verify svc
expect 0 "$WARDFS" audit show --json svc
has "$OUT" '"manager":"libpod"'
has "$OUT" 'wardfs-oci exec'
# Callers do not get values that they may not choose; podman prints the reason.
for a in wardfs.policy=high wardfs.policy=/etc/wardfs/floor.policy wardfs.polciy=low; do
	expect 126 run --rm --annotation "$a" -v "$work:/workspace" box true
	has "$ERR" wardfs.pol
done
# A volume that no policy covers.
mkdir "$W/other"
expect 126 run --rm -v "$W/other:/data" box true
has "$ERR" 'no policy covers the volume'
host_policy 'policy = medium' '[volumes]' 'engine = /var/lib/containers/storage' \
	'engine = /run/containers/storage' "read = $W/other" "pass = $W/pass"
mkdir "$W/pass"
echo other >"$W/other/file"
expect 0 run --rm -v "$W/other:/data" -v "$W/pass:/out" box sh -c \
	'cat /data/file; echo out >/out/file; echo no >/data/file || echo refused'
has "$OUT" other
has "$OUT" refused
[ "$(cat "$W/other/file") $(cat "$W/pass/file")" = 'other out' ] || fail 'read or pass'

# Secrets of the engine, and no privileges.
echo hush >"$W/secret"
expect 0 pod secret create hush "$W/secret"
expect 0 run --rm --secret hush box cat /run/secrets/hush
has "$OUT" hush
expect 126 run --rm --privileged -v "$work:/workspace" box true
has "$ERR" wardfs-oci
expect 126 run --rm --pid host box true
has "$ERR" 'pid namespace'
expect 126 run --rm -v /:/host box true
has "$ERR" 'root of the host'
expect 0 run --rm --cap-add SYS_ADMIN box grep CapBnd /proc/self/status
has "$OUT" '0000000000000000'
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"

# The commands of the page.
host_policy 'policy = medium' '[volumes]' 'engine = /var/lib/containers/storage' \
	'engine = /run/containers/storage'
mkdir "$HOME/app"
echo secret >"$HOME/app/.env"
cd "$HOME"
PATH=$WARD_BUILD:$PATH /usr/bin/python3 "$WARD_SRC/tests/support/console.py" \
	"$WARD_SRC/docs/oci.md" || fail docs/oci.md
# The file that is shipped for hosts is one that it reads.
cp "$WARD_SRC/conf/oci/oci.policy" /etc/wardfs/oci.policy
expect 0 run --rm -v "$work:/workspace" box cat /workspace/README
has "$OUT" readme
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
