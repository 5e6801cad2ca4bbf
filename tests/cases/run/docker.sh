#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Mode docker with engines that share this kernel (runc, crun, podman, docker): the container has
# the view, identity, limits, exec, signals, exit codes, terminal, denials and trail of restricted.
# timeout: 600
set -eu
. "$WARD_SRC/tests/lib.sh"
for engine in runc crun podman docker; do
	command -v "$engine" >/dev/null || skip "no $engine (Debian package $engine)"
done
work=$WARD_TMP/work
project "$work"
chmod 755 "$WARD_TMP"
cd "$work"
echo secret >.env
mkdir "$WARD_TMP/outside"

for engine in runc crun podman docker; do
	# Not the sandbox alone: the container maps ids once more, and the engine's own list of
	# system calls stands beside ours.
	expect 0 "$WARDFS" run --engine "$engine" --session "in-$engine" -- sh -c \
		'id -u; cat /proc/self/uid_map; grep -E "^(Cap|NoNew|Seccomp)" /proc/self/status'
	case $OUT in 0*) fail "root inside: $OUT" ;; esac
	has "$OUT" ' 0          1'
	has "$OUT" 'CapEff:	0000000000000000'
	has "$OUT" 'CapBnd:	0000000000000000'
	has "$OUT" 'NoNewPrivs:	1'
	has "$OUT" 'Seccomp_filters:	3'
	expect 0 "$WARDFS" run -- sh -c 'cat /proc/self/uid_map; grep Seccomp_f /proc/self/status'
	hasnt "$OUT" ' 0          1'
	has "$OUT" 'Seccomp_filters:	2'
	# The trail says which engine; every probe held; programs are recorded.
	expect 0 "$WARDFS" audit verify "in-$engine"
	trail=$WARD_TMP/trail-$engine
	"$WARDFS" audit show "in-$engine" --json >"$trail"
	grep -q "\"mode\":\"docker\".*\"engine\":\"$engine\"" "$trail" || fail "no $engine in the trail"
	grep -q '"kind":"program".*"path":"/usr/bin/dash"' "$trail" || fail 'no record of a program'
	case $engine in docker) lacks='["covers of ' ;; *) lacks='[]' ;; esac
	grep -qF "\"lacks\":$lacks" "$trail" || fail 'what the engine lacks'
	if grep -q '"result":"failed"' "$trail"; then fail 'a probe failed'; fi
	for probe in capabilities userns landlock ptrace mount outside read-only connect write; do
		grep "\"name\":\"$probe\"" "$trail" | grep -q '"result":"held"' ||
			fail "$engine: probe $probe"
	done

	# The project can be written to, the host's programs and the root cannot; what the policy
	# hides, and what is outside, is not there. Control: on the host it is.
	expect 0 "$WARDFS" run --engine "$engine" -- sh -c "echo $engine >made && cat made"
	[ "$(cat made)" = "$engine" ] || fail 'the project was not written to'
	for place in /usr/new /etc/new /new /wardfs-init /bin/sh; do
		expect 1 "$WARDFS" run --engine "$engine" -- sh -c "echo no >>$place || exit 1"
	done
	[ -f .env ] || fail 'control'
	expect 1 "$WARDFS" run --engine "$engine" -- sh -c 'cat .env || exit 1'
	[ -d "$WARD_TMP/outside" ] || fail 'control'
	expect 1 "$WARDFS" run --engine "$engine" -- sh -c "cd '$WARD_TMP/outside' || exit 1"
	# Nothing of the engine shows: no bundle, state, program, second root or group of the host.
	# An engine that manages containers has an empty directory for groups.
	expect 0 "$WARDFS" run --engine "$engine" -- sh -c '[ -z "$(ls -A /sys/fs/cgroup 2>/dev/null)" ]'
	for place in /state /bundle /engine /view; do
		expect 0 "$WARDFS" run --engine "$engine" -- test ! -e "$place"
	done

	# Names of hosts are those of restricted: an engine likes to put files of its own there.
	names='/etc/hosts /etc/hostname /etc/resolv.conf'
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" run -- cat $names
	restricted=$OUT
	# shellcheck disable=SC2086
	expect 0 "$WARDFS" run --engine "$engine" -- cat $names
	[ "$OUT" = "$restricted" ] || fail "$engine: $OUT instead of $restricted"

	# Exit codes, signals.
	expect 7 "$WARDFS" run --engine "$engine" -- sh -c 'exit 7'
	expect 127 "$WARDFS" run --engine "$engine" -- no-such-program
	has "$ERR" 'not found'
	# shellcheck disable=SC2016 # the shell inside expands it
	expect 137 "$WARDFS" run --engine "$engine" -- sh -c 'kill -9 $$'
	# Clocks, and the limit on processes.
	# Threads of podman and docker count as processes.
	case $engine in podman | docker) few=200 ;; *) few=20 ;; esac
	printf '[policy]\nversion = 1\nextends = medium\n[limits]\nwall = 2s\nprocesses = %s\n' \
		"$few" >"$WARD_TMP/p.policy"
	expect 124 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine "$engine" -- sleep 600
	sed -i '/^wall/d' "$WARD_TMP/p.policy"
	expect 0 "$WARDFS" run -p "$WARD_TMP/p.policy" --engine "$engine" -- python3 -c \
		"$(cat "$WARD_SRC/tests/cases/run/lib/docker-forks.py")" "$((few + 20))"
	# A list of programs holds.
	printf '[policy]\nversion = 1\nextends = medium\n[process]\nexec = /usr/bin/dash\n' \
		>"$WARD_TMP/list.policy"
	expect 0 "$WARDFS" run -p "$WARD_TMP/list.policy" --engine "$engine" -- dash -c true
	expect 126 "$WARDFS" run -p "$WARD_TMP/list.policy" --engine "$engine" -- dash -c 'id'

	# One more command in it, with the same walls; then the end of all.
	"$WARDFS" run --engine "$engine" --session "more-$engine" -- sleep 600 &
	pid=$!
	wait_until 60 "$WARDFS" exec "more-$engine" -- true
	expect 3 "$WARDFS" exec "more-$engine" -- sh -c 'grep Seccomp_f /proc/self/status; exit 3'
	has "$OUT" 'Seccomp_filters:	3'
	[ "$(status_of "more-$engine" verb)" = run ] || fail 'wardfs ps does not list it'
	expect 0 "$WARDFS" kill "more-$engine"
	wait "$pid" || [ $? -ge 125 ] || fail "the end of $engine"

	# A terminal of its own.
	expect 0 script -qec "'$WARDFS' run --engine $engine -- sh -c 'tty && test -t 0'" /dev/null
	has "$OUT" /dev/pts/
done

# An image takes the place of the host's programs; one key and one flag.
image=$WARD_TMP/image
mkdir -p "$image/bin" "$image/etc" "$image/usr"
cp /bin/busybox "$image/bin/busybox"
for applet in sh cat id ls; do ln -s busybox "$image/bin/$applet"; done
# A sanitized wardfs-init is not static: what it is linked with has to be in the image.
for lib in $(ldd "$WARD_BUILD/wardfs-init" | grep -o '/[^ ]*'); do
	mkdir -p "$image${lib%/*}"
	cp "$lib" "$image$lib"
done
echo the-image >"$image/etc/os-release"
# A hostile image could steer the engine with links at the engine's mount points.
ln -s "$WARD_TMP/outside" "$image/proc"
ln -s "$WARD_TMP/outside" "$image/workspace"
ln -s "$WARD_TMP/outside/passwd" "$image/etc/passwd"
chmod -R go-w "$image"
for engine in runc podman docker; do
	expect 0 "$WARDFS" run --engine "$engine" --image "$image" -- \
		sh -c 'cat /etc/os-release; id; cat /proc/1/stat || true'
	has "$OUT" the-image
done
ln -s "$WARD_TMP/outside" "$image/wardfs-init"
expect 2 "$WARDFS" run --engine runc --image "$image" -- true
has "$ERR" '/wardfs-init is there already'
rm "$image/wardfs-init"
[ -z "$(ls "$WARD_TMP/outside")" ] || fail 'a link of the image was followed out of it'
printf '[policy]\nversion = 1\nextends = medium\nmode = docker\n[container]\nengine = crun\nimage = ./image\n' \
	>"$WARD_TMP/c.policy"
expect 0 "$WARDFS" run -p "$WARD_TMP/c.policy" -- cat /etc/os-release
has "$OUT" the-image

# An ordinary user's: the engine has no rights that the user does not have.
cat >"$WARD_TMP/user.sh" <<'END'
set -eu
mkdir -p project
cd project
for engine in runc podman; do
	"$WARDFS" run --engine $engine -- sh -c "id -u; echo hi from $engine >made"
	cat made
done
"$WARDFS" run --engine docker -- true || echo "docker: $?"
END
chmod 644 "$WARD_TMP/user.sh"
expect 0 as_user "$WARD_TMP/user.sh"
has "$OUT" 4711
has "$OUT" 'hi from runc'
has "$OUT" 'hi from podman'
# Its daemon needs root.
has "$OUT" 'docker: 125'
has "$ERR" 'the engine docker needs root'
