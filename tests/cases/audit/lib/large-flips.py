# SPDX-License-Identifier: Apache-2.0
# Part of ../large-flips.sh.
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
