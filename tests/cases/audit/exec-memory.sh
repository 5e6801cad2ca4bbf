#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No kind of memory keeps a program's path or arguments out of the trail. The kernel itself reads
# memory that is mapped only for writing or only for execution, so wardfs must read it as well.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
cp "$WARD_SRC/tests/cases/audit/lib/exec-memory.py" "$WARD_TMP/memory.py"
chmod 755 "$WARD_TMP"

# The control: outside, each kind starts the program, and no memory at all does not.
kinds='plain undumpable write-only write-only-shared exec-only write-exec tree-file tmp-file'
expect 0 unshare --mount sh -c 'mount -t tmpfs tmpfs /tmp && python3 "$WARD_TMP/memory.py" "$WARD_TMP/map"'
for kind in $kinds; do has "$OUT" "$kind ran"; done
has "$OUT" 'undumpable-write-only ran'
has "$OUT" 'none EFAULT'

cat >"$WARD_TMP/start" <<'S'
set -eu
mkdir -p p
cd p
for log in denials opens; do
	printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nwrite = /workspace
[audit]\nexec = yes\nlog = %s\n' "$log" >../policy
	"$WARDFS" run --policy ../policy --session "memory-$log" -- \
		python3 -c "$(cat "$WARD_TMP/memory.py")" /workspace/map >"../said-$log"
	"$WARDFS" audit verify "memory-$log"
	"$WARDFS" audit show --json --kind exec "memory-$log" >"../records-$log"
done
S
# records DIR: whatever ran has a record with its path and all of its arguments.
records() {
	for log in denials opens; do
		said=$(cat "$1/said-$log")
		has "$said" 'none EFAULT'
		for kind in $kinds; do
			has "$said" "$kind ran"
			grep -F "\"SAID=$kind\"" "$1/records-$log" >"$WARD_TMP/record" ||
				fail "$1: $kind: no record: $(cat "$1/records-$log")"
			has "$(cat "$WARD_TMP/record")" "\"path\":\"/usr/bin/env\""
			has "$(cat "$WARD_TMP/record")" "\"argv\":[\"env\",\"SAID=$kind\",\"/usr/bin/true\"]"
		done
		# Without root the kernel may show this to nobody: then it does not start.
		case $said in
		*"undumpable-write-only EFAULT"*) ;;
		*) grep -qF '"argv":["env","SAID=undumpable-write-only",' "$1/records-$log" || fail "$1: no record: $said" ;;
		esac
		# Memory that the kernel shows to its owner alone is refused.
		has "$said" 'secret no memory: ENOSYS'
	done
}
mkdir root
(cd root && XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config sh "$WARD_TMP/start") || fail "as root"
records root
as_user "$WARD_TMP/start" || fail "as an ordinary user"
records "$WARD_TMP/home"
