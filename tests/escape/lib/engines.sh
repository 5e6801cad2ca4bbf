# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034,SC2154
# The adapter of ../engine-table.sh: the same command in each way to have a container, or none.
#
# ENGINES                    their names; `wardfs-oci` is wardfs-oci with runc, and
#                            ENGINE+wardfs-oci that with another runtime
# in_engine NAME POLICY CMD...
#       runs CMD with the directory $PWD as /workspace, by the policy of that file
# command_of NAME POLICY     that as a command line, for a program that starts the sandbox itself
#                            With OCI_PLAIN, wardfs-oci is runc alone: the control
#                            BOX_OPTIONS: more options of its mount at /workspace
# trail_of                   the records of the last run as JSON
# engines.sh in DIR NAME POLICY CMD...     the file as a program: in_engine
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
ENGINES='restricted runc crun podman docker runsc wardfs-oci crun+wardfs-oci runsc+wardfs-oci'
ADAPTER=$WARD_SRC/tests/escape/lib/engines.sh

# oci_runtime NAME: sets $runtime, with the options that hosts as this one need. crun sees version 2
# of the control groups alone, without controllers.
oci_runtime() {
	runtime=$W/runtimes/$1
	case $1 in
	crun) options='--cgroup-manager=disabled' ;;
	runsc) options='--platform=ptrace --ignore-cgroups --network=none' ;;
	*) runtime=$1 ;;
	esac
	if [ "$runtime" != "$1" ] && [ ! -e "$runtime" ]; then
		mkdir -p "$W/runtimes"
		printf '#!/bin/sh\nexec %s %s "$@"\n' "$(command -v "$1")" "$options" >"$runtime.$$"
		chmod 755 "$runtime.$$"
		mv "$runtime.$$" "$runtime"
	fi
}

# version_2 CMD...: CMD where the hierarchies of version 1 are not in sight
version_2() {
	unshare --mount --propagation private sh -c 'umount -R -l /sys/fs/cgroup &&
		mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec "$@"' version_2 "$@"
}

# The container has the host's programs, as the others do: links, and /usr as a volume to read.
in_oci() {
	box=$W/box$$
	for place in proc dev sys tmp etc usr workspace home; do mkdir -p "$box/rootfs/$place"; done
	for link in bin sbin lib lib64; do ln -s "usr/$link" "$box/rootfs/$link"; done
	cp /etc/ld.so.cache "$box/rootfs/etc"
	oci_runtime "$1"
	start=
	[ "$1" != crun ] || start=version_2
	host_policy "runtime = $runtime" "policy = $2" '[volumes]' 'read = /usr'
	shift
	shift
	bundle "$box" "$@"
	# shellcheck disable=SC2086
	volume "$box" "$PWD" /workspace ${BOX_OPTIONS-}
	volume "$box" /usr /usr ro
	edit "$box" 'c["process"].update(cwd="/workspace", env=["PATH=/usr/bin:/usr/sbin", "HOME=/home"])
c["mounts"] += [{"type": "tmpfs", "source": "tmpfs", "destination": d, "options": ["mode=1777"]}
                for d in ("/tmp", "/home")]'
	status=0
	if [ "${OCI_PLAIN-}" ]; then
		$start "$runtime" --root "$W/plain" run --bundle "$box" "box$$" || status=$?
	else
		$start "$OCI" --root "$W/runc" run --bundle "$box" "box$$" || status=$?
	fi
	rm -rf "$box"
	return "$status"
}

# boxes_end: ends the containers whose `run` was killed, as `wardfs attack` kills an attempt that
# takes too long. As with every OCI runtime, they go on.
boxes_end() {
	for id in $(find "$W/runc" "$W/plain" -name 'box[0-9]*' 2>/dev/null |
		sed 's|.*/\(box[0-9]*\).*|\1|' | sort -u); do
		for runtime in runc "$W/runtimes/crun" "$W/runtimes/runsc"; do
			for root in "$W/runc" "$W/plain"; do
				timeout 60 "$runtime" --root "$root" delete --force "$id" >/dev/null 2>&1 || :
			done
		done
	done
}

in_engine() {
	engine=$1
	policy=$2
	shift 2
	case $engine in
	restricted) "$WARDFS" run -p "$policy" -- "$@" ;;
	wardfs-oci) in_oci runc "$policy" "$@" ;;
	*+wardfs-oci) in_oci "${engine%+*}" "$policy" "$@" ;;
	*) "$WARDFS" run --engine "$engine" -p "$policy" -- "$@" ;;
	esac
}

command_of() {
	printf 'sh %s in {work} %s %s' "$ADAPTER" "$1" "$2"
}

trail_of() {
	"$WARDFS" audit show --json
}

if [ "${1-}" = in ]; then
	case $3 in *wardfs-oci) cd "$2" ;; esac
	shift 2
	in_engine "$@"
fi
