#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The service account of a pod in the trail: by the claims of the token that the kubelet mounts, and
# only by a token that is where the kubelet writes it, and of this pod.
# shellcheck disable=SC2154
# timeout: 300
set -eu
. "$WARD_SRC/tests/cases/oci/lib/oci.sh"
inside "$@"
b=$W/bundle
pods=$W/pods/uid-web/volumes/kubernetes.io~projected/kube-api-access
there=/var/run/secrets/kubernetes.io/serviceaccount
mkdir -p "$pods" "$W/forged"
host_policy 'policy = medium' '[caller]' 'session = yes' '[volumes]' "pass = $W/forged" \
	"engine = $W/pods/*/volumes/kubernetes.io~projected"
# token DIR CLAIMS: as the kubelet writes it, a link to a link to the file
token() {
	rm -rf "${1:?}/"* "$1/..data" "$1/..1"
	mkdir "$1/..1"
	python3 -c 'import base64, sys
part = lambda s: base64.urlsafe_b64encode(s.encode()).decode().rstrip("=")
print(part("{\"alg\":\"RS256\"}") + "." + part(sys.argv[1]) + ".c2lnbmF0dXJl", end="")' "$2" >"$1/..1/token"
	ln -s ..1 "$1/..data"
	ln -s ..data/token "$1/token"
}
claims() { # claims ACCOUNT [NAMESPACE [UID]]
	printf '{"iss":"k","kubernetes.io":{"namespace":"%s","pod":{"name":"web","uid":"%s"},"serviceaccount":{"name":"%s","uid":"1"}}}' \
		"${2-team}" "${3-uid-web}" "$1"
}
n=0
# labelled WANT [SOURCE]: what the trail says of a container with that volume; "": nothing
labelled() {
	n=$((n + 1))
	bundle "$b" true
	edit "$b" 'c["annotations"] = {"io.kubernetes.cri.sandbox-uid": "uid-web", "io.kubernetes.cri.sandbox-namespace": "team",
	"io.kubernetes.cri.sandbox-name": "web", "wardfs.session": "s" + sys.argv[3]}' "$n"
	volume "$b" "${2-$pods}" "$there"
	expect 0 oci run -b "$b" "c$n"
	gone_all() { [ -z "$(ls /run/wardfs/oci)" ]; }
	wait_until 60 gone_all || fail "left: $(ls /run/wardfs/oci)"
	expect 0 "$WARDFS" audit show --json "s$n"
	has "$OUT" '"namespace":"team"'
	if [ -n "$1" ]; then
		has "$OUT" "\"service-account\":\"$1\""
	else
		hasnt "$OUT" service-account
	fi
	# The token itself is nowhere.
	hasnt "$OUT" c2lnbmF0dXJl
}
token "$pods" "$(claims builder)"
labelled builder
# Another pod's token, and another namespace's.
token "$pods" "$(claims builder team uid-other)"
labelled ''
token "$pods" "$(claims builder kube-system)"
labelled ''
# A volume that the author of the pod filled.
token "$W/forged" "$(claims admin)"
labelled '' "$W/forged"
# No token: a link out of the volume, a pipe, another user's file, no JSON, a name that is none.
token "$pods" "$(claims builder)"
cp "$pods/token" "$W/outside"
ln -sfn "$W/outside" "$pods/token"
labelled ''
rm "$pods/token"
mkfifo "$pods/token"
labelled ''
token "$pods" "$(claims builder)"
chown 4711 "$pods/..1/token"
labelled ''
token "$pods" 'no JSON'
labelled ''
token "$pods" "$(claims 'Builder","x":"')"
labelled ''
token "$pods" "$(claims '../../x')"
labelled ''
printf 'a.b' >"$pods/..1/token"
labelled ''
head -c 100000 /dev/zero | tr '\0' . >"$pods/..1/token"
labelled ''
# Again the right one: it was not the place.
token "$pods" "$(claims builder)"
labelled builder
