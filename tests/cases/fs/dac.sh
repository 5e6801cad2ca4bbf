#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The owner's permissions on the host apply inside, whatever capabilities the daemon has.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script dac <<'END'
refused "Permission denied" cat rootfile
refused "Permission denied" sh -c 'echo x >>rootfile'
refused "Permission denied" sh -c 'echo x >>readable'
refused "Permission denied" touch rootdir/new
refused "Operation not permitted" chmod 777 rootfile
same "$(cat readable)" readable
same "$(cat group)" group
refused "Permission denied" cat othergroup
# what was open stays open, what is opened anew is refused
mkdir -p a/b && echo deep >a/b/f
exec 3<a/b/f
same "$(cat a/b/f)" deep
chmod 0 a
refused "Permission denied" cat a/b/f
same "$(cat <&3)" deep
chmod 700 a
same "$(cat a/b/f)" deep
# by a working directory beneath
( cd a/b && chmod 0 .. && refused "Permission denied" cat f && chmod 700 ../../a 2>/dev/null ||
	exit 1 )
chmod 700 a
# who may not read a directory gets no listing, also of what was listed before; the control is the
# same
mkdir list never && touch list/x never/x
same "$(ls list)" x
for i in 1 2 3; do
	chmod 300 list
	refused "cannot open directory 'list': Permission denied" ls list
	chmod 700 list
	same "$(ls list)" x
done
mkdir empty && chmod 0 empty && rm -r -f empty
chmod 300 never && refused "Permission denied" ls never && chmod 700 never && same "$(ls never)" x
# modes of files, sticky and setgid directories, umask
chmod 0 a/b/f && refused "Permission denied" cat a/b/f && chmod 600 a/b/f
umask 027 && touch a/u && same "$(stat -c %a a/u)" 640 && mkdir a/ud
same "$(stat -c %a a/ud)" 750
umask 022
mkdir a/sg && chmod 2755 a/sg && mkdir a/sg/x && same "$(stat -c %a a/sg/x)" 2755
# the exec bit of one's own class counts, not anybody's
cp /bin/true prog
for m in 611 601 655; do chmod $m prog && refused "Permission denied" ./prog; done
chmod 700 prog && ./prog
printf '#!/bin/sh\ntrue\n' >prog && chmod 611 prog && refused "Permission denied" ./prog
chmod 711 prog && ./prog
./groupprog
refused "Permission denied" ./othersprog
setfacl -m d:u:0:rwx a/ud && touch a/ud/y && getfacl -p a/ud/y | grep -q '^user:root:rw' ||
	{ echo "default ACL"; exit 1; }
END
for mode in root cached; do
	policy
	fresh
	echo secret >"$BACK/rootfile" && chmod 600 "$BACK/rootfile"
	echo readable >"$BACK/readable"
	mkdir "$BACK/rootdir"
	echo group >"$BACK/group" && chgrp 54999 "$BACK/group" && chmod 640 "$BACK/group"
	echo group >"$BACK/othergroup" && chgrp 54998 "$BACK/othergroup" && chmod 640 "$BACK/othergroup"
	cp /bin/true "$BACK/groupprog" && cp /bin/true "$BACK/othersprog"
	chgrp 54999 "$BACK/groupprog" "$BACK/othersprog"
	chmod 750 "$BACK/groupprog" && chmod 745 "$BACK/othersprog"
	n=
	[ $mode = root ] || n=-n
	"$FSMOUNT" -m root $n -o $OWNER:$OWNER,54999 -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
		sh -eu "$WARD_TMP/dac" || fail "$mode: dac"
	[ "$(cat "$BACK/rootfile")" = secret ] || fail "$mode: written"
done

# A root owner whose agent has another id: ownership is mapped both ways.
script mapped <<'END'
same "$(id -u)" 1234
same "$(stat -c %u:%g mine)" 1234:1234
same "$(stat -c %u their)" 777
same "$(stat -c %u namesake)" 65534
touch new && same "$(stat -c %u new)" 1234 && chown 1234:1234 new && chmod 600 new && rm new
touch kept
END
policy
fresh
chown 0:0 "$BACK"
touch "$BACK/mine" "$BACK/their" "$BACK/namesake"
chown 777 "$BACK/their"
chown 1234 "$BACK/namesake"
"$FSMOUNT" -m root -o 0:0 -a 1234:1234 -l "$EVENTS" "$POLICY" "$BACK" "$MNT" \
	sh -eu "$WARD_TMP/mapped" || fail mapped
[ "$(stat -c %u:%g "$BACK/kept")" = 0:0 ] || fail "owner on the host"

# Rootless: what cannot be mapped is shown as the owner's, and keeps the host's answer.
script masked <<END
same "\$(stat -c %u their)" $OWNER
refused "ermission denied" sh -c 'echo x >>their'
same "\$(cat their)" their
echo x >own && chown $OWNER:$OWNER own
cp /bin/true prog && chmod 611 prog && refused "Permission denied" ./prog && chmod 711 prog && ./prog
refused "Permission denied" ./theirprog
END
fresh
echo their >"$BACK/their"
cp /bin/true "$BACK/theirprog" && chmod 754 "$BACK/theirprog"
in_mode user "$WARD_TMP/masked" || fail masked

# Many users: each with its own ids and groups, root with its capabilities.
script other <<'END'
echo secret >rootfile && chmod 600 rootfile
chmod 777 .
as() { ids=$1; shift; setpriv --reuid=$ids --regid=$ids --clear-groups "$@"; }
as 54321 sh -c 'echo mine >mine && chmod 600 mine'
same "$(stat -c %u:%g mine)" 54321:54321
refused "Permission denied" as 54321 cat rootfile
refused "Permission denied" as 54322 cat mine
same "$(as 54321 cat mine)" mine
same "$(cat mine)" mine
chgrp 54999 rootfile && chmod 640 rootfile
same "$(setpriv --reuid=54322 --regid=54322 --groups=54999 cat rootfile)" secret
refused "Permission denied" setpriv --reuid=54322 --regid=54322 --groups=54998 cat rootfile
setfacl -m u:54322:r mine && same "$(as 54322 cat mine)" mine
refused "Permission denied" as 54323 cat mine
refused "not permitted" as 54322 chmod 777 mine
chmod 1777 . && refused "not permitted" as 54322 rm -f mine
chown 54322 mine && same "$(stat -c %u mine)" 54322
END
policy
fresh
chown 0:0 "$BACK"
in_mode other "$WARD_TMP/other" || fail other

# ACLs of an ordinary user's mount: they hold, and are not told or set (ADR 51). The control is the
# owner's session that root starts, where they are.
script acls <<'IN'
same "$(cat given)" given
if [ "$1" = user ]; then
	refused "Permission denied" sh -c 'echo x >>given'
	refused "Operation not supported" setfacl -m "u:$2:rw" mine
	same "$(getfacl -cp given | grep -c "^user:$2:")" 0
else
	same "$(getfacl -cp given | grep "^user:$2:")" "user:$2:r--"
	setfacl -m "u:$2:rw" mine
fi
IN
for mode in root user; do
	case " $MODES " in *" $mode "*) ;; *) continue ;; esac
	policy
	fresh
	echo given >"$BACK/given" && chmod 600 "$BACK/given" && setfacl -m "u:$OWNER:r" "$BACK/given"
	as_owner touch "$BACK/mine"
	in_mode $mode "$WARD_TMP/acls" $mode $OWNER || fail "$mode: ACLs"
done
