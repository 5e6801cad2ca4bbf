#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-oci with runc: create, start, exec, state, kill, delete and run, for a container with a
# guarded volume. The session begins and ends with the container. Nothing remains.
# shellcheck disable=SC2154
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
workspace
cd "$work"
echo secret >.env
chmod 777 "$work"
host_policy 'policy = medium'

# Without wardfs-oci, the container reads all of the volume: the control.
bundle "$b" sh -c 'cat /workspace/.env; cat /workspace/README; echo made >/workspace/made'
volume "$b" "$work" /workspace
expect 0 runc --root "$W/plain" run -b "$b" control
has "$OUT" secret
rm made

# run: the guard answers; the policy hides what it hides.
expect 0 oci run -b "$b" one
has "$OUT" readme
hasnt "$OUT" secret
[ "$(cat made)" = made ] || fail 'the volume was not written to'
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
complete() { "$WARDFS" audit list | grep -q "ended$"; }
wait_until 60 complete || fail "$("$WARDFS" audit list)"
expect 0 "$WARDFS" audit show --json
has "$OUT" '"verb":"oci"'
has "$OUT" '"container-id":"one"'
has "$OUT" '"path":"/workspace/README"'
expect 0 "$WARDFS" audit denials --expected
has "$OUT" /workspace/.env
expect 0 "$WARDFS" audit verify

# One step after the other, as engines do it.
bundle "$b" sh -c 'while :; do sleep 1; done'
volume "$b" "$work" /workspace
oci create -b "$b" --pid-file "$W/pid" two >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
session=$(session_of two)
expect 0 oci state two
has "$OUT" '"status": "created"'
[ "$(status_of "$session" verb)" = oci ] || fail 'wardfs ps does not list it'
# The host sees no mount, and the container sees the guard's.
hasnt "$(cat /proc/mounts)" /run/wardfs/oci
expect 0 oci start two
expect 0 oci state two
has "$OUT" '"status": "running"'
has "$(cat "/proc/$(cat "$W/pid")/mounts")" fuse.wardfs

# exec: the same walls, and a record of it.
expect 0 oci exec two cat /workspace/README
has "$OUT" readme
expect 1 oci exec two cat /workspace/.env
expect 0 oci exec two sh -c 'echo later >/workspace/later'
"$WARDFS" audit show --json --kind exec "$session" >"$W/execs"
grep -q 'wardfs-oci exec' "$W/execs" || fail "no record: $(cat "$W/execs")"
grep -q '/workspace/.env' "$W/execs" || fail 'the record has no command line'
# It gets no more than the floor; what the engine asks for is in a file.
caps='["CAP_SYS_ADMIN", "CAP_NET_RAW"]'
printf '{"user":{"uid":0,"gid":0},"cwd":"/","env":["PATH=/bin"],"args":["grep","-E","^(CapEff|CapBnd|NoNew)","/proc/self/status"],"capabilities":{"bounding":%s,"effective":%s,"permitted":%s}}' \
	"$caps" "$caps" "$caps" >"$W/process"
expect 0 runc --root "$W/runc" exec --process "$W/process" two
has "$OUT" 'CapEff:	0000000000202000'
for form in "--process $W/process" "--process=$W/process" "-p $W/process"; do
	# shellcheck disable=SC2086
	expect 0 oci exec $form two
	has "$OUT" 'CapEff:	0000000000000000'
	has "$OUT" 'CapBnd:	0000000000000000'
	has "$OUT" 'NoNewPrivs:	1'
done
expect 1 oci exec --cap CAP_SYS_ADMIN two true
has "$ERR" '--cap is refused'
# Without such a file the runtime takes the bundle's process for a model, here with what the engine
# wrote there: the control.
expect 0 runc --root "$W/runc" exec two grep -E '^(CapEff|CapBnd|NoNew)' /proc/self/status
hasnt "$OUT" 'CapEff:	0000000000000000'
expect 0 oci exec two grep -E '^(CapEff|CapBnd|NoNew)' /proc/self/status
has "$OUT" 'CapEff:	0000000000000000'
has "$OUT" 'CapBnd:	0000000000000000'
has "$OUT" 'NoNewPrivs:	1'
hasnt "$(cat /proc/mounts)" "$b"

# What the runtime answers by itself.
expect 0 oci ps two
has "$OUT" sleep
expect 0 oci features
has "$OUT" ociVersionMax

# A second one of the same id; the end.
expect 1 oci create -b "$b" two
has "$ERR" 'exists already'
expect 0 oci kill two KILL
stopped() { oci state two | grep -q '"status": "stopped"'; }
wait_until 60 stopped || fail "$(oci state two)"
expect 0 oci delete two
expect 0 "$WARDFS" audit verify "$session"
expect 0 "$WARDFS" audit show --json --kind session.end "$session"
has "$OUT" 'the container ended'
[ -z "$(ls /run/wardfs/oci)" ] || fail "left: $(ls /run/wardfs/oci)"
expect 1 oci exec two true
expect 1 oci start two
has "$ERR" 'without its guard'

# A container that is deleted before it was started; and one whose program does not exist.
oci create -b "$b" three >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
session=$(session_of three)
expect 0 oci delete --force three
expect 0 "$WARDFS" audit verify "$session"
edit "$b" 'c["process"]["args"] = ["/no/such"]'
expect 1 oci run -b "$b" four
has "$ERR" no/such
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"

# A terminal of the container's own.
bundle "$b" sh -c 'test -t 0 && cat /workspace/README'
volume "$b" "$work" /workspace
edit "$b" 'c["process"]["terminal"] = True'
expect 0 script -qec "'$OCI' --root '$W/runc' run -b '$b' five" /dev/null
has "$OUT" readme

# Several users, one of them with a user namespace of the engine's: each with its own rights.
mkdir -m 700 private
chown 4711 private
echo mine >private/file
chown 4711 private/file
bundle "$b" sh -c 'id -u; cat /workspace/private/file; echo more >>/workspace/private/file'
volume "$b" "$work" /workspace
edit "$b" 'c["process"]["user"] = {"uid": 4711, "gid": 4711}'
expect 0 oci run -b "$b" six
has "$OUT" mine
edit "$b" 'c["process"]["user"] = {"uid": 4712, "gid": 4712}'
expect 1 oci run -b "$b" seven
has "$ERR" 'Permission denied'
chmod 755 "$W" "$b" "$b/rootfs"
edit "$b" 'c["process"]["user"] = {"uid": 11, "gid": 11}
c["linux"]["namespaces"].append({"type": "user"})
m = [{"containerID": 0, "hostID": 4700, "size": 100}]
c["linux"].update(uidMappings=m, gidMappings=m)'
expect 0 oci run -b "$b" eight
has "$OUT" mine
edit "$b" 'c["process"]["user"] = {"uid": 12, "gid": 12}'
expect 1 oci run -b "$b" nine
has "$ERR" 'Permission denied'
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
for s in $("$WARDFS" audit list --json | python3 -c '
import json, sys
for s in json.load(sys.stdin): print(s["session"])'); do
	expect 0 "$WARDFS" audit verify "$s"
done
