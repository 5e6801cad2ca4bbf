#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# To find out which program starts, wardfs does not look into a tree, does not read what the
# command may not read, and does not bring pages of a tree's files into the command's memory. Only
# the command's own looks and reads leave records there.
set -eu
. "$WARD_SRC/tests/lib.sh"
lib=$WARD_SRC/tests/cases/audit/lib
cp "$lib/exec-looks-link.py" "$lib/exec-looks-map.py" "$lib/exec-looks-records.py" "$WARD_TMP"
chmod 755 "$WARD_TMP"

# A link to a hidden name; a mapped page of a tree.
cat >"$WARD_TMP/look" <<'EOS'
set -eu
mkdir -p p/hid && echo x >p/hid/s && head -c 8192 /dev/zero | tr '\0' a >p/secret
cd p
policy() {
	printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nread = /workspace\nhide = /workspace/hid
[audit]\nexec = yes\nlog = %s\n' "$1" >../policy
}
session() {
	name=$1
	shift
	"$WARDFS" run --policy ../policy --session "$name" -- python3 -c "$(cat "$WARD_TMP/exec-looks-$1.py")" "$2"
	"$WARDFS" audit verify "$name" >../verdict || { cat ../verdict; exit 1; }
	"$WARDFS" audit show --json "$name" >"../$name"
	python3 "$WARD_TMP/exec-looks-records.py" "$name" "../$name"
}
policy opens
session link-out link /usr/bin/true
session link-tree link /workspace/secret
session link-hidden link /workspace/hid/s
policy io
session map-plain map plain
session map-exec map exec
EOS
mkdir root
(cd root && XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config sh "$WARD_TMP/look") || fail "as root"
as_user "$WARD_TMP/look" || fail "as an ordinary user"

# Programs that only root may read or reach, and files that are no programs.
cd "$WARD_TMP"
mkdir -p q tools/closed
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
for f in open only-x private data closed/open; do
	cp /bin/true "tools/$f"
	echo "$f" >>"tools/$f"
	chmod 755 "tools/$f"
done
chmod 711 tools/only-x
chmod 700 tools/private tools/closed
chmod 644 tools/data
cd q
printf '[policy]\nversion = 1\n[tree /workspace]\nsource = .\n[files]\nread = /workspace\n[audit]\nexec = yes\n[system]
read = %s\n' "$WARD_TMP/tools" >../policy
expect 0 "$WARDFS" run --policy ../policy --session programs -- sh -c '
	for f; do "$f" || echo "refused $f"; done' sh "$WARD_TMP/tools/open" "$WARD_TMP/tools/only-x" \
	"$WARD_TMP/tools/private" "$WARD_TMP/tools/data" "$WARD_TMP/tools/closed/open" \
	/proc/sys/kernel/ostype /proc/version /sys/kernel/mm/transparent_hugepage/enabled
for f in private data closed/open; do has "$OUT" "refused $WARD_TMP/tools/$f"; done
hasnt "$OUT" "refused $WARD_TMP/tools/o"
"$WARDFS" audit show --json programs >../programs
python3 "$WARD_TMP/exec-looks-records.py" programs ../programs "$WARD_TMP/tools" || fail "the records of programs"
