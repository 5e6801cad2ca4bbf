#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docker-start OPTION...: starts a docker daemon for this session alone, and in it the container of
# the view, with these options of `docker run`. Ends with the container. wardfs-init starts it in
# the root of the engine: /view is what the command sees, and nothing of the host can be written.
set -eu
DOCKER_HOST=unix:///run/docker.sock
export DOCKER_HOST
docker=/engine/docker
log=/run/dockerd.log

# Nothing reads a configuration of the host's: its /etc is not here.
dockerd --rootless --host "$DOCKER_HOST" --data-root /state/docker --exec-root /run/docker \
	--pidfile /run/dockerd.pid --storage-driver vfs --bridge none --iptables=false --ip6tables=false \
	>"$log" 2>&1 &
daemon=$!
until "$docker" version >/dev/null 2>&1; do
	kill -0 "$daemon" 2>/dev/null || {
		echo "dockerd ended: $(tail -n 1 "$log")" >&2
		exit 1
	}
	sleep 0.02
done

# An image of the view's links and of a place for each of its directories, which are mounted there.
image=/run/image
mkdir "$image"
for from in /view/* /view/.[!.]*; do
	name=${from#/view/}
	case $name in
	*[!A-Za-z0-9._+@-]*)
		# Also a pattern that found nothing.
		[ -e "$from" ] || [ -L "$from" ] || continue
		echo "docker cannot mount /$name: fix: rename it in the image" >&2
		exit 1
		;;
	proc)
		mkdir "$image/proc"
		continue
		;;
	esac
	if [ -L "$from" ]; then
		cp -P "$from" "$image/$name"
		continue
	fi
	if [ -d "$from" ]; then mkdir "$image/$name"; else : >"$image/$name"; fi
	[ "$name" = wardfs-init ] || set -- "$@" --mount "type=bind,source=$from,target=/$name"
done
# A daemon puts files of its own over these, unless they are mounted by themselves.
for name in hosts hostname resolv.conf; do
	set -- "$@" --mount "type=bind,source=/view/etc/$name,target=/etc/$name,readonly"
done
# A daemon would mount control groups there.
mkdir "$image/.groups"
set -- "$@" --mount "type=bind,source=$image/.groups,target=/sys/fs/cgroup,readonly"
tar -C "$image" -c . | "$docker" import - view >/dev/null
exec "$docker" run "$@" view /wardfs-init call
