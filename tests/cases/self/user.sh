#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An ordinary user builds this repository and works on it inside its own sandbox: a uid without
# capabilities, and /dev/fuse with the usual mode 0666, on a node of the test's own.
# timeout: 1800
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
. "$WARD_SRC/tests/cases/self/lib/copy.sh"
copy_sources project
cp "$WARD_SRC/tests/cases/self/lib/load.sh" load.sh
if [ "$(id -u)" -ne 0 ]; then
	[ -w /dev/fuse ] || skip "/dev/fuse is not writable for $(id -un)"
	exec sh load.sh "$WARD_TMP/project"
fi

user=54321
chown -R "$user:$user" project "$HOME" "$XDG_STATE_HOME" "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR"
chown "$user:$user" "$WARD_TMP"
mkdir dev
# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount --propagation private sh -eu -c '
	mount -t tmpfs -o mode=755 dev dev
	mknod -m 666 dev/fuse c 10 229
	mount --bind dev/fuse /dev/fuse
	exec setpriv --reuid "$1" --regid "$1" --clear-groups --inh-caps=-all \
		sh load.sh "$WARD_TMP/project"
' sh "$user"
