#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# timeout: 600
# suites: tsan
# A file that has a link outside of the tree may be read and no more ([tree] hardlinks), while its names in the
# tree are made, looked at and removed inside and on the host: it is never opened for writing, cut, or given
# another mode; once with few names, once with many, of which more is remembered (fs/links.h). The control is a file
# without such a link, which can be written to all the while.
. "$WARD_SRC/tests/cases/fs/_fs.sh"

cat >"$WARD_TMP/race.py" <<'END'
import os, random, sys, time
who, back = sys.argv[1:3]
end = time.monotonic() + (60 if os.environ.get("WARD_LONG") else 3)
def tries(f, *a):
    try:
        f(*a)
        return True
    except OSError:
        return False
def write(p):
    os.close(os.open(p, os.O_WRONLY))
def makes(at):
    n = "%s/l%d" % (at, random.randrange(4))
    tries(os.link, at + "/" + random.choice(("outside", "inside")), n)
    tries(os.unlink, "%s/l%d" % (at, random.randrange(4)))
def look():
    for i in range(4):
        tries(os.stat, "l%d" % i)
    for i in "0123456789abcdefghij":
        tries(os.stat, "inside" + i)
        tries(os.stat, "outside" + i)
def attack():
    global won
    for what in (write, lambda p: os.truncate(p, 0), lambda p: os.chmod(p, 0o640)):
        assert not tries(what, "outside"), "changed"
        won += tries(what, "inside")
won, n = 0, 0
while time.monotonic() < end or n < 20:
    {"makes": lambda: makes("."), "host": lambda: makes(back), "look": look, "attack": attack}[who]()
    n += 1
assert who != "attack" or won, "control"
END
script races <<END
pids=
for w in makes makes host look look attack attack; do
	python3 "$WARD_TMP/race.py" \$w "$BACK" &
	pids="\$pids \$!"
done
rc=0
for p in \$pids; do wait \$p || rc=1; done
exit \$rc
END
for names in few many; do for mode in $MODES; do
	policy
	fresh
	rm -rf "$WARD_TMP/away" && mkdir "$WARD_TMP/away" && chown $OWNER "$WARD_TMP/away"
	as_owner sh -c "umask 022 && cd '$BACK' && echo inside >inside && echo outside >outside && ln outside '$WARD_TMP/away/x'"
	if [ $names = many ]; then
		as_owner sh -c "cd '$BACK' && for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f g h i j; do ln inside inside\$i && ln outside outside\$i; done"
	fi
	in_mode "$mode" "$WARD_TMP/races" || fail "$mode"
	[ "$(cat "$WARD_TMP/away/x") $(stat -c %a "$WARD_TMP/away/x")" = "outside 644" ] || fail "$mode: changed"
done; done
