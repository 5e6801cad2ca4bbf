#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A large log: a bit changed anywhere is found, at the very record that it is in; also where that is
# the last byte of a line. With --long a hundred thousand records and two hundred places.
# plain
# timeout: 1800
set -u
. "$WARD_SRC/tests/support/audit.sh"

events=${WARD_LONG:+33332}
flips=${WARD_LONG:+200}
run --session large --events "${events:-6000}" --threads 3
records=$((${events:-6000} * 3 + 2))
[ "$(state_of large)" = "intact $records 0" ] || fail "control: $(state_of large)"
vkey=$(audit key show)
cat >flip.py <<'END'
import json, random, subprocess, sys
wardfs, state, vkey, flips, records = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
seed = random.SystemRandom().randrange(1 << 32)
rng = random.Random(seed)
trail = f"{state}/sessions/large/trail.jsonl"
size = 0
ends = []
with open(trail, "rb") as f:
    for line in f:
        size += len(line)
        ends.append(size - 1)
def verdict(*argv):
    told = subprocess.run([wardfs, "audit", "verify", "--json", *argv], capture_output=True, text=True, check=False)
    if told.returncode != 1:
        sys.exit(f"seed {seed}: exit {told.returncode}: {told.stdout} {told.stderr}")
    return json.loads(told.stdout)[0]
for n in range(flips):
    # newlines, and anything else
    at = rng.choice(ends) if n % 8 == 7 else rng.randrange(size)
    bit = 1 << rng.randrange(8)
    seq = next(i for i, end in enumerate(ends, 1) if at <= end)
    with open(trail, "r+b") as f:
        f.seek(at)
        was = f.read(1)
        f.seek(at)
        f.write(bytes([was[0] ^ bit]))
    mine = verdict("large", "--state", state)
    public = verdict("--key", vkey, trail)
    with open(trail, "r+b") as f:
        f.seek(at)
        f.write(was)
    if (mine["state"], mine["first_bad"], mine["records"]) != ("edited", seq, seq - 1):
        sys.exit(f"seed {seed}: byte {at}, bit {bit}, of record {seq}: {mine}")
    # Without macs the first bad one is the first that a checkpoint does not speak for.
    if public["state"] != "edited" or not 0 < public["first_bad"] <= seq:
        sys.exit(f"seed {seed}: byte {at}, bit {bit}, of record {seq}, public: {public}")
print(f"seed {seed}: {flips} of {flips} found in {records} records")
END
python3 flip.py "$WARD_BUILD/wardfs" "$STATE" "$vkey" "${flips:-16}" "$records" || fail "a flip"
[ "$(state_of large)" = "intact $records 0" ] || fail "not what it was: $(state_of large)"
