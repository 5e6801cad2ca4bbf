#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `policy check` finds each fault and names its line. It finds nothing in a good policy.
set -eu
. "$WARD_SRC/tests/lib.sh"

# finds FILE LINE WORDS: a finding at that line holds the words
finds() {
	code=0
	out=$("$WARDFS" policy check --strict "$1") || code=$?
	[ $code -eq 1 ] || fail "$1: exit status $code: $out"
	echo "$out" | grep -F "$1:$2: warning: " | grep -qF "$3" || fail "$1: no '$3' in: $out"
	"$WARDFS" policy check "$1" >/dev/null || fail "$1: warnings are no errors without --strict"
}

clean() {
	out=$("$WARDFS" policy check --strict "$1") || fail "$1: $out"
	[ -z "$out" ] || fail "$1: $out"
}

for p in medium agent convention; do
	clean $p
done
# high has the network, and is told that nobody named its hosts, and nothing else.
expect 1 "$WARDFS" policy check --strict high
[ "$(echo "$OUT" | grep -vc 'a wildcard allows hosts that nobody has checked')" = 0 ] || fail "high: $OUT"
# low has a list of programs, with shells in it: it is told what that is worth, and nothing else.
expect 1 "$WARDFS" policy check --strict low
has "$OUT" "the list is a list of names"
[ "$(echo "$OUT" | grep -vc '\[process\] exec: ')" = 0 ] || fail "low: $OUT"

head='[policy]
version = 1
extends = medium'
printf '%s\n[files]\nread = /workspace/a\nwrite = /workspace/a\n' "$head" >"$PWD/shadow.policy"
finds "$PWD/shadow.policy" 5 "never decides"
printf '%s\n[files]\nread = /workspace/*.c\nwrite = *.[ch]\n' "$head" >"$PWD/glob.policy"
finds "$PWD/glob.policy" 5 "never decides"
printf '%s\n[files]\nread = /workspace/*.c\nwrite = *.h\n' "$head" >"$PWD/fine.policy"
clean "$PWD/fine.policy"
printf '%s\n[guard]\ndeny = /workspace/**/x.env\nhide = x.env\n' "$head" >"$PWD/guard.policy"
finds "$PWD/guard.policy" 5 "takes nothing"

echo "--- exact: several rules together, and not quite"
printf '%s\n[files]\nread = /workspace/[ab].c\nwrite = /workspace/a.c\nwrite = b.c\n' "$head" >"$PWD/both.policy"
finds "$PWD/both.policy" 5 "write = /workspace/a.c"
finds "$PWD/both.policy" 5 "write = b.c"
sed 's,\[ab\],[abc],' "$PWD/both.policy" >"$PWD/almost.policy"
clean "$PWD/almost.policy"
printf '%s\n[files]\nread = /workspace/**/x/?*.c\nwrite = x/*.c\n' "$head" >"$PWD/deep.policy"
finds "$PWD/deep.policy" 5 "never decides"
printf '%s\n[files]\nread = /workspace/**/x/?*.c\nwrite = x/?.c\n' "$head" >"$PWD/longer.policy"
clean "$PWD/longer.policy"

echo "--- too wide: what the profile refuses is given along with the rest"
for wide in 'write = /**' 'read = /' 'append = *' 'write = /workspace'; do
	printf '%s\n[files]\nread = /workspace/a\n%s\n' "$head" "$wide" >"$PWD/wide.policy"
	finds "$PWD/wide.policy" 6 "too wide: it also allows what other lines refuse: medium:"
	finds "$PWD/wide.policy" 6 "and 5 more lines"
done
for narrow in 'write = /workspace/src' 'read = *.pem' 'deny = /workspace' 'write = .git'; do
	printf '%s\n[files]\n%s\n' "$head" "$narrow" >"$PWD/narrow.policy"
	clean "$PWD/narrow.policy"
done
printf '[policy]\nversion = 1\n[files]\nread = /workspace\nwrite = /workspace/.git\n' >"$PWD/git.policy"
finds "$PWD/git.policy" 5 ".git/hooks"
for home in '~' /home /root /; do
	printf '%s\n[system]\nread = /opt\nread = %s\n' "$head" "$home" >"$PWD/homes.policy"
	finds "$PWD/homes.policy" 6 "too wide: shows whole homes"
done
printf '%s\n[system]\nread = ~/tools\n' "$head" >"$PWD/tools.policy"
clean "$PWD/tools.policy"
printf '%s\n[network]\nmode = host\n' "$head" >"$PWD/host.policy"
finds "$PWD/host.policy" 5 "too wide: the session reaches every host"

echo "--- contradictions"
printf '%s\n[guard]\nread = /workspace/gen\n[files]\nwrite = /workspace/gen/out\nwrite = /workspace/*/out\n' "$head" \
	>"$PWD/guarded.policy"
finds "$PWD/guarded.policy" 7 "never gives what it says"
finds "$PWD/guarded.policy" 7 "read = /workspace/gen"
! "$WARDFS" policy check "$PWD/guarded.policy" | grep -e ':8: ' || fail "what counts elsewhere"
printf '%s\n[files]\nwrite = /workspace\nread = /workspce/doc\n' "$head" >"$PWD/nowhere.policy"
finds "$PWD/nowhere.policy" 6 "no path in any [tree]"

printf '[policy]\nversion = 1\n[files]\nwrite = /workspace\n' >"$PWD/open.policy"
finds "$PWD/open.policy" 4 ".vscode"
printf '%s\n[tree /x]\nsource = /\n[tree /h]\nsource = ~\n[files]\nwrite = /h\n' "$head" \
	>"$PWD/trees.policy"
finds "$PWD/trees.policy" 5 "whole host"
finds "$PWD/trees.policy" 7 "can write the home"
printf '%s\n[network]\nmode = allowlist\nallow = *.example.org:443\nallow = pastebin.com\nsocket = %s\n' \
	"$head" /run/docker.sock >"$PWD/net.policy"
finds "$PWD/net.policy" 6 "wildcard"
finds "$PWD/net.policy" 7 "anybody can write there"
finds "$PWD/net.policy" 8 "root on the host"

printf '%s\n[network]\nmode = allowlist\nallow = 10.0.0.0/8:443\nallow = 169.254.169.254:80\nallow = [::1]:80\nallow = x.org:443\ndeny = x.org\n' \
	"$head" >"$PWD/near.policy"
finds "$PWD/near.policy" 6 "wide block"
finds "$PWD/near.policy" 7 "trusts everybody who can reach it"
finds "$PWD/near.policy" 8 "trusts everybody who can reach it"
finds "$PWD/near.policy" 9 "allows nothing: $PWD/near.policy:10"
# Hosts without a mode: the profile's mode has no network. The line that is missing is named.
printf '[policy]\nversion = 1\nextends = medium\n[network]\nallow = example.org\n' >nomode.policy
finds "$PWD/nomode.policy" 5 "add 'mode = allowlist' to [network], above line 5"
# explain says the same, of the file that --policy names, and never of the project's.
expect 1 "$WARDFS" policy explain --policy nomode.policy connect example.org
has "$OUT" "to permit it: $PWD/nomode.policy:5 allows it, but '[network] mode' is 'none'"
expect 1 "$WARDFS" policy explain --policy nomode.policy connect other.example
has "$OUT" "'mode = allowlist' and 'allow = other.example:443' in [network] of $PWD/nomode.policy"
sed -i 's/^allow = /mode = allowlist\n&/' nomode.policy
expect 0 "$WARDFS" policy explain --policy nomode.policy connect example.org
has "$OUT" "$PWD/nomode.policy:6  [network] allow = example.org"
printf '[files]\nread = /workspace/kept\n' >>nomode.policy
expect 1 "$WARDFS" policy explain --policy nomode.policy write kept
has "$OUT" "at the end of [files] in $PWD/nomode.policy"
hasnt "$OUT" projects
expect 1 "$WARDFS" policy explain --policy medium connect example.org
has "$OUT" "in [network] of a file of yours that extends medium"
printf '%s\n[network]\nallow = x.org:443\n' "$head" >"$PWD/none.policy"
finds "$PWD/none.policy" 5 "mode = none"
printf '%s\n[network]\nmode = allowlist\nallow = x.org:443\nallow = 10.1.2.0/24:80\n' "$head" >"$PWD/list.policy"
clean "$PWD/list.policy"

echo "--- shells that no command begins with"
printf '%s\n[process]\nshell = bash -c\nshell = bash -c *\n' "$head" >"$PWD/shell.policy"
finds "$PWD/shell.policy" 6 "never matches: it is no pattern"
printf '%s\n[process]\nshell = bash -c\nshell = sh -c set\n' "$head" >"$PWD/shells.policy"
clean "$PWD/shells.policy"

echo "--- trees that others see too"
printf '%s\n[tree /a]\nsource = /data/x\n[tree /b]\nsource = /data/x/y\n[files]\nread = /a\nread = /b\n' "$head" \
	>"$PWD/twice.policy"
finds "$PWD/twice.policy" 7 "another [tree] also serves"
sed 's,/data/x/y,/data/xy,' "$PWD/twice.policy" >"$PWD/once.policy"
clean "$PWD/once.policy"
printf '%s\n[tree /t]\nsource = /tmp\n[tree /c]\nsource = ~/.config\n[files]\nwrite = /t\nwrite = /c\n' "$head" \
	>"$PWD/common.policy"
finds "$PWD/common.policy" 5 "other sessions and programs share"
finds "$PWD/common.policy" 7 "could write its own"
sed 's,^write = /,read = /,' "$PWD/common.policy" >"$PWD/read.policy"
clean "$PWD/read.policy"

echo "--- hidden names in directories that can be removed"
printf '%s\n[files]\nhide = *.tmp\nhide = /workspace/a/b\nhide = /workspace/top\nread = /workspace/ro\nhide = /workspace/ro/x\n' "$head" \
	>"$PWD/hidden.policy"
finds "$PWD/hidden.policy" 5 "Directory not empty"
finds "$PWD/hidden.policy" 6 "Directory not empty"
! "$WARDFS" policy check "$PWD/hidden.policy" | grep -e ':7: ' -e ':9: ' || fail "what cannot be removed"

echo "--- hide on what git tracks"
mkdir repo
cd repo
git init -q .
mkdir sub
echo x >sub/cert.crt
printf '%s\n[files]\nhide = *.crt\n' "$head" >"$PWD/../crt.policy"
out=$("$WARDFS" policy check "$PWD/../crt.policy")
! echo "$out" | grep -qF "git tracks" || fail "not tracked yet: $out"
git add -A
finds "$(dirname "$PWD")/crt.policy" 5 "sub/cert.crt"
cd ..

echo "--- links of today that lead past a rule"
mkdir linked
cd linked
git init -q .
mkdir -p own sub/.tool
echo x >own/settings.json
printf '%s\n[files]\nread = .tool/settings.json\n' "$head" >"$PWD/../linked.policy"
clean "$(dirname "$PWD")/linked.policy"
ln -s ../own sub/.tool/plain
clean "$(dirname "$PWD")/linked.policy"
# A start says so, too, of what lies at the top. Control: a link that no rule is beneath.
warns="/workspace/.tool is a symbolic link, and [files] read = .tool/settings.json ($(dirname "$PWD")/linked.policy:5) is about a name beneath it. Programs outside"
ln -s own plain
mkdir ../served
expect 0 "$WARDFS" run --policy ../linked.policy -- true
hasnt "$ERR" "symbolic link"
expect 0 "$WARDFS" mount --policy "$(dirname "$PWD")/linked.policy" . ../served
hasnt "$ERR" "symbolic link"
expect 0 "$WARDFS" umount ../served
ln -s own .tool
finds "$(dirname "$PWD")/linked.policy" 5 "/workspace/.tool is a symbolic link"
expect 0 "$WARDFS" run --policy ../linked.policy -- true
has "$ERR" "$warns"
expect 0 "$WARDFS" run --dry-run --policy ../linked.policy -- true
has "$ERR" "$warns"
expect 0 "$WARDFS" mount --policy "$(dirname "$PWD")/linked.policy" . ../served
has "$ERR" "$warns"
expect 0 "$WARDFS" umount ../served
rmdir ../served
rm plain
rm -r .tool sub/.tool
ln -s ../own sub/.tool
finds "$(dirname "$PWD")/linked.policy" 5 "/workspace/sub/.tool is a symbolic link"
cd ..
echo "--- explain tells of them too"
code=0
out=$(cd linked && "$WARDFS" policy explain --policy ../linked.policy symlink .tool) || code=$?
[ $code -eq 1 ] || fail "explain symlink: exit status $code: $out"
echo "$out" | grep -q 'deny (EACCES)' || fail "$out"
echo "$out" | grep -q "would lead past .*/linked.policy:5 .files. read = .tool/settings.json" || fail "$out"
(cd linked && "$WARDFS" policy explain --policy ../linked.policy symlink .tool2 >/dev/null) ||
	fail "control: a name with nothing ruled beneath it"
(cd linked && "$WARDFS" policy explain --policy ../linked.policy create .tool >/dev/null) ||
	fail "control: no link"

echo "--- guards that were added for the project at hand are nobody's mistake"
mkdir twice
cd twice
git init -q .
git config core.hooksPath .git/hooks
"$WARDFS" policy show --policy medium >shown
[ "$(grep -c 'read = /workspace/.git/hooks' shown)" -ge 1 ] || fail "control: nothing was added"
out=$("$WARDFS" policy check --strict) || fail "$out"
cd ..

echo "--- a tree that a running session serves"
if [ "$(id -u)" -eq 0 ] && [ -c /dev/fuse ]; then
	mkdir -p shared/sub other mount
	(cd shared && git init -q .)
	umounted() { "$WARDFS" umount "$PWD/mount" 2>/dev/null || :; }
	trap umounted EXIT
	"$WARDFS" mount --policy medium shared/sub mount
	cd shared
	session=$("$WARDFS" ps --json | sed -n 's/.*"session": "\(.*\)".*/\1/p')
	out=$("$WARDFS" policy check medium)
	echo "$out" | grep -F "medium:" | grep -qF "the running session $session serves it too" || fail "$out"
	! "$WARDFS" policy check --strict >/dev/null || fail "no warning"
	cd ../other
	git init -q .
	out=$("$WARDFS" policy check --strict medium) || fail "another directory: $out"
	cd ..
	"$WARDFS" umount "$PWD/mount"
	tries=0
	while "$WARDFS" ps --json | grep -q "$session"; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || fail "the session does not end"
		sleep 0.1
	done
	cd shared
	out=$("$WARDFS" policy check --strict medium) || fail "it is over: $out"

	# One session under the policy in force is what that policy is for. Two share the tree,
	# and so does one under another policy.
	session() {
		"$WARDFS" run "$@" -- sleep 600 &
		started="$! ${started-}"
	}
	session -s one
	wait_until 60 sh -c '"$0" ps --json | grep -q "\"session\": \"one\""' "$WARDFS"
	out=$("$WARDFS" policy check --strict) || fail "its own session: $out"
	session -s two
	wait_until 60 sh -c '"$0" ps --json | grep -q "\"session\": \"two\""' "$WARDFS"
	! out=$("$WARDFS" policy check --strict) || fail "no warning of two"
	has "$out" "the running session one serves it too"
	has "$out" "the running session two serves it too"
	"$WARDFS" kill one
	"$WARDFS" kill two
	wait_until 60 sh -c '! "$0" ps --json | grep -q "\"session\""' "$WARDFS"
	session -s other --policy high
	wait_until 60 sh -c '"$0" ps --json | grep -q "\"session\": \"other\""' "$WARDFS"
	! out=$("$WARDFS" policy check --strict) || fail "no warning of another policy"
	has "$out" "the running session other serves it too"
	"$WARDFS" kill other
	# shellcheck disable=SC2086 # numbers
	wait $started || :
	cd ..
fi

echo "--- a quota in one that is smaller"
cat >quota.policy <<'END'
[policy]
version = 1
[files]
read = /workspace
[quota /workspace]
growth = 1M
churn = 10/m
[quota /workspace/a]
growth = 1M
churn = 20/m
[quota /workspace/b]
growth = 1K
churn = 1/s
[quota /workspaceb]
END
out=$("$WARDFS" policy check "$PWD/quota.policy")
echo "$out" | grep -qF "quota.policy:9: warning: [quota /workspace/a] growth = 1M: never decides: $PWD/quota.policy:6 gives the quota around it, [quota /workspace]" || fail "$out"
[ "$(echo "$out" | grep -c 'never decides: .*quota')" = 2 ] || fail "$out"
out=$("$WARDFS" policy explain --policy "$PWD/quota.policy" read /workspace/b/x)
! echo "$out" | grep -q quota: || fail "$out"
sed -i 's/^read = /write = /' quota.policy
out=$("$WARDFS" policy explain --policy "$PWD/quota.policy" write /workspace/b/x)
echo "$out" | grep -qF "quota.policy:12  [quota /workspace/b] growth = 1K" || fail "$out"
echo "$out" | grep -qF "quota.policy:6  [quota /workspace] growth = 1M" || fail "$out"
out=$("$WARDFS" policy explain --policy "$PWD/quota.policy" rename /workspace/b/x /workspace/y)
echo "$out" | grep -qF "EXDEV" || fail "$out"
out=$("$WARDFS" policy explain --policy "$PWD/quota.policy" rename /workspace/b/x /workspace/b/y)
! echo "$out" | grep -qF "EXDEV" || fail "$out"

echo "--- json"
"$WARDFS" policy check --json "$PWD/shadow.policy" >out.json
python3 - <<'END'
import json
(f,) = json.load(open("out.json"))
assert f["severity"] == "warning" and f["line"] == 5 and f["fix"], f
END

echo "--- what run refuses for want of machinery is warned of"
mkdir -p "$WARD_TMP/machinery"
cd "$WARD_TMP/machinery"
git init -q .
printf '[policy]\nversion = 1\nextends = medium\nmode = restricted\n[container]\nrm = no\n' >../later.policy
out=$("$WARDFS" policy check ../later.policy) || fail "warnings are no errors: $out"
has "$out" "later.policy:6: warning: [container] rm = no"
expect 125 "$WARDFS" run --policy ../later.policy -- true </dev/null
printf '[policy]\nversion = 1\nextends = medium\n[files]\nask = /workspace/x\n' >../asks.policy
out=$("$WARDFS" policy check ../asks.policy)
hasnt "$out" "asks.policy:5"
printf '[policy]\nversion = 1\nextends = medium\n[audit]\nwriter = system\n' >../writer.policy
if ! "$WARDFS" run --policy ../writer.policy -- true >/dev/null 2>&1 </dev/null; then
	out=$("$WARDFS" policy check ../writer.policy)
	has "$out" "warning: this host: "
fi
# A host without /dev/fuse has nothing for any policy; control: this one has.
out=$("$WARDFS" policy check --strict medium) || fail "control: $out"
if [ "$(id -u)" -eq 0 ]; then
	out=$(unshare --mount sh -c 'mount --bind /dev/null /dev/fuse && exec "$WARDFS" policy check medium')
	has "$out" "medium: warning: this host: "
	has "$out" "fuse"
	out=$(unshare --mount sh -c 'mount --bind /dev/null /dev/fuse && exec "$WARDFS" policy check')
	has "$out" "medium: warning: this host: "
fi

echo "--- a name to hide that may be of a directory"
cat >hide.policy <<'END'
[policy]
version = 1
extends = medium
[guard]
hide = deploy
hide = /workspace/deploy2
hide = *.crt
END
out=$("$WARDFS" policy check "$PWD/hide.policy")
has "$out" "hide.policy:5: warning: [guard] hide = deploy: a directory with such a hidden name in it cannot be removed"
has "$out" "if you mean the one at the top, write /workspace/deploy;"
hasnt "$out" "deploy2"
has "$out" "hide.policy:7: warning: [guard] hide = *.crt: "
has "$out" "(use deny, which shows the name; or hide the whole directory)"

echo "--- a directory that is shown with what the profile refuses in it, and a time of no command"
cd "$WARD_TMP" || exit 1
project shown
cd shown || exit 1
mkdir -p certs
echo k >certs/x.key
printf '%s\n[files]\nread = /workspace/certs\n' "$head" >"$PWD/../certs.policy"
finds "$WARD_TMP/certs.policy" 5 "in this directory it also allows what other lines refuse: medium:"
has "$("$WARDFS" policy check "$PWD/../certs.policy")" "*.pem and 5 more lines"
expect 0 "$WARDFS" run --policy "$PWD/../certs.policy" -- cat certs/x.key
# The file is named without detours, and what it extends still lies beside that name.
for detour in ../certs.policy ./certs/../../certs.policy "$PWD/..//certs.policy"; do
	has "$("$WARDFS" policy check "$detour")" "$WARD_TMP/certs.policy:5: warning: "
	hasnt "$("$WARDFS" policy check "$detour")" ".."
done
mkdir ../upper ../led
printf '[policy]\nversion = 1\nextends = above.policy\n' >../upper/extends.policy
sed '/^extends/d' ../certs.policy >../led/above.policy
ln -s ../upper/extends.policy ../led/extends.policy
expect 0 "$WARDFS" run --policy ../led/extends.policy -- true
expect 2 "$WARDFS" run --policy ../upper/extends.policy -- true
# Controls: lines that are repeated, and a rule for one file.
{
	cat ../certs.policy
	for ending in pem key p12 pfx jks kdbx; do
		echo "secret = /workspace/**/*.$ending"
	done
} >../repeated.policy
clean "$WARD_TMP/repeated.policy"
expect 1 "$WARDFS" run --policy "$PWD/../repeated.policy" -- cat certs/x.key
printf '%s\n[files]\nread = /workspace/certs/x.key\n' "$head" >../one.policy
clean "$WARD_TMP/one.policy"
printf '%s\n[limits]\ncommand = 1m\n' "$head" >../time.policy
finds "$WARD_TMP/time.policy" 5 "bounds only what 'wardfs exec' starts"
expect 0 "$WARDFS" run --policy "$PWD/../time.policy" -- true
has "$ERR" "[limits] command bounds only what 'wardfs exec' starts here"
printf '[process]\nshell = bash -c\n' | cat ../time.policy - >../shell.policy
clean "$WARD_TMP/shell.policy"
expect 0 "$WARDFS" run --policy "$PWD/../shell.policy" -- true
hasnt "$ERR" "[limits] command"
cd ..
