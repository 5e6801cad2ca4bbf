# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2016,SC2034
# For the cases of this folder: a host of the test's own for containers.
#
# on_host SCRIPT [ARG...]  runs the sh script as root in a mount namespace with its own /etc/wardfs,
#                          /run, /var/cache, /var/lib/wardfs, state of engines and tree of control
#                          groups, and with $HOME as root's home. The mounts go with the namespace.
#                          Projects and bundles lie in $W.
# inside "$@"              with the arguments of the case: the rest of the case runs on such a host
# workspace                makes the project $work with a README; $b is where its bundle goes
# In a script:
# host_policy LINE...      /etc/wardfs/oci.policy: [oci] version = 1, and these lines
# image DIR                a root file system of busybox
# bundle DIR [PROGRAM...]  a bundle of it that runs the program; change it with edit
# edit DIR PYTHON          changes its config.json: c is the object
# oci ARG...               wardfs-oci, with the runtime's state in $W/runc
# session_of ID            the session of a container
set -eu
. "$WARD_SRC/tests/lib.sh"
OCI=$WARD_BUILD/wardfs-oci

# The mount points of the control groups' hierarchies: one (v2), or one a controller.
hierarchies() {
	awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts
}

# group_remove GROUP: removes it from each hierarchy, with all beneath. Fails while a process is in.
group_remove() {
	for h in $(hierarchies); do
		[ ! -d "$h/$1" ] || find "$h/$1" -depth -type d -exec rmdir {} + || return 1
	done
}

# group_make GROUP: a group in each hierarchy, with the controllers and processors that its parent
# has.
group_make() {
	for h in $(hierarchies); do
		mkdir "$h/$1"
		if [ -e "$h/$1/cgroup.controllers" ]; then
			sed 's/[^ ][^ ]*/+&/g' "$h/$1/cgroup.controllers" >"$h/$1/cgroup.subtree_control"
		elif [ -e "$h/$1/cpuset.cpus" ]; then
			# Empty at first, and then nothing can run in it.
			cat "$h/cpuset.cpus" >"$h/$1/cpuset.cpus"
			cat "$h/cpuset.mems" >"$h/$1/cpuset.mems"
		fi
	done
}

# Engines and runtimes see this group alone, as the top of each hierarchy. So two cases never meet,
# and whatever an engine forgets is found and removed, also after a failure.
on_host() {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	command -v runc >/dev/null || skip 'no runc (Debian package runc)'
	awk -F: -v OFS=: '$3 == 0 { $6 = ENVIRON["HOME"] } 1' /etc/passwd >"$WARD_TMP/passwd"
	chmod 644 "$WARD_TMP/passwd"
	mkdir -p "$WARD_TMP/w" /etc/wardfs /etc/cni /var/lib/wardfs /var/lib/containers /var/lib/containerd \
		/var/lib/docker
	GROUP=wardfs-oci-$(od -An -N8 -tx8 /dev/urandom | tr -d ' ')
	group_make "$GROUP"
	# To tests that run beside this one an empty group is a leftover: this one never is.
	sleep 7200 >/dev/null 2>&1 &
	holder=$!
	# Version 2 has no processes in a group that hands on controllers.
	for h in $(hierarchies); do
		at=$h/$GROUP
		[ ! -e "$at/cgroup.controllers" ] || mkdir "$at/case"
		[ ! -e "$at/case" ] || at=$at/case
		echo "$holder" >"$at/cgroup.procs"
	done
	status=0
	GROUPS_AT=$(hierarchies) GROUP=$GROUP unshare --mount --propagation private sh -c '
		set -eu
		unset XDG_STATE_HOME XDG_RUNTIME_DIR XDG_CONFIG_HOME
		for d in /etc/wardfs /etc/cni /run /var/cache /var/lib/wardfs /var/lib/containers \
			/var/lib/containerd /var/lib/docker; do
			[ ! -d "$d" ] || mount -t tmpfs -o mode=755 tmpfs "$d"
		done
		mount --bind "$WARD_TMP/passwd" /etc/passwd
		g=$WARD_TMP/groups
		mkdir "$g"
		[ "$GROUPS_AT" = /sys/fs/cgroup ] || mount -t tmpfs -o mode=755 tmpfs "$g"
		for h in $GROUPS_AT; do
			mkdir -p "$g${h#/sys/fs/cgroup}"
			mount --bind "$h/$GROUP" "$g${h#/sys/fs/cgroup}"
		done
		umount -R -l /sys/fs/cgroup
		mount --move "$g" /sys/fs/cgroup
		W=$WARD_TMP/w
		export W
		sh "$@"' sh "$@" || status=$?
	kill "$holder"
	wait "$holder" || :
	wait_until 60 group_remove "$GROUP" || fail "groups left: $(find /sys/fs/cgroup -path "*/$GROUP*")"
	return "$status"
}

inside() {
	[ "${1-}" = inside ] || {
		on_host "$0" inside
		exit
	}
}

workspace() {
	work=$W/work
	b=$W/bundle
	project "$work"
	echo readme >"$work/README"
}

host_policy() {
	{
		printf '[oci]\nversion = 1\n'
		printf '%s\n' "$@"
	} >/etc/wardfs/oci.policy
}

image() {
	mkdir -p "$1/bin" "$1/etc" "$1/proc" "$1/dev" "$1/sys" "$1/tmp" "$1/workspace"
	cp /bin/busybox "$1/bin/busybox"
	for applet in sh cat id ls sleep touch mkdir rm echo true grep head mount umount ln mv stat kill ip; do
		ln -s busybox "$1/bin/$applet"
	done
	echo root:x:0:0::/:/bin/sh >"$1/etc/passwd"
}

edit() {
	python3 -c 'import json, sys
f = sys.argv[1] + "/config.json"
c = json.load(open(f))
exec(sys.argv[2])
json.dump(c, open(f, "w"))' "$@"
}

bundle() {
	dir=$1
	shift
	mkdir -p "$dir"
	(cd "$dir" && rm -f config.json && runc spec)
	[ -e "$dir/rootfs" ] || image "$dir/rootfs"
	edit "$dir" 'c["process"].update(terminal=False, args=sys.argv[3:])
c["root"] = {"path": "rootfs"}
import os
c["linux"]["cgroupsPath"] = "/" + os.urandom(8).hex()' "$@"
}

# volume DIR SOURCE DESTINATION [OPTION...]: one more bind mount
volume() {
	dir=$1
	shift
	edit "$dir" 'c["mounts"].append({"type": "bind", "source": sys.argv[3],
	"destination": sys.argv[4], "options": ["rbind"] + sys.argv[5:]})' "$@"
}

oci() {
	"$OCI" --root "$W/runc" "$@"
}

session_of() {
	sed -n 's/.*"session":"\([^"]*\)".*/\1/p' "/run/wardfs/oci/$1@"*/session
}

# The bundle is $b; each container gets a name of its own.
n=0
works() { # works TEXT: wardfs-oci runs the bundle, which prints that
	n=$((n + 1))
	expect 0 oci run -b "$b" "w$n"
	has "$OUT" "$1"
}
bare() { # bare TEXT: runc alone runs the bundle: the control
	n=$((n + 1))
	expect 0 runc --root "$W/plain" run -b "$b" "c$n"
	has "$OUT" "$1"
}
stopped() { # stopped TEXT: wardfs-oci does not, and says why
	n=$((n + 1))
	expect 1 oci run -b "$b" "s$n"
	has "$ERR" "$1"
}
