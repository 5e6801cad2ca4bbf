#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A project on overlayfs, as in most containers. Passthrough works there too (an overlay adds one
# stacking level), and a file that is copied up while it is open stays one file.
# shellcheck disable=SC2016
set -eu
. "$WARD_SRC/tests/lib.sh"
if [ "${1:-}" != inside ]; then
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	# The mounts are seen here alone and go with the process.
	exec unshare -m --propagation private sh "$0" inside
fi
mkdir layers
mount -t tmpfs wardfs-test layers || fail "no tmpfs"
mkdir layers/lower layers/upper layers/work layers/p
echo low >layers/lower/f
echo gone >layers/lower/gone
mkdir layers/lower/dir && echo x >layers/lower/dir/x
chown -R 1234:1234 layers/lower layers/upper
mount -t overlay -o lowerdir=layers/lower,upperdir=layers/upper,workdir=layers/work wardfs-test \
	layers/p || skip "no overlayfs"
cd layers/p || exit 1
git init -q .

cat >"$WARD_TMP/session" <<'END'
exec 3<f 5<f
read -r first <&3
exec 4>>f
echo more >&4
rest=$(cat <&3)
echo "$first $rest $(cat <&5) $(cat f | tr '\n' ' ')"
rm gone && [ ! -e gone ] && ls
rm -r dir && mkdir dir && ls dir
mv f g && cat g
END
cp "$WARD_TMP/session" .session
expect 0 "$WARDFS" run -- sh -eu .session
inside=$OUT
# The control: the same on the overlay itself, made anew.
rm .session
cd ../.. && umount layers/p && rm -r layers/upper layers/work && mkdir layers/upper layers/work
chown 1234:1234 layers/upper
mount -t overlay -o lowerdir=layers/lower,upperdir=layers/upper,workdir=layers/work wardfs-test layers/p
cd layers/p || exit 1
expect 0 setpriv --reuid 1234 --regid 1234 --clear-groups sh -eu "$(
	cp "$WARD_TMP/session" "$WARD_TMP/layers/session" && chmod 755 "$WARD_TMP/layers/session"
	echo "$WARD_TMP/layers/session"
)"
[ "$inside" = "$OUT" ] || fail "inside: $inside
on the overlay: $OUT"

# A quota of bytes has writes come to the guard: without it.
printf '[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = none\n' >"$WARD_TMP/none.policy"
"$WARDFS" run --policy "$WARD_TMP/none.policy" --session io -- sh -c 'exec 3<g 4>>new; echo a >&4; touch ready
	n=0; while [ ! -e stop ] && [ $n -lt 3000 ]; do sleep 0.1; n=$((n + 1)); done' &
run=$!
wait_until 60 test -e ready || fail "not started"
# The one that touch had may be closed a moment later.
served() {
	"$WARDFS" ps --io io | grep -qF "2 passthrough, 0 cached"
}
wait_until 60 served || fail "$("$WARDFS" ps --io io)"
touch stop
wait "$run" || fail "the session ended with $?"
expect 0 "$WARDFS" audit verify io
