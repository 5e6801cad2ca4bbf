#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A caller of an engine steers devices, namespaces and names of config.json past the floor. Each
# attempt first succeeds with runc alone, or with a host's file that allows it.
# shellcheck disable=SC2154,SC2016
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
workspace
mkdir "$W/other"
echo other >"$W/other/file"

fresh() { # fresh PROGRAM...: the bundle as it should be
	bundle "$b" "$@"
	volume "$b" "$work" /workspace
}
host_policy 'policy = medium'

echo "--- a device of the host under a name that every container has (docker --device /dev/X:/dev/null)"
# devices PATH TYPE MAJOR MINOR: as engines write one, with its rule
devices() {
	edit "$b" 'd = {"type": sys.argv[4], "major": int(sys.argv[5]), "minor": int(sys.argv[6])}
c["linux"]["devices"] = [{"path": sys.argv[3], **d}]
c["linux"]["resources"]["devices"] = [{"allow": False, "access": "rwm"}, {"allow": True, "access": "rwm", **d}]' "$@"
}
numbers="stat -c numbers=%t:%T"
# shellcheck disable=SC2086
fresh $numbers /dev/null
devices /dev/null c 10 229
bare numbers=a:e5
stopped 'device /dev/null (c 10:229)'
# shellcheck disable=SC2086
fresh $numbers /dev/null
devices /dev/null c 1 3
works numbers=1:3
# The host's file allows a device of the host, not whatever has its name.
host_policy 'policy = medium' '[floor]' 'device = /dev/fuse'
[ -e /dev/fuse ] || mknod /dev/fuse c 10 229
# shellcheck disable=SC2086
fresh $numbers /dev/fuse
devices /dev/fuse c 10 229
works numbers=a:e5
# shellcheck disable=SC2086
fresh $numbers /dev/fuse
devices /dev/fuse c 1 11
bare numbers=1:b
stopped 'device /dev/fuse (c 1:11)'
devices /dev/fuse b 10 229
stopped 'device /dev/fuse (b 10:229)'
host_policy 'policy = medium'

echo "--- a rule for one device of the host, whose node the image brings (docker --device-cgroup-rule)"
fresh sh -c ': </node && echo opened'
mknod "$b/rootfs/node" c 10 229
rule='"type": "c", "major": 10, "minor": 229'
edit "$b" "c['linux']['resources']['devices'] = [{'allow': False, 'access': 'rwm'}, {'allow': True, $rule, 'access': 'rw'}]"
bare opened
stopped 'the device c 10:229'
edit "$b" "c['linux']['resources']['devices'] = [{'allow': False, 'access': 'rwm'}, {'allow': False, $rule, 'access': 'rw'}, {'allow': True, 'type': 'c', 'major': 1, 'minor': 3, 'access': 'rwm'}]"
n=$((n + 1))
expect 1 oci run -b "$b" "s$n"
hasnt "$OUT" opened
# A line for one device opens neither others nor all; a line for all does.
edit "$b" "c['linux']['resources']['devices'] = [{'allow': False, 'access': 'rwm'}, {'allow': True, $rule, 'access': 'rw'}]"
host_policy 'policy = medium' '[floor]' 'device = /dev/zero'
stopped 'the device c 10:229'
host_policy 'policy = medium' '[floor]' 'device = /dev'
works opened
edit "$b" "c['linux']['resources']['devices'] = [{'allow': True, 'access': 'rwm'}]"
works opened
host_policy 'policy = medium' '[floor]' 'device = /dev/zero'
stopped 'all devices'
host_policy 'policy = medium'
rm "$b/rootfs/node"

echo "--- a namespace of the host by its path (podman --pid=ns:/proc/1/ns/pid)"
for ns in pid ipc; do
	fresh stat -Lc 'is %i' "/proc/self/ns/$ns"
	edit "$b" "c['linux']['namespaces'] = [n for n in c['linux']['namespaces'] if n['type'] != '$ns'] + [{'type': '$ns', 'path': '/proc/self/ns/$ns'}]"
	[ "$ns" = pid ] || bare "is $(stat -Lc %i "/proc/self/ns/$ns")"
	stopped "host's $ns namespace"
done
host_policy 'policy = medium' '[floor]' 'host-namespace = ipc'
works "is $(stat -Lc %i /proc/self/ns/ipc)"
host_policy 'policy = medium' 'network = engine'
fresh true
edit "$b" "c['linux']['namespaces'] = [n for n in c['linux']['namespaces'] if n['type'] != 'network'] + [{'type': 'network', 'path': '/proc/self/ns/net'}]"
bare ''
stopped "host's network namespace"
echo "--- two namespaces of one type"
edit "$b" "c['linux']['namespaces'].append({'type': 'network'})"
stopped "twice"

echo "--- the namespace that the path leads to is the one that was looked at"
unshare --net sleep 600 &
holder=$!
own() { [ "$(stat -Lc %i "/proc/$holder/ns/net")" != "$(stat -Lc %i /proc/self/ns/net)" ]; }
wait_until 30 own
fresh stat -Lc 'is %i' /proc/self/ns/net
edit "$b" "c['linux']['namespaces'] = [n for n in c['linux']['namespaces'] if n['type'] != 'network'] + [{'type': 'network', 'path': '/proc/$holder/ns/net'}]"
works "is $(stat -Lc %i "/proc/$holder/ns/net")"
kill "$holder"

echo "--- names that runc, which is written in Go, takes for others: in capitals, or with a long s"
host_policy 'policy = medium'
fresh cat /data/file
edit "$b" "c['Mounts'] = c['mounts'] + [{'type': 'bind', 'source': '$W/other', 'destination': '/data', 'options': ['rbind']}]"
bare other
stopped "'Mounts'"
fresh true
edit "$b" "c['hook\u017f'] = {'createRuntime': [{'path': '/bin/touch', 'args': ['touch', '$W/hooked']}]}"
bare ''
[ -e "$W/hooked" ] || fail 'control: the hook does not run'
rm "$W/hooked"
stopped 'hook'
[ ! -e "$W/hooked" ] || fail 'the hook ran'
fresh cat /proc/self/status
edit "$b" 'c["process"]["Capabilities"] = {k: ["CAP_CHOWN"] for k in ("bounding", "effective", "permitted")}'
bare 'CapEff:	0000000000000001'
stopped "'Capabilities'"
# Names of annotations are the engine's to choose.
fresh cat /workspace/README
edit "$b" 'c["annotations"] = {"Mounts": "1", "Path": "2"}'
works readme
fresh sleep 600
edit "$b" 'c["linux"]["cgroupsPath"] = "/names"'
oci create -b "$b" names >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
echo '{"terminal": false, "user": {"uid": 0, "gid": 0}, "cwd": "/", "env": ["PATH=/bin"], "args": ["cat", "/proc/self/status"], "Capabilities": {"bounding": ["CAP_CHOWN"], "effective": ["CAP_CHOWN"], "permitted": ["CAP_CHOWN"]}}' >"$W/process"
expect 0 oci start names
expect 0 runc --root "$W/runc" exec --process "$W/process" names
has "$OUT" 'CapEff:	0000000000000001'
expect 1 oci exec --process "$W/process" names
has "$ERR" "'Capabilities'"
echo '{"Pids": {"limit": 500}}' >"$W/raised"
expect 0 runc --root "$W/runc" update --resources "$W/raised" names
expect 1 oci update --resources "$W/raised" names
has "$ERR" "'Pids'"
expect 0 oci delete --force names

echo "--- a policy whose changes nobody could look at"
for changes in direct review discard; do
	printf '[policy]\nversion = 1\nextends = medium\n[tree /workspace]\nchanges = %s\n' $changes >"$W/$changes.policy"
	host_policy "policy = $W/$changes.policy"
	fresh sh -c "echo $changes >/workspace/changed; cat /workspace/changed"
	case $changes in
	direct) works direct ;;
	*) stopped "changes = $changes: wardfs-oci cannot stage changes" ;;
	esac
	[ "$(cat "$work/changed")" = direct ] || fail "$changes: the volume changed"
done
