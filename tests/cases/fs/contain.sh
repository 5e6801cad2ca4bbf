#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A directory may move if nothing beneath it gains a right. wardfs looks at what exists there,
# hidden and protected names included, not at what could exist. Each refusal has its control.
# timeout: 600
# suites: tsan
set -eu
. "$WARD_SRC/tests/cases/fs/lib/fs.sh"

script moves <<'END'
# mv would copy; this one asks for the rename itself
move() { python3 -c 'import os, sys; os.rename(sys.argv[1], sys.argv[2])' "$@"; }
exchange() {
	python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2):
	sys.exit(os.strerror(ctypes.get_errno()))' "$@"
}
# nothing protected is there: it may go, but not come back, where something could not be made
move empty gone && test -f gone/d/f
refused "Errno 18" move gone empty
# a protected child, one level down and three, a hidden one, one that may only be appended to
refused "Errno 18" move vault elsewhere
refused "Errno 18" move deep elsewhere
refused "Errno 18" move hidden elsewhere
refused "Errno 18" move log elsewhere
refused "Errno 18" move vault plain/x
same "$(cat log/a.log)" l
refused "Permission denied" cat vault/secret
test ! -e elsewhere && test ! -e plain/x
# the same without it
move calm elsewhere && move elsewhere plain/x && rmdir plain/x
# exchanged: both ways count
refused "Invalid cross-device" exchange gone vault
refused "Invalid cross-device" exchange vault gone
exchange gone tools && test -f tools/d/f && test -f gone/t
echo x >tools/x.sh && refused "Invalid cross-device" exchange gone tools
refused "Invalid cross-device" exchange tools gone
rm tools/x.sh && exchange tools gone && test -f gone/d/f
# too many entries to look at
refused "Errno 18" move long elsewhere
# what may not come into being there is not brought there, whether it exists or not
mkdir new && refused "Errno 18" move new taken && rmdir new
# what comes into being at a new place is what that place says
echo x >gone/secret && cat gone/secret && rm gone/secret
mkdir empty && refused "Permission denied" sh -c 'echo x >empty/secret'
# mv copies, under the policy: what cannot be read stays
refused "Permission denied" mv vault elsewhere
test ! -e elsewhere/secret && rm -rf elsewhere
END
script one_less <<'END'
python3 -c 'import os; os.rename("long", "elsewhere")'
END
for mode in $MODES; do
	policy 'deny = /workspace/empty/secret' 'deny = /workspace/vault/secret' \
		'deny = /workspace/calm/secret' \
		'deny = /workspace/deep/**/secret' 'hide = /workspace/hidden/a/*.key' \
		'append = /workspace/log/*.log' 'noexec = /workspace/long/**/secret' \
		'deny = /workspace/taken/secret' 'noexec = /workspace/tools/*.sh'
	fresh
	as_owner sh -c "cd '$BACK' && mkdir -p empty/d vault deep/a/b/c hidden/a log plain long calm tools &&
		echo f >empty/d/f && echo s >vault/secret && echo s >deep/a/b/c/secret &&
		echo t >tools/t && echo k >hidden/a/x.key && echo l >log/a.log &&
		cd long && seq 10001 | xargs touch"
	in_mode $mode "$WARD_TMP/moves" || fail "$mode"
	recorded 'vault'
	# control: one entry less can be looked at
	as_owner rm "$BACK/long/1"
	in_mode $mode "$WARD_TMP/one_less" || fail "$mode: 10000 entries"
done
