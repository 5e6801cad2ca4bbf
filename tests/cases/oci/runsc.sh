#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs-oci with gVisor as its runtime: the container has a kernel of its own, and the guard
# answers for its volume. Create, start, exec, kill and delete; a dead guard; under podman, too.
# shellcheck disable=SC2154
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
command -v runsc >/dev/null || skip 'no runsc (Debian package runsc)'
inside "$@"
workspace
echo secret >"$work/.env"
# What this host's kernel and control groups need of it.
mkdir "$W/bin"
cat >"$W/bin/runsc" <<END
#!/bin/sh
exec $(command -v runsc) --platform=ptrace --ignore-cgroups --network=none "\$@"
END
chmod 755 "$W/bin/runsc"
host_policy "runtime = $W/bin/runsc" 'policy = medium'
bundle "$b" sh -c 'cat /proc/version /workspace/README; cat /workspace/.env || exit 7'
volume "$b" "$work" /workspace
# Control: without wardfs-oci it reads all of the volume.
"$W/bin/runsc" --root "$W/plain" run -bundle "$b" control >"$W/out" 2>&1 || fail "$(cat "$W/out")"
has "$(cat "$W/out")" secret
expect 7 oci run --bundle "$b" one
has "$OUT" 'Linux version 4.4.0'
has "$OUT" readme
hasnt "$OUT" secret
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"

# gVisor asks nobody before it starts a program. A policy with noexec rules refuses the container,
# unless the host's file allows less. The control: runc starts it, and refuses the program alone.
printf "#!/bin/sh\necho started\n" >"$work/tool.bin"
chmod 755 "$work/tool.bin"
printf '[policy]\nversion = 1\nextends = medium\n[files]\nnoexec = *.bin\n' >"$W/noexec.policy"
bundle "$b" sh -c '/workspace/tool.bin || exit 7'
volume "$b" "$work" /workspace
host_policy "policy = $W/noexec.policy"
expect 7 oci run --bundle "$b" noexec-runc
"$WARDFS" audit show --json | python3 "$WARD_SRC/tests/support/via.py" none || fail 'runc has a via'
host_policy "runtime = $W/bin/runsc" "policy = $W/noexec.policy"
expect 1 oci run --bundle "$b" noexec-runsc
has "$ERR" 'the policy has noexec rules'
host_policy "runtime = $W/bin/runsc" "policy = $W/noexec.policy" 'allow-missing = exec'
expect 0 oci run --bundle "$b" noexec-allowed
has "$OUT" started
expect 0 "$WARDFS" audit show --json --kind session.start
has "$OUT" '"lacks":["[limits] idle","noexec"]'
host_policy "runtime = $W/bin/runsc" 'policy = medium'
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"

# As an engine does it. gVisor reads for the container: the record names a process of gVisor.
bundle "$b" sleep 600
volume "$b" "$work" /workspace
begun() { # begun ID: the container runs in $session
	oci create --bundle "$b" "$1" >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
	expect 0 oci start "$1"
	session=$(session_of "$1")
}
over() { # over ID: it is deleted, and nothing is left of it
	expect 0 oci delete --force "$1"
	wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
	hasnt "$(cat /proc/mounts)" /run/wardfs/oci
	[ ! -e "$W/runc/$1" ] || fail "left: $(ls "$W/runc")"
}
begun two
expect 0 oci state two
has "$OUT" '"status": "running"'
expect 0 oci exec two cat /proc/version /workspace/README
has "$OUT" 'Linux version 4.4.0'
has "$OUT" readme
expect 1 oci exec two cat /workspace/.env
# The container runs: its writer writes when it comes to it.
denied_now() { "$WARDFS" audit denials --expected "$session" | grep -q /workspace/.env; }
wait_until 60 denied_now || fail "no refusal: $("$WARDFS" audit show "$session")"
expect 0 oci kill two KILL
stopped_now() { oci state two | grep -q '"status": "stopped"'; }
wait_until 60 stopped_now || fail "$(oci state two)"
over two
expect 0 "$WARDFS" audit verify "$session"
"$WARDFS" audit show "$session" --json | python3 "$WARD_SRC/tests/support/via.py" runsc open lookup ||
	fail "$("$WARDFS" audit show "$session" --json)"

# Without its guard the container ends.
begun three
kill -9 "$(status_of "$session" fs_pid)"
ended_now() { ! oci state three | grep -q '"status": "running"'; }
wait_until 60 ended_now || fail "$(oci state three)"
over three
expect 1 "$WARDFS" audit verify "$session"
has "$OUT" incomplete

# Under podman.
command -v podman >/dev/null || exit 0
CONTAINERS_CONF=$W/containers.conf
export CONTAINERS_CONF
{
	printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1000:1000"]\n'
	printf '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n'
	printf '[engine.runtimes]\nwardfs = ["%s"]\nplain = ["%s"]\n' "$OCI" "$W/bin/runsc"
} >"$CONTAINERS_CONF"
host_policy "runtime = $W/bin/runsc" 'policy = medium' '[volumes]' 'engine = /var/lib/containers/storage' \
	'engine = /run/containers/storage'
in_podman() { # in_podman RUNTIME PROGRAM...
	runtime=$1
	shift
	podman --storage-driver=vfs --runtime "$runtime" run --rm --network=none -v "$work:/workspace" \
		--rootfs "$b/rootfs" "$@"
}
expect 0 in_podman plain cat /workspace/.env
has "$OUT" secret
expect 0 in_podman wardfs cat /proc/version /workspace/README
has "$OUT" 'Linux version 4.4.0'
has "$OUT" readme
expect 1 in_podman wardfs cat /workspace/.env
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
