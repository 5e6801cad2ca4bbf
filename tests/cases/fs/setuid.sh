#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the agent makes belongs to the owner on the host: a setuid or setgid file of the agent's
# would run there as the owner, who may be root. In a session no such file comes to be.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/make.py" <<'PY'
import os, stat, sys
# How each attempt ended: the bits that the file then has, or the errno's name.
import errno
def attempt(what, name):
    try:
        what(name)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "%o" % (os.stat(name).st_mode & 0o7000)
os.umask(0)
def create(bits):
    return lambda name: os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o755 | bits))
def mknod(bits):
    return lambda name: os.mknod(name, stat.S_IFREG | 0o755 | bits)
def fifo(bits):
    return lambda name: os.mknod(name, stat.S_IFIFO | 0o755 | bits)
def chmod(bits):
    return lambda name: (os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o755)),
        os.chmod(name, 0o755 | bits))
def fchmod(bits):
    def f(name):
        fd = os.open(name, os.O_CREAT | os.O_RDWR, 0o755)
        os.fchmod(fd, 0o755 | bits)
        os.close(fd)
    return f
def directory(bits):
    return lambda name: (os.mkdir(name), os.chmod(name, 0o755 | bits))
for how in create, mknod, fifo, chmod, fchmod, directory:
    for bits in 0o4000, 0o2000, 0o6000:
        got = attempt(how(bits), "%s%o" % (how.__name__, bits))
        # of a directory they run nothing: git init --shared and dpkg-deb set them
        want = "%o" % bits if how is directory or sys.argv[1] == "allowed" else "EPERM"
        if got != want:
            sys.exit("FAIL: %s %o: %s, not %s" % (how.__name__, bits, got, want))
    # what is no danger stays possible
    got = attempt(how(0), how.__name__ + "0")
    if got != "0":
        sys.exit("FAIL: %s: %s" % (how.__name__, got))
PY
script inside <<END
python3 "$WARD_TMP/make.py" refused
# a setgid directory of the host's keeps its bit, its children inherit it, and it comes and goes
chmod 2775 shared && mkdir shared/sub && same "\$(stat -c %a shared/sub)" 2755
chmod 2770 shared/sub && chmod u=rwx,go=,g-s shared/sub && same "\$(stat -c %a shared/sub)" 700
chmod 2700 shared/sub && : >shared/sub/file && same "\$(stat -c %a shared/sub)" 2700
# the sticky bit gives nobody anything
mkdir sticky && chmod 1777 sticky && same "\$(stat -c %a sticky)" 1777
# a file that had the bit on the host: it is not set anew, but goes
refused "not permitted" chmod 4711 host
chmod 711 host && same "\$(stat -c %a host)" 711
END
script outside <<END
python3 "$WARD_TMP/make.py" allowed
END
policy
for mode in $MODES; do
	fresh
	as_owner sh -c "umask 022; cd '$BACK' && mkdir shared && chmod 2775 shared && : >host &&
		chmod 4755 host"
	in_mode $mode "$WARD_TMP/inside" || fail "$mode"
	[ -z "$(find "$BACK" -perm /6000 ! -type d)" ] || fail "$mode: $(ls -l "$BACK")"
	recorded '^deny .*path=\[/workspace/chmod4000\]'
	recorded '^deny .*path=\[/workspace/create4000\]'
	recorded '^deny .*path=\[/workspace/fifo2000\]'
done
# Where each caller acts with its own ids, what it makes is its own: as on the host.
fresh
chown 0:0 "$BACK"
in_mode other "$WARD_TMP/outside" || fail "other"
