#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs refuses by name everything that would make a container no wall, and an engine that it
# cannot start, that others can change, or that a session could replace. Nothing in a project or
# an environment steers the engine.
# timeout: 200
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v runc >/dev/null || skip 'no runc (Debian package runc)'
work=$WARD_TMP/work
project "$work"
chmod 755 "$WARD_TMP"
cd "$work"

# Control: without them it runs.
expect 0 "$WARDFS" run --engine runc -- true

for option in --privileged '--cap-add SYS_ADMIN' '--device /dev/kvm' '--security-opt seccomp=unconfined' \
	'--volume /:/host' '--pid host' '--ipc host' '--uts host' '--userns host' '--cgroupns host'; do
	# shellcheck disable=SC2086 # two words
	expect 2 "$WARDFS" run --engine runc $option -- true
	has "$ERR" 'no privileges, devices or namespaces of the host'
	has "$ERR" "${option%% *}"
done

policy() {
	printf '[policy]\nversion = 1\nextends = medium\nmode = docker\n%b\n' "$1" >"$WARD_TMP/p.policy"
}
policy '[network]\nmode = host'
expect 2 "$WARDFS" run -p "$WARD_TMP/p.policy" -- true
has "$ERR" "host's network namespace"
policy '[network]\nsocket = /var/run/docker.sock'
expect 2 "$WARDFS" run -p "$WARD_TMP/p.policy" -- true
has "$ERR" 'socket of an engine'
policy '[tree /host]\nsource = /\nat = none'
expect 2 "$WARDFS" run -p "$WARD_TMP/p.policy" -- true
has "$ERR" 'the whole host or home'
policy '[container]\nrm = no'
expect 125 "$WARDFS" run -p "$WARD_TMP/p.policy" -- true
has "$ERR" 'rm'

# An engine that is known and not supported; a word that is none.
expect 125 "$WARDFS" run --engine kata -- true
has "$ERR" 'the engine kata is not supported'
expect 2 "$WARDFS" run --engine lxc -- true
has "$ERR" 'no container engine'

# By path: root's program, which nobody else can change, outside of the project.
own=$WARD_TMP/bin
mkdir "$own"
cp "$(command -v runc)" "$own/runc"
expect 0 "$WARDFS" run --engine "$own/runc" -- true
chmod 775 "$own/runc"
chgrp 1 "$own/runc"
expect 125 "$WARDFS" run --engine "$own/runc" -- true
has "$ERR" 'others than its owner can change'
chmod 755 "$own/runc"
chmod 777 "$own"
expect 125 "$WARDFS" run --engine "$own/runc" -- true
has "$ERR" 'others than its owner can change'
chmod 755 "$own"
mkdir bin
cp "$own/runc" bin/runc
if "$WARDFS" run --engine "$work/bin/runc" -- true 2>"$WARD_TMP/err"; then
	fail 'an engine in the project was started'
fi
has "$(cat "$WARD_TMP/err")" "$work/bin/runc"

# A link of the project's names another engine, which the host would ask for its flags. A session
# made it, and left the engine in another project.
chosen=$WARD_TMP/chosen
project "$chosen"
(cd "$chosen" && expect 0 "$WARDFS" run -- sh -c "printf '#!/bin/sh\ntouch \"%s\"\n' \
	'$WARD_TMP/asked' >runsc && chmod 755 runsc")
ln -s "$own/runc" bin/runsc
expect 0 "$WARDFS" run -- ln -sfn "$chosen/runsc" bin/runsc
# Control: the host executes what the caller names.
expect 125 "$WARDFS" run --engine "$chosen/runsc" -- true
has "$ERR" 'the engine ended with status 1'
[ -e "$WARD_TMP/asked" ] || fail 'control: the engine was not asked'
rm "$WARD_TMP/asked"
expect 125 "$WARDFS" run --engine "$work/bin/runsc" -- true
has "$ERR" "$work/bin/runsc lies in the tree /workspace"
[ ! -e "$WARD_TMP/asked" ] || fail 'the host executed what a session chose'
# Control: a link that no session can change.
ln -s "$own/runc" "$WARD_TMP/runc"
expect 0 "$WARDFS" run --engine "$WARD_TMP/runc" -- true
policy "[container]\nengine = $work/bin/runsc"
expect 125 "$WARDFS" run -p "$WARD_TMP/p.policy" -- true
has "$ERR" "$work/bin/runsc lies in the tree /workspace"
[ ! -e "$WARD_TMP/asked" ] || fail 'the host executed what a session chose'
rm bin/runsc

# PATH, the environment and files of the project say nothing to the engine.
cat >bin/runc <<END
#!/bin/sh
touch '$WARD_TMP/steered'
exec /usr/sbin/runc "\$@"
END
chmod 755 bin/runc
printf '{"ociVersion":"1.0.2","hooks":{"prestart":[{"path":"%s"}]}}\n' "$work/bin/runc" >config.json
mkdir -p .runc bundle
cp config.json bundle/config.json
expect 0 env PATH="$work/bin:$PATH" RUNC_ROOT="$work/.runc" "$WARDFS" run --mode docker \
	--env LD_PRELOAD=/workspace/lib.so -- true
[ ! -e "$WARD_TMP/steered" ] || fail 'the engine was steered'
# Control: that PATH does lead there.
PATH="$work/bin:$PATH" runc --version >/dev/null
[ -e "$WARD_TMP/steered" ] || fail 'control: the trap does not work'
