#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A writer fails or is killed between the ledger's entry for a session and the session's first
# record. The next start, at the latest, writes a trail for that entry and calls it incomplete. In
# the past such a session stayed missing for ever.
set -eu
. "$WARD_SRC/tests/cases/audit/lib/audit.sh"
project p
cd p || exit 1
STATE=${XDG_STATE_HOME:-}/wardfs
[ -d "${XDG_STATE_HOME:-}" ] || fail "the suite gives no state directory"
mkdir ../part
cp "$WARD_BUILD"/wardfs "$WARD_BUILD"/wardfs-init "$WARD_BUILD"/wardfs-fs ../part
chmod 755 .. ../part

# As long as the word is there the disk takes the entry, but does not keep it; `once`: for one
# writer.
cat >../part/wardfs-audit <<END
#!/bin/sh
[ -e "$PWD/../always" ] || /bin/rm "$PWD/../once" 2>/dev/null || exec "$WARD_BUILD/wardfs-audit" "\$@"
exec "$WARD_BUILD/tests/support/knockout" fdatasync=EIO -- "$WARD_BUILD/wardfs-audit" "\$@"
END
chmod 755 ../part/wardfs-audit

# started NAME: how many entries of a start the ledger has
started() {
	grep -c "\"session\":\"$1\",\"kind\":\"start\"" "$STATE/ledger.jsonl"
}

# verdict NAME STATE: of verify
verdict() {
	out=$("$WARDFS" audit verify "$1") || [ $? -eq 1 ]
	has "$out" "$1: $2"
}

# The control: nothing fails.
expect 0 ../part/wardfs run --session good -- true
verdict good intact
[ "$(started good)" = 1 ] || fail "the ledger: $(cat "$STATE/ledger.jsonl")"

# A second writer tells what became of the first.
: >../once
expect 125 ../part/wardfs run --session second -- touch ran
has "$ERR" "wardfs-audit: ledger: Input/output error"
[ ! -e ../once ] && [ ! -e ran ] || fail "the first writer was not the one that failed"
verdict second "incomplete: nothing was started: wardfs-audit: ledger: Input/output error"
[ "$(started second)" = 2 ] || fail "the ledger: $(cat "$STATE/ledger.jsonl")"
[ ! -e "$STATE/running/second" ] || fail "its mark is left"

# No writer can: the next start does it.
: >../always
expect 125 ../part/wardfs run --session later -- touch ran
verdict later "incomplete: the writer did not come to the end"
[ -e "$STATE/running/later" ] || fail "nothing tells the next start of it"
rm ../always
expect 0 ../part/wardfs run --session next -- true
verdict later incomplete
[ ! -e "$STATE/running/later" ] || fail "its mark is left"
agree "failed starts"
"$WARDFS" audit verify --all >../out || [ $? -eq 1 ]
hasnt "$(cat ../out)" ": missing"

# Where the ledger has nothing, nothing is left: a writer that cannot be executed, and one that dies
# with the ledger locked, by a descriptor that is the supervisor's as well.
never() {
	expect 125 ../part/wardfs run --session never -- true
	[ ! -e "$STATE/sessions/never" ] && [ ! -e "$STATE/running/never" ] || fail "$1: it is left"
}
rm ../part/wardfs-audit
never "no writer"
{
	echo "#!$(command -v python3)"
	echo "LOCKED = '$WARD_TMP/locked'"
	cat <<'END'
import fcntl, os, signal, socket, sys
if len(sys.argv) > 1:
    socket.recv_fds(socket.socket(fileno=15), 4096, 16)
for fd in map(int, os.listdir("/proc/self/fd")):
    try:
        if os.readlink("/proc/self/fd/%d" % fd).endswith("/ledger.jsonl"):
            fcntl.flock(fd, fcntl.LOCK_EX)
            open(LOCKED, "w").close()
    except OSError:
        pass
os.kill(os.getpid(), signal.SIGKILL)
END
} >../part/wardfs-audit
chmod 755 ../part/wardfs-audit
never "a writer that dies"
[ -e "$WARD_TMP/locked" ] || fail "the ledger was not locked"

# And whoever takes such a trail away is found.
rm -r "$STATE/sessions/second"
"$WARDFS" audit verify --all >../out && fail "verify: $(cat ../out)"
has "$(cat ../out)" "second: missing"
