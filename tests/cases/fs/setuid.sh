#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the agent makes belongs to the owner on the host: a setuid or setgid file of the agent's
# would run there as the owner, who may be root. In a session no such file comes to be.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/setuid-make.py" "$WARD_TMP/make.py"
script inside <<END
python3 "$WARD_TMP/make.py" refused
# a setgid directory of the host's keeps its bit, its children inherit it, and it comes and goes
chmod 2775 shared && mkdir shared/sub && same "\$(stat -c %a shared/sub)" 2755
chmod 2770 shared/sub && chmod u=rwx,go=,g-s shared/sub && same "\$(stat -c %a shared/sub)" 700
chmod 2700 shared/sub && : >shared/sub/file && same "\$(stat -c %a shared/sub)" 2700
# the sticky bit gives nobody anything
mkdir sticky && chmod 1777 sticky && same "\$(stat -c %a sticky)" 1777
# a file that had the bit on the host: it is not set anew, but goes
refused "not permitted" chmod 4711 host
chmod 711 host && same "\$(stat -c %a host)" 711
END
script outside <<END
python3 "$WARD_TMP/make.py" allowed
END
policy
for mode in $MODES; do
	fresh
	as_owner sh -c "umask 022; cd '$BACK' && mkdir shared && chmod 2775 shared && : >host &&
		chmod 4755 host"
	in_mode $mode "$WARD_TMP/inside" || fail "$mode"
	[ -z "$(find "$BACK" -perm /6000 ! -type d)" ] || fail "$mode: $(ls -l "$BACK")"
	recorded '^deny .*path=\[/workspace/chmod4000\]'
	recorded '^deny .*path=\[/workspace/create4000\]'
	recorded '^deny .*path=\[/workspace/fifo2000\]'
done
# Where each caller acts with its own ids, what it makes is its own: as on the host.
fresh
chown 0:0 "$BACK"
in_mode other "$WARD_TMP/outside" || fail "other"
