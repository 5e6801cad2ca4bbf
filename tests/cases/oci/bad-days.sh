#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Bad days of wardfs-oci and of mode docker: a runtime that hangs, an image that disappears, a full
# disk. Nothing stays, delete works, and the next container starts. killed.sh has processes that are
# killed, docker.sh a daemon that restarts.
# shellcheck disable=SC2154
# timeout: 600
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
workspace
gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
clean() {
	wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
	hasnt "$(cat /proc/mounts)" /run/wardfs/oci
	[ -z "$(ls "$W/runc" 2>/dev/null)" ] || fail "containers left: $(ls "$W/runc")"
}
n=0
works() {
	host_policy 'policy = medium'
	n=$((n + 1))
	bundle "$b" cat /workspace/README
	volume "$b" "$work" /workspace
	expect 0 oci run -b "$b" "w$n"
	has "$OUT" readme
	clean
}
works

# A runtime that hangs in create. The engine gives up and kills what it started. Control: the
# session was there.
mkdir "$W/bin"
cat >"$W/bin/runc" <<END
#!/bin/sh
case " \$* " in *' create '*)
	echo \$\$ >'$W/hangs'
	exec sleep 600
	;;
esac
exec $(command -v runc) "\$@"
END
chmod 755 "$W/bin/runc"
host_policy "runtime = $W/bin/runc" 'policy = medium'
"$OCI" --root "$W/runc" create -b "$b" hangs >"$W/log" 2>&1 </dev/null &
pid=$!
wait_until 60 test -s "$W/hangs" || fail "the runtime was not started: $(cat "$W/log")"
[ -n "$(session_of hangs)" ] || fail "control: no session: $(cat "$W/log")"
expect 1 oci start hangs
kill -9 "$(cat "$W/hangs")"
wait "$pid" || :
clean
expect 0 oci delete --force hangs
works

# The same in mode docker: the engine of a session hangs, and the user interrupts.
rm "$W/hangs"
cat >"$W/bin/runc" <<END
#!/bin/sh
exec sleep 600
END
cd "$work"
"$WARDFS" run --engine "$W/bin/runc" --session stuck -- true >"$W/log" 2>&1 &
pid=$!
engine_hangs() { pgrep -P "$(pgrep -P "$pid" -x wardfs-init || echo 0)" -x sleep >"$W/hangs"; }
wait_until 60 engine_hangs || fail "the engine was not started: $(cat "$W/log")"
kill -TERM "$pid"
wait "$pid" && fail 'a session with a hanging engine succeeded'
[ ! -e "/proc/$(cat "$W/hangs")" ] || fail 'the engine is left'
expect 0 "$WARDFS" run --engine runc -- cat README
has "$OUT" readme

# An image that disappears before the start, and one that disappears under a running container.
bundle "$b" cat /workspace/README
volume "$b" "$work" /workspace
oci create -b "$b" early >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
rm -rf "$b/rootfs/bin"
oci start early >"$W/log" 2>&1 || :
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci) $(cat "$W/log")"
expect 0 oci delete --force early
clean
rm -rf "$b"
bundle "$b" sleep 600
volume "$b" "$work" /workspace
oci create -b "$b" late >"$W/log" 2>&1 </dev/null || fail "$(cat "$W/log")"
expect 0 oci start late
session=$(session_of late)
[ "$(status_of "$session" verb)" = oci ] || fail "control: $("$WARDFS" ps)"
# With the directory the kernel takes the guard away that is mounted on it. So the container ends,
# because it would go on without.
rm -rf "$b"
wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci) $(cat "$W/log")"
expect 0 oci delete --force late
clean
expect 0 "$WARDFS" audit verify "$session"
works

# The same in mode docker.
image "$W/image"
# A sanitized wardfs-init is not static: what it is linked with has to be in the image.
for lib in $(ldd "$WARD_BUILD/wardfs-init" 2>/dev/null | grep -o '/[^ ]*'); do
	mkdir -p "$W/image${lib%/*}"
	cp "$lib" "$W/image$lib"
done
"$WARDFS" run --engine runc --image "$W/image" --session imaged -- sh -c \
	'until [ -e gone ]; do sleep 1; done; [ -e /bin/sh ] || exit 3' >"$W/log" 2>&1 &
pid=$!
wait_until 60 "$WARDFS" exec imaged -- true || fail "no session: $(cat "$W/log")"
rm -r "$W/image"
: >gone
wait "$pid" && fail 'its programs are there' || [ $? -eq 3 ] || fail "$(cat "$W/log")"
expect 0 "$WARDFS" audit verify imaged

# A full disk: no container without a trail. Afterwards there is space, and containers start.
mount -o remount,size=1m /var/lib/wardfs
head -c 2000000 /dev/zero >/var/lib/wardfs/fill 2>/dev/null && fail 'control: the disk is not full'
host_policy 'policy = medium'
bundle "$b" cat /workspace/README
volume "$b" "$work" /workspace
expect 1 oci run -b "$b" full
has "$ERR" 'No space left'
hasnt "$OUT" readme
rm /var/lib/wardfs/fill
works
