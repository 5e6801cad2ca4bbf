#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A newcomer, with --long: an empty Debian 12, a clone, README's two commands, a first refusal and
# its fix by the printed command. Then the same with the installed program, as an ordinary user.
# timeout: 3600
# plain
set -eu
. "$WARD_SRC/tests/lib.sh"
. "$WARD_SRC/tests/cases/self/lib/copy.sh"
. "$WARD_SRC/tests/cases/self/lib/debian.sh"
# The README has these commands.
for line in 'apt-get install git' './bootstrap run   ' '/wardfs/bootstrap run -- make test' 'meson install -C build' \
	'wardfs audit denials'; do
	grep -qF "$line" "$WARD_SRC/README.md" || fail "the README does not say: $line"
done
[ -n "${WARD_LONG-}" ] || exit 0
debian
git_identity
copy_sources source
git -C source init -q .
git -C source add -A
git -C source commit -qm "as it is"
git clone -q --bare source "$root/wardfs.git"
cat >"$root/steps.sh" <<'END'
set -eux
export LC_ALL=C DEBIAN_FRONTEND=noninteractive HOME=/root PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
case $1 in
demonstration)
	cd /root
	apt-get update -q
	apt-get install -q -y git
	git clone -q /wardfs.git wardfs && cd wardfs
	./bootstrap run
	exit
	;;
esac
mkdir -p /srv/proj/certs && cd /srv/proj
echo 'of nothing' >certs/test.pem
apt-get install -q -y make
printf 'test:\n\tcat certs/test.pem\n' >Makefile
if /root/wardfs/bootstrap run -- make test 2>refused; then exit 1; fi
cat refused
more=$(sed -n 's/^wardfs: 1 refused: .*; more: wardfs //p' refused)
cd /root/wardfs && meson install -C build >/dev/null && cd /srv/proj
wardfs $more >denials
cat denials
fix=$(sed -n 's/^    by: *//p' denials)
[ "$fix" = "wardfs policy add read /workspace/certs/test.pem" ]
sh -c "$fix"
/root/wardfs/bootstrap run -- make test
wardfs audit verify
useradd -m somebody
su somebody -c 'mkdir -p ~/proj/certs && cd ~/proj && echo x >certs/test.pem && ! wardfs run -- cat certs/test.pem &&
	wardfs policy add read /workspace/certs/test.pem && wardfs run -- cat certs/test.pem && wardfs audit verify'
END
inside demonstration
grep -q 'All of this behaved as it should' log || fail "the demonstration: $(tail -n 60 log)"
inside refusal
exit 0
