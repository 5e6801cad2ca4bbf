#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wardfs attack --certificate: a file signed with the host's key, with kernel, versions, the
# policy's digest and every attempt's verdict and control. verify accepts it, by the host's key and
# by a public key elsewhere. It refuses a changed file, another key and another kind of statement.
# No file is replaced.
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"

WARDFS=$WARD_BUILD/wardfs
export XDG_STATE_HOME="$WARD_TMP/state"
mkdir project && cd project

expect 1 "$WARDFS" attack --only read-path,tcp-loopback,inherited-file,keep-home --certificate cert.json
expect 0 "$WARDFS" attack verify cert.json
echo "$OUT" | grep -q '^cert.json: genuine: attested 20' || fail "$OUT"
echo "$OUT" | grep -q '  attempts 3 held, 1 broken, 0 not applicable, 0 untested' || fail "$OUT"
echo "$OUT" | grep -q '  broken   keep-home' || fail "$OUT"
session=$(find "$XDG_STATE_HOME/wardfs/sessions" -name 'attack-*' ! -name '*.*' -printf '%f\n')
digest=$("$WARDFS" audit show --json --kind session.start "$session" |
	sed -n 's/.*"policy": *"\([0-9a-f]*\)".*/\1/p' | head -n 1)
[ ${#digest} = 64 ] || fail "the trail names no policy"
echo "$OUT" | grep -q "  policy   sha256 $digest" || fail "another policy than the trail's $digest: $OUT"

echo "--- as JSON"
expect 0 "$WARDFS" attack verify --json cert.json
echo "$OUT" >verified.json
python3 "$WARD_SRC/tests/support/certificate.py" check verified.json "$(uname -r)" | sort >said
printf '%s\n' "inherited-file held did" "keep-home broken did" "read-path held did" "tcp-loopback held did" |
	cmp - said || fail "what the certificate says: $(cat said)"

echo "--- by a public key, on a host without one"
"$WARDFS" audit key show >key
expect 0 env XDG_STATE_HOME="$WARD_TMP/none" "$WARDFS" attack verify --key key cert.json
expect 0 env XDG_STATE_HOME="$WARD_TMP/none" "$WARDFS" attack verify --key "$(cat key)" cert.json
expect 125 env XDG_STATE_HOME="$WARD_TMP/none" "$WARDFS" attack verify cert.json

echo "--- what is not genuine"
not_genuine() { # not_genuine FILE TEXT
	expect 1 "$WARDFS" attack verify --key key "$1"
	echo "$ERR" | grep -q "$2" || fail "$1: $ERR"
	[ -z "$OUT" ] || fail "$1: $OUT"
}
python3 "$WARD_SRC/tests/support/certificate.py" forge cert.json forged.json
not_genuine forged.json "it was changed"
head -c 500 cert.json >cut.json
not_genuine cut.json "it was changed, or is no certificate"
: >empty.json
not_genuine empty.json "no certificate"
# Another host's key.
expect 0 env XDG_STATE_HOME="$WARD_TMP/other" "$WARDFS" attack --only read-path --certificate other.json
not_genuine other.json "another key signed it"
# A statement of another kind, signed with the same key.
"$WARDFS" audit attest "$session" >session.json
not_genuine session.json "no certificate"
expect 1 "$WARDFS" audit verify ./cert.json

echo "--- nothing is replaced, and nothing is run for it"
cp cert.json before.json
expect 2 "$WARDFS" attack --only read-path --certificate cert.json
echo "$ERR" | grep -q 'cert.json exists' || fail "$ERR"
cmp -s cert.json before.json || fail "the file was replaced"
expect 2 "$WARDFS" attack --key key
expect 2 "$WARDFS" attack verify

echo "--- another sandbox has no policy of ours"
expect 1 "$WARDFS" attack --only read-path,outlive --sandbox "env --" --certificate env.json
expect 0 "$WARDFS" attack verify --json env.json
echo "$OUT" | grep -q '"policy": null' || fail "$OUT"
