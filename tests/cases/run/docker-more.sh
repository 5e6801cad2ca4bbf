#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode docker: the rest of a session works in a container of each engine, as root and as an ordinary
# user. Denials, top, attach, limits of memory and idle time, labels, the broker, reviews
# with their steps, and questions; and an engine by its path.
# plain
# timeout: 1800
set -eu
. "$WARD_SRC/tests/cases/network/lib/network.sh"
[ "$(id -u)" -eq 0 ] || skip 'needs root'
for engine in runc crun runsc podman dockerd; do
	command -v "$engine" >/dev/null ||
		skip "no $engine (Debian packages runc, crun, runsc, podman, docker.io)"
done
case ${1-} in
'')
	in_host "$0" root
	in_host "$0" user
	;;
root)
	mkdir "$WARD_TMP/roothome"
	HOME=$WARD_TMP/roothome sh "$WARD_SRC/tests/cases/run/lib/docker-session.sh" \
		runc crun runsc podman docker
	exit
	;;
user)
	chmod 777 "$NET/www"
	as_user "$WARD_SRC/tests/cases/run/lib/docker-session.sh" runc runsc podman
	exit
	;;
esac

# An engine by its path; and none that others can change.
project "$WARD_TMP/work"
cd "$WARD_TMP/work"
expect 0 "$WARDFS" run --engine "$(command -v runc)" --session by-path -- true
"$WARDFS" audit show by-path --json | grep -q '"engine":"runc"' || fail 'no engine in the trail'
mkdir "$WARD_TMP/bin"
cp "$(command -v runc)" "$WARD_TMP/bin/runc"
chmod 777 "$WARD_TMP/bin"
expect 125 "$WARDFS" run --engine "$WARD_TMP/bin/runc" -- true
has "$ERR" 'others than its owner can change'
