#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# [container] pull = registry with a real skopeo and a real registry, over TLS on loopback: a run
# fetches an image by name and by nothing else, a certificate that nobody vouches for is refused,
# and a registry that hangs has no more than pull-time.
# timeout: 300
set -eu
. "$WARD_SRC/tests/lib.sh"
command -v skopeo >/dev/null || skip 'no skopeo (Debian package skopeo)'
command -v docker-registry >/dev/null || skip 'no docker-registry (Debian package docker-registry)'
[ "$(id -u)" -eq 0 ] || skip 'needs root'

# The rest on a network of its own, with its own /etc/containers.
[ "${1-}" = inside ] || exec unshare --mount --net --propagation private sh -c '
	ip link set lo up
	[ -d /etc/containers ] || mkdir /etc/containers
	mount -t tmpfs -o mode=755 tmpfs /etc/containers
	exec "$0" inside' "$0"

export XDG_STATE_HOME="$WARD_TMP/state" HOME="$WARD_TMP/home"
mkdir "$HOME"
project "$WARD_TMP/work"
at=127.0.0.1:5443
name=$at/team/app:1
hangs=127.0.0.1:5444/team/app:1

cat >"$WARD_TMP/registry.yml" <<END
version: 0.1
log: {level: info, accesslog: {disabled: false}}
storage: {filesystem: {rootdirectory: $WARD_TMP/registry}}
http: {addr: $at, tls: {certificate: $WARD_TMP/cert.pem, key: $WARD_TMP/key.pem}}
END
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=registry -addext subjectAltName=IP:127.0.0.1 \
	-keyout "$WARD_TMP/key.pem" -out "$WARD_TMP/cert.pem" 2>"$WARD_TMP/openssl" || fail "$(cat "$WARD_TMP/openssl")"
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >/etc/containers/policy.json
docker-registry serve "$WARD_TMP/registry.yml" >"$WARD_TMP/log" 2>&1 &
registry=$!
trap 'kill $registry 2>/dev/null || :' EXIT
ready() { curl -s --cacert "$WARD_TMP/cert.pem" "https://$at/v2/" >/dev/null; }
wait_until 60 ready || fail "$(cat "$WARD_TMP/log")"
python3 "$WARD_SRC/tests/cases/run/lib/images.py" docker "$WARD_TMP/docker"
mkdir "$WARD_TMP/certs"
cp "$WARD_TMP/cert.pem" "$WARD_TMP/certs/ca.crt"
skopeo copy --quiet --dest-cert-dir "$WARD_TMP/certs" "docker-archive:$WARD_TMP/docker" "docker://$name" \
	>"$WARD_TMP/push" 2>&1 || fail "$(cat "$WARD_TMP/push")"

run() { "$WARDFS" run -p "$WARD_TMP/p" "$@"; }
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[container]\n' >"$WARD_TMP/p"
	printf '%s\n' "$@" >>"$WARD_TMP/p"
}
asked() { grep -c '"GET /v2/team/app' "$WARD_TMP/log" || :; }
cd "$WARD_TMP/work"

echo '--- only where the policy says so'
before=$(asked)
policy 'pull = missing'
expect 125 run --image "$name" -- true
hasnt "$ERR" skopeo
[ "$(asked)" = "$before" ] || fail 'a registry was asked unasked'

echo '--- a certificate that nobody vouches for'
policy 'pull = registry'
expect 125 run --image "$name" -- true
has "$ERR" "cannot fetch the image $name"
has "$ERR" certificate
[ "$(asked)" = "$before" ] || fail 'the registry was asked without a certificate'
# skopeo removes what it could not write.
[ -L /dev/stdout ] || {
	ln -sf /proc/self/fd/1 /dev/stdout
	fail 'the failed fetch removed /dev/stdout'
}

echo '--- fetched, and kept'
mkdir -p "/etc/containers/certs.d/$at"
cp "$WARD_TMP/cert.pem" "/etc/containers/certs.d/$at/ca.crt"
expect 0 run --session fetched --image "$name" -- cat /etc/os-release
has "$OUT" the-image
has "$ERR" "fetched the image $name from skopeo: sha256:"
[ "$(asked)" -gt "$before" ] || fail 'control: the registry was not asked'
expect 0 "$WARDFS" audit verify fetched
before=$(asked)
expect 0 run --image "$name" -- cat /etc/os-release
has "$OUT" the-image
[ "$(asked)" = "$before" ] || fail 'the registry was asked for an image that is there'

echo '--- no such image'
expect 125 run --image "$at/team/none:1" -- true
has "$ERR" 'fix: wardfs image pull'

echo '--- a registry that takes the connection and never answers'
python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 5444))
time.sleep(1000)' &
silent=$!
trap 'kill $registry $silent 2>/dev/null || :' EXIT
policy 'pull = registry' 'pull-time = 3s'
began=$(date +%s)
expect 125 run --image "$hangs" -- true
has "$ERR" 'skopeo did not end within 3s ([container] pull-time)'
[ $(($(date +%s) - began)) -lt 60 ] || fail 'the time was not kept'
if pgrep -f "$hangs" >/dev/null; then fail 'skopeo goes on'; fi
kill $registry $silent
wait $registry $silent || :
trap - EXIT
