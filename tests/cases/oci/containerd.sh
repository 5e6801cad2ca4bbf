#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
# wardfs-oci under containerd: containers of ctr, and pods by the socket of the CRI, as Kubernetes
# makes them, with the runtime handler of the file that is shipped.
# containerd passes no options of the sanitizers on; oci/runc and oci/hostile run with them.
# plain
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
command -v containerd >/dev/null || skip 'no containerd (Debian package containerd)'
python3 -c 'import grpc' || skip 'no gRPC (Debian package python3-grpcio)'
inside "$@"
. "$WARD_SRC/tests/cases/oci/lib/daemons.sh"
workspace
cd "$work"
echo secret >.env
# All containers of a pod have the pod's network, which the engine makes.
sed 's/^network = policy/network = engine/' "$WARD_SRC/conf/oci/oci.policy" >/etc/wardfs/oci.policy
# In place of /var/lib/kubelet, which is the host's.
token=$W/pods/uid-web/volumes/kubernetes.io~projected/kube-api-access
sed -i "s|^engine  = /var/lib/kubelet/pods/\*/volumes/kubernetes.io~projected|&\nengine = $W/pods/*/volumes/kubernetes.io~projected|" \
	/etc/wardfs/oci.policy
mkdir -p "$token"
python3 -c 'import base64
part = lambda s: base64.urlsafe_b64encode(s.encode()).decode().rstrip("=")
print(part("{}") + "." + part("""{"kubernetes.io": {"namespace": "team", "pod": {"uid": "uid-web"},
	"serviceaccount": {"name": "builder"}}}""") + ".c2lnbmF0dXJl", end="")' >"$token/token"
mkdir /etc/wardfs/policies
fixed=/etc/wardfs/policies/fixed.policy
printf '[policy]\nversion = 1\nextends = medium\n[guard]\nread = /workspace\n' >$fixed

# A network of pods that leads nowhere: what a plugin of CNI has to answer.
mkdir -p "$W/cni/bin" /etc/cni/net.d
cat >"$W/cni/bin/nowhere" <<'NOWHERE'
#!/bin/sh
[ "$CNI_COMMAND" != ADD ] || echo '{"cniVersion": "0.4.0", "interfaces": [{"name": "eth0", "sandbox": "'"$CNI_NETNS"'"}],
	"ips": [{"version": "4", "interface": 0, "address": "192.0.2.1/32"}]}'
NOWHERE
chmod 755 "$W/cni/bin/nowhere"
cp "$W/cni/bin/nowhere" "$W/cni/bin/loopback"
echo '{"cniVersion": "0.4.0", "name": "nowhere", "plugins": [{"type": "nowhere"}]}' >/etc/cni/net.d/nowhere.conflist
cat >"$W/cri.toml" <<CRI
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "localhost/box:latest"
# A host of tests may be a container that cannot lower it.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "$W/cni/bin"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "native"
CRI
image "$W/image"
trap daemons_end EXIT
start_containerd
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
cri() {
	python3 "$WARD_SRC/tests/cases/oci/lib/cri.py" "$CONTAINERD_ADDRESS" "$@"
}

# ctr: the control has the runtime alone.
run() {
	ctr run --rm --rootfs --env PATH=/bin --mount "type=bind,src=$work,dst=/workspace,options=rbind:rw" "$@"
}
expect 0 run "$W/image" plain cat /workspace/.env
has "$OUT" secret
expect 0 run --runc-binary "$OCI" "$W/image" one cat /workspace/README
has "$OUT" readme
expect 1 run --runc-binary "$OCI" "$W/image" two cat /workspace/.env
expect 0 run --runc-binary "$OCI" --annotation "wardfs.policy=$fixed" --annotation wardfs.session=fixed \
	"$W/image" three sh -c 'cat /workspace/README; echo no >/workspace/new || echo refused'
has "$OUT" refused
[ ! -e new ] || fail 'the policy of the caller does not count'
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
expect 0 "$WARDFS" audit verify fixed

# The CRI: a pod of two containers, the one that holds the namespaces and ours.
expect 0 python3 "$WARD_SRC/tests/cases/oci/lib/archive.py" "$W/image" localhost/box:latest "$W/box.tar"
expect 0 ctr --namespace k8s.io images import --snapshotter native "$W/box.tar"
# Control: the same pod with the runtime alone.
expect 0 cri run runc control localhost/box:latest "$work" -- sleep 600
pod=${OUT% *} container=${OUT#* }
expect 0 cri exec "$container" cat /workspace/.env
has "$OUT" secret
expect 0 cri remove "$pod"

expect 0 cri run wardfs web localhost/box:latest "$work" "wardfs.policy=$fixed" \
	"$token:/var/run/secrets/kubernetes.io/serviceaccount" -- sleep 600
pod=${OUT% *} container=${OUT#* }
session=$(session_of "$container")
[ "$(cri state "$container")" = running ] || fail 'it does not run'
expect 0 cri exec "$container" cat /workspace/README
has "$OUT" readme
expect 1 cri exec "$container" cat /workspace/.env
expect 1 cri exec "$container" sh -c 'echo no >/workspace/new'
[ ! -e new ] || fail 'the policy of the pod does not count'
# The guard of the container dies: the container ends, and the kubelet would see it.
kill -9 "$(status_of "$session" fs_pid)"
exited() { [ "$(cri state "$container")" = exited ]; }
wait_until 60 exited || fail "it runs without its guard: $(cri state "$container")"
expect 0 cri remove "$pod"
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
"$WARDFS" audit show --json --kind session.start "$session" >"$W/start"
for label in '"container":"main"' '"pod":"web"' '"namespace":"team"' '"pod-uid":"uid-web"' \
	'"service-account":"builder"' '"image":"localhost/box:latest"' "\"container-id\":\"$container\""; do
	grep -q "$label" "$W/start" || fail "no label $label: $(cat "$W/start")"
done

# A policy that callers may not choose; nothing is left of the pod.
expect 1 cri run wardfs bad localhost/box:latest "$work" wardfs.policy=low -- sleep 600
has "$ERR" wardfs.policy
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
