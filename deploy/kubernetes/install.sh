#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Puts wardfs on the node that this container runs on: the package, the policies, and the handler
# "wardfs" of containerd. A second run changes nothing. If one policy has an error, all policies
# stay as they are. A run that was interrupted is finished by the next one.
#
# /host is the node's root, /node and /policies are the ConfigMaps, /wardfs.deb is the package.
set -eu
HOST=${HOST-/host} NODE=${NODE-/node} POLICIES=${POLICIES-/policies} PACKAGE=${PACKAGE-/wardfs.deb}
SHARE=$HOST/usr/share/wardfs/oci
config=$HOST/etc/containerd/config.toml

# In the namespaces of the node's first process, with its programs.
on_node() {
	nsenter --target 1 --mount --uts --ipc --net --pid -- "$@"
}

# put FILE DESTINATION: whole or not at all
put() {
	cmp -s "$1" "$2" && return
	mkdir -p "${2%/*}"
	cp "$1" "$2.new"
	chmod 644 "$2.new"
	mv "$2.new" "$2"
}

if ! cmp -s "$PACKAGE" "$HOST/var/cache/wardfs/installed.deb"; then
	put "$PACKAGE" "$HOST/var/cache/wardfs/new.deb"
	on_node apt-get install -y --no-install-recommends /var/cache/wardfs/new.deb
	mv "$HOST/var/cache/wardfs/new.deb" "$HOST/var/cache/wardfs/installed.deb"
fi

# Each policy is read by the node's wardfs before it takes the place of the old one.
for p in "$POLICIES"/*.policy; do
	name=${p##*/}
	put "$p" "$HOST/var/cache/wardfs/checked/$name"
	on_node wardfs policy check "/var/cache/wardfs/checked/$name"
done
for p in "$POLICIES"/*.policy; do
	put "$p" "$HOST/etc/wardfs/policies/${p##*/}"
done
put "$NODE/oci.policy" "$HOST/etc/wardfs/oci.policy"

# containerd merges no parts of its CRI's section, so the lines go into its one file.
if ! grep -q 'containerd\.runtimes\.wardfs\]' "$config" 2>/dev/null; then
	mkdir -p "${config%/*}"
	if [ -e "$config" ]; then
		cp "$config" "$config.new"
	else
		echo 'version = 2' >"$config.new"
	fi
	# The last lines are for files that do not name runc.
	rest=p
	# shellcheck disable=SC2016 # $d is sed's
	! grep -q 'containerd\.runtimes\.runc\]' "$config.new" || rest='/^# A file that names runtimes/,$d; p'
	sed -n "s|/usr/local/bin/|/usr/bin/|; $rest" "$SHARE/containerd-config.toml" >>"$config.new"
	: >"$HOST/var/cache/wardfs/restart"
	mv "$config.new" "$config"
fi
# Containers live on: each has a shim of its own.
if [ -e "$HOST/var/cache/wardfs/restart" ]; then
	on_node systemctl restart containerd
	rm "$HOST/var/cache/wardfs/restart"
fi
