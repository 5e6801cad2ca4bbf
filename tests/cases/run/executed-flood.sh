#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Many harmless names do not push the important one out of the exit line, or out of host_executed
# and left in the trail. Each kind gets its turn, short names first, and neither list takes the
# other's room. wardfs counts what did not fit. The control: the same without the others.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
cd p || exit 1
cat >plant.sh <<'S'
mkdir -p zzz/.vscode zz
echo '{"tasks":[]}' >zzz/.vscode/tasks.json
ln -s ../.git/config zz/report
S
cat >flood.sh <<'S'
l=$(printf '%0200d' 0)
for i in $(seq 100 699); do
	mkdir -p "$l$i/.vscode"
	: >"$l$i/.vscode/tasks.json"
	ln -s "../.git/hooks/$l" "$l$i/lnk"
	: >"$l$i/AGENTS.md"
	ln -s /etc/passwd "$l$i/out"
done
S
# others SESSION: how many it says there are besides
others() {
	"$WARDFS" audit show --json --no-index --kind session.end "$1" >end
	has "$(cat end)" 'zzz/.vscode'
	has "$(cat end)" 'zz/report'
	python3 - end <<'P'
import json, sys
d = json.loads(open(sys.argv[1]).readlines()[-1])["detail"]
print(d["more"] + (not d["whole"]), d["left_more"])
P
}
for how in control attack; do
	rm -rf zzz zz
	first=true
	[ $how = control ] || first='sh flood.sh'
	expect 0 "$WARDFS" run --session $how -- sh -c "$first; sh plant.sh"
	has "$ERR" "zzz/.vscode"
	has "$ERR" "link zz/report to ../.git/config (closed to the command)"
	if [ $how = control ]; then
		[ "$(others $how)" = "0 0" ] || fail "control: something did not fit"
		continue
	fi
	others $how >count
	read -r executed left <count
	[ "$executed" -gt 0 ] && [ "$left" -gt 500 ] || fail "not counted: $(cat count)"
done
