#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The files' owner rewrites them without changing their meaning, or adds a second file for a
# segment. Verification compares bytes, not meaning, and prefers the plain file. Both verifiers
# agree.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
run --session one --events 30 --checkpoint 10
run --session two --events 30 --checkpoint 10
run --session packed --events 400 --sync record --rotate 8000 --pack --checkpoint 10
vkey=$(audit key show)
cp -a state good
s=state/sessions
segment=$(find $s/packed -name 'trail.*.jsonl.zst' | sort | head -n 1)
[ -n "$segment" ] || fail "no segment is compressed: $(ls $s/packed)"

# said SESSION STATE WHAT: what both find, and with the public key
said() {
	agree "$3"
	grep -q "^$1 $2 " mine || fail "$3: $(cat mine)"
	agree_public "$3" "$vkey" "$1"
	rc=0
	audit verify --key "$vkey" "$1" >public || rc=$?
	case $2:$rc in
	intact:0 | edited:1) ;;
	*) fail "$3, public: $(cat public)" ;;
	esac
	rm -rf state
	cp -a good state
}

said one intact "the control"
python3 - $s/one/trail.jsonl <<'END'
import json, sys
recs = [json.loads(line) for line in open(sys.argv[1])]
with open(sys.argv[1], "w") as f:
    for r in recs:
        f.write(json.dumps(r, separators=(",", ":"), sort_keys=True) + "\n")
END
said one edited "the same objects, their members sorted"
sed -i 's/,"kind"/, "kind"/' $s/one/trail.jsonl
said one edited "a space in each line"
sed -i 's/$/\r/' $s/one/trail.jsonl
said one edited "other ends of lines"
{ printf '\357\273\277' && cat good/sessions/one/trail.jsonl; } >$s/one/trail.jsonl
said one edited "a byte order mark"
sed -i '5s/"kind":"open"/"kind":"open","kind":"open"/' $s/one/trail.jsonl
said one edited "a member twice"
ln -f $s/two/trail.jsonl $s/one/trail.jsonl
said one edited "another session's trail"

zstd -dqk "$segment" -o "${segment%.zst}"
said packed intact "a segment beside itself, plain"
zstd -dqk "$segment" -o "${segment%.zst}"
sed -i '0,/allow/s/allow/alloW/' "${segment%.zst}"
zstd -dqc "$segment" | cmp -s - "${segment%.zst}" && fail "control: nothing was changed"
said packed edited "a plain one beside it that says something else"
zstd -dq --rm "$segment" -o x
zstd -19 -q --rm x -o "$segment"
said packed intact "compressed once more"
printf '\120\052\115\030\004\0\0\0abcd' >>"$segment"
said packed edited "a frame that decoders skip"
printf '{"v":1}\n' | zstd -q >>"$segment"
said packed edited "a frame more"

# An entry of the ledger once more.
sed -n 2p good/ledger.jsonl >>state/ledger.jsonl
agree "an entry again"
grep -q '^ledger edited ' mine || fail "an entry again: $(cat mine)"
