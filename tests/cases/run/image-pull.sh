#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [container] pull: a run fetches an image that the store lacks from an engine of the host, and only
# where the owner's policy says so. Nothing that a session can write steers the engine, an image
# of the store is never replaced, and two runs at once make one image.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
export XDG_STATE_HOME="$WARD_TMP/state"
store=$XDG_STATE_HOME/wardfs/images
work=$WARD_TMP/work
project "$work"
chmod 755 "$WARD_TMP"
for kind in docker plain podman; do
	python3 "$WARD_SRC/tests/cases/run/lib/images.py" $kind "$WARD_TMP/$kind"
done
tar -C "$WARD_TMP/plain" -cf "$WARD_TMP/other" .
cd "$work" || exit 1
export HOME="$WARD_TMP/home"
mkdir "$HOME" "$WARD_TMP/engines"
sed -e '/:4711:/d' /etc/passwd >"$WARD_TMP/passwd"
echo "tbob:x:4711:4711::$WARD_TMP/bob:/bin/sh" >>"$WARD_TMP/passwd"

# Engines of the host, as strangers to wardfs: what they were asked, and what would steer them.
cat >"$WARD_TMP/engines/docker" <<END
#!/bin/sh
printf '%s\n' "\$@" >>"$WARD_TMP/asked"
pwd >"$WARD_TMP/stood"
echo \$\$ >"$WARD_TMP/engine"
for config in "\$HOME/.docker" "\$XDG_CONFIG_HOME/containers" "\$XDG_DATA_HOME/containers" \
	"\${DOCKER_HOST#unix://}" "\$DOCKER_CONTEXT" ./containers; do
	[ ! -e "\$config/hook" ] || . "\$config/hook"
done
[ ! -e "$WARD_TMP/slow" ] || sleep 5
if [ -e "$WARD_TMP/hangs" ]; then
	sleep 1000 &
	echo \$! >"$WARD_TMP/child"
	wait
fi
[ "\$3" = team/app:1 ] || { echo "no such image: \$3" >&2; exit 1; }
cat "$WARD_TMP/has"
END
cat >"$WARD_TMP/engines/podman" <<'END'
#!/bin/sh
echo "podman has nothing" >&2
exit 125
END
cat >"$WARD_TMP/engines/skopeo" <<END
#!/bin/sh
printf '%s\n' "\$@" >"$WARD_TMP/registry"
cat "$WARD_TMP/other"
END
chmod 755 "$WARD_TMP"/engines/*
cp "$WARD_TMP/docker" "$WARD_TMP/has"

policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[container]\npull = %s\n' "$1" >"$WARD_TMP/p"
}
# shellcheck disable=SC2016 # the shell that is started expands it
in_place() {
	exec unshare --mount --propagation private \
		sh -c 'mount --bind "$0" /usr/local/bin && mount --bind "$WARD_TMP/passwd" /etc/passwd &&
			exec "$@"' "$WARD_TMP/engines" "$@"
}
with() {
	(in_place "$@")
}
run() {
	with "$WARDFS" run -p "$WARD_TMP/p" "$@"
}

# Unless a policy says so, no engine is asked.
policy never
expect 2 run --image team/app:1 -- true
has "$ERR" 'wardfs image pull team/app:1'
expect 2 with "$WARDFS" run --image team/app:1 -- true
[ ! -e "$WARD_TMP/asked" ] || fail 'an engine was asked by default'
# A project's file has no such say.
printf '[policy]\nversion = 1\n[container]\npull = missing\n' >.wardfs.policy
expect 2 with "$WARDFS" run --image team/app:1 -- true
has "$ERR" 'a project file cannot contain [container]'
[ ! -e "$WARD_TMP/asked" ] || fail 'a project had an engine asked'
rm .wardfs.policy

# A dry run says it, and does not do it.
policy missing
expect 0 run -n --image team/app:1 -- cat /etc/os-release
has "$ERR" 'the run would fetch it'
has "$OUT" 'an image that the run would fetch, at /: team/app:1'
has "$OUT" 'fetching the image'
[ ! -e "$WARD_TMP/asked" ] || fail 'a dry run asked an engine'
[ ! -e "$store" ] || fail 'a dry run made a store'

# Names that an engine could take for an option reach none.
for name in -x --all 'a;b' '../x y' 'a b' 'a//b'; do
	if run "--image=$name" -- true >/dev/null 2>&1; then fail "$name"; fi
	[ ! -e "$WARD_TMP/asked" ] || fail "an engine was asked for $name"
done
# Archives and digests are not fetched.
expect 2 run --image "$WARD_TMP/docker" -- true
expect 2 run --image "sha256:$(printf '%064d' 1)" -- true
[ ! -e "$WARD_TMP/asked" ] || fail 'an engine was asked for a path or digest'

echo '--- nothing that a session can write steers an engine'
trap_in() {
	mkdir -p "$1"
	printf 'touch "%s"\n' "$WARD_TMP/steered" >"$1/hook"
}
trap_in "$work/.docker"
trap_in "$work/containers"
cp "$WARD_TMP/engines/docker" "$work/docker"
# As somebody has whose project is their configuration.
mkdir "$WARD_TMP/config"
ln -s "$work/containers" "$WARD_TMP/config/containers"
ln -s "$work/.docker" "$HOME/.docker"
export XDG_CONFIG_HOME="$WARD_TMP/config"
# Control: the traps work where somebody types the pull.
expect 1 with "$WARDFS" image pull team/none:1
[ -e "$WARD_TMP/steered" ] || fail 'control: the trap of the home does not work'
rm "$WARD_TMP/steered" "$HOME/.docker"
expect 1 with "$WARDFS" image pull team/none:1
[ -e "$WARD_TMP/steered" ] || fail 'control: the trap of the configuration does not work'
rm "$WARD_TMP/steered"
ln -s "$work/.docker" "$HOME/.docker"
steered() {
	expect 125 run --image team/none:1 -- true
	has "$ERR" 'cannot fetch the image team/none:1'
	has "$ERR" "$1"
	has "$ERR" 'fix: wardfs image pull team/none:1'
	[ ! -e "$WARD_TMP/steered" ] || fail "steered: $1"
}
# Configuration counts nowhere, PATH and the directory do not either.
(
	export DOCKER_CONTEXT="$work/.docker" PATH="$work:$PATH"
	steered 'no such image'
)
[ "$(cat "$WARD_TMP/stood")" = / ] || fail "in $(cat "$WARD_TMP/stood")"
# What has to count may not lie in a tree, nor lead into one.
for variable in XDG_DATA_HOME DOCKER_HOST CONTAINER_HOST REGISTRY_AUTH_FILE; do
	rm -f "$WARD_TMP/asked"
	(
		export "$variable=$work/.docker"
		[ $variable != DOCKER_HOST ] || export "$variable=unix://$work/.docker"
		steered "$variable"
	)
	[ ! -e "$WARD_TMP/asked" ] || fail "an engine was asked with $variable"
done
ln -s "$work" "$WARD_TMP/data"
(
	export XDG_DATA_HOME="$WARD_TMP/data"
	steered "$WARD_TMP/data/containers lies in the tree"
)
mkdir "$WARD_TMP/linked"
ln -s "$work/containers" "$WARD_TMP/linked/containers"
(
	export XDG_DATA_HOME="$WARD_TMP/linked"
	steered "$WARD_TMP/linked/containers lies in the tree"
)
# Not there yet: a session could make it meanwhile.
(
	export XDG_DATA_HOME="$work/not/there"
	steered XDG_DATA_HOME
)
# Nor may the engine itself.
(
	cd "$WARD_TMP/engines"
	git init -q .
	steered "docker lies in the tree"
)
rm -r "$WARD_TMP/engines/.git"
# Control: outside of the trees they count.
mkdir "$WARD_TMP/own"
rm -f "$WARD_TMP/asked"
XDG_DATA_HOME=$WARD_TMP/own steered 'no such image'
[ -e "$WARD_TMP/asked" ] || fail 'control: no engine was asked'

echo '--- a fetch: what is said, the command line, the trail'
rm -f "$WARD_TMP/asked"
expect 0 run --session fetched --image team/app:1 -- cat /etc/os-release
has "$OUT" the-image
has "$ERR" 'the image team/app:1 is not in the store; fetching it ([container] pull = missing)'
has "$ERR" 'fetched the image team/app:1 from docker: sha256:'
hasnt "$ERR" 'fix:'
[ "$(cat "$WARD_TMP/asked")" = "image
save
team/app:1" ] || fail "what the engine was asked: $(cat "$WARD_TMP/asked")"
digest=$("$WARDFS" image list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["digest"])')
expect 0 "$WARDFS" audit show fetched --json
has "$OUT" "\"digest\":\"$digest\""
expect 0 "$WARDFS" audit verify fetched
# In the store it stays as it is, whatever the engine has by now.
rm "$WARD_TMP/asked"
cp "$WARD_TMP/other" "$WARD_TMP/has"
expect 0 run --image team/app:1 -- cat /etc/os-release
hasnt "$ERR" fetch
[ ! -e "$WARD_TMP/asked" ] || fail 'an engine was asked for an image that is there'

# As podman writes an archive, with an old name for each layer.
expect 0 "$WARDFS" image pull "$WARD_TMP/podman"
[ "$OUT" = "$digest" ] || fail "podman's archive: $OUT"
expect 0 "$WARDFS" image rm "$WARD_TMP/podman"

# The image's own command, and a policy that names the image.
expect 0 "$WARDFS" image rm team/app:1
cp "$WARD_TMP/docker" "$WARD_TMP/has"
expect 0 run -n --image team/app:1
printf '[system]\nimage = team/app:1\n' >>"$WARD_TMP/p"
expect 0 run -- cat /etc/os-release
has "$ERR" 'fetched the image team/app:1'

echo '--- what fails, and the registry'
policy missing
rm -f "$WARD_TMP/registry"
expect 125 run --image team/other:1 -- true
has "$ERR" 'no such image: team/other:1'
has "$ERR" 'podman has nothing'
has "$ERR" 'fix: wardfs image pull team/other:1'
[ ! -e "$WARD_TMP/registry" ] || fail 'a registry was asked unasked'
policy registry
expect 0 run --image team/other:1 -- cat /etc/os-release
has "$ERR" 'fetched the image team/other:1 from skopeo'
[ "$(cat "$WARD_TMP/registry")" = "copy
--quiet
docker://team/other:1
docker-archive:/proc/self/fd/1" ] || fail "what skopeo was asked: $(cat "$WARD_TMP/registry")"
# No archive, and nothing of it remains.
policy missing
expect 0 "$WARDFS" image rm team/app:1
printf 'nonsense\n' >"$WARD_TMP/has"
expect 125 run --image team/app:1 -- true
has "$ERR" 'cannot fetch the image team/app:1'
[ -z "$(find "$store" -maxdepth 1 -name '.new-*')" ] || fail 'a failed fetch left something'
mv "$WARD_TMP/engines" "$WARD_TMP/aside"
mkdir "$WARD_TMP/engines"
[ -x /usr/bin/podman ] || [ -x /usr/bin/docker ] || {
	expect 125 run --image team/app:1 -- true
	has "$ERR" 'this host has neither docker nor podman'
}
rmdir "$WARD_TMP/engines"
mv "$WARD_TMP/aside" "$WARD_TMP/engines"

echo '--- at once: one of them asks, the others wait, all have one image'
cp "$WARD_TMP/docker" "$WARD_TMP/has"
: >"$WARD_TMP/asked"
: >"$WARD_TMP/slow"
pids=
for n in 1 2 3; do
	run --image team/app:1 -- cat /etc/os-release >"$WARD_TMP/out.$n" 2>&1 &
	pids="$pids $!"
done
for pid in $pids; do wait "$pid" || fail "at once: $(cat "$WARD_TMP"/out.*)"; done
[ "$(grep -c save "$WARD_TMP/asked")" = 1 ] || fail "asked more than once: $(cat "$WARD_TMP/asked")"
[ "$(cat "$WARD_TMP"/out.* | grep -c 'fetched the image')" = 1 ] || fail "$(cat "$WARD_TMP"/out.*)"
has "$(cat "$WARD_TMP"/out.*)" 'another run fetches an image'
# A pull that somebody types meanwhile has the name.
expect 0 "$WARDFS" image rm team/app:1
: >"$WARD_TMP/asked"
run --image team/app:1 -- cat /etc/os-release >"$WARD_TMP/out.1" 2>&1 &
pid=$!
i=0
while [ ! -s "$WARD_TMP/asked" ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
rm "$WARD_TMP/slow"
cp "$WARD_TMP/other" "$WARD_TMP/typed"
sed "s:$WARD_TMP/has:$WARD_TMP/typed:" "$WARD_TMP/engines/docker" >"$WARD_TMP/docker.new"
chmod 755 "$WARD_TMP/docker.new"
mv "$WARD_TMP/docker.new" "$WARD_TMP/engines/docker"
expect 0 with "$WARDFS" image pull team/app:1
typed=$OUT
wait $pid || fail "while pulled: $(cat "$WARD_TMP/out.1")"
expect 0 "$WARDFS" image list --json
has "$OUT" "$typed"
[ "$typed" != "$digest" ] || fail 'control: the two images are one'
hasnt "$OUT" "$digest"

# A run that is killed ends its engine, and the next one fetches.
expect 0 "$WARDFS" image rm team/app:1
: >"$WARD_TMP/asked"
: >"$WARD_TMP/slow"
in_place "$WARDFS" run -p "$WARD_TMP/p" --image team/app:1 -- true >/dev/null 2>&1 &
pid=$!
i=0
while [ ! -s "$WARD_TMP/asked" ] && [ $i -lt 600 ]; do sleep 0.1; i=$((i + 1)); done
engine=$(cat "$WARD_TMP/engine")
kill -0 "$engine" || fail 'control: the engine does not run'
kill -9 $pid
wait $pid || :
i=0
while kill -0 "$engine" 2>/dev/null; do
	[ $i -lt 15 ] || fail 'the engine outlived the run'
	sleep 0.1
	i=$((i + 1))
done
rm "$WARD_TMP/slow"
expect 0 run --image team/app:1 -- true

echo '--- an engine that hangs is killed when its time is over, with what it started'
expect 0 "$WARDFS" image rm team/app:1
: >"$WARD_TMP/hangs"
policy missing
printf 'pull-time = 2s\n' >>"$WARD_TMP/p"
began=$(date +%s)
expect 125 run --image team/app:1 -- true
has "$ERR" 'cannot fetch the image team/app:1'
has "$ERR" 'docker did not end within 2s ([container] pull-time)'
# podman was not asked: no time was left.
hasnt "$ERR" 'podman has nothing'
[ $(($(date +%s) - began)) -lt 60 ] || fail 'the time was not kept'
for what in engine child; do
	pid=$(cat "$WARD_TMP/$what")
	i=0
	while kill -0 "$pid" 2>/dev/null; do
		[ $i -lt 50 ] || fail "the $what outlived the fetch"
		sleep 0.1
		i=$((i + 1))
	done
done
# The next one is not held up, and whoever types a pull may wait.
rm "$WARD_TMP/hangs"
expect 0 run --image team/app:1 -- true
policy missing

echo "--- root's engine is not asked for what another user's policy names"
expect 0 "$WARDFS" image rm team/app:1
: >"$WARD_TMP/asked"
project "$WARD_TMP/bob/p"
projects=$WARD_TMP/bob/.config/wardfs/projects
mkdir -p "$projects"
name=$(printf '%s' "${WARD_TMP#/}/bob/p" | sed 's/-/\\x2d/g; s,/,-,g')
cp "$WARD_TMP/p" "$projects/$name.policy"
chown -R 4711:4711 "$WARD_TMP/bob"
cd "$WARD_TMP/bob/p"
unset XDG_CONFIG_HOME SUDO_UID SUDO_GID SUDO_USER
expect 125 with "$WARDFS" run --image team/app:1 -- true
has "$ERR" 'for the policy of another user (tbob), root fetches nothing'
[ ! -s "$WARD_TMP/asked" ] || fail "root's engine was asked"
# Control: under a policy that root names.
expect 0 run --image team/app:1 -- true
[ -s "$WARD_TMP/asked" ] || fail 'control: no engine was asked'
