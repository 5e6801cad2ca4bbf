#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The daemon serves as the owner, without effective capabilities or a way to gain privileges, not
# traceable, behind seccomp.
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script look <<END
n=0
while ! [ -s "$WARD_TMP/pid" ]; do
	n=\$((n + 1))
	[ \$n -lt 6000 ] || { echo "FAIL: no pid"; exit 1; }
	sleep 0.01
done
S=/proc/\$(cat "$WARD_TMP/pid")/status
field() { sed -n "s/^\$1:[[:space:]]*//p" "\$S"; }
same "\$(field Uid)" "$OWNER	$OWNER	$OWNER	$OWNER"
same "\$(field Gid)" "$OWNER	$OWNER	$OWNER	$OWNER"
same "\$(field CapEff)" 0000000000000000
same "\$(field CapPrm)" "\$WANT"
same "\$(field CapInh)" 0000000000000000
same "\$(field NoNewPrivs)" 1
refused "ermission denied" ls -l "\${S%status}fd"
END
case " $(nm -D "$WARD_BUILD/wardfs-fs" 2>/dev/null | tr '\n' ' ')" in
*__asan_init* | *__tsan_init*) ;;
*)
	# Sanitizer builds do without.
	# shellcheck disable=SC2016
	echo 'same "$(field Seccomp)" 2' >>"$WARD_TMP/look"
	;;
esac
policy
for mode in $MODES; do
	fresh
	rm -f "$WARD_TMP/pid"
	# CAP_SYS_ADMIN (bit 21), where passthrough is asked for
	WANT=0000000000000000
	case $mode in
	root) opts="-m root" WANT=0000000000200000 ;;
	cached) opts="-m root -n" ;;
	user) opts="-m user" ;;
	esac
	export WANT
	# shellcheck disable=SC2086
	"$FSMOUNT" $opts -o $OWNER:$OWNER -p "$WARD_TMP/pid" "$POLICY" "$BACK" "$MNT" \
		sh -eu "$WARD_TMP/look" || fail "$mode: confinement"
done
