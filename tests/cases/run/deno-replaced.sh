#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Attack: a session replaces the Deno that the next session of mode deno runs, in a tree beside
# its project: the program, or a link on the way to it. The control: a Deno in a read-only tree
# runs. A file system in PATH that does not answer delays nobody. The program is a stand-in that
# prints its arguments.
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1-}" != inside ]; then
	exec unshare -m --propagation private sh "$0" inside
fi
# A program that is listed for execution cannot lie in /var/tmp.
mount -t tmpfs tmpfs /srv
TOP=/srv/top
mkdir $TOP
cd $TOP
mkdir -p tools/bin home/.local/bin back slow
HOME=$TOP/home
export HOME
cp /bin/echo tools/bin/deno
project p
cd p || exit 1
echo >x.ts
# policy RULE: the project, and the tree of tools
policy() {
	printf '[policy]\nversion = 1\nextends = medium\n[home]\nmode = tmpfs\n[tree /tools]\nsource = %s\nat = none\n[files]\n%s = /tools\n' \
		"$TOP/tools" "$1" >../policy
}
with() { # PATH ARG...
	path=$1
	shift
	PATH=$path:/usr/bin:/bin "$WARDFS" run --policy ../policy --mode deno "$@" x.ts
}
policy read
expect 0 with "$TOP/tools/bin"
has "$OUT" 'x.ts'
policy write
expect 125 with "$TOP/tools/bin"
has "$ERR" "$TOP/tools/bin/deno lies in the tree /tools, within the agent's reach"
expect 125 with "$TOP/tools/bin" --dry-run
# A link in the tree that leads to a program elsewhere: the session could lead it to another one.
cp /bin/echo ../home/.local/bin/deno
expect 0 with /nonexistent
rm ../tools/bin/deno
ln -s "$HOME/.local/bin/deno" ../tools/bin/deno
expect 125 with "$TOP/tools/bin"
has "$ERR" 'lies in the tree /tools'
policy read
expect 0 with "$TOP/tools/bin"

# npm's script names its program by a path of its own, and a link on that path counts as well.
case $(uname -m) in
x86_64) platform=linux-x64-glibc ;;
aarch64) platform=linux-arm64-glibc ;;
*) platform= ;;
esac
if [ "$platform" ]; then
	mkdir -p ../npm/deno ../npm/@deno/$platform ../elsewhere
	printf '#!/bin/sh\n' >../npm/deno/deno
	chmod +x ../npm/deno/deno
	cp /bin/echo ../npm/@deno/$platform/deno
	cp /bin/echo ../elsewhere/deno
	expect 0 with "$TOP/npm/deno"
	has "$OUT" 'x.ts'
	rm -r ../npm/@deno/$platform
	ln -s "$TOP/elsewhere" link
	ln -s "$TOP/p/link" ../npm/@deno/$platform
	expect 125 with "$TOP/npm/deno"
	has "$ERR" "$TOP/p/link lies in the tree /workspace, within the agent's reach"
	rm link
fi

# A server that stopped, before the one that answers.
mkdir ../back/bin
"$WARD_BUILD/tests/support/foldfs" exact "$TOP/back" "$TOP/slow" &
server=$!
trap 'kill -CONT $server; umount -l ../slow; kill $server 2>/dev/null || :' EXIT
wait_until 60 mountpoint -q ../slow || fail "no file system"
kill -STOP $server
stopped() { grep -q '^State:.T' /proc/$server/status; }
wait_until 60 stopped || fail "the server goes on"
expect 0 timeout 60 env PATH="$TOP/slow/bin:/usr/bin:/bin" "$WARDFS" run --policy ../policy --mode deno x.ts
rm ../home/.local/bin/deno
ln -s "$TOP/slow/bin/deno" ../home/.local/bin/deno
if ! [ -e /usr/local/bin/deno ] && ! [ -e /usr/bin/deno ]; then
	expect 125 timeout 60 env PATH=/usr/bin:/bin "$WARDFS" run --policy ../policy --mode deno x.ts
	has "$ERR" 'deno does not answer)'
fi
exit 0
