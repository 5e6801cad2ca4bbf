#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `wardfs doctor` says what is missing and how to fix it. Its exit status says whether a run can
# start.
set -eu
. "$WARD_SRC/tests/lib.sh"

[ "$(id -u)" = 0 ] || skip "takes things away from itself, which needs root"

# as_other MODE CMD...: an ordinary user, with a /dev/fuse of this mode; COVER: a directory hidden
# before
as_other() {
	unshare -m sh -c '
		mode=$1; shift
		mount -t tmpfs wardfs-test /mnt && mknod /mnt/fuse c 10 229 && chmod "$mode" /mnt/fuse &&
		mount --bind /mnt/fuse /dev/fuse && mkdir /mnt/build &&
		mount --bind "$WARD_BUILD" /mnt/build &&
		if [ -n "${COVER-}" ]; then mount -t tmpfs wardfs-test "$COVER"; fi &&
		exec setpriv --reuid 1234 --regid 1234 --clear-groups "$@"' sh "$@"
}

reported() { # reported EXIT_CODE STATUS NAME: in the report just made
	[ "$rc" = "$1" ] || fail "exit code $rc, not $1: $(cat out)"
	grep -Eq "^$2 +$3 " out || fail "no line $2 $3: $(cat out)"
}

# The control: where everything is there, all that is required is ok.
"$WARDFS" doctor >out && rc=0 || rc=$?
reported 0 ok sandbox
grep -q '^missing' out && fail "$(cat out)"
as_other 0666 /mnt/build/wardfs doctor >out && rc=0 || rc=$?
reported 0 ok sandbox
reported 0 optional 'fuse passthrough'
grep -q '^optional: not set up here, and nothing needs it' out || fail "$(cat out)"

# The further needs of the network: as root and as that user, and where no link can be made. The
# control stands above: with it the line is ok.
reported 0 ok 'network broker'
reported 0 ok 'network askers'
unshare -r sh -c 'echo 0 >/proc/sys/user/max_net_namespaces && exec "$0" doctor' "$WARDFS" >out && rc=0 || rc=$?
reported 1 unusable 'network broker'
grep -q '^unusable: does not work here as it is' out || fail "$(cat out)"
! grep -q absent out || fail "$(cat out)"

# Each mode is tried as a whole, or the reason is told. Without net namespaces none works.
reported 1 unusable 'mode none'
"$WARDFS" doctor >out && rc=0 || rc=$?
for m in restricted process none auto; do
	reported 0 ok "mode $m"
done
reported 0 ok "mode docker"
for e in runc crun runsc podman docker; do
	grep -q "^ok *engine $e .*/$e, version [0-9].*: for mode docker and for wardfs-oci" out || fail "$e: $(cat out)"
done
grep -q '^optional *engine kata  *not installed' out || fail "$(cat out)"
# Programs that hang, or print no version, are not usable; nor is one that others can change.
unshare -m sh -c 'printf "#!/bin/sh\nexec sleep 600\n" >hangs && printf "#!/bin/sh\nexit 3\n" >fails
	cp "$(command -v runsc)" open && chown 0:0 hangs fails open && chmod 755 hangs fails && chmod 777 open
	for e in runc=hangs crun=fails runsc=open; do mount --bind "${e#*=}" "$(command -v "${e%=*}")"; done
	exec "$WARDFS" doctor' >out || fail "doctor fails"
grep -q '^unusable *engine runc .*--version does not return' out || fail "$(cat out)"
grep -q '^unusable *engine crun .*--version does not print a version' out || fail "$(cat out)"
grep -q '^unusable *engine runsc .*others than its owner can change' out || fail "$(cat out)"
# What an engine needs besides is missing, or others can change it.
unshare -m sh -c 'for p in conmon dockerd; do mount --bind /dev/null "$(command -v $p)"; done
	exec "$WARDFS" doctor' >out || fail "doctor fails"
grep -q '^unusable *engine podman .*conmon is no program' out || fail "$(cat out)"
grep -q '^unusable *engine docker .*dockerd is no program' out || fail "$(cat out)"
# On a host without engines: named, and no reason to fail.
unshare -m sh -c 'for e in runc crun runsc podman docker; do
	p=$(command -v $e) && mount --bind /dev/null "$p"; done; exec "$WARDFS" doctor' >out || fail "doctor fails"
grep -q '^unusable *mode docker ' out || fail "control: $(cat out)"
grep -A1 '^unusable *engine runc ' out | grep -q 'fix: apt-get install runc (or crun, runsc)' || fail "$(cat out)"

# Its programs cannot be listed beneath a directory that each session begins with empty. Elsewhere
# they can.
beneath() { # beneath DIR CMD...: the build at DIR
	unshare -m sh -c 'mount --bind "$WARD_BUILD" "$1" && shift && exec "$@"' sh "$@"
}
mkdir -p "$WARD_TMP/build"
beneath /mnt /mnt/wardfs doctor >out
grep -q '^ok *mode wasm .*wardfs-quickjs; programs of WASI are translated by wasm2c and gcc' out || fail "$(cat out)"
beneath "$WARD_TMP/build" "$WARD_TMP/build/wardfs" doctor >out
grep -q '^unusable *mode wasm .*lies beneath .*tmp, which is empty when a session starts; fix: install wardfs' out || fail "$(cat out)"
echo 'console.log(1)' >a.js
expect 125 beneath "$WARD_TMP/build" "$WARD_TMP/build/wardfs" run --mode wasm a.js
has "$ERR" "which is empty when a session starts; fix: install wardfs"

# No Deno is on this machine's PATH.
reported 0 unusable "mode deno"
grep -q "^unusable *mode deno .*npm install -g deno" out || fail "no fix for deno: $(cat out)"

# The device closed to this user.
as_other 0600 /mnt/build/wardfs doctor >out && rc=0 || rc=$?
reported 1 missing /dev/fuse
reported 1 missing sandbox
reported 1 ok 'user namespaces'
grep -q 'fix: as root: chmod 0666 /dev/fuse' out || fail "$(cat out)"

# No user namespaces: their limit is a file of the namespace one is in.
unshare -r sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" doctor' "$WARDFS" >out &&
	rc=0 || rc=$?
reported 1 missing 'user namespaces'
grep -q 'fix: .*sysctl -w user.max_user_namespaces' out || fail "$(cat out)"

# A run there names what is missing and the fix; a fault of another kind does not blame the host.
mkdir p && cd p && git init -q .
unshare -r sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$0" run -- touch started' "$WARDFS" \
	2>err && rc=0 || rc=$?
[ "$rc" = 125 ] || fail "exit code $rc: $(cat err)"
grep -q 'missing on this host: user namespaces .*fix: .*sysctl -w user.max_user_namespaces' err ||
	fail "$(cat err)"
[ ! -e started ] || fail "the command ran"
XDG_STATE_HOME=/proc "$WARDFS" run -- touch started 2>err && rc=0 || rc=$?
[ "$rc" = 125 ] || fail "exit code $rc: $(cat err)"
grep -q 'missing on this host' err && fail "$(cat err)"
"$WARDFS" run -- touch started || fail "control: it can run"
rm started
# The same late in a start, of an ordinary user: the supervisor is not dumpable by then, and could
# map no id.
mkdir -p late/project && chown -R 1234:1234 late
(
	unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
	cd late/project && HOME=${PWD%/*} as_other 0666 /mnt/build/tests/support/knockout pivot_root=EPERM -- \
		/mnt/build/wardfs run -- touch started
) 2>err && rc=0 || rc=$?
[ "$rc" = 125 ] || fail "exit code $rc: $(cat err)"
grep -q 'pivot_root' err || fail "$(cat err)"
grep -q 'missing on this host' err && fail "$(cat err)"

# A kernel too old, as uname(2) tells it under this personality(2): named, with the fix.
mkdir mnt
setarch --uname-2.6 "$WARDFS" run -- touch started 2>err && rc=0 || rc=$?
[ "$rc" = 125 ] || fail "exit code $rc: $(cat err)"
grep -q 'kernel is too old: Linux 6.1 or newer is needed, this is Linux 2.6.*; fix: boot' err ||
	fail "$(cat err)"
[ ! -e started ] || fail "the command ran"
setarch --uname-2.6 "$WARDFS" mount . mnt 2>err && rc=0 || rc=$?
[ "$rc" = 125 ] || fail "exit code $rc: $(cat err)"
grep -q 'kernel is too old' err || fail "$(cat err)"
setarch --uname-2.6 "$WARDFS" doctor >out && rc=0 || rc=$?
reported 1 missing kernel
grep -q 'fix: use Linux 6.1' out || fail "$(cat out)"

# No device.
unshare -m sh -c 'mount -t tmpfs wardfs-test /dev && mknod -m 666 /dev/null c 1 3 &&
	mknod -m 666 /dev/zero c 1 5 && mknod -m 666 /dev/full c 1 7 && mknod -m 666 /dev/random c 1 8 &&
	mknod -m 666 /dev/urandom c 1 9 && mknod -m 666 /dev/tty c 5 0 &&
	exec "$0" run -- touch started' "$WARDFS" 2>err && rc=0 || rc=$?
[ "$rc" = 125 ] || fail "exit code $rc: $(cat err)"
grep -q '/dev/fuse.*fix: ' err || fail "$(cat err)"
[ ! -e started ] || fail "the command ran"
cd ..

# No /proc of one's own where the host's is covered.
COVER=/proc/sys/fs as_other 0666 /mnt/build/wardfs doctor >out && rc=0 || rc=$?
reported 1 missing 'proc mount'
reported 1 missing sandbox
grep -q 'fix: .*leave /proc uncovered' out || fail "$(cat out)"

# The kind of the host, and how such a host gets what is missing.
DEVCONTAINER=1 "$WARDFS" doctor >out
grep -q '^ok  *host  *a devcontainer; .*runArgs.*--device=/dev/fuse' out || fail "$(cat out)"
"$WARDFS" doctor >out
grep -q '^ok  *host  *a devcontainer' out && fail "control: $(cat out)"

# host_with FILE TEXT: the report of a host that is no container but for this file, as an overlay of
# this one.
host_with() {
	unshare -m sh -ec '
		mount -t tmpfs wardfs-test /mnt
		mkdir /mnt/upper /mnt/work /mnt/root
		mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
		for d in proc dev sys tmp var; do mount --rbind /$d /mnt/root/$d; done
		rm -rf /mnt/root/.dockerenv /mnt/root/run/.containerenv /mnt/root/run/systemd
		mkdir -p "/mnt/root${1%/*}"
		echo "$2" >"/mnt/root$1"
		shift 2
		exec chroot /mnt/root env -u container "$@"' sh "$@" >out || :
}
host_with /run/nothing '' "$WARDFS" doctor
grep -q '^ok  *host  *no known container' out || fail "control: $(cat out)"
host_with /.dockerenv '' "$WARDFS" doctor
grep -q '^ok  *host  *a docker container; .*--device /dev/fuse' out || fail "$(cat out)"
host_with /run/.containerenv '' "$WARDFS" doctor
grep -q '^ok  *host  *a podman container; .*unmask=ALL' out || fail "$(cat out)"
host_with /run/systemd/container lxc "$WARDFS" doctor
grep -q '^ok  *host  *a container (lxc); ' out || fail "$(cat out)"
host_with /run/nothing '' env container=systemd-nspawn "$WARDFS" doctor
grep -q '^ok  *host  *a container (systemd-nspawn); ' out || fail "$(cat out)"
if [ "$(uname -m)" = x86_64 ]; then
	host_with /run/nothing '' "$WARD_BUILD/tests/support/knockout" \
		uname-release=6.6.87.2-microsoft-standard-WSL2 -- "$WARDFS" doctor
	grep -q '^ok  *host  *WSL 2; ' out || fail "$(cat out)"
	grep -q '6.6.87.2-microsoft' out || fail "control: $(cat out)"
fi
# Ranges of ids: told, by name and by number; another's is none.
for range in "root:100000:65536=a range" "0:100000:65536=a range" "roots:1:2=no range" "=no range"; do
	host_with /etc/subuid "${range%%=*}" "$WARDFS" doctor
	grep -q "${range#*=} in /etc/subuid; wardfs needs none" out || fail "$range: $(cat out)"
done
"$WARDFS" doctor >out

# AppArmor's restriction, as Ubuntu has it: the profile that comes along is the fix.
grep -q '^ok  *apparmor' out || fail "control: $(cat out)"
unshare -m sh -c 'mount -t tmpfs wardfs-test /proc/sys/kernel &&
	echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns &&
	mount -t tmpfs wardfs-test /mnt && mkdir /mnt/build && mount --bind "$WARD_BUILD" /mnt/build &&
	exec setpriv --reuid 1234 --regid 1234 --clear-groups /mnt/build/wardfs doctor' >out || :
grep -q '^unusable  *apparmor .*is 1' out || fail "$(cat out)"
grep -q 'fix: .*apparmor/wardfs /etc/apparmor.d/wardfs && apparmor_parser -r' out || fail "$(cat out)"
# This uid is in no passwd file, and some versions of podman print no version then.
! grep -q '^unusable  *engine podman' out ||
	grep -q 'engine podman .* does not run for uid 1234, which has no entry in /etc/passwd' out || fail "$(cat out)"
grep -q "^profile wardfs-init .*/wardfs-init flags=(unconfined)" "$WARD_BUILD/conf/wardfs.apparmor" ||
	fail "no profile for the program that makes the namespaces"

# For programs.
"$WARDFS" doctor --json >out
python3 "$WARD_SRC/tests/cases/sandbox/lib/doctor-json.py"
"$WARDFS" doctor --nonsense >out 2>err && rc=0 || rc=$?
[ "$rc" = 2 ] || fail "exit code $rc for a wrong option"
