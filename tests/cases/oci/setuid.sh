#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: root of a container leaves a setuid program of root's in a guarded volume, for a user of
# the host to start. It sets the bit, or puts other content under a bit that is there. The control
# is the same with runc alone.
# shellcheck disable=SC2154
# timeout: 300
set -eu
. "$WARD_SRC/tests/escape/lib/engines.sh"
inside "$@"
workspace
cd "$work"
printf '[policy]\nversion = 1\nextends = medium\n' >"$W/p.policy"
cp "$WARD_SRC/tests/cases/oci/lib/setuid-try.py" try.py

left() { # what the host finds
	for f in set made mapped; do
		if [ -u "$f" ] && cmp -s "$f" /bin/true; then printf '%s ' "$f"; fi
	done
}
fresh_files() {
	rm -f set made mapped
	cp /bin/true set
	cp /bin/false mapped
	truncate -s "$(stat -c %s /bin/true)" mapped
	chmod 755 set
	chmod 4755 mapped
}
fresh_files
OCI_PLAIN=1 in_engine wardfs-oci "$W/p.policy" /usr/bin/python3 try.py
[ "$(left)" = 'set made mapped ' ] || fail "control: $(left)"
fresh_files
expect 0 in_engine wardfs-oci "$W/p.policy" /usr/bin/python3 try.py
[ -z "$(left)" ] || fail "setuid programs of root's: $(left)"
has "$OUT" "['EPERM', 'EPERM', None]"
cmp -s mapped /bin/true || fail 'the mapping did not write: the attempt is none'
expect 0 "$WARDFS" audit denials
has "$OUT" 'setuid and setgid'
