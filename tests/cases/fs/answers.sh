#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What rare calls answer in a session, as docs/posix.md has it, and natively, which is the control;
# and a program that may only be executed.
set -eu
. "$WARD_SRC/tests/lib.sh"
XDG_STATE_HOME=$PWD/state XDG_CONFIG_HOME=$PWD/config
export XDG_STATE_HOME XDG_CONFIG_HOME
project p
cd p || exit 1
cp "$WARD_SRC/tests/cases/fs/lib/answers.py" .

# Without the growth that medium allows, which is less than where pwrite writes.
printf '[policy]\nversion = 1\nextends = medium\n[quota /workspace]\ngrowth = none\n' >../policy
expect 0 "$WARDFS" run --policy ../policy -- python3 answers.py
cat >../want <<'END'
get xattr no.such EOPNOTSUPP
set xattr no.such EOPNOTSUPP
get xattr user.none ENODATA
get xattr security.none ENODATA
set xattr user.wardfs.none EPERM
name_to_handle_at EOPNOTSUPP
F_SETLEASE EINVAL
lseek True
pwrite EFBIG
pipe of mode 0 opened
socket of mode 0 connected
END
[ "$OUT" = "$(cat ../want)" ] || fail "in a session: $OUT"

# Natively, where the file system has all of it, they differ where docs/posix.md says so.
python3 answers.py >../native
for same in 'get xattr no.such' 'set xattr no.such' 'get xattr user.none'; do
	[ "$(grep "^$same " ../native)" = "$(grep "^$same " ../want)" ] || fail "$same: $(cat ../native)"
done
grep -q '^name_to_handle_at works' ../native || fail "control: $(cat ../native)"
grep -q '^F_SETLEASE 0' ../native || fail "control: $(cat ../native)"
grep -q '^lseek EINVAL' ../native || fail "control: $(cat ../native)"

# Who may execute it could read its memory: it is refused. Natively the kernel forbids to read that.
other() {
	setpriv --reuid=4712 --regid=4712 --clear-groups "$@"
}
chmod 711 "$WARD_TMP" .
cp /bin/true run
chmod 0711 run
other ./run || fail "control: a program that may only be executed"
mkdir ../at
"$WARDFS" mount --allow-other . ../at || fail "mount"
other ../at/run 2>../err && status=0 || status=$?
"$WARDFS" umount ../at || fail "umount"
[ "$status" = 126 ] || fail "a program that may only be executed: $status $(cat ../err)"
