# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2034
# For the cases of this folder: a host of the test's own for containers.
#
# on_host SCRIPT [ARG...]  runs the sh script as root in a mount namespace with its own /etc/wardfs,
#                          /run, /var/lib/wardfs and state of engines. The mounts go with the
#                          namespace. Projects and bundles lie in $W.
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

on_host() {
	[ "$(id -u)" -eq 0 ] || skip 'needs root'
	command -v runc >/dev/null || skip 'no runc (Debian package runc)'
	mkdir -p "$WARD_TMP/w" /etc/wardfs
	unshare --mount --propagation private sh -c '
		set -eu
		unset XDG_STATE_HOME XDG_RUNTIME_DIR XDG_CONFIG_HOME
		mkdir -p /var/lib/wardfs /var/lib/containers
		for d in /etc/wardfs /run /var/lib/wardfs /var/lib/containers; do
			mount -t tmpfs -o mode=755 tmpfs "$d"
		done
		W=$WARD_TMP/w
		export W
		sh "$@"' sh "$@"
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
	for applet in sh cat id ls sleep touch mkdir rm echo true grep head mount umount ln mv stat kill; do
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
# Of this test alone: ids are the same in others that run beside it.
import os
c["linux"]["cgroupsPath"] = "/wardfs-oci-" + os.urandom(8).hex()' "$@"
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
