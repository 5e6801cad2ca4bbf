# SPDX-License-Identifier: Apache-2.0
# Part of ../forgeries.sh: forgeries.py SUPPORT STATE WHAT forges a state directory; without WHAT
# it prints the forgeries, a line each: WHAT WHO. WHO is what the forger has: `files` (writes files
# alone; `unread`: to what nobody reads), `root` (also the root key: seals records and entries) or
# `all` (also signs: a rollback, which only what was kept elsewhere finds). The sessions are one,
# two and packed; STATE/../other is another host's, with a session one of its own.
import base64
import os
import re
import shutil
import sys

sys.path.insert(0, sys.argv[1])
import ed25519  # noqa: E402
import verify  # noqa: E402

STATE = sys.argv[2] if len(sys.argv) > 2 else ""
OTHER = os.path.join(os.path.dirname(STATE), "other")
FORGERIES = {}
NOTE = re.compile(rb"[^\n]+\n\d+\n[^\n]+\n\n(?:\xe2\x80\x94[^\n]+\n)+")


def forgery(who):
    return lambda fn: FORGERIES.setdefault(fn.__name__.replace("_", "-"), (fn, who))[0]


def at(*names):
    return os.path.join(STATE, *names)


def read(*names):
    with open(at(*names), "rb") as f:
        return f.read()


def write(data, *names):
    with open(at(*names), "wb") as f:
        f.write(data)


TRAIL = ("sessions", "one", "trail.jsonl")
POINTS = ("sessions", "one", "checkpoints")


def lines(*names):
    return read(*(names or TRAIL)).split(b"\n")[:-1]


def put(rows, *names):
    write(b"".join(row + b"\n" for row in rows), *(names or TRAIL))


def notes(*names):
    rows = lines(*(names or POINTS))
    return [rows[i:i + 8] for i in range(0, len(rows), 8)]


def put_notes(all_notes, *names):
    put([row for note in all_notes for row in note], *(names or POINTS))


# --- with files alone ---

@forgery("files")
def edit_a_path():
    rows = lines()
    rows[6] = rows[6].replace(b'"path":"/', b'"path":"/x')
    put(rows)


@forgery("files")
def edit_a_verdict():
    rows = lines()
    n = next(i for i, row in enumerate(rows) if b'"verdict":"allow"' in row)
    rows[n] = rows[n].replace(b'"verdict":"allow"', b'"verdict":"deny"')
    put(rows)


@forgery("files")
def edit_a_time():
    rows = lines()
    rows[9] = re.sub(rb'"time":"2', b'"time":"1', rows[9], count=1)
    put(rows)


@forgery("files")
def drop_one():
    put(lines()[:7] + lines()[8:])


@forgery("files")
def drop_the_first():
    put(lines()[1:])


@forgery("files")
def drop_the_last():
    put(lines()[:-1])


@forgery("files")
def drop_the_last_and_its_checkpoint():
    put(lines()[:-1])
    put_notes(notes()[:-1])


@forgery("files")
def drop_all_records():
    write(b"", *TRAIL)


@forgery("files")
def twice():
    put(lines()[:9] + lines()[8:])


@forgery("files")
def swap_two():
    rows = lines()
    rows[5], rows[6] = rows[6], rows[5]
    put(rows)


@forgery("files")
def exchange_two_macs():
    rows = lines()
    a, b = rows[5][-66:], rows[6][-66:]
    rows[5], rows[6] = rows[5][:-66] + b, rows[6][:-66] + a
    put(rows)


@forgery("files")
def append_the_end_again():
    put(lines() + lines()[-1:])


@forgery("files")
def append_of_another_session():
    put(lines() + lines("sessions", "two", "trail.jsonl")[-1:])


@forgery("files")
def records_of_another_session():
    theirs = lines("sessions", "two", "trail.jsonl")
    put([row.replace(b'"session":"two"', b'"session":"one"') for row in theirs])


@forgery("files")
def tail_of_another_session():
    put(lines()[:10] + lines("sessions", "two", "trail.jsonl")[10:])


@forgery("files")
def trail_of_another_host():
    for name in TRAIL, POINTS:
        shutil.copy(os.path.join(OTHER, *name), at(*name))


@forgery("files")
def ledger_of_another_host():
    for name in "ledger.jsonl", "ledger.checkpoints", "ledger.tree":
        shutil.copy(os.path.join(OTHER, name), at(name))


@forgery("files")
def exchange_two_sessions():
    os.rename(at("sessions", "one"), at("sessions", "x"))
    os.rename(at("sessions", "two"), at("sessions", "one"))
    os.rename(at("sessions", "x"), at("sessions", "two"))


@forgery("files")
def zeros_within():
    data = bytearray(read(*TRAIL))
    data[2000:2400] = bytes(400)
    write(bytes(data), *TRAIL)


@forgery("files")
def without_the_last_newline():
    write(read(*TRAIL)[:-1], *TRAIL)


@forgery("unread")
def a_link_to_another_trail():
    os.unlink(at(*TRAIL))
    os.symlink("../two/trail.jsonl", at(*TRAIL))


@forgery("files")
def a_second_segment():
    put(lines()[-1:], "sessions", "one", "trail.2.jsonl")


@forgery("files")
def no_checkpoints():
    os.unlink(at(*POINTS))


@forgery("files")
def a_checkpoint_less():
    put_notes(notes()[:1] + notes()[2:])


@forgery("files")
def a_checkpoint_twice():
    put_notes(notes()[:1] + notes())


@forgery("files")
def checkpoints_swapped():
    put_notes([notes()[1], notes()[0]] + notes()[2:])


@forgery("files")
def checkpoints_of_another_session():
    shutil.copy(at("sessions", "two", "checkpoints"), at(*POINTS))


@forgery("files")
def a_checkpoint_that_says_complete():
    write(read(*POINTS).replace(b"\nstate open\n", b"\nstate complete\n", 1), *POINTS)


@forgery("files")
def a_checkpoint_of_another_time():
    write(re.sub(rb"\ntime 2", b"\ntime 1", read(*POINTS), count=1), *POINTS)


@forgery("files")
def a_session_without_a_directory():
    shutil.rmtree(at("sessions", "one"))


@forgery("files")
def a_segment_less():
    os.unlink(at("sessions", "packed", "trail.2.jsonl.zst"))


@forgery("files")
def two_segments_swapped():
    d = at("sessions", "packed")
    os.rename(d + "/trail.2.jsonl.zst", d + "/x")
    os.rename(d + "/trail.3.jsonl.zst", d + "/trail.2.jsonl.zst")
    os.rename(d + "/x", d + "/trail.3.jsonl.zst")


@forgery("files")
def entry(which=-1):
    rows = lines("ledger.jsonl")
    del rows[which]
    put(rows, "ledger.jsonl")


@forgery("files")
def entry_in_the_middle():
    entry(2)


@forgery("files")
def entry_that_says_complete():
    write(read("ledger.jsonl").replace(b'"records":', b'"records":1', 1), "ledger.jsonl")


@forgery("files")
def entries_swapped():
    rows = lines("ledger.jsonl")
    rows[1], rows[2] = rows[2], rows[1]
    put(rows, "ledger.jsonl")


@forgery("files")
def no_ledger():
    os.unlink(at("ledger.jsonl"))


@forgery("files")
def no_checkpoints_of_the_ledger():
    os.unlink(at("ledger.checkpoints"))


@forgery("files")
def ledger_cut_with_its_checkpoints():
    """A session of the ledger's end is there without an entry."""
    cut_ledger(2)


# --- with the root key ---

def root():
    return read("key")


def reseal(rows, name="one"):
    """Numbers and seals these records anew."""
    keys, prev, out = verify.Trail(root(), name), bytes(32), []
    for text in rows:
        body = re.sub(rb'"seq":\d+', b'"seq":%d' % (len(out) + 1), text[:text.rindex(b',"mac":"')],
                      count=1)
        prev = verify.h(keys.key(len(out) + 1), prev + body)
        out.append(body + b',"mac":"' + prev.hex().encode() + b'"}')
    return out


def reseal_ledger(rows):
    prev, out = bytes(32), []
    for text in rows:
        kind = verify.Line(text)
        body = re.sub(rb'"seq":\d+', b'"seq":%d' % (len(out) + 1), text[:text.index(b',"mac":"')], count=1)
        prev = verify.h(verify.ledger_key(root(), kind), prev + body)
        out.append(body + b',"mac":"' + prev.hex().encode() + b'"}')
    return out


def cut_ledger(keep):
    """Back to the checkpoint that covers so many entries."""
    data, good = read("ledger.checkpoints"), b""
    for note in NOTE.findall(data):
        if int(note.split(b"\n")[1]) <= keep:
            good += note
    put(lines("ledger.jsonl")[:keep], "ledger.jsonl")
    write(good, "ledger.checkpoints")
    if os.path.exists(at("ledger.tree")):
        os.unlink(at("ledger.tree"))


def end_is(rows):
    """The entry of the session's end says what the records are now."""
    last = rows[-1][-66:-2].decode()
    size = sum(len(row) + 1 for row in rows)
    entries = lines("ledger.jsonl")
    n = next(i for i, e in enumerate(entries) if b'"kind":"end"' in e and b'"session":"one"' in e)
    for pattern, value in ((rb'"records":\d+', f'"records":{len(rows)}'), (rb'"bytes":\d+', f'"bytes":{size}'),
                           (rb'"last":"[0-9a-f]+"', f'"last":"{last}"')):
        entries[n], found = re.subn(pattern, value.encode(), entries[n], count=1)
        assert found == 1, (pattern, entries[n])
    return entries


def changed():
    """Without the record that says what the session did."""
    return reseal(lines()[:7] + lines()[8:])


@forgery("root")
def sealed_without_one():
    put(changed())


@forgery("root")
def sealed_with_another_path():
    rows = lines()
    rows[6] = rows[6].replace(b'"path":"/', b'"path":"/x')
    put(reseal(rows))


@forgery("root")
def sealed_with_one_more():
    put(reseal(lines()[:7] + lines()[6:]))


@forgery("root")
def sealed_with_the_key_of_another_session():
    put(reseal(lines(), "two"))


@forgery("root")
def sealed_and_the_end_says_so():
    put(changed())
    put(reseal_ledger(end_is(changed())), "ledger.jsonl")


@forgery("root")
def sealed_and_no_checkpoints():
    put(changed())
    put(reseal_ledger(end_is(changed())), "ledger.jsonl")
    os.unlink(at(*POINTS))


@forgery("root")
def sealed_and_the_ledger_signed():
    put(changed())
    put(reseal_ledger(end_is(changed())), "ledger.jsonl")
    sign_ledger()


@forgery("root")
def sealed_and_no_session_in_the_ledger():
    rows = [row for row in lines("ledger.jsonl") if b'"session":"one"' not in row]
    put(reseal_ledger(rows), "ledger.jsonl")


@forgery("root")
def an_end_that_was_none():
    """A session that went wrong is said to be complete."""
    rows = lines("ledger.jsonl")
    n = next(i for i, row in enumerate(rows) if b'"kind":"end"' in row)
    rows[n] = rows[n].replace(b'"verdict":"complete"', b'"verdict":"incomplete"')
    put(reseal_ledger(rows), "ledger.jsonl")


@forgery("root")
def entries_sealed_in_another_order():
    rows = lines("ledger.jsonl")
    put(reseal_ledger([rows[0], rows[2], rows[1]] + rows[3:]), "ledger.jsonl")


# --- with everything: rollback ---

def signer(seed):
    return lambda text: ed25519.sign(seed, text)


def root_of(rows):
    tree = verify.Tree()
    for row in rows:
        tree.add(verify.leaf(row))
    return base64.b64encode(tree.root())


def signed(line, text, sign):
    """The line of a signature, over another text."""
    head, old = line.rsplit(b" ", 1)
    return head + b" " + base64.b64encode(base64.b64decode(old)[:4] + sign(text))


def sign_notes(rows, name="one"):
    """The checkpoints of the session are of these records. Returns the last one."""
    sign, out = signer(read("signing.key")), []
    had = notes("sessions", name, "checkpoints")
    for note in had:
        size = min(int(note[1]), len(rows) - (note is not had[-1]))
        text = [note[0], str(size).encode(), root_of(rows[:size])] + note[3:6]
        out.append(text + [b"", signed(note[7], b"".join(row + b"\n" for row in text), sign)])
    put_notes(out, "sessions", name, "checkpoints")
    return b"".join(row + b"\\\\n" for row in out[-1])


def sign_ledger():
    """The checkpoints of the ledger are of what stands there."""
    sign, out = signer(verify.h(root(), b"wardfs ledger checkpoint\0host")), b""
    rows = lines("ledger.jsonl")
    for note in NOTE.findall(read("ledger.checkpoints")):
        part = note.split(b"\n")
        size = min(int(part[1]), len(rows))
        text = b"".join(row + b"\n" for row in (part[0], str(size).encode(), root_of(rows[:size])))
        out += text + b"\n" + signed(part[4], text, sign) + b"\n"
    write(out, "ledger.checkpoints")
    shutil.rmtree(at("ledger.tree"), ignore_errors=True)
    if os.path.exists(at("ledger.tree")):
        os.unlink(at("ledger.tree"))


def all_anew(rows):
    """Trail, checkpoints, ledger and its checkpoints agree on these records."""
    put(rows)
    last = sign_notes(rows)
    entries = end_is(rows)
    n = next(i for i, e in enumerate(entries) if b'"kind":"end"' in e and b'"session":"one"' in e)
    entries[n] = re.sub(rb'"checkpoint":"[^"]*"', b'"checkpoint":"' + last.replace(b"\\\\", b"\\\\\\\\")
                        + b'"', entries[n], count=1)
    put(reseal_ledger(entries), "ledger.jsonl")
    sign_ledger()


@forgery("all")
def all_without_one():
    all_anew(changed())


@forgery("all")
def all_with_another_path():
    rows = lines()
    rows[6] = rows[6].replace(b'"path":"/', b'"path":"/x')
    all_anew(reseal(rows))


@forgery("all")
def the_past_of_the_host():
    """All as it was before session two, which nobody removed."""
    for name in "two", "packed":
        shutil.rmtree(at("sessions", name))
    cut_ledger(2)


if STATE:
    FORGERIES[sys.argv[3]][0]()
else:
    for name, (_, who) in FORGERIES.items():
        print(name, who)
