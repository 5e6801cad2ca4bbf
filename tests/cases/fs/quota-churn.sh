#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plain
# timeout: 900
# [quota] churn: an agent that deletes, replaces, cuts or encrypts everything that was there is stopped after as
# many files as the policy says; what it made itself it may do with as it likes.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/churn.py" <<'END'
import errno, os, sys
how, want = sys.argv[1], int(sys.argv[2])
def unlink(f):
    os.unlink(f)
def encrypt(f):
    fd = os.open(f, os.O_RDWR)
    os.pwrite(fd, b"secret", 0)
    os.close(fd)
def replace(f):
    with open(f + ".enc", "w") as out:
        out.write("secret")
    os.rename(f + ".enc", f)
def cut(f):
    os.truncate(f, 0)
def cut_by_opening(f):
    os.close(os.open(f, os.O_WRONLY | os.O_TRUNC))
def cut_reading(f):
    os.close(os.open(f, os.O_RDONLY | os.O_TRUNC))
def away(f):
    os.rename(f, "grave")
    os.unlink("grave")
def exchange(f):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    with open("own", "w") as out:
        out.write("secret")
    if libc.renameat2(-100, b"own", -100, f.encode(), 2):
        raise OSError(ctypes.get_errno(), "exchange")
    os.unlink("own")
def remove_dir(f):
    os.rmdir("d%s" % f)
# what is its own costs nothing, however often
for i in range(15):
    with open("own", "w") as f:
        f.write("x")
    with open("own", "a") as f:
        f.write("x")
    os.truncate("own", 0)
    os.rename("own", "own2")
    os.mkdir("dir")
    os.rmdir("dir")
    os.unlink("own2")
# nor does reading, or making a further name
for f in range(40):
    with open(str(f)) as text:
        assert text.read() == "mine\n"
    os.link(str(f), "link")
    os.rename("link", "l%d" % f)
done = 0
for f in range(40):
    try:
        globals()[how](str(f))
        done += 1
    except OSError as e:
        if e.errno != errno.EDQUOT:
            raise SystemExit("FAIL: %s" % e)
if done != want:
    raise SystemExit("FAIL: %s: %d and not %d" % (how, done, want))
END
for mode in $MODES; do
	for how in unlink encrypt replace cut cut_by_opening cut_reading away exchange remove_dir; do
		for want in 40 10; do
			case $mode$how$want in root* | *encrypt10 | *replace10) ;; *) continue ;; esac
			policy
			sed -i 's/^source = .$/&\nhardlinks = allow/' "$POLICY"
			[ $want = 40 ] || printf '[quota /workspace]\nchurn = 10/h\n' >>"$POLICY"
			fresh
			as_owner sh -c "cd '$BACK' && i=0 && while [ \$i -lt 40 ]; do echo mine >\$i; mkdir d\$i; i=\$((i + 1)); done"
			in_mode $mode -c "exec python3 '$WARD_TMP/churn.py' $how $want" || fail "$mode $how $want"
			[ $want = 40 ] || recorded "^quota .* text=\[\[quota /workspace\] churn = 10/h\] errno=122 .*name=\[churn\]"
		done
		case $mode$how in root* | *encrypt | *replace) ;; *) continue ;; esac
		# On the host: what was refused is as it was.
		left=0
		for f in "$BACK"/[0-9]* "$BACK/grave" "$BACK/own"; do
			if [ -f "$f" ] && [ "$(cat "$f")" = mine ]; then left=$((left + 1)); fi
		done
		[ $how = remove_dir ] || [ $left = 30 ] || fail "$mode $how: $left are left"
	done
done
