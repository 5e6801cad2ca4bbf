#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-oci with crun as its runtime: run, create, start, exec, kill and delete. crun refuses a
# host that mixes both versions of control groups, and so does the container. What follows then
# sees version 2 alone, as on other hosts.
# shellcheck disable=SC2154
# timeout: 200
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
command -v crun >/dev/null || skip 'no crun (Debian package crun)'
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }

if [ "${1-}" != version-2 ]; then
	inside "$@"
	host_policy 'runtime = crun' 'policy = medium'
	if [ -e /sys/fs/cgroup/unified ]; then
		workspace
		bundle "$b" cat /workspace/README
		volume "$b" "$work" /workspace
		hybrid='cgroups in hybrid mode not supported'
		expect 1 crun --root "$W/plain" run -b "$b" control
		has "$ERR" "$hybrid"
		stopped "$hybrid"
		wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
		rm -r "$work" "$b"
	fi
	exec unshare --mount --propagation private sh -c '
		umount -R -l /sys/fs/cgroup
		mount -t cgroup2 cgroup2 /sys/fs/cgroup
		exec sh "$0" version-2' "$0"
fi

workspace
echo secret >"$work/.env"
# That version has no controllers here.
mkdir "$W/bin"
printf '#!/bin/sh\nexec %s --cgroup-manager=disabled "$@"\n' "$(command -v crun)" >"$W/bin/crun"
chmod 755 "$W/bin/crun"
host_policy "runtime = $W/bin/crun" 'policy = medium'
bundle "$b" sh -c 'cat /workspace/README; cat /workspace/.env || exit 7'
volume "$b" "$work" /workspace
# Control: without wardfs-oci it reads all of the volume.
expect 0 "$W/bin/crun" --root "$W/plain" run -b "$b" control
has "$OUT" secret
# crun waits for each child that it has.
expect 7 oci run -b "$b" one
has "$OUT" readme
hasnt "$OUT" secret
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
expect 0 "$WARDFS" audit verify latest

bundle "$b" sleep 600
volume "$b" "$work" /workspace
oci create -b "$b" two >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
session=$(session_of two)
expect 0 oci start two
expect 0 oci state two
has "$OUT" '"status": "running"'
expect 0 oci exec two cat /workspace/README
has "$OUT" readme
expect 1 oci exec two cat /workspace/.env
expect 0 oci kill two KILL
stopped_now() { oci state two | grep -q '"status": "stopped"'; }
wait_until 60 stopped_now || fail "$(oci state two)"
expect 0 oci delete --force two
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
expect 0 "$WARDFS" audit verify "$session"
