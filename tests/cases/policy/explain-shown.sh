#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# For a path that [system] read shows, `policy explain` says what a session answers: read-only,
# mode, executable or not. The control is the same path without the line.
set -eu
. "$WARD_SRC/tests/lib.sh"
project p
mkdir -p k/sub other
for f in k/plain k/sub/deep other/secret; do echo "content of $f" >"$f"; done
printf '#!/bin/sh\necho ran\n' >k/tool
chmod -R a+rX .
chmod 777 k k/sub k/plain
chmod 755 k/tool
ln -s ../other/secret k/out
ln -s sub/deep k/in
cd p || exit 1
k=$WARD_TMP/k

policy() {
	printf '[policy]\nversion = 1\nextends = medium\n%b\n' "$1" >../own.policy
}

# agree STATUS TEXT ACTION PATH COMMAND...: explain answers with the status, and says TEXT; COMMAND
# inside does as much.
agree() {
	status=$1 text=$2 action=$3 path=$4
	shift 4
	expect "$status" "$WARDFS" policy explain --policy ../own.policy "$action" "$path"
	has "$OUT" "$text"
	rc=0
	"$WARDFS" run --policy ../own.policy -- "$@" >out 2>&1 || rc=$?
	[ $((rc != 0)) -eq "$status" ] || fail "$action $path: explain said $status, inside: $rc, $(cat out)"
}

# The control: without the line nothing of it is there.
policy ""
agree 1 "hide" read "$k/plain" cat "$k/plain"
has "$OUT" "rights  -"
agree 1 "hide" list "$k" ls "$k"

policy "[system]\nread = $k"
agree 0 "allow" read "$k/plain" cat "$k/plain"
has "$OUT" "own.policy:5  [system] read = $k"
has "$OUT" "rights  stat,list,read,exec"
agree 0 "allow" read "$k/sub/deep" cat "$k/sub/deep"
agree 0 "allow" read "$k/in" cat "$k/in"
agree 0 "allow" stat "$k" stat "$k"
agree 0 "allow" list "$k/sub" ls "$k/sub"
agree 0 "allow" exec "$k/tool" "$k/tool"
# Also for who may write on the host.
agree 1 "EROFS" write "$k/plain" sh -c 'echo x >>"$1"' sh "$k/plain"
# In a session of root's, the file's owner has no id in that mount, which the kernel looks at first.
grep -qE "Read-only file system|Permission denied" out || fail "write: $(cat out)"
has "$OUT" "wardfs run --write"
agree 1 "EROFS" create "$k/new" touch "$k/new"
grep -q "Read-only file system" out || fail "create: $(cat out)"
agree 1 "EROFS" remove "$k/plain" rm -f "$k/plain"
# An absent file, a file beside it, and the target of a link.
agree 1 "hide" read "$k/none" cat "$k/none"
agree 1 "hide" read "$WARD_TMP/other/secret" cat "$WARD_TMP/other/secret"
agree 1 "hide" read "${k}plain" cat "${k}plain"
agree 1 "hide" read "$k/out" cat "$k/out"
# The same for programs that read it.
expect 0 "$WARDFS" policy explain --json --policy ../own.policy read "$k/plain"
printf '%s\n' "$OUT" >json
python3 - json "$k" <<'P'
import json, sys
o = json.load(open(sys.argv[1], encoding="utf-8"))
assert o["verdict"] == "allow" and o["in_tree"] is False and o["rights"] == ["stat", "list", "read", "exec"], o
assert o["rule_text"] == f"[system] read = {sys.argv[2]}" and o["rule"].endswith("own.policy:5"), o
P

# Of two the inner one decides, and a rule takes executing away from what it names.
policy "[guard]\nnoexec = $k/sub\n[system]\nread = $k\nread = $k/sub"
cp ../k/tool ../k/sub/tool
agree 1 "EACCES" exec "$k/sub/tool" "$k/sub/tool"
agree 0 "allow" read "$k/sub/tool" cat "$k/sub/tool"
has "$OUT" "rights  stat,list,read"
agree 0 "allow" exec "$k/tool" "$k/tool"

# A closed file refuses the start.
policy "[guard]\ndeny = $k\n[system]\nread = $k"
agree 1 "rights" read "$k/plain" cat "$k/plain"
grep -q "cannot be shown" out || fail "closed: $(cat out)"

# With a list of programs, both have to agree.
policy "[guard]\nnoexec = $k/sub\n[system]\nread = $k\nread = $k/sub\n[process]\nexec = /usr\nexec = /bin\nexec = /var/tmp"
agree 0 "allow" exec "$k/tool" "$k/tool"
agree 1 "EACCES" exec "$k/sub/tool" "$k/sub/tool"
