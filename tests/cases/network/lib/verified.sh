# SPDX-License-Identifier: Apache-2.0
# verified.sh SCRIPT [ARG...]: runs the script. Then both verifiers decide the connections of all
# its trails again: none is one that no rule and no grant allows.
set -eu
sh "$@"
state=${XDG_STATE_HOME:-$HOME/.local/state}/wardfs
"$WARD_BUILD/wardfs" audit verify --json --all --state "$state" >"$HOME/verify.json" || :
python3 "$WARD_SRC/tests/support/verify.py" "$state" >"$HOME/theirs" || :
python3 -c 'import json, sys
for r in json.load(open(sys.argv[1])):
    print(r["name"], r["state"].replace(" ", "-"), r["records"], r["first_bad"] or 0)' \
	"$HOME/verify.json" >"$HOME/mine"
[ -s "$HOME/mine" ] || {
	echo "FAIL: no trail was looked at" >&2
	exit 1
}
if grep ' edited ' "$HOME/mine" || ! cmp "$HOME/mine" "$HOME/theirs"; then
	"$WARD_BUILD/wardfs" audit verify --all --state "$state" || :
	diff "$HOME/mine" "$HOME/theirs" || :
	echo "FAIL: honest trails do not verify" >&2
	exit 1
fi
