#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is recorded of a file with several names claims none of them alone: the kernel says which
# file is opened, not by which name. A path that does not fit says that it was cut.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/names.py" <<'END'
import os
os.close(os.open("alone", os.O_WRONLY))
os.link("important", "innocent")
os.stat("innocent")
os.close(os.open("important", os.O_WRONLY))
os.chmod("important", 0o600)
os.link("important", "third")
os.stat("third")
os.close(os.open("innocent", os.O_RDONLY))
os.unlink("innocent")
os.unlink("third")
os.truncate("important", 0)
# deeper than a path is long
for i in range(25):
    n = "e" * 250
    os.mkdir(n)
    os.chdir(n)
os.close(os.open("deep", os.O_CREAT | os.O_WRONLY))
# the kernel announces a close without waiting: behind what waits, it has been heard
os.mkdir("behind")
END
policy
for mode in $MODES; do
	fresh
	as_owner sh -c "cd '$BACK' && : >alone && : >important"
	in_mode $mode -c "exec python3 '$WARD_TMP/names.py'" || fail "$mode"
	# control: of a file with one name, its path is the truth and nothing else is said
	grep '^open .*path=\[/workspace/alone\]' "$EVENTS" | grep -v names= | grep -qv path2= ||
		fail "$mode: one name"
	two='path=\[/workspace/important\] path2=\[/workspace/innocent\].* names=2'
	recorded "^open .*$two"
	# over io_uring an end may be heard after what the same program did next
	recorded '^close path=\[/workspace/important\] path2=\[/workspace/(innocent|third)\].* names=[23]'
	recorded "^attr .*$two"
	recorded '^open .*path=\[/workspace/important\] path2=\[/workspace/third\].* names=3'
	# names that are gone are not claimed
	grep '^attr .*action=\[truncate\] path=\[/workspace/important\]' "$EVENTS" |
		grep -qv names= || fail "$mode: old names"
	recorded '^create .*path=\[\.\.\.[e/]*/deep\].* cut$'
	recorded '^close path=\[\.\.\.[e/]*/deep\].* cut$'
	if grep -v 'path2*=\[\.\.\.' "$EVENTS" | grep ' cut$'; then fail "$mode: cut"; fi
done
