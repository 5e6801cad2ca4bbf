#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that the agent makes belong to the owner on the host, so a setuid or setgid file would run
# there as the owner, who may be root. A session cannot create one.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

cp "$WARD_SRC/tests/cases/fs/lib/setuid-make.py" "$WARD_TMP/make.py"
cp "$WARD_SRC/tests/cases/fs/lib/setuid-map.py" "$WARD_TMP/map.py"
# struct vfs_cap_data of linux/capability.h, version 2: cap_net_raw, permitted and effective
CAP_NET_RAW=0x0100000200200000000000000000000000000000
has_capabilities() {
	getfattr -n security.capability "$BACK/capable" >/dev/null 2>&1
}
script inside <<END
python3 "$WARD_TMP/make.py" refused
# a setgid directory of the host's keeps its bit, its children inherit it, and it comes and goes
chmod 2775 shared && mkdir shared/sub && same "\$(stat -c %a shared/sub)" 2755
chmod 2770 shared/sub && chmod u=rwx,go=,g-s shared/sub && same "\$(stat -c %a shared/sub)" 700
chmod 2700 shared/sub && : >shared/sub/file && same "\$(stat -c %a shared/sub)" 2700
# content that comes by a mapping, which takes no bit away
python3 "$WARD_TMP/map.py" mapped && same "\$(head -c 5 mapped)" AGENT
# what the kernel keeps of its attributes it is told to drop by another thread
i=0
until [ "\$(stat -c %a mapped)" = 755 ] || [ \$i = 600 ]; do sleep 0.1; i=\$((i + 1)); done
same "\$(stat -c %a mapped)" 755
# capabilities of a file go, or it is not opened
python3 "$WARD_TMP/map.py" capable 2>/dev/null || same "\$(head -c 3 capable)" the
# who only reads it leaves it as it is
cat read >/dev/null && same "\$(stat -c %a read)" 4755 && chmod 755 read
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
# The control: a mapping of the owner's leaves the bit.
fresh
as_owner sh -c "cd '$BACK' && echo the-host-s-own | tee mapped >capable && chmod 4755 mapped"
setfattr -n security.capability -v "$CAP_NET_RAW" "$BACK/capable"
as_owner python3 "$WARD_TMP/map.py" "$BACK/mapped" && as_owner python3 "$WARD_TMP/map.py" "$BACK/capable"
has_capabilities || fail "control: the kernel takes the capability away by itself"
[ "$(stat -c %a "$BACK/mapped")" = 4755 ] || fail "control: the kernel takes the bit away by itself"
for mode in $MODES; do
	fresh
	as_owner sh -c "umask 022; cd '$BACK' && mkdir shared && chmod 2775 shared && : >host &&
		echo the-host-s-own | tee mapped capable >read && chmod 4755 host mapped read"
	setfattr -n security.capability -v "$CAP_NET_RAW" "$BACK/capable"
	in_mode $mode "$WARD_TMP/inside" || fail "$mode"
	[ "$(head -c 3 "$BACK/capable")" = the ] || ! has_capabilities ||
		fail "$mode: $(ls -l "$BACK/capable")"
	[ -z "$(find "$BACK" -perm /6000 ! -type d)" ] || fail "$mode: $(ls -l "$BACK")"
	recorded '^deny .*path=\[/workspace/chmod4000\]'
	recorded '^deny .*path=\[/workspace/create4000\]'
	recorded '^deny .*path=\[/workspace/fifo2000\]'
done
# Where each caller acts with its own ids, what it makes is its own: as on the host.
fresh
chown 0:0 "$BACK"
in_mode other "$WARD_TMP/outside" || fail "other"

# The kernel does not tell the writer's groups, nor that a chown(2) named nobody.
cp "$WARD_SRC/tests/cases/fs/lib/setuid-others.py" "$WARD_TMP/others.py"
chmod 777 "$BACK"
found=$(cd "$BACK" && python3 "$WARD_TMP/others.py" $OWNER 54999)
[ "$found" = "755 775 2664 755 755 " ] || fail "control: natively $found"
found=$(in_mode other -c "exec python3 '$WARD_TMP/others.py' $OWNER 54999")
[ "$found" = "755 775 664 4755 755 " ] || fail "other: $found"
