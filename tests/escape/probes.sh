#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The start-up probes: the test knocks out each layer, and the probe of that name refuses the run.
set -eu
. "$WARD_SRC/tests/escape/lib/escape.sh"
KNOCKOUT=$WARD_BUILD/tests/support/knockout

# probe NAME CMD...: the run is refused by this probe, and the command was not started.
probe() {
	name=$1
	shift
	out=$("$@" 2>"$WARD_TMP/err") && rc=0 || rc=$?
	[ "$rc" = 125 ] && [ -z "$out" ] || fail "$name: exit code $rc, \"$out\": $(cat "$WARD_TMP/err")"
	grep -q "^sandboxrun: probe $name: .*the layer " "$WARD_TMP/err" ||
		fail "$name: $(cat "$WARD_TMP/err")"
}

# An abstract socket of the host, for as long as CMD runs.
with_socket() {
	python3 -c '
import socket, subprocess, sys
s = socket.socket(socket.AF_UNIX)
s.bind(b"\0wardfs-test-" + sys.argv[1].encode())
s.listen(8)
sys.exit(subprocess.run(sys.argv[2:]).returncode)' "$$" "$@"
}

# Whole: every probe that can be made here holds. (/proc/1 is no directory of the view at that path
# before there is a /proc; the file of a user could be anywhere.)
check() {
	with_socket sh -eu -c '
		. "$0"
		inside "$1" --probes --outside "$2" --socket "wardfs-test-$3" -- echo ran 2>"$4"' \
		"$LIB" "$1" "$WARD_TMP" $$ "$WARD_TMP/probes" >"$WARD_TMP/out" ||
		fail "$1: $(cat "$WARD_TMP/probes")"
	[ "$(cat "$WARD_TMP/out")" = ran ] || fail "$1: the command did not run"
	for p in capabilities userns ptrace mount outside read-only connect; do
		grep -q "^probe $p: held" "$WARD_TMP/probes" || fail "$1: $(cat "$WARD_TMP/probes")"
	done
	grep -q "^probe landlock: \(held\|skipped\)" "$WARD_TMP/probes" ||
		fail "$1: $(cat "$WARD_TMP/probes")"
}
LIB=$WARD_SRC/tests/escape/lib/escape.sh
chmod 755 "$WARD_TMP"
each_mode check

# A layer less, and its probe says so. The control of each is the run above.
probe capabilities "$KNOCKOUT" capset=0 -- "$RUN" -- echo ran
probe read-only "$KNOCKOUT" mount_setattr=0 -- "$RUN" -- echo ran
probe outside "$RUN" --outside /usr/bin -- echo ran
probe hidden "$RUN" --hidden /usr/bin/env -- echo ran
probe write "$RUN" --write /tmp/made -- echo ran
if [ "$(uname -m)" = x86_64 ]; then
	probe userns "$KNOCKOUT" write-nothing=0 -- "$RUN" -- echo ran
	# CLONE_NEWNET; the loopback interface is then the host's, which nobody inside may raise.
	with_socket "$KNOCKOUT" unshare-without=0x40000000 ioctl=0 -- \
		"$RUN" --socket "wardfs-test-$$" -- echo ran >"$WARD_TMP/out" 2>"$WARD_TMP/err" &&
		fail "connect: it ran"
	grep -q "^sandboxrun: probe connect: .*the layer \"network namespace\"" "$WARD_TMP/err" ||
		fail "connect: $(cat "$WARD_TMP/err")"
	[ ! -s "$WARD_TMP/out" ] || fail "connect: it ran"
fi
# The refused object must exist, else the answer proves nothing.
probe outside "$RUN" --outside "$WARD_TMP/nowhere" -- echo ran
grep -q "its control .* got the answer ENOENT" "$WARD_TMP/err" || fail "$(cat "$WARD_TMP/err")"

# The filter without the line of a system call, and without any. The blueprint is changed on its way
# to wardfs-init by a program that stands in for it.
mkdir "$WARD_TMP/swap"
cp "$WARD_BUILD/tests/support/blueprint_edit" "$WARD_TMP/swap/wardfs-init"
ln -s "$WARD_BUILD/wardfs-init" "$WARD_TMP/swap/wardfs-init.real"
edited() {
	printf '%s\n' "$1" >"$WARD_TMP/swap/wardfs-init.edit"
}
list=$(dirname "$0")/../../conf/seccomp/default.list
for call in ptrace mount; do
	sed "s/^$call  *deny.*/$call allow/" "$list" >"$WARD_TMP/list"
	cmp -s "$list" "$WARD_TMP/list" && fail "the list has no line for $call"
	edited "list=$WARD_TMP/list"
	probe $call "$RUN" --init "$WARD_TMP/swap/wardfs-init" -- echo ran
done
edited no-filter
probe ptrace "$RUN" --init "$WARD_TMP/swap/wardfs-init" -- echo ran
edited "list=$list"
[ "$("$RUN" --init "$WARD_TMP/swap/wardfs-init" -- echo ran)" = ran ] || fail "control: the list as it is"
# The view with a directory of the host more.
edited "show=/mnt"
probe outside "$RUN" --init "$WARD_TMP/swap/wardfs-init" --outside /mnt -- echo ran
