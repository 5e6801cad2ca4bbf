#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mapped ids: volumes whose files have other owners in the container, and user namespaces of an
# engine. Rules and rights go by the ids of the container, and nothing that is hidden shows by them.
# shellcheck disable=SC2154
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
workspace
chmod 755 "$W"
echo secret >"$work/.env"
mkdir "$work/private" "$W/other"
echo mine >"$work/private/file"
chmod 700 "$work/private"
chown 4711:4712 "$work" "$work/private" "$work/private/file" "$W/other"
echo other >"$W/other/file"
chown 4711:4712 "$W/other/file"
host_policy 'policy = medium' '[volumes]' "pass = $W/other"
fresh() { # fresh UID PROGRAM...: /workspace and /data, as that user of the container
	uid=$1
	shift
	bundle "$b" "$@"
	chmod 755 "$b" "$b/rootfs"
	volume "$b" "$work" /workspace
	volume "$b" "$W/other" /data
	edit "$b" "c['process']['user'] = {'uid': $uid, 'gid': $uid}"
}
maps() { # maps DISK SEEN SIZE: both volumes are mapped
	edit "$b" "for m in c['mounts']:
	if m['destination'] in ('/workspace', '/data'):
		r = [{'containerID': $1, 'hostID': $2, 'size': $3}]
		m.update(uidMappings=r, gidMappings=r)"
}
owners='stat -c "%u:%g %n" /workspace/README /workspace/private /data/file'

# Control: without a mapping the ids are the host's, and another user is kept out.
fresh 11 sh -c "$owners; cat /workspace/private/file"
n=$((n + 1))
expect 1 oci run -b "$b" "c$n"
has "$OUT" '4711:4712 /workspace/private'
has "$ERR" 'Permission denied'

# 4700 to 4799 of the disk are 0 to 99 in the container: 4711 is 11, 4712 is 12.
fresh 11 sh -c "$owners; cat /workspace/private/file /data/file; echo made >/workspace/made; echo made >/data/made
	cat /workspace/.env || echo hidden"
maps 4700 0 100
works '11:12 /workspace/private'
has "$OUT" '11:12 /data/file'
has "$OUT" mine
has "$OUT" hidden
# What has no id in the container belongs to nobody.
has "$OUT" '65534:65534 /workspace/README'
[ "$(stat -c %u:%g "$work/made" "$W/other/made" | uniq)" = 4711:4711 ] || fail 'owners on the disk'
rm "$work/made" "$W/other/made"
# The file of another id stays closed, and so does what nobody maps. Root of the container is 4700.
fresh 12 sh -c 'cat /workspace/private/file || echo closed'
maps 4700 0 100
works closed
fresh 0 sh -c 'cat /workspace/private/file || echo closed; echo no >/workspace/README || echo kept'
maps 4700 0 100
works closed
has "$OUT" kept
[ "$(cat "$work/README")" = readme ] || fail 'a file of an id that is not mapped was written'
# An id that the disk has no number for makes nothing.
fresh 200 sh -c 'echo no >/workspace/new || echo kept'
chmod 777 "$work"
maps 4700 0 100
works kept
[ ! -e "$work/new" ] || fail 'made without an id'
chmod 755 "$work"

# The trail says that the ids were mapped, and still names the file as the policy does.
host_policy 'policy = medium' '[volumes]' "pass = $W/other" '[caller]' 'session = yes'
fresh 11 cat /workspace/.env
maps 4700 0 100
edit "$b" 'c["annotations"] = {"wardfs.session": "mapped"}'
stopped "can't open"
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
expect 0 "$WARDFS" audit show --json --kind session.start mapped
has "$OUT" '"ids":"mapped"'
expect 0 "$WARDFS" audit denials --expected mapped
has "$OUT" /workspace/.env

# A user namespace of the engine's, and `idmap` alone: the volume has the container's mapping. What
# belongs to 11 on the disk belongs to 11 inside, although that is 100011 on the host.
chown 11:12 "$work" "$work/private" "$work/private/file"
space() {
	edit "$b" 'c["linux"]["namespaces"].append({"type": "user"})
m = [{"containerID": 0, "hostID": 100000, "size": 65536}]
c["linux"].update(uidMappings=m, gidMappings=m)'
}
fresh 11 sh -c 'cat /workspace/private/file || echo closed'
space
works closed
for option in idmap ridmap; do
	fresh 11 sh -c "cat /proc/self/uid_map; $owners; cat /workspace/private/file; echo made >/workspace/made"
	space
	edit "$b" "[m['options'].append('$option') for m in c['mounts'] if m['destination'] in ('/workspace', '/data')]"
	works '11:12 /workspace/private'
	has "$OUT" mine
	has "$OUT" 100000
	[ "$(stat -c %u "$work/made")" = 11 ] || fail 'the owner on the disk'
	rm "$work/made"
done

# What is no mapping, and what only looks like one.
bad() { # bad WHY PYTHON: m is the mount at /workspace
	fresh 11 true
	maps 4700 0 100
	works ''
	edit "$b" "m = [m for m in c['mounts'] if m['destination'] == '/workspace'][0]
$2"
	stopped "$1"
}
bad 'range of ids' 'm["uidMappings"][0]["size"] = 0'
bad 'range of ids' 'm["uidMappings"][0]["size"] = -1'
bad 'range of ids' 'm["uidMappings"][0]["hostID"] = 1 << 32'
bad 'range of ids' 'm["uidMappings"][0].update(containerID=(1 << 32) - 2, size=100)'
bad 'range of ids' 'm["uidMappings"][0]["hostID"] = "0\n0 0 4294967295"'
bad 'range of ids' 'm["uidMappings"] = ["0 0 1"]'
bad 'no list' 'm["uidMappings"] = {}'
bad 'no list' 'm["uidMappings"] = []'
bad 'no list' 'del m["gidMappings"]'
bad 'no list' 'm["uidMappings"] = [{"containerID": i, "hostID": i, "size": 1} for i in range(400)]'
bad 'refuses the ids' 'm["uidMappings"] = m["uidMappings"] * 2'
bad "behind 'idmap='" 'm["options"].append("idmap=uids=0-0-4294967295;gids=0-0-4294967295")'
fresh 11 true
edit "$b" '[m["options"].append("idmap") for m in c["mounts"] if m["destination"] == "/workspace"]'
stopped 'user namespace of its own'
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
for s in $("$WARDFS" audit list --json | python3 -c '
import json, sys
for s in json.load(sys.stdin): print(s["session"])'); do
	expect 0 "$WARDFS" audit verify "$s"
done

# A bundle that belongs to the container's mapped root, as podman makes it. Whoever has that id
# replaces config.json on the host once the decision is made: the runtime has another bundle.
# Control: where root owns the directory, and so nobody else can do that, the replacement counts.
chmod 755 "$WARD_TMP"
mkdir "$W/swap"
cat >"$W/swap/runc" <<END
#!/bin/sh
case " \$* " in *' run '*) nsenter --mount --target $$ mv '$b/evil.json' '$b/config.json' ;; esac
exec $(command -v runc) "\$@"
END
chmod 755 "$W/swap/runc"
podmans() { # podmans PROGRAM...
	fresh 0 "$@"
	edit "$b" 'c["linux"]["namespaces"].append({"type": "user"})
r = [{"containerID": 0, "hostID": 100000, "size": 65536}]
c["linux"].update(uidMappings=r, gidMappings=r)'
	sed 's|/workspace/README|/etc/passwd|' "$b/config.json" >"$b/evil.json"
}
host_policy "runtime = $W/swap/runc" 'policy = medium' '[volumes]' "pass = $W/other"
podmans cat /workspace/README
works root:x
podmans cat /workspace/README
chown 100000 "$b"
works readme
chown 100001 "$b"
stopped 'others than root can change it'
chown 100000 "$b"
chmod 775 "$b"
stopped 'others than root can change it'
chmod 755 "$b"
podmans cat /workspace/README
chown 100000 "$b/config.json"
stopped 'config.json: others than root can change it'
chown 0 "$b/config.json"
chown 0 "$b"
