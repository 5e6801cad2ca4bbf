#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A caller of an engine uses bundles, volumes and command lines to get more than the host's file
# allows. Each attempt first succeeds with runc alone, or with a host's file that allows it.
# shellcheck disable=SC2154,SC2016
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
workspace
echo secret >"$work/.env"
mkdir "$W/other"
echo other >"$W/other/file"

fresh() { # fresh [PROGRAM...]: the bundle as it should be
	if [ $# -eq 0 ]; then set -- cat /workspace/README; fi
	# The runtime made this directory to mount on.
	rm -rf "$b/rootfs/data"
	bundle "$b" "$@"
	volume "$b" "$work" /workspace
}

# The host's file: missing, another's to change, wrong, without a default.
fresh
bare readme
rm -f /etc/wardfs/oci.policy
stopped oci.policy
host_policy 'policy = medium'
works readme
chmod 666 /etc/wardfs/oci.policy
stopped 'others than root'
chmod 644 /etc/wardfs/oci.policy
host_policy 'policy = medium' 'colour = red'
stopped "unknown key 'colour'"
host_policy
stopped 'names no policy'
host_policy 'policy = medium' 'runtime = /tmp/x/runc'
stopped runc

# The environment of the engine, as sudo keeps it: owner and home are root's, and so is the place of
# the guards that a later container finds. Control: `wardfs run` by root takes them from there.
steered() {
	env SUDO_UID=4711 SUDO_GID=4711 SUDO_USER=tbob HOME="$W/home" "$@"
}
mkdir "$W/home"
guards=.local/state/wardfs/guards
host_policy 'policy = medium'
works readme
[ -n "$(ls "$HOME/$guards/0")" ] || fail "no guards in the home of root"
rm -r "${HOME:?}/$guards"
expect 0 steered "$OCI" --root "$W/runc" run -b "$b" steered
has "$OUT" readme
[ -n "$(ls "$HOME/$guards/0")" ] || fail "no guards in the home of root"
[ -z "$(ls "$W/home")" ] || fail 'the home was taken from the environment'
expect 0 "$WARDFS" audit show latest --json
has "$OUT" '"owner_uid":0,'
has "$OUT" '"sudo_user":"tbob"'
cd "$work"
expect 0 steered "$WARDFS" run --session control -- true
cd "$W"
expect 0 "$WARDFS" audit show control --json
has "$OUT" '"owner_uid":4711,'

# Annotations that the file does not allow; the same where it does.
host_policy 'policy = medium'
for a in wardfs.policy=high wardfs.session=mine wardfs.tree.workspace=/workspace wardfs.no=1; do
	fresh
	edit "$b" "c['annotations'] = {'${a%%=*}': '${a#*=}'}"
	stopped "annotation ${a%%=*}"
done
host_policy 'policy = medium' '[caller]' 'policy = medium' 'session = yes' 'tree = yes'
fresh
edit "$b" 'c["annotations"] = {"wardfs.policy": "medium", "wardfs.session": "mine",
	"wardfs.tree.workspace": "/workspace"}'
works readme
edit "$b" 'c["annotations"] = {"wardfs.session": "../../x"}'
stopped 'wardfs.session'
edit "$b" 'c["annotations"] = {"wardfs.policy": "medium\u0000high"}'
stopped config.json
# The floor takes away whatever policy the caller names.
edit "$b" 'c["annotations"] = {"wardfs.policy": "medium"}'
printf '[policy]\nversion = 1\n[guard]\nhide = README\n' >/etc/wardfs/floor.policy
stopped "can't open '/workspace/README'"
rm /etc/wardfs/floor.policy
works readme
host_policy 'policy = medium'

# config.json: a link, a pipe, too large, two members of one name, another version, a list.
fresh
mv "$b/config.json" "$W/real.json"
ln -s "$W/real.json" "$b/config.json"
bare readme
stopped config.json
rm "$b/config.json"
mkfifo "$b/config.json"
stopped config.json
rm "$b/config.json"
{ cat "$W/real.json"; head -c 5000000 /dev/zero | tr '\0' ' '; } >"$b/config.json"
bare readme
stopped config.json
sed 's/^{/{"root":{"path":"\/"},/' "$W/real.json" >"$b/config.json"
bare readme
stopped duplicate
sed 's/"ociVersion": "[^"]*"/"ociVersion": "2.0.0"/' "$W/real.json" >"$b/config.json"
stopped "version '2.0.0'"
echo '[]' >"$b/config.json"
stopped config.json
python3 -c 'print("[" * 100000)' >"$b/config.json"
stopped config.json
rm "$b/config.json"
stopped config.json
fresh
chmod 666 "$b/config.json"
bare readme
stopped 'others than root'
chmod 644 "$b/config.json"
chmod 777 "$b"
stopped 'others than root'
chmod 755 "$b"
works readme
edit "$b" 'c["mounts"] = c["mounts"] + [c["mounts"][0]] * 300'
stopped 'mounts'
fresh
edit "$b" 'c["mounts"] = {"a": 1}'
stopped 'mounts'
fresh
edit "$b" 'c["process"]["capabilities"] = {"bounding": "all"}'
stopped capabilities

# The root file system is the host's.
fresh
edit "$b" 'c["root"]["path"] = "/"'
stopped "host's own"
edit "$b" 'c["root"]["path"] = "../../../../../../../../.."'
stopped "host's own"
ln -s / "$b/slash"
edit "$b" 'c["root"]["path"] = "slash"'
stopped "host's own"
rm "$b/slash"

# Volumes that no policy covers, by odd ways to them.
try() { # try WHY SOURCE DESTINATION [OPTION...]: what runc alone would mount
	why=$1
	shift
	fresh true
	volume "$b" "$@"
	bare ''
	stopped "$why"
}
try 'no policy covers' "$W/other" /data
try 'no policy covers' "$W/other/file" /data
try 'no policy covers' "$W/../w/./other" /data
ln -s "$W/other" "$W/link"
try 'no policy covers' "$W/link" /data
ln -s / "$W/slash"
try 'root of the host' "$W/slash" /data
try 'root of the host' / /data
try 'keeps in' /etc/wardfs /data
try 'keeps in' /etc /data
try 'keeps in' /var/lib /data
try 'keeps in' /run /data
try 'of the host' /proc /data
try 'of the host' /sys /data
try 'device' /dev/null /data
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$W/sock"
try 'socket' "$W/sock" /data
# No mount leads around the guard to files that it serves: over a part, over all, as a second one;
# also where other volumes are passed on.
host_policy 'policy = medium' '[volumes]' 'uncovered = pass'
try 'lie over' "$W/other/file" /workspace/README
try 'lie over' "$W/other" /workspace/sub
try 'two volumes' "$W/other" /workspace
fresh
volume "$b" "$W/other" /data/../workspace
stopped 'without'
# A destination that goes through links: of the image, absolute and relative; of a volume that is
# mounted before; the guarded place itself by way of one. Control: runc follows them, and with
# another volume there is nothing to lie over.
through() { # through LINK TARGET [VOLUME]: an entry of the image, and a mount through it
	fresh cat /workspace/README
	rm -rf "$b/rootfs/through"
	ln -s "$2" "$b/rootfs/through"
	[ -z "${3-}" ] || volume "$b" "$3" /vol
	volume "$b" "$W/other/file" "$1"
	bare other
	stopped 'lie over'
	rm "$b/rootfs/through"
	fresh cat /out/README
	mkdir -p "$b/rootfs/out"
	ln -s /out "$b/rootfs/through"
	volume "$b" "$W/other/file" /through/README
	works other
	rm -r "$b/rootfs/through" "$b/rootfs/out"
}
through /through/README /workspace
through /through/README workspace
through /through/workspace/README /
through /through/workspace/README ../../..
mkdir "$W/linked"
ln -s ../workspace "$W/linked/inner"
through /vol/inner/README /vol/inner "$W/linked"
rm -rf "$b/rootfs/workspace"
fresh cat /real/README
mkdir "$b/rootfs/real"
ln -s real "$b/rootfs/workspace"
volume "$b" "$W/other/file" /real/README
bare other
stopped 'lie over'
rm -r "$b/rootfs/workspace" "$b/rootfs/real"
mkdir "$b/rootfs/workspace"
fresh
ln -s through "$b/rootfs/through"
volume "$b" "$W/other/file" /through/README
stopped 'links cannot be followed'
rm "$b/rootfs/through"
# A link that came after the check, as from somebody who shares the image: the runtime has mounted,
# and nothing starts.
mkdir "$W/late"
cat >"$W/late/runc" <<END
#!/bin/sh
case " \$* " in *' create '*) rmdir '$b/rootfs/late' && ln -s /workspace '$b/rootfs/late' ;; esac
exec $(command -v runc) "\$@"
END
chmod 755 "$W/late/runc"
host_policy "runtime = $W/late/runc" 'policy = medium' '[volumes]' 'uncovered = pass'
fresh cat /workspace/README
mkdir "$b/rootfs/late"
volume "$b" "$W/other/file" /late/README
oci create -b "$b" late >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
pid=$(oci state late | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
[ "$(cat "/proc/$pid/root/workspace/README")" = other ] || fail 'control: the mount is elsewhere'
expect 1 oci start late
has "$ERR" 'a mount lies over a guarded volume'
expect 0 oci delete --force late
rm "$b/rootfs/late"
host_policy 'policy = medium'
for type in overlay ext4 nfs ''; do
	fresh true
	edit "$b" "c['mounts'].append({'type': '$type', 'source': '/', 'destination': '/data',
		'options': ['lowerdir=/:/etc']})"
	stopped 'is refused'
done
# /workspace itself must be a directory: a file there is no tree.
bundle "$b" true
rm -r "$b/rootfs/workspace"
volume "$b" "$W/other/file" /workspace
stopped 'no policy covers'
rm -rf "$b/rootfs"

# The file decides about volumes by where they really are, not by their names.
host_policy 'policy = medium' '[volumes]' "read = $W/other" "pass = $W/link2"
ln -s "$W/work" "$W/link2"
fresh sh -c 'cat /data/file; echo more >>/data/file || echo refused'
volume "$b" "$W/other" /data rw
bare other
[ "$(cat "$W/other/file")" != other ] || fail 'control: runc alone does not write'
echo other >"$W/other/file"
works refused
[ "$(cat "$W/other/file")" = other ] || fail 'a read-only volume was written to'
# A mount beneath it as well.
mkdir "$W/other/sub"
mount -t tmpfs tmpfs "$W/other/sub"
fresh sh -c 'echo no >/data/sub/new || echo refused'
volume "$b" "$W/other" /data rw
works refused
umount "$W/other/sub"
fresh true
volume "$b" "$W/link2" /data
stopped 'no policy covers'
host_policy 'policy = medium' '[volumes]' 'uncovered = pass'
fresh cat /data/.env
volume "$b" "$work" /data
works secret
fresh cat /workspace/.env
bare secret
stopped "can't open"

# A volume that is replaced after the decision is the one that was decided about: the runtime gets a
# mount, not a name.
host_policy 'policy = medium'
fresh sleep 600
oci create -b "$b" swap >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
pid=$(oci state swap | sed -n 's/.*"pid": \([0-9]*\).*/\1/p')
mv "$work" "$W/moved"
ln -s "$W/other" "$work"
[ "$(cat "/proc/$pid/root/workspace/README")" = readme ] || fail 'another directory is served'
rm "$work"
mv "$W/moved" "$work"
expect 0 oci delete --force swap

# Privileges: capabilities, namespaces, devices, hooks, masked paths, system calls, limits.
status='cat /proc/self/status; id'
fresh sh -c "$status"
edit "$b" 'c["process"]["noNewPrivileges"] = False
for k in ("bounding", "effective", "permitted", "inheritable", "ambient"):
	c["process"]["capabilities"][k] = ["CAP_SYS_ADMIN", "CAP_SYS_PTRACE", "CAP_CHOWN"]'
bare 'CapEff:	0000000000280001'
works 'CapEff:	0000000000000000'
has "$OUT" 'CapBnd:	0000000000000000'
has "$OUT" 'CapAmb:	0000000000000000'
has "$OUT" 'NoNewPrivs:	1'
has "$OUT" 'Seccomp:	2'
host_policy 'policy = medium' '[floor]' 'capability = CAP_CHOWN' 'new-privileges = yes'
works 'CapEff:	0000000000000001'
has "$OUT" 'NoNewPrivs:	0'
host_policy 'policy = medium'
for ns in pid ipc mount; do
	fresh true
	edit "$b" "c['linux']['namespaces'] = [n for n in c['linux']['namespaces'] if n['type'] != '$ns']"
	stopped "host's $ns namespace"
done
# Without a network in the policy there is none, whatever the engine has prepared.
fresh sh -c 'cat /proc/net/dev'
edit "$b" "c['linux']['namespaces'] = [n for n in c['linux']['namespaces'] if n['type'] != 'network']"
cards() { sed '1,2d' /proc/net/dev | wc -l; }
bare lo:
[ "$(echo "$OUT" | sed 1,2d | wc -l)" = "$(cards)" ] || fail 'control: not the network of the host'
works lo:
[ "$(echo "$OUT" | sed 1,2d | wc -l)" = 1 ] || fail "the network of the host: $OUT"
host_policy 'policy = medium' 'network = engine'
stopped "host's network namespace"
host_policy 'policy = medium'
fresh true
edit "$b" 'c["linux"]["devices"] = [{"path": "/dev/mem", "type": "c", "major": 1, "minor": 1}]'
stopped 'device /dev/mem'
fresh true
edit "$b" 'c["linux"]["resources"]["devices"] = [{"allow": True, "access": "rwm"}]'
stopped 'all devices'
# ctr asks for its pseudoterminals. A disk has no such number.
edit "$b" 'c["linux"]["resources"]["devices"] = [{"allow": True, "type": "c", "major": 136, "access": "rwm"}]'
works ''
for rule in '"type": "b", "major": 136' '"type": "c", "major": 1' '"type": "a", "major": 136'; do
	edit "$b" "c['linux']['resources']['devices'] = [{'allow': True, $rule, 'access': 'rwm'}]"
	stopped 'all devices'
done
fresh true
edit "$b" "c['hooks'] = {'createRuntime': [{'path': '/bin/touch', 'args': ['touch', '$W/hooked']}]}"
bare ''
[ -e "$W/hooked" ] || fail 'control: the hook does not run'
rm "$W/hooked"
stopped 'as a hook'
[ ! -e "$W/hooked" ] || fail 'the hook ran'
touch=$(readlink -f /bin/touch)
host_policy 'policy = medium' '[floor]' "hook = $touch"
works ''
[ -e "$W/hooked" ] || fail 'an allowed hook does not run'
host_policy 'policy = medium'
fresh sh -c 'echo h >/proc/sys/kernel/domainname; echo "=$?"'
edit "$b" 'c["linux"]["maskedPaths"] = []
c["linux"]["readonlyPaths"] = []'
bare '=0'
works '=1'
has "$ERR" 'Read-only'
# The engine's list of calls is kept, and ours is on top.
fresh sh -c 'mkdir /tmp/new && echo made'
edit "$b" 'c["linux"]["seccomp"] = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [
	{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}
c["root"]["readonly"] = False'
n=$((n + 1))
expect 1 oci run -b "$b" "s$n"
has "$ERR" "can't create"
fresh sh -c 'mkdir /tmp/new && echo made'
edit "$b" 'c["root"]["readonly"] = False'
works made
# Limits of the policy in the engine's control group.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nprocesses = 20\nwall = 30m\nopen-files = 100\n' \
	>/etc/wardfs/few.policy
host_policy 'policy = /etc/wardfs/few.policy'
fresh sh -c 'ulimit -n; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
	sleep 600 & done; echo all'
edit "$b" 'c["process"]["rlimits"] = [{"type": "RLIMIT_NOFILE", "soft": 1024, "hard": 1024}]'
bare all
n=$((n + 1))
expect 2 oci run -b "$b" "s$n"
has "$OUT" 100
has "$ERR" "can't fork"
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 2s\n' >/etc/wardfs/few.policy
fresh sleep 600
n=$((n + 1))
expect 137 oci run -b "$b" "s$n"

# Engines change limits of a container that runs, and raise none above the policy's. Control: runc.
printf '[policy]\nversion = 1\nextends = medium\n[limits]\nprocesses = 20\nmemory = 64M\ncpus = 0.5\n' \
	>/etc/wardfs/few.policy
fresh sleep 600
edit "$b" 'c["linux"]["cgroupsPath"] = "/raise"
c["linux"]["resources"]["pids"] = {"limit": 10}'
oci create -b "$b" raise >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
counted() { find /sys/fs/cgroup -path '*/raise/pids.max' -exec cat {} +; }
[ "$(counted)" = 10 ] || fail "of the engine: $(counted)"
raised='{"pids": {"limit": 500}, "memory": {"limit": 1073741824, "swap": 2147483648}, "cpu": {"quota": 400000, "period": 100000}}'
for form in '-r' '--resources'; do
	echo "$raised" >"$W/raised"
	expect 0 oci update "$form" "$W/raised" raise
	[ "$(counted)" = 20 ] || fail "$form: $(counted)"
done
echo "$raised" | expect 0 oci update --resources=- raise
[ "$(counted)" = 20 ] || fail "of standard input: $(counted)"
echo '{"pids": {"limit": -1}}' | expect 0 oci update --resources=- raise
[ "$(counted)" = 20 ] || fail "without a limit: $(counted)"
echo '{"pids": {"limit": 5}}' | expect 0 oci update --resources=- raise
[ "$(counted)" = 5 ] || fail "a lower one: $(counted)"
find /sys/fs/cgroup -path '*/raise/memory.limit_in_bytes' -exec cat {} + -o \
	-path '*/raise/memory.max' -exec cat {} + -o -path '*/raise/cpu.cfs_quota_us' -exec cat {} + \
	>"$W/limits"
grep -vx -e 67108864 -e 50000 "$W/limits" && fail "memory or cpus: $(cat "$W/limits")"
[ -s "$W/limits" ] || fail 'no limit of memory'
expect 1 oci update --pids-limit 500 raise
has "$ERR" 'unknown option'
expect 1 oci update raise
has "$ERR" 'needs --resources'
echo '{"pids": []}' >"$W/raised-wrong"
expect 1 oci update --resources "$W/raised-wrong" raise
has "$ERR" 'wrong type'
[ "$(counted)" = 5 ] || fail "a refused one: $(counted)"
expect 0 runc --root "$W/runc" update --resources "$W/raised" raise
[ "$(counted)" = 500 ] || fail "control: $(counted)"
expect 0 oci delete --force raise
expect 1 oci update --resources "$W/raised" raise
has "$ERR" 'no session'
# Files of the control group by their names, which version 2 would let have the last word.
fresh true
edit "$b" 'c["linux"]["resources"]["unified"] = {"pids.max": "max", "memory.max": "max", "cpu.max": "max"}'
works ''

# CPU time, which the engine's group counts. A limit that nobody can enforce refuses the container,
# unless the host's file allows that; the trail says so.
asks() { # asks LINE...: the policy
	{
		printf '[policy]\nversion = 1\nextends = medium\n'
		printf '%s\n' "$@"
	} >/etc/wardfs/few.policy
}
told() { # told SESSION KIND TEXT: the trail does
	expect 0 "$WARDFS" audit show --json --kind "$2" "$1"
	has "$OUT" "$3"
}
allow='allow-missing = exec'
host_policy 'policy = /etc/wardfs/few.policy' '[caller]' 'session = yes'
asks '[limits]' 'cpu-time = 1s'
fresh sh -c 'i=0; while [ $i -lt 6000000 ]; do i=$((i + 1)); done; echo all'
bare all
edit "$b" 'c["annotations"] = {"wardfs.session": "burn"}'
n=$((n + 1))
expect 137 oci run -b "$b" "s$n"
hasnt "$OUT" all
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
told burn session.end '[limits] cpu-time'
fresh
works readme
asks '[process]' 'exec = /usr/bin/cat'
stopped 'allow-missing = exec'
host_policy 'policy = /etc/wardfs/few.policy' 'allow-missing = exce'
stopped 'unknown name'
host_policy 'policy = /etc/wardfs/few.policy' "$allow" '[caller]' 'session = yes'
edit "$b" 'c["annotations"] = {"wardfs.session": "any-program"}'
works readme
told any-program session.start '"[process] exec"'
asks '[process]' 'seccomp = no-exec'
stopped 'allow-missing = seccomp'
host_policy 'policy = /etc/wardfs/few.policy' 'allow-missing = seccomp' '[caller]' 'session = yes'
edit "$b" 'c["annotations"] = {"wardfs.session": "default-list"}'
works readme
told default-list session.start '"[process] seccomp"'
# Where no hierarchy counts: the container ends, unless that is allowed.
if mountpoint -q /sys/fs/cgroup/cpuacct; then
	asks '[limits]' 'cpu-time = 1h'
	uncounted() { # uncounted SECONDS: a container of a new session
		n=$((n + 1))
		fresh sh -c "sleep $1; echo slept"
		edit "$b" "c['annotations'] = {'wardfs.session': 'u$n'}"
		unshare --mount sh -c 'umount /sys/fs/cgroup/cpuacct
			! mountpoint -q /sys/fs/cgroup/unified || umount /sys/fs/cgroup/unified
			exec "$@"' sh \
			"$OCI" --root "$W/runc" run -b "$b" "u$n"
	}
	host_policy 'policy = /etc/wardfs/few.policy' '[caller]' 'session = yes'
	expect 137 uncounted 600
	wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
	told "u$n" session.end 'cannot enforce [limits] cpu-time'
	host_policy 'policy = /etc/wardfs/few.policy' 'allow-missing = limit-cpu-time' \
		'[caller]' 'session = yes'
	# One that ends before anybody looks at its group lacks nothing.
	lacking() {
		expect 0 uncounted 1
		has "$OUT" slept
		wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
		"$WARDFS" audit show --json --kind session.end "u$n" | grep -F '"lacks"' | grep -F cpu-time
	}
	wait_until 60 lacking || fail 'the trail does not say that cpu-time was missing'
fi

# An engine is no runtime, though mode docker starts it.
for engine in podman docker; do
	host_policy "runtime = $engine" 'policy = medium'
	fresh
	if command -v "$engine" >/dev/null; then stopped 'is no OCI runtime'; fi
done

# Command lines that the two programs could read in two ways; what has no guard.
host_policy 'policy = medium'
fresh
for line in "--no-such-option run -b $b x" "run --bundle $b --surprise x" "restore x" "checkpoint x" \
	"run -b $b ../x" "run -b $b x/y" "run -b $b" "create" "frobnicate x" "run --bundle"; do
	# shellcheck disable=SC2086
	expect 1 oci $line
	has "$ERR" 'wardfs-oci: '
done
expect 1 oci --log "$W/said" --log-format json run -b "$b" --surprise x
has "$(cat "$W/said")" '"level":"error"'
has "$(cat "$W/said")" --surprise
# Not for others than root of the host.
expect 1 unshare --user --map-root-user --mount "$OCI" --root "$W/runc" run -b "$b" x
has "$ERR" 'only root of the host'
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
[ -z "$(ls "$W/runc" 2>/dev/null)" ] || fail "containers left: $(ls "$W/runc")"
