#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Images of the store: what run makes of layers and image settings, the digest in the trail, a
# store that no session changes, names, removal during use, and kill -9 while unpacking.
set -eu
. "$WARD_SRC/tests/lib.sh"
export XDG_STATE_HOME="$WARD_TMP/state"
images=$WARD_SRC/tests/cases/run/lib/images.py
store=$XDG_STATE_HOME/wardfs/images
work=$WARD_TMP/work
project "$work"
chmod 755 "$WARD_TMP"
for kind in oci plain docker two; do python3 "$images" $kind "$WARD_TMP/$kind"; done
cd "$work" || exit 1

# Nothing is unpacked in silence.
expect 2 "$WARDFS" run --image "$WARD_TMP/oci" -- true
has "$ERR" "wardfs image pull $WARD_TMP/oci"
[ ! -e "$store" ] || fail 'run made a store'

# An image of each kind: layers one onto the other.
for kind in oci plain docker; do
	expect 0 "$WARDFS" image pull "$WARD_TMP/$kind"
	digest=$OUT
	expect 0 "$WARDFS" run --session "of-$kind" --image "$WARD_TMP/$kind" -- \
		sh -c 'cat /etc/os-release /opt/twice /opt/twin /opt/long*/*; ls /opt /opt/full; stat -c %h /opt/lower'
	has "$OUT" the-image
	has "$OUT" second
	has "$OUT" long
	hasnt "$OUT" gone
	hasnt "$OUT" old
	has "$OUT" new
	[ "$(printf '%s\n' "$OUT" | tail -n1)" = 2 ] || fail "a hard link: $OUT"
	expect 0 "$WARDFS" audit show "of-$kind" --json
	has "$OUT" "\"digest\":\"$digest\""
	expect 0 "$WARDFS" audit verify "of-$kind"
done

# /etc is one mount, with the session's own files on it; what the image has there is not seen.
expect 0 "$WARDFS" run --image "$WARD_TMP/oci" -- cat /proc/self/mounts /etc/passwd /etc/os-release
has "$OUT" ' /etc '
has "$OUT" ' /etc/passwd '
hasnt "$OUT" /etc/os-release
has "$OUT" root:x:0:0
expect 1 "$WARDFS" run --image "$WARD_TMP/oci" -- sh -c 'echo no >>/etc/passwd'
expect 1 "$WARDFS" run --image "$WARD_TMP/oci" -- cat /.over

# By digest, and by name; another tag is another image.
expect 0 "$WARDFS" run --image "$digest" -- cat /etc/os-release
refused 'choose one with --tag' "$WARDFS" image pull "$WARD_TMP/two"
expect 0 "$WARDFS" image pull --tag two "$WARD_TMP/two"
expect 0 "$WARDFS" run --image "$WARD_TMP/two" -- ls /opt/twin
expect 0 "$WARDFS" image pull --tag one "$WARD_TMP/two"
expect 1 "$WARDFS" run --image "$WARD_TMP/two" -- cat /opt/twin

# Its environment, below what the policy says; its command and directory only if no other is given.
expect 0 "$WARDFS" run --image "$WARD_TMP/oci"
[ "$OUT" = "/opt
own-command yes" ] || fail "the image's own command: $OUT"
expect 0 env LANG=of-the-host "$WARDFS" run --image "$WARD_TMP/oci" -- env
has "$OUT" PATH=/bin:/opt/bin
has "$OUT" LANG=of-the-image
hasnt "$OUT" USER=root
expect 0 "$WARDFS" run --image "$WARD_TMP/oci" --env OF_IMAGE=no -- env
has "$OUT" OF_IMAGE=no
expect 0 "$WARDFS" run --image "$WARD_TMP/oci" -- pwd
[ "$OUT" = "$work" ] || fail "directory: $OUT"
# User 0 of the image is not root inside.
expect 0 "$WARDFS" run --image "$WARD_TMP/oci" -- id -u
[ "$OUT" -ne 0 ] || fail 'root'
expect 2 "$WARDFS" run
has "$ERR" 'no command'

# Nobody inside sees the store, not through a tree either.
expect 2 "$WARDFS" run -- ls "$store"
# shellcheck disable=SC2016 # the shell inside expands it
expect 1 "$WARDFS" run --image "$WARD_TMP/oci" -- sh -c 'touch /opt/lower || touch "$0"' "$store/x"
[ ! -e "$store/x" ] || fail 'the store was written to'
expect 0 "$WARDFS" run --image "$WARD_TMP/oci" -- true
refused "lies in the state directory" "$WARDFS" run --write "$store" -- true

# The archive is replaced between pull and run: what was looked at is not what is there.
cp "$WARD_TMP/docker" "$WARD_TMP/kept"
expect 0 "$WARDFS" image pull "$WARD_TMP/kept"
expect 0 "$WARDFS" run --image "$WARD_TMP/kept" -- true
cp "$WARD_TMP/docker" "$WARD_TMP/other"
mv "$WARD_TMP/other" "$WARD_TMP/kept"
expect 2 "$WARDFS" run --image "$WARD_TMP/kept" -- true
has "$ERR" 'has changed since it was unpacked'

# list, rm, prune.
expect 0 "$WARDFS" image list
has "$OUT" "$WARD_TMP/oci"
expect 0 "$WARDFS" image list --json
has "$OUT" "\"digest\": \"$digest\""
expect 0 "$WARDFS" image rm "$WARD_TMP/kept"
# The other name of the same image still stands.
expect 0 "$WARDFS" run --image "$WARD_TMP/docker" -- true
expect 1 "$WARDFS" image rm "$WARD_TMP/kept"
has "$ERR" 'is not in the store'
echo "--- a link that a session left in the project leads to no other image"
expect 0 "$WARDFS" image pull "$WARD_TMP/plain"
expect 0 "$WARDFS" run -- ln -s "$WARD_TMP/plain" own.tar
expect 1 "$WARDFS" image rm ./own.tar
has "$ERR" "./own.tar leads to $WARD_TMP/plain by a symbolic link"
expect 1 "$WARDFS" image rm "$work/./own.tar"
has "$ERR" "wardfs image rm $WARD_TMP/plain"
expect 0 "$WARDFS" run --image "$WARD_TMP/plain" -- true
ln -s "$WARD_TMP" own.d
expect 1 "$WARDFS" image rm ./own.d/plain
has "$ERR" "by a symbolic link"
rm own.tar own.d
(cd "$WARD_TMP/oci" && expect 0 "$WARDFS" image rm .././/plain)
expect 2 "$WARDFS" run --image "$WARD_TMP/plain" -- true
# One that a session uses stays; control: afterwards it goes.
"$WARDFS" run --session user --image "$WARD_TMP/docker" -- sh -c 'while [ ! -e end ]; do :; done' &
pid=$!
wait_until 60 "$WARDFS" ps user || fail 'the session does not start'
expect 1 "$WARDFS" image rm "$WARD_TMP/docker"
has "$ERR" 'a session uses the image'
touch end
wait "$pid" || fail 'the session failed'
expect 0 "$WARDFS" image rm "$WARD_TMP/docker"
[ ! -e "$store/${digest#sha256:}" ] || fail 'rm left it'
expect 2 "$WARDFS" run --image "$WARD_TMP/docker" -- true

# kill -9 at any moment leaves no half image; what it left goes with the next pull, or with prune.
n=0
while [ $n -lt 20 ]; do
	n=$((n + 1))
	"$WARDFS" image pull "$WARD_TMP/docker" >/dev/null 2>&1 &
	pid=$!
	i=0
	while [ $i -lt $((n * 40)) ]; do i=$((i + 1)); done
	kill -9 $pid 2>/dev/null || :
	wait $pid || :
	if [ -e "$store/${digest#sha256:}" ]; then
		expect 0 "$WARDFS" run --image "$digest" -- cat /opt/twin
		expect 0 "$WARDFS" image rm "$digest"
	fi
done
expect 0 "$WARDFS" image prune
[ -z "$(find "$store" -maxdepth 1 -name '.new-*')" ] || fail 'prune left something'

# Ten at once make one image.
pids=
for n in 0 1 2 3 4 5 6 7 8 9; do
	"$WARDFS" image pull "$WARD_TMP/docker" >"$WARD_TMP/out.$n" 2>&1 &
	pids="$pids $!"
done
for pid in $pids; do wait "$pid" || fail "pull: $(cat "$WARD_TMP"/out.*)"; done
expect 0 "$WARDFS" run --image "$digest" -- cat /opt/twin

# An engine's image: by its name, with a command line of ours, never unasked.
expect 2 "$WARDFS" run --image team/app:1 -- true
has "$ERR" 'wardfs image pull team/app:1'
mkdir "$WARD_TMP/engines"
cat >"$WARD_TMP/engines/docker" <<END
#!/bin/sh
printf '%s\n' "\$PWD" "\$@" >"$WARD_TMP/asked"
[ "\$3" = team/app:1 ] || { echo "no such image" >&2; exit 1; }
cat "$WARD_TMP/docker"
END
chmod 755 "$WARD_TMP/engines/docker"
# In the project's PATH it does not count, whatever engines this host has.
PATH=$WARD_TMP/engines:$PATH "$WARDFS" image pull team/app:1 >"$WARD_TMP/out" 2>&1 || :
[ ! -e "$WARD_TMP/asked" ] || fail 'a program of PATH was run'
# shellcheck disable=SC2016 # the shell that is started expands it
engine() {
	unshare --mount --propagation private sh -c 'mount --bind "$0" /usr/local/bin && exec "$@"' \
		"$WARD_TMP/engines" "$WARDFS" image pull "$@"
}
expect 0 engine team/app:1
[ "$OUT" = "$digest" ] || fail "of the engine: $OUT"
[ "$(cat "$WARD_TMP/asked")" = "/
image
save
team/app:1" ] || fail "what the engine was asked: $(cat "$WARD_TMP/asked")"
expect 0 "$WARDFS" run --image team/app:1 -- cat /etc/os-release
expect 1 engine --from docker team/other:1
has "$ERR" 'no such image'
for name in -x --all 'a;b' '../x y' 'a b' 'a//b'; do
	rm -f "$WARD_TMP/asked"
	if engine -- "$name" >/dev/null 2>&1; then fail "$name"; fi
	[ ! -e "$WARD_TMP/asked" ] || fail "an engine was asked for $name"
done

# An ordinary user has a store of their own.
cp "$WARD_TMP/docker" "$WARD_TMP/for-all"
chmod 644 "$WARD_TMP/for-all"
# shellcheck disable=SC2016 # the user's shell expands it
as_user -c '
	git init -q p
	cd p
	"$WARDFS" image pull "$0" && "$WARDFS" run --image "$0" -- cat /etc/os-release /opt/twin' \
	"$WARD_TMP/for-all" >"$WARD_TMP/user" 2>&1 || fail "an ordinary user: $(cat "$WARD_TMP/user")"
has "$(cat "$WARD_TMP/user")" lower

echo "--- root does not work in the store of a user, whose links it would follow"
if [ "$(id -u)" -eq 0 ]; then
	export XDG_STATE_HOME="$WARD_TMP/theirs"
	mkdir "$XDG_STATE_HOME" "$WARD_TMP/other"
	expect 0 "$WARDFS" image pull "$WARD_TMP/oci"
	chown -R 4711:4711 "$XDG_STATE_HOME"
	for verb in list prune "rm $WARD_TMP/oci" "pull $WARD_TMP/oci" "rm team/app:1" "pull team/app:1"; do
		# shellcheck disable=SC2086 # the image is a word of its own
		refused "belongs to another user, uid 4711" "$WARDFS" image $verb
	done
	rm -r "$XDG_STATE_HOME/wardfs"
	ln -s "$WARD_TMP/other" "$XDG_STATE_HOME/wardfs"
	refused "Not a directory" "$WARDFS" image pull "$WARD_TMP/oci"
	[ -z "$(ls -A "$WARD_TMP/other")" ] || fail "root made a store where a user's link leads"
fi
