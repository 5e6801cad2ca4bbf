#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
# deploy/kubernetes: the example Pod by `podman kube play`, what the installer does to a node, and
# that the files fit together.
# podman passes no options of the sanitizers on; oci/runc and oci/hostile run with them.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
command -v podman >/dev/null || skip 'no podman (Debian package podman)'
command -v containerd >/dev/null || skip 'no containerd (Debian package containerd)'
inside "$@"
deploy=$WARD_SRC/deploy/kubernetes
workspace
cd "$W"
echo secret >"$work/.env"
echo state >"$work/a.tfstate"
PYTHONPATH=$WARD_SRC/tests/cases/oci/lib python3 "$WARD_SRC/tests/cases/oci/lib/manifests.py" "$deploy" "$W/maps"

# The installer. The test does its work on the node here, or notes it.
mkdir -p bin host/usr/share/wardfs host/etc/containerd
cp -r "$WARD_SRC/conf/oci" host/usr/share/wardfs/oci
echo package >wardfs.deb
cat >bin/nsenter <<'NSENTER'
#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
echo "$*" >>"$W/commands"
case $1 in
wardfs) exec "$WARDFS" policy check "$W/host$4" ;;
systemctl) exit "${RESTART-0}" ;;
esac
NSENTER
chmod 755 bin/nsenter
node() {
	: >commands
	PATH=$W/bin:$PATH HOST=$W/host NODE=$W/maps/wardfs-node POLICIES=$W/maps/wardfs-policies \
		PACKAGE=$W/wardfs.deb sh "$deploy/install.sh"
}
# It ends before containerd was told: the next one tells it.
RESTART=1 expect 1 node
expect 0 node
has "$(cat commands)" 'systemctl restart containerd'
cmp maps/wardfs-node/oci.policy host/etc/wardfs/oci.policy
cmp maps/wardfs-policies/agent.policy host/etc/wardfs/policies/agent.policy
expect 0 containerd --config host/etc/containerd/config.toml config dump
has "$OUT" 'BinaryName = "/usr/bin/wardfs-oci"'
has "$OUT" 'runtimes.runc]'
cp host/etc/containerd/config.toml config.toml
expect 0 node
hasnt "$(cat commands)" systemctl
hasnt "$(cat commands)" apt-get
cmp config.toml host/etc/containerd/config.toml || fail 'the second run changed it'
# A policy with an error: no policy changes.
echo '[nonsense]' >>maps/wardfs-policies/agent.policy
echo '; new' >>maps/wardfs-node/oci.policy
expect 2 node
has "$OUT$ERR" nonsense
hasnt "$(cat host/etc/wardfs/policies/agent.policy host/etc/wardfs/oci.policy)" 'nonsense'
hasnt "$(cat host/etc/wardfs/oci.policy)" '; new'
# A node whose file has a runtime already keeps it, once.
containerd config default >host/etc/containerd/config.toml
sed -i '/nonsense/d' maps/wardfs-policies/agent.policy
expect 0 node
[ "$(grep -c 'runtimes.runc\]' host/etc/containerd/config.toml)" = 1 ] || fail 'runc twice'
expect 0 containerd --config host/etc/containerd/config.toml config dump
has "$OUT" 'BinaryName = "/usr/bin/wardfs-oci"'

# The pod, on a node with what the installer put there.
cp host/etc/wardfs/oci.policy /etc/wardfs/
sed -i 's|^engine = /run/containerd$|engine = /run/containers/storage\nengine = /var/lib/containers/storage|' /etc/wardfs/oci.policy
cp -r host/etc/wardfs/policies /etc/wardfs/
STORAGE_DRIVER=vfs
CONTAINERS_CONF=$W/containers.conf
export STORAGE_DRIVER CONTAINERS_CONF
{
	printf '[containers]\nnetns = "none"\ndefault_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]\n'
	printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
	printf 'infra_image = "localhost/box:latest"\n'
	sed "s|/usr/local/bin/wardfs-oci|$OCI|" "$WARD_SRC/conf/oci/podman-containers.conf"
} >"$CONTAINERS_CONF"
image "$W/image"
tar -C "$W/image" -c . | expect 0 podman import --change 'CMD sleep 600' \
	--change 'ENV PATH=/bin' - localhost/box:latest
sed "s|/srv/project|$work|" "$deploy/pod.yaml" >pod.yaml
trap 'podman pod rm -f --all >"$W/rm" 2>&1 || cat "$W/rm" >&2' EXIT
# Control.
expect 0 podman --runtime runc kube play --network none pod.yaml
expect 0 podman --runtime runc exec agent-main cat /workspace/.env
has "$OUT" secret
expect 0 podman --runtime runc pod rm -f -t 0 agent
expect 0 podman --runtime wardfs kube play --network none pod.yaml
listed() { podman --runtime wardfs logs agent-main 2>&1 | grep -q README; }
wait_until 60 listed || fail "$(podman --runtime wardfs logs agent-main 2>&1)"
expect 1 podman --runtime wardfs exec agent-main cat /workspace/.env
expect 1 podman --runtime wardfs exec agent-main cat /workspace/a.tfstate
session=$(session_of "$(podman inspect -f '{{.Id}}' agent-main)")
expect 0 podman --runtime wardfs pod rm -f -t 0 agent
expect 0 "$WARDFS" audit verify "$session"
expect 0 "$WARDFS" audit denials --expected "$session"
has "$OUT" a.tfstate
