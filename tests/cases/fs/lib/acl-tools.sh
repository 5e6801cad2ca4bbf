# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# acl-tools.sh REFUSED: what tools say and do with ACLs in the working directory, which has the
# directory `team` of another group with a setgid bit. Run natively and inside; the outputs must be
# the same. REFUSED is acl-refused.py.
set -eu
me=$(id -u)
umask 027
say() { printf -- '--- %s\n' "$*"; }
try() {
	say "$@"
	"$@" 2>&1 || echo "exit $?"
}
tell() { # tell NAME...: modes and ACLs
	stat -c '%n %a %u' "$@"
	getfacl -n -- "$@"
}

echo text >f
try setfacl -m "u:$me:rwx,g:$me:r,m::rw" f
tell f
try chmod 604 f
tell f
try chmod g+x f
tell f
try setfacl -x "u:$me" f
try setfacl -b f
tell f
# Owner, group and mask decide who may do what, whichever tool asks.
try setfacl -m u::-,g::rwx,o::rwx f
try cat f
try sh -c 'echo more >>f'
try test -r f
try chmod 600 f
try cat f

# Default ACLs take the place of the umask, and each new directory inherits them.
mkdir d
try setfacl -d -m "u::rwx,g::rx,o::-,u:$me:rwx" d
echo x >d/file
mkdir -p d/sub/sub
ln -s file d/link
mkfifo d/pipe
install -m 755 /bin/true d/program
tell d d/file d/sub d/sub/sub d/pipe d/program
try setfacl -R -m g:"$me":rwX d/sub
try setfacl -k d/sub
try setfacl -d -m u::rwx f
tell d/sub d/sub/sub
try setfacl -m "d:u:$me:-" d/sub/sub
touch d/sub/sub/none
tell d/sub/sub d/sub/sub/none

# Copies, archives.
cp -a d copied
tar --acls --numeric-owner -cf a.tar d && mkdir unpacked && tar --acls -C unpacked -xf a.tar
rsync -aA d/ synced
getfacl -Rn d >saved && mkdir restored && cp -r d restored/ && (cd restored && setfacl --restore=../saved)
mv d/program moved
for at in copied unpacked/d synced restored/d moved; do tell "$at"; done
for at in copied unpacked/d synced restored/d; do (cd "$at" && tell ./*); done
ls -l copied | awk 'NR > 1 { print $1, $NF }'
getfattr -d -m - copied/file

# Where the caller is not of the directory's group, the setgid bit goes.
stat -c %a team
try setfacl -m "u:$me:rwx" team
tell team | grep -v '^# group:' # inside it shows as the user's own
# What the kernel does not take.
python3 "$1"
