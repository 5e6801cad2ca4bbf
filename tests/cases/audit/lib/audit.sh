# SPDX-License-Identifier: Apache-2.0
# For the cases of the trail: sourced. Needs WARD_BUILD, WARD_SRC; works in the current directory.
# shellcheck shell=sh
set -eu
. "$WARD_SRC/tests/lib.sh"

STATE=$PWD/state
# A process a signature: the second verifier asks openssl about each one once.
VERIFY_CACHE=$PWD/signatures
export VERIFY_CACHE

audit() {
	"$WARD_BUILD/wardfs" audit "$@" --state "$STATE"
}

# run ARGS...: a session; what was acknowledged goes to ./acked
run() {
	"$WARD_BUILD/tests/support/auditrun" --program "$WARD_BUILD/wardfs-audit" \
		--state "$STATE" "$@" >acked 2>run.err || {
		cat run.err >&2
		fail "auditrun $*"
	}
}

# state_of SESSION: "STATE RECORDS FIRST_BAD" as `wardfs audit verify` says
state_of() {
	audit verify --json "$1" >verify.json || [ $? -eq 1 ] || return 1
	python3 -c 'import json, sys
r = json.load(open("verify.json"))[0]
print(r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)'
}

# both OPTION FILE WANTED: what was taken out of a trail (OPTION of the second verifier: --proof,
# --attestation), away from any state directory, with the public key $vkey: both verifiers say the
# same, one of the states WANTED
# shellcheck disable=SC2154 # vkey is the case's
both() {
	mine=0
	HOME=/nonexistent "$WARD_BUILD/wardfs" audit verify --json --key "$vkey" "$PWD/$2" \
		>verify.json || mine=$?
	python3 -c 'import json
r, = json.load(open("verify.json"))
print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)' >mine
	theirs=0
	python3 "$WARD_SRC/tests/support/verify.py" --key "$vkey" "$1" "$2" >theirs || theirs=$?
	[ $mine -eq $theirs ] || fail "$2: exit $mine, the second verifier $theirs"
	if [ "$1" = --proof ]; then # the second verifier names no first bad record of a proof
		[ "$(cut -d' ' -f2 mine)" = "$(cut -d' ' -f2 theirs)" ]
	else
		cmp -s mine theirs
	fi || fail "$2: $(cat mine), the second verifier $(cat theirs)"
	case " $3 " in
	*" $(cut -d' ' -f2 mine) "*) ;;
	*) fail "$2: $(cat mine), not $3" ;;
	esac
}

# both verifiers over everything, the same lines
agree() {
	mine=0
	audit verify --json --all >verify.json || mine=$?
	python3 -c 'import json
for r in json.load(open("verify.json")):
    print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)' >mine
	theirs=0
	python3 "$WARD_SRC/tests/support/verify.py" "$STATE" >theirs || theirs=$?
	[ $mine -eq $theirs ] || fail "$1: exit $mine, the second verifier $theirs"
	cmp -s mine theirs || {
		diff mine theirs >&2
		fail "$1: the verifiers do not agree"
	}
}

# agree_public WHAT KEY SESSION...: with a public key alone
agree_public() {
	what=$1
	key=$2
	shift 2
	for name; do
		[ -e "$STATE/sessions/$name/trail.jsonl" ] || continue
		mine=0
		audit verify --json --key "$key" "$STATE/sessions/$name/trail.jsonl" >verify.json || mine=$?
		python3 -c 'import json
for r in json.load(open("verify.json")):
    print(r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)' >public
		theirs=0
		python3 "$WARD_SRC/tests/support/verify.py" --key "$key" \
			"$STATE/sessions/$name/trail.jsonl" "$STATE/sessions/$name/checkpoints" >line || theirs=$?
		cut -d' ' -f2- line >theirs
		[ $mine -eq $theirs ] || fail "$what, $name, public: exit $mine, not $theirs"
		cmp -s public theirs || {
			diff public theirs >&2
			fail "$what, $name: the verifiers do not agree with a public key"
		}
	done
}

# Every path in ./acked is in the log of session $1 exactly once.
check_acked() {
	audit show --json "$1" >shown 2>/dev/null
	python3 "$WARD_SRC/tests/cases/audit/lib/acked.py" shown || fail "$1: records are lost or doubled"
}
